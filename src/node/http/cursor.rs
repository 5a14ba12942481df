//! Where a client was: a place of the sequence of this very store, and what it was told of a thread.

use super::Problem;
use crate::event::Hex32;
use crate::store::{Seq, Store};

/// A place, as clients keep it: they pass it on as it is, and it survives restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The last record of the sequence that was delivered, or passed over.
    pub seq: Seq,
    /// What was shown for a thread, in short; 0 for nothing.
    pub entry: u64,
}

/// So many digits: four of a mark, sixteen of the store, of the place and of the entry.
const DIGITS: usize = 4 + 3 * 16;
const MARK: &str = "wc01";

impl Cursor {
    /// As text.
    pub fn write(&self, store: &Store) -> String {
        format!("{MARK}{:016x}{:016x}{:016x}", mark(store.id()), self.seq.0, self.entry)
    }

    /// Reads a cursor of a store.
    ///
    /// # Errors
    /// When it is none, of another store, or ahead of this one, as after a backup was restored.
    pub fn read(text: &str, store: &Store) -> Result<Cursor, Problem> {
        let digits = text.strip_prefix(MARK).filter(|_| text.len() == DIGITS && text.is_ascii());
        let number = |at: usize| u64::from_str_radix(digits?.get(16 * at..16 * (at + 1))?, 16).ok();
        let (Some(of), Some(seq), Some(entry)) = (number(0), number(1), number(2)) else {
            return Err(Problem::bad_request("`cursor` is none that a node gave: pass it on as it is").with("code", "no_cursor"));
        };
        let gone = |detail: &str| Problem::new(410, "gone", detail).with("code", "cursor_gone");
        if of != mark(store.id()) {
            return Err(gone("this cursor is of another store: begin without one"));
        }
        if Seq(seq) > store.last()? {
            return Err(gone("this cursor is ahead of the store, which was restored from a backup: begin without one"));
        }
        Ok(Cursor { seq: Seq(seq), entry })
    }
}

fn mark(id: Hex32) -> u64 {
    short(&id.0)
}

/// The first bytes of a hash, as a number.
pub fn short(bytes: &[u8]) -> u64 {
    let hash = blake3::hash(bytes);
    let first = hash.as_bytes().first_chunk().copied().unwrap_or_default();
    u64::from_le_bytes(first)
}
