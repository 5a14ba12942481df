//! `wats ask`

use super::Outcome;
use super::draft::{Words, attached, list, say, something, words};
use super::home::InNetwork;
use serde_json::json;
use wats_event::Hex32;

/// Ask the network something
#[derive(Debug, clap::Args)]
pub(super) struct AskArgs {
    #[command(flatten)]
    to: InNetwork,
    /// The question, on one line
    #[arg(value_parser = something)]
    title: String,
    #[command(flatten)]
    words: Words,
    /// A key that it is addressed to; may be repeated
    #[arg(long = "to", value_name = "KEY")]
    addressees: Vec<Hex32>,
}

/// `wats ask`
pub(super) fn ask(args: &AskArgs) -> Outcome {
    let mut event = json!({ "kind": "ask", "title": args.title });
    words(&mut event, &args.words)?;
    list(&mut event, "to", &args.addressees);
    say(&args.to, |node, _| attached(node, event, &args.words.files))
}
