//! A stored event: its members as its author wrote them.
//!
//! The store has checked it. Everything in here is its author's word and nobody else's.

use crate::json::{self, Json};
use crate::{Hex32, MAX_DEPTH, canonical};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wats_model::ids::Millis;

/// The members of an event, but for those that prove it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredEvent {
    /// Its id.
    pub id: Hex32,
    /// Its network.
    pub net: String,
    /// `ask`, `post`, `react`, `announce` or an extension.
    pub kind: String,
    /// Its author.
    pub author: Hex32,
    /// The author's claim of when, in Unix milliseconds.
    pub created_at: Millis,
    /// What it replies to or reacts on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Hex32>,
    /// The root of its thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<Hex32>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The keys it is addressed to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<Hex32>,
    /// What it cites.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<Hex32>,
    /// What is attached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Value>,
    /// What its kind says besides.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
}

impl StoredEvent {
    /// Reads a stored event: its JSON text, or a record that holds it. None where that is not an event.
    pub fn read(stored: &str) -> Option<StoredEvent> {
        let direct = serde_json::from_str(stored).ok();
        direct.or_else(|| serde_json::from_str(&canonical_text(stored)?).ok())
    }

    /// The root of the thread that it names, or is.
    pub fn root(&self) -> Hex32 {
        self.thread.unwrap_or(self.id)
    }
}

/// The canonical bytes of a stored event, or of the one in a record: every integer is written as one, however
/// it was written (section 1 judges integers by value: `1.0` is 1).
pub fn canonical_text(stored: &str) -> Option<String> {
    let Ok(Json::Object(members)) = json::parse(stored.as_bytes(), MAX_DEPTH + 1) else {
        return None;
    };
    // A record has no id of its own, and an event may have a member of any name.
    match (members.get("id"), members.get("event")) {
        (None, Some(Json::Object(event))) => Some(canonical::text(event)),
        _ => Some(canonical::text(&members)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_reads_the_same_in_a_record_and_with_integers_written_as_decimals() {
        let (id, author) = ("0".repeat(64), "1".repeat(64));
        let event = |at: &str| {
            format!(
                r#"{{"id":"{id}","author":"{author}","net":"main","kind":"ask","title":"?","created_at":{at}}}"#
            )
        };
        let said = StoredEvent::read(&event("1700000000000")).expect("an event");
        assert_eq!(said.created_at, Millis(1_700_000_000_000));
        assert_eq!(StoredEvent::read(&event("1700000000000.0")), Some(said.clone()));
        assert_eq!(StoredEvent::read(&event("17e11")), Some(said.clone()));
        assert_eq!(
            StoredEvent::read(&format!(r#"{{"received_at":5,"event":{}}}"#, event("17e11"))),
            Some(said)
        );
        assert_eq!(StoredEvent::read("{}"), None);
    }
}
