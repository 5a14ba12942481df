//! What agents wait for: `cargo bench --bench agents -- [EVENTS]`.
//!
//! A real node on the loopback, in this process, with a generated log in it. Told are how soon what was
//! acknowledged is found and what the views say is shown by a search, what those cost who wait for nothing, and
//! whether waking one takes longer where many wait. Prints a table; judges nothing.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "../tests/support/http.rs"]
mod http;
mod support;

use http::{connect, get, head, post};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use support::{ms, process, processor, quantile};
use wats_config::Config;
use wats_event::{Secret, sign};
use wats_generate::{Generator, Plan};
use wats_model::clock::Clock;
use wats_node::Node;

/// How often each is measured.
const ROUNDS: u32 = 50;
/// How long those who wait for nothing are watched.
const IDLE: Duration = Duration::from_secs(20);
/// Before measuring, for what came before to be done with.
const REST: Duration = Duration::from_secs(3);
/// After so long what is waited for does not come.
const LONG: Duration = Duration::from_secs(60);
/// Between two looks.
const NAP: Duration = Duration::from_micros(500);

fn main() {
    let events = std::env::args().skip(1).find_map(|a| a.parse().ok()).unwrap_or(20_000);
    let plan = Plan { events, ..Plan::default() };
    let directory = std::env::temp_dir().join(format!("wats-agents-{}", std::process::id()));
    let bench = Bench {
        node: start(&plan, &directory),
        reader: plan.reader_key(),
        other: Secret::from_seed([9; 32]),
    };
    bench.load(&plan);
    bench.findable();
    bench.statuses();
    for waiters in [0, 1_000] {
        bench.idle(waiters);
    }
    let (few, many) = (bench.waking(10), bench.waking(1_000));
    println!(
        "{:<58} {:>8.2}",
        "waking one of 1,000 / of 10, medians",
        many.as_secs_f64() / few.as_secs_f64()
    );
    bench.node.stop().expect("it stops");
    std::fs::remove_dir_all(&directory).expect("the bench's own directory");
}

fn start(plan: &Plan, directory: &Path) -> Node {
    let settings = support::settings(
        directory,
        Config::parse(&plan.config(), "generated").expect("the generator's configuration"),
        support::unhurried(),
    );
    let node = Node::start(settings).expect("the node starts");
    node.wait_ready().expect("an empty store");
    node
}

struct Bench {
    node: Node,
    reader: Secret,
    other: Secret,
}

impl Bench {
    fn load(&self, plan: &Plan) {
        let mut log = Vec::new();
        Generator::new(plan).lines().read_to_end(&mut log).expect("memory");
        let client = wats_api::client::Node::Socket(self.node.socket().to_owned());
        let mut client = wats_api::client::Client::connect(client).expect("it listens");
        let lines: Vec<&[u8]> = log.split(|&b| b == b'\n').filter(|line| !line.is_empty()).collect();
        for some in lines.chunks(1_000) {
            client.lines("/admin/import", some.join(&b'\n')).expect("the node answers");
        }
        self.shown(u64::MAX);
        until("the index", || get(self.node.address(), "/readyz").json()["to_index"] == 0);
        std::thread::sleep(REST);
    }

    /// Waits until the views have taken in a place of the sequence, or all of it.
    fn shown(&self, seq: u64) {
        let core = self.node.core();
        let seq = seq.min(core.durable.load(Ordering::Acquire));
        until("the views", || core.shown.load(Ordering::Acquire) >= seq);
    }

    /// Says something; its id, and its place.
    fn say(&self, by: &Secret, mut event: Value) -> (String, u64) {
        event["net"] = "main".into();
        event["created_at"] = Clock::Wall.now().0.into();
        let text = sign(by, event.to_string().as_bytes()).expect("an event");
        let answer = post(self.node.address(), &text).json();
        (answer["id"].as_str().expect("accepted").to_owned(), answer["seq"].as_u64().expect("accepted"))
    }

    fn search(&self, word: &str) -> Value {
        let path = format!("/v1/search?network=main&include_low=true&q={word}");
        get(self.node.address(), &path).json()["hits"][0].clone()
    }

    /// From the acknowledgement of a post to the search that finds it.
    fn findable(&self) {
        let mut all = Vec::new();
        for n in 0..ROUNDS {
            self.say(&self.other, json!({ "kind": "post", "text": format!("findable{n}word") }));
            let began = Instant::now();
            until("the post", || self.search(&format!("findable{n}word")).is_object());
            all.push(began.elapsed());
            // Not in step with the commits of the index.
            std::thread::sleep(Duration::from_millis(u64::from(n * 7 % 100)));
        }
        row("an acknowledged post is found after (limit 1,000 ms)", &mut all);
    }

    /// From the view of a status to the search that shows it.
    fn statuses(&self) {
        let mut all = Vec::new();
        let word = |n| format!("standing{n}word");
        let posts: Vec<String> = (0..ROUNDS)
            .map(|n| self.say(&self.other, json!({ "kind": "post", "text": word(n) })).0)
            .collect();
        until("the posts", || self.search(&word(ROUNDS - 1)).is_object());
        for (n, post) in (0..ROUNDS).zip(posts) {
            assert_eq!(self.search(&word(n))["status"], "unverified");
            let data = json!({ "value": 1, "evidence": "ran it" });
            let (_, seq) = self.say(&self.reader, json!({ "kind": "react", "parent": post, "data": data }));
            self.shown(seq);
            let began = Instant::now();
            until("the status", || self.search(&word(n))["status"] == "confirmed");
            all.push(began.elapsed());
        }
        row("a changed view is shown by a search after (limit 100 ms)", &mut all);
    }

    /// So many who wait, each for something of its own.
    fn waiters(&self, count: usize) -> Vec<TcpStream> {
        let waiters = (0..count).map(|n| self.wait(n)).collect();
        until("those who wait", || self.node.core().waiters.count() == count);
        waiters
    }

    fn wait(&self, n: usize) -> TcpStream {
        let path = format!("/v1/wait?network=main&timeout=50&tag=waiter{n}");
        let mut stream = connect(self.node.address());
        stream.write_all(head("GET", &path, &[], 0).as_bytes()).expect("it listens");
        stream
    }

    /// What the whole process takes while nothing happens.
    fn idle(&self, count: usize) {
        let waiters = self.waiters(count);
        std::thread::sleep(REST);
        let (began, before) = (Instant::now(), process());
        std::thread::sleep(IDLE);
        let share = (process() - before).as_secs_f64() / began.elapsed().as_secs_f64();
        assert_eq!(self.node.core().waiters.count(), count, "all of them waited to the end");
        println!(
            "{:<58} {:>8.3} % of a core (limit 1)",
            format!("{count} who wait for nothing"),
            share * 100.0
        );
        drop(waiters);
        until("nobody", || self.node.core().waiters.count() == 0);
    }

    /// From sending an event to its being told to the one, of so many, who waits for it.
    fn waking(&self, count: usize) -> Duration {
        let mut waiters = self.waiters(count);
        let (mut all, telling) = (Vec::new(), processor("wats-tell"));
        for n in 0..ROUNDS {
            let told = waiters.swap_remove(0);
            let event = json!({ "kind": "post", "text": format!("{count} {n}"), "tags": ["waiter0"] });
            let began = Instant::now();
            self.say(&self.other, event);
            let answer = http::answer(told).expect("it is told").json();
            all.push(began.elapsed());
            assert_eq!(answer["events"].as_array().map(Vec::len), Some(1));
            waiters.insert(0, self.wait(0));
            until("those who wait", || self.node.core().waiters.count() == count);
        }
        let telling = (processor("wats-tell") - telling) / ROUNDS;
        row(&format!("waking one of {count}: an event is told after"), &mut all);
        println!("{:<58} {:>8} ms", "  of the thread that tells, for each event", ms(telling));
        drop(waiters);
        until("nobody", || self.node.core().waiters.count() == 0);
        quantile(&mut all, 50)
    }
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LONG, "{what}: still to come");
        std::thread::sleep(NAP);
    }
}

fn row(what: &str, all: &mut [Duration]) {
    let [half, most, longest] = [50, 99, 100].map(|percent| ms(quantile(all, percent)));
    println!("{what:<58} p50 {half:>8} ms, p99 {most:>8} ms, max {longest:>8} ms");
}
