//! Many signatures by one equation, with the verdict of strict verification.
//!
//! A signature `(R, s)` by `A` is valid when `D = R + k A - s B` is the neutral element, `k` being the
//! hash of `R`, `A` and the message. The usual batch tests whether a random combination of the `D` is.
//! That is sound in the group of prime order, but the curve's group is eight times larger: where an
//! error lies in the torsion, a point of order 8, 4 or 2, the combination misses it with a
//! probability of up to one half, and then two nodes disagree about an event. Testing each `R` for
//! torsion costs a multiplication by the group order, as much as the batch saves.
//!
//! So the `R`, and keys not met before, are tested together. Take 128 random subsets of the points:
//! if each subset's sum is torsion-free, then all points are, but for a chance of 2^-128, because the
//! sum over a random subset misses the torsion of any one point with a probability of at most one
//! half. The subsets share their additions ([`torsion_free`]): 16 for each point and 8,000 in all,
//! besides 128 multiplications by the group order, about 3 ms: it pays from some 160 signatures on.
//! With all `R` and `A` of prime order so is every `D`, and the equation proves each of them neutral.
//!
//! Coefficients and subsets are drawn by hashing all that they depend on: nothing is random, and a
//! forger would have to search 2^128 batches.

use super::message::message;
use super::{Event, Hex32};
use curve25519_dalek::constants::ED25519_BASEPOINT_POINT;
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::{Identity, IsIdentity, VartimeMultiscalarMul};
use sha2::{Digest, Sha512};
use std::collections::HashMap;

/// A signature, taken apart, of which strict verification could only refuse the equation or torsion.
pub(super) struct Signed {
    /// Its place in the batch.
    pub index: usize,
    /// `R`, not of small order, encoded as strict verification demands.
    pub r: EdwardsPoint,
    author: Hex32,
    key: EdwardsPoint,
    s: Scalar,
    k: Scalar,
    /// What the equation is drawn from: a hash of everything that is signed, and the signature.
    pub digest: [u8; 32],
}

impl Signed {
    /// Takes a signature apart; none when `s` or `R` is not canonical or `R` is of small order.
    pub(crate) fn read(index: usize, event: &Event, key: EdwardsPoint) -> Option<Signed> {
        let (r, s) = halves(&event.sig);
        if !is_canonical(&r) {
            return None;
        }
        let point = CompressedEdwardsY(r).decompress().filter(|point| !point.is_small_order())?;
        let s = Option::<Scalar>::from(Scalar::from_canonical_bytes(s))?;
        let message = message(&event.id);
        let hash = Sha512::new().chain_update(r).chain_update(event.author.0).chain_update(message);
        let hash: [u8; 64] = hash.finalize().into();
        let k = Scalar::from_bytes_mod_order_wide(&hash);
        // The hash binds R, A and the message; s is bound beside it.
        let digest = *blake3::Hasher::new().update(&hash).update(s.as_bytes()).finalize().as_bytes();
        Some(Signed { index, r: point, author: event.author, key, s, k, digest })
    }
}

fn halves(sig: &[u8; 64]) -> ([u8; 32], [u8; 32]) {
    let (mut r, mut s) = ([0; 32], [0; 32]);
    r.copy_from_slice(&sig[..32]);
    s.copy_from_slice(&sig[32..]);
    (r, s)
}

/// Whether an encoded `y` is below `p = 2^255 - 19`. The other encodings that are not canonical, of
/// `x = 0` with a sign, are of points of small order.
fn is_canonical(point: &[u8; 32]) -> bool {
    let beyond = point[31] & 0x7f == 0x7f && point[1..31].iter().all(|&b| b == 0xff) && point[0] >= 0xed;
    !beyond
}

/// Whether the equation proves every signature valid. The points must be torsion-free.
pub(super) fn equation(signed: &[Signed]) -> bool {
    let mut hasher = blake3::Hasher::new_derive_key("wats 2026 batch verification");
    for one in signed {
        hasher.update(&one.digest);
    }
    let mut draw = hasher.finalize_xof();
    let mut base = Scalar::ZERO;
    let mut scalars = Vec::with_capacity(signed.len() + 64);
    let mut points: Vec<EdwardsPoint> = Vec::with_capacity(signed.len() + 64);
    let mut keys: HashMap<Hex32, (Scalar, EdwardsPoint)> = HashMap::new();
    for one in signed {
        let mut bytes = [0; 16];
        draw.fill(&mut bytes);
        let z = Scalar::from(u128::from_le_bytes(bytes));
        base -= z * one.s;
        keys.entry(one.author).or_insert((Scalar::ZERO, one.key)).0 += z * one.k;
        scalars.push(z);
        points.push(one.r);
    }
    scalars.push(base);
    points.push(ED25519_BASEPOINT_POINT);
    for (scalar, key) in keys.into_values() {
        scalars.push(scalar);
        points.push(key);
    }
    EdwardsPoint::vartime_multiscalar_mul(scalars, points).is_identity()
}

/// Whether all points are torsion-free.
///
/// Each point gets 128 drawn bits: bit `j` tells whether it is in subset `j`. Eight subsets at a time,
/// each point is added to the bucket of its eight bits; folding the buckets gives the eight sums.
/// A point comes with bytes that determine it, for the draw.
pub(super) fn torsion_free(points: &[([u8; 32], EdwardsPoint)]) -> bool {
    let mut hasher = blake3::Hasher::new_derive_key("wats 2026 torsion subsets");
    for (digest, _) in points {
        hasher.update(digest);
    }
    let mut bits = vec![0; points.len()];
    let mut draw = hasher.finalize_xof();
    let mut buckets = vec![EdwardsPoint::identity(); 256];
    (0..16).all(|_| {
        draw.fill(&mut bits);
        buckets.fill(EdwardsPoint::identity());
        for ((_, point), &bits) in points.iter().zip(&bits) {
            buckets[usize::from(bits)] += point;
        }
        sums_are_torsion_free(&mut buckets)
    })
}

/// Folds the buckets bit by bit: the upper half are those that have the bit.
fn sums_are_torsion_free(buckets: &mut [EdwardsPoint]) -> bool {
    let mut rest = buckets;
    while rest.len() > 1 {
        let (without, with) = rest.split_at_mut(rest.len() / 2);
        if !with.iter().sum::<EdwardsPoint>().is_torsion_free() {
            return false;
        }
        for (without, with) in without.iter_mut().zip(with) {
            *without += *with;
        }
        rest = without;
    }
    true
}
