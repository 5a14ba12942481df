//! A power cut: the node is killed, and of each file of its store and of the search index what
//! was not synced is lost, all of it or a part.
//!
//! A small library in front of the C library notes how long each file was when it was last synced
//! (`synced.c`); after the kill the files are cut. Entries of directories are taken to be on the disk
//! when the file was ever synced.

use super::dice::Dice;
use super::http::post;
use super::kill::{Acknowledged, ROUND, check, check_whole, load_and_kill, prepare, rounds, send};
use super::node::{open, scratch};
use super::process::Process;
use super::search::check_index;
use super::views::exported;
use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Compiles the library, where there is a compiler.
pub(crate) fn library(dir: &Path) -> Result<PathBuf, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crash/synced.c");
    let library = dir.join("synced.so");
    let mut compiler = Command::new("cc");
    let compiled = compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).arg("-ldl");
    let output = compiled.output().map_err(|e| format!("no C compiler: {e}"))?;
    match output.status.success() {
        true => Ok(library),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// The directories of a node that must bear a power cut: its store, with the blobs, and the search index.
fn directories(dir: &Path) -> Vec<PathBuf> {
    ["store", "index"].iter().flat_map(|name| within(&dir.join(name))).collect()
}

/// A directory, and all in it.
fn within(directory: &Path) -> Vec<PathBuf> {
    let mut all = vec![directory.to_owned()];
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(within(&path));
        }
    }
    all.sort_unstable();
    all
}

/// Cuts each file of a node's directory to what was synced, or to a little more. How many bytes are lost.
pub(crate) fn cut(dir: &Path, notes: &Path, dice: &mut Dice<'_>) -> u64 {
    let text = fs::read_to_string(notes).unwrap_or_default();
    let mut synced: HashMap<u64, u64> = HashMap::new();
    for line in text.lines() {
        let (inode, length) = line.split_once(' ').expect("a note");
        let (inode, length): (u64, u64) =
            (inode.parse().expect("a number"), length.parse().expect("a number"));
        let known = synced.entry(inode).or_default();
        *known = length.max(*known);
    }
    let mut lost = 0;
    for directory in directories(dir) {
        let entries = fs::read_dir(directory).into_iter().flatten();
        let mut files: Vec<PathBuf> = entries.map(|e| e.expect("a file").path()).collect();
        files.sort_unstable();
        for file in files.iter().filter(|file| file.is_file()) {
            let meta = fs::metadata(file).expect("a file");
            let safe = synced.get(&meta.ino()).copied().unwrap_or_default().min(meta.len());
            let beyond = meta.len() - safe;
            let kept = match dice.below(3) {
                0 if beyond > 0 => dice.below(beyond as usize) as u64,
                _ => 0,
            };
            lost += beyond - kept;
            if safe == 0 && kept == 0 && dice.below(2) == 0 {
                fs::remove_file(file).expect("removed");
            } else {
                let opened = OpenOptions::new().write(true).open(file).expect("a file");
                opened.set_len(safe + kept).expect("cut");
            }
        }
    }
    // A new file may get the inode of one that is gone.
    fs::remove_file(notes).expect("removed");
    lost
}

/// What is there before the node starts is on the disk.
pub(crate) fn note(dir: &Path, notes: &Path) {
    let mut text = String::new();
    for directory in directories(dir) {
        let Ok(files) = fs::read_dir(directory) else { continue };
        for meta in files.filter_map(|e| e.ok()?.metadata().ok()).filter(fs::Metadata::is_file) {
            text.push_str(&format!("{} {}\n", meta.ino(), meta.len()));
        }
    }
    fs::write(notes, text).expect("notes");
}

#[test]
fn nothing_acknowledged_is_lost_when_unsynced_writes_are() {
    let (dir, rounds) = (scratch("power"), rounds(20));
    let library = library(&dir).expect("`cc` makes the library");
    let (config, events) = prepare(&dir, 52, rounds);
    let notes = dir.join("synced");
    let (mut dice, acknowledged) = (Dice::new(52), Acknowledged::default());
    let mut lost = 0;
    for (round, events) in events.chunks(ROUND).enumerate() {
        note(&dir, &notes);
        let mut process = Process::start(&dir, &[("LD_PRELOAD", &library), ("WATS_SYNCED", &notes)]);
        load_and_kill(&mut process, events, &mut dice, &acknowledged);
        lost += cut(&dir, &notes, &mut dice);
        if round % 2 == 0 {
            check(&dir, &config, &acknowledged, round);
            check_index(&dir, &acknowledged, round);
        }
    }
    check_whole(&dir, &config, &acknowledged);
    check_index(&dir, &acknowledged, usize::MAX);
    let held = acknowledged.into_inner().expect("a set").len();
    assert!(lost > 0 && held > 0, "{lost} bytes were lost, {held} events acknowledged");
    println!("{rounds} rounds, {held} events acknowledged, {lost} unsynced bytes lost");
}

#[test]
fn a_sync_that_finds_no_space_leaves_no_second_copy() {
    let dir = scratch("no_space");
    let library = library(&dir).expect("`cc` makes the library");
    let (config, events) = prepare(&dir, 53, 1);
    let full = dir.join("full");
    let acknowledged = Acknowledged::default();
    for (round, events) in events.chunks(ROUND).enumerate() {
        let mut process = Process::start(&dir, &[("LD_PRELOAD", &library), ("WATS_NO_SPACE", &full)]);
        let (before, after) = events.split_at(ROUND / 2);
        send(process.address, before, 1, &acknowledged);
        let known = acknowledged.lock().expect("a set").len();
        fs::write(&full, "").expect("a file");
        send(process.address, after, 2, &acknowledged);
        assert_eq!(acknowledged.lock().expect("a set").len(), known, "nothing can be acknowledged");
        let refused = post(process.address, &after[0]);
        assert_eq!(refused.short(), (507, "disk_full".into()));
        fs::remove_file(&full).expect("space");
        // The same events again, until they are taken.
        let began = Instant::now();
        while !matches!(post(process.address, &after[0]).status, 200 | 201) {
            assert!(began.elapsed() < Duration::from_secs(90), "it does not recover");
            std::thread::sleep(Duration::from_millis(50));
        }
        send(process.address, after, 3, &acknowledged);
        process.kill();
        check(&dir, &config, &acknowledged, round);
        let store = open(&dir.join("store"));
        let log = exported(&store);
        let held = acknowledged.lock().expect("a set").len();
        assert_eq!(
            log.lines().filter(|line| line.contains("\"event\":")).count(),
            held,
            "an event is there twice"
        );
    }
    check_whole(&dir, &config, &acknowledged);
}
