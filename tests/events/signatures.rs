//! Batches give the verdict of strict verification, whatever is in them.

use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};
use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use proptest::prelude::*;
use sha2::{Digest, Sha512};
use wats_event::{Content, Event, Hex32, Verifier, verify_strict};
use wats_model::ids::Millis;

/// An author, and how the points of a signature are bent: by which torsion points (of 8).
#[derive(Clone, Copy, Debug)]
struct Bend {
    key: usize,
    r: usize,
}

fn event(author: &EdwardsPoint, id: [u8; 32], sig: [u8; 64]) -> Event {
    let author = Hex32(author.compress().0);
    let content = Content::Announce { owner: None };
    let net = "main".into();
    Event { id: Hex32(id), net, author, created_at: Millis(0), sig, content, title: None, quote: None }
}

fn hash(parts: &[&[u8]]) -> Scalar {
    let hash = parts.iter().fold(Sha512::new(), |hash, part| hash.chain_update(part));
    Scalar::from_bytes_mod_order_wide(&hash.finalize().into())
}

fn halves(r: [u8; 32], s: [u8; 32]) -> [u8; 64] {
    let mut sig = [0; 64];
    sig[..32].copy_from_slice(&r);
    sig[32..].copy_from_slice(&s);
    sig
}

/// Signs with points bent by torsion: an equation that holds up to torsion, whatever the bend.
fn sign(seed: u64, n: u64, bend: Bend) -> Event {
    let a = hash(&[b"key", &seed.to_le_bytes()]);
    let r = hash(&[b"nonce", &seed.to_le_bytes(), &n.to_le_bytes()]);
    let author = a * ED25519_BASEPOINT_POINT + EIGHT_TORSION[bend.key];
    let point = (r * ED25519_BASEPOINT_POINT + EIGHT_TORSION[bend.r]).compress().0;
    let id = *blake3::hash(&[seed.to_le_bytes(), n.to_le_bytes()].concat()).as_bytes();
    let k = hash(&[&point, &author.compress().0, b"wats-event-v1:", &id]);
    event(&author, id, halves(point, (r + k * a).to_bytes()))
}

const STRAIGHT: Bend = Bend { key: 0, r: 0 };

/// The group order, added to `s`: the same scalar, spelled otherwise.
fn malleable(mut event: Event) -> Event {
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut carry = 0u16;
    for (byte, order) in event.sig[32..].iter_mut().zip(ORDER) {
        carry += u16::from(*byte) + u16::from(order);
        *byte = carry as u8;
        carry >>= 8;
    }
    event
}

/// Keys and points of small order, in every encoding that decompresses, canonical or not.
fn small_order(n: u64) -> Event {
    let points: Vec<[u8; 32]> = (0..=255u8)
        .flat_map(|low| [(low, 0x7f), (low, 0xff), (low, 0), (low, 0x80)])
        .filter_map(|(low, high)| {
            let middle = if high & 0x7f == 0 { 0 } else { 0xff };
            let mut bytes = [middle; 32];
            (bytes[0], bytes[31]) = (low, high);
            let point = curve25519_dalek::edwards::CompressedEdwardsY(bytes).decompress()?;
            point.is_small_order().then_some(bytes)
        })
        .chain(EIGHT_TORSION.iter().map(|t| t.compress().0))
        .collect();
    let pick = |n: u64| points[n as usize % points.len()];
    let mut small = sign(n, n, STRAIGHT);
    match n % 3 {
        0 => small.author = Hex32(pick(n / 3)),
        1 => small.sig[..32].copy_from_slice(&pick(n / 3)),
        _ => {
            small.author = Hex32(pick(n / 3));
            small.sig = halves(pick(n / 5), [0; 32]);
        }
    }
    small
}

fn flipped(mut event: Event, bit: u64) -> Event {
    let bit = bit as usize % 1024;
    match bit / 8 {
        at @ 0..64 => event.sig[at] ^= 1 << (bit % 8),
        at @ 64..96 => event.author.0[at - 64] ^= 1 << (bit % 8),
        at => event.id.0[at - 96] ^= 1 << (bit % 8),
    }
    event
}

fn any_event() -> impl Strategy<Value = Event> {
    let bend = || (0..8usize, 0..8usize).prop_map(|(key, r)| Bend { key, r });
    prop_oneof![
        (0..9u64, any::<u64>(), bend()).prop_map(|(seed, n, bend)| sign(seed, n, bend)),
        (0..9u64, any::<u64>(), 1..8usize).prop_map(|(seed, n, r)| sign(seed, n, Bend { key: 0, r })),
        (0..9u64, any::<u64>()).prop_map(|(seed, n)| malleable(sign(seed, n, STRAIGHT))),
        any::<u64>().prop_map(small_order),
        (0..9u64, any::<u64>(), any::<u64>())
            .prop_map(|(seed, n, bit)| flipped(sign(seed, n, STRAIGHT), bit)),
    ]
}

fn assert_same(verifier: &mut Verifier, events: &[Event]) {
    let by_batch = verifier.verify(&events.iter().collect::<Vec<_>>());
    for (event, verdict) in events.iter().zip(by_batch) {
        assert_eq!(verdict, verify_strict(event), "{event:?}");
    }
}

fn good(n: u64) -> Vec<Event> {
    (0..n).map(|n| sign(n % 40, n, STRAIGHT)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn batches_agree_with_strict_verification(
        odd in prop::collection::vec((any_event(), any::<prop::sample::Index>()), 0..12),
        len in 150..420u64,
    ) {
        let mut events = good(len);
        for (event, at) in odd {
            let at = at.index(events.len());
            events[at] = event;
        }
        let mut verifier = Verifier::new();
        // Twice: with fresh and with remembered keys.
        assert_same(&mut verifier, &events);
        assert_same(&mut verifier, &events);
    }
}

#[test]
fn good_signatures_are_good_in_batches_of_any_size() {
    let mut verifier = Verifier::new();
    for n in [0, 1, 63, 159, 160, 161, 1024] {
        let events = good(n);
        assert!(verifier.verify(&events.iter().collect::<Vec<_>>()).into_iter().all(|valid| valid));
    }
}

#[test]
fn errors_in_the_torsion_do_not_cancel() {
    // In pairs whose torsion sums to nothing: the usual batch lets about half of these pass.
    for order in [[4, 4], [1, 7], [2, 6], [3, 5]] {
        let mut events = good(300);
        for (at, r) in order.into_iter().enumerate() {
            events[100 + at] = sign(3, 5_000 + at as u64, Bend { key: 0, r });
        }
        let by_batch = Verifier::new().verify(&events.iter().collect::<Vec<_>>());
        let failed: Vec<usize> = (0..300).filter(|&i| !by_batch[i]).collect();
        assert_eq!(failed, [100, 101], "{order:?}");
    }
}

#[test]
fn a_bent_key_and_a_bent_point_may_make_a_strict_signature() {
    // Strict verification is about the equation: where the torsion of R answers that of k A, it holds.
    let bent = |n| sign(1, n, Bend { key: 1, r: 1 });
    let lucky: Vec<Event> = (0..200).map(bent).filter(verify_strict).collect();
    assert!(!lucky.is_empty(), "one in eight holds");
    let mut events = good(300);
    events.extend(lucky);
    assert!(Verifier::new().verify(&events.iter().collect::<Vec<_>>()).into_iter().all(|valid| valid));
}

#[test]
fn the_torsion_points_are_what_the_tests_take_them_for() {
    assert!(EIGHT_TORSION[0].is_identity());
    assert!(
        (EIGHT_TORSION[4] + EIGHT_TORSION[4]).is_identity()
            && (EIGHT_TORSION[1] + EIGHT_TORSION[7]).is_identity()
    );
}
