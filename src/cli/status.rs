//! `wats status`

use super::Outcome;
use super::home::HomeArgs;
use super::render::label_line;
use indicatif::BinaryBytes;
use serde_json::Value;
use std::io::{self, Write};
use std::process::ExitCode;

/// How the running node is: networks, queues, lag, storage
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Outcome {
    let status = args.home.client()?.get("/admin/status")?;
    let mut out = anstream::stdout();
    match args.json {
        true => writeln!(out, "{status}")?,
        false => show(&status, &mut out)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A text of the node.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

/// A number of bytes, for a person.
fn size(bytes: &Value) -> String {
    bytes.as_u64().map_or_else(|| "?".to_owned(), |bytes| BinaryBytes(bytes).to_string())
}

fn show(status: &Value, out: &mut impl Write) -> io::Result<()> {
    let (sequence, storage, waiting) = (&status["sequence"], &status["storage"], &status["waiting"]);
    writeln!(
        out,
        "wats {}, {}, {}",
        text(&status["version"]),
        text(&status["phase"]),
        text(&status["directory"])
    )?;
    if let Some(failure) = status["failure"].as_str() {
        writeln!(out, "failed: {failure}")?;
    }
    if status["phase"] == "loading" {
        writeln!(out, "loaded {} of {} records", status["loaded"], status["to_load"])?;
    }
    writeln!(
        out,
        "{} events; sequence {}, {} of it not in the views yet; tick {}",
        status["events"], sequence["durable"], sequence["lag"], status["views"]["tick"]
    )?;
    writeln!(
        out,
        "search: {} events indexed, {} records to index",
        status["index"]["events"], status["index"]["lag"]
    )?;
    writeln!(
        out,
        "waiting: {} of keys with weight, {} of others, of {}",
        size(&waiting["weighty_bytes"]),
        size(&waiting["others_bytes"]),
        size(&waiting["limit_bytes"])
    )?;
    let full = if storage["full"] == true { ": FULL, events are refused" } else { "" };
    let (used, free) = (size(&storage["store_bytes"]), size(&storage["free_bytes"]));
    writeln!(out, "storage: {used}, {free} free{full}")?;
    blobs(&status["blobs"], out)?;
    for (outcome, count) in status["ingest"].as_object().into_iter().flatten() {
        writeln!(out, "  {outcome}: {count}")?;
    }
    networks(&status["networks"], out)
}

/// The blobs that the node holds, and those that went last.
fn blobs(blobs: &Value, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "blobs: {} held, {} of {}; {} unfinished uploads; {} that no key is charged for, of {}",
        blobs["held"],
        size(&blobs["bytes"]),
        size(&blobs["high_water"]),
        blobs["unfinished"],
        size(&blobs["unattached_bytes"]),
        size(&blobs["unattached_limit"])
    )?;
    for (why, gone) in blobs["gone"].as_object().into_iter().flatten() {
        writeln!(out, "  gone ({why}): {} blobs, {}", gone["blobs"], size(&gone["bytes"]))?;
    }
    for gone in blobs["lately"].as_array().into_iter().flatten().rev().take(3) {
        writeln!(out, "  {} went: {}", text(&gone["blob"]), text(&gone["reason"]))?;
    }
    Ok(())
}

/// Each network: its posts by status, and its label.
fn networks(networks: &Value, out: &mut impl Write) -> io::Result<()> {
    for network in networks.as_array().into_iter().flatten() {
        let posts: Vec<String> = network["posts"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(status, count)| format!("{count} {status}"))
            .collect();
        let posts = if posts.is_empty() { "no posts".to_owned() } else { posts.join(", ") };
        let own = network["profiles"].as_array().map_or(0, Vec::len);
        writeln!(
            out,
            "network {}: {posts}; {} entries, {} authors, {own} of them you",
            text(&network["id"]),
            network["entries"],
            network["authors"]
        )?;
        if let Some(line) = label_line(text(&network["id"]), network) {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}
