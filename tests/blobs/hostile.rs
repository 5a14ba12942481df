//! Whoever means harm: limits hold, and nothing that others rely on is lost.

use super::http::{LINES, answer, call, connect, get, head, post};
use super::node::{Running, signed_in};
use super::{HOUR, KIB, attach, bytes, hash, held, owner, path, post_with, put, react, vouch};
use serde_json::json;
use std::io::Write;
use std::net::TcpStream;
use wats_event::Hex32;
use wats_model::ids::Millis;

#[test]
fn a_thousand_slow_uploads_cost_little() {
    let node = Running::with("slow", |settings| settings.config.storage.uploads = 32);
    let mut slow: Vec<TcpStream> = Vec::new();
    for n in 0..1000u64 {
        let mut stream = connect(node.address());
        // One that is hung up on at once may not even hear this.
        let _ = stream.write_all(head("PUT", &path(hash(&n.to_le_bytes())), &[], 50 << 20).as_bytes());
        let _ = stream.write_all(b"a few bytes");
        slow.push(stream);
    }
    node.until("uploads", |node| node.core().blobs.uploads.len() >= 16);
    // Others are served meanwhile, and the owner uploads.
    assert_eq!(get(node.address(), "/readyz").status, 200);
    let (_, text) = super::node::post_of(2, node.now(), "still here");
    assert_eq!(post(node.address(), &text).status, 201);
    let from = node.dir.join("mine");
    std::fs::write(&from, bytes(40, KIB)).expect("a file");
    owner(&node).upload(&from).expect("taken");
    let core = node.node().core();
    let sums = core.blobs.accounts().sums();
    // Half of the places, for one address, and a step of room for each.
    assert!(core.blobs.uploads.len() <= 16 && sums.reserved <= 16 << 20, "{sums:?}");
    drop(slow);
    node.until("places", |_| put(&node, &bytes(41, KIB)).1.status != 503);
    node.check();
}

#[test]
fn unfinished_uploads_are_few_and_forgotten() {
    let node = Running::with("unfinished", |settings| {
        settings.config.storage.unfinished = 8;
        settings.config.storage.unfinished_for = Millis(1);
    });
    for n in 0..40u64 {
        let range = [("Content-Range", "bytes 0-9/1000")];
        let got = call(node.address(), "PUT", &path(hash(&n.to_le_bytes())), &range, &[7; 10]);
        assert!(matches!(got.status, 202 | 503), "{}", got.status);
        assert!(node.node().core().blobs.uploads.len() <= 4, "no address has more than half");
    }
    node.until("an end", |node| node.core().blobs.uploads.is_empty());
    assert_eq!(node.node().core().blobs.accounts().sums().reserved, 0);
    let left = std::fs::read_dir(node.settings.store.join("blobs/partial")).map_or(0, Iterator::count);
    assert_eq!(left, 0);
}

#[test]
fn a_key_has_a_share_and_the_rest_shares_a_pool() {
    let node = Running::with("shares", |settings| {
        let storage = &mut settings.config.storage;
        (storage.key_bytes, storage.unattached_bytes) = (100 * KIB as u64, 50 * KIB as u64);
    });
    let content: Vec<Vec<u8>> = (0..30).map(|n| bytes(500 + n, 10 * KIB)).collect();
    let hashes: Vec<Hex32> = content.iter().map(|bytes| hash(bytes)).collect();
    // A fresh key names more than its share; what is over it goes into the pool, and then nothing.
    for some in hashes[..20].chunks(10) {
        post_with(&node, 9, some, "mine, all mine");
    }
    node.settle();
    let statuses: Vec<u16> = content[..20].iter().map(|bytes| put(&node, bytes).1.status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 15, "{statuses:?}");
    let (_, refused) = put(&node, &content[19]);
    assert_eq!(refused.short(), (507, "unattached_full".into()));
    // Nobody else is held up who publishes first.
    post_with(&node, 8, &hashes[20..22], "mine");
    node.settle();
    assert_eq!(put(&node, &content[20]).1.status, 201);
    // The pool is not for ever: after a while others displace what is in it.
    assert_eq!(put(&node, &content[25]).1.short(), (507, "unattached_full".into()));
    node.pass(Millis(2 * HOUR.0));
    node.settle();
    assert_eq!(put(&node, &content[25]).1.status, 201);
    let sums = node.node().core().blobs.accounts().sums();
    assert!(sums.unattached <= 50 * KIB as u64, "{sums:?}");
    node.check();
}

#[test]
fn a_fresh_key_pins_nothing_and_pushes_out_nothing_that_others_rely_on() {
    let mib = 1u64 << 20;
    let node = Running::with("push", |settings| {
        let storage = &mut settings.config.storage;
        (storage.high_water, storage.low_water, storage.key_bytes) = (10 * mib, 8 * mib, 100 * mib);
    });
    vouch(&node, &[2, 3]);
    let relied: Vec<Hex32> = (0..5).map(|n| held(&node, &bytes(600 + n, mib as usize))).collect();
    for (n, blob) in relied.iter().enumerate() {
        let post = post_with(&node, 4, &[*blob], &format!("useful {n}"));
        react(&node, 2, post, json!({ "used": true }), &[]);
    }
    // Fresh keys attach what they like, confirm each other, and react with it on what others wrote.
    for n in 0..30u64 {
        let key = 100 + n as u16;
        let content = bytes(700 + n, mib as usize);
        let mine = post_with(&node, key, &[hash(&content)], "new and shiny");
        react(&node, key + 100, mine, json!({ "value": 1, "evidence": "sure" }), &[hash(&content)]);
        react(&node, key + 100, mine, json!({ "used": true }), &[hash(&content)]);
        node.settle();
        let status = put(&node, &content).1.status;
        assert!(matches!(status, 201 | 507), "{status}");
    }
    node.settle();
    for blob in &relied {
        assert_eq!(get(node.address(), &path(*blob)).status, 200);
    }
    let accounts = node.node().core().blobs.accounts();
    assert!(accounts.sums().used <= 10 * mib);
    drop(accounts);
    let pinned = |seed| {
        let record = node.store().read().rank(hash(&bytes(seed, mib as usize))).expect("readable");
        record.is_some_and(|record| record.pinned)
    };
    assert!((700..730).all(|seed| !pinned(seed)));
    node.check();
}

/// Very many events name one blob: each costs what it costs, and the blob no more than another.
#[test]
fn a_blob_that_very_many_events_name_is_one_blob() {
    let many = if std::env::var_os("WATS_LONG").is_some() { 200_000 } else { 5_000u64 };
    let node = Running::with("named", |settings| settings.config.storage.low_water = 0);
    let content = bytes(800, KIB);
    let blob = held(&node, &content);
    let other = held(&node, &bytes(801, KIB));
    let mut n = 0;
    while n < many {
        let lines: Vec<String> = (n..n + 1_000)
            .map(|n| {
                let event =
                    json!({ "kind": "post", "text": format!("number {n}"), "attachments": attach(&[blob]) });
                signed_in("main", 10 + (n % 50) as u16, node.now(), event).1
            })
            .collect();
        let answer = call(node.address(), "POST", "/v1/events", &[LINES], lines.join("\n").as_bytes());
        assert_eq!(answer.status, 200);
        n += 1_000;
    }
    node.settle();
    let about = get(node.address(), &format!("{}/about", path(blob))).json();
    assert_eq!((&about["replicas"], &about["pinned"]), (&json!(1), &json!(false)));
    let passed = owner(&node).post("/admin/evict", &json!({})).expect("a pass");
    assert_eq!(passed["blobs"], 2);
    assert_eq!(get(node.address(), &path(other)).status, 404);
    assert_eq!(put(&node, &content).1.status, 201);
    node.check();
}

#[test]
fn attachments_that_point_nowhere_are_nothing() {
    let node = Running::new("nowhere");
    let nowhere: Vec<Hex32> = (0..16u64).map(|n| hash(&n.to_be_bytes())).collect();
    let post = post_with(&node, 5, &nowhere, "look at these");
    react(&node, 6, post, json!({ "value": 1, "evidence": { "blob": nowhere[0] } }), &nowhere);
    node.settle();
    for blob in &nowhere {
        assert_eq!(get(node.address(), &path(*blob)).status, 404);
        assert_eq!(get(node.address(), &format!("{}/about", path(*blob))).json()["held"], false);
    }
    let next = owner(&node).get("/admin/evict?limit=50").expect("a list");
    assert_eq!(next["blobs"], json!([]));
    assert_eq!(get(node.address(), "/v1/blobs/wants").json()["blobs"], json!([]));
    let passed = owner(&node).post("/admin/evict", &json!({})).expect("a pass");
    assert_eq!(passed["blobs"], 0);
    // A range of a part that was never sent.
    let range = [("Content-Range", "bytes 10-19/20")];
    let got = call(node.address(), "PUT", &path(nowhere[0]), &range, &[1; 10]);
    assert_eq!((got.status, got.header("upload-offset")), (409, Some("0")));
    let mut early = connect(node.address());
    early.write_all(head("PUT", &path(nowhere[1]), &[], 100).as_bytes()).expect("sent");
    early.shutdown(std::net::Shutdown::Write).expect("closed");
    let _ = answer(early);
    node.check();
}
