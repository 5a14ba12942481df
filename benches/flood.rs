//! The engine under load, in ratios within one run: `cargo bench --bench flood -- [EVENTS [SINGLES]]`.
//!
//! A generated log is loaded; then single records, days, vouches and hot posts are timed beside the
//! batch oracle's full recompute of the same state. Prints a table; judges nothing.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod support;

use std::time::{Duration, Instant};
use support::{Feed, config_of, resident, settled, take};
use wats_engine::engine::Engine;
use wats_engine::interner::{Change, Interner};
use wats_engine::replay::Bounds;
use wats_generate::Plan;
use wats_model::facts::{Body, EventFact, Evidence, React};
use wats_model::ids::{BlobId, EventId, KeyId, Millis, NetworkId, Stamp};
use wats_model::policy;
use wats_node::next_slice;
use wats_oracle::{State, evaluate};

/// Signals due in the first slice of time, about.
const SLICE: usize = 256;
/// Records timed one by one.
const SINGLES: usize = 12_000;

fn main() {
    let mut given = std::env::args().skip(1).filter_map(|a| a.parse().ok());
    let events = given.next().unwrap_or(1_000_000);
    let singles = given.next().map_or(SINGLES, |n| n as usize);
    let log = Log::generate(events);
    let mut bench = Bench::load(log, singles);
    bench.singles();
    bench.time();
    bench.vouches();
    bench.hot_post();
}

/// A log, read and interned, as changes with their times.
struct Log {
    records: Vec<(Vec<Change>, Millis)>,
    config: policy::Config,
    events: usize,
}

impl Log {
    fn generate(events: u64) -> Log {
        let plan = Plan { events, signed: false, ..Plan::default() };
        let mut intake = Interner::new(&config_of(&[&plan])).expect("one network");
        let begun = Instant::now();
        let mut records = Vec::new();
        for checked in Feed::new(&plan) {
            let (received_at, mut changes) = (checked.received_at, Vec::new());
            take(&mut intake, checked, &mut changes);
            records.push((changes, received_at));
        }
        let config = intake.config().clone();
        row("generated, parsed, interned", begun.elapsed(), records.len(), "");
        Log { events: records.len(), records, config }
    }
}

struct Bench {
    engine: Engine,
    config: policy::Config,
    facts: Vec<EventFact>,
    blobs: Vec<BlobId>,
    rest: Vec<(Vec<Change>, Millis)>,
    now: Millis,
    next_event: u32,
    next_key: u32,
    full: Duration,
}

impl Bench {
    fn load(mut log: Log, singles: usize) -> Bench {
        let rest = log.records.split_off(log.records.len().saturating_sub(singles));
        let before = settled();
        let engine = Engine::start(log.config.clone(), 1).expect("the engine starts");
        let mut bench = Bench {
            engine,
            config: log.config,
            facts: Vec::new(),
            blobs: Vec::new(),
            rest,
            now: Millis(0),
            next_event: 1 << 30,
            next_key: 1 << 22,
            full: Duration::ZERO,
        };
        let mut loaded = Duration::ZERO;
        for chunk in log.records.chunks(Bounds::BULK.records) {
            let now = chunk.iter().map(|(_, at)| *at).max().unwrap_or_default();
            let changes: Vec<Change> =
                chunk.iter().flat_map(|(changes, _)| changes.iter().cloned()).collect();
            let tick = Instant::now();
            bench.now = bench.now.max(now);
            bench.engine.tick(changes, bench.now).expect("the engine runs");
            loaded += tick.elapsed();
        }
        row("bulk load through the dataflow", loaded, log.events, "100,000 events/s with parsing");
        let at_once = resident().saturating_sub(before);
        let used = settled().saturating_sub(before);
        println!(
            "{:<44} {:>12} bytes an event, {} at once ({} MiB resident more)",
            "memory of the dataflow",
            used / log.events.max(1) as u64,
            at_once / log.events.max(1) as u64,
            used >> 20
        );
        let facts = log.records.into_iter().flat_map(|(changes, _)| changes).collect();
        bench.hold(facts);
        bench.recompute();
        bench
    }

    /// What the oracle is given.
    fn hold(&mut self, changes: Vec<Change>) {
        let mut held: std::collections::HashMap<EventId, EventFact> = Default::default();
        for change in changes {
            match change {
                Change::Event(fact, 1) => drop(held.insert(fact.id, *fact)),
                Change::Event(..) => {}
                Change::Blob(blob, 1) => self.blobs.push(blob),
                Change::Blob(blob, _) => self.blobs.retain(|b| *b != blob),
            }
        }
        self.facts = held.into_values().collect();
        self.facts.sort_unstable_by_key(|fact| fact.id);
    }

    fn recompute(&mut self) {
        let state = State { config: &self.config, events: &self.facts, blobs: &self.blobs, now: self.now };
        let mut times: Vec<Duration> = (0..3).map(|_| timed(|| drop(evaluate(&state)))).collect();
        times.sort_unstable();
        self.full = times[1];
        row("full recompute by the oracle, median of 3", self.full, 1, "");
    }

    fn tick(&mut self, changes: Vec<Change>) -> Duration {
        let now = self.now;
        timed(|| drop(self.engine.tick(changes, now).expect("the engine runs")))
    }

    /// Records one tick each: first at one moment, then with the clock following the log.
    fn singles(&mut self) {
        let rest = std::mem::take(&mut self.rest);
        let half = rest.len() / 2;
        let (mut still, mut following, mut views) = (Vec::new(), Vec::new(), [0, 0]);
        for (at, (changes, received_at)) in rest.into_iter().enumerate() {
            if at == half {
                // What came due while the time stood still is no record's doing.
                let gap = received_at.since(self.now);
                let took = self.pass(gap);
                row("the time that passed meanwhile", took, 1, "");
            }
            if at >= half {
                self.now = self.now.max(received_at);
            }
            let begun = Instant::now();
            let changed = self.engine.tick(changes, self.now).expect("the engine runs").len();
            let times = if at < half { &mut still } else { &mut following };
            times.push(begun.elapsed());
            views[usize::from(at >= half)] += changed;
        }
        self.ratios("one record to visible change", still, 800, 100);
        self.ratios("one record, and the time since the last", following, 300, 80);
        println!(
            "{:<44} {} and {} changes of views a record (limit 150)",
            "",
            views[0] / half.max(1),
            views[1] / half.max(1)
        );
        let idle: Vec<Duration> = (0..60).map(|_| self.pass(Millis(1_000))).collect();
        self.ratios("a second with nothing", idle, 800, 100);
    }

    fn ratios(&self, what: &str, mut times: Vec<Duration>, median: u32, p99: u32) {
        times.sort_unstable();
        let at = |q: usize| times[(times.len() * q / 100).min(times.len() - 1)];
        let ratio = |t: Duration| self.full.as_secs_f64() / t.as_secs_f64().max(1e-9);
        println!(
            "{what:<44} p50 {:>9.2?} (1/{:.0} of a recompute, limit 1/{median}), p99 {:>9.2?} (1/{:.1}, limit 1/{p99}), max {:.2?}",
            at(50),
            ratio(at(50)),
            at(99),
            ratio(at(99)),
            at(100)
        );
    }

    fn pass(&mut self, span: Millis) -> Duration {
        self.now = self.now.after(span);
        self.tick(Vec::new())
    }

    /// A minute, a day at once, and a day in slices.
    fn time(&mut self) {
        let minute = self.pass(Millis(60_000));
        self.against("an idle minute", minute, "nearly nothing");
        let day = self.pass(Millis::DAY);
        self.against("a day passing, at once", day, "1");
        let end = self.now.after(Millis::DAY);
        let (mut slices, mut due) = (Vec::new(), SLICE);
        while self.now < end {
            let asked = self.engine.ask(move |inside| inside.signals.borrow().slice(end, due));
            let next = asked.expect("the engine runs").into_iter().min().unwrap_or(end);
            // At least a minute: what is due at one moment is not divided.
            self.now = next.max(self.now.after(Millis(60_000))).min(end);
            let took = self.tick(Vec::new());
            due = next_slice(due, took);
            slices.push(took);
        }
        self.against("a day passing, in slices", slices.iter().sum(), "1");
        slices.sort_unstable();
        let (median, longest) = (slices[slices.len() / 2], slices[slices.len() - 1]);
        println!(
            "{:<44} {} slices, median {median:.2?}, longest {longest:.2?} (limit 50 ms)",
            "",
            slices.len()
        );
    }

    fn against(&self, what: &str, took: Duration, limit: &str) {
        let ratio = took.as_secs_f64() / self.full.as_secs_f64();
        println!("{what:<44} {took:>12.2?} = {ratio:.2} of a recompute (limit {limit})");
    }

    fn say(&mut self, author: KeyId, body: Body) -> (EventId, Change) {
        let id = EventId(self.next_event);
        self.next_event += 1;
        let mut tie = [0; 16];
        tie[..4].copy_from_slice(&id.0.to_be_bytes());
        let fact = EventFact {
            id,
            stamp: Stamp { created_at: self.now, tie },
            received_at: self.now,
            network: NetworkId(0),
            author,
            work: 0,
            body,
        };
        (id, Change::Event(Box::new(fact), 1))
    }

    /// The reader vouches for a key it has not met, and takes it back.
    fn vouches(&mut self) {
        let reader = self.config.networks[0].profiles[0];
        let mut announces =
            self.facts.iter().filter(|f| matches!(f.body, Body::Announce { .. }) && f.author != reader);
        let Some(announce) = announces.next().map(|f| f.id) else { return };
        for vouch in [true, false] {
            let react = React { vouch: Some(vouch), ..react(announce) };
            let change = self.say(reader, Body::React(react)).1;
            let took = self.tick(vec![change]);
            let what = if vouch { "a vouch by the reader" } else { "its withdrawal" };
            self.against(what, took, "3");
        }
    }

    /// A post with ten reacts and one with a hundred thousand: the next one.
    fn hot_post(&mut self) {
        let reader = self.config.networks[0].profiles[0];
        let [cold, hot] = [10, 100_000].map(|count| {
            let post = Body::Post(wats_oracle::build::post(wats_model::facts::PostKind::Post));
            let (post, change) = self.say(reader, post);
            self.tick(vec![change]);
            let mut changes = Vec::new();
            for _ in 0..count {
                let key = KeyId(self.next_key);
                self.next_key += 1;
                changes.push(self.say(key, Body::React(react(post))).1);
            }
            self.tick(changes);
            let authors: Vec<KeyId> =
                self.facts.iter().map(|f| f.author).filter(|a| *a != reader).take(4_000).collect();
            let mut times = Vec::new();
            for author in authors.into_iter().step_by(40) {
                let change = self.say(author, Body::React(react(post))).1;
                times.push(self.tick(vec![change]));
            }
            times.sort_unstable();
            times[times.len() / 2]
        });
        let ratio = hot.as_secs_f64() / cold.as_secs_f64();
        println!(
            "{:<44} {hot:.2?} after 100,000, {cold:.2?} after 10: {ratio:.2} times (limit 3)",
            "the next react on a hot post"
        );
    }
}

fn react(target: EventId) -> React {
    React { value: Some(1), evidence: Evidence::Text, ..wats_oracle::build::react(target) }
}

fn timed(what: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    what();
    begun.elapsed()
}

fn row(what: &str, took: Duration, count: usize, limit: &str) {
    let rate = count as f64 / took.as_secs_f64();
    let limit = if limit.is_empty() { String::new() } else { format!(" (limit {limit})") };
    println!("{what:<44} {took:>12.2?} {rate:>12.0}/s{limit}");
}
