//! What a pass costs, whatever is held: `cargo bench --bench evict -- [BLOBS…]`.
//!
//! A real node on stores of 10,000, 100,000 and 1,000,000 blobs, of which passes of several sizes are
//! asked for. Files are hard links to a few, so that the disk is not what is measured. Prints times of a
//! pass and of one blob in it, and how they compare with the smallest store; judges nothing.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod support;

use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::resident;
use wats_api::client::{Client, Node as Address};
use wats_config::Config;
use wats_config::Limits;
use wats_event::Hex32;
use wats_model::ids::Millis;
use wats_node::Node;
use wats_store::{Appender, Sizes, Store};

/// Bytes of each blob.
const SIZE: u64 = 1_000;
/// Names of one file: file systems have a limit.
const LINKS: usize = 30_000;
/// Blobs of a pass.
const PASSES: [u64; 3] = [100, 1_000, 5_000];

fn main() {
    let given: Vec<u64> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let sizes = if given.is_empty() { vec![10_000, 100_000, 1_000_000] } else { given };
    let directory = std::env::temp_dir().join(format!("wats-bench-{}", std::process::id()));
    println!("{:>10} {:>8} {:>12} {:>14} {:>8}", "blobs", "evicted", "ms", "us a blob", "ratio");
    let mut first: Vec<f64> = Vec::new();
    for blobs in sizes {
        make(&directory, blobs);
        let began = Instant::now();
        let node = start(&directory);
        node.wait_ready().expect("ready");
        let ready = began.elapsed();
        let mut owner = Client::connect(Address::Socket(directory.join("wats.sock"))).expect("a socket");
        quiet(&node);
        let mut left = blobs;
        for (n, pass) in PASSES.into_iter().enumerate() {
            left -= pass;
            settle(&node);
            let began = Instant::now();
            let passed = owner.post("/admin/evict", &json!({ "to": left * SIZE })).expect("a pass");
            let took = began.elapsed();
            assert_eq!(passed["blobs"], pass);
            let each = took.as_secs_f64() * 1e6 / pass as f64;
            if first.len() <= n {
                first.push(each);
            }
            let (ms, ratio) = (took.as_secs_f64() * 1e3, each / first[n]);
            println!("{blobs:>10} {pass:>8} {ms:>12.1} {each:>14.1} {ratio:>8.2}");
        }
        let began = Instant::now();
        owner.get("/admin/evict?limit=20").expect("a list");
        println!(
            "{blobs:>10}: ready after {:.1} s, the next 20 listed in {:.1} ms, {} MiB resident",
            ready.as_secs_f64(),
            began.elapsed().as_secs_f64() * 1e3,
            resident() >> 20
        );
        node.stop().expect("it stops");
        fs::remove_dir_all(&directory).expect("the bench's own directory");
    }
}

/// Waits until the store has sorted into files what the start wrote.
fn quiet(node: &Node) {
    let (mut bytes, mut since) = (0, Instant::now());
    while since.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(100));
        if node.core().store.bytes() != bytes {
            (bytes, since) = (node.core().store.bytes(), Instant::now());
        }
    }
}

/// Waits until the views show what was evicted.
fn settle(node: &Node) {
    use std::sync::atomic::Ordering;
    while node.core().shown.load(Ordering::Acquire) < node.core().durable.load(Ordering::Acquire) {
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A store that holds so many blobs, whose files are there.
fn make(directory: &Path, blobs: u64) {
    let store = Arc::new(Store::open(&directory.join("store"), Sizes::default()).expect("a store"));
    let mut appender = Appender::new(store.clone()).expect("a store");
    let files = store.blob_files();
    let mut linked: Option<(PathBuf, usize)> = None;
    for n in 0..blobs {
        let blob = Hex32(*blake3::hash(&n.to_le_bytes()).as_bytes());
        let path = files.path(blob);
        fs::create_dir_all(path.parent().expect("a shard")).expect("a directory");
        match &mut linked {
            Some((file, names)) if *names < LINKS => {
                fs::hard_link(file, &path).expect("a link");
                *names += 1;
            }
            _ => {
                fs::write(&path, vec![0; SIZE as usize]).expect("a file");
                linked = Some((path, 1));
            }
        }
        appender.blob(blob, true, Millis(1)).expect("a record");
        if appender.pending() >= 10_000 {
            appender.commit().expect("written");
        }
    }
    appender.commit().expect("written");
}

fn start(directory: &Path) -> Node {
    let config = Config::parse("[storage]\nhigh_water = 1000000000000\n", "bench").expect("a configuration");
    let settings = support::settings(directory, config, Limits::default());
    Node::start(settings).expect("the node starts")
}
