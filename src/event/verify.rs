//! Strict Ed25519: cofactorless, no small-order key or point, no malleable signature (section 1.1).
//!
//! # Why not in batches
//!
//! Every node must give the same verdict on every signature, or they disagree about what exists.
//! A batch equation is a random linear combination: a signature whose error lies in the group's
//! torsion (a mixed-order key or `R`) passes it with a probability of up to one half, although it
//! fails strict verification. To trust a batch one must show each `R` torsion-free, which costs a
//! scalar multiplication each, as much as verifying. And batches pay only when signatures are many.
//!
//! What a log has instead is few authors and many events. [`Verifier`] therefore keeps, for keys that
//! come again, a table of multiples of the key, as libraries do for the base point: then
//! `s B - k A` needs no doublings. It computes the same group element as
//! [`VerifyingKey::verify_strict`] by exact arithmetic and compares the same bytes: no randomness,
//! and the verdict is equal by construction (and by test, torsion included).

use super::{Event, Hex32};
use curve25519_dalek::constants::ED25519_BASEPOINT_TABLE;
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsBasepointTable, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::BasepointTable;
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest, Sha512};
use std::collections::HashMap;

/// What is signed before the 32 id bytes (section 1).
pub(crate) const DOMAIN: &[u8] = b"wats-event-v1:";

/// The message that an event's author signs.
pub(crate) fn message(id: &Hex32) -> [u8; 46] {
    let mut message = [0; 46];
    message[..DOMAIN.len()].copy_from_slice(DOMAIN);
    message[DOMAIN.len()..].copy_from_slice(&id.0);
    message
}

/// Verifies one event by itself: the definition that [`Verifier`] equals.
pub fn verify_strict(event: &Event) -> bool {
    VerifyingKey::from_bytes(&event.author.0).is_ok_and(|key| {
        key.verify_strict(&message(&event.id), &Signature::from_bytes(&event.sig))
            .is_ok()
    })
}

/// How often a key is met before its table is made: a table costs about as much as three
/// verifications, and saves most of every later one.
const TABLE_AFTER: u32 = 4;
/// The most tables at a time (30 KiB each); when they are all taken, all are dropped.
const MAX_TABLES: usize = 2048;
/// The most keys that are counted; when there are more, all are forgotten.
const MAX_KEYS: usize = 1 << 17;

/// Verifies signatures one after another, faster for authors it has met before.
#[derive(Default)]
pub struct Verifier {
    met: HashMap<Hex32, u32>,
    tables: HashMap<Hex32, Option<Box<EdwardsBasepointTable>>>,
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verifier")
            .field("tables", &self.tables.len())
            .finish_non_exhaustive()
    }
}

impl Verifier {
    /// A verifier that has met nobody.
    pub fn new() -> Verifier {
        Verifier::default()
    }

    /// Whether the event is signed by its author under strict rules; equal to [`verify_strict`].
    pub fn verify(&mut self, event: &Event) -> bool {
        if let Some(table) = self.tables.get(&event.author) {
            return table
                .as_ref()
                .is_some_and(|minus_a| verify_with(minus_a, event));
        }
        if self.met.len() >= MAX_KEYS {
            self.met.clear();
        }
        let times = self.met.entry(event.author).or_insert(0);
        *times += 1;
        if *times < TABLE_AFTER {
            return verify_strict(event);
        }
        if self.tables.len() >= MAX_TABLES {
            self.tables.clear();
            self.met.clear();
        }
        let table = table(&event.author);
        let valid = table
            .as_ref()
            .is_some_and(|minus_a| verify_with(minus_a, event));
        self.met.remove(&event.author);
        self.tables.insert(event.author, table);
        valid
    }
}

/// The multiples of `-A`; none for a key that strict verification refuses whatever the signature.
fn table(author: &Hex32) -> Option<Box<EdwardsBasepointTable>> {
    let a: EdwardsPoint = CompressedEdwardsY(author.0).decompress()?;
    (!a.is_small_order()).then(|| Box::new(EdwardsBasepointTable::create(&-a)))
}

/// `verify_strict`, step by step: a canonical `s`; `R' = s B - k A` with `k` the hash of the bytes of
/// `R`, `A` and the message; `R'` encodes to the very bytes of `R`; and it is not of small order.
fn verify_with(minus_a: &EdwardsBasepointTable, event: &Event) -> bool {
    let mut halves = [[0; 32]; 2];
    halves[0].copy_from_slice(&event.sig[..32]);
    halves[1].copy_from_slice(&event.sig[32..]);
    let [r, s] = halves;
    let Some(s) = Option::<Scalar>::from(Scalar::from_canonical_bytes(s)) else {
        return false;
    };
    let hash = Sha512::new()
        .chain_update(r)
        .chain_update(event.author.0)
        .chain_update(message(&event.id));
    let k = Scalar::from_bytes_mod_order_wide(&hash.finalize().into());
    let point = &(ED25519_BASEPOINT_TABLE * &s) + &(minus_a * &k);
    point.compress().0 == r && !point.is_small_order()
}
