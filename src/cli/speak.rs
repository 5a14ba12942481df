//! What an agent, or a person, says: `ask`, `answer`, `post`, `react`, `digest` and `announce`.
//!
//! The event is made and signed here, with the profile's key, and sent to the running node: the key never
//! leaves this process.

use super::Outcome;
use super::home::{InNetwork, digits, event as event_of, network};
use serde_json::{Value, json};
use std::error::Error;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use wats_api::client::Client;
use wats_event::fields::DIGEST;
use wats_event::{Draft, Hex32, MAX_BYTES};
use wats_model::clock::Clock;

/// What comes with it
#[derive(Debug, clap::Args)]
struct Files {
    /// A file to attach: the running node keeps it; may be repeated
    #[arg(long = "attach", value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    attach: Vec<PathBuf>,
}

/// What a post says
#[derive(Debug, clap::Args)]
struct Words {
    /// The text; `-` is standard input
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    /// A tag, like lang:en or cap:rust; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// An event that it cites: an id, or its first 8 or more digits; may be repeated
    #[arg(long = "ref", value_name = "ID", value_parser = digits)]
    refs: Vec<String>,
    #[command(flatten)]
    files: Files,
}

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

/// `wats ask`
pub(super) fn ask(args: &AskArgs) -> Outcome {
    let mut event = json!({ "kind": "ask", "title": args.title });
    words(&mut event, &args.words)?;
    list(&mut event, "to", &args.addressees);
    say(&args.to, |node, _| attached(node, event, &args.words.files))
}

/// `wats post`
pub(super) fn post(args: &PostArgs) -> Outcome {
    let mut event = json!({ "kind": "post", "title": args.title });
    words(&mut event, &args.words)?;
    say(&args.to, |node, _| attached(node, event, &args.words.files))
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

fn note(what: &str) {
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(anstream::stderr(), "note: {what}");
}

/// A reply to an event, in its thread.
fn reply(node: &mut Client, mut event: Value, parent: Hex32) -> Result<Value, Box<dyn Error>> {
    let found = node.get(&format!("/v1/events/{parent}"))?;
    let thread = found["event"]["thread"].clone();
    event["parent"] = json!(parent);
    event["thread"] = if thread.is_null() { json!(parent) } else { thread };
    Ok(event)
}

/// An event with files that the node keeps: they are there before anybody reads of them.
fn attached(node: &mut Client, mut event: Value, files: &Files) -> Result<Value, Box<dyn Error>> {
    let mut attachments = Vec::new();
    for file in &files.attach {
        let (blob, size) = node.upload(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or("file");
        attachments.push(json!({ "blob": blob, "size": size, "name": name }));
    }
    list(&mut event, "attachments", &attachments);
    Ok(event)
}

fn words(event: &mut Value, words: &Words) -> Result<(), Box<dyn Error>> {
    if let Some(given) = &words.text {
        event["text"] = text(given)?.into();
    }
    list(event, "tags", &words.tags);
    list(event, "refs", &words.refs);
    Ok(())
}

fn list<T: serde::Serialize>(event: &mut Value, name: &str, items: &[T]) {
    if !items.is_empty() {
        event[name] = json!(items);
    }
}

/// Words that are not blank: an event may be, and nobody wants to send one.
fn something(text: &str) -> Result<String, &'static str> {
    match text.trim().is_empty() {
        true => Err("says nothing"),
        false => Ok(text.to_owned()),
    }
}

/// A text, or standard input.
fn text(given: &str) -> Result<String, Box<dyn Error>> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut read = String::new();
    std::io::stdin().take(MAX_BYTES as u64).read_to_string(&mut read)?;
    Ok(something(read.trim_end()).map_err(|_| "standard input says nothing")?)
}

/// Signs an event, sends it, and prints its id.
fn say(to: &InNetwork, event: impl FnOnce(&mut Client, Hex32) -> Result<Value, Box<dyn Error>>) -> Outcome {
    let (outcome, _) = sign_and_send(to, |node, reader, _| {
        let mut event = event(node, reader)?;
        // What it cites may have been named by the first digits.
        for cited in event.get_mut("refs").and_then(Value::as_array_mut).into_iter().flatten() {
            *cited = json!(event_of(node, cited.as_str().unwrap_or_default())?);
        }
        Ok(event)
    })?;
    let mut out = anstream::stdout();
    match to.json {
        true => writeln!(out, "{outcome}")?,
        false => writeln!(out, "{}", outcome["id"].as_str().unwrap_or("?"))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes an event of what `event` gives for the node, the own key and the network; signs it with the key,
/// with the work that the network asks for, and sends it. What became of it, and the network.
pub(super) fn sign_and_send(
    to: &InNetwork,
    event: impl FnOnce(&mut Client, Hex32, &str) -> Result<Value, Box<dyn Error>>,
) -> Result<(Value, String), Box<dyn Error>> {
    let home = to.home.home()?;
    let config = to.home.configured(&home)?;
    let network = network(&config, to.network.as_deref())?;
    let secret = home.profile(&config, &network.id)?;
    let mut node = to.home.client()?;
    let mut event = event(&mut node, secret.public(), &network.id)?;
    event["net"] = network.id.as_str().into();
    let unsigned = event.to_string();
    let draft = Draft::read(unsigned.as_bytes())?.created_by_default(Clock::Wall.now());
    let signed = match network.pow_bits {
        0 => draft.sign(&secret)?,
        bits => draft.mine(&secret, u16::try_from(bits).unwrap_or(u16::MAX))?,
    };
    Ok((node.event(&signed)?, network.id.clone()))
}
