//! `kill -9` at random moments under load.

use super::dice::Dice;
use super::http::{LINES, try_call};
use super::node::{generated, open, scratch};
use super::process::Process;
use super::views::check_views;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;
use wats_config::Config;
use wats_event::Hex32;

/// How many rounds: more in a long test.
pub(crate) fn rounds(few: usize) -> usize {
    if std::env::var_os("WATS_LONG").is_some() { 10 * few } else { few }
}

/// Ids that were acknowledged.
pub(crate) type Acknowledged = Mutex<BTreeSet<Hex32>>;

/// Events of a round.
pub(crate) const ROUND: usize = 240;

/// Writes the configuration of a generated log, with a store that writes files all the time; its events.
pub(crate) fn prepare(dir: &Path, seed: u64, rounds: usize) -> (Config, Vec<String>) {
    let (plan, events) = generated(seed, (rounds * ROUND) as u64);
    let text = format!(
        "{}\n[node]\nwrite_buffer_bytes = 1048576\n\n[limits]\nsource_per_second = 0\nkey_per_second = 0\nmin_free_disk = 0\n",
        plan.config()
    );
    std::fs::write(dir.join("wats.toml"), &text).expect("a configuration");
    (Config::parse(&text, "wats.toml").expect("a configuration"), events)
}

/// Sends events a few at a time, until they end or the node does.
pub(crate) fn send(to: SocketAddr, events: &[String], seed: u64, acknowledged: &Acknowledged) {
    let mut dice = Dice::new(seed);
    let mut left = events;
    while !left.is_empty() {
        let (some, rest) = left.split_at((1 + dice.below(30)).min(left.len()));
        let Ok(answer) = try_call(to, "POST", "/v1/events", &[LINES], some.join("\n").as_bytes()) else {
            return;
        };
        // An answer that was cut off has no whole last line.
        let lines = String::from_utf8_lossy(&answer.body).into_owned();
        let told = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let held = told.filter(|line| line["outcome"] == "accepted" || line["outcome"] == "duplicate");
        let ids = held.filter_map(|line| Hex32::parse(line["id"].as_str()?));
        acknowledged.lock().expect("a set").extend(ids);
        left = rest;
    }
}

/// Loads a node from three clients and kills it in the middle.
pub(crate) fn load_and_kill(
    process: &mut Process,
    events: &[String],
    dice: &mut Dice<'_>,
    acknowledged: &Acknowledged,
) {
    let (to, seeds) = (process.address, [dice.roll(), dice.roll(), dice.roll()]);
    let moment = Duration::from_micros(dice.below(120_000) as u64);
    thread::scope(|scope| {
        // The same event may come from two of them.
        let share = events.len() / 3;
        for (client, seed) in seeds.into_iter().enumerate() {
            let from = (client * share).saturating_sub(share / 5);
            let part = &events[from..((client + 1) * share).min(events.len())];
            scope.spawn(move || send(to, part, seed, acknowledged));
        }
        thread::sleep(moment);
        process.kill();
    });
}

/// Whether a store that nobody runs on holds what was acknowledged, and shows whole ticks.
pub(crate) fn check(dir: &Path, config: &Config, acknowledged: &Acknowledged, round: usize) {
    let store = open(&dir.join("store"));
    for id in acknowledged.lock().expect("a set").iter() {
        assert!(
            store.event(*id).expect("readable").is_some(),
            "round {round}: {id} was acknowledged and is lost"
        );
    }
    check_views(&store, config).unwrap_or_else(|why| panic!("round {round}: {why}"));
}

/// The same after a node has run on it and stopped: the views are of the last record.
pub(crate) fn check_whole(dir: &Path, config: &Config, acknowledged: &Acknowledged) {
    Process::start(dir, &[]).stop();
    check(dir, config, acknowledged, usize::MAX);
    let store = open(&dir.join("store"));
    let ticked = store.read().ticked().expect("a tick");
    assert_eq!(ticked.through, store.last().expect("a sequence"));
}

#[test]
fn nothing_acknowledged_is_lost_when_it_is_killed() {
    let (dir, rounds) = (scratch("kill"), rounds(20));
    let (config, events) = prepare(&dir, 51, rounds);
    let (mut dice, acknowledged) = (Dice::new(51), Acknowledged::default());
    for (round, events) in events.chunks(ROUND).enumerate() {
        if round % 3 == 1 {
            Process::kill_at_start(&dir, Duration::from_micros(dice.below(150_000) as u64));
        }
        let mut process = Process::start(&dir, &[]);
        load_and_kill(&mut process, events, &mut dice, &acknowledged);
        // Otherwise the node itself is the first to open what the crash left.
        if round % 2 == 0 {
            check(&dir, &config, &acknowledged, round);
        }
    }
    check_whole(&dir, &config, &acknowledged);
    let held = acknowledged.into_inner().expect("a set").len();
    assert!(held > rounds * ROUND / 10, "only {held} events were acknowledged");
    println!("{rounds} rounds, {held} of {} events acknowledged", events.len());
}
