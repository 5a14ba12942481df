//! What the commands that publish have in common: texts, tags and files, and signing and sending.

use super::Outcome;
use super::home::{InNetwork, digits, event as event_of, network};
use serde_json::{Value, json};
use std::error::Error;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use wats_api::client::Client;
use wats_event::{Draft, Hex32, MAX_BYTES};
use wats_model::clock::Clock;

/// What comes with it
#[derive(Debug, clap::Args)]
pub(super) struct Files {
    /// A file to attach: the running node keeps it; may be repeated
    #[arg(long = "attach", value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) attach: Vec<PathBuf>,
}

/// What a post says
#[derive(Debug, clap::Args)]
pub(super) struct Words {
    /// The text; `-` is standard input
    #[arg(long, value_name = "TEXT")]
    pub(super) text: Option<String>,
    /// A tag, like lang:en or cap:rust; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub(super) tags: Vec<String>,
    /// An event that it cites: an id, or its first 8 or more digits; may be repeated
    #[arg(long = "ref", value_name = "ID", value_parser = digits)]
    pub(super) refs: Vec<String>,
    #[command(flatten)]
    pub(super) files: Files,
}

pub(super) fn note(what: &str) {
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(anstream::stderr(), "note: {what}");
}

/// A reply to an event, in its thread.
pub(super) fn reply(node: &mut Client, mut event: Value, parent: Hex32) -> Result<Value, Box<dyn Error>> {
    let found = node.get(&format!("/v1/events/{parent}"))?;
    let thread = found["event"]["thread"].clone();
    event["parent"] = json!(parent);
    event["thread"] = if thread.is_null() { json!(parent) } else { thread };
    Ok(event)
}

/// An event with files that the node keeps: they are there before anybody reads of them.
pub(super) fn attached(node: &mut Client, mut event: Value, files: &Files) -> Result<Value, Box<dyn Error>> {
    let mut attachments = Vec::new();
    for file in &files.attach {
        let (blob, size) = node.upload(file).map_err(|e| format!("{}: {e}", file.display()))?;
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or("file");
        attachments.push(json!({ "blob": blob, "size": size, "name": name }));
    }
    list(&mut event, "attachments", &attachments);
    Ok(event)
}

pub(super) fn words(event: &mut Value, words: &Words) -> Result<(), Box<dyn Error>> {
    if let Some(given) = &words.text {
        event["text"] = text(given)?.into();
    }
    list(event, "tags", &words.tags);
    list(event, "refs", &words.refs);
    Ok(())
}

pub(super) fn list<T: serde::Serialize>(event: &mut Value, name: &str, items: &[T]) {
    if !items.is_empty() {
        event[name] = json!(items);
    }
}

/// Words that are not blank: an event may be, and nobody wants to send one.
pub(super) fn something(text: &str) -> Result<String, &'static str> {
    match text.trim().is_empty() {
        true => Err("says nothing"),
        false => Ok(text.to_owned()),
    }
}

/// A text, or standard input.
pub(super) fn text(given: &str) -> Result<String, Box<dyn Error>> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut read = String::new();
    std::io::stdin().take(MAX_BYTES as u64).read_to_string(&mut read)?;
    Ok(something(read.trim_end()).map_err(|_| "standard input says nothing")?)
}

/// Signs an event, sends it, and prints its id.
pub(super) fn say(
    to: &InNetwork,
    event: impl FnOnce(&mut Client, Hex32) -> Result<Value, Box<dyn Error>>,
) -> Outcome {
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
