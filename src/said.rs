//! What an event says, for whoever reads it: its members as its author wrote them.
//!
//! The store has checked it. Everything in here is its author's word and nobody else's.

use crate::event::Hex32;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wats_dataflows::ids::Millis;

/// The members of an event, but for those that prove it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Said {
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
    /// Whom it is addressed to.
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

impl Said {
    /// Reads a stored event: its JSON text, or a record that holds it. None where that is not an event.
    pub fn read(stored: &str) -> Option<Said> {
        if let Ok(said) = serde_json::from_str(stored) {
            return Some(said);
        }
        #[derive(Deserialize)]
        struct Recorded {
            event: Said,
        }
        serde_json::from_str(stored).ok().map(|recorded: Recorded| recorded.event)
    }

    /// The root of the thread that it names, or is.
    pub fn root(&self) -> Hex32 {
        self.thread.unwrap_or(self.id)
    }
}
