//! `browse` on a large network beside a small one, in the same run: `cargo bench --bench browse -- [POSTS]`.
//!
//! Two nodes on stores of generated posts with as many other events, as they are after a start; one client of
//! each, over a connection that it keeps, and requests of both in turn. Prints figures and ratios; judges nothing.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{ms, quantile, resident};
use wats_api::client::{Client, Node as Address, path};
use wats_config::Config;
use wats_event::{Rules, parse};
use wats_generate::{Generator, Plan, Said};
use wats_node::Node;
use wats_store::{Appender, Sizes, Store};

/// The small network, in posts.
const SMALL: u64 = 10_000;
/// How often each request is made.
const ROUNDS: usize = 200;
/// Events of one sync.
const BATCH: u64 = 10_000;

fn main() {
    let posts = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(200_000);
    let directory = std::env::temp_dir().join(format!("wats-browse-{}", std::process::id()));
    let nodes = [SMALL, posts].map(|posts| start(&directory.join(posts.to_string()), posts));
    quiet();
    let mut sides = nodes.map(|node| {
        let client = Client::connect(Address::Address(node.address())).expect("it listens");
        Side { node, client }
    });
    let kinds = sides.each_mut().map(|side| requests(&mut side.client));
    let mut all = [Vec::new(), Vec::new()];
    println!("medians and 99th percentiles in ms  pages    {SMALL} posts     {posts} posts");
    for (small, large) in kinds[0].iter().zip(&kinds[1]) {
        let mut times = [Vec::new(), Vec::new()];
        let most = small.1.len().max(large.1.len());
        // In turn, so that what else the machine does falls on both.
        for at in 0..ROUNDS * most {
            for (n, paths) in [&small.1, &large.1].into_iter().enumerate() {
                times[n].push(sides[n].time(&paths[at % paths.len()]));
            }
        }
        let [a, b] = times.each_mut().map(|times| (ms(quantile(times, 50)), ms(quantile(times, 99))));
        println!("  {:<32} {most:>6} {:>8} {:>8} {:>8} {:>8}", small.0, a.0, a.1, b.0, b.1);
        all.iter_mut().zip(times).for_each(|(all, times)| all.extend(times));
    }
    for (what, at) in [("p50", 50), ("p99", 99)] {
        let [small, large] = all.each_mut().map(|times| quantile(times, at));
        let ratio = large.as_secs_f64() / small.as_secs_f64();
        println!("{what}: {} against {} ms = {ratio:.2} (limit 2 for p99)", ms(large), ms(small));
    }
    sides.into_iter().for_each(|side| side.node.stop().expect("it stops"));
    let _ = std::fs::remove_dir_all(&directory);
}

/// A node with so many posts, and a connection to it.
struct Side {
    node: Node,
    client: Client,
}

/// A store of so many posts, and as many other events.
fn fill(directory: &Path, posts: u64) -> Config {
    let plan = Plan { events: 2 * posts, posts: Some(posts), signed: false, ..Plan::default() };
    let store = Arc::new(Store::open(&directory.join("store"), Sizes::default()).expect("a store"));
    let mut appender = Appender::new(store).expect("a store");
    for record in Generator::new(&plan) {
        if let Said::Event(text) = &record.said {
            let event = parse(text.as_bytes(), &Rules::any()).expect("a generated event");
            appender.event(&event, record.received_at, text).expect("a store");
        }
        if appender.pending() >= BATCH {
            appender.commit().expect("a store");
        }
    }
    appender.commit().expect("a store");
    Config::parse(&plan.config(), "generated").expect("the generator's configuration")
}

impl Side {
    fn time(&mut self, path: &str) -> Duration {
        let began = Instant::now();
        self.client.get(path).expect("an answer");
        began.elapsed()
    }
}

/// A node with so many posts.
fn start(directory: &Path, posts: u64) -> Node {
    let config = fill(directory, posts);
    let before = resident();
    let began = Instant::now();
    let settings = support::settings(directory, config, support::unhurried());
    let node = Node::start(settings).expect("the node starts");
    node.wait_ready().expect("its own store");
    println!(
        "{posts} posts, {} events: ready in {:.1} s, {} MiB resident more",
        2 * posts,
        began.elapsed().as_secs_f64(),
        resident().saturating_sub(before) >> 20
    );
    node
}

/// Pages as an agent reads them: the first, some further, and what is under some of their groups.
fn requests(client: &mut Client) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for by in ["tag", "thread", "title", "time"] {
        let (pages, names) = pages(client, by, None);
        all.push((format!("by {by}"), pages));
        let mut under = Vec::new();
        for name in names.iter().take(4) {
            under.extend(self::pages(client, by, Some(name)).0);
        }
        all.push((format!("by {by}, under one"), under));
    }
    all
}

/// Up to three pages, and what their groups are called.
fn pages(client: &mut Client, by: &str, under: Option<&str>) -> (Vec<String>, Vec<String>) {
    let (mut pages, mut names, mut cursor) = (Vec::new(), Vec::new(), None);
    while pages.len() < 3 {
        let query = [
            ("network", Some("main".to_owned())),
            ("by", Some(by.to_owned())),
            ("under", under.map(str::to_owned)),
            ("cursor", cursor.take()),
        ];
        pages.push(path("/v1/browse", &query));
        let page = client.get(&pages[pages.len() - 1]).expect("an answer");
        for group in page["groups"].as_array().into_iter().flatten() {
            names.extend(group["name"].as_str().or(group["thread"].as_str()).map(str::to_owned));
        }
        match page["cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    (pages, names)
}

/// Waits until the process has nothing to do: the search index follows the store after a start.
fn quiet() {
    let used = || -> u64 {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum()
    };
    loop {
        let before = used();
        std::thread::sleep(Duration::from_secs(2));
        // Hundredths of a second.
        if used() - before < 5 {
            return;
        }
    }
}
