//! The oracle against the shared vectors and the real logs, where they are at hand: every value of
//! `expected.json`, to the last digit.

#[path = "support/facts.rs"]
mod facts;
#[path = "support/vectors.rs"]
mod vectors;

use facts::Facts;
use std::path::{Path, PathBuf};
use vectors::Vector;
use wats_model::ids::Millis;

#[test]
fn vectors_match_to_the_last_digit() {
    all_match("vectors", "WATS_VECTORS");
}

#[test]
fn real_logs_match_to_the_last_digit() {
    all_match("data", "WATS_DATA");
}

/// Compares every folder of `../shared/<name>`, or of the directory that the variable names.
fn all_match(name: &str, variable: &str) {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(name);
    let given = std::env::var_os(variable).map_or(beside, PathBuf::from);
    if !given.is_dir() {
        println!("skipped: no {name} here; {variable} names their directory");
        return;
    }
    let mut folders: Vec<PathBuf> = std::fs::read_dir(given)
        .expect("a directory that can be read")
        .map(|entry| entry.expect("an entry").path())
        .filter(|folder| folder.is_dir())
        .collect();
    folders.sort();
    let mut failed = 0;
    for folder in &folders {
        let differences = differences(folder);
        if !differences.is_empty() {
            failed += 1;
            println!("{}: {} differences", folder.display(), differences.len());
            differences.iter().take(6).for_each(|line| println!("    {line}"));
        }
    }
    assert!(!folders.is_empty(), "a directory with vectors");
    assert_eq!(failed, 0, "of {} folders", folders.len());
    println!("{} folders match", folders.len());
}

/// Where the oracle's answer differs from what a folder expects.
fn differences(folder: &Path) -> Vec<String> {
    let vector = Vector::load(folder);
    let now = Millis(vector.want["now"].as_u64().expect("a time"));
    let got = Facts::of(&vector.config, &vector.lines, Some(now)).document();
    let mut differences = Vec::new();
    vectors::compare(&vector.want, &got, "", &mut differences);
    differences
}
