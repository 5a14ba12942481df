//! Memory of a node that is flooded: `cargo bench --bench siege -- [--seconds N]`.
//!
//! A real node with its default limits, and clients that send as fast as they are answered: copies of
//! what is held, broken signatures, garbage, posts by fresh keys, and the same keys changing their
//! minds on the same posts. What is held grows by what is accepted, so the figure to look at is the
//! memory an event; all else must cost nothing that lasts. Prints a table; judges nothing.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod support;

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::resident;
use wats_api::client::{Client, Node as Address};
use wats_config::Config;
use wats_config::Limits;
use wats_event::{Secret, sign};
use wats_generate::{Generator, Plan};
use wats_model::clock::Clock;
use wats_node::Node;

/// Events that are held before.
const EVENTS: u64 = 50_000;
/// Lines of a request.
const LINES: usize = 200;
/// Clients.
const CLIENTS: u64 = 4;
/// How often memory is looked at.
const LOOKS: u32 = 12;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let seconds =
        args.iter().position(|arg| arg == "--seconds").and_then(|at| args.get(at + 1)?.parse().ok());
    let length = Duration::from_secs(seconds.unwrap_or(60));
    let plan = Plan { events: EVENTS, ..Plan::default() };
    let lines = BufReader::new(Generator::new(&plan).lines()).lines();
    let log: Vec<String> = lines.collect::<Result<_, _>>().expect("generated");
    let directory = std::env::temp_dir().join(format!("wats-siege-{}", std::process::id()));
    let before = resident();
    let node = start(&directory, &plan);
    let mut client = Client::connect(Address::Socket(node.socket().to_owned())).expect("it listens");
    for some in log.chunks(1_000) {
        client.lines("/admin/import", some.join("\n").into_bytes()).expect("the node answers");
    }
    let flood = Flood { log, posts: posts(&node), over: AtomicBool::new(false), sent: AtomicU64::new(0) };
    println!("{EVENTS} events held; {CLIENTS} clients flood for {length:?}");
    println!("{:>8} {:>12} {:>12} {:>10} {:>16}", "s", "lines sent", "events held", "MiB", "bytes an event");
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (flood, node) = (&flood, &node);
            scope.spawn(move || flood.send(node, client));
        }
        let began = Instant::now();
        for look in 1..=LOOKS {
            std::thread::sleep((length * look / LOOKS).saturating_sub(began.elapsed()));
            let held = node.core().durable.load(Ordering::Relaxed);
            let (used, sent) = (resident() - before, flood.sent.load(Ordering::Relaxed));
            let elapsed = began.elapsed().as_secs();
            println!("{elapsed:>8} {sent:>12} {held:>12} {:>10} {:>16}", used >> 20, used / held.max(1));
        }
        flood.over.store(true, Ordering::Relaxed);
    });
    node.stop().expect("it stops");
    std::fs::remove_dir_all(&directory).expect("the bench's own directory");
}

fn start(directory: &std::path::Path, plan: &Plan) -> Node {
    let settings = support::settings(
        directory,
        Config::parse(&plan.config(), "generated").expect("the generator's configuration"),
        Limits::default(),
    );
    let node = Node::start(settings).expect("the node starts");
    node.wait_ready().expect("an empty store");
    node
}

fn posts(node: &Node) -> Vec<String> {
    let posts = node.core().store.read().posts("main").expect("the store reads");
    posts.iter().take(1_000).map(|(id, _)| id.to_string()).collect()
}

struct Flood {
    log: Vec<String>,
    posts: Vec<String>,
    over: AtomicBool,
    sent: AtomicU64,
}

impl Flood {
    fn send(&self, node: &Node, client: u64) {
        let mut connection = Client::connect(Address::Address(node.address())).expect("it listens");
        for round in 0u64.. {
            if self.over.load(Ordering::Relaxed) {
                return;
            }
            let first = (round * CLIENTS + client) * LINES as u64;
            let lines: Vec<String> = (first..first + LINES as u64).map(|n| self.line(n)).collect();
            match connection.lines("/v1/events", lines.join("\n").into_bytes()) {
                Ok(_) => self.sent.fetch_add(LINES as u64, Ordering::Relaxed),
                // What it cannot take it refuses, and closes: the flood goes on.
                Err(_) => match Client::connect(Address::Address(node.address())) {
                    Ok(again) => {
                        connection = again;
                        continue;
                    }
                    Err(_) => return,
                },
            };
        }
    }

    fn line(&self, n: u64) -> String {
        let held = &self.log[n as usize % self.log.len()];
        match n % 20 {
            0..8 => held.clone(),
            8..12 => broken(held),
            12..14 => "{\"garbage\":".repeat(1 + n as usize % 40),
            14..15 => {
                said(n | 1 << 40, format!(r#""kind":"post","data":{{"text":"post {n} of a fresh key"}}"#))
            }
            _ => {
                let key = n % 200;
                let on = &self.posts[(key * 7) as usize % self.posts.len()];
                let value = if n.is_multiple_of(3) { -1 } else { 1 };
                said(
                    key,
                    format!(
                        r#""kind":"react","parent":"{on}","data":{{"value":{value},"evidence":"run {n}"}}"#
                    ),
                )
            }
        }
    }
}

/// The line with another signature, which is well-formed and not of this event.
fn broken(line: &str) -> String {
    let Ok(mut record) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
    let event = if record["event"].is_object() { &mut record["event"] } else { &mut record };
    if let Some(sig) = event["sig"].as_str() {
        let turned: String = sig[64..].chars().chain(sig[..64].chars()).collect();
        event["sig"] = Value::String(turned);
    }
    record.to_string()
}

fn said(key: u64, rest: String) -> String {
    let mut seed = [7; 32];
    seed[..8].copy_from_slice(&key.to_le_bytes());
    let now = Clock::Wall.now().0;
    let draft = format!(r#"{{"net":"main","created_at":{now},{rest}}}"#);
    sign(&Secret::from_seed(seed), draft.as_bytes()).expect("an event")
}
