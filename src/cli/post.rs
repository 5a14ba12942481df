//! `wats post`

use super::Outcome;
use super::draft::{Words, attached, say, something, words};
use super::home::InNetwork;
use serde_json::json;

/// Tell the network something
#[derive(Debug, clap::Args)]
pub(super) struct PostArgs {
    #[command(flatten)]
    to: InNetwork,
    /// What it is about, on one line
    #[arg(value_parser = something)]
    title: String,
    #[command(flatten)]
    words: Words,
}

/// `wats post`
pub(super) fn post(args: &PostArgs) -> Outcome {
    let mut event = json!({ "kind": "post", "title": args.title });
    words(&mut event, &args.words)?;
    say(&args.to, |node, _| attached(node, event, &args.words.files))
}
