//! Vectors through the engine: on 1, 2 and 3 workers, in one tick and record by record, and with the
//! lines in another order, every value of `expected.json` to the last digit.
//!
//! The repository's own are in `tests/vectors`, those of the specification in `tests/vectors/spec`, real logs in
//! `tests/data`; `WATS_VECTORS` and `WATS_DATA` name other directories of the latter two.
//! `cargo test --release --test rules -- --ignored make_vectors` writes the repository's own anew, from
//! stories, random worlds and the oracle.
//!
//! `WATS_LONG=1` runs every variant on the large logs as well.

use crate::{dice, facts, own_vectors, signed, vectors as support};
use dice::Dice;
use facts::Facts;
use std::sync::LazyLock;
use support::{ONE_TICK, Vector, folders, here};
use wats_config::Config;
use wats_engine::replay::Bounds;
use wats_event::log::Checked;
use wats_model::ids::Millis;
use wats_model::policy;
use wats_oracle::world::{Tick, World};

const RECORD_BY_RECORD: Bounds = Bounds { records: 1, span: Millis(0) };

/// The most records of a log that is replayed record by record.
const FEW: usize = 2000;

static SMALL: LazyLock<Vec<Vector>> = LazyLock::new(|| {
    let own = folders(&here("tests/vectors"));
    assert!(!own.is_empty(), "the repository has vectors of its own");
    own.iter().chain(&support::of_the_specification()).map(|folder| Vector::load(folder)).collect()
});

static LARGE: LazyLock<Vec<Vector>> =
    LazyLock::new(|| support::real_logs().iter().map(|folder| Vector::load(folder)).collect());

fn long() -> bool {
    std::env::var_os("WATS_LONG").is_some_and(|value| value == "1")
}

/// Runs a variant on every vector, and says which of them differ, and where.
fn all_match(vectors: &[&Vector], variant: &str, differences: impl Fn(&Vector) -> Vec<String>) {
    let mut failed = 0;
    for vector in vectors {
        let differences = differences(vector);
        if !differences.is_empty() {
            failed += 1;
            eprintln!("{} {variant}: {} differences", vector.name, differences.len());
            differences.iter().take(6).for_each(|line| eprintln!("    {line}"));
        }
    }
    assert_eq!(failed, 0, "of {} vectors, {variant}", vectors.len());
}

/// The vectors of which every variant is run.
fn thorough() -> Vec<&'static Vector> {
    let large = if long() { LARGE.as_slice() } else { &[] };
    SMALL.iter().chain(large).collect()
}

/// The lines in an order that the seed decides.
fn shuffled(lines: &[Checked], seed: u64) -> Vec<Checked> {
    let mut lines = lines.to_vec();
    Dice::new(seed).shuffle(&mut lines);
    lines
}

#[test]
fn in_one_tick() {
    for workers in 1..=3 {
        let variant = format!("in one tick on {workers} workers");
        all_match(&thorough(), &variant, |v| v.differences(&v.lines, workers, ONE_TICK));
    }
}

#[test]
fn record_by_record() {
    let few: Vec<_> = thorough().into_iter().filter(|v| v.lines.len() < FEW).collect();
    for workers in 1..=3 {
        let variant = format!("record by record on {workers} workers");
        all_match(&few, &variant, |v| v.differences(&v.lines, workers, RECORD_BY_RECORD));
    }
}

#[test]
fn with_the_lines_shuffled() {
    for workers in 1..=3 {
        let variant = format!("shuffled on {workers} workers");
        all_match(&thorough(), &variant, |v| {
            let lines = shuffled(&v.lines, workers as u64);
            v.differences_in_any_order(&lines, workers, Bounds::FINE)
        });
    }
}

#[test]
fn with_the_lines_shuffled_record_by_record() {
    let few: Vec<_> = thorough().into_iter().filter(|v| v.lines.len() < FEW).collect();
    all_match(&few, "shuffled, record by record", |v| {
        v.differences_in_any_order(&shuffled(&v.lines, 4), 1, RECORD_BY_RECORD)
    });
}

#[test]
fn large_logs() {
    let large: Vec<_> = LARGE.iter().collect();
    all_match(&large, "in one tick", |v| v.differences(&v.lines, 1, ONE_TICK));
    let bounds = if long() { Bounds::FINE } else { ONE_TICK };
    all_match(&large, "on 2 workers", |v| v.differences(&v.lines, 2, bounds));
}

/// The first second of the stories: before it there is no network.
const BEGIN: u64 = 1_760_000_000_000;

#[test]
#[ignore = "writes tests/vectors"]
fn make_vectors() {
    for (name, mut build, now) in own_vectors::stories() {
        for event in &mut build.events {
            event.stamp.created_at.0 += BEGIN;
            event.received_at.0 += BEGIN;
        }
        build.events.sort_by_key(|event| event.received_at);
        let tick = Tick {
            now: Millis(BEGIN),
            events: build.events.iter().map(|event| (event.clone(), 1)).collect(),
            blobs: build.blobs.iter().map(|blob| (*blob, 1)).collect(),
        };
        write(name, &build.config, &signed::log(&[tick]), Some(now.after(Millis(BEGIN))));
    }
    for seed in 1..=4 {
        let world = World { pow_bits: 0, ..World::from_seed(seed, 140) };
        let mut lines = signed::log(&world.ticks());
        refuse_some(&mut lines, seed);
        write(&format!("random_{seed}"), &world.config(), &lines, None);
    }
}

/// Copies some lines, and breaks the copies.
fn refuse_some(lines: &mut Vec<String>, seed: u64) {
    let mut dice = Dice::new(seed);
    let networks = [r#""net":"main""#, r#""net":"side""#];
    for (from, to) in [
        (r#""v":1"#, r#""v":2"#),
        (networks[0], r#""net":"elsewhere""#),
        (networks[0], networks[1]),
        (r#""kind":"react""#, r#""kind":"Like""#),
        (r#""value":1"#, r#""value":2"#),
        (r#""received_at":1"#, r#""received_at":"#),
        ("}}", "}"),
        ("{", "{\"received_at\":0,"),
    ] {
        let fit: Vec<&String> = lines.iter().filter(|line| line.contains(from)).collect();
        let broken = fit[dice.below(fit.len())].replacen(from, to, 1);
        lines.insert(dice.below(lines.len()), broken);
    }
    let mut forged = lines.iter().find(|line| line.contains(r#""sig":""#)).expect("an event").clone();
    let digit = forged.find(r#""sig":""#).expect("a signature") + 7;
    let other = if &forged[digit..=digit] == "0" { "1" } else { "0" };
    forged.replace_range(digit..=digit, other);
    lines.insert(dice.below(lines.len()), forged);
}

fn write(name: &str, config: &policy::Config, lines: &[String], now: Option<Millis>) {
    let folder = here("tests/vectors").join(name);
    let (toml, log) = (signed::toml(config), lines.join("\n") + "\n");
    let config = Config::parse(&toml, "wats.toml").expect("a configuration");
    let judged = support::judge(log.clone().into_bytes(), &config);
    let expected = serde_json::to_string_pretty(&Facts::of(&config, &judged, now).document());
    std::fs::create_dir_all(&folder).expect("a folder");
    for (file, text) in
        [("wats.toml", toml), ("log.jsonl", log), ("expected.json", expected.expect("JSON") + "\n")]
    {
        std::fs::write(folder.join(file), text).expect("a file");
    }
}
