//! Damaged files: the node says so at start, or they do not matter; wrong data is never shown.

use super::dice::Dice;
use super::http::post_lines;
use super::node::{Running, generated, network};
use super::views::exported;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What became of a start on damaged files.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    Told,
    Harmless,
}

/// A stopped node with files of its store, and its export.
fn stopped(name: &str, seed: u64) -> (Running, String) {
    let (plan, events) = generated(seed, 1_200);
    let mut node = Running::with(name, |settings| {
        settings.config.networks = Some(vec![network("main", plan.reader())]);
    });
    assert_eq!(post_lines(node.address(), &events[..900].join("\n")).status, 200);
    node.settle();
    node.stop();
    // What was in the log of writes is in sorted files now, and the rest in a new log.
    node.start().expect("it starts");
    assert_eq!(post_lines(node.address(), &events[900..].join("\n")).status, 200);
    node.check();
    let log = exported(node.store());
    node.stop();
    (node, log)
}

fn files(node: &Running, extension: &str) -> Vec<PathBuf> {
    let all = fs::read_dir(node.settings.store.join("db")).expect("files").map(|e| e.expect("a file").path());
    let mut files: Vec<PathBuf> = all
        .filter(|file| file.extension().is_some_and(|e| e == extension))
        .filter(|file| fs::metadata(file).is_ok_and(|meta| meta.len() > 0))
        .collect();
    files.sort_unstable();
    files
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("files") {
        let path = entry.expect("a file").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, target).expect("copied");
        }
    }
}

/// What the doctor says of a node's directory.
fn doctor(home: &Path) -> String {
    let doctor = Command::new(env!("CARGO_BIN_EXE_wats")).args(["doctor", "--dir"]).arg(home).output();
    let output = doctor.expect("wats runs");
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// Starts on a copy of the store with some bytes of a file flipped.
fn start_damaged(node: &mut Running, log: &str, file: &Path, at: usize) -> Fate {
    let whole = node.settings.store.clone();
    let home = node.dir.join("home");
    let damaged = home.join("store");
    copy(&whole, &damaged);
    let inside = damaged.join(file.strip_prefix(&whole).expect("a file of the store"));
    let mut bytes = fs::read(&inside).expect("readable");
    bytes.iter_mut().skip(at).take(4).for_each(|byte| *byte ^= 0x5a);
    fs::write(&inside, bytes).expect("written");
    node.settings.store = damaged;
    let started = node.start();
    node.settings.store = whole;
    match started {
        Err(why) => {
            let why = why.to_string();
            assert!(why.contains("damaged") && why.contains("wats doctor"), "{}: {why}", file.display());
            let doctor = doctor(&home);
            assert!(doctor.contains("is damaged"), "{}: {doctor}", file.display());
            Fate::Told
        }
        Ok(()) => {
            node.check();
            assert!(exported(node.store()) == log, "{} at {at}: the events differ", file.display());
            node.stop();
            Fate::Harmless
        }
    }
}

#[test]
fn a_damaged_sorted_file_is_reported_and_never_served() {
    let (mut node, log) = stopped("damaged_sst", 61);
    let mut dice = Dice::new(61);
    let files = files(&node, "sst");
    assert!(files.len() >= 3, "{files:?}");
    let mut fates = Vec::new();
    for file in &files {
        let size = fs::metadata(file).expect("a file").len() as usize;
        for at in [0, dice.below(size), size - 40] {
            fates.push(start_damaged(&mut node, &log, file, at));
        }
    }
    // The first bytes of a file are records: whichever they are of, they are read at start.
    let told = fates.iter().step_by(3).filter(|fate| **fate == Fate::Told).count();
    assert_eq!(told, files.len(), "{fates:?}");
}

#[test]
fn a_damaged_log_of_writes_is_reported_where_it_held_what_was_acknowledged() {
    let (mut node, log) = stopped("damaged_wal", 62);
    let files = files(&node, "log");
    let file = files.last().expect("a log of writes").clone();
    let size = fs::metadata(&file).expect("a file").len() as usize;
    let fates = [0, 100, size / 10, size / 4].map(|at| start_damaged(&mut node, &log, &file, at));
    assert!(fates.contains(&Fate::Told), "{fates:?} of {size} bytes");
    let last = start_damaged(&mut node, &log, &file, size - 4);
    assert_eq!(last, Fate::Harmless, "the last views follow from the events");
}
