//! Blobs that are damaged, gone, or there without a record.

use super::http::{call, get};
use super::node::Running;
use super::{KIB, bytes, file, hash, held, owner, path, post_with, put, react, vouch};
use serde_json::json;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use wats_event::Hex32;

/// Turns a bit in the middle of a file.
fn damage(path: &Path) {
    let file = fs::OpenOptions::new().read(true).write(true).open(path).expect("a file");
    let (at, mut byte) = (file.metadata().expect("a file").len() / 2, [0]);
    file.read_exact_at(&mut byte, at).expect("a byte");
    file.write_all_at(&[byte[0] ^ 4], at).expect("written");
}

fn score(node: &Running, post: Hex32) -> i64 {
    node.settle();
    node.store().read().post("main", post).expect("readable").expect("a view").score.0
}

/// Evidence that can be read weighs more; when its file is damaged it weighs as text from then on.
#[test]
fn evidence_weighs_as_an_artifact_while_it_can_be_read() {
    let mut node = Running::new("evidence");
    vouch(&node, &[2, 3]);
    let post = post_with(&node, 4, &[], "it works like this");
    let sent = bytes(20, 900 * KIB);
    let blob = hash(&sent);
    react(&node, 2, post, json!({ "value": 1, "evidence": { "type": "test", "blob": blob } }), &[blob]);
    let text = score(&node, post);
    held(&node, &sent);
    let artifact = score(&node, post);
    assert!(artifact > text, "{artifact} against {text}");
    node.check();
    assert_eq!(get(node.address(), &path(blob)).status, 200);
    damage(&file(&node, blob));
    // No byte of it is given, and it is held no longer.
    let part = call(node.address(), "GET", &path(blob), &[("Range", "bytes=0-9")], b"");
    assert_eq!(part.short(), (404, "damaged".into()));
    assert_eq!(get(node.address(), &path(blob)).status, 404);
    assert!(!file(&node, blob).exists());
    assert_eq!(score(&node, post), text);
    node.check();
    let status = owner(&node).get("/admin/status").expect("a status");
    assert_eq!(status["blobs"]["gone"]["damaged"]["blobs"], 1);
    assert_eq!(status["blobs"]["lately"][0]["blob"], blob.to_string());
    // Another may bring it again.
    assert_eq!(put(&node, &sent).1.status, 201);
    assert_eq!(score(&node, post), artifact);
    // Gone behind the node's back.
    fs::remove_file(file(&node, blob)).expect("removed");
    assert_eq!(get(node.address(), &path(blob)).short(), (404, "missing".into()));
    assert_eq!(score(&node, post), text);
    held(&node, &sent);
    node.stop();
    fs::remove_file(file(&node, blob)).expect("removed");
    node.start().expect("it starts");
    assert_eq!(get(node.address(), &path(blob)).status, 404);
    assert_eq!(score(&node, post), text);
    node.check();
}

#[test]
fn files_without_a_record_are_taken_in_or_removed() {
    let mut node = Running::new("unsaid");
    let (known, unsaid, false_one) = (bytes(21, KIB), bytes(22, KIB), bytes(23, KIB));
    let blob = held(&node, &known);
    node.stop();
    let directory = node.settings.store.join("blobs");
    let write = |blob: Hex32, bytes: &[u8]| {
        fs::create_dir_all(file(&node, blob).parent().expect("a shard")).expect("made");
        fs::write(file(&node, blob), bytes).expect("written");
    };
    write(hash(&unsaid), &unsaid);
    write(hash(&false_one), &unsaid);
    fs::create_dir_all(directory.join("partial")).expect("made");
    fs::write(directory.join("partial/left"), "a part").expect("written");
    node.start().expect("it starts");
    for (bytes, status) in [(&known, 200), (&unsaid, 200), (&false_one, 404)] {
        assert_eq!(get(node.address(), &path(hash(bytes))).status, status);
    }
    assert!(!file(&node, hash(&false_one)).exists() && !directory.join("partial/left").exists());
    assert_eq!(node.node().core().blobs.accounts().sums().used, 2 * KIB as u64);
    assert!(node.store().blob(blob).expect("readable").is_some_and(|at| at.present));
    node.check();
}

/// What another node's log says of its disk is no word on this one's.
#[test]
fn a_log_does_not_make_a_blob_held() {
    let node = Running::new("log");
    vouch(&node, &[2]);
    let post = post_with(&node, 4, &[], "said");
    let sent = bytes(24, KIB);
    let (blob, mine) = (hash(&sent), held(&node, &bytes(25, KIB)));
    react(&node, 2, post, json!({ "value": 1, "evidence": { "blob": blob } }), &[blob]);
    let text = score(&node, post);
    let at = node.now().0;
    let lines = [
        json!({ "received_at": at - 5, "blob": blob, "present": true }),
        json!({ "received_at": at, "blob": mine, "present": false }),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let outcomes = owner(&node).lines("/admin/import", lines.into_bytes()).expect("outcomes");
    assert!(outcomes.iter().all(|line| line["outcome"] == "accepted"));
    assert_eq!(score(&node, post), text);
    assert_eq!(get(node.address(), &path(mine)).status, 200);
    assert!(node.store().blob(mine).expect("readable").is_some_and(|at| at.present));
    node.check();
    held(&node, &sent);
    assert!(score(&node, post) > text);
    node.check();
}
