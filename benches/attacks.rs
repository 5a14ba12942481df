//! The engine under each attack: `cargo bench --bench attacks -- [NAME...] [--seconds CAP]`.
//!
//! An ordinary network is loaded; the attack is fed in ticks as a node would cut them, of as many
//! records as fit a few milliseconds where that helps; now and then somebody else's react comes while a tick runs,
//! and is timed from then to the end of the tick that shows it, beside the same on the quiet engine.
//! Every attack has a process of its own, so that memory is its own. Prints a table; judges nothing.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod support;

use std::process::Command;
use std::time::{Duration, Instant};
use support::{Feed, Reacts, config_of, ms, quantile, resident, take, worked};
use wats_engine::engine::Engine;
use wats_engine::interner::{Change, Interner};
use wats_generate::{Attack, Plan};
use wats_model::ids::Millis;

/// Events of the ordinary network.
const ORDINARY: u64 = 50_000;
/// How long a tick should take.
const TICK: Duration = Duration::from_millis(10);
/// Records in a tick, at most.
const MOST: usize = 1_024;
/// For so many ticks a tick that did not gain from fewer records is not tried with fewer again.
const HOLD: u32 = 32;
/// Reacts timed on the quiet engine.
const QUIET: usize = 400;
/// An attack of 60 days arrives in ten minutes: the clock stands for the time at the node.
const HASTE: u64 = 60 * 24 * 6;
/// The scene before an attack takes some 400 days.
const SCENE: Millis = Millis::days(401);

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let (mut names, mut cap, mut one) = (Vec::new(), Duration::from_secs(120), false);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--one" => one = true,
            "--seconds" => {
                cap = Duration::from_secs(args.next().and_then(|s| s.parse().ok()).expect("a number"))
            }
            name => names.push(name.parse::<Attack>().expect("the name of an attack")),
        }
    }
    if one {
        return Bench::new(names[0]).run(cap);
    }
    println!(
        "A react of somebody else, on the quiet engine and while the attack runs, in ms and in times the"
    );
    println!(
        "quiet median (limit 10 times). Memory in MiB more, and in bytes for each byte of JSON received."
    );
    println!(
        "{:<20} {:>7} {:>6} {:>6} {:>5} {:>6} {:>12} {:>14} {:>15} {:>6} {:>6}",
        "attack", "records", "MB", "s", "cpu", "tick", "quiet, p99", "react", "p99", "memory", "a byte"
    );
    let own = std::env::current_exe().expect("this program");
    for attack in if names.is_empty() { Attack::ALL.to_vec() } else { names } {
        let seconds = cap.as_secs().to_string();
        let status = Command::new(&own).args(["--one", attack.name(), "--seconds", &seconds]).status();
        if !status.is_ok_and(|status| status.success()) {
            println!("{attack:<20} (failed)");
        }
    }
}

struct Bench {
    attack: Attack,
    plan: Plan,
    intake: Interner,
    engine: Engine,
    reacts: Reacts,
    now: Millis,
}

impl Bench {
    /// Loads the ordinary network and the scene of the attack.
    fn new(attack: Attack) -> Bench {
        let ordinary = Plan { events: ORDINARY, signed: false, ..Plan::default() };
        let end = ordinary.start.after(Millis::days(ordinary.days));
        let plan = Plan {
            events: attack.size(),
            seed: 99,
            signed: false,
            start: end.since(SCENE),
            attack: Some(attack),
            ..Plan::default()
        };
        let mut intake = Interner::new(&config_of(&[&ordinary, &plan])).expect("one network");
        let mut engine = Engine::start(intake.config().clone(), 1).expect("the engine starts");
        let mut now = Millis(0);
        let mut load = |plan: &Plan| {
            let mut changes = Vec::new();
            for checked in Feed::new(plan) {
                now = now.max(checked.received_at);
                take(&mut intake, checked, &mut changes);
            }
            changes
        };
        let (mut changes, scene) = (load(&ordinary), load(&Plan { events: 0, ..plan.clone() }));
        let reacts = Reacts::of(&changes);
        changes.extend(scene);
        engine.tick(changes, now).expect("the engine runs");
        Bench { attack, plan, intake, engine, reacts, now }
    }

    fn tick(&mut self, changes: Vec<Change>) -> Duration {
        let begun = Instant::now();
        self.engine.tick(changes, self.now).expect("the engine runs");
        begun.elapsed()
    }

    fn run(mut self, cap: Duration) {
        let mut quiet = Vec::new();
        for _ in 0..QUIET {
            self.now = self.now.after(Millis(10));
            let react = self.reacts.next(self.now);
            quiet.push(self.tick(vec![react]));
        }
        let before = resident();
        let mut flood = self.flood(cap);
        let more = resident().saturating_sub(before);
        let quiet_p99 = quantile(&mut quiet, 99);
        let quiet = quantile(&mut quiet, 50);
        let of = |time: Duration| format!("{} ({:.1}x)", ms(time), time.as_secs_f64() / quiet.as_secs_f64());
        println!(
            "{:<20} {:>7} {:>6.1} {:>6.1} {:>4.0}% {:>6.0} {:>12} {:>14} {:>15} {:>6.0} {:>6.2}{}",
            self.attack,
            flood.records,
            flood.bytes / 1e6,
            flood.took.as_secs_f64(),
            100.0 * flood.worked.as_secs_f64() / flood.ticking.as_secs_f64(),
            flood.longest.as_secs_f64() * 1e3,
            format!("{}, {}", ms(quiet), ms(quiet_p99)),
            of(quantile(&mut flood.reacts, 50)),
            of(quantile(&mut flood.reacts, 99)),
            more as f64 / f64::from(1 << 20),
            more as f64 / flood.bytes.max(1.0),
            if flood.capped { "  stopped at the time limit" } else { "" }
        );
    }

    /// Feeds the attack, with somebody else's react in every few ticks.
    fn flood(&mut self, cap: Duration) -> Flood {
        let total = self.attack.size() * self.attack.events();
        let every = if total > 40_000 { 4 } else { 1 };
        let mut feed = Feed::new(&self.plan);
        let (begun, start, worked_before) = (Instant::now(), self.now, worked());
        let (mut flood, mut budget, mut ticks, mut last) =
            (Flood::default(), Budget::new(), 0u32, Duration::ZERO);
        loop {
            let mut changes = Vec::new();
            let taken = self.gather(&mut feed, budget.records, start, &mut changes);
            flood.capped = taken > 0 && begun.elapsed() > cap;
            if taken == 0 || flood.capped {
                break;
            }
            ticks += 1;
            let timed = ticks % every == 0;
            if timed {
                changes.push(self.reacts.next(self.now));
            }
            let took = self.tick(changes);
            if timed {
                // It came at some moment of the tick before, which had to end first.
                let waited = last * (ticks / every % 10) / 10;
                flood.reacts.push(waited + took);
            }
            flood.longest = flood.longest.max(took);
            flood.records += taken;
            flood.ticking += took;
            last = took;
            budget.took(took);
        }
        flood.took = begun.elapsed();
        flood.worked = worked().saturating_sub(worked_before);
        flood.bytes = feed.bytes_a_line() * flood.records as f64;
        flood
    }

    /// Takes up to `size` records, dated as of their arrival in haste; how many there were.
    fn gather(&mut self, feed: &mut Feed, size: usize, start: Millis, changes: &mut Vec<Change>) -> usize {
        let mut taken = 0;
        while taken < size
            && let Some(checked) = feed.next()
        {
            let before = changes.len();
            take(&mut self.intake, checked, changes);
            // What the scene had is a copy.
            taken += usize::from(changes.len() > before);
            for change in &mut changes[before..] {
                if let Change::Event(fact, _) = change {
                    let hasten = |at: Millis| start.after(Millis(at.since(start).0 / HASTE));
                    fact.received_at = hasten(fact.received_at);
                    fact.stamp.created_at = hasten(fact.stamp.created_at);
                    self.now = self.now.max(fact.received_at);
                }
            }
        }
        taken
    }
}

/// How many records the next tick takes.
///
/// Twice as many while ticks are short, half as many while they are long and that makes them shorter:
/// what a tick costs whatever it brings must be shared, or less and less comes through.
struct Budget {
    records: usize,
    /// The tick before the last halving: its records and its time.
    before: Option<(usize, Duration)>,
    hold: u32,
}

impl Budget {
    fn new() -> Budget {
        Budget { records: 64, before: None, hold: 0 }
    }

    /// Learns from a tick.
    fn took(&mut self, took: Duration) {
        self.hold = self.hold.saturating_sub(1);
        if took < TICK / 2 {
            self.records = (self.records * 2).min(MOST);
            self.before = None;
        } else if took > TICK && self.hold == 0 {
            match self.before.take() {
                Some((records, before)) if took > before * 3 / 4 => {
                    self.records = records;
                    self.hold = HOLD;
                }
                _ => {
                    self.before = Some((self.records, took));
                    self.records = (self.records / 2).max(1);
                }
            }
        }
    }
}

#[derive(Default)]
struct Flood {
    records: usize,
    bytes: f64,
    took: Duration,
    /// In ticks, and for how long of it the worker had a processor.
    ticking: Duration,
    worked: Duration,
    /// The longest tick.
    longest: Duration,
    reacts: Vec<Duration>,
    capped: bool,
}
