//! What time alone does.

use super::http::{post, post_lines};
use super::node::{Running, generated, network, post_of, react_of, secret, signed_in};
use serde_json::json;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use wats_model::clock::Clock;
use wats_model::ids::Millis;

/// A post of key 2 that the reader confirms and key 3 votes for.
fn confirmed(node: &Running) -> wats_event::Hex32 {
    let at = node.now();
    let (id, text) = post_of(2, at, "it works like this");
    let (_, confirm) = react_of(1, at, id, json!({ "value": 1, "evidence": "it does" }));
    let (_, vote) = react_of(3, at, id, json!({ "value": 1 }));
    for event in [text, confirm, vote] {
        assert_eq!(post(node.address(), &event).status, 201);
    }
    id
}

#[test]
fn with_no_event_coming_statuses_age_when_they_are_due() {
    let node = Running::new("ages");
    let id = confirmed(&node);
    node.check();
    assert_eq!(node.status(id), "confirmed");
    let score = || node.store().read().post("main", id).expect("readable").expect("a view").score;
    let mut scores = vec![score()];
    let mut statuses = vec!["confirmed"];
    for _ in 0..30 {
        node.pass(Millis::days(30));
        node.check();
        scores.push(score());
        if statuses.last() != Some(&node.status(id)) {
            statuses.push(node.status(id));
        }
    }
    assert!(scores.is_sorted_by(|a, b| a >= b) && scores.first() > scores.last(), "{scores:?}");
    assert_eq!(statuses, ["confirmed", "stale"]);
    // To the millisecond: what a replay says at that moment is what is shown.
    let again = react_of(1, node.now(), id, json!({ "still_valid": true })).1;
    assert_eq!(post(node.address(), &again).status, 201);
    node.check();
    for span in [Millis(1), Millis(59_999), Millis(60_001), Millis::DAY] {
        node.pass(span);
        node.check();
    }
}

#[test]
fn floors_rise_with_the_age_of_a_key() {
    let node = Running::new("floors");
    let at = node.now();
    let announce = signed_in("main", 5, at, json!({ "kind": "announce", "data": {} })).1;
    let work = post_of(5, at, "some work").1;
    for event in [announce, work] {
        assert_eq!(post(node.address(), &event).status, 201);
    }
    let mut floors = BTreeSet::new();
    for _ in 0..12 {
        node.check();
        let author = node.store().read().author("main", secret(5).public()).expect("readable");
        floors.insert(author.expect("a view").floor);
        node.pass(Millis::days(15));
    }
    assert!(floors.len() > 2, "{floors:?}");
}

#[test]
fn a_leap_of_the_clock_is_taken_in_slices_while_events_come() {
    let (plan, events) = generated(41, 6_000);
    let node = Running::with("leap", |settings| {
        settings.config.networks = Some(vec![network("main", plan.reader())]);
    });
    assert_eq!(post_lines(node.address(), &events.join("\n")).status, 200);
    node.settle();
    let before = node.now();
    node.pass(Millis::days(365));
    // Accepted at once, and shown before the year is over.
    let (id, text) = post_of(2, node.now(), "good morning");
    assert_eq!(post(node.address(), &text).status, 201);
    let (mut moments, mut early) = (BTreeSet::new(), false);
    let began = Instant::now();
    loop {
        let reader = node.store().read();
        let now = reader.ticked().expect("a tick").now;
        moments.insert(now);
        if now >= node.now() {
            break;
        }
        early |= reader.post("main", id).expect("readable").is_some();
        assert!(began.elapsed() < Duration::from_secs(120), "the year does not end");
    }
    assert!(moments.range(Millis(before.0 + 1)..node.now()).count() > 2, "{moments:?}");
    assert!(early, "the event was shown after {} slices only", moments.len());
    node.check();
}

#[test]
fn a_clock_that_jumps_back_does_no_harm() {
    let node = Running::new("back");
    let id = confirmed(&node);
    node.settle();
    let there = node.now();
    let mut last = there;
    for (step, back) in [Millis(1), Millis::DAY, Millis::days(400)].into_iter().enumerate() {
        node.settings.clock.set(Millis(there.0 - back.0));
        let (_, text) = post_of(4, node.now(), &format!("step {step}"));
        assert_eq!(post(node.address(), &text).status, 201);
        assert_eq!(post(node.address(), &text).status, 200);
        node.check();
        let now = node.store().read().ticked().expect("a tick").now;
        assert!(now >= last, "time went back");
        assert_eq!(node.status(id), "confirmed");
        last = now;
    }
    // To and fro while events come.
    for n in 0..40u64 {
        let to = if n % 2 == 0 { there.0 + n * 1_000_000 } else { there.0 - n * 1_000_000 };
        node.settings.clock.set(Millis(to));
        let (_, text) = post_of(4, node.now(), &format!("to and fro {n}"));
        assert_eq!(post(node.address(), &text).status, 201);
    }
    node.settings.clock.set(there.after(Millis::DAY));
    node.check();
}

#[test]
fn on_the_clock_of_the_machine_time_moves_by_itself() {
    let node = Running::with("wall", |settings| {
        settings.clock = Clock::Wall;
        settings.config.policy.half_life = Millis(500);
        settings.config.policy.half_life_vote = Millis(500);
    });
    let id = confirmed(&node);
    node.until("a stale post", |node| {
        let view = node.core().store.read().post("main", id).expect("readable");
        view.is_some_and(|view| view.status.name() == "stale")
    });
    super::views::assert_views(node.store(), &node.settings.config);
}
