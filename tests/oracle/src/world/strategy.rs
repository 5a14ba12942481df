//! How worlds are drawn: densely, so that most of what is said meets.

use super::{
    AHEAD, ASKS, BLOBS, CROWD, CROWD_POSTS, CROWD_REACTS, DIGESTS, KEYS, OWNERS, POSTS, REACTS, TAGS,
};
use super::{Name, Op, Reaction, Saying, Words, World};
use proptest::collection::{SizeRange, vec};
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::select;
use wats_model::ids::Millis;

/// Worlds of so many scenes, most of which are one op. They shrink by losing scenes, then ops, then
/// by simpler ones.
pub fn world(scenes: impl Into<SizeRange>) -> impl Strategy<Value = World> {
    let pow_bits = prop_oneof![3 => Just(0), 1 => Just(4)];
    // By the first profile: many keys; few, so that others are brought in by those; or none.
    let vouched = prop_oneof![
        4 => (any::<u8>(), any::<u8>()).prop_map(|(some, others)| some | others),
        2 => (any::<u8>(), any::<u8>()).prop_map(|(some, others)| some & others),
        2 => Just(0),
    ];
    let distrusted = weighted(0.25, (any::<u8>(), any::<u8>()).prop_map(|(some, others)| some & others));
    // The specification's force, or one that a few contradictions wear out.
    let force = prop_oneof![2 => Just((32, 4)), 1 => (1i64..4, 2i64..5)];
    let fields = (1u8..=2, pow_bits, vouched, distrusted, force, vec(scene(), scenes));
    fields.prop_map(|(profiles, pow_bits, vouched, distrusted, force, scenes)| World {
        profiles,
        pow_bits,
        vouched,
        distrusted: distrusted.unwrap_or_default(),
        force,
        crowd: 0,
        ops: scenes.into_iter().flatten().flatten().collect(),
    })
}

/// Worlds of so many scenes after one key, a critic, has contradicted about a hundred posts by a
/// crowd of authors of many classes: so many that the specification's own `force` falls.
pub fn crowded_world(scenes: impl Into<SizeRange>) -> impl Strategy<Value = World> {
    let scenes = scenes.into();
    (2..KEYS).no_shrink().prop_flat_map(move |critic| {
        let members = (0..CROWD).map(member).collect::<Vec<_>>();
        let posts = vec(crowd_post(critic), 60..=usize::from(CROWD_POSTS));
        let later = vec(prop_oneof![3 => scene(), 2 => crowd_scene(critic)], scenes.clone());
        (world(0..1), members, posts, later).prop_map(move |(world, members, posts, later)| {
            let first = members.into_iter().flatten();
            let said = posts.into_iter().zip(0..).flat_map(|(post, n)| post.ops(n));
            World {
                vouched: world.vouched | 1 << critic,
                distrusted: world.distrusted & !(1 << critic),
                force: (32, 4),
                crowd: CROWD,
                ops: first.chain(said).chain(later.into_iter().flatten().flatten()).collect(),
                ..world
            }
        })
    })
}

/// How a member of the crowd comes by its weight and its class: by a profile, by another key, or not.
fn member(n: u8) -> impl Strategy<Value = Vec<Op>> {
    let voucher = prop_oneof![6 => Just(Some(0)), 2 => (0..KEYS).prop_map(Some), 1 => Just(None)];
    (voucher, weighted(0.1, 0..OWNERS)).prop_map(move |(voucher, owner)| {
        let (k, saying) = (KEYS + n, Saying { serial: KEYS + n, ..Saying::default() });
        let vouch = voucher.map(|from| Op::Vouch(saying, from, k, true));
        let owner = owner.map(|owner| Op::Announce(saying, k, Some(owner)));
        vouch.into_iter().chain(owner).collect()
    })
}

/// A post by one of the crowd, and what is said of it.
#[derive(Clone, Debug)]
struct CrowdPost {
    /// By whom: the next in turn, or somebody who writes much.
    author: Option<u8>,
    words: Words,
    /// The critic's contradiction, somebody's support of the post, and somebody's contradiction of the
    /// critic's react, in the order of their numbers.
    reacts: [Option<(u8, Reaction)>; CROWD_REACTS as usize],
    tick: Option<Millis>,
}

impl CrowdPost {
    fn ops(self, n: u8) -> Vec<Op> {
        let post = POSTS + n;
        let author = KEYS + self.author.unwrap_or(n % CROWD);
        let words = Words { author: Some(author), ..self.words };
        let mut ops = vec![Op::Post(Saying::default(), post, words)];
        for (react, number) in self.reacts.into_iter().zip(crowd_react(n)..) {
            let Some((by, react)) = react else {
                continue;
            };
            let target = match react.target {
                Name::React(_) => Name::React(crowd_react(n)),
                _ => Name::Post(post),
            };
            ops.push(Op::React(Saying::default(), number, by, Reaction { target, ..react }));
        }
        ops.extend(self.tick.map(Op::Tick));
        ops
    }
}

/// The first of the reacts on one of the crowd's posts.
fn crowd_react(n: u8) -> u16 {
    REACTS + u16::from(n) * CROWD_REACTS
}

fn crowd_post(critic: u8) -> impl Strategy<Value = CrowdPost> {
    let (post, react) = (Name::Post(POSTS), Name::React(REACTS));
    let supports = move || Reaction { value: Some(1), evidence: true, ..Reaction::plain(post) };
    let reacts = (
        weighted(0.92, Just((critic, contradicted(post)))),
        weighted(0.3, (0..KEYS).prop_map(move |by| (by, supports()))),
        weighted(0.1, (0..KEYS).prop_map(move |by| (by, contradicted(react)))),
    );
    let author = weighted(0.2, 0..3u8);
    (author, opens(), reacts, weighted(0.12, span())).prop_map(|(author, words, reacts, tick)| {
        let reacts = reacts.into();
        CrowdPost { author, words, reacts, tick }
    })
}

/// What wears a critic out less, or more: it takes a contradiction back, or the authors become others.
fn crowd_scene(critic: u8) -> impl Strategy<Value = Vec<Option<Op>>> {
    let post = || (POSTS..POSTS + CROWD_POSTS).prop_map(Name::Post);
    let member = || KEYS..KEYS + CROWD;
    let said = move |by: BoxedStrategy<u8>, value: BoxedStrategy<i8>| {
        (saying(), 0..REACTS, by, post(), value).prop_map(|(s, n, by, post, value)| {
            Op::React(s, n, by, Reaction { value: Some(value), evidence: true, ..Reaction::plain(post) })
        })
    };
    let op = prop_oneof![
        3 => said(Just(critic).boxed(), value().boxed()),
        2 => said((0..KEYS).boxed(), Just(1).boxed()),
        1 => said(member().boxed(), value().boxed()),
        2 => (saying(), 0..KEYS, member(), any::<bool>())
            .prop_map(|(s, from, to, vouch)| Op::Vouch(s, from, to, vouch)),
        1 => (saying(), member(), weighted(0.7, 0..OWNERS)).prop_map(|(s, k, o)| Op::Announce(s, k, o)),
        2 => span().prop_map(Op::Tick),
    ];
    op.prop_map(|op| vec![Some(op)])
}

/// Ops that belong together; each may be missing.
fn scene() -> impl Strategy<Value = Vec<Option<Op>>> {
    prop_oneof![
        80 => op().prop_map(|op| vec![Some(op)]),
        2 => (0..POSTS / 3).no_shrink().prop_flat_map(|three| parts((0..3).flat_map(move |n| {
            let post = 3 * three + n;
            [said(post, cites(rival(post))).boxed(), dispute(post).boxed()]
        }))),
        2 => (ASKS..DIGESTS).no_shrink().prop_flat_map(|post| {
            let (ask, answer) = (said(post % ASKS, opens()), said(post, words(post)));
            let accepted = accept(Just(post), Just(true));
            let support = (0..2).map(move |_| support(Just(post)).boxed());
            parts([ask.boxed(), answer.boxed(), accepted.boxed()].into_iter().chain(support))
        }),
        2 => (DIGESTS..POSTS, ASKS..DIGESTS).no_shrink().prop_flat_map(|(digest, post)| {
            let (answer, digested) = (said(post, words(post)), said(digest, cites(post)));
            let support = (0..2).map(move |_| support(Just(digest)).boxed());
            parts([answer.boxed(), digested.boxed()].into_iter().chain(support))
        }),
        3 => reasoned(),
        6 => rebuttals(),
        1 => outlived(),
        3 => relied(),
    ]
}

fn parts(ops: impl Iterator<Item = BoxedStrategy<Op>>) -> impl Strategy<Value = Vec<Option<Op>>> {
    ops.map(|op| weighted(0.95, op)).collect::<Vec<_>>()
}

/// A bare minus, and a reply by the same key about an hour before or after it.
fn reasoned() -> impl Strategy<Value = Vec<Option<Op>>> {
    let moment = || prop_oneof![3 => Just(Saying::default()), 1 => saying()];
    let number = (0..REPLIES).prop_map(|n| FIRST_REPLY + n);
    let fields = (0..KEYS, 0..POSTS, 0..REACTS, number, any::<bool>(), about_an_hour());
    (fields, moment(), moment(), words(ASKS)).prop_map(|(fields, s, t, words)| {
        let (by, target, react, reply, before, span) = fields;
        let (post, ask) = (Name::Post(target), Name::Post(target % ASKS));
        let minus = Reaction { value: Some(-1), ..Reaction::plain(post) };
        let minus = Op::React(s, react, by, minus);
        let words = Words { author: Some(by), reply: Some((post, ask)), ..words };
        let reply = Op::Post(t, reply, words);
        let (first, second) = if before { (reply, minus) } else { (minus, reply) };
        vec![Some(first), Some(Op::Tick(span)), Some(second)]
    })
}

/// No time, or the window of reasoned replies and its neighbours.
fn about_an_hour() -> impl Strategy<Value = Millis> {
    const HOUR: u64 = Millis::HOUR.0;
    select(vec![0, 1, HOUR / 2, HOUR - 1, HOUR, HOUR, HOUR + 1, 2 * HOUR]).prop_map(Millis)
}

/// A contradiction of a post, and its supporters when it is hardly live, or no longer.
fn outlived() -> impl Strategy<Value = Vec<Option<Op>>> {
    const END: u64 = Millis::days(180).0 * 33 / 16;
    let span = select(vec![END - 1, END, END, END + 1]).prop_map(Millis);
    (0..POSTS).no_shrink().prop_flat_map(move |post| {
        let contradicts = (saying(), 0..REACTS, 0..KEYS)
            .prop_map(move |(s, n, k)| Op::React(s, n, k, contradicted(Name::Post(post))));
        let supported = (0..2).map(move |_| support(Just(post)).boxed());
        parts([contradicts.boxed(), span.clone().prop_map(Op::Tick).boxed()].into_iter().chain(supported))
    })
}

/// The first profile uses posts by several keys; perhaps until nothing of that is left.
fn relied() -> impl Strategy<Value = Vec<Option<Op>>> {
    let uses = |n| Reaction { used: Some(true), ..Reaction::plain(Name::Post(n)) };
    let years = weighted(0.35, Just(Op::Tick(Millis::days(5 * 365))));
    (ASKS..DIGESTS - 3).no_shrink().prop_flat_map(move |first| {
        let used = (first..first + 3).flat_map(move |n| {
            let used = (saying(), 0..REACTS).prop_map(move |(s, react)| Op::React(s, react, 0, uses(n)));
            [said(n, words(n)).boxed(), used.boxed()]
        });
        (parts(used), years.clone()).prop_map(|(mut ops, years)| {
            ops.push(years);
            ops
        })
    })
}

/// A contradiction of a post, one of that react, and so on: each key rebuts the last.
fn rebuttals() -> impl Strategy<Value = Vec<Option<Op>>> {
    let first = prop_oneof![1 => 0..MEETING - 3, 2 => MEETING..REACTS - 3];
    (0..POSTS, first, vec((saying(), 0..KEYS), 2..=4)).prop_map(|(post, first, said)| {
        let contradict = |(n, (s, by)): (u16, (Saying, u8))| {
            let target = if n == first { Name::Post(post) } else { Name::React(n - 1) };
            Some(Op::React(s, n, by, contradicted(target)))
        };
        (first..).zip(said).map(contradict).collect()
    })
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
    // Whether the parent is among the citations too.
    let both = prop::bool::weighted(0.2);
    let browsed = (vec(0..TAGS, 0..3), weighted(0.7, 0..3u8));
    let fields = (author, replies, (refs, both), blank, vec(0..BLOBS, 0..2), supersedes, browsed);
    fields.prop_map(|(author, reply, (mut refs, both), blank, blobs, supersedes, (tags, letter))| {
        refs.extend(reply.filter(|_| both).map(|(parent, _)| parent));
        Words { author, reply, refs, blank, blobs, supersedes, tags, letter }
    })
}

/// A parent and a thread, right or wrong.
fn reply() -> impl Strategy<Value = (Name, Name)> {
    (any_name(), prop_oneof![3 => (0..ASKS).prop_map(Name::Post), 1 => any_name()])
}

/// Reacts on reacts meet at the first of these.
const MEETING: u16 = 12;

/// The numbers of replies that argue follow those of a crowd's posts.
const FIRST_REPLY: u8 = POSTS + CROWD_POSTS;
const REPLIES: u8 = 24;

/// Mostly posts.
fn any_name() -> impl Strategy<Value = Name> {
    prop_oneof![
        12 => (0..POSTS).prop_map(Name::Post),
        1 => (0..REPLIES).prop_map(|n| Name::Post(FIRST_REPLY + n)),
        5 => (0..MEETING).prop_map(Name::React),
        1 => (0..KEYS).prop_map(Name::Announce),
        1 => (0..3u8).prop_map(Name::Other),
    ]
}

fn react_number() -> impl Strategy<Value = u16> {
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
