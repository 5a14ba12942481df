//! Strict Ed25519: cofactorless, no small-order key or point, no malleable signature (section 1.1).
//!
//! One by one, [`verify_strict`] is the definition. [`Verifier`] gives the same verdicts in less time:
//! it verifies many signatures by one equation (see `batch`), and decides one by one, with
//! [`verify_strict`], whatever the equation does not prove valid. Measured on one core (`cargo bench
//! --bench events`): 27,000 a second one by one; in batches of 2048, 86,000 when 64 authors share
//! them, 62,000 with four events an author, 48,000 with one.

use super::batch::{self, Signed};
use super::message::message;
use super::{Event, Hex32};
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use ed25519_dalek::{Signature, VerifyingKey};
use std::collections::HashMap;

/// Verifies one event by itself.
pub fn verify_strict(event: &Event) -> bool {
    VerifyingKey::from_bytes(&event.author.0)
        .is_ok_and(|key| key.verify_strict(&message(&event.id), &Signature::from_bytes(&event.sig)).is_ok())
}

/// Below so many signatures the fixed cost of a batch, about 3 ms, does not pay.
const LEAST: usize = 160;
/// A failed batch is halved down to this size in search of the signatures that fail.
const SMALLEST: usize = 16;
/// The most keys that are remembered (200 bytes each); when there are more, all are forgotten.
const MAX_KEYS: usize = 1 << 16;

/// Verifies signatures in batches, and remembers keys.
#[derive(Default)]
pub struct Verifier {
    /// Keys that are known to be points of prime order.
    keys: HashMap<Hex32, EdwardsPoint>,
}

impl std::fmt::Debug for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Verifier").field("keys", &self.keys.len()).finish()
    }
}

impl Verifier {
    /// A verifier that has met nobody.
    pub fn new() -> Verifier {
        Verifier::default()
    }

    /// Whether each event is signed by its author, as [`verify_strict`] has it. Batches of about two
    /// thousand are fastest; small ones are verified one by one.
    pub fn verify(&mut self, events: &[&Event]) -> Vec<bool> {
        let mut valid = vec![false; events.len()];
        if events.len() >= LEAST {
            self.batch(events, &mut valid);
        }
        for (valid, event) in valid.iter_mut().zip(events) {
            *valid = *valid || verify_strict(event);
        }
        valid
    }

    /// Marks signatures that a batch proves valid; the others stay undecided.
    fn batch(&mut self, events: &[&Event], valid: &mut [bool]) {
        let mut fresh = HashMap::new();
        let mut signed = Vec::with_capacity(events.len());
        for (index, event) in events.iter().enumerate() {
            if let Some(key) = self.key(&event.author, &mut fresh)
                && let Some(one) = Signed::read(index, event, key)
            {
                signed.push(one);
            }
        }
        let fresh_keys = fresh.iter().filter_map(|(name, key)| Some((name.0, (*key)?)));
        let points: Vec<([u8; 32], EdwardsPoint)> =
            signed.iter().map(|one| (one.digest, one.r)).chain(fresh_keys).collect();
        if signed.len() < LEAST || !batch::torsion_free(&points) {
            return;
        }
        if self.keys.len() + fresh.len() > MAX_KEYS {
            self.keys.clear();
        }
        self.keys.extend(fresh.into_iter().filter_map(|(name, key)| Some((name, key?))));
        mark(&signed, valid);
    }

    /// A key as a point: remembered, or `fresh` and to be shown torsion-free; none where it is for
    /// [`verify_strict`] to judge.
    fn key(&self, author: &Hex32, fresh: &mut HashMap<Hex32, Option<EdwardsPoint>>) -> Option<EdwardsPoint> {
        if let Some(key) = self.keys.get(author) {
            return Some(*key);
        }
        let read = || CompressedEdwardsY(author.0).decompress().filter(|a| !a.is_small_order());
        *fresh.entry(*author).or_insert_with(read)
    }
}

/// Marks what the equation proves, halving where it fails.
fn mark(signed: &[Signed], valid: &mut [bool]) {
    if signed.len() < SMALLEST {
        return;
    }
    if batch::equation(signed) {
        for one in signed {
            valid[one.index] = true;
        }
        return;
    }
    let (left, right) = signed.split_at(signed.len() / 2);
    mark(left, valid);
    mark(right, valid);
}
