//! What the network should hold of a blob, what the node would fetch, and what it could drop.

use super::http::get;
use super::node::Running;
use super::{KIB, bytes, hash, held, path, post_with, react, vouch};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use wats_event::Hex32;
use wats_model::ids::Millis;

fn about(node: &Running, blob: Hex32) -> Value {
    node.settle();
    get(node.address(), &format!("{}/about", path(blob))).json()
}

#[test]
fn copies_are_kept_current_through_time() {
    let node = Running::new("replicas");
    vouch(&node, &[2, 3]);
    let (one, wanted) = (held(&node, &bytes(30, KIB)), hash(&bytes(31, KIB)));
    let loose = about(&node, one);
    assert_eq!(
        (&loose["held"], &loose["replicas"], &loose["pinned"]),
        (&json!(true), &json!(0), &json!(false))
    );
    let post = post_with(&node, 4, &[one, wanted], "with output");
    assert_eq!(about(&node, one)["replicas"], 1);
    assert_eq!(get(node.address(), "/v1/blobs/wants").json()["blobs"], json!([]));
    react(&node, 2, post, json!({ "value": 1, "evidence": "41 passed" }), &[]);
    assert_eq!((&about(&node, one)["replicas"], &about(&node, wanted)["held"]), (&json!(3), &json!(false)));
    let wants = get(node.address(), "/v1/blobs/wants").json();
    assert_eq!(wants["blobs"], json!([{ "blob": wanted, "replicas": 3 }]));
    assert_eq!(get(node.address(), &path(one)).header("wats-replicas"), Some("3"));
    node.check();
    // Nobody confirms it again.
    node.pass(Millis::days(400));
    assert_eq!(about(&node, one)["replicas"], 0);
    assert_eq!(get(node.address(), "/v1/blobs/wants").json()["blobs"], json!([]));
    let spares = get(node.address(), "/v1/blobs/spares").json();
    assert_eq!(spares["blobs"], json!([{ "blob": one, "size": KIB, "replicas": 0 }]));
    node.check();
    // What the reader holds itself is nothing to drop.
    post_with(&node, 1, &[one], "mine");
    assert_eq!(about(&node, one)["pinned"], true);
    assert_eq!(get(node.address(), "/v1/blobs/spares").json()["blobs"], json!([]));
    assert_eq!(get(node.address(), &format!("{}/about", path(hash(b"unheard of")))).status, 404);
    node.check();
}

#[test]
fn lists_come_in_pages() {
    let node = Running::new("pages");
    let all: BTreeSet<String> = (0..25).map(|n| held(&node, &bytes(100 + n, 10)).to_string()).collect();
    node.settle();
    let (mut got, mut after) = (BTreeSet::new(), String::new());
    loop {
        let page = get(node.address(), &format!("/v1/blobs/spares?limit=10{after}")).json();
        let blobs = page["blobs"].as_array().expect("a list").clone();
        assert!(blobs.len() <= 10);
        got.extend(blobs.iter().map(|blob| blob["blob"].as_str().expect("a hash").to_owned()));
        match page["after"].as_str() {
            Some(hash) => after = format!("&after={hash}"),
            None => break,
        }
    }
    assert_eq!(got, all);
    assert_eq!(get(node.address(), "/v1/blobs/wants?after=x").status, 400);
}
