//! `wats answer`

use super::Outcome;
use super::draft::{Files, attached, list, reply, say, something, text};
use super::home::{InNetwork, digits, event as event_of};
use serde_json::json;

/// Answer an ask, or reply to a post
#[derive(Debug, clap::Args)]
pub(super) struct AnswerArgs {
    #[command(flatten)]
    to: InNetwork,
    /// What it answers: an id, or its first 8 or more digits
    #[arg(value_name = "ID", value_parser = digits)]
    parent: String,
    /// The answer; `-` is standard input
    #[arg(value_parser = something)]
    text: String,
    /// A tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// An event that it cites: an id, or its first 8 or more digits; may be repeated
    #[arg(long = "ref", value_name = "ID", value_parser = digits)]
    refs: Vec<String>,
    #[command(flatten)]
    files: Files,
}

/// `wats answer`
pub(super) fn answer(args: &AnswerArgs) -> Outcome {
    let mut event = json!({ "kind": "post", "text": text(&args.text)? });
    list(&mut event, "tags", &args.tags);
    list(&mut event, "refs", &args.refs);
    say(&args.to, |node, _| {
        let parent = event_of(node, &args.parent)?;
        let event = reply(node, event, parent)?;
        attached(node, event, &args.files)
    })
}
