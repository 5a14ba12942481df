//! `GET /v1/browse`

use super::{Story, http, ids};
use crate::node::{react_of, signed_in};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wats_event::Hex32;
use wats_model::ids::Millis;

fn browse(story: &Story, rest: &str) -> Value {
    story.get(&format!("/v1/browse?network=main&{rest}"))
}

fn names(page: &Value) -> Vec<&str> {
    let groups = page["groups"].as_array().expect("groups").iter();
    groups.map(|group| group["name"].as_str().or(group["title"].as_str()).expect("a name")).collect()
}

/// A digest that two trusted keys confirm.
fn digest(story: &Story, title: &str, tags: &[&str], at: Millis) -> Hex32 {
    let digest = json!({ "kind": "x.wearetheswarm.digest", "title": title, "text": "x", "tags": tags,
        "refs": [story.other] });
    let digest = story.send(signed_in("main", 2, at, digest));
    for key in [1, 3] {
        story.send(react_of(key, story.running.now(), digest, json!({ "value": 1, "evidence": "yes" })));
    }
    digest
}

#[test]
fn a_thread_is_counted_under_its_tags_its_letter_its_month_and_its_day() {
    let story = Story::new("browse-thread");
    story.settle_it();
    let posts = json!({ "contested": 0, "unverified": 3, "stale": 0, "confirmed": 1 });
    for (path, name) in [
        ("by=tag&under=build", "build"),
        ("by=tag&under=lang:en", "lang:en"),
        ("by=time&under=2026-01", "2026-01"),
        ("by=time&under=2026-01-01", "2026-01-01"),
    ] {
        let page = browse(&story, path);
        let group = &page["group"];
        assert_eq!(
            (&group["name"], &group["posts"], &group["entries"]),
            (&json!(name), &posts, &json!(1)),
            "{path}"
        );
        assert_eq!(ids(&group["top"]), [story.answer], "{path}");
    }
    assert_eq!(ids(&browse(&story, "by=tag&under=build")["entries"]), [story.answer]);
    let thread = browse(&story, &format!("by=thread&under={}", story.ask));
    assert_eq!(ids(&thread["entries"]), [story.answer]);
    let entry = &thread["entries"][0];
    assert_eq!((&entry["title"], &entry["knowledge"]), (&json!("Why does it fail?"), &json!("answer")));
    for (path, want) in [
        ("by=tag", vec!["build", "lang:en"]),
        ("by=title", vec!["w"]),
        ("by=title&under=", vec!["Why does it fail?"]),
        ("by=title&under=WHY%20D", vec!["Why does it fail?"]),
        ("by=title&under=x", vec![]),
        ("by=thread", vec!["Why does it fail?"]),
        ("by=time", vec!["2026-01"]),
        ("by=time&under=2026-01", vec!["2026-01-01"]),
        ("by=time&under=2026-02", vec![]),
    ] {
        assert_eq!(names(&browse(&story, path)), want, "{path}");
    }
    // Its contradiction stands: the counts follow, and it is an entry no more.
    story.send(react_of(
        1,
        story.running.now(),
        story.answer,
        json!({ "value": -1, "evidence": "it broke" }),
    ));
    story.running.settle();
    let group = &browse(&story, "by=tag&under=build")["group"];
    assert_eq!((&group["posts"]["contested"], &group["posts"]["confirmed"]), (&json!(1), &json!(0)));
    assert_eq!((&group["entries"], group.get("top")), (&json!(0), None));
    story.running.check();
}

#[test]
fn tags_with_the_most_knowledge_come_first_and_pages_hold_each_once() {
    let story = Story::new("browse-tags");
    let at = story.running.now();
    for n in 0..5u64 {
        let tags: Vec<String> = (n..5).map(|tag| format!("t{tag}")).collect();
        let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
        digest(&story, &format!("digest {n}"), &tags, at.after(Millis(n)));
    }
    story.running.settle();
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = browse(&story, &format!("by=tag&limit=2&top=10{cursor}"));
        for group in page["groups"].as_array().expect("groups") {
            let top = group["top"].as_array().map_or(0, Vec::len);
            assert_eq!(group["entries"].as_u64(), Some(top as u64));
            found.push((group["name"].as_str().expect("a tag").to_owned(), top));
        }
        match page["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    let want = [("t4", 5), ("t3", 4), ("t2", 3), ("t1", 2), ("t0", 1), ("build", 0), ("lang:en", 0)];
    assert_eq!(found, want.map(|(tag, entries)| (tag.to_owned(), entries)));
    // The entries of one, page by page; the cursor tells nothing of the score by which they stand.
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = browse(&story, &format!("by=tag&under=t4&limit=2{cursor}"));
        all.extend(ids(&page["entries"]));
        match page["cursor"].as_str() {
            Some(next) => {
                let post = story.running.store().read().post("main", *all.last().expect("entries"));
                let rank = post.expect("readable").expect("a view").score.rounded();
                assert!(rank.0 > 0 && !next.contains(&format!("{:016x}", !rank.0)), "{next}");
                cursor = format!("&cursor={next}");
            }
            None => break,
        }
    }
    let known = story.get("/v1/knowledge?network=main&tag=t4");
    let mut known = ids(&known["entries"]);
    assert_eq!(all.len(), 5);
    all.sort_unstable();
    known.sort_unstable();
    assert_eq!(all, known, "what is listed by tag is the same");
}

#[test]
fn titles_stand_in_their_order_whatever_their_case_and_accents() {
    let story = Story::new("browse-titles");
    for title in ["Étude", "eta", "  \"Eszett\"", "echo", "ECHO two", "zoo", "1 way", "…"] {
        story.send(signed_in(
            "main",
            9,
            story.running.now(),
            json!({ "kind": "post", "title": title, "text": "x" }),
        ));
    }
    story.running.settle();
    let page = browse(&story, "by=title");
    let counted: BTreeMap<&str, u64> = page["groups"]
        .as_array()
        .expect("groups")
        .iter()
        .map(|group| {
            let posts = group["posts"].as_object().expect("counts").values();
            (group["name"].as_str().expect("a letter"), posts.filter_map(Value::as_u64).sum())
        })
        .collect();
    assert_eq!(counted, BTreeMap::from([("", 1), ("1", 1), ("e", 5), ("w", 4), ("z", 1)]));
    let page = browse(&story, "by=title&under=E");
    assert_eq!(names(&page), ["echo", "ECHO two", "  \"Eszett\"", "eta", "Étude"]);
    let page = browse(&story, "by=title&under=%C3%A9t");
    assert_eq!(names(&page), ["eta", "Étude"]);
    assert_eq!(names(&browse(&story, "by=title&under=")).len(), 9);
}

#[test]
fn what_cannot_be_browsed_is_said_to_be_so() {
    let story = Story::new("browse-wrong");
    let long = "x".repeat(65);
    for wrong in [
        "by=author",
        "",
        "by=thread&under=x",
        "by=time&under=2026-13",
        "by=time&under=2026",
        "by=tag&cursor=wb01",
        "by=tag&under=build&cursor=wb01",
        &format!("by=tag&under={long}"),
        "by=tag&nonsense=1",
    ] {
        let answer = http::get(story.running.address(), &format!("/v1/browse?network=main&{wrong}"));
        assert_eq!(answer.status, 400, "{wrong}");
    }
    let elsewhere = http::get(story.running.address(), "/v1/browse?network=side&by=tag");
    assert_eq!(elsewhere.short(), (404, "wrong_network".into()));
}
