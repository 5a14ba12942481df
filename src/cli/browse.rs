//! `wats browse`: a map of what the network knows.

use super::Outcome;
use super::consult::node;
use super::home::InNetwork;
use anstyle::Style;
use serde_json::Value;
use std::io::{self, Write};
use std::process::ExitCode;
use wats::client::path;
use wats::event::excerpt::excerpt;

/// Show what the network knows, by tag, title, thread or time, with the first entries of each
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    from: InNetwork,
    /// By what
    #[arg(value_parser = ["tag", "title", "thread", "time"], default_value = "tag")]
    by: String,
    /// What of it: a tag; the beginning of a title; a thread; a month like 2026-11, or a day
    under: Option<String>,
    /// How many groups or entries, at most 100
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// How many entries of each group, at most 10
    #[arg(long, value_name = "N", default_value_t = 3)]
    top: usize,
    /// Where to go on, as the page before says
    #[arg(long)]
    cursor: Option<String>,
}

const HEAD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

/// `wats browse`
pub(super) fn run(args: &Args) -> Outcome {
    let (mut node, network) = node(&args.from)?;
    let query = [
        ("network", Some(network)),
        ("by", Some(args.by.clone())),
        ("under", args.under.clone()),
        ("limit", Some(args.limit.to_string())),
        ("top", Some(args.top.to_string())),
        ("cursor", args.cursor.clone()),
    ];
    let found = node.get(&path("/v1/browse", &query))?;
    let mut out = anstream::stdout();
    match args.from.json {
        true => writeln!(out, "{found}")?,
        false => show(&mut out, &found)?,
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn show(out: &mut dyn Write, found: &Value) -> io::Result<()> {
    if found["group"].is_object() {
        group(out, &found["group"], false)?;
    }
    let list = |name: &str| found[name].as_array().map(Vec::as_slice).unwrap_or_default();
    list("groups").iter().try_for_each(|of| group(out, of, true))?;
    list("entries").iter().try_for_each(|of| entry(out, of))?;
    if list("groups").is_empty() && list("entries").is_empty() {
        writeln!(out, "nothing is known here yet")?;
    }
    match found["cursor"].as_str() {
        Some(cursor) => writeln!(out, "{DIM}--cursor {cursor}{DIM:#}"),
        None => Ok(()),
    }
}

/// One line: what it is, how much of it is known, and posts by status.
fn group(out: &mut dyn Write, of: &Value, top: bool) -> io::Result<()> {
    // What authors wrote is shown on one line, without control or hidden characters.
    let name = of["name"].as_str().or(of["title"].as_str()).and_then(excerpt).unwrap_or_default();
    let posts = ["confirmed", "stale", "unverified", "contested"].into_iter();
    let posts = posts.filter_map(|status| {
        let count = of["posts"][status].as_u64().filter(|count| *count > 0)?;
        Some(format!("{count} {status}"))
    });
    let entries = of["entries"].as_u64().unwrap_or_default();
    let thread = of["thread"].as_str().and_then(|id| id.get(..12)).map(|id| format!("  {id}"));
    writeln!(
        out,
        "{HEAD}{name}{HEAD:#}  {entries} known; {}{DIM}{}{DIM:#}",
        posts.collect::<Vec<_>>().join(", "),
        thread.unwrap_or_default()
    )?;
    let entries = of["top"].as_array().map(Vec::as_slice).unwrap_or_default();
    entries.iter().filter(|_| top).try_for_each(|of| entry(out, of))
}

fn entry(out: &mut dyn Write, of: &Value) -> io::Result<()> {
    let text = |name: &str| of[name].as_str().unwrap_or_default();
    let title = excerpt(text("title")).unwrap_or_default();
    let id = text("id").get(..12).unwrap_or_default();
    writeln!(out, "    {:<7} {title}  {DIM}{id}{DIM:#}", text("knowledge"))
}
