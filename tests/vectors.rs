//! Vectors through the engine: on 1, 2 and 3 workers, in one tick and record by record, and with the
//! lines in another order, every value of `expected.json` to the last digit.
//!
//! The repository's own are in `tests/vectors`; those in `../shared/vectors` and the logs in
//! `../shared/data` are taken too where they are at hand, or where `WATS_VECTORS` and `WATS_DATA` say.
//! `WATS_LONG=1` runs every variant on the large logs as well.

#[path = "support/dice.rs"]
mod dice;
#[path = "support/vectors.rs"]
mod support;

use dice::Dice;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use support::{ONE_TICK, Vector, folders};
use wats::log::Checked;
use wats::replay::Bounds;
use wats_dataflows::ids::Millis;

const RECORD_BY_RECORD: Bounds = Bounds { records: 1, span: Millis(0) };

/// The most records of a log that is replayed record by record.
const FEW: usize = 2000;

static OWN_AND_SHARED: LazyLock<Vec<Vector>> = LazyLock::new(|| {
    let own = folders(&here("tests/vectors"));
    own.iter().chain(&shared("vectors", "WATS_VECTORS")).map(|folder| Vector::load(folder)).collect()
});

static LARGE: LazyLock<Vec<Vector>> =
    LazyLock::new(|| shared("data", "WATS_DATA").iter().map(|folder| Vector::load(folder)).collect());

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// What lies beside the repository, or where the variable says.
fn shared(name: &str, variable: &str) -> Vec<PathBuf> {
    let beside = here("../shared").join(name);
    let folders = folders(&std::env::var_os(variable).map_or(beside, PathBuf::from));
    if folders.is_empty() {
        println!("skipped: no shared {name} here; {variable} names their directory");
    }
    folders
}

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
            println!("{} {variant}: {} differences", vector.name, differences.len());
            differences.iter().take(6).for_each(|line| println!("    {line}"));
        }
    }
    assert_eq!(failed, 0, "of {} vectors, {variant}", vectors.len());
    println!("{} vectors match, {variant}", vectors.len());
}

/// The vectors of which every variant is run.
fn thorough() -> Vec<&'static Vector> {
    let large = if long() { LARGE.as_slice() } else { &[] };
    OWN_AND_SHARED.iter().chain(large).collect()
}

/// The lines in an order that the seed decides.
fn shuffled(lines: &[Checked], seed: u64) -> Vec<Checked> {
    let mut lines = lines.to_vec();
    Dice(seed).shuffle(&mut lines);
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
            v.differences_in_any_order(&lines, workers, Bounds::default())
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
    let bounds = if long() { Bounds::default() } else { ONE_TICK };
    all_match(&large, "on 2 workers", |v| v.differences(&v.lines, 2, bounds));
}
