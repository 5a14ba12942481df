//! What becomes of an event that a client brings.

use serde_json::{Value, json};
use std::time::Duration;
use wats_event::{Hex32, Refusal};
use wats_store::Seq;

/// What became of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is held, and on the disk.
    Accepted {
        /// Its id.
        id: Hex32,
        /// Its place in the sequence.
        seq: Seq,
    },
    /// It was held already: a success.
    Duplicate {
        /// Its id.
        id: Hex32,
        /// Its place in the sequence.
        seq: Seq,
    },
    /// A record of a blob was taken.
    Blob,
    /// It breaks a rule of section 1.1, and always will (but for `future`).
    Refused(Refusal),
    /// Not now: it may be sent again.
    Unavailable {
        /// Why.
        why: Unavailable,
        /// When to try again.
        after: Duration,
    },
}

/// Why an event is not taken now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unavailable {
    /// The node has as much to do as it holds in memory.
    Busy,
    /// It is reading its store.
    Loading,
    /// It is stopping.
    Stopping,
    /// This source sends more than it may.
    SourceLimited,
    /// This key signs more than it may.
    KeyLimited,
    /// The disk is full.
    DiskFull,
    /// The store failed.
    Failed,
}

impl Unavailable {
    /// All of them.
    pub const ALL: [Unavailable; 7] = [
        Unavailable::Busy,
        Unavailable::Loading,
        Unavailable::Stopping,
        Unavailable::SourceLimited,
        Unavailable::KeyLimited,
        Unavailable::DiskFull,
        Unavailable::Failed,
    ];

    /// How it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Unavailable::Busy => "busy",
            Unavailable::Loading => "loading",
            Unavailable::Stopping => "stopping",
            Unavailable::SourceLimited => "source_limited",
            Unavailable::KeyLimited => "key_limited",
            Unavailable::DiskFull => "disk_full",
            Unavailable::Failed => "failed",
        }
    }

    /// In words, with what to do.
    pub fn reason(self) -> &'static str {
        match self {
            Unavailable::Busy => "the node is busy; send it again after the time in `Retry-After`",
            Unavailable::Loading => "the node is reading its store; `/readyz` tells how far it is",
            Unavailable::Stopping => "the node is stopping",
            Unavailable::SourceLimited => {
                "this address sends more events than `[limits] source_per_second` allows"
            }
            Unavailable::KeyLimited => "this key signs more events than `[limits] key_per_second` allows",
            Unavailable::DiskFull => "the disk is full; the node goes on when there is space again",
            Unavailable::Failed => "the store failed; the node's log says how",
        }
    }

    /// The status of an answer about one event alone.
    pub fn status(self) -> u16 {
        match self {
            Unavailable::SourceLimited | Unavailable::KeyLimited => 429,
            Unavailable::DiskFull => 507,
            Unavailable::Failed => 500,
            Unavailable::Busy | Unavailable::Loading | Unavailable::Stopping => 503,
        }
    }
}

impl Outcome {
    /// An event to be sent again.
    pub fn later(why: Unavailable) -> Outcome {
        let seconds = match why {
            Unavailable::DiskFull | Unavailable::Loading => 10,
            _ => 1,
        };
        Outcome::Unavailable { why, after: Duration::from_secs(seconds) }
    }

    /// How it is counted and written: `accepted`, `duplicate`, `refused` or `later`.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Accepted { .. } | Outcome::Blob => "accepted",
            Outcome::Duplicate { .. } => "duplicate",
            Outcome::Refused(_) => "refused",
            Outcome::Unavailable { .. } => "later",
        }
    }

    /// The code of a refusal or of a wait.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Outcome::Refused(refusal) => Some(refusal.code.as_str()),
            Outcome::Unavailable { why, .. } => Some(why.as_str()),
            _ => None,
        }
    }

    /// The status of an answer about this event alone.
    pub fn status(&self) -> u16 {
        match self {
            Outcome::Accepted { .. } | Outcome::Blob => 201,
            Outcome::Duplicate { .. } => 200,
            Outcome::Refused(refusal) if refusal.code == wats_event::Code::TooLarge => 413,
            Outcome::Refused(_) => 422,
            Outcome::Unavailable { why, .. } => why.status(),
        }
    }

    /// As the API writes it.
    pub fn json(&self) -> Value {
        match self {
            Outcome::Accepted { id, seq } | Outcome::Duplicate { id, seq } => {
                json!({ "outcome": self.name(), "id": id, "seq": seq.0 })
            }
            Outcome::Blob => json!({ "outcome": "accepted" }),
            Outcome::Refused(refusal) => {
                json!({ "outcome": "refused", "code": refusal.code, "reason": refusal.reason })
            }
            Outcome::Unavailable { why, after } => json!({
                "outcome": "later", "code": why.as_str(), "reason": why.reason(), "retry_after": after.as_secs(),
            }),
        }
    }
}
