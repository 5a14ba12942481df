//! Paging that neither repeats nor skips a hit while statuses move.
//!
//! What a query found is remembered under a cursor: the candidates as the index gave them, and those that
//! were ranked so far. A band is ranked once, when a page reaches it, and keeps its order from then on;
//! what it shows of each hit is always current. The same cursor gives the same page again.
//!
//! Memory is bounded: when there is no room for another query, the one that was not asked for longest
//! goes, and its cursors are told to be too old. So are those of before a restart.

use super::query::Kind;
use super::{CANDIDATES, SearchError};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use wats_event::Hex32;
use wats_model::ids::Millis;

/// Memory for what is remembered of queries, in bytes.
pub(crate) const MEMORY: usize = 64 << 20;

/// An event that the index found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub id: Hex32,
    pub relevance: f32,
    pub created_at: Millis,
    pub kind: Kind,
}

/// What is remembered of a query.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// What was asked.
    pub asked: [u8; 32],
    /// In the order of their ranks.
    pub ranked: Vec<Hex32>,
    /// Not ranked yet, by relevance.
    pub rest: VecDeque<Candidate>,
    /// The ids of the first candidates, until the others were taken from the index.
    pub seen: HashSet<Hex32>,
    /// Whether no more are to be taken from the index.
    pub all: bool,
    /// Whether these are known to be all that matched.
    pub complete: bool,
}

impl Found {
    /// The most it will take: what is found later is counted from the beginning.
    fn bytes(&self) -> usize {
        let later = if self.all { 0 } else { CANDIDATES };
        let ids = 2 * self.seen.len() * size_of::<Hex32>();
        size_of::<Found>() + ids + (self.rest.len() + self.ranked.len() + later) * size_of::<Candidate>()
    }
}

/// Where a page begins: of which store, of which query, at which hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    store: [u8; 4],
    number: u64,
    pub from: u32,
}

impl Cursor {
    /// The page of the same query that begins at another hit.
    pub(crate) fn at(self, from: usize) -> Cursor {
        Cursor { from: u32::try_from(from).unwrap_or(u32::MAX), ..self }
    }

    pub(crate) fn write(&self) -> String {
        let mut bytes = self.store.to_vec();
        bytes.extend_from_slice(&self.number.to_be_bytes());
        bytes.extend_from_slice(&self.from.to_be_bytes());
        wats_event::hex::encode(&bytes)
    }

    pub(crate) fn read(text: &str) -> Result<Cursor, SearchError> {
        let bytes: [u8; 16] = wats_event::hex::decode(text).ok_or(SearchError::NoCursor)?;
        let part = |at: usize| bytes[at..at + 4].try_into().unwrap_or_default();
        let number = u64::from_be_bytes(bytes[4..12].try_into().unwrap_or_default());
        Ok(Cursor { store: part(0), number, from: u32::from_be_bytes(part(12)) })
    }
}

/// What is remembered of many queries.
#[derive(Debug)]
pub(super) struct Pages {
    store: [u8; 4],
    memory: usize,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    kept: HashMap<u64, Kept>,
    /// Who was asked for when: the smallest is the oldest.
    order: std::collections::BTreeMap<u64, u64>,
    clock: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Kept {
    found: Arc<Mutex<Found>>,
    bytes: usize,
    asked_at: u64,
}

impl Pages {
    pub(crate) fn new(store: Hex32, memory: usize) -> Pages {
        let [a, b, c, d, ..] = store.0;
        Pages { store: [a, b, c, d], memory, inner: Mutex::default() }
    }

    /// Remembers what was found; a cursor to its beginning.
    pub(crate) fn keep(&self, found: Found) -> Result<(Cursor, Arc<Mutex<Found>>), SearchError> {
        let mut number = [0; 8];
        getrandom::fill(&mut number).map_err(|e| SearchError::Chance(e.to_string()))?;
        let number = u64::from_be_bytes(number);
        let bytes = found.bytes();
        let found = Arc::new(Mutex::new(found));
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clock += 1;
        let asked_at = inner.clock;
        inner.bytes += bytes;
        inner.order.insert(asked_at, number);
        inner.kept.insert(number, Kept { found: found.clone(), bytes, asked_at });
        while inner.bytes > self.memory
            && inner.kept.len() > 1
            && let Some((_, oldest)) = inner.order.pop_first()
        {
            let gone = inner.kept.remove(&oldest).map_or(0, |kept| kept.bytes);
            inner.bytes -= gone;
        }
        Ok((Cursor { store: self.store, number, from: 0 }, found))
    }

    /// What was found for a cursor's query.
    pub(crate) fn get(&self, cursor: Cursor) -> Result<Arc<Mutex<Found>>, SearchError> {
        if cursor.store != self.store {
            return Err(SearchError::OtherStore);
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clock += 1;
        let now = inner.clock;
        let kept = inner.kept.get_mut(&cursor.number).ok_or(SearchError::TooOld)?;
        let before = std::mem::replace(&mut kept.asked_at, now);
        let found = kept.found.clone();
        inner.order.remove(&before);
        inner.order.insert(now, cursor.number);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_when_there_is_no_room() {
        let pages = Pages::new(Hex32([7; 32]), 3 * Found::default().bytes());
        let kept: Vec<Cursor> = (0..3).map(|_| pages.keep(Found::default()).expect("room").0).collect();
        assert!(pages.get(kept[0]).is_ok(), "asked for again");
        let fourth = pages.keep(Found::default()).expect("room").0;
        assert!(matches!(pages.get(kept[1]), Err(SearchError::TooOld)));
        assert!([kept[0], kept[2], fourth].iter().all(|cursor| pages.get(*cursor).is_ok()));
    }

    #[test]
    fn a_cursor_is_told_from_others() {
        let pages = Pages::new(Hex32([7; 32]), MEMORY);
        let cursor = Cursor { from: 20, ..pages.keep(Found::default()).expect("room").0 };
        assert_eq!(Cursor::read(&cursor.write()).expect("a cursor"), cursor);
        let other = Pages::new(Hex32([8; 32]), MEMORY);
        assert!(matches!(other.get(cursor), Err(SearchError::OtherStore)));
        for text in ["", "xyz", "é", &cursor.write()[1..]] {
            assert!(matches!(Cursor::read(text), Err(SearchError::NoCursor)), "{text}");
        }
    }
}
