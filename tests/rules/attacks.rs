//! Under each attack the engine says what the oracle says: at small size after every tick, and with
//! `WATS_LONG=1` at full size at the end.

use crate::engine as support;
use std::collections::{BTreeMap, BTreeSet};
use support::{apply, differences};
use wats_config::Config;
use wats_engine::engine::Engine;
use wats_engine::interner::{Change, Interner};
use wats_event::log::{Checked, Options, Record, Source, read};
use wats_generate::{Attack, Generator, Plan};
use wats_model::facts::EventFact;
use wats_model::ids::{BlobId, EventId, Millis};
use wats_oracle::{State, Views, evaluate};

/// The engine, and all that it was given.
struct Beside {
    intake: Interner,
    engine: Engine,
    events: BTreeMap<EventId, EventFact>,
    blobs: BTreeSet<BlobId>,
    pending: Vec<Change>,
    records: usize,
    now: Millis,
    views: Views,
}

impl Beside {
    fn start(config: &Config, workers: usize) -> Beside {
        let intake = Interner::new(config).expect("few networks");
        let engine = Engine::start(intake.config().clone(), workers).expect("the engine starts");
        Beside {
            intake,
            engine,
            events: BTreeMap::new(),
            blobs: BTreeSet::new(),
            pending: Vec::new(),
            records: 0,
            now: Millis(0),
            views: Views::default(),
        }
    }

    fn take(&mut self, checked: Checked) {
        let at = checked.received_at;
        let before = self.pending.len();
        match checked.outcome.expect("a valid record") {
            Record::Event(event) => {
                self.intake.event(&event, at, &mut self.pending).expect("few names");
            }
            Record::Blob { blob, present } => {
                self.intake.blob(blob, present, at, &mut self.pending).expect("few names");
            }
        }
        for change in &self.pending[before..] {
            match change {
                Change::Event(fact, 1) => drop(self.events.insert(fact.id, (**fact).clone())),
                Change::Event(fact, _) => drop(self.events.remove(&fact.id)),
                Change::Blob(blob, 1) => drop(self.blobs.insert(*blob)),
                Change::Blob(blob, _) => drop(self.blobs.remove(blob)),
            }
        }
        self.records += 1;
        self.now = self.now.max(at);
    }

    fn tick(&mut self) {
        let changes = self.engine.tick(std::mem::take(&mut self.pending), self.now);
        apply(&mut self.views, &changes.expect("the engine runs"));
        self.records = 0;
    }

    fn compare(&self, what: &str) {
        let events: Vec<EventFact> = self.events.values().cloned().collect();
        let blobs: Vec<BlobId> = self.blobs.iter().copied().collect();
        let state = State { config: self.intake.config(), events: &events, blobs: &blobs, now: self.now };
        let differences = differences(&evaluate(&state), &self.views);
        let first: Vec<_> = differences.iter().take(5).collect();
        assert!(first.is_empty(), "{what}: {} differences: {first:#?}", differences.len());
    }
}

/// Feeds an attack of a size in ticks of some records; compares at every tick, or at the end alone.
fn attack(attack: Attack, size: u64, records: usize, workers: usize, every_tick: bool) {
    let plan = Plan { events: size, attack: Some(attack), signed: false, ..Plan::default() };
    let config = Config::parse(&plan.config(), "wats.toml").expect("a configuration");
    let mut beside = Beside::start(&config, workers);
    let source = Source::from_reader("a log", Generator::new(&plan).lines()).expect("bytes");
    let options = Options { skip_signatures: true, ..Options::new(config.rules()) };
    for checked in read(source, &options) {
        beside.take(checked.expect("read to its end"));
        if beside.records == records {
            beside.tick();
            if every_tick {
                beside.compare(&format!("{attack} of {size}, at {}", beside.now.0));
            }
        }
    }
    beside.tick();
    beside.compare(&format!("{attack} of {size}"));
}

#[test]
fn small_attacks_are_answered_as_by_the_oracle_after_every_tick() {
    for a in Attack::ALL {
        attack(a, 260, 40, 1, true);
        attack(a, 40, 7, 2, true);
    }
}

#[test]
#[ignore = "takes minutes: scripts/soak"]
fn attacks_of_full_size_are_answered_as_by_the_oracle() {
    for a in Attack::ALL {
        let begun = std::time::Instant::now();
        attack(a, a.size(), 4_096, 1, false);
        println!("{a} of {}: as by the oracle, in {:.1?}", a.size(), begun.elapsed());
    }
}
