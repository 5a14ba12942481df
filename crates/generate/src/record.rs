//! A generated line: without a signature, and as it is written.

use std::io::Write;
use std::sync::Arc;
use wats_event::{Hex32, Secret};
use wats_model::ids::Millis;

/// A record of a generated log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it was received.
    pub received_at: Millis,
    /// What was received.
    pub said: Said,
}

/// What a record holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// The canonical JSON text of an event.
    Event(String),
    /// Whether the node holds a blob.
    Blob {
        /// The blob.
        blob: Hex32,
        /// Whether it is there.
        present: bool,
    },
}

impl Record {
    /// Appends the record's line, its end included.
    pub fn write(&self, out: &mut Vec<u8>) {
        let at = self.received_at.0;
        // Writing to a vector cannot fail.
        let _ = match &self.said {
            Said::Event(event) => {
                writeln!(out, "{{\"received_at\":{at},\"event\":{event}}}")
            }
            Said::Blob { blob, present } => {
                writeln!(out, "{{\"received_at\":{at},\"blob\":\"{blob}\",\"present\":{present}}}")
            }
        };
    }
}

/// A line whose signature is still to be made.
#[derive(Debug)]
pub(super) enum Line {
    Event(Unsigned),
    Blob { received_at: u64, blob: Hex32, present: bool },
}

/// An event with its id, whose signature is still to be made.
#[derive(Clone, Debug)]
pub(super) struct Unsigned {
    pub received_at: u64,
    pub created_at: u64,
    pub id: Hex32,
    /// The canonical bytes, and where in them `id` and `sig` go.
    pub text: Vec<u8>,
    pub id_at: usize,
    pub sig_at: usize,
    pub by: Arc<Secret>,
}

impl Line {
    /// The record, signed or with a signature of zeros.
    pub(crate) fn finish(self, signed: bool) -> Record {
        match self {
            Line::Event(event) => {
                Record { received_at: Millis(event.received_at), said: Said::Event(event.finish(signed)) }
            }
            Line::Blob { received_at, blob, present } => {
                Record { received_at: Millis(received_at), said: Said::Blob { blob, present } }
            }
        }
    }
}

impl Unsigned {
    fn finish(&self, signed: bool) -> String {
        let sig = match signed {
            true => wats_event::hex::encode(&self.by.sign_id(&self.id)),
            false => "0".repeat(128),
        };
        let mut out = Vec::with_capacity(self.text.len() + 224);
        out.extend_from_slice(&self.text[..self.id_at]);
        let _ = write!(out, "\"id\":\"{}\",", self.id);
        out.extend_from_slice(&self.text[self.id_at..self.sig_at]);
        let _ = write!(out, "\"sig\":\"{sig}\",");
        out.extend_from_slice(&self.text[self.sig_at..]);
        // Written by this crate from strings, so it is UTF-8.
        String::from_utf8(out).unwrap_or_default()
    }
}
