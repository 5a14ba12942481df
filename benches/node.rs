//! The node as its clients meet it: `cargo bench --bench node -- [EVENTS]`.
//!
//! A real node on the loopback, with everything on, in this process; clients on threads of their own.
//! Prints a table of figures and ratios within this run; judges nothing.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod support;

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use support::{resident, settled};
use wats_api::client::{Client, Node as Address};
use wats_config::Config;
use wats_event::log::{Batches, Source, event_text};
use wats_event::{Event, Rules, Secret, Verifier, parse, sign};
use wats_generate::{Generator, Plan};
use wats_model::clock::Clock;
use wats_node::Node;

/// Lines of a request while loading.
const LINES: usize = 1_000;
/// Events a second then.
const RATE: usize = 1_000;
/// Lines at the end of the log that are not loaded, but come at that rate: records of blobs and copies are among them.
const TAIL: usize = 26_000;

fn main() {
    let events = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(100_000);
    let plan = Plan { events: events + TAIL as u64, ..Plan::default() };
    let directory = std::env::temp_dir().join(format!("wats-bench-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("room for temporary files");
    let log = directory.join("log.jsonl");
    let tail = write_log(&plan, &log).expect("room for the log");
    let one_core = verification(&log);
    let mut bench =
        Bench { directory: directory.clone(), config: plan.config(), one_core, import: Duration::ZERO };
    bench.load(&log, events);
    bench.restart_and_steady(events, &tail);
    std::fs::remove_dir_all(&directory).expect("the bench's own directory");
}

/// Writes the generated log, but for the events at its end.
fn write_log(plan: &Plan, log: &Path) -> io::Result<Vec<String>> {
    let mut file = BufWriter::new(File::create(log)?);
    let mut last = VecDeque::with_capacity(TAIL + 1);
    for line in BufReader::new(Generator::new(plan).lines()).lines() {
        last.push_back(line?);
        if last.len() > TAIL {
            writeln!(file, "{}", last.pop_front().unwrap_or_default())?;
        }
    }
    file.flush()?;
    Ok(last.iter().filter_map(|line| event_text(line).map(str::to_owned)).collect())
}

/// What one core verifies in batches of 64, a second.
fn verification(log: &Path) -> f64 {
    let lines = BufReader::new(File::open(log).expect("the log")).lines();
    let event =
        |line: io::Result<String>| parse(event_text(&line.expect("a line"))?.as_bytes(), &Rules::any()).ok();
    let events: Vec<Event> = lines.filter_map(event).take(8_192).collect();
    let began = Instant::now();
    let mut verifier = Verifier::new();
    let valid = events.chunks(64).flat_map(|batch| verifier.verify(&batch.iter().collect::<Vec<_>>()));
    assert!(valid.into_iter().all(|valid| valid), "generated events are signed");
    let rate = events.len() as f64 / began.elapsed().as_secs_f64();
    println!("{:<44} {rate:>10.0}/s", "one core verifies in batches of 64");
    rate
}

struct Bench {
    directory: PathBuf,
    config: String,
    one_core: f64,
    import: Duration,
}

impl Bench {
    fn start(&self) -> Node {
        let settings = support::settings(
            &self.directory,
            Config::parse(&self.config, "generated").expect("the generator's configuration"),
            support::unhurried(),
        );
        Node::start(settings).expect("the node starts")
    }

    /// Loads the log as `wats import` does, from one client.
    fn load(&mut self, log: &Path, events: u64) {
        let node = self.start();
        node.wait_ready().expect("an empty store");
        let began = Instant::now();
        let mut client = Client::connect(Address::Socket(node.socket().to_owned())).expect("it listens");
        let source = Source::open(log).expect("the log");
        for batch in Batches::new(source, LINES) {
            let lines: Vec<Vec<u8>> =
                batch.expect("a whole log").lines.into_iter().map(|(_, line)| line).collect();
            let outcomes = client.lines("/admin/import", lines.join(&b'\n')).expect("the node answers");
            let refused =
                outcomes.iter().filter(|o| o["outcome"] != "accepted" && o["outcome"] != "duplicate").count();
            assert_eq!(refused, 0, "{:?}", outcomes.first());
        }
        let durable = began.elapsed();
        wait_shown(&node);
        self.import = began.elapsed();
        rate("ingest to durable, from one client", events, durable, self.one_core);
        rate("ingest to visible", events, self.import, self.one_core);
        let at_once = resident() / events;
        println!(
            "{:<44} {:>10} bytes an event resident, {at_once} at once (limit 1,200)",
            "memory",
            settled() / events
        );
        node.stop().expect("it stops");
    }

    fn restart_and_steady(&self, events: u64, tail: &[String]) {
        let began = Instant::now();
        let node = self.start();
        node.wait_ready().expect("its own store");
        let took = began.elapsed();
        let ratio = self.import.as_secs_f64() / took.as_secs_f64();
        println!(
            "{:<44} {:>10.2} s = 1/{ratio:.1} of the first import (limit 1/5)",
            "restart to ready",
            took.as_secs_f64()
        );
        let secret = Secret::from_seed([9; 32]);
        let target = some_post(&node);
        let reacts: Vec<String> = (0..20 * RATE).map(|n| react(&secret, &target, n)).collect();
        steady(&node, &format!("of one key without weight on one post, on {events}"), &reacts);
        steady(&node, &format!("as they come in the log, on {events}"), tail);
        let began = Instant::now();
        node.stop().expect("it stops");
        println!("{:<44} {:>10.0} ms (limit 5 s)", "stop", began.elapsed().as_secs_f64() * 1e3);
    }
}

/// Events at a steady rate, sent by one thread whatever becomes of them; another looks when they can be seen. From
/// the acknowledgement of each request to the views of its last event.
fn steady(node: &Node, what: &str, events: &[String]) {
    node.core().metrics.longest_tick.set(0);
    let (told, acknowledgements) = channel();
    let mut visible = Vec::new();
    let (asked, sent) = thread::scope(|scope| {
        let sending = scope.spawn(move || send(node, events, &told));
        for (seq, held) in acknowledgements {
            while node.core().shown.load(Ordering::Acquire) < seq {
                thread::sleep(Duration::from_micros(200));
            }
            visible.push(Instant::now() - held);
        }
        sending.join().expect("it sends")
    });
    println!("{RATE} events a second {what}: {sent} sent in {} requests", asked.len());
    latency("  request to acknowledgement", asked);
    latency("  acknowledgement to view (limits 20, 150 ms)", visible);
    let longest = node.core().metrics.longest_tick.get();
    println!("{:<44} {longest:>10} ms (limit 250)", "  the longest tick");
}

/// Sends events when they are due; how long each request took, and how many events were sent.
fn send(node: &Node, events: &[String], told: &Sender<(u64, Instant)>) -> (Vec<Duration>, usize) {
    let mut client = Client::connect(Address::Address(node.address())).expect("it listens");
    let (mut asked, mut sent, began) = (Vec::new(), 0, Instant::now());
    while sent < events.len() {
        // What should have been sent by now goes out in one request: a burst of a few milliseconds.
        let due = ((began.elapsed().as_secs_f64() * RATE as f64) as usize).min(events.len());
        if due == sent {
            thread::sleep(Duration::from_micros(500));
            continue;
        }
        let lines = events[sent..due].join("\n");
        sent = due;
        let before = Instant::now();
        let outcomes = client.lines("/v1/events", lines.into_bytes()).expect("the node answers");
        let held = Instant::now();
        asked.push(held - before);
        let new = outcomes.iter().filter(|outcome| outcome["outcome"] == "accepted");
        if let Some(seq) = new.filter_map(|outcome| outcome["seq"].as_u64()).max() {
            told.send((seq, held)).expect("somebody looks");
        }
    }
    (asked, sent)
}

/// A post that many react to.
fn some_post(node: &Node) -> String {
    let reader = node.core().store.read();
    let posts = reader.posts("main").expect("the store reads");
    posts.iter().map(|(id, _)| id).min().expect("generated posts").to_string()
}

fn react(secret: &Secret, target: &str, n: usize) -> String {
    let now = Clock::Wall.now().0;
    let draft = format!(
        r#"{{"net":"main","kind":"react","created_at":{now},"parent":"{target}","data":{{"used":true,"evidence":"run {n}"}}}}"#
    );
    sign(secret, draft.as_bytes()).expect("an event")
}

fn wait_shown(node: &Node) {
    let core = node.core();
    while core.shown.load(Ordering::Acquire) < core.durable.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn rate(what: &str, events: u64, took: Duration, one_core: f64) {
    let rate = events as f64 / took.as_secs_f64();
    println!("{what:<44} {rate:>10.0}/s = {:.2} of what one core verifies (limit 0.4)", rate / one_core);
}

fn latency(what: &str, mut all: Vec<Duration>) {
    all.sort_unstable();
    let at = |share: f64| all[((all.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!("{what:<44} p50 {:>7.2} ms, p99 {:>7.2} ms, max {:>7.2} ms", at(0.5), at(0.99), at(1.0));
}
