//! Blobs under `kill -9` and power cuts, while they come and go: nothing acknowledged is lost unless it
//! was evicted, and no half or dangling one is ever left.

use super::dice::Dice;
use super::http::{get, try_call};
use super::kill::{prepare, rounds};
use super::node::{open, scratch};
use super::power::{cut, library, note};
use super::process::Process;
use super::views::check_views;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use wats::doctor::{Mode, State, blobs};
use wats_api::client::{Client, Node};
use wats_config::Config;
use wats_event::Hex32;
use wats_model::ids::Millis;

/// Blobs of a round.
const ROUND: u64 = 60;

fn content(n: u64) -> Vec<u8> {
    let mut all = vec![0; 1 + (n as usize * 7919) % 400_000];
    blake3::Hasher::new().update(&n.to_le_bytes()).finalize_xof().fill(&mut all);
    all
}

fn hash(bytes: &[u8]) -> Hex32 {
    Hex32(*blake3::hash(bytes).as_bytes())
}

fn path(blob: Hex32) -> String {
    format!("/v1/blobs/{blob}")
}

/// Uploads until the end or until the node is gone; what was acknowledged.
fn upload(process: &Process, from: u64, held: &Mutex<BTreeSet<u64>>) {
    for n in from..from + ROUND / 2 {
        let sent = content(n);
        // Some come in two requests.
        let cut = if n % 3 == 0 { sent.len() / 2 } else { 0 };
        for (a, b) in [(0, cut), (cut, sent.len())] {
            if a == b {
                continue;
            }
            let range = format!("bytes {a}-{}/{}", b - 1, sent.len());
            let headers = [("Content-Range", &*range)];
            let Ok(answer) = try_call(process.address, "PUT", &path(hash(&sent)), &headers, &sent[a..b])
            else {
                return;
            };
            if matches!(answer.status, 200 | 201) {
                held.lock().expect("a set").insert(n);
            }
        }
    }
}

/// Loads a node, and kills it in the middle; in every other round it evicts all the while.
fn load_and_kill(process: &mut Process, round: u64, dice: &mut Dice<'_>, held: &Mutex<BTreeSet<u64>>) {
    let moment = Duration::from_micros(dice.below(400_000) as u64);
    let socket = process.dir.join("wats.sock");
    thread::scope(|scope| {
        let process = &*process;
        for half in 0..2 {
            let from = round * ROUND + half * ROUND / 2;
            scope.spawn(move || upload(process, from, held));
        }
        if evicts(round) {
            scope.spawn(move || {
                let Ok(mut owner) = Client::connect(Node::Socket(socket)) else { return };
                while owner.post("/admin/evict", &serde_json::json!({})).is_ok() {}
            });
        }
        thread::sleep(moment);
        process.signal_kill();
    });
    process.kill();
}

fn evicts(round: u64) -> bool {
    round % 2 == 1
}

/// What the crash left, before and after a node has started on it.
fn check(dir: &Path, config: &Config, held: &BTreeSet<u64>, round: u64) {
    let store = Arc::new(open(&dir.join("store")));
    check_views(&store, config).unwrap_or_else(|why| panic!("round {round}: {why}"));
    for n in held {
        let blob = hash(&content(*n));
        let present = store.blob(blob).expect("readable").is_some_and(|at| at.present);
        assert!(present || evicts(round), "round {round}: {blob} was acknowledged and is lost");
        let whole = store.blob_files().is_whole(blob).expect("readable");
        assert!(whole || !present, "round {round}: {blob} is said to be held, and has no whole file");
    }
    drop(store);
    let process = Process::start(dir, &[]);
    for n in held {
        let sent = content(*n);
        let answer = get(process.address, &path(hash(&sent)));
        match answer.status {
            200 => assert!(answer.body == sent, "round {round}"),
            404 if evicts(round) => {}
            other => panic!("round {round}: {other}"),
        }
    }
    process.stop();
    let store = Arc::new(open(&dir.join("store")));
    let found = blobs(&store, Millis(u64::MAX >> 1), Mode::Look).expect("readable");
    assert!(found.iter().all(|finding| finding.state == State::Good), "round {round}: {found:?}");
}

fn prepared(name: &str) -> (std::path::PathBuf, Config) {
    let dir = scratch(name);
    let file = dir.join("wats.toml");
    prepare(&dir, 61, 1);
    let text = std::fs::read_to_string(&file).expect("a configuration");
    let text = text.replace("[limits]", "[storage]\nlow_water = 1000000\n\n[limits]");
    std::fs::write(&file, &text).expect("a configuration");
    (dir, Config::parse(&text, "wats.toml").expect("a configuration"))
}

#[test]
fn no_half_and_no_dangling_blob_is_left_when_it_is_killed() {
    let (dir, config) = prepared("blobs_killed");
    let (mut dice, mut acknowledged) = (Dice::new(61), 0);
    for round in 0..rounds(8) as u64 {
        let held = Mutex::default();
        let mut process = Process::start(&dir, &[]);
        load_and_kill(&mut process, round, &mut dice, &held);
        let held = held.into_inner().expect("a set");
        acknowledged += held.len();
        check(&dir, &config, &held, round);
    }
    assert!(acknowledged > 20, "{acknowledged}");
    println!("{acknowledged} blobs acknowledged");
}

#[test]
fn no_half_and_no_dangling_blob_is_left_when_unsynced_writes_are_lost() {
    let (dir, config) = prepared("blobs_power");
    let library = library(&dir).expect("`cc` makes the library");
    let notes = dir.join("synced");
    let (mut dice, mut acknowledged, mut lost) = (Dice::new(62), 0, 0);
    for round in 0..rounds(8) as u64 {
        note(&dir, &notes);
        let held = Mutex::default();
        let mut process = Process::start(&dir, &[("LD_PRELOAD", &library), ("WATS_SYNCED", &notes)]);
        load_and_kill(&mut process, round, &mut dice, &held);
        lost += cut(&dir, &notes, &mut dice);
        let held = held.into_inner().expect("a set");
        acknowledged += held.len();
        check(&dir, &config, &held, round);
    }
    assert!(acknowledged > 20 && lost > 0, "{acknowledged} acknowledged, {lost} bytes lost");
    println!("{acknowledged} blobs acknowledged, {lost} unsynced bytes lost");
}
