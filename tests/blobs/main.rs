//! Blobs through the real node: uploads, reads, the budget, and whoever means harm.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines,
    reason = "a test prints what it measured, and tells its story in one piece"
)]

mod budget;
#[path = "../support/dice.rs"]
mod dice;
#[path = "../support/facts.rs"]
mod facts;
mod hostile;
#[path = "../support/http.rs"]
mod http;
mod lists;
mod lost;
#[path = "../support/node.rs"]
mod node;
mod upload;
#[path = "../support/views.rs"]
mod views;

use http::{Answer, call};
use node::{Running, signed_in};
use serde_json::{Value, json};
use std::path::PathBuf;
use wats_api::client::Client;
use wats_event::Hex32;
use wats_model::ids::Millis;

/// The hash of some bytes.
pub(crate) fn hash(bytes: &[u8]) -> Hex32 {
    Hex32(*blake3::hash(bytes).as_bytes())
}

/// So many bytes that nobody else has.
pub(crate) fn bytes(seed: u64, size: usize) -> Vec<u8> {
    let mut all = vec![0; size];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut all);
    all
}

/// Where a blob is.
pub(crate) fn path(blob: Hex32) -> String {
    format!("/v1/blobs/{blob}")
}

/// Uploads some bytes in one request; their hash.
pub(crate) fn put(node: &Running, bytes: &[u8]) -> (Hex32, Answer) {
    let blob = hash(bytes);
    (blob, call(node.address(), "PUT", &path(blob), &[], bytes))
}

/// The same, where it must be taken.
pub(crate) fn held(node: &Running, bytes: &[u8]) -> Hex32 {
    let (blob, answer) = put(node, bytes);
    assert_eq!(answer.status, 201, "{}", answer.json());
    blob
}

/// The owner's own connection.
pub(crate) fn owner(node: &Running) -> Client {
    Client::connect(wats_api::client::Node::Socket(node.settings.socket.clone())).expect("a socket")
}

/// The file of a blob.
pub(crate) fn file(node: &Running, blob: Hex32) -> PathBuf {
    node.settings.store.join("blobs").join(&blob.to_string()[..2]).join(blob.to_string())
}

/// What an event attaches.
pub(crate) fn attach(blobs: &[Hex32]) -> Value {
    blobs.iter().map(|blob| json!({ "blob": blob, "size": 1 })).collect()
}

/// A post of a key that attaches blobs, held; its id.
pub(crate) fn post_with(node: &Running, key: u16, blobs: &[Hex32], text: &str) -> Hex32 {
    let event = json!({ "kind": "post", "text": text, "attachments": attach(blobs) });
    let (id, text) = signed_in("main", key, node.now(), event);
    assert_eq!(http::post(node.address(), &text).status, 201);
    id
}

/// A react of a key, held.
pub(crate) fn react(node: &Running, key: u16, on: Hex32, data: Value, blobs: &[Hex32]) -> Hex32 {
    let event = json!({ "kind": "react", "parent": on, "data": data, "attachments": attach(blobs) });
    let (id, text) = signed_in("main", key, node.now(), event);
    assert_eq!(http::post(node.address(), &text).status, 201);
    id
}

/// The reader vouches for keys, so that they have weight.
pub(crate) fn vouch(node: &Running, keys: &[u16]) {
    for &key in keys {
        let (id, text) = signed_in("main", key, node.now(), json!({ "kind": "announce" }));
        assert_eq!(http::post(node.address(), &text).status, 201);
        react(node, 1, id, json!({ "label": "vouch" }), &[]);
    }
}

/// A kibibyte.
pub const KIB: usize = 1 << 10;
/// An hour.
pub const HOUR: Millis = Millis::HOUR;
