//! A log out of a store: records of section 1.2, in the order in which they were taken in.
//!
//! Each event is written once, with the smallest `received_at` of its copies, and each blob with its
//! last word; a replay of the log gives the same views.

use crate::{BlobPresence, Seq, SequenceRecord, Store, StoreError};
use serde_json::json;
use std::collections::{BTreeMap, HashSet};
use wats_event::log::read_stored;
use wats_event::{Event, Hex32, Rules};
use wats_model::ids::Millis;

/// What to export; everything by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Of this network alone, and no blobs.
    pub network: Option<String>,
    /// Received at this time or later.
    pub since: Option<Millis>,
    /// Received before this time.
    pub until: Option<Millis>,
    /// The thread of this root: its posts, and reacts on them and on each other; no blobs.
    pub thread: Option<Hex32>,
}

/// What was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Events.
    pub events: u64,
    /// Records of blobs.
    pub blobs: u64,
    /// Places of the sequence that could not be read, and were passed over.
    pub lost: u64,
    /// Events that only an earlier edition of the specification took: no node would take them now.
    pub of_old: u64,
}

/// Writes a store's records, a line at a time, up to `last`.
///
/// # Errors
/// When the store cannot be read, or `line` fails.
pub fn export<E: From<StoreError>>(
    store: &Store,
    wanted: &Wanted,
    last: Seq,
    mut line: impl FnMut(&str) -> Result<(), E>,
) -> Result<Exported, E> {
    let thread = wanted.thread.map(|root| members(store, root, last)).transpose()?;
    let mut exported = Exported::default();
    let blobs = wanted.network.is_none() && thread.is_none();
    // Of blobs that more was said of since, the last word is of those up to `last`.
    let mut overtaken = said_after(store, last)?;
    for item in store.records(Seq(0)) {
        let (seq, logged) = item?;
        if seq > last {
            break;
        }
        match logged {
            SequenceRecord::Copy { .. } => {}
            SequenceRecord::Blob { blob, received_at, present } => {
                let said = BlobPresence { received_at, present };
                if let Some(before) = overtaken.get_mut(&blob) {
                    *before = said.after(*before).or(*before);
                } else if blobs && wanted.covers(received_at) && store.blob(blob)? == Some(said) {
                    line(&word(blob, said))?;
                    exported.blobs += 1;
                }
            }
            SequenceRecord::Event { id, text, .. } => {
                let held =
                    store.held(id)?.ok_or_else(|| StoreError::Damaged(format!("{id} has no place")))?;
                if !wanted.covers(held.received_at) || thread.as_ref().is_some_and(|ids| !ids.contains(&id)) {
                    continue;
                }
                let Some((event, text)) = parsed(id, &text)? else {
                    exported.of_old += 1;
                    continue;
                };
                if wanted.network.as_ref().is_some_and(|network| **network != *event.net) {
                    continue;
                }
                exported.events += 1;
                line(&record(held.received_at, text))?;
            }
        }
    }
    for (blob, said) in overtaken {
        if let Some(said) = said.filter(|said| blobs && wanted.covers(said.received_at)) {
            line(&word(blob, said))?;
            exported.blobs += 1;
        }
    }
    if exported.of_old > 0 {
        tracing::warn!(
            events = exported.of_old,
            "not exported: events that the sixth edition of the specification refuses (a number beyond 2^53 - 1, \
             or a kind over 64 bytes); they stay in the store"
        );
    }
    Ok(exported)
}

/// Writes what can be read of a damaged store, in the order in which it was taken in: each event with the smallest
/// date that is known, and every word on a blob.
///
/// # Errors
/// When `line` fails.
pub fn rescue<E>(store: &Store, mut line: impl FnMut(&str) -> Result<(), E>) -> Result<Exported, E> {
    let mut exported = Exported::default();
    let mut records = store.readable(store.last_known());
    for (_, logged) in records.by_ref() {
        match logged {
            // Its event is there, or is lost.
            SequenceRecord::Copy { .. } => {}
            SequenceRecord::Blob { blob, received_at, present } => {
                line(&word(blob, BlobPresence { received_at, present }))?;
                exported.blobs += 1;
            }
            SequenceRecord::Event { id, received_at, text } => {
                if let Ok(Some((event, text))) = parsed(id, &text)
                    && event.id == id
                {
                    let held = store.held(id).ok().flatten();
                    let received_at = held.map_or(received_at, |held| held.received_at);
                    line(&record(received_at, text))?;
                    exported.events += 1;
                } else {
                    exported.lost += 1;
                }
            }
        }
    }
    exported.lost += records.lost();
    Ok(exported)
}

/// Whether an event of a network is held.
///
/// # Errors
/// When the store cannot be read.
pub fn holds(store: &Store, network: &str) -> Result<bool, StoreError> {
    for item in store.records(Seq(0)) {
        if let (_, SequenceRecord::Event { id, text, .. }) = item?
            && parsed(id, &text)?.is_some_and(|(event, _)| *event.net == *network)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The blobs that something was said of after a place.
fn said_after(store: &Store, last: Seq) -> Result<BTreeMap<Hex32, Option<BlobPresence>>, StoreError> {
    let mut said = BTreeMap::new();
    for item in store.records(last) {
        if let (_, SequenceRecord::Blob { blob, .. }) = item? {
            said.insert(blob, None);
        }
    }
    Ok(said)
}

fn word(blob: Hex32, BlobPresence { received_at, present }: BlobPresence) -> String {
    json!({ "received_at": received_at.0, "blob": blob, "present": present }).to_string()
}

impl Wanted {
    fn covers(&self, at: Millis) -> bool {
        self.since.is_none_or(|since| since <= at) && self.until.is_none_or(|until| at < until)
    }
}

/// An event as a record: the limit of a record's line leaves room for it around the largest event.
fn record(received_at: Millis, text: &str) -> String {
    format!("{{\"received_at\":{},\"event\":{text}}}", received_at.0)
}

/// A stored event, and its text; none of one that only an earlier edition took.
fn parsed(id: Hex32, stored: &str) -> Result<Option<(Event, &str)>, StoreError> {
    read_stored(stored, id, &Rules::any())
        .map_err(|refusal| StoreError::Damaged(format!("event {id} does not parse: {refusal}")))
}

/// The events of a thread, and the reacts on them, however deep.
fn members(store: &Store, root: Hex32, last: Seq) -> Result<HashSet<Hex32>, StoreError> {
    let mut ids = HashSet::from([root]);
    loop {
        let before = ids.len();
        for item in store.records(Seq(0)) {
            let (seq, logged) = item?;
            if seq > last {
                break;
            }
            if let SequenceRecord::Event { id, text, .. } = logged
                && !ids.contains(&id)
                && parsed(id, &text)?.is_some_and(|(event, _)| of_thread(&event, root, &ids))
            {
                ids.insert(id);
            }
        }
        if ids.len() == before {
            return Ok(ids);
        }
    }
}

fn of_thread(event: &Event, root: Hex32, ids: &HashSet<Hex32>) -> bool {
    use wats_event::Content;
    match &event.content {
        Content::Post(post) => post.reply.is_some_and(|(_, thread)| thread == root),
        Content::Other { reply } => reply.is_some_and(|(_, thread)| thread == root),
        Content::React(react) => ids.contains(&react.target),
        Content::Announce { .. } => false,
    }
}
