//! What it costs to tell those who wait of an ask that is routed: in proportion to those it wakes, not to
//! those who wait.
//!
//! `cargo bench --bench routing -- [WAITERS]`: 1,000 by default.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use wats_event::Hex32;
use wats_event::stored_event::StoredEvent;
use wats_model::fixed::Fixed;
use wats_node::routing::Who;
use wats_node::wait::{EventFilter, Subscriptions, Waiter};

/// Asks that are told in one measurement, and measurements of which the median counts.
const ASKS: usize = 2_000;
const TIMES: usize = 9;

fn key(n: usize) -> Hex32 {
    let mut key = [7; 32];
    key[..8].copy_from_slice(&n.to_le_bytes());
    Hex32(key)
}

/// Waiters, of whom so many have the capability.
fn crowd(waiters: &Arc<Subscriptions>, all: usize, capable: usize) -> Vec<Waiter> {
    let one = |n| {
        let tag = if n < capable { "cap:rust" } else { "cap:other" };
        let who = Who { key: Some(key(n)), capabilities: [tag.to_owned()].into() };
        waiters.wait(EventFilter { network: "main".into(), ..EventFilter::default() }, who).expect("room")
    };
    (0..all).map(one).collect()
}

fn ask(tags: &[&str], to: Option<Hex32>) -> StoredEvent {
    let event = serde_json::json!({ "id": key(1 << 40), "net": "main", "kind": "ask", "author": key(1 << 41),
        "created_at": 0, "title": "?", "tags": tags, "to": to.into_iter().collect::<Vec<_>>() });
    serde_json::from_value(event).expect("an ask")
}

/// Nanoseconds for one ask, the median; and how many it wakes.
fn measure(all: usize, capable: usize, ask: &StoredEvent) -> (f64, usize) {
    let waiters = Arc::default();
    let _crowd = crowd(&waiters, all, capable);
    let standing = |key: Hex32| Fixed(i64::from(key.0[0]));
    let mut woken = 0;
    let mut times: Vec<f64> = (0..TIMES)
        .map(|_| {
            let began = Instant::now();
            (0..ASKS).for_each(|_| woken = black_box(waiters.routed(black_box(ask), standing)));
            began.elapsed().as_nanos() as f64 / ASKS as f64
        })
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    (times[TIMES / 2], woken)
}

fn main() {
    let number = std::env::args().skip(1).find_map(|arg| arg.parse().ok());
    let all: usize = number.unwrap_or(1_000);
    println!("{all} waiters");
    let rust = ask(&["cap:rust"], None);
    let (one, _) = measure(all, 1, &rust);
    for capable in [1, 10, 100, all] {
        let (took, woken) = measure(all, capable, &rust);
        println!(
            "cap: wakes {woken:>5}       {took:>10.0} ns, {:>7.0} for each woken, {:>7.1} times one",
            took / woken as f64,
            took / one
        );
    }
    let (few, _) = measure(10, 1, &rust);
    println!("one woken among {all} against one among 10: {:.2} times", one / few);
    let named = ask(&[], Some(key(all / 2)));
    let ((many, woken), (few, _)) = (measure(all, 0, &named), measure(10, 0, &ask(&[], Some(key(5)))));
    println!("to: wakes {woken}: among {all} against among 10: {:.2} times", many / few);
}
