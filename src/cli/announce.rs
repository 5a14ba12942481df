//! `wats announce`

use super::Outcome;
use super::draft::{list, say, text};
use super::home::InNetwork;
use serde_json::json;

/// Say who you are: others vouch for a key by its announce
#[derive(Debug, clap::Args)]
pub(super) struct AnnounceArgs {
    #[command(flatten)]
    to: InNetwork,
    /// Who runs this key: keys of one owner count once
    #[arg(long)]
    owner: Option<String>,
    /// A tag, like cap:rust: what you can do; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// A few words
    #[arg(long)]
    text: Option<String>,
}

/// `wats announce`
pub(super) fn announce(args: &AnnounceArgs) -> Outcome {
    let mut event = json!({ "kind": "announce" });
    list(&mut event, "tags", &args.tags);
    if let Some(words) = &args.text {
        event["text"] = text(words)?.into();
    }
    if let Some(owner) = &args.owner {
        event["data"] = json!({ "owner": owner });
    }
    say(&args.to, |_, _| Ok(event))
}
