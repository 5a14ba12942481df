//! How worlds are drawn: densely, so that most of what is said meets.

use super::{AHEAD, ASKS, BLOBS, DIGESTS, KEYS, Name, OWNERS, Op, POSTS, REACTS};
use super::{Reaction, Saying, Words, World};
use proptest::collection::{SizeRange, vec};
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use wats_dataflows::ids::Millis;

/// Worlds with so many ops. They shrink by losing ops, then by simpler ones.
pub fn world(ops: impl Into<SizeRange>) -> impl Strategy<Value = World> {
    let pow_bits = prop_oneof![3 => Just(0), 1 => Just(4)];
    (1u8..=2, pow_bits, any::<u8>(), vec(op(), ops)).prop_map(|(profiles, pow_bits, vouched, ops)| World {
        profiles,
        pow_bits,
        vouched,
        ops,
    })
}

fn op() -> impl Strategy<Value = Op> {
    let k = || 0..KEYS;
    prop_oneof![
        10 => span().prop_map(Op::Tick),
        3 => (saying(), k(), weighted(0.7, 0..OWNERS)).prop_map(|(s, k, o)| Op::Announce(s, k, o)),
        8 => (saying(), k(), k(), prop::bool::weighted(0.8))
            .prop_map(|(s, from, to, vouch)| Op::Vouch(s, from, to, vouch)),
        26 => (saying(), 0..POSTS).prop_flat_map(|(s, n)| {
            words(n).prop_map(move |words| Op::Post(s, n, words))
        }),
        48 => (saying(), react_number(), k(), reaction())
            .prop_map(|(s, n, k, reaction)| Op::React(s, n, k, reaction)),
        // The asker's word on an answer to its own ask.
        9 => (saying(), 0..REACTS, ASKS..POSTS, prop::bool::weighted(0.8), weighted(0.3, value()))
            .prop_map(|(s, n, answer, accept, value)| {
                let target = Name::Post(answer);
                let accept = Some(accept);
                Op::React(s, n, answer % ASKS, Reaction { value, accept, ..Reaction::plain(target) })
            }),
        // Support for an answer or a digest.
        12 => (saying(), 0..REACTS, k(), ASKS..POSTS, weighted(0.7, Just(1)), weighted(0.5, Just(true)))
            .prop_map(|(s, n, k, answer, value, used)| {
                let plain = Reaction::plain(Name::Post(answer));
                Op::React(s, n, k, Reaction { value, used, evidence: value.is_some(), ..plain })
            }),
        1 => (saying(), 0u8..3, k(), weighted(0.7, reply()))
            .prop_map(|(s, n, k, reply)| Op::Other(s, n, k, reply)),
        3 => (any_name(), span()).prop_map(|(of, earlier)| Op::Copy(of, earlier)),
        3 => (0..BLOBS, prop::bool::weighted(0.7)).prop_map(|(b, held)| Op::Blob(b, held)),
    ]
}

/// From nothing to years, with the specification's own spans and their neighbours.
fn span() -> impl Strategy<Value = Millis> {
    const MINUTE: u64 = 60_000;
    const HOUR: u64 = Millis::HOUR.0;
    const DAY: u64 = Millis::DAY.0;
    let short = vec![0, 0, 1, MINUTE, HOUR - 1, HOUR, HOUR + 1, DAY];
    // A sixteenth of each half-life; the floor's days; renewal; half-lives; the end of liveness.
    let long = [
        30 * DAY / 16,
        180 * DAY / 16,
        7 * DAY,
        30 * DAY,
        61 * DAY,
        180 * DAY,
        360 * DAY,
        180 * DAY * 33 / 16,
    ];
    let near = long.iter().flat_map(|&t| [t, t - 1, t + 1]).collect::<Vec<_>>();
    let years = vec![2 * 365 * DAY, 5 * 365 * DAY];
    let millis = prop_oneof![9 => select(short), 4 => select(near), 1 => select(years)];
    millis.prop_map(Millis)
}

fn saying() -> impl Strategy<Value = Saying> {
    let seldom = |p| weighted(p, span()).prop_map(Option::unwrap_or_default);
    let ahead = select(vec![0, 0, 0, 0, 1, 60_000, AHEAD.0]).prop_map(Millis);
    let work = prop_oneof![6 => 0u16..6, 1 => 6u16..24];
    let elsewhere = prop::bool::weighted(0.04);
    (seldom(0.15), seldom(0.3), ahead, work, elsewhere, any::<u8>()).prop_map(
        |(lag, before, ahead, work, elsewhere, serial)| Saying {
            lag,
            before,
            ahead,
            work,
            elsewhere,
            serial,
        },
    )
}

/// Post-like events reply to an ask in turn, mostly; or say anything.
fn words(n: u8) -> impl Strategy<Value = Words> {
    let ask = Name::Post(n % ASKS);
    let answers = if n < ASKS { 0 } else { 6 };
    let replies = prop_oneof![
        answers => Just(Some((ask, ask))),
        3 => Just(None),
        2 => reply().prop_map(Some),
        // In the ask's thread, below another event.
        2 => any_name().prop_map(move |parent| Some((parent, ask))),
    ];
    let cited = if n < DIGESTS { 0..3 } else { 0..4 };
    let author = weighted(0.2, 0..KEYS);
    let supersedes = weighted(0.4, DIGESTS..POSTS);
    let blank = prop::bool::weighted(0.15);
    let fields = (author, replies, vec(any_name(), cited), blank, vec(0..BLOBS, 0..2), supersedes);
    fields.prop_map(|(author, reply, refs, blank, blobs, supersedes)| Words {
        author,
        reply,
        refs,
        blank,
        blobs,
        supersedes,
    })
}

/// A parent and a thread, right or wrong.
fn reply() -> impl Strategy<Value = (Name, Name)> {
    (any_name(), prop_oneof![3 => (0..ASKS).prop_map(Name::Post), 1 => any_name()])
}

/// Mostly posts; reacts on reacts meet at the first of these.
fn any_name() -> impl Strategy<Value = Name> {
    prop_oneof![
        12 => (0..POSTS).prop_map(Name::Post),
        5 => (0..12u8).prop_map(Name::React),
        1 => (0..KEYS).prop_map(Name::Announce),
        1 => (0..3u8).prop_map(Name::Other),
    ]
}

fn react_number() -> impl Strategy<Value = u8> {
    prop_oneof![1 => 0..12u8, 2 => 12..REACTS]
}

fn value() -> impl Strategy<Value = i8> {
    prop_oneof![5 => Just(1), 5 => Just(-1), 1 => Just(0)]
}

fn reaction() -> impl Strategy<Value = Reaction> {
    let said = (
        any_name(),
        weighted(0.85, value()),
        weighted(0.05, any::<bool>()),
        weighted(0.2, prop::bool::weighted(0.8)),
        prop::bool::weighted(0.15),
    );
    let shown = (
        prop::bool::weighted(0.5),
        weighted(0.1, 0..BLOBS),
        weighted(0.3, 0..=POSTS / KEYS),
        vec(any_name(), 0..2),
        weighted(0.1, 0..BLOBS),
    );
    (said, shown).prop_map(|(said, shown)| {
        let (target, value, accept, used, still_valid) = said;
        let (evidence, artifact, own, refs, blob) = shown;
        Reaction { target, value, accept, used, still_valid, evidence, artifact, own, refs, blob }
    })
}
