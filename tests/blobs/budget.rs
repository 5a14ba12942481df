//! The budget: what goes, in which order, and what does not.

use super::dice::Dice;
use super::facts::Facts;
use super::http::{get, post};
use super::node::{Running, signed_in};
use super::{KIB, attach, bytes, hash, held, owner, path, post_with, put, react, vouch};
use serde_json::{Value, json};
use std::io::Cursor;
use wats_event::Hex32;
use wats_event::log::{Options, Source, read};
use wats_model::ids::Millis;

/// The order in which blobs would go, computed the slow way from the store's own log.
fn slowly(node: &Running) -> Vec<Hex32> {
    let log = super::views::exported(node.store());
    let source = Source::from_reader("export", Cursor::new(log.into_bytes())).expect("a log");
    let options = Options { skip_signatures: true, ..Options::new(node.settings.config.rules()) };
    let lines: Vec<_> = read(source, &options).map(|line| line.expect("a line")).collect();
    let now = node.store().read().ticked().expect("a tick").now;
    Facts::of(&node.settings.config, &lines, Some(now)).eviction()
}

fn next(node: &Running, limit: usize) -> Vec<Value> {
    let next = owner(node).get(&format!("/admin/evict?limit={limit}")).expect("a list");
    next["blobs"].as_array().expect("a list").clone()
}

fn used(node: &Running) -> u64 {
    node.node().core().blobs.accounts().sums().used
}

/// A random story around some blobs: who attaches which, and what others say of it.
fn story(node: &Running, dice: &mut Dice<'_>, blobs: &[Hex32]) {
    vouch(node, &[2, 3, 4]);
    let mut posts = Vec::new();
    for step in 0..60 {
        node.pass(Millis(dice.below(9 * 24) as u64 * Millis::HOUR.0));
        let key = 1 + dice.below(8) as u16;
        let some: Vec<Hex32> = (0..dice.below(4)).map(|_| blobs[dice.below(blobs.len())]).collect();
        if step % 2 == 0 || posts.is_empty() {
            // The reader says little: what it attaches is pinned.
            let key = if key == 1 && dice.below(3) > 0 { 5 } else { key };
            posts.push(post_with(node, key, &some, &format!("post {step}")));
            continue;
        }
        let data = match dice.below(5) {
            0 => json!({ "value": 1, "evidence": "it works" }),
            1 => json!({ "value": -1, "evidence": "it does not" }),
            2 => json!({ "used": true }),
            3 => json!({ "value": 1 }),
            _ => json!({ "value": -1 }),
        };
        react(node, key, posts[dice.below(posts.len())], data, &some);
    }
}

#[test]
fn blobs_go_in_the_order_of_the_specification() {
    for seed in 0..if std::env::var_os("WATS_LONG").is_some() { 40 } else { 4 } {
        let mut dice = Dice::new(seed);
        let node = Running::with(&format!("order_{seed}"), |settings| {
            settings.config.storage.low_water = 20 * KIB as u64;
        });
        let blobs: Vec<Hex32> = (0..40)
            .map(|n| {
                let content = bytes(1000 * seed + n, 1 + dice.below(3 * KIB));
                // Some of them nobody brings.
                if n % 5 == 4 { hash(&content) } else { held(&node, &content) }
            })
            .collect();
        story(&node, &mut dice, &blobs);
        node.check();
        let want = slowly(&node);
        let shown: Vec<String> =
            next(&node, 100).iter().map(|b| b["blob"].as_str().expect("a hash").to_owned()).collect();
        assert_eq!(shown, want.iter().map(ToString::to_string).collect::<Vec<_>>(), "seed {seed}");
        assert!(want.len() > 10, "seed {seed}: {} are not pinned", want.len());
        // As many go, from the front, as it takes.
        let (mut left, mut go) = (used(&node), 0);
        while left > 20 * KIB as u64 && go < want.len() {
            left -= node.node().core().blobs.accounts().size(want[go]).expect("held");
            go += 1;
        }
        let passed = owner(&node).post("/admin/evict", &json!({})).expect("a pass");
        assert_eq!((passed["blobs"].as_u64(), passed["left"].as_u64()), (Some(go as u64), Some(left)));
        for (n, blob) in want.iter().enumerate() {
            let here = get(node.address(), &path(*blob)).status;
            assert_eq!(here, if n < go { 404 } else { 200 }, "seed {seed}: number {n}, of {go} that go");
        }
        node.check();
        assert_eq!(slowly(&node), want[go..]);
    }
}

#[test]
fn what_ranks_higher_displaces_what_ranks_lower_and_nothing_else_does() {
    let mib = 1 << 20;
    let node = Running::with("budget", |settings| {
        let storage = &mut settings.config.storage;
        (storage.high_water, storage.low_water, storage.unattached_bytes) = (8 * mib, 7 * mib, 8 * mib);
    });
    vouch(&node, &[2]);
    let content: Vec<Vec<u8>> = (0..12).map(|n| bytes(200 + n, mib as usize)).collect();
    let hashes: Vec<Hex32> = content.iter().map(|bytes| hash(bytes)).collect();
    // One is the reader's, six are of a stranger's posts, one of them used.
    post_with(&node, 1, &hashes[..1], "mine");
    let mut used_post = None;
    for blob in &hashes[1..7] {
        node.pass(Millis::HOUR);
        let post = post_with(&node, 9, &[*blob], "theirs");
        used_post = used_post.or(Some(post));
    }
    react(&node, 2, used_post.expect("a post"), json!({ "used": true }), &[]);
    for bytes in &content[..7] {
        held(&node, bytes);
    }
    held(&node, &content[7]);
    node.settle();
    assert_eq!(used(&node), 8 * mib);
    // Without a holder it ranks below all that have one, and is no older than the other.
    assert_eq!(put(&node, &content[8]).1.short(), (507, "no_room".into()));
    // An older post ranks below the others.
    let old = json!({ "kind": "post", "text": "long ago", "attachments": attach(&hashes[9..10]) });
    let (_, text) = signed_in("main", 8, Millis(node.now().0 - Millis::DAY.0), old);
    assert_eq!(post(node.address(), &text).status, 201);
    node.settle();
    assert_eq!(put(&node, &content[9]).1.status, 201, "what has no holder goes for it");
    assert_eq!(get(node.address(), &path(hashes[7])).status, 404);
    // The reader's own displaces what ranks lowest: first that, then the oldest that nobody used.
    post_with(&node, 1, &hashes[10..12], "mine too");
    node.settle();
    assert_eq!(put(&node, &content[10]).1.status, 201);
    assert_eq!(put(&node, &content[11]).1.status, 201);
    node.settle();
    let here = |n: usize| get(node.address(), &path(hashes[n])).status == 200;
    assert!(here(0) && here(1) && here(10) && here(11));
    assert!(!here(9) && !here(2), "the oldest that nobody used");
    assert!(used(&node) <= 8 * mib);
    let status = owner(&node).get("/admin/status").expect("a status");
    assert!(status["blobs"]["gone"]["budget"]["blobs"].as_u64() >= Some(3), "{}", status["blobs"]);
    assert!(status["blobs"]["lately"][0]["reason"].as_str().is_some_and(|why| why.contains("no post")));
    node.check();
}

#[test]
fn a_budget_that_is_lowered_is_kept_within_one_pass_and_pins_stay() {
    let mut node = Running::new("lowered");
    let mine: Vec<Hex32> = (0..5).map(|n| held(&node, &bytes(300 + n, 100 * KIB))).collect();
    post_with(&node, 1, &mine, "mine");
    for n in 0..20 {
        held(&node, &bytes(310 + n, 100 * KIB));
    }
    node.settle();
    node.stop();
    let storage = &mut node.settings.config.storage;
    (storage.high_water, storage.low_water) = (1500 * KIB as u64, 1000 * KIB as u64);
    node.start().expect("it starts");
    node.until("a pass", |node| node.core().blobs.accounts().sums().used <= 1000 * KIB as u64);
    assert_eq!(used(&node), 1000 * KIB as u64);
    node.check();
    node.stop();
    let storage = &mut node.settings.config.storage;
    (storage.high_water, storage.low_water) = (200 * KIB as u64, 0);
    node.start().expect("it starts");
    node.until("a pass", |node| node.core().blobs.accounts().sums().used <= 500 * KIB as u64);
    mine.iter().for_each(|blob| assert_eq!(get(node.address(), &path(*blob)).status, 200));
    assert_eq!(put(&node, &bytes(330, KIB)).1.short(), (507, "no_room".into()));
    assert!(next(&node, 10).is_empty());
    node.check();
}
