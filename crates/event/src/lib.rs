//! Events: from untrusted bytes to a checked [`Event`] (section 1).
//!
//! The checks run in the order of section 1.1 and stop at the first that fails:
//!
//! 1. [`parse`]: size and nesting, I-JSON, members, network, `data`, id. Pure; costs microseconds.
//! 2. [`Verifier::verify`]: the signature. Nine tenths of all the time goes here.
//! 3. [`admit`]: proof of work, and a creation time that is not in the future.
//!
//! They are three calls so that a log can be checked on several threads, and so that a reader who
//! trusts its log may leave out the second. [`check`] is the three in one.

mod batch;
pub mod canonical;
mod data;
pub mod excerpt;
pub mod fields;
pub mod hex;
pub mod json;
pub mod line;
pub mod log;
mod message;
mod rules;
mod sign;
pub mod stored_event;
mod verify;

pub use data::MAX_OWNER_BYTES;
pub use hex::{Hex32, NotHex32};
pub use rules::{Code, MAX_AHEAD, MAX_BYTES, MAX_DEPTH, MAX_RECORD_BYTES, Refusal, Rules};
pub use sign::{Draft, KeyFileError, Secret, SignError, sign};
pub use verify::{Verifier, verify_strict};

use json::{Json, Members};
use std::sync::Arc;
use wats_model::facts::PostKind;
use wats_model::ids::Millis;

/// A checked event, reduced to what the engine needs: names as bytes, text as a short quotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// BLAKE3-256 of the canonical bytes.
    pub id: Hex32,
    /// The network it belongs to.
    pub net: Box<str>,
    /// Its author's key.
    pub author: Hex32,
    /// The author's claim of when, in Unix milliseconds.
    pub created_at: Millis,
    /// The signature.
    pub sig: [u8; 64],
    /// What it says.
    pub content: Content,
    /// The first words of its title, fit to show, on a post-like event.
    pub title: Option<Box<str>>,
    /// The first words of what it says, fit to quote: of a react's evidence (its `detail`), else of
    /// the text.
    pub quote: Option<Box<str>>,
}

/// What an event says, by kind: [`wats_model::facts::Body`] before names are interned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// An ask, a post or a digest.
    Post(Post),
    /// A react.
    React(React),
    /// An announce.
    Announce {
        /// `data.owner`, where it is a non-empty string of at most 256 bytes.
        owner: Option<Box<str>>,
    },
    /// Another extension.
    Other {
        /// Its parent and thread.
        reply: Option<(Hex32, Hex32)>,
    },
}

/// A post-like event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// Which kind.
    pub kind: PostKind,
    /// Its parent and thread.
    pub reply: Option<(Hex32, Hex32)>,
    /// Its citations, as written.
    pub refs: Box<[Hex32]>,
    /// Whether its text is missing or blank.
    pub blank: bool,
    /// The blobs it attaches, no blob twice.
    pub blobs: Box<[Hex32]>,
    /// `data.supersedes`, on a digest.
    pub supersedes: Option<Hex32>,
    /// Its tags, as written.
    pub tags: Box<[Arc<str>]>,
}

/// A react.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct React {
    /// Its `parent`.
    pub target: Hex32,
    /// `data.value`.
    pub value: Option<i8>,
    /// `data.accept`.
    pub accept: Option<bool>,
    /// `data.used`.
    pub used: Option<bool>,
    /// `data.still_valid` is `true`.
    pub still_valid: bool,
    /// `data.label`, where it is about standing.
    pub standing: Option<Standing>,
    /// `data.evidence`.
    pub evidence: Evidence,
    /// Its citations, as written.
    pub refs: Box<[Hex32]>,
    /// The blobs it attaches, no blob twice.
    pub blobs: Box<[Hex32]>,
}

/// The labels that have a meaning (section 1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// `vouch`
    Vouch,
    /// `unvouch`
    Unvouch,
}

/// What a react's `data.evidence` amounts to (section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Missing or empty.
    None,
    /// Non-empty.
    Text,
    /// Non-empty, and an object whose `blob` is one of the react's own attachments.
    Blob(Hex32),
}

impl fields::Kind {
    /// The post-like kinds; the others count as posts nowhere, and never ask.
    fn post_kind(self) -> PostKind {
        match self {
            fields::Kind::Ask => PostKind::Ask,
            fields::Kind::Digest => PostKind::Digest,
            _ => PostKind::Post,
        }
    }
}

/// Checks an event's JSON text up to its id (section 1.1, `too_large` to `bad_id`).
///
/// # Errors
/// The first rule that the text breaks.
pub fn parse(text: &[u8], rules: &Rules) -> Result<Event, Refusal> {
    let json = read_json(text, MAX_BYTES, MAX_DEPTH)?;
    match &json {
        Json::Object(members) => from_members(members, rules),
        other => not_an_object(other),
    }
}

/// Checks an event's members up to its id: [`parse`] from `bad_field` on.
///
/// # Errors
/// The first rule that the event breaks.
pub fn from_members(members: &Members<'_>, rules: &Rules) -> Result<Event, Refusal> {
    let fields = fields::check(members)?;
    if rules.pow_bits(fields.net).is_none() {
        let reason = format!("`net` is \"{}\", which this node does not carry", fields.net);
        return Refusal::err(Code::WrongNetwork, reason);
    }
    let content = data::check(&fields)?;
    let id = canonical::event_id(members, &mut Vec::with_capacity(1024));
    if id != fields.id {
        return Refusal::err(Code::BadId, format!("`id` must be {id}, the hash of the event"));
    }
    let is_post = matches!(content, Content::Post(_));
    Ok(Event {
        id,
        net: fields.net.into(),
        author: fields.author,
        created_at: fields.created_at,
        sig: fields.sig,
        content,
        title: fields.title.filter(|_| is_post).and_then(excerpt::excerpt),
        quote: data::quote(&fields),
    })
}

/// Checks what comes after the signature: work, and a time that is not in the future (section 1.1).
///
/// # Errors
/// `pow_too_low` or `future`.
pub fn admit(event: &Event, received_at: Millis, rules: &Rules) -> Result<(), Refusal> {
    let (work, required) = (event.id.leading_zeros(), rules.pow_bits(&event.net).unwrap_or(0));
    if u32::from(work) < required {
        let reason = format!("`id` has {work} leading zero bits, and `{}` requires {required}", event.net);
        return Refusal::err(Code::PowTooLow, reason);
    }
    let ahead = event.created_at.since(received_at).0;
    if ahead > MAX_AHEAD {
        let reason = format!("`created_at` is {ahead} ms after `received_at`, and may be {MAX_AHEAD}");
        return Refusal::err(Code::Future, reason);
    }
    Ok(())
}

/// Every check of section 1.1 but `duplicate`, for one event on its own.
///
/// # Errors
/// The first rule that the event breaks.
pub fn check(text: &[u8], received_at: Millis, rules: &Rules) -> Result<Event, Refusal> {
    let event = parse(text, rules)?;
    verified(verify_strict(&event))?;
    admit(&event, received_at, rules)?;
    Ok(event)
}

/// Turns a verdict on a signature into a refusal.
pub fn verified(valid: bool) -> Result<(), Refusal> {
    match valid {
        true => Ok(()),
        false => Refusal::err(Code::BadSignature, "`sig` is not a strict signature of `id` by `author`"),
    }
}

/// Reads I-JSON after the checks that need no parser; white space around it counts for nothing.
pub fn read_json(text: &[u8], max_bytes: usize, max_depth: usize) -> Result<Json<'_>, Refusal> {
    let text = json::trim(text);
    if text.len() > max_bytes {
        return Err(over_size(max_bytes));
    }
    if json::depth(text, max_depth) > max_depth {
        return Refusal::err(Code::TooLarge, too_deep());
    }
    json::parse(text, max_depth).map_err(|e| Refusal::new(Code::BadJson, e.to_string()))
}

/// The reason of a refusal of JSON that is nested too deeply.
pub fn too_deep() -> String {
    format!("nested deeper than {MAX_DEPTH}")
}

/// An event, or the line of a record, over its limit.
pub fn over_size(max_bytes: usize) -> Refusal {
    let what = if max_bytes == MAX_BYTES { "an event" } else { "the line of a record" };
    Refusal::new(Code::TooLarge, format!("{what} over {max_bytes} bytes"))
}

/// The refusal of JSON that is no object.
///
/// # Errors
/// Always.
pub fn not_an_object<T>(found: &Json<'_>) -> Result<T, Refusal> {
    Refusal::err(Code::BadJson, format!("a JSON object is expected, and this is {}", found.kind()))
}
