//! `browse` on a large network beside a small one, in the same run: `cargo bench --bench browse -- [POSTS]`.
//!
//! A node on a store of generated posts with as many other events, as it is after a start; one client, over
//! a connection that it keeps. Prints figures and ratios; judges nothing.

mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::{ms, quantile, resident};
use wats::client::{Client, Node as Address, path};
use wats::config::Config;
use wats::event::{Rules, parse};
use wats::generate::{Generator, Plan, Said};
use wats::node::{Clock, Limits, Node, Settings};
use wats::store::{Appender, Sizes, Store};

/// The small network, in posts.
const SMALL: u64 = 10_000;
/// How often each request is made.
const ROUNDS: usize = 200;
/// Events of one sync.
const BATCH: u64 = 10_000;

fn main() {
    let posts = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(200_000);
    let directory = std::env::temp_dir().join(format!("wats-browse-{}", std::process::id()));
    let mut figures = Vec::new();
    for posts in [SMALL, posts] {
        // Left over from the size before, or not there.
        let _ = std::fs::remove_dir_all(&directory);
        figures.push(measure(&directory, posts));
    }
    for (what, at) in [("p50", 50), ("p99", 99)] {
        let [small, large] = [0, 1].map(|n: usize| quantile(&mut figures[n], at));
        let ratio = large.as_secs_f64() / small.as_secs_f64();
        println!(
            "{what} at {posts} posts against {SMALL}: {} / {} ms = {ratio:.2} (limit 2 for p99)",
            ms(large),
            ms(small)
        );
    }
    let _ = std::fs::remove_dir_all(&directory);
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

/// The times of all requests on so many posts.
fn measure(directory: &Path, posts: u64) -> Vec<Duration> {
    let config = fill(directory, posts);
    let before = resident();
    let began = Instant::now();
    let node = Node::start(Settings {
        store: directory.join("store"),
        index: directory.join("index"),
        config,
        listen: "127.0.0.1:0".parse().expect("an address"),
        socket: directory.join("wats.sock"),
        token: None,
        limits: Limits { source_per_second: 0, key_per_second: 0, ..Limits::default() },
        workers: 1,
        sizes: Sizes::default(),
        clock: Clock::Wall,
        profiles: Vec::new(),
    })
    .expect("the node starts");
    node.wait_ready().expect("its own store");
    println!(
        "{posts} posts, {} events: ready in {:.1} s, {} MiB resident more",
        2 * posts,
        began.elapsed().as_secs_f64(),
        resident().saturating_sub(before) >> 20
    );
    quiet();
    let mut client = Client::connect(Address::Address(node.address())).expect("it listens");
    let requests = requests(&mut client);
    let mut all = Vec::new();
    for (what, paths) in requests {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            for path in &paths {
                let began = Instant::now();
                client.get(path).expect("an answer");
                times.push(began.elapsed());
            }
        }
        let (p50, p99) = (quantile(&mut times, 50), quantile(&mut times, 99));
        println!("  {what:<32} {:>3} pages: p50 {:>8} ms, p99 {:>8} ms", paths.len(), ms(p50), ms(p99));
        all.append(&mut times);
    }
    drop(client);
    node.stop().expect("it stops");
    all
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
