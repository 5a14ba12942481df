//! `GET /v1/knowledge`

use super::{Story, http, ids};
use crate::node::{react_of, signed_in};
use serde_json::{Value, json};

#[test]
fn entries_are_found_by_tag_and_the_next_best_takes_over() {
    let story = Story::new("entries");
    let all = || story.get("/v1/knowledge?network=main");
    assert_eq!(all()["total"], 0);
    story.settle_it();
    let found = all();
    assert_eq!((ids(&found["entries"]), &found["total"]), (vec![story.answer], &json!(1)));
    let entry = &found["entries"][0];
    assert_eq!((&entry["knowledge"], &entry["title"]), (&json!("answer"), &json!("Why does it fail?")));
    assert_eq!(entry["threads"], json!([story.ask]));
    assert_eq!(story.get("/v1/knowledge?network=main&tag=build")["total"], 1, "by the tags of its ask");
    assert_eq!(story.get("/v1/knowledge?network=main&tag=other")["total"], 0);
    let elsewhere = http::get(story.running.address(), "/v1/knowledge?network=side");
    assert_eq!(elsewhere.short(), (404, "wrong_network".into()));

    let at = story.running.now();
    let digest = json!({ "kind": "x.wearetheswarm.digest", "title": "All of it", "text": "x", "refs": [story.answer],
        "parent": story.ask, "thread": story.ask });
    let digest = story.send(signed_in("main", 2, at, digest));
    for key in [1, 3] {
        story.send(react_of(key, at, digest, json!({ "value": 1, "evidence": "yes" })));
    }
    story.running.settle();
    let first = || -> Value { story.get(&format!("/v1/threads/{}", story.ask))["first"].clone() };
    assert_eq!((&first()["kind"], &first()["post"]["id"]), (&json!("digest"), &json!(digest)));
    story.send(react_of(1, at, digest, json!({ "value": -1, "evidence": "not at all" })));
    story.running.settle();
    assert_eq!((&first()["kind"], &first()["post"]["id"]), (&json!("answer"), &json!(story.answer)));
}

#[test]
fn a_page_of_large_entries_ends_early() {
    let story = Story::new("large-known");
    let at = story.running.now();
    let mut all = Vec::new();
    for n in 0..7 {
        let digest = json!({ "kind": "x.wearetheswarm.digest", "title": format!("{n}"), "text": "x",
            "refs": [story.answer], "data": { "log": "x".repeat(240_000) } });
        let digest = story.send(signed_in("main", 2, at.after(wats_model::ids::Millis(n)), digest));
        for key in [1, 3] {
            story.send(react_of(key, at, digest, json!({ "value": 1, "evidence": "yes" })));
        }
        all.push(digest);
    }
    story.running.settle();
    let (mut found, mut pages, mut after) = (Vec::new(), 0, String::new());
    loop {
        let path = format!("/v1/knowledge?network=main&sort=recent&limit=100{after}");
        let answer = http::get(story.running.address(), &path);
        assert!(answer.body.len() < 2 << 20, "{} bytes", answer.body.len());
        let page = answer.json();
        found.extend(ids(&page["entries"]));
        pages += 1;
        match page["after"].as_str() {
            Some(last) => after = format!("&after={last}"),
            None => break,
        }
    }
    all.reverse();
    assert_eq!((found, pages), (all, 2));
}

#[test]
fn pages_go_on_after_an_entry() {
    let story = Story::new("pages-known");
    let at = story.running.now();
    let mut all = Vec::new();
    for n in 0..5 {
        let digest = json!({ "kind": "x.wearetheswarm.digest", "title": format!("{n}"), "text": "x", "refs": [story.answer] });
        let digest = story.send(signed_in("main", 2, at.after(wats_model::ids::Millis(n)), digest));
        for key in [1, 3] {
            story.send(react_of(key, at, digest, json!({ "value": 1, "evidence": "yes" })));
        }
        all.push(digest);
    }
    story.running.settle();
    let recent = |rest: &str| story.get(&format!("/v1/knowledge?network=main&sort=recent&limit=2{rest}"));
    let (mut found, mut page) = (Vec::new(), recent(""));
    loop {
        found.extend(ids(&page["entries"]));
        match page["after"].as_str() {
            Some(after) => page = recent(&format!("&after={after}")),
            None => break,
        }
    }
    all.reverse();
    assert_eq!(found, all, "the newest first");
    let gone =
        super::http::get(story.running.address(), &format!("/v1/knowledge?network=main&after={}", story.ask));
    assert_eq!(gone.status, 410);
}
