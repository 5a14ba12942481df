//! How time and memory divide over processes and workers: `cargo bench --bench cluster -- [EVENTS]`.
//!
//! The same log through `wats replay`, signatures skipped, in one and two processes of one and two
//! workers on this machine: time until the last one ends, and processor time and the peak of memory
//! of each.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod support;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use wats_generate::{Generator, Plan};

fn main() {
    let events = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(200_000);
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cluster_bench");
    fs::create_dir_all(&dir).expect("a directory");
    let plan = Plan { events, signed: false, ..Plan::default() };
    let mut log = File::create(dir.join("log.jsonl")).expect("a file");
    std::io::copy(&mut Generator::new(&plan).lines(), &mut log).expect("room for a log");
    fs::write(dir.join("wats.toml"), plan.config()).expect("a file");
    println!("{events} events");
    println!(
        "{:<22} {:>8} {:>6}   processor s     peak MiB, of each process",
        "processes x workers", "s", "ratio"
    );
    let mut alone = None;
    let mut first = None;
    for (processes, workers) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
        let run = run(&dir, processes, workers);
        let ratio = run.took.as_secs_f64() / alone.get_or_insert(run.took).as_secs_f64();
        println!(
            "{:<22} {:>8.2} {ratio:>6.2}   {:<15} {}",
            format!("{processes} x {workers}"),
            run.took.as_secs_f64(),
            added(run.used.iter().map(|ticks| *ticks as f64 / TICKS), 1),
            added(run.peaks.iter().map(|peak| (*peak >> 10) as f64), 0),
        );
        assert!(*first.get_or_insert(run.shown.clone()) == run.shown, "the answer is the same");
    }
    // It is only in the way.
    let _ = fs::remove_dir_all(&dir);
}

/// What each has, and all together.
fn added(each: impl Iterator<Item = f64>, digits: usize) -> String {
    let each: Vec<f64> = each.collect();
    let text: Vec<String> = each.iter().map(|n| format!("{n:.digits$}")).collect();
    match text.as_slice() {
        [one] => one.clone(),
        _ => format!("{} = {:.digits$}", text.join(" + "), each.iter().sum::<f64>()),
    }
}

/// The system's clock ticks in a second, in which it counts processor time.
const TICKS: f64 = 100.0;

struct Run {
    took: Duration,
    /// The processor time of each process, in clock ticks.
    used: Vec<u64>,
    /// The most resident memory of each process, in KiB.
    peaks: Vec<u64>,
    shown: Vec<u8>,
}

fn run(dir: &Path, processes: usize, workers: usize) -> Run {
    let begun = Instant::now();
    let mut children: Vec<Child> =
        (0..processes).map(|process| start(dir, processes, process, workers)).collect();
    let (mut peaks, mut used) = (vec![0; processes], vec![0; processes]);
    let mut running = processes;
    while running > 0 {
        running = 0;
        for ((child, peak), used) in children.iter_mut().zip(&mut peaks).zip(&mut used) {
            *peak = peak_of(child).unwrap_or_default().max(*peak);
            *used = used_by(child).unwrap_or_default().max(*used);
            match child.try_wait().expect("a child") {
                Some(status) => assert!(status.success(), "wats replays"),
                None => running += 1,
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let took = begun.elapsed();
    Run { took, used, peaks, shown: fs::read(dir.join("0.json")).expect("an answer") }
}

fn start(dir: &Path, processes: usize, process: usize, workers: usize) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wats"));
    command.args(["replay", "log.jsonl", "--config", "wats.toml", "--json", "--skip-signatures"]);
    command.args(["--workers", &workers.to_string()]);
    if processes > 1 {
        command.args(["--processes", &processes.to_string(), "--process", &process.to_string()]);
    }
    let shown = File::create(dir.join(format!("{process}.json"))).expect("a file");
    command.current_dir(dir).stdin(Stdio::null()).stdout(shown).spawn().expect("wats starts")
}

/// The processor time that a process has used, in clock ticks, where the system tells.
fn used_by(child: &Child) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // The name, in parentheses, may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let times = fields.split_whitespace().skip(11).take(2);
    times.map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// The most memory that a process has had resident, in KiB, where the system tells.
fn peak_of(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
