//! `wats read`

use super::Outcome;
use super::home::{InNetwork, digits, event};
use super::listing::{go_on, show};
use super::pager::Paging;
use super::render::{HEAD, headline, label, post, text};
use wats_api::client::path;

/// Read a thread, with what is known of it first
#[derive(Debug, clap::Args)]
pub(super) struct ReadArgs {
    #[command(flatten)]
    from: InNetwork,
    /// Its root, or any post in it: an id, or its first 8 or more digits
    #[arg(value_parser = digits)]
    id: String,
    /// How many replies, at most 200
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Where to go on, as the page before says
    #[arg(long)]
    cursor: Option<String>,
    #[command(flatten)]
    paging: Paging,
}

/// `wats read`
pub(super) fn read(args: &ReadArgs) -> Outcome {
    let mut node = args.from.home.client()?;
    let id = event(&mut node, &args.id)?;
    let limit = Some(args.limit.to_string());
    let query = path(&format!("/v1/threads/{id}"), &[("limit", limit), ("cursor", args.cursor.clone())]);
    let found = node.get(&query)?;
    show(args.from.json, args.paging, &found, |out| {
        label(out, text(&found["network"]), &found)?;
        if let Some(first) = found.get("first") {
            let what = match text(&first["kind"]) {
                "digest" => "What is known, in a digest:",
                _ => "What is known, by its canonical answer:",
            };
            out.push_str(&format!("{HEAD}{what}{HEAD:#}\n"));
            post(out, &first["post"], 1)?;
            out.push('\n');
        }
        if let Some(root) = found.get("root") {
            post(out, root, 0)?;
        }
        for reply in found["posts"].as_array().into_iter().flatten() {
            let depth = usize::try_from(reply["depth"].as_u64().unwrap_or(1).min(DEPTH)).unwrap_or(1);
            match reply["id"] == found["first"]["post"]["id"] {
                true => headline(out, &"  ".repeat(depth), reply)?,
                false => post(out, reply, depth)?,
            }
        }
        go_on(out, "--cursor", &found["cursor"])
    })
}

/// How deep a reply is shown to the right.
const DEPTH: u64 = 8;
