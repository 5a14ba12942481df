//! Events as agents see them: what was said, and labels and counts; no number that is derived from trust.

use crate::document::{counts, status_name};
use crate::event::Hex32;
use crate::said::Said;
use crate::store::{Place, PostRecord, Reader, Shown, Store, StoreError};
use serde_json::{Value, json};

/// Reacts that are looked at for a post's evidence, the latest first.
const LOOKED_AT: usize = 500;
/// Reacts with evidence that are shown for a post.
const SHOWN: usize = 10;

/// A held event, read.
#[derive(Clone, Debug)]
pub struct Held {
    /// What it says.
    pub said: Said,
    /// Where it is.
    pub place: Place,
}

/// Reads a held event; none where it is not held.
///
/// # Errors
/// When the store fails.
pub fn held(store: &Store, id: Hex32) -> Result<Option<Held>, StoreError> {
    let Some(place) = store.event(id)? else {
        return Ok(None);
    };
    let said = Said::read(&place.text);
    let said = said.ok_or_else(|| StoreError::Damaged(format!("event {id} cannot be read")))?;
    Ok(Some(Held { said, place }))
}

/// An event with its labels and counts.
///
/// # Errors
/// When the store fails.
pub fn event(held: &Held, reader: &Reader<'_>) -> Result<Value, StoreError> {
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
pub fn first(
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
pub fn label(json: &mut Value, post: &PostRecord) {
    json["status"] = status_name(post.status).into();
    json["counts"] = counts(&post.counts);
    json["replicas"] = post.replicas.into();
    if let Some(why) = &post.why {
        json["why"] = why.as_str().into();
    }
}

/// The reacts on a post that come with evidence: of keys with weight first, then the latest.
///
/// # Errors
/// When the store fails.
pub fn evidence(
    post: &Said,
    store: &Store,
    has_weight: impl Fn(&str, Hex32) -> bool,
) -> Result<Vec<Value>, StoreError> {
    let mut found = Vec::new();
    for (seq, id) in store.reacts(&post.net, post.id, LOOKED_AT)? {
        let Some(held) = held(store, id)? else {
            continue;
        };
        let said = held.said;
        if said.data["evidence"].is_null() {
            continue;
        }
        found.push((!has_weight(&said.net, said.author), std::cmp::Reverse(seq), said));
    }
    found.sort_by_key(|(light, seq, _)| (*light, *seq));
    let shown = found.into_iter().take(SHOWN).map(|(_, _, said)| {
        json!({
            "id": said.id, "author": said.author, "created_at": said.created_at,
            "data": said.data, "refs": said.refs, "attachments": said.attachments,
        })
    });
    Ok(shown.collect())
}
