//! `GET /v1/threads/{id}`

use super::http;
use super::node::{react_of, signed_in};
use super::{Story, ids};
use serde_json::json;

#[test]
fn a_thread_is_a_tree_with_what_is_known_first() {
    let story = Story::new("tree");
    let open = story.get(&format!("/v1/threads/{}", story.ask));
    assert_eq!(open["root"]["title"], "Why does it fail?");
    assert_eq!(open["root"]["status"], "unverified");
    assert!(open["first"].is_null(), "nothing is settled yet: {open}");
    assert_eq!(ids(&open["posts"]), [story.answer, story.below, story.other]);
    let depths: Vec<_> = open["posts"].as_array().unwrap().iter().map(|p| p["depth"].clone()).collect();
    assert_eq!(depths, [1, 2, 1]);
    assert_eq!(open["posts"][0]["status"], "confirmed");
    assert_eq!(open["posts"][0]["counts"]["confirmations"], 1);
    assert_eq!(open["posts"][0]["evidence"][0]["data"]["evidence"]["detail"], "ran it");
    story.settle_it();
    for id in [story.ask, story.answer, story.below] {
        let settled = story.get(&format!("/v1/threads/{id}"));
        assert_eq!(settled["thread"], story.ask.to_string());
        assert_eq!(settled["first"]["kind"], "answer");
        assert_eq!(settled["first"]["post"]["id"], story.answer.to_string());
        assert_eq!(settled["first"]["post"]["knowledge"], "answer");
    }
}

#[test]
fn a_long_thread_comes_in_pages_that_neither_repeat_nor_skip() {
    let story = Story::new("pages");
    let mut all = vec![story.answer, story.other, story.below];
    for n in 0..30 {
        all.push(story.send(story.reply(6, story.ask, &format!("and {n}"))));
    }
    story.running.settle();
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = story.get(&format!("/v1/threads/{}?limit=7{cursor}", story.ask));
        assert_eq!(page["root"].is_null(), !cursor.is_empty(), "the root is on the first page alone");
        found.extend(ids(&page["posts"]));
        // A reply that comes meanwhile is on the last page.
        if cursor.is_empty() {
            all.push(story.send(story.reply(7, story.ask, "late")));
        }
        match page["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    all.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, all);
}

#[test]
fn a_page_of_large_posts_ends_early_and_large_evidence_hides_none_that_is_small() {
    let story = Story::new("large");
    let at = story.running.now();
    let mut all = vec![story.answer, story.other, story.below];
    for n in 0..12 {
        // Some reply to each other: a page ends within the sequence, not within the tree.
        let to = if n % 3 == 0 { story.ask } else { all[all.len() - 1] };
        let reply = json!({ "kind": "post", "parent": to, "thread": story.ask, "text": format!("{n}"),
            "data": { "log": "x".repeat(200_000) } });
        all.push(story.send(signed_in("main", 6, at, reply)));
    }
    let (with_evidence, mut small) = (all[5], Vec::new());
    for on in [story.ask, with_evidence] {
        small.push(story.send(react_of(7, at, on, json!({ "value": 1, "evidence": "short" }))));
        for key in 10..22 {
            story.send(react_of(key, at, on, json!({ "value": 1, "evidence": "y".repeat(200_000) })));
        }
    }
    story.running.settle();
    let (mut found, mut pages, mut cursor) = (Vec::new(), 0, String::new());
    loop {
        let path = format!("/v1/threads/{}?limit=50{cursor}", story.ask);
        let answer = http::get(story.running.address(), &path);
        assert!(answer.body.len() < 2 << 20, "{} bytes", answer.body.len());
        let page = answer.json();
        if cursor.is_empty() {
            assert_eq!(ids(&page["root"]["evidence"]), small[..1]);
        }
        for post in page["posts"].as_array().expect("a list") {
            if post["id"] == with_evidence.to_string() {
                assert_eq!(ids(&post["evidence"]), small[1..]);
            }
        }
        found.extend(ids(&page["posts"]));
        pages += 1;
        match page["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert!(pages > 1, "all of it is on one page");
    all.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, all);
}

#[test]
fn a_reply_belongs_where_what_it_replies_to_does() {
    let story = Story::new("belongs");
    let stray = story.send(super::stray(&story, "elsewhere"));
    // It names this thread, and replies to something in another.
    let lost = story.send(story.reply(6, stray, "I am lost"));
    story.running.settle();
    let thread = story.get(&format!("/v1/threads/{}", story.ask));
    assert!(!ids(&thread["posts"]).contains(&lost), "{thread}");
    let to = story.running.address();
    assert_eq!(http::get(to, "/v1/threads/zz").status, 400);
    assert_eq!(http::get(to, &format!("/v1/threads/{}", "0".repeat(64))).status, 404);
    let cursor = http::get(to, &format!("/v1/threads/{}?cursor=nonsense", story.ask));
    assert_eq!(cursor.short(), (400, "no_cursor".into()));
    assert_eq!(story.get(&format!("/v1/threads/{stray}"))["posts"], json!([]));
}

#[test]
fn an_event_with_an_integer_written_as_a_decimal_is_read_like_any_other() {
    let story = Story::new("decimal");
    let (id, text) = story.reply(6, story.ask, "at a decimal time");
    let at = story.running.now().0;
    let text = text.replace(&format!("\"created_at\":{at}"), &format!("\"created_at\":{at}.0"));
    assert!(text.contains(".0"));
    story.send((id, text));
    story.running.settle();
    let thread = story.get(&format!("/v1/threads/{id}"));
    let posts = thread["posts"].as_array().expect("a list");
    let post = posts.iter().find(|post| post["id"] == id.to_string()).expect("it is in the thread");
    assert_eq!(post["created_at"], at);
}
