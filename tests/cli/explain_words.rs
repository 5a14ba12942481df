//! What an explanation says to a person: of keys that the reader distrusts, of critics worn thin, of replies
//! beside citations, of contradictions that support has outlived.

use crate::cli;
use cli::{DAY, Log, err, out, scratch, wats};
use serde_json::{Value, json};
use std::path::Path;

/// A log of keys that the reader, key 1, vouches for.
fn trusted(keys: std::ops::RangeInclusive<u8>) -> Log {
    let mut log = Log::new();
    for key in keys {
        let announce = log.event(key, json!({ "kind": "announce" }));
        log.react(1, &announce, json!({ "label": "vouch" }));
    }
    log
}

/// What is explained of a post or a key, as text and as JSON.
fn explained(dir: &Path, name: &str) -> (String, Value) {
    let replay = |args: &[&str]| {
        let all = [&["replay", "log.jsonl", "--config", "wats.toml", "--explain", name], args].concat();
        let output = wats(dir, &all);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        out(&output).to_owned()
    };
    let json: Value = serde_json::from_str(&replay(&["--json"])).expect("JSON");
    (replay(&[]), json["explained"][0].clone())
}

/// The signals of a key on a post, in a line of the text.
fn line_of(text: &str, key: u8) -> String {
    let start = format!("    {} voice", &Log::key(key)[..12]);
    text.lines()
        .find(|line| line.starts_with(&start))
        .unwrap_or_else(|| panic!("{start} in {text}"))
        .to_owned()
}

#[test]
fn a_distrusted_key_is_named_as_one() {
    let dir = scratch("distrusted");
    let mut log = trusted(2..=4);
    let announce = log.event(7, json!({ "kind": "announce" }));
    for key in [1, 2] {
        log.react(key, &announce, json!({ "label": "vouch" }));
    }
    let post = log.event(3, json!({ "kind": "post", "text": "It works." }));
    log.react(7, &post, json!({ "value": -1, "evidence": "it does not" }));
    log.write(&dir);
    let config = std::fs::read_to_string(dir.join("wats.toml")).expect("a configuration");
    let config = format!("{config}distrusted = [\"{}\"]\n", Log::key(7));
    std::fs::write(dir.join("wats.toml"), config).expect("a configuration");
    let (text, json) = explained(&dir, &Log::key(7));
    assert_eq!(
        (&json["trust"], &json["weight"], &json["trusted"]["backers"]),
        (&json!(0), &json!(0), &json!(0))
    );
    for part in [
        "seed of 0 (the reader distrusts it: it has no trust and passes none on)",
        "floor 0: a key that the reader distrusts has none",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (text, json) = explained(&dir, &post);
    assert_eq!(json["arguments"][0]["set_aside"], "does not count: the reader distrusts the critic");
    assert!(
        line_of(&text, 7).contains("the contradiction is ignored; of a key that the reader distrusts"),
        "{text}"
    );
    // Of others it says where a floor would come from; a profile has none.
    assert!(explained(&dir, &Log::key(3)).0.contains("the network is 0/16 cold"));
    assert!(explained(&dir, &Log::key(1)).0.contains("floor 0: an own profile has none"));
}

#[test]
fn a_critic_of_much_has_less_force_than_weight() {
    let dir = scratch("force");
    let mut log = trusted(2..=12);
    let mut posts = Vec::new();
    for n in 0..4 {
        for key in 3..=12 {
            posts.push(log.event(key, json!({ "kind": "post", "text": format!("{key} says {n}") })));
        }
    }
    let (some, rest) = posts.split_at(32);
    let contradict = |log: &mut Log, posts: &[String]| {
        for post in posts {
            log.react(2, post, json!({ "value": -1, "evidence": "no" }));
        }
        log.write(&dir);
        explained(&dir, &some[0])
    };
    let (text, json) = contradict(&mut log, some);
    assert_eq!(json["arguments"][0]["force"], json["arguments"][0]["weight"]);
    assert!(!text.contains("force"), "{text}");
    let (text, json) = contradict(&mut log, rest);
    let (force, weight) = (&json["arguments"][0]["force"], &json["arguments"][0]["weight"]);
    assert!(force.as_i64() < weight.as_i64() && force.as_i64() > Some(0), "{json}");
    assert!(text.contains(" as it contradicts much, voice "), "{text}");
}

#[test]
fn a_reply_is_told_from_a_citation_and_counted_with_it() {
    let dir = scratch("replies");
    let mut log = trusted(2..=5);
    let post = log.event(3, json!({ "kind": "post", "text": "It works." }));
    log.event(4, json!({ "kind": "post", "parent": post, "thread": post, "text": "How?" }));
    log.event(5, json!({ "kind": "post", "text": "As said.", "refs": [post] }));
    log.write(&dir);
    let (text, json) = explained(&dir, &post);
    assert_eq!(json["counts"]["cites"], 2);
    assert!(line_of(&text, 4).contains(": reply ") && line_of(&text, 5).contains(": cite "), "{text}");
    assert!(text.contains("citations or replies 2"), "{text}");
}

#[test]
fn an_outlived_contradiction_stands_and_is_counted_nowhere() {
    let dir = scratch("outlived");
    let mut log = trusted(2..=6);
    let post = log.event(3, json!({ "kind": "post", "text": "It works." }));
    log.react(5, &post, json!({ "value": -1, "evidence": "it did not in January" }));
    log.wait(400 * DAY);
    for key in [2, 4] {
        log.react(key, &post, json!({ "value": 1, "evidence": "it does now" }));
    }
    log.write(&dir);
    let (text, json) = explained(&dir, &post);
    assert_eq!((&json["status"], &json["counts"]["contradictions"]), (&json!("confirmed"), &json!(0)));
    let of = |json: &Value, key: u8| {
        let all = json["signals"].as_array().expect("signals").iter();
        let of = all.clone().find(|said| said["by"] == Log::key(key)).expect("signals");
        (of["verdict"].clone(), of["outlived"].clone())
    };
    assert_eq!(of(&json, 5), (json!("stands"), json!(true)));
    let outlived = "; the contradiction stands, and is outlived: it does not contest the post";
    assert!(line_of(&text, 5).contains(outlived), "{text}");

    // One more, of now: the line counts what the counts count.
    log.react(6, &post, json!({ "value": -1, "evidence": "not with 2.0" }));
    log.write(&dir);
    let (text, json) = explained(&dir, &post);
    assert_eq!((&json["status"], &json["counts"]["contradictions"]), (&json!("contested"), &json!(1)));
    let why = json["why"].as_str().expect("a line");
    assert!(why.contains("by 1 key (\"not with 2.0\")"), "{why}");
    assert_eq!(
        (of(&json, 5), of(&json, 6)),
        ((json!("stands"), json!(true)), (json!("stands"), Value::Null))
    );
    assert!(line_of(&text, 5).contains(outlived) && !line_of(&text, 6).contains("outlived"), "{text}");
}
