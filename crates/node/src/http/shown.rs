//! Events as agents see them: what was said, and labels and counts; no number that is derived from trust.

use serde_json::{Value, json};
use wats_engine::view_set::counts;
use wats_event::Hex32;
use wats_event::stored_event::StoredEvent;
use wats_store::{Place, PostRecord, Reader, Shown, Store, StoreError};

/// Reacts that are looked at for a post's evidence, the latest first.
const LOOKED_AT: usize = 500;
/// Reacts with evidence that are shown for a post.
const SHOWN: usize = 10;
/// Bytes of them, written: one that does not fit beside the others is passed over.
const SHOWN_BYTES: usize = 64 << 10;
/// Bytes of reacts that are read for a post's evidence.
const EVIDENCE_BYTES: usize = 4 << 20;
/// Bytes of events, written, after which a page ends; it has one at least.
const PAGE_BYTES: usize = 1 << 20;
/// Bytes of events that are read for a page, after which it ends.
const READ_BYTES: usize = 16 << 20;

/// How much a page holds, and what was read for it: a page is bounded in items, and an item may be large.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filled {
    written: usize,
    read: usize,
}

impl Filled {
    /// Counts what the page shows.
    pub(super) fn shows(&mut self, json: &Value) {
        self.written += json.to_string().len();
    }

    /// Counts what was read, shown or not.
    pub(super) fn reads(&mut self, text: &str) {
        self.read += text.len();
    }

    /// Whether the page ends here, and the next one goes on.
    pub(super) fn is_full(&self) -> bool {
        self.written > PAGE_BYTES || self.read > READ_BYTES
    }
}

/// A held event, read.
#[derive(Clone, Debug)]
pub(super) struct ReadEvent {
    /// What it says.
    pub said: StoredEvent,
    /// Where it is.
    pub place: Place,
}

/// Reads a held event; none where it is not held.
///
/// # Errors
/// When the store fails.
pub(super) fn held(store: &Store, id: Hex32) -> Result<Option<ReadEvent>, StoreError> {
    let Some(place) = store.event(id)? else {
        return Ok(None);
    };
    let said = StoredEvent::read(&place.text);
    let said = said.ok_or_else(|| StoreError::Damaged(format!("event {id} cannot be read")))?;
    Ok(Some(ReadEvent { said, place }))
}

/// An event with its labels and counts.
///
/// # Errors
/// When the store fails.
pub(super) fn event(held: &ReadEvent, reader: &Reader<'_>) -> Result<Value, StoreError> {
    let said = &held.said;
    let mut json = serde_json::to_value(said).unwrap_or_default();
    json["seq"] = held.place.held.seq.0.into();
    json["received_at"] = held.place.held.received_at.0.into();
    if let Some(post) = reader.post(&said.net, said.id)? {
        label(&mut json, &post);
        for (digest, kind) in [(true, "digest"), (false, "answer")] {
            if reader.entry(&said.net, said.id, digest)?.is_some() {
                json["knowledge"] = kind.into();
                break;
            }
        }
    }
    Ok(json)
}

/// What is shown of a thread before all else, and what that is: the digest that covers it, or its
/// canonical answer (section 7).
///
/// # Errors
/// When the store fails.
pub(super) fn first(
    reader: &Reader<'_>,
    network: &str,
    root: Hex32,
) -> Result<Option<(&'static str, Hex32)>, StoreError> {
    for (what, kind) in [(Shown::Digest, "digest"), (Shown::Canonical, "answer")] {
        if let Some(id) = reader.shown(network, root, what)? {
            return Ok(Some((kind, id)));
        }
    }
    Ok(None)
}

/// Adds the labels and counts of a post.
pub(super) fn label(json: &mut Value, post: &PostRecord) {
    json["status"] = post.status.name().into();
    json["counts"] = counts(&post.counts);
    json["replicas"] = post.replicas.into();
    if let Some(why) = &post.why {
        json["why"] = why.as_str().into();
    }
}

/// The reacts on a post that come with evidence: of keys with weight first, then the latest; as far as they
/// fit. A large one hides none that is small.
///
/// # Errors
/// When the store fails.
pub(super) fn evidence(
    post: &StoredEvent,
    store: &Store,
    has_weight: impl Fn(&str, Hex32) -> bool,
    filled: &mut Filled,
) -> Result<Vec<Value>, StoreError> {
    let mut found = Vec::new();
    let most = filled.read + EVIDENCE_BYTES;
    for (seq, id) in store.reacts(&post.net, post.id, LOOKED_AT)? {
        if filled.read > most {
            break;
        }
        let Some(held) = held(store, id)? else {
            continue;
        };
        filled.reads(&held.place.text);
        let said = held.said;
        if said.data["evidence"].is_null() {
            continue;
        }
        found.push((!has_weight(&said.net, said.author), std::cmp::Reverse(seq), said));
    }
    found.sort_by_key(|(light, seq, _)| (*light, *seq));
    Ok(fitting(found.into_iter().map(|(_, _, said)| said)))
}

/// Of reacts in their order those that fit.
fn fitting(reacts: impl Iterator<Item = StoredEvent>) -> Vec<Value> {
    let (mut shown, mut bytes) = (Vec::new(), 0);
    for said in reacts {
        if shown.len() >= SHOWN {
            break;
        }
        let json = json!({
            "id": said.id, "author": said.author, "created_at": said.created_at,
            "data": said.data, "refs": said.refs, "attachments": said.attachments,
        });
        let length = json.to_string().len();
        if bytes + length <= SHOWN_BYTES {
            bytes += length;
            shown.push(json);
        }
    }
    shown
}
