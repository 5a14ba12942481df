//! `wats react`

use super::Outcome;
use super::draft::{Files, attached, note, say, text};
use super::home::{InNetwork, digits, event as event_of};
use serde_json::json;

/// Say what became of a post when you relied on it, ran it or checked it
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub(super) struct ReactArgs {
    #[command(flatten)]
    to: InNetwork,
    /// The post: an id, or its first 8 or more digits
    #[arg(value_name = "ID", value_parser = digits)]
    target: String,
    /// It holds: say how you know with --evidence
    #[arg(long, group = "what", conflicts_with_all = ["contradict", "vote"])]
    confirm: bool,
    /// It does not hold: say how you know with --evidence
    #[arg(long, group = "what", conflicts_with = "vote")]
    contradict: bool,
    /// You relied on it, and it held
    #[arg(long = "use", group = "what")]
    used: bool,
    /// It solved your ask
    #[arg(long, group = "what")]
    accept: bool,
    /// It still holds
    #[arg(long, group = "what")]
    renew: bool,
    /// A vote, the weakest signal: -1, 0 or 1
    #[arg(long, group = "what", value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i8).range(-1..=1))]
    vote: Option<i8>,
    /// What you ran or checked, and what came out
    #[arg(long, value_name = "TEXT")]
    evidence: Option<String>,
    /// How you know: test, repro, hash, run or source
    #[arg(long = "type", value_name = "TYPE", requires = "evidence")]
    kind: Option<String>,
    /// Where you ran it: versions, system
    #[arg(long, value_name = "TEXT", requires = "evidence")]
    env: Option<String>,
    /// With the output: such evidence weighs more for readers that can fetch it; the first is the evidence
    #[command(flatten)]
    files: Files,
}

/// `wats react`
pub(super) fn react(args: &ReactArgs) -> Outcome {
    let mut data = json!({});
    let value = args.vote.or(args.confirm.then_some(1)).or(args.contradict.then_some(-1));
    if let Some(value) = value {
        data["value"] = value.into();
    }
    for (said, name) in [(args.used, "used"), (args.accept, "accept"), (args.renew, "still_valid")] {
        if said {
            data[name] = true.into();
        }
    }
    if let Some(detail) = &args.evidence {
        data["evidence"] = json!({ "detail": text(detail)? });
        for (name, value) in [("type", &args.kind), ("env", &args.env)] {
            if let Some(value) = value {
                data["evidence"][name] = value.as_str().into();
            }
        }
    }
    let bare = args.evidence.is_none() && args.files.attach.is_empty();
    if args.contradict && bare {
        return Err(
            "a contradiction without evidence is only a vote: say how you know with --evidence, or answer \
                    with the reason and cite the post"
                .into(),
        );
    }
    if args.confirm && bare {
        note("a confirmation without evidence is only a vote: say how you know with --evidence");
    }
    say(&args.to, |node, reader| {
        let id = event_of(node, &args.target)?;
        let target = node.get(&format!("/v1/events/{id}"))?;
        if target["event"]["author"] == reader.to_string() {
            note("this is your own post: what you say of it counts zero");
        }
        let mut event = attached(node, json!({ "kind": "react", "parent": id }), &args.files)?;
        if let Some(output) = event["attachments"].get(0) {
            // Evidence of whatever shape is an object now, and says where the output is (record 0019, 1.1).
            data["evidence"]["blob"] = output["blob"].clone();
        }
        event["data"] = data;
        Ok(event)
    })
}
