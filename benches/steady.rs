//! Memory over an hour of updates in place: `cargo bench --bench steady -- [--seconds N]`.
//!
//! The hour passes in so many seconds, for each of two kinds of updates. In place: what is held stays
//! the same set of events, and copies that were received earlier, blobs that come and go and the clock
//! change what is known of it; nothing may grow. Repeated: the same keys change their minds on the
//! same posts; each react is an event and is held, but what it replaces is not.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod support;

use std::collections::HashSet;
use std::time::{Duration, Instant};
use support::{Feed, config_of, fact, resident, take};
use wats_engine::engine::Engine;
use wats_engine::interner::{Change, Interner};
use wats_generate::Plan;
use wats_model::facts::{Body, EventFact, Evidence, React};
use wats_model::ids::{BlobId, EventId, KeyId, Millis};

/// Events of the network that is updated.
const EVENTS: u64 = 50_000;
/// Updates in a tick.
const TICK: usize = 64;
/// How often memory is looked at.
const LOOKS: u32 = 12;
/// Of these, the first that are taken for warming up.
const WARM: usize = 3;
/// Keys that change their minds, each on one post.
const PAIRS: usize = 10_000;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let seconds =
        args.iter().position(|arg| arg == "--seconds").and_then(|at| args.get(at + 1)?.parse().ok());
    let seconds = Duration::from_secs(seconds.unwrap_or(60));
    let mut world = World::load();
    println!("{EVENTS} events; an hour in {seconds:?}, {TICK} updates a tick");
    world.hour("updates in place", seconds, World::in_place);
    world.hour("reacts repeated, each held", seconds, World::repeated);
}

struct World {
    engine: Engine,
    facts: Vec<EventFact>,
    blobs: Vec<(BlobId, bool)>,
    /// Who changes its mind on what.
    pairs: Vec<(KeyId, EventId)>,
    now: Millis,
    made: u32,
}

impl World {
    fn load() -> World {
        let plan = Plan { events: EVENTS, signed: false, ..Plan::default() };
        let mut intake = Interner::new(&config_of(&[&plan])).expect("one network");
        let mut engine = Engine::start(intake.config().clone(), 1).expect("the engine starts");
        let (mut changes, mut now) = (Vec::new(), Millis(0));
        for checked in Feed::new(&plan) {
            now = now.max(checked.received_at);
            take(&mut intake, checked, &mut changes);
        }
        let mut facts = std::collections::BTreeMap::new();
        let mut held = HashSet::new();
        for change in &changes {
            match change {
                Change::Event(fact, 1) => drop(facts.insert(fact.id, (**fact).clone())),
                Change::Event(..) => {}
                Change::Blob(blob, 1) => drop(held.insert(*blob)),
                Change::Blob(blob, _) => drop(held.remove(blob)),
            }
        }
        engine.tick(changes, now).expect("the engine runs");
        let facts: Vec<EventFact> = facts.into_values().collect();
        let blobs: HashSet<BlobId> = facts.iter().flat_map(blobs_of).copied().collect();
        let blobs = blobs.into_iter().map(|blob| (blob, held.contains(&blob))).collect();
        let pairs = facts.iter().filter_map(pair_of).take(PAIRS).collect();
        World { engine, facts, blobs, pairs, now, made: 0 }
    }

    /// Lets an hour pass with the updates that `next` makes.
    fn hour(&mut self, what: &str, real: Duration, next: impl Fn(&mut World, &mut Vec<Change>)) {
        let (begun, start) = (Instant::now(), self.now);
        let (mut looks, mut updates, mut warm) = (Vec::new(), 0usize, 0);
        while looks.len() < LOOKS as usize {
            let mut changes = Vec::new();
            (0..TICK).for_each(|_| next(self, &mut changes));
            updates += TICK;
            let passed = begun.elapsed().as_secs_f64() / real.as_secs_f64();
            self.now = start.after(Millis((passed * Millis::HOUR.0 as f64) as u64));
            self.engine.tick(changes, self.now).expect("the engine runs");
            if begun.elapsed() >= real * (looks.len() as u32 + 1) / LOOKS {
                looks.push(resident());
                warm = if looks.len() == WARM { updates } else { warm };
            }
        }
        let mib = |bytes: &u64| (bytes >> 20).to_string();
        println!("{what}: {updates} updates; MiB resident every five minutes of the hour:");
        println!("    {}", looks.iter().map(mib).collect::<Vec<_>>().join(" "));
        let (then, end) = (looks[WARM - 1] as f64, looks[looks.len() - 1] as f64);
        println!(
            "    after the first quarter {:+.1} % and {:+.0} bytes an update (limit 0 in place)",
            100.0 * (end / then - 1.0),
            (end - then) / (updates - warm) as f64
        );
    }

    /// An arbitrary number, the same in each run.
    fn dice(&mut self, below: usize) -> usize {
        self.made += 1;
        let mixed = (u64::from(self.made)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 24) as usize % below
    }

    /// A copy of an event that was received a moment earlier; or a blob that comes or goes.
    fn in_place(&mut self, changes: &mut Vec<Change>) {
        if self.made.is_multiple_of(8) && !self.blobs.is_empty() {
            let at = self.dice(self.blobs.len());
            let (blob, held) = &mut self.blobs[at];
            *held = !*held;
            changes.push(Change::Blob(*blob, if *held { 1 } else { -1 }));
            return;
        }
        let at = self.dice(self.facts.len());
        let fact = &mut self.facts[at];
        changes.push(Change::Event(Box::new(fact.clone()), -1));
        fact.received_at = fact.received_at.since(Millis(1));
        changes.push(Change::Event(Box::new(fact.clone()), 1));
    }

    /// A confirm, or its withdrawal.
    fn repeated(&mut self, changes: &mut Vec<Change>) {
        let at = self.dice(self.pairs.len());
        let (by, on) = self.pairs[at];
        let react = match self.made % 2 {
            0 => React { value: Some(0), ..wats_oracle::build::react(on) },
            _ => React { value: Some(1), evidence: Evidence::Text, ..wats_oracle::build::react(on) },
        };
        let id = EventId((1 << 31) + self.made);
        changes.push(Change::Event(Box::new(fact(id, by, self.now, Body::React(react))), 1));
    }
}

fn blobs_of(fact: &EventFact) -> &[BlobId] {
    match &fact.body {
        Body::Post(post) => &post.blobs,
        Body::React(react) => &react.blobs,
        _ => &[],
    }
}

fn pair_of(fact: &EventFact) -> Option<(KeyId, EventId)> {
    match &fact.body {
        Body::React(react) if react.vouch.is_none() => Some((fact.author, react.target)),
        _ => None,
    }
}
