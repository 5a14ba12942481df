//! One line of a log: a received event, or a blob that the node holds or no longer does (section 1.2).

use super::lines::RawLine;
use crate::json::{self, Json, Members};
use crate::{Code, Event, Hex32, MAX_BYTES, MAX_DEPTH, MAX_RECORD_BYTES, Refusal, Rules};
use wats_model::ids::Millis;

/// What a valid record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// An event, received.
    Event(Box<Event>),
    /// The node holds a blob, or no longer does.
    Blob {
        /// The blob.
        blob: Hex32,
        /// Whether it is there.
        present: bool,
    },
}

/// A judged line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Its number in its log, from 1.
    pub line: u64,
    /// When it was received, where that can be told: always of a valid record.
    pub received_at: Millis,
    /// Whether `received_at` could be told.
    pub dated: bool,
    /// Whether only its event says when: a bare event, received when it was created.
    pub bare: bool,
    /// The line, where [`Options::keep_text`](super::Options) asks for it and the record is valid.
    pub text: Option<Box<str>>,
    /// The record, or the one reason to refuse it.
    pub outcome: Result<Record, Refusal>,
}

/// A record, or a bare event, read up to the event's id: the signature and what follows it are left to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRecord {
    /// When it was received, where it says so; a bare event does not.
    pub received_at: Option<Millis>,
    /// What it is, or the one reason to refuse it.
    pub outcome: Result<Record, Refusal>,
}

/// Reads one record, or a bare event, on its own.
pub fn read_record(text: &[u8], rules: &Rules) -> ReadRecord {
    let mut dated = Dated::default();
    let outcome = record(text, rules, &mut dated);
    ReadRecord { received_at: dated.received_at.filter(|_| !dated.bare), outcome }
}

/// Reads a stored event up to its id, and gives its JSON text: stores of old may have a record around it. None of
/// one that is whole and that an earlier edition of the specification took, where this one refuses it.
///
/// # Errors
/// The one reason to refuse it.
pub fn read_stored<'t>(
    stored: &'t str,
    id: Hex32,
    rules: &Rules,
) -> Result<Option<(Event, &'t str)>, Refusal> {
    // An event may have members of any name, those of a record too, so it is read as an event first.
    let read = match crate::parse(stored.as_bytes(), rules) {
        Ok(event) => Ok((event, stored)),
        Err(refusal) => match event_text(stored).filter(|_| refusal.code == Code::BadField) {
            Some(text) => crate::parse(text.as_bytes(), rules).map(|event| (event, text)),
            None => Err(refusal),
        },
    };
    match read {
        Err(refusal) if refusal.code != Code::WrongNetwork && is_of_old(stored, id) => Ok(None),
        read => read.map(Some),
    }
}

/// A stored text is the event of this id to the last bit, whatever the rules of section 1 say of it now: an
/// earlier edition took numbers beyond 2^53 - 1 and longer kinds.
fn is_of_old(stored: &str, id: Hex32) -> bool {
    let Ok(Json::Object(members)) = json::parse_of_old(stored, MAX_DEPTH + 1) else {
        return false;
    };
    let within = match members.get("event") {
        Some(Json::Object(event)) => Some(event),
        _ => None,
    };
    let mut events = [Some(&members), within].into_iter().flatten();
    events.any(|event| crate::canonical::event_id(event, &mut Vec::new()) == id)
}

/// The JSON text of the event in a record, as it is written there; none where the text is no record of an
/// event.
pub fn event_text(record: &str) -> Option<&str> {
    let Ok(Json::Object(members)) = json::parse(record.as_bytes(), MAX_DEPTH + 1) else {
        return None;
    };
    match (members.get("received_at"), members.get("event")) {
        (Some(_), Some(Json::Object(_))) => json::member_text(record, "event", MAX_DEPTH + 1),
        _ => None,
    }
}

/// When a line was received, and whether only its event says so.
#[derive(Default)]
struct Dated {
    received_at: Option<Millis>,
    bare: bool,
}

/// Judges a line up to the event's id; the signature and what follows it are left to do.
pub(super) fn parse(line: RawLine<'_>, rules: &Rules) -> Checked {
    let mut dated = Dated::default();
    let mut outcome = match line.over {
        true => Err(crate::over_size(MAX_RECORD_BYTES)),
        false => record(line.text, rules, &mut dated),
    };
    if let Err(refusal) = &mut outcome
        && refusal.code == Code::BadJson
        && !line.ended
    {
        refusal.reason = format!("{}; the log ends within this line", refusal.reason).into();
    }
    Checked {
        line: line.number,
        received_at: dated.received_at.unwrap_or_default(),
        dated: dated.received_at.is_some(),
        bare: dated.bare,
        text: None,
        outcome,
    }
}

fn record(text: &[u8], rules: &Rules, dated: &mut Dated) -> Result<Record, Refusal> {
    // In a record the event is the second level. Which of the two a line is, the parser tells.
    let json = crate::read_json(text, MAX_RECORD_BYTES, MAX_DEPTH + 1)?;
    let members = match &json {
        Json::Object(members) => members,
        other => return crate::not_an_object(other),
    };
    let has = |name| members.get(name).is_some();
    if !(has("event") || has("blob")) || (has("v") && !has("received_at")) {
        dated.bare = true;
        return bare(text, members, rules, &mut dated.received_at);
    }
    if holds_too_much(text) {
        return Err(crate::over_size(MAX_BYTES));
    }
    dated.received_at = Some(time(members)?);
    match (members.get("event"), members.get("blob")) {
        (Some(_), Some(_)) => bad("a record has `event` or `blob`, not both"),
        (Some(Json::Object(event)), _) => {
            crate::from_members(event, rules).map(|event| Record::Event(Box::new(event)))
        }
        (Some(other), _) => bad(format!("`event` must be an object, and is {}", other.kind())),
        (None, _) => blob(members),
    }
}

/// Whether the event in a record is over the limit: its own text counts, not what stands around it.
fn holds_too_much(record: &[u8]) -> bool {
    // Only the largest records are read twice.
    if record.len() <= MAX_BYTES {
        return false;
    }
    let event =
        std::str::from_utf8(record).ok().and_then(|text| json::member_text(text, "event", MAX_DEPTH + 1));
    event.is_some_and(|event| event.len() > MAX_BYTES)
}

/// An event without a record around it: it is received when it is created.
fn bare(
    text: &[u8],
    members: &Members<'_>,
    rules: &Rules,
    received_at: &mut Option<Millis>,
) -> Result<Record, Refusal> {
    if json::trim(text).len() > MAX_BYTES {
        return Err(crate::over_size(MAX_BYTES));
    }
    if json::depth(text, MAX_DEPTH) > MAX_DEPTH {
        return Refusal::err(Code::TooLarge, crate::too_deep());
    }
    let created_at = members.get("created_at").and_then(Json::as_integer);
    *received_at = created_at.and_then(|at| u64::try_from(at).ok()).map(Millis);
    crate::from_members(members, rules).map(|event| Record::Event(Box::new(event)))
}

fn bad<T>(reason: impl Into<std::borrow::Cow<'static, str>>) -> Result<T, Refusal> {
    Refusal::err(Code::BadField, reason)
}

fn time(members: &Members<'_>) -> Result<Millis, Refusal> {
    let Some(value) = members.get("received_at") else {
        return bad("`received_at` is missing");
    };
    match value.as_integer().and_then(|at| u64::try_from(at).ok()) {
        Some(at) => Ok(Millis(at)),
        None => bad("`received_at` must be an integer of milliseconds, not negative"),
    }
}

fn blob(members: &Members<'_>) -> Result<Record, Refusal> {
    let Some(blob) = members.get("blob").and_then(Json::as_str).and_then(Hex32::parse) else {
        return bad("`blob` must be 64 lower-case hex digits");
    };
    match members.get("present") {
        Some(Json::Bool(present)) => Ok(Record::Blob { blob, present: *present }),
        _ => bad("`present` must be true or false"),
    }
}
