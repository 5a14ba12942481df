//! `wats digest`

use super::Outcome;
use super::draft::{Words, attached, note, reply, say, something, words};
use super::home::{InNetwork, digits, event as event_of};
use serde_json::json;
use std::error::Error;
use wats_api::client::Client;
use wats_event::fields::DIGEST;

/// Put together what a thread, or several, settled: knowledge in one line, its sources beside it
#[derive(Debug, clap::Args)]
pub(super) struct DigestArgs {
    #[command(flatten)]
    to: InNetwork,
    /// The knowledge, on one line
    #[arg(value_parser = something)]
    title: String,
    #[command(flatten)]
    words: Words,
    /// The ask that it consolidates; otherwise it opens a thread of its own
    #[arg(long, value_name = "ID", value_parser = digits)]
    under: Option<String>,
    /// An older digest that it replaces
    #[arg(long, value_name = "ID", value_parser = digits)]
    supersedes: Option<String>,
}

/// `wats digest`
pub(super) fn digest(args: &DigestArgs) -> Outcome {
    if args.words.refs.is_empty() {
        return Err("a digest without sources is never promoted: name them with --ref".into());
    }
    let mut event = json!({ "kind": DIGEST, "title": args.title });
    words(&mut event, &args.words)?;
    say(&args.to, |node, _| {
        if let Some(older) = &args.supersedes {
            event["data"] = json!({ "supersedes": event_of(node, older)? });
        }
        let event = match &args.under {
            Some(ask) => {
                let ask = event_of(node, ask)?;
                reply(node, event, ask)?
            }
            None => event,
        };
        args.words.refs.iter().try_for_each(|source| look_at(node, source))?;
        attached(node, event, &args.words.files)
    })
}

/// Says what a source gives a digest, and what speaks against it.
fn look_at(node: &mut Client, source: &str) -> Result<(), Box<dyn Error>> {
    let id = event_of(node, source)?;
    let found = node.get(&format!("/v1/events/{id}"))?;
    let root = found["event"]["thread"].as_str().map_or_else(|| id.to_string(), str::to_owned);
    match found["status"].as_str() {
        Some(status @ ("contested" | "stale" | "unverified")) if found["event"]["kind"] != "ask" => {
            note(&format!("the source {id} is {status}"));
        }
        _ => {}
    }
    note(&format!(
        "it would be shown for the thread {root}, once two who are independent confirmed or used it"
    ));
    Ok(())
}
