//! How worlds are drawn: densely, so that most of what is said meets.

use super::{AHEAD, ASKS, BLOBS, DIGESTS, KEYS, Name, OWNERS, Op, POSTS, REACTS, TAGS};
use super::{Reaction, Saying, Words, World};
use proptest::collection::{SizeRange, vec};
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use wats_dataflows::ids::Millis;

/// Worlds of so many scenes, most of which are one op. They shrink by losing scenes, then ops, then
/// by simpler ones.
pub fn world(scenes: impl Into<SizeRange>) -> impl Strategy<Value = World> {
    let pow_bits = prop_oneof![3 => Just(0), 1 => Just(4)];
    let vouched = (any::<u8>(), any::<u8>()).prop_map(|(some, others)| some | others);
    let fields = (1u8..=2, pow_bits, vouched, vec(scene(), scenes));
    fields.prop_map(|(profiles, pow_bits, vouched, scenes)| World {
        profiles,
        pow_bits,
        vouched,
        ops: scenes.into_iter().flatten().flatten().collect(),
    })
}

/// Ops that belong together; each may be missing.
fn scene() -> impl Strategy<Value = Vec<Option<Op>>> {
    prop_oneof![
        40 => op().prop_map(|op| vec![Some(op)]),
        1 => (0..POSTS / 3).no_shrink().prop_flat_map(|three| parts((0..3).flat_map(move |n| {
            let post = 3 * three + n;
            [said(post, cites(rival(post))).boxed(), dispute(post).boxed()]
        }))),
        1 => (ASKS..DIGESTS).no_shrink().prop_flat_map(|post| {
            let (ask, answer) = (said(post % ASKS, opens()), said(post, words(post)));
            let accepted = accept(Just(post), Just(true));
            let support = (0..2).map(move |_| support(Just(post)).boxed());
            parts([ask.boxed(), answer.boxed(), accepted.boxed()].into_iter().chain(support))
        }),
        1 => (DIGESTS..POSTS, ASKS..DIGESTS).no_shrink().prop_flat_map(|(digest, post)| {
            let (answer, digested) = (said(post, words(post)), said(digest, cites(post)));
            let support = (0..2).map(move |_| support(Just(digest)).boxed());
            parts([answer.boxed(), digested.boxed()].into_iter().chain(support))
        }),
    ]
}

fn parts(ops: impl Iterator<Item = BoxedStrategy<Op>>) -> impl Strategy<Value = Vec<Option<Op>>> {
    ops.map(|op| weighted(0.95, op)).collect::<Vec<_>>()
}

fn op() -> impl Strategy<Value = Op> {
    let k = || 0..KEYS;
    prop_oneof![
        10 => span().prop_map(Op::Tick),
        2 => (saying(), k(), weighted(0.7, 0..OWNERS)).prop_map(|(s, k, o)| Op::Announce(s, k, o)),
        8 => (saying(), k(), k(), prop::bool::weighted(0.8))
            .prop_map(|(s, from, to, vouch)| Op::Vouch(s, from, to, vouch)),
        26 => (0..POSTS).no_shrink().prop_flat_map(|n| said(n, words(n))),
        48 => (saying(), react_number(), k(), reaction())
            .prop_map(|(s, n, k, reaction)| Op::React(s, n, k, reaction)),
        9 => accept(ASKS..POSTS, prop::bool::weighted(0.8)),
        14 => support(prop_oneof![ASKS..POSTS, DIGESTS..POSTS]),
        9 => (saying(), 0..MEETING, k(), 0..POSTS).prop_map(|(s, n, k, post)| {
            Op::React(s, n, k, contradicted(Name::Post(post)))
        }),
        6 => (saying(), MEETING..REACTS, k(), 0..MEETING).prop_map(|(s, n, k, react)| {
            Op::React(s, n, k, contradicted(Name::React(react)))
        }),
        12 => (0..POSTS).no_shrink().prop_flat_map(dispute),
        1 => (saying(), 0u8..3, k(), weighted(0.7, reply()))
            .prop_map(|(s, n, k, reply)| Op::Other(s, n, k, reply)),
        3 => (any_name(), span()).prop_map(|(of, earlier)| Op::Copy(of, earlier)),
        3 => (0..BLOBS, prop::bool::weighted(0.7)).prop_map(|(b, held)| Op::Blob(b, held)),
    ]
}

/// The asker's word on an answer to its own ask.
fn accept(
    answer: impl Strategy<Value = u8>,
    accept: impl Strategy<Value = bool>,
) -> impl Strategy<Value = Op> {
    let fields = (saying(), 0..REACTS, answer, accept, weighted(0.3, value()));
    fields.prop_map(|(s, n, answer, accept, value)| {
        let accept = Some(accept);
        let plain = Reaction::plain(Name::Post(answer));
        Op::React(s, n, answer % ASKS, Reaction { value, accept, ..plain })
    })
}

/// Somebody's support for a post.
fn support(post: impl Strategy<Value = u8>) -> impl Strategy<Value = Op> {
    let said = (weighted(0.7, Just(1)), weighted(0.5, Just(true)));
    let fields = (saying(), 0..REACTS, 0..KEYS, post, said);
    fields.prop_map(|(s, n, k, post, (value, used))| {
        let evidence = value.is_some();
        let plain = Reaction::plain(Name::Post(post));
        Op::React(s, n, k, Reaction { value, used, evidence, ..plain })
    })
}

/// A react -1 with evidence.
fn contradicted(target: Name) -> Reaction {
    let value = Some(-1);
    Reaction { value, evidence: true, ..Reaction::plain(target) }
}

/// The author of a post contradicts its rival or its ask, and the post, or the react that names
/// it, is the argument.
fn dispute(post: u8) -> impl Strategy<Value = Op> {
    let target = prop_oneof![2 => Just(rival(post)), 1 => Just(post % ASKS)];
    let fields = (saying(), 0..REACTS, target, any::<bool>());
    fields.prop_map(move |(s, n, target, named)| {
        let own = named.then_some(post / KEYS);
        let value = Some(-1);
        let plain = Reaction::plain(Name::Post(target));
        Op::React(s, n, post % KEYS, Reaction { value, own, ..plain })
    })
}

/// The post that this one disputes: in threes, they may argue in a circle.
fn rival(post: u8) -> u8 {
    post - post % 3 + (post + 1) % 3
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
    let elsewhere = prop::bool::weighted(0.06);
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

/// The post-like event of this number is said, by whose turn it is.
fn said(n: u8, words: impl Strategy<Value = Words>) -> impl Strategy<Value = Op> {
    (saying(), words).prop_map(move |(saying, words)| Op::Post(saying, n, words))
}

/// The words of a post that opens a thread.
fn opens() -> impl Strategy<Value = Words> {
    words(0).prop_map(|words| Words { reply: None, ..words })
}

/// The words of a post that cites another.
fn cites(post: u8) -> impl Strategy<Value = Words> {
    words(post).prop_map(move |words| {
        let refs = words.refs.into_iter().chain([Name::Post(post)]).collect();
        Words { refs, ..words }
    })
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
    let author = weighted(0.1, 0..KEYS);
    let supersedes = weighted(0.4, DIGESTS..POSTS);
    let blank = prop::bool::weighted(0.15);
    let rival = weighted(0.3, Just(Name::Post(rival(n))));
    let refs = (vec(any_name(), cited), rival).prop_map(|(mut refs, rival)| {
        refs.extend(rival);
        refs
    });
    let browsed = (vec(0..TAGS, 0..3), weighted(0.7, 0..3u8));
    let fields = (author, replies, refs, blank, vec(0..BLOBS, 0..2), supersedes, browsed);
    fields.prop_map(|(author, reply, refs, blank, blobs, supersedes, (tags, letter))| Words {
        author,
        reply,
        refs,
        blank,
        blobs,
        supersedes,
        tags,
        letter,
    })
}

/// A parent and a thread, right or wrong.
fn reply() -> impl Strategy<Value = (Name, Name)> {
    (any_name(), prop_oneof![3 => (0..ASKS).prop_map(Name::Post), 1 => any_name()])
}

/// Reacts on reacts meet at the first of these.
const MEETING: u8 = 12;

/// Mostly posts.
fn any_name() -> impl Strategy<Value = Name> {
    prop_oneof![
        12 => (0..POSTS).prop_map(Name::Post),
        5 => (0..MEETING).prop_map(Name::React),
        1 => (0..KEYS).prop_map(Name::Announce),
        1 => (0..3u8).prop_map(Name::Other),
    ]
}

fn react_number() -> impl Strategy<Value = u8> {
    prop_oneof![1 => 0..MEETING, 2 => MEETING..REACTS]
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
