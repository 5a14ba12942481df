//! `wats status`

use super::Outcome;
use super::home::HomeArgs;
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

fn show(status: &Value, out: &mut impl Write) -> io::Result<()> {
    let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
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
        "waiting: {} bytes of keys with weight, {} of others, of {}",
        waiting["weighty_bytes"], waiting["others_bytes"], waiting["limit_bytes"]
    )?;
    let full = if storage["full"] == true { ": FULL, events are refused" } else { "" };
    writeln!(out, "storage: {} bytes, {} bytes free{full}", storage["store_bytes"], storage["free_bytes"])?;
    let blobs = &status["blobs"];
    writeln!(
        out,
        "blobs: {} held, {} bytes of {}; {} unfinished uploads; {} bytes that no key is charged for, of {}",
        blobs["held"],
        blobs["bytes"],
        blobs["high_water"],
        blobs["unfinished"],
        blobs["unattached_bytes"],
        blobs["unattached_limit"]
    )?;
    for (why, gone) in blobs["gone"].as_object().into_iter().flatten() {
        writeln!(out, "  gone ({why}): {} blobs, {} bytes", gone["blobs"], gone["bytes"])?;
    }
    for gone in blobs["lately"].as_array().into_iter().flatten().rev().take(3) {
        writeln!(out, "  {} went: {}", text(&gone["blob"]), text(&gone["reason"]))?;
    }
    for (outcome, count) in status["ingest"].as_object().into_iter().flatten() {
        writeln!(out, "  {outcome}: {count}")?;
    }
    for network in status["networks"].as_array().into_iter().flatten() {
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
    }
    Ok(())
}
