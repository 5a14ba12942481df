//! Replaying a signed log as a whole: `cargo bench --bench bulk -- [EVENTS]`.
//!
//! What the processors verify in batches when they do nothing else, and what a replay of the same
//! log makes of it, with signatures and without.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod support;

use std::io::{Cursor, Read};
use std::thread;
use std::time::{Duration, Instant};
use support::config_of;
use wats_engine::replay::{Bounds, Place, Replay};
use wats_event::log::{Options, Record, Source, read};
use wats_event::{Event, Rules, Verifier};
use wats_generate::{Generator, Plan};

/// Signatures in a batch, as a reader of logs takes them.
const BATCH: usize = 2_048;
/// Threads that verify: two cores are what the limits are about.
const THREADS: usize = 2;

fn main() {
    let events = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(200_000);
    let plan = Plan { events, ..Plan::default() };
    let mut log = Vec::new();
    Generator::new(&plan).lines().read_to_end(&mut log).expect("a generated log");
    let parsed = parsed(&log);
    println!("{} events, {:.1} MB", parsed.len(), log.len() as f64 / 1e6);
    let verified = rate(parsed.len(), || verify(&parsed));
    row(&format!("verified in batches of {BATCH} on {THREADS} threads"), verified, "");
    drop(parsed);
    for workers in 1..=2 {
        let signed = rate(events as usize, || replay(&plan, &log, false, workers));
        let ratio = signed / verified;
        row(
            &format!("replayed with signatures, workers: {workers}"),
            signed,
            &format!(" = {ratio:.2} of that (limit 0.6)"),
        );
    }
    for workers in 1..=2 {
        let skipped = rate(events as usize, || replay(&plan, &log, true, workers));
        row(&format!("replayed without signatures, workers: {workers}"), skipped, " (limit 100,000)");
    }
}

fn row(what: &str, rate: f64, more: &str) {
    println!("{what:<52} {rate:>9.0}/s{more}");
}

fn rate(events: usize, work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    events as f64 / begun.elapsed().max(Duration::from_nanos(1)).as_secs_f64()
}

fn source(log: &[u8]) -> Source {
    Source::from_reader("generated", Cursor::new(log.to_vec())).expect("bytes")
}

/// Every event of the log, copies included.
fn parsed(log: &[u8]) -> Vec<Event> {
    let options = Options { skip_signatures: true, ..Options::new(Rules::any()) };
    let records = read(source(log), &options).map(|line| line.expect("a whole log").outcome);
    let event = |record| match record {
        Ok(Record::Event(event)) => Some(*event),
        _ => None,
    };
    records.filter_map(event).collect()
}

fn verify(events: &[Event]) {
    let share = events.len().div_ceil(THREADS).max(1);
    thread::scope(|scope| {
        for share in events.chunks(share) {
            scope.spawn(move || {
                let mut verifier = Verifier::new();
                for batch in share.chunks(BATCH) {
                    let valid = verifier.verify(&batch.iter().collect::<Vec<_>>());
                    assert!(valid.into_iter().all(|valid| valid), "a generated event is signed");
                }
            });
        }
    });
}

fn replay(plan: &Plan, log: &[u8], skip_signatures: bool, workers: usize) {
    let config = config_of(&[plan]);
    let options = Options { skip_signatures, ..Options::new(config.rules()) };
    let mut replay = Replay::start(&config, None, workers, Bounds::BULK).expect("the engine starts");
    for checked in read(source(log), &options) {
        let checked = checked.expect("a whole log");
        replay.take(Place { log: 0, line: checked.line }, checked).expect("the engine runs");
    }
    replay.end().expect("the engine runs");
    assert!(replay.refused.is_empty(), "a generated record is valid");
}
