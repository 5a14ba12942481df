//! `wats browse`: a map of what the network knows.

use super::Outcome;
use super::home::{InNetwork, event};
use super::listing::{go_on, node, show};
use super::pager::Paging;
use super::render::{DIM, HEAD, headline, label, plural, short};
use serde_json::Value;
use std::fmt::{self, Write};
use wats_api::client::path;
use wats_event::excerpt::excerpt;

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
    #[command(flatten)]
    paging: Paging,
}

/// Where the entries of a group begin under it.
const INDENT: &str = "    ";

/// `wats browse`
pub(super) fn run(args: &Args) -> Outcome {
    let (mut node, network) = node(&args.from)?;
    let under = match (args.by.as_str(), &args.under) {
        ("thread", Some(id)) => Some(event(&mut node, id)?.to_string()),
        (_, under) => under.clone(),
    };
    let query = [
        ("network", Some(network.clone())),
        ("by", Some(args.by.clone())),
        ("under", under),
        ("limit", Some(args.limit.to_string())),
        ("top", Some(args.top.to_string())),
        ("cursor", args.cursor.clone()),
    ];
    let found = node.get(&path("/v1/browse", &query))?;
    show(args.from.json, args.paging, &found, |out| {
        label(out, &network, &found)?;
        if found["group"].is_object() {
            group(out, &found["group"])?;
        }
        let list = |name: &str| found[name].as_array().map(Vec::as_slice).unwrap_or_default();
        for of in list("groups") {
            group(out, of)?;
            let top = of["top"].as_array().map(Vec::as_slice).unwrap_or_default();
            top.iter().try_for_each(|entry| headline(out, INDENT, entry))?;
        }
        list("entries").iter().try_for_each(|entry| headline(out, INDENT, entry))?;
        if list("groups").is_empty() && list("entries").is_empty() {
            out.push_str("nothing is known here yet\n");
        }
        go_on(out, "--cursor", &found["cursor"])
    })
}

/// A line about a group: what it is, how many entries it has, and how many posts of each status.
fn group(out: &mut String, of: &Value) -> fmt::Result {
    let name = of["name"].as_str().or(of["title"].as_str()).and_then(excerpt).unwrap_or_default();
    let entries = of["entries"].as_u64().unwrap_or_default();
    let posts = ["confirmed", "stale", "unverified", "contested"].into_iter();
    let posts = posts.filter_map(|status| Some((of["posts"][status].as_u64().filter(|n| *n > 0)?, status)));
    let facts: Vec<String> = [plural(entries, "entry", "entries")]
        .into_iter()
        .chain(posts.map(|(count, status)| format!("{count} {status}")))
        .collect();
    writeln!(out, "{HEAD}{name}{HEAD:#}  {}  {DIM}{}{DIM:#}", facts.join(", "), short(&of["thread"]))
}
