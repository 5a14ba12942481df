//! Damaged files: the node says so at start, or they do not matter; wrong data is never shown.

use super::dice::Dice;
use super::http::post_lines;
use super::node::{Running, generated, network};
use super::views::exported;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use wats_store::{Appender, Part, Sizes, Store};

/// What became of a start on damaged files.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// It does not start, and the doctor cannot help.
    Told,
    /// Nor that, but what can be read of it is written as a log.
    Rescued,
    /// It does not start before what is damaged was made again.
    Repaired,
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

/// What the doctor says of a node's directory, and whether all is well then.
fn doctor(home: &Path, args: &[&str]) -> (String, bool) {
    let mut doctor = Command::new(env!("CARGO_BIN_EXE_wats"));
    let output = doctor.arg("doctor").args(args).arg("--dir").arg(home).output().expect("wats runs");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    (said, output.status.success())
}

/// Whether a damaged store opens; what can be read of its sequence is written then, and nothing that was not there.
fn rescued(home: &Path, log: &str) -> bool {
    let mut export = Command::new(env!("CARGO_BIN_EXE_wats"));
    let output = export.args(["export", "--damaged", "--dir"]).arg(home).output().expect("wats runs");
    let (rescued, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        assert!(said.contains("damaged"), "{said}");
        return false;
    }
    assert!(said.contains("cannot be read"), "{said}");
    let whole: BTreeSet<&str> = log.lines().collect();
    let events: Vec<&str> = rescued.lines().filter(|line| line.contains("\"event\":")).collect();
    assert!(events.iter().all(|line| whole.contains(line)));
    assert!(!events.is_empty() && events.len() < whole.len(), "{} of {}", events.len(), whole.len());
    true
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
    let mut fate = Fate::Harmless;
    if let Err(why) = node.start() {
        let why = why.to_string();
        assert!(why.contains("damaged") && why.contains("wats doctor"), "{}: {why}", file.display());
        let (said, well) = doctor(&home, &[]);
        assert!(said.contains("is damaged") && !well, "{}: {said}", file.display());
        let (said, well) = doctor(&home, &["--repair"]);
        assert_eq!(well, said.contains("made again from the sequence"), "{}: {said}", file.display());
        fate = if well { Fate::Repaired } else { Fate::Told };
        if fate == Fate::Told && rescued(&home, log) {
            fate = Fate::Rescued;
        }
        if well {
            node.start().unwrap_or_else(|e| panic!("{}: {e}: {said}", file.display()));
        }
    }
    if matches!(fate, Fate::Harmless | Fate::Repaired) {
        node.check();
        assert!(exported(node.store()) == log, "{} at {at}: the events differ", file.display());
        node.stop();
    }
    node.settings.store = whole;
    fate
}

/// What is done to the files of a database, in words and in deed.
type Damage<'a> = (&'a str, &'a dyn Fn(&Path));

/// The sorted files and the logs of writes of a store.
fn contents(store: &Path) -> BTreeMap<PathBuf, blake3::Hash> {
    let all = fs::read_dir(store.join("db")).expect("files").map(|entry| entry.expect("a file").path());
    all.filter(|path| path.extension().is_some_and(|e| e == "sst" || e == "log"))
        .map(|path| (path.clone(), blake3::hash(&fs::read(&path).expect("readable"))))
        .collect()
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
    let first: Vec<&Fate> = fates.iter().step_by(3).collect();
    assert!(!first.contains(&&Fate::Harmless), "{fates:?}");
    // The sequence alone cannot be made again.
    assert!(first.contains(&&Fate::Rescued) && first.contains(&&Fate::Repaired), "{fates:?}");
}

#[test]
fn what_cannot_be_read_whole_is_left_as_it_is() {
    let (mut node, _) = stopped("damaged_left", 63);
    let whole = node.settings.store.clone();
    let log = files(&node, "log").last().expect("a log of writes").file_name().expect("a name").to_owned();
    let manifest = fs::read_to_string(whole.join("db/CURRENT")).expect("a name");
    let remove = |file: PathBuf| fs::remove_file(file).expect("there");
    let flip = |file: PathBuf| {
        let mut bytes = fs::read(&file).expect("readable");
        let at = bytes.len() / 4;
        bytes[at] ^= 1;
        fs::write(file, bytes).expect("written");
    };
    let damages: [Damage<'_>; 4] = [
        ("a bit of the log of writes", &|db| flip(db.join(&log))),
        ("no log of writes", &|db| remove(db.join(&log))),
        ("no CURRENT", &|db| remove(db.join("CURRENT"))),
        ("no MANIFEST", &|db| remove(db.join(manifest.trim()))),
    ];
    for (what, damage) in damages {
        let home = node.dir.join("home");
        copy(&whole, &home.join("store"));
        damage(&home.join("store/db"));
        let before = contents(&home.join("store"));
        node.settings.store = home.join("store");
        // The second time as well: systemd starts it again.
        for _ in 0..2 {
            let why = node.start().expect_err(what).to_string();
            assert!(why.contains("damaged"), "{what}: {why}");
            let (said, well) = doctor(&home, &["--dry-run"]);
            assert!(said.contains("damaged") && !well, "{what}: {said}");
        }
        assert!(before.len() > 2 && contents(&home.join("store")) == before, "{what}: files were changed");
    }
}

#[test]
fn a_repair_that_was_broken_off_is_finished_before_anything_is_written() {
    let (mut node, log) = stopped("damaged_half", 65);
    let home = node.dir.join("home");
    copy(&node.settings.store, &home.join("store"));
    node.settings.store = home.join("store");
    let mut store = Store::open(&node.settings.store, Sizes::default()).expect("whole");
    store.throw_away(Part::Places).expect("written");
    let store = Arc::new(store);
    assert!(Appender::new(store.clone()).is_err(), "what is held would be taken in again");
    drop(store);
    let why = node.start().expect_err("half of it").to_string();
    assert!(why.contains("a repair was broken off"), "{why}");
    let (said, well) = doctor(&home, &["--dry-run"]);
    assert!(said.contains("do not follow from it") && said.contains("not compared") && !well, "{said}");
    let (said, well) = doctor(&home, &["--repair"]);
    assert!(well, "{said}");
    node.start().expect("it is whole again");
    node.check();
    assert!(exported(node.store()) == log);
    node.stop();
}

#[test]
fn a_copy_has_an_id_of_its_own() {
    let (node, _) = stopped("copied", 64);
    let store = Store::open(&node.settings.store, Sizes::default()).expect("whole");
    let to = node.dir.join("copy");
    store.checkpoint(&to).expect("room");
    let first = Store::open(&to, Sizes::default()).expect("whole").id();
    assert_ne!(first, store.id(), "a cursor of the original would pass over what the copy takes in");
    assert_eq!(Store::open(&to, Sizes::default()).expect("whole").id(), first);
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
