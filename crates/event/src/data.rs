//! What `data` says, by kind: `bad_data` on reacts and digests, and what each amounts to.

use super::fields::{Fields, Kind, describe};
use super::hex::Hex32;
use super::json::{Json, Members};
use super::rules::{Code, Refusal};
use super::{Content, Evidence, React, Standing, excerpt};
use std::sync::Arc;

/// The longest declared owner, in bytes (section 1.3).
pub const MAX_OWNER_BYTES: usize = 256;

/// Checks `data` as far as its kind has rules, and reduces the event to what the engine needs of it.
pub(crate) fn check(fields: &Fields<'_>) -> Result<Content, Refusal> {
    let none = Members::default();
    let data = fields.data.unwrap_or(&none);
    let reply = fields.parent.zip(fields.thread);
    Ok(match fields.kind {
        Kind::React => Content::React(react(fields, data)?),
        Kind::Announce => Content::Announce { owner: owner(data) },
        Kind::Other => Content::Other { reply },
        Kind::Ask | Kind::Post | Kind::Digest => Content::Post(super::Post {
            kind: fields.kind.post_kind(),
            reply,
            refs: fields.refs.clone().into(),
            blank: fields.text.is_none_or(is_blank),
            blobs: fields.blobs.clone().into(),
            supersedes: match fields.kind {
                Kind::Digest => supersedes(data)?,
                _ => None,
            },
            tags: fields.tags.iter().map(|tag| Arc::from(*tag)).collect(),
        }),
    })
}

/// The words to quote of an event, where it may be an argument or is a post to show (section 6).
pub(crate) fn quote(fields: &Fields<'_>) -> Option<Box<str>> {
    match fields.kind {
        Kind::Announce | Kind::Other => None,
        // Words that are hidden altogether leave the word to the text.
        Kind::React => evidence_words(fields)
            .and_then(excerpt::excerpt)
            .or_else(|| fields.text.and_then(excerpt::excerpt)),
        _ => fields.text.and_then(excerpt::excerpt),
    }
}

fn evidence_words<'j>(fields: &Fields<'j>) -> Option<&'j str> {
    let words = match fields.data?.get("evidence")? {
        Json::Object(evidence) => evidence.get("detail")?.as_str(),
        evidence => evidence.as_str(),
    };
    words.filter(|words| !is_blank(words))
}

/// *Blank* text has only Unicode White_Space (section 1.3), which is what `char::is_whitespace` tests.
pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

fn bad<T>(name: &str, wanted: &str, found: &Json<'_>) -> Result<T, Refusal> {
    Refusal::err(Code::BadData, format!("`data.{name}` must be {wanted}, and is {}", describe(found)))
}

fn react(fields: &Fields<'_>, data: &Members<'_>) -> Result<React, Refusal> {
    let Some(target) = fields.parent else {
        return Refusal::err(Code::BadField, "`parent` is missing");
    };
    Ok(React {
        target,
        value: value(data)?,
        accept: boolean(data, "accept")?,
        used: boolean(data, "used")?,
        still_valid: boolean(data, "still_valid")? == Some(true),
        standing: standing(data)?,
        evidence: evidence(data, &fields.blobs),
        refs: fields.refs.clone().into(),
        blobs: fields.blobs.clone().into(),
    })
}

fn value(data: &Members<'_>) -> Result<Option<i8>, Refusal> {
    let Some(value) = data.get("value") else {
        return Ok(None);
    };
    match value.as_integer() {
        Some(-1) => Ok(Some(-1)),
        Some(0) => Ok(Some(0)),
        Some(1) => Ok(Some(1)),
        _ => bad("value", "-1, 0 or 1", value),
    }
}

fn boolean(data: &Members<'_>, name: &str) -> Result<Option<bool>, Refusal> {
    match data.get(name) {
        None => Ok(None),
        Some(Json::Bool(b)) => Ok(Some(*b)),
        Some(other) => bad(name, "true or false", other),
    }
}

fn standing(data: &Members<'_>) -> Result<Option<Standing>, Refusal> {
    match data.get("label") {
        None => Ok(None),
        Some(Json::Str(label)) => Ok(match label.as_ref() {
            "vouch" => Some(Standing::Vouch),
            "unvouch" => Some(Standing::Unvouch),
            _ => None,
        }),
        Some(other) => bad("label", "a string", other),
    }
}

fn supersedes(data: &Members<'_>) -> Result<Option<Hex32>, Refusal> {
    let Some(value) = data.get("supersedes") else {
        return Ok(None);
    };
    match value.as_str().and_then(Hex32::parse) {
        Some(id) => Ok(Some(id)),
        None => bad("supersedes", "an id", value),
    }
}

/// `data.owner`, when it is a non-empty string of at most 256 bytes; otherwise none, never an error.
fn owner(data: &Members<'_>) -> Option<Box<str>> {
    let owner = data.get("owner")?.as_str()?;
    (1..=MAX_OWNER_BYTES).contains(&owner.len()).then(|| owner.into())
}

/// What `data.evidence` amounts to (section 2); never an error, whatever its shape.
fn evidence(data: &Members<'_>, attached: &[Hex32]) -> Evidence {
    let Some(given) = data.get("evidence").filter(|given| is_given(given)) else {
        return Evidence::None;
    };
    let Json::Object(members) = given else {
        return Evidence::Text;
    };
    match members.get("blob").and_then(Json::as_str).and_then(Hex32::parse) {
        Some(blob) if attached.contains(&blob) => Evidence::Blob(blob),
        _ => Evidence::Text,
    }
}

/// A number, `true`, a non-blank string, or an array or object with an element that is one of these.
fn is_given(evidence: &Json<'_>) -> bool {
    match evidence {
        Json::Null => false,
        Json::Bool(b) => *b,
        Json::Int(_) | Json::Float(_) => true,
        Json::Str(s) => !is_blank(s),
        Json::Array(items) => items.iter().any(is_given),
        Json::Object(members) => members.iter().any(|(_, value)| is_given(value)),
    }
}
