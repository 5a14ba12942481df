//! Everything at once, for a while: events, garbage and reads from several clients, restarts, clocks that
//! jump; and what must hold is looked at again and again.
//!
//! `WATS_SOAK_SECONDS` says how long; `scripts/soak` runs half an hour.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines,
    reason = "a test prints what it measured, and tells its story in one piece"
)]

#[path = "support/dice.rs"]
mod dice;
#[path = "support/http.rs"]
mod http;
#[path = "support/node.rs"]
mod node;
#[path = "support/views.rs"]
mod views;

use dice::Dice;
use http::{get, post_lines};
use node::{Running, generated, network, post_of, react_of};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tikv_jemallocator::Jemalloc;
use wats_event::Hex32;
use wats_model::ids::Millis;

/// That of the command (`src/main.rs`).
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Ids that were acknowledged.
type Acknowledged = Mutex<BTreeSet<Hex32>>;

/// Rounds on one store; then another begins, so that what is compared stays small.
const ROUNDS: u64 = 6;
/// Generated events of a round, for each of two clients.
const EVENTS: usize = 700;
/// How long clients go on in a round at least.
const ROUND: Duration = Duration::from_millis(2_500);
/// What memory may grow by from one store to a later one, in bytes: nothing, but for what allocators keep.
const SLACK: u64 = 192 << 20;

fn length() -> Duration {
    let seconds = std::env::var("WATS_SOAK_SECONDS").ok().and_then(|s| s.parse().ok());
    Duration::from_secs(seconds.unwrap_or(45))
}

/// Memory of this process, in bytes.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or_default() * 4096
}

fn remember(acknowledged: &Acknowledged, lines: &[serde_json::Value]) {
    let held = lines.iter().filter(|l| l["outcome"] == "accepted" || l["outcome"] == "duplicate");
    let ids = held.filter_map(|line| Hex32::parse(line["id"].as_str()?));
    acknowledged.lock().unwrap_or_else(PoisonError::into_inner).extend(ids);
}

/// A client that sends a log, its own words, copies and garbage.
fn write(node: &Running, events: &[String], mut dice: Dice<'_>, acknowledged: &Acknowledged) {
    let mut last = None;
    let mut left = events;
    while !left.is_empty() {
        let (some, rest) = left.split_at((1 + dice.below(40)).min(left.len()));
        let mut lines = some.to_vec();
        let (id, own) = post_of(2 + dice.below(20) as u16, node.now(), &format!("own {}", dice.roll()));
        lines.push(own);
        if let Some(on) = last.replace(id) {
            let value = if dice.below(4) == 0 { -1 } else { 1 };
            lines.push(react_of(2 + dice.below(20) as u16, node.now(), on, json!({ "value": value })).1);
        }
        lines.push(events[dice.below(events.len())].clone());
        lines.push("{\"garbage\":".repeat(1 + dice.below(40)));
        let answer = post_lines(node.address(), &lines.join("\n"));
        assert_eq!((answer.status, answer.lines().len()), (200, lines.len()));
        remember(acknowledged, &answer.lines());
        left = rest;
        thread::sleep(Duration::from_millis(dice.below(30) as u64));
    }
}

/// A client that reads, and looks whether time and ticks go forwards, and ticks are whole.
fn read(node: &Running, mut dice: Dice<'_>, acknowledged: &Acknowledged, done: &AtomicBool) {
    let mut last = node.store().read().ticked().expect("a tick");
    while !done.load(Ordering::Relaxed) {
        let ticked = node.store().read().ticked().expect("a tick");
        assert!(ticked.tick >= last.tick && ticked.now >= last.now && ticked.through >= last.through);
        last = ticked;
        let some = {
            let all = acknowledged.lock().unwrap_or_else(PoisonError::into_inner);
            let at = dice.below(all.len());
            all.iter().nth(at).copied()
        };
        if let Some(id) = some {
            assert_eq!(get(node.address(), &format!("/v1/events/{id}")).status, 200, "{id} was acknowledged");
        }
        for path in ["/metrics", "/healthz", "/readyz"] {
            assert_eq!(get(node.address(), path).status, 200, "{path}");
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Clients, and a clock that jumps, for a round.
fn round(node: &Running, events: &[String], dice: &mut Dice<'_>, acknowledged: &Acknowledged) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = events
            .chunks(events.len().div_ceil(2))
            .map(|part| {
                let dice = Dice::new(dice.roll());
                scope.spawn(move || write(node, part, dice, acknowledged))
            })
            .collect();
        for _ in 0..2 {
            let (dice, done) = (Dice::new(dice.roll()), &done);
            scope.spawn(move || read(node, dice, acknowledged, done));
        }
        let began = Instant::now();
        while began.elapsed() < ROUND || !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
            let now = node.now().0;
            let to = match dice.below(20) {
                0 => now + Millis::days(20).0,
                1..3 => now - dice.below(2 * Millis::DAY.0 as usize) as u64,
                _ => now + dice.below(3_600_000) as u64,
            };
            node.settings.clock.set(Millis(to));
            thread::sleep(Duration::from_millis(60));
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// What must hold, whatever happened.
fn look(node: &Running, acknowledged: &Acknowledged) {
    for id in acknowledged.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        assert!(node.store().held(*id).expect("readable").is_some(), "{id} was acknowledged and is lost");
    }
    node.check();
}

/// Some rounds on one store, with a restart after each.
fn life(seed: u64, until: Instant) -> usize {
    let (plan, events) = generated(seed, ROUNDS * 2 * EVENTS as u64);
    let mut dice = Dice::new(seed);
    let acknowledged = Acknowledged::default();
    let mut node = Running::with("soak", |settings| {
        settings.config.networks = Some(vec![network("main", plan.reader())]);
        settings.sizes.writes = 2 << 20;
    });
    for part in events.chunks(2 * EVENTS) {
        round(&node, part, &mut dice, &acknowledged);
        look(&node, &acknowledged);
        node.stop();
        if dice.below(3) == 0 {
            node::open(&node.settings.store).forget_views().expect("forgotten");
        }
        node.start().expect("it starts");
        if Instant::now() > until {
            break;
        }
    }
    look(&node, &acknowledged);
    node.stop();
    acknowledged.into_inner().unwrap_or_else(PoisonError::into_inner).len()
}

#[test]
fn what_must_hold_holds_through_everything() {
    let until = Instant::now() + length();
    let (mut seed, mut held, mut first) = (70, 0, None);
    while Instant::now() < until {
        held += life(seed, until);
        let now = memory();
        println!("store {seed}: {held} events so far, {} MiB", now >> 20);
        // The first store warms up what stays: thread stacks, caches, the allocator.
        let most = *first.get_or_insert(now) + SLACK;
        assert!(now <= most, "memory grows: {now} bytes, {most} expected at most");
        seed += 1;
    }
    assert!(held > 0);
}
