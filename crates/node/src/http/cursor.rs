//! Where a client was: a place of the sequence of this very store, what it was told of a thread, and what
//! before that place is held back from it.

use super::Problem;
use wats_event::Hex32;
use wats_store::{Seq, Store};

/// A place, as clients keep it: they pass it on as it is, and it survives restarts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The last record of the sequence that was delivered, or passed over.
    pub seq: Seq,
    /// What was shown for a thread, in short; 0 for nothing.
    pub entry: u64,
    /// Records up to there that were not delivered yet: asks that are held back. At most [`HELD_BACK`].
    pub held_back: Vec<Seq>,
}

/// The most asks that are held back from a client at a time: it does not pass over a further one.
pub(super) const HELD_BACK: usize = 16;

/// So many digits at least: four of a mark, sixteen of the store, of the place and of the entry; and sixteen
/// for each ask that is held back.
const DIGITS: usize = 4 + 3 * 16;
const MARK: &str = "wc01";

impl Cursor {
    /// As text.
    pub(super) fn write(&self, store: &Store) -> String {
        let start = format!("{MARK}{:016x}{:016x}{:016x}", mark(store.id()), self.seq.0, self.entry);
        self.held_back.iter().fold(start, |text, seq| text + &format!("{:016x}", seq.0))
    }

    /// Reads a cursor of a store.
    ///
    /// # Errors
    /// When it is none, of another store, or ahead of this one, as after a backup was restored.
    pub(super) fn read(text: &str, store: &Store) -> Result<Cursor, Problem> {
        let fits = (DIGITS..=DIGITS + 16 * HELD_BACK).contains(&text.len())
            && (text.len() - DIGITS).is_multiple_of(16);
        let digits = text.strip_prefix(MARK).filter(|_| fits && text.is_ascii());
        let number = |at: usize| u64::from_str_radix(digits?.get(16 * at..16 * (at + 1))?, 16).ok();
        let none = || {
            Problem::bad_request("`cursor` is none that a node gave: pass it on as it is")
                .with("code", "no_cursor")
        };
        let (Some(of), Some(seq), Some(entry)) = (number(0), number(1), number(2)) else {
            return Err(none());
        };
        let more = (DIGITS..text.len()).step_by(16).enumerate().map(|(n, _)| number(3 + n).map(Seq));
        let held_back: Vec<Seq> = more.collect::<Option<_>>().ok_or_else(none)?;
        let gone = |detail: &str| Problem::new(410, "gone", detail).with("code", "cursor_gone");
        if of != mark(store.id()) {
            return Err(gone("this cursor is of another store: begin without one"));
        }
        if Seq(seq) > store.last()? {
            return Err(gone(
                "this cursor is ahead of the store, which was restored from a backup: begin without one",
            ));
        }
        Ok(Cursor { seq: Seq(seq), entry, held_back })
    }
}

fn mark(id: Hex32) -> u64 {
    short(&id.0)
}

/// The first bytes of a hash, as a number.
pub(super) fn short(bytes: &[u8]) -> u64 {
    let hash = blake3::hash(bytes);
    let first = hash.as_bytes().first_chunk().copied().unwrap_or_default();
    u64::from_le_bytes(first)
}
