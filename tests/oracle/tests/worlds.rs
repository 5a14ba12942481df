//! Random worlds: what the oracle must not depend on, and that the worlds are worth comparing.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines,
    reason = "a test prints what it measured, and tells its story in one piece"
)]

use proptest::prelude::*;
use std::collections::BTreeMap;
use wats_model::fixed::Fixed;
use wats_model::ids::GroupId;
use wats_model::policy::Config;
use wats_model::views::{NetworkLabel, Status, Why};
use wats_oracle::world::{Held, World, world};
use wats_oracle::{Views, evaluate};

/// The views after each tick.
fn history(world: &World) -> Vec<Views> {
    views_after_each_tick(world, &world.config())
}

/// The views after each tick, for a reader with this configuration.
fn views_after_each_tick(world: &World, config: &Config) -> Vec<Views> {
    let mut held = Held::default();
    let after = |tick| {
        held.apply(&tick);
        evaluate(&held.state(config))
    };
    world.ticks().into_iter().map(after).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// The result is a function of the set of records: not of their order.
    #[test]
    fn order_does_not_matter(world in world(0..120)) {
        let config = world.config();
        let mut held = Held::default();
        world.ticks().iter().for_each(|tick| held.apply(tick));
        let state = held.state(&config);
        let backwards: Vec<_> = state.events.iter().rev().cloned().collect();
        let views = evaluate(&state);
        prop_assert_eq!(&views, &evaluate(&wats_oracle::State { events: &backwards, ..state }));
        for view in views.authors.values() {
            prop_assert!(view.voice >= Fixed::ZERO && view.weight == view.trust + view.floor);
        }
        for view in views.posts.values() {
            prop_assert_eq!(view.status == Status::Contested, matches!(view.why, Some(Why::Contradicted { .. })));
        }
    }

    /// Nothing crosses networks.
    #[test]
    fn networks_are_apart(world in world(0..120)) {
        let config = world.config();
        let mut held = Held::default();
        world.ticks().iter().for_each(|tick| held.apply(tick));
        let state = held.state(&config);
        let views = evaluate(&state);
        for network in 0..2 {
            let of = |e: &&wats_model::facts::EventFact| e.network.0 == network;
            let events: Vec<_> = state.events.iter().filter(of).cloned().collect();
            let alone = evaluate(&wats_oracle::State { events: &events, ..state });
            for (id, view) in alone.posts {
                prop_assert_eq!(Some(&view), views.posts.get(&id));
            }
            for event in events {
                prop_assert_eq!(alone.authors.get(&event.author), views.authors.get(&event.author));
            }
        }
    }
}

/// Most of what the specification speaks of does happen in worlds of this kind.
#[test]
fn worlds_are_rich() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..200 {
        for scenes in [150, 80, 40, 20] {
            for views in history(&World::from_seed(seed, scenes)) {
                for (what, times) in happenings(&views) {
                    *seen.entry(what).or_default() += times;
                }
            }
        }
    }
    let seldom: Vec<_> = seen.iter().filter(|(_, times)| **times < 50).collect();
    assert!(seldom.is_empty(), "seldom {seldom:?} among {seen:#?}");
}

/// In worlds of each kind there are ticks after which a rule's constant makes a difference.
#[test]
fn rules_decide() {
    let ordinary = |seed| World::from_seed(seed, 150);
    decide("distrusted", ordinary, |config| {
        config.networks.iter_mut().for_each(|network| network.distrusted.clear());
    });
    decide("reply_window", ordinary, |config| config.policy.reply_window.0 += 1);
    decide("reply_window", ordinary, |config| config.policy.reply_window.0 -= 1);
    decide("base_reply", ordinary, |config| config.policy.base_reply = config.policy.base_cite);
    decide("outlive_factor", ordinary, |config| config.policy.outlive_factor = i64::MAX);
    decide("full_force", ordinary, |config| config.policy.full_force = i64::MAX);
    decide("full_force", World::crowded_from_seed, |config| config.policy.full_force = i64::MAX);
    decide("force_per_class", World::crowded_from_seed, |config| config.policy.force_per_class = i64::MAX);
}

fn decide(rule: &str, world: impl Fn(u64) -> World, change: impl Fn(&mut Config)) {
    let decides = |seed: &u64| {
        let world = world(*seed);
        let mut other = world.config();
        change(&mut other);
        views_after_each_tick(&world, &world.config()) != views_after_each_tick(&world, &other)
    };
    let worlds = (0..100).filter(decides).count();
    println!("{rule} decides in {worlds} of 100 worlds");
    assert!(worlds >= 5, "{rule} decides in {worlds} worlds");
}

fn happenings(views: &Views) -> Vec<(&'static str, usize)> {
    let posts = |f: &dyn Fn(&wats_model::views::PostView) -> bool| {
        views.posts.values().filter(|view| f(view)).count()
    };
    let authors = |f: &dyn Fn(&wats_model::views::AuthorView) -> bool| {
        views.authors.values().filter(|view| f(view)).count()
    };
    let contradicted = |f: &dyn Fn(u32, bool, u32, bool) -> bool| {
        posts(&|p| match p.why {
            Some(Why::Contradicted { keys, evidence, rebuttals, stands, .. }) => {
                f(keys, evidence, rebuttals, stands)
            }
            _ => false,
        })
    };
    let networks = |f: &dyn Fn(&wats_model::views::NetworkView) -> bool| {
        views.networks.values().filter(|view| f(view)).count()
    };
    // Without a post of its own, a key loses reputation by refuted accusations alone.
    let refuted = |a: &wats_model::views::AuthorView| {
        a.reputation < a.weight.rounded() && views.posts.values().all(|p| p.author != a.key)
    };
    vec![
        ("confirmed", posts(&|p| p.status == Status::Confirmed)),
        ("contested", posts(&|p| p.status == Status::Contested)),
        ("stale", posts(&|p| p.status == Status::Stale)),
        ("unverified", posts(&|p| p.status == Status::Unverified)),
        ("negative score", posts(&|p| p.score < Fixed::ZERO)),
        ("accepts", posts(&|p| p.counts.accepts > 0)),
        ("confirmations", posts(&|p| p.counts.confirmations > 1)),
        ("uses", posts(&|p| p.counts.uses > 0)),
        ("contradictions", posts(&|p| p.counts.contradictions > 1)),
        ("cites", posts(&|p| p.counts.cites > 0)),
        ("votes up", posts(&|p| p.counts.votes_up > 0)),
        ("votes down", posts(&|p| p.counts.votes_down > 0)),
        ("no replicas", posts(&|p| p.replicas == 0)),
        ("rebutted", posts(&|p| matches!(p.why, Some(Why::Rebutted { .. })))),
        ("rebutted with evidence", posts(&|p| p.why == Some(Why::Rebutted { evidence: true }))),
        ("contradicted by several", contradicted(&|keys, _, _, _| keys > 1)),
        ("contradicted without evidence", contradicted(&|_, evidence, _, _| !evidence)),
        ("rebuttals", contradicted(&|_, _, rebuttals, _| rebuttals > 0)),
        ("undecided", contradicted(&|_, _, _, stands| !stands)),
        ("dependent", authors(&|a| a.class != a.group)),
        ("several origins", authors(&|a| a.origins.len() > 1)),
        ("no origins", authors(&|a| a.origins.is_empty())),
        ("owners", authors(&|a| matches!(a.group, GroupId::Owner(_)))),
        ("floor", authors(&|a| a.floor > Fixed::ZERO)),
        ("discredited", authors(&|a| a.voice < a.weight)),
        ("negative reputation", authors(&|a| a.reputation < Fixed::ZERO)),
        ("refuted accusers", authors(&refuted)),
        ("cold", networks(&|n| n.label == NetworkLabel::Cold)),
        ("alone", networks(&|n| n.label == NetworkLabel::Alone)),
        ("suggested", networks(&|n| !n.suggested.is_empty())),
        ("several suggested", networks(&|n| n.suggested.len() > 1)),
        ("digests", views.entries.iter().filter(|e| e.digest).count()),
        ("digests of several", views.entries.iter().filter(|e| e.threads.len() > 1).count()),
        ("threads", views.entries.iter().filter(|e| !e.digest).count()),
        ("canonical", views.canonical.len()),
        ("covers", views.covers.len()),
        ("covers over an answer", views.covers.keys().filter(|t| views.canonical.contains_key(t)).count()),
        ("pinned", views.blobs.values().filter(|b| b.pinned).count()),
        ("not pinned", views.blobs.values().filter(|b| !b.pinned).count()),
        ("no holder", views.blobs.values().filter(|b| b.rank.is_none()).count()),
        ("used", views.blobs.values().filter(|b| b.rank.is_some_and(|r| r.1)).count()),
    ]
}
