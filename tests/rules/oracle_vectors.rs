//! The oracle against the vectors of the specification and the real logs: every value of
//! `expected.json`, to the last digit.

use crate::{facts, vectors};
use facts::Facts;
use std::path::{Path, PathBuf};
use vectors::Vector;
use wats_model::ids::Millis;

#[test]
fn vectors_match_to_the_last_digit() {
    all_match(&vectors::of_the_specification());
}

#[test]
fn real_logs_match_to_the_last_digit() {
    all_match(&vectors::real_logs());
}

fn all_match(folders: &[PathBuf]) {
    let mut failed = 0;
    for folder in folders {
        let differences = differences(folder);
        if !differences.is_empty() {
            failed += 1;
            eprintln!("{}: {} differences", folder.display(), differences.len());
            differences.iter().take(6).for_each(|line| eprintln!("    {line}"));
        }
    }
    assert_eq!(failed, 0, "of {} folders", folders.len());
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
