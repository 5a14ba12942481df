//! What nobody can gain, whatever the world: properties of the engine over random worlds.
//!
//! Each compares a world with the same world in which somebody tries something. `WATS_CASES` says on
//! how many worlds, and `WATS_SEED` on which, for long runs.

use crate::{attempts, dice, engine, signed, vectors};
use attempts::{Attempt, FIRST_EVENT, FIRST_KEY};
use dice::Dice;
use engine::{Running, differences};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::{BTreeMap, BTreeSet};
use wats_config::Config;
use wats_engine::replay::Bounds;
use wats_model::facts::{Body, PostKind, React};
use wats_model::fixed::Fixed;
use wats_model::ids::{EventId, GroupId, KeyId, Millis, OwnerId, TagId};
use wats_model::views::{Facet, Status, Why};
use wats_oracle::Views;
use wats_oracle::build::react;
use wats_oracle::world::{CROWD, KEYS, Name, Op, POSTS, TAGS, Tick, World, event, key, world};

/// The same worlds each time, unless `WATS_SEED` says otherwise.
fn config(cases: u32) -> ProptestConfig {
    let number = |name| std::env::var(name).ok().and_then(|n: String| n.parse::<u64>().ok());
    ProptestConfig {
        cases: number("WATS_CASES").map_or(cases, |n| n as u32),
        rng_seed: RngSeed::Fixed(number("WATS_SEED").unwrap_or(1)),
        failure_persistence: None,
        max_shrink_iters: 4096,
        ..ProptestConfig::default()
    }
}

/// An engine that has taken ticks.
fn run(world: &World, ticks: &[Tick]) -> Running {
    let mut engine = Running::start(&world.config(), 1);
    ticks.iter().for_each(|tick| drop(engine.tick(tick)));
    engine
}

/// Two answers must be the same.
fn same(want: &Views, got: &Views) -> Result<(), TestCaseError> {
    let found = differences(want, got);
    prop_assert!(found.is_empty(), "{} differences\n{}", found.len(), found[..found.len().min(4)].join("\n"));
    Ok(())
}

/// The views of everybody but the keys and events of an attempt; of blobs, whether they are pinned.
fn of_others(views: &Views) -> (Views, BTreeSet<u32>) {
    let mut others = views.clone();
    others.posts.retain(|id, _| id.0 < FIRST_EVENT);
    others.authors.retain(|key, _| key.0 < FIRST_KEY);
    let pinned = others.blobs.values().filter(|blob| blob.pinned).map(|blob| blob.blob.0).collect();
    others.blobs.clear();
    // Whatever anybody posts is counted as posted; what counts as an entry is not theirs to say.
    others.groups.values_mut().for_each(|group| group.posts = [0; 4]);
    others.groups.retain(|_, group| group.entries > 0);
    (others, pinned)
}

proptest! {
    #![proptest_config(config(48))]

    /// Any events by any number of keys first seen under 7 days ago and backed by nobody with trust,
    /// with any proof of work. (A post by anybody holds the blobs that it attaches: it may raise their
    /// rank to what an unverified post has, but pins nothing.)
    #[test]
    fn fresh_keys_buy_nothing(world in world(20..100), fresh in world(5..60), work in 0u16..256) {
        let ticks = world.ticks();
        let begin = ticks.last().map_or(Millis(0), |tick| tick.now);
        let events = attempts::by_fresh_keys(&fresh, begin, work);
        let (mut without, mut with) = (run(&world, &ticks), run(&world, &ticks));
        let mut last = begin;
        for end in [1, 2, 3, 5, 7].map(|days| Millis(begin.after(Millis::days(days)).0 - 1)) {
            let come = events.iter().filter(|e| last < e.received_at && e.received_at <= end);
            without.tick(&Tick { now: end, ..Tick::default() });
            with.tick(&Tick { now: end, events: come.map(|e| (e.clone(), 1)).collect(), blobs: Vec::new() });
            last = end;
            let ((want, pinned), (got, pinned_now)) = (of_others(&without.views), of_others(&with.views));
            same(&want, &got)?;
            prop_assert_eq!(pinned, pinned_now);
            for author in with.views.authors.range(KeyId(FIRST_KEY)..).map(|(_, author)| author) {
                prop_assert_eq!((author.weight, author.voice), (Fixed::ZERO, Fixed::ZERO));
            }
        }
    }

    /// Nothing that a key, or an ally that declares the same owner, says for its posts changes anything.
    #[test]
    fn self_and_group_confirmation_count_zero(
        world in world(20..100),
        author in 0..KEYS,
        said in vec((any::<bool>(), 0..=POSTS, 0u8..6, 0u64..40), 1..20),
    ) {
        let ticks = world.ticks();
        let mut attempt = Attempt::after(&ticks);
        let (author, ally) = (key(0, author), attempt.key());
        let owner = Some(OwnerId(900));
        attempt.say(author, Body::Announce { owner });
        let announce = attempt.say(ally, Body::Announce { owner });
        attempt.say(key(0, 0), Body::React(React { vouch: Some(true), ..react(announce) }));
        let ask = attempt.ask(ally);
        let answer = attempt.answer(author, ask);
        let mut engine = run(&world, &ticks);
        engine.tick(&attempt.tick());
        let own: Vec<EventId> = engine.views.posts.values().filter(|p| p.author == author)
            .map(|p| p.post).collect();
        let mut without = run(&world, &ticks);
        without.tick(&attempt.all());
        for (by_ally, post, what, days) in said {
            let target = own.get(usize::from(post)).copied().unwrap_or(answer);
            let by = if by_ally { ally } else { author };
            let plain = react(target);
            attempt.say(by, Body::React(match what {
                0 => React { accept: Some(true), ..plain },
                1 => React { used: Some(true), ..plain },
                2 => React { value: Some(1), ..plain },
                3 => React { still_valid: true, ..plain },
                4 => React { used: Some(true), evidence: attempts::TEXT, ..plain },
                _ => React { value: Some(1), evidence: attempts::TEXT, ..plain },
            }));
            attempt.now = attempt.now.after(Millis::days(days));
            engine.tick(&attempt.tick());
            without.tick(&Tick { now: attempt.now, ..Tick::default() });
            same(&without.views, &engine.views)?;
        }
    }

    /// However many keys are brought in by however few, no count is larger than the number of those
    /// with whom their trust began.
    #[test]
    fn a_crowd_is_never_more_voices_than_its_origins(
        world in world(20..80),
        crowd in vec((0..KEYS, any::<u8>(), any::<u8>(), 0..POSTS, 0u8..3), 4..24),
    ) {
        let ticks = world.ticks();
        let mut attempt = Attempt::after(&ticks);
        let mut members: Vec<KeyId> = (0..KEYS).map(|k| key(0, k)).collect();
        for (sponsor, second, third, post, what) in crowd {
            let member = attempt.key();
            let announce = attempt.say(member, Body::Announce { owner: None });
            for at in [sponsor, second, third].map(usize::from).into_iter().filter(|at| *at < members.len()) {
                attempt.say(members[at], Body::React(React { vouch: Some(true), ..react(announce) }));
            }
            members.push(member);
            let plain = react(event(0, Name::Post(post)));
            attempt.say(member, Body::React(match what {
                0 => React { value: Some(-1), evidence: attempts::TEXT, ..plain },
                1 => React { used: Some(true), ..plain },
                _ => React { value: Some(1), evidence: attempts::TEXT, ..plain },
            }));
        }
        let last = attempt.tick();
        let mut engine = run(&world, &ticks);
        engine.tick(&last);
        // Whoever reacted on a post, and the groups with whom their trust began.
        let mut origins: BTreeMap<EventId, BTreeSet<GroupId>> = BTreeMap::new();
        for (fact, _) in ticks.iter().chain([&last]).flat_map(|tick| &tick.events) {
            let Body::React(react) = &fact.body else { continue };
            let author = &engine.views.authors[&fact.author];
            let origins = origins.entry(react.target).or_default();
            origins.extend(author.origins.iter().copied());
            if author.origins.is_empty() {
                origins.insert(author.group);
            }
        }
        for post in engine.views.posts.values() {
            let (counts, most) = (post.counts, origins.get(&post.post).map_or(0, BTreeSet::len));
            for voices in [counts.accepts, counts.confirmations, counts.uses, counts.contradictions] {
                prop_assert!(voices as usize <= most, "{most} origins, and {counts:?}");
            }
        }
    }

    /// Keys that contradict each other in a circle, each with its own post or a react that rests on it
    /// as the argument, leave all of their posts contested; undecided, when three steps from the post
    /// show the whole circle, and nobody has to argue in their own cause.
    #[test]
    fn cycles_are_contested(world in world(10..80), replies in vec(any::<bool>(), 2..8), order in any::<u64>()) {
        let ticks = world.ticks();
        let mut attempt = Attempt::after(&ticks);
        let members: Vec<KeyId> = replies.iter().map(|_| attempt.vouched(key(0, 0))).collect();
        let n = members.len();
        let posts: Vec<EventId> = (0..n).map(|_| attempt.name()).collect();
        let mut places: Vec<usize> = (0..n).collect();
        Dice::new(order).shuffle(&mut places);
        let mut engine = run(&world, &ticks);
        for at in places {
            let (target, own) = (posts[(at + 1) % n], posts[at]);
            let (refs, named) = match replies[at] {
                true => (vec![target], vec![]),
                false => (vec![], vec![own]),
            };
            attempt.post(own, members[at], PostKind::Post, &refs);
            let refs = named.into();
            attempt.say(members[at], Body::React(React { value: Some(-1), refs, ..react(target) }));
            engine.tick(&attempt.tick());
        }
        for (post, is_argument) in posts.into_iter().zip(replies) {
            let view = &engine.views.posts[&post];
            prop_assert_eq!(view.status, Status::Contested);
            let undecided = matches!(view.why, Some(Why::Contradicted { stands: false, .. }));
            let whole = n == 3 || n == 4 && is_argument;
            prop_assert_eq!(undecided, whole, "{:?} in a circle of {}", view.why, n);
        }
    }

    /// Of many renewals, those that come less than 30 days after the last that counted change nothing.
    #[test]
    fn renewing_more_often_than_every_30_days_buys_nothing(
        world in world(10..80),
        target in 0..POSTS,
        kind in 0u8..3,
        spans in vec((0u64..45, any::<bool>()), 1..40),
    ) {
        let ticks = world.ticks();
        let mut dense = Attempt::after(&ticks);
        let fan = dense.vouched(key(0, 0));
        let target = event(0, Name::Post(target));
        let plain = React { still_valid: true, ..react(target) };
        let signal = match kind {
            0 => React { value: Some(1), evidence: attempts::TEXT, ..react(target) },
            1 => React { used: Some(true), ..react(target) },
            _ => React { value: Some(-1), evidence: attempts::TEXT, ..react(target) },
        };
        dense.say(fan, Body::React(signal.clone()));
        let mut sparse = dense.clone();
        let (mut with, mut without) = (run(&world, &ticks), run(&world, &ticks));
        let mut clock = dense.now;
        for (days, again) in spans {
            dense.now = dense.now.after(Millis::days(days));
            sparse.now = dense.now;
            // A critic who repeats itself with evidence has more arguments; who only renews has not.
            let body = Body::React(if again && kind < 2 { signal.clone() } else { plain.clone() });
            let counts = dense.now.since(clock) >= Millis::days(30);
            dense.say(fan, body.clone());
            if counts {
                sparse.say(fan, body);
                clock = dense.now;
            }
            with.tick(&dense.tick());
            without.tick(&sparse.tick());
            same(&without.views, &with.views)?;
        }
    }

    /// What happens in one network changes nothing in another, but for blobs, which are the same in all.
    #[test]
    fn networks_never_touch(world in world(20..100), elsewhere in vec(any::<bool>(), 64)) {
        let mut world = world;
        for (op, elsewhere) in world.ops.iter_mut().zip(elsewhere.into_iter().cycle()) {
            move_to(op, elsewhere);
        }
        let ticks = world.ticks();
        let only = |network| ticks.iter().map(|tick| Tick {
            now: tick.now,
            events: tick.events.iter().filter(|(e, _)| e.network.0 == network).cloned().collect(),
            blobs: tick.blobs.clone(),
        }).collect::<Vec<Tick>>();
        let (mut both, mut apart) =
            (run(&world, &[]), [0, 1].map(|network| (network, only(network), run(&world, &[]))));
        for (at, tick) in ticks.iter().enumerate() {
            both.tick(tick);
            for (network, ticks, engine) in &mut apart {
                engine.tick(&ticks[at]);
                same(&in_network(&engine.views, *network), &in_network(&both.views, *network))?;
            }
        }
    }
}

/// Moves an op to one of the two networks.
fn move_to(op: &mut Op, second: bool) {
    match op {
        Op::Announce(saying, ..)
        | Op::Vouch(saying, ..)
        | Op::Post(saying, ..)
        | Op::React(saying, ..)
        | Op::Other(saying, ..) => saying.elsewhere = second,
        Op::Tick(_) | Op::Copy(..) | Op::Blob(..) => {}
    }
}

/// The views of one network, without blobs.
fn in_network(views: &Views, network: u16) -> Views {
    let keys = key(network, 0)..key(network + 1, 0);
    // Numbers of events and keys are dealt out network by network.
    let events = event(network, Name::Post(0))..event(network + 1, Name::Post(0));
    let mut views = views.clone();
    views.authors.retain(|k, _| keys.contains(k));
    views.posts.retain(|e, _| events.contains(e));
    views.entries.retain(|entry| events.contains(&entry.entry));
    views.canonical.retain(|thread, _| events.contains(thread));
    views.covers.retain(|thread, _| events.contains(thread));
    views.blobs.clear();
    views.networks.retain(|of, _| of.0 == network);
    let tags = TagId(u32::from(network) * u32::from(TAGS))..TagId(u32::from(network + 1) * u32::from(TAGS));
    let inside = |facet: &Facet| match facet {
        Facet::Tag(tag) => tags.contains(tag),
        Facet::Thread(root) => events.contains(root),
        Facet::Initial(of, _) | Facet::Month(of, _) | Facet::Day(of, _) => of.0 == network,
    };
    views.groups.retain(|facet, _| inside(facet));
    views.listed.retain(|listed| inside(&listed.under));
    views
}

proptest! {
    #![proptest_config(config(32))]

    /// Signed records through a whole replay: in any order, repeated, cut into any ticks.
    #[test]
    fn a_records_place_in_the_log_does_not_matter(
        world in world(20..90),
        order in any::<u64>(),
        copies in 0usize..10,
        records in 1usize..60,
        workers in 1usize..=2,
        days in 0u64..400,
    ) {
        let world = World { pow_bits: 0, ..world };
        let config = Config::parse(&signed::toml(&world.config()), "wats.toml").expect("a configuration");
        let mut lines = signed::log(&world.ticks());
        let judged = |lines: &[String]| vectors::judge(lines.join("\n").into_bytes(), &config);
        let want = vectors::document(&config, &judged(&lines), None, 1, Bounds::default());
        let mut dice = Dice::new(order);
        for _ in 0..copies {
            lines.push(lines[dice.below(lines.len())].clone());
        }
        dice.shuffle(&mut lines);
        let bounds = Bounds { records, span: Millis::days(days) };
        let got = vectors::document(&config, &judged(&lines), None, workers, bounds);
        let mut found = Vec::new();
        vectors::compare(&want, &got, "", &mut found);
        prop_assert!(found.is_empty(), "{} differences\n{}", found.len(), found.join("\n"));
    }
}

/// What the properties rely on.
#[test]
fn attempts_have_numbers_of_their_own() {
    assert!(event(0, Name::Vouch(u8::MAX)).0 < FIRST_EVENT && event(1, Name::Vouch(u8::MAX)).0 < FIRST_EVENT);
    assert!(key(1, KEYS + CROWD - 1).0 < FIRST_KEY);
}
