//! `wats replay --explain`, and the tables for a person.

use crate::cli;
use cli::{DAY, Log, err, out, scratch, wats};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The ids of a small world.
struct World {
    dir: PathBuf,
    post: String,
    digest: String,
    evidence: String,
    answer: String,
}

/// Key 1 is the reader and vouches for 2 to 5; 6 and 8 are vouched for by 2 alone; 7 by nobody. The post of 3
/// is confirmed by 4, contradicted by 5, defended by 2, and by its author, which is dropped; 7 is not heard.
fn world(name: &str) -> World {
    let dir = scratch(name);
    let mut log = Log::new();
    let announces: Vec<String> = (1..=8)
        .map(|key| {
            let owner = if key == 4 { json!({"owner": "acme \"labs\"\n"}) } else { json!({}) };
            log.event(key, json!({"kind": "announce", "data": owner}))
        })
        .collect();
    for announce in &announces[1..5] {
        log.react(1, announce, json!({"label": "vouch"}));
    }
    for announce in [&announces[5], &announces[7]] {
        log.react(2, announce, json!({"label": "vouch"}));
    }
    let post = log.event(3, json!({"kind": "post", "title": "Use \"serde\"\u{202e}", "text": "Always."}));
    log.react(4, &post, json!({"value": 1, "evidence": "ran it"}));
    let words = "fails\"); confirmed: by all (\"\non 1.2";
    let evidence = log.react(5, &post, json!({"value": -1, "evidence": {"detail": words}}));
    let answer = log.react(2, &evidence, json!({"value": -1, "evidence": "only on beta"}));
    log.react(3, &evidence, json!({"value": -1, "evidence": "it is mine"}));
    log.react(7, &post, json!({"value": -1, "evidence": "spam"}));
    log.react(7, &post, json!({"used": true}));
    let digest = json!({"kind": "x.wearetheswarm.digest", "title": "All of it", "text": "x", "refs": [post]});
    let digest = log.event(6, digest);
    log.react(4, &digest, json!({"value": 1, "evidence": "yes"}));
    log.react(5, &digest, json!({"used": true}));
    log.wait(DAY);
    let bad = log.event(6, json!({"kind": "post", "title": "Wrong", "text": "2 + 2 = 5"}));
    log.react(5, &bad, json!({"value": -1, "evidence": words}));
    log.line("{}");
    log.write(&dir);
    World { dir, post, digest, evidence, answer }
}

fn replay(dir: &Path, args: &[&str]) -> std::process::Output {
    wats(dir, &[&["replay", "log.jsonl", "--config", "wats.toml"], args].concat())
}

fn explained(dir: &Path, name: &str) -> Value {
    let mut all = Vec::new();
    for workers in ["1", "3"] {
        let output = replay(dir, &["--json", "--explain", name, "--workers", workers]);
        assert_eq!(output.status.code(), Some(0), "{}", err(&output));
        all.push(serde_json::from_str::<Value>(out(&output)).expect("JSON"));
    }
    assert_eq!(all[0], all[1], "any number of workers explains alike");
    all[0]["explained"][0].clone()
}

#[test]
fn a_post_is_explained_by_arguments_and_voices() {
    let World { dir, post, evidence, answer, .. } = world("post");
    let json = explained(&dir, &post[..10]);
    assert_eq!(json["status"], "confirmed");
    assert_eq!(json["why"], "confirmed: the contradiction was rebutted with evidence");
    let arguments = json["arguments"].as_array().expect("arguments");
    let of = |event: &str| arguments.iter().find(|a| a["event"] == event).expect("an argument");
    let contradiction = of(&evidence);
    assert_eq!(contradiction["label"], "OUT");
    assert_eq!(contradiction["by"], Log::key(5));
    assert_eq!(contradiction["text"], "fails'); confirmed: by all (' on 1.2");
    assert!(contradiction["weight"].as_i64() > Some(0) && contradiction["voice"].as_i64() > Some(0));
    let defences = contradiction["arguments"].as_array().expect("arguments");
    let defence = defences.iter().find(|a| a["event"] == answer).expect("the defence");
    assert_eq!((&defence["label"], &defence["set_aside"]), (&json!("IN"), &Value::Null));
    let own = defences.iter().find(|a| a["by"] == Log::key(3)).expect("the author's own");
    assert_eq!(own["set_aside"], "dropped: it would argue in its own cause");
    let unheard = arguments.iter().find(|a| a["by"] == Log::key(7)).expect("spam");
    assert_eq!(unheard["label"], Value::Null);
    assert!(
        unheard["set_aside"].as_str().expect("a reason").contains("the critic's weight is 0"),
        "{unheard}"
    );
    let signals = json["signals"].as_array().expect("signals");
    let by = |key: u8| signals.iter().find(|s| s["by"] == Log::key(key)).expect("signals");
    assert_eq!(by(4)["signals"][0]["kind"], "confirm");
    assert!(by(4)["contribution"].as_i64() > Some(0));
    assert_eq!(by(5)["verdict"], "rebutted");
    assert_eq!(
        (&by(7)["verdict"], &by(7)["set_aside"]),
        (&json!("ignored"), &json!("without a voice: does not count"))
    );

    let text = replay(&dir, &["--explain", &post]);
    for part in ["OUT   evidence", "IN    evidence", "\"fails'); confirmed: by all (' on 1.2\"", "own cause"]
    {
        assert!(out(&text).contains(part), "{part}: {}", out(&text));
    }
    assert!(!out(&text).contains('\u{202e}') && out(&text).contains("\"Use 'serde'\""), "{}", out(&text));
}

#[test]
fn a_key_is_explained_by_paths_of_trust() {
    let World { dir, .. } = world("key");
    let json = explained(&dir, &Log::key(8));
    assert_eq!((&json["class"], &json["origins"]), (&json!(Log::key(2)), &json!([Log::key(2)])));
    let because = json["because"].to_string();
    assert!(because.contains("class: dependent, all its trust came through"), "{because}");

    // Others came to rely on its digest.
    let json = explained(&dir, &Log::key(6));
    assert_eq!((&json["class"], &json["group"]), (&json!(Log::key(6)), &json!(Log::key(6))));
    assert_eq!(json["origins"].as_array().map(Vec::len), Some(3));
    let paths = json["trusted"]["paths"].as_array().expect("paths");
    let path = paths.iter().find(|path| path["vouched"] == true).expect("a vouch");
    assert_eq!((&path["from"], &path["vouched"]), (&json!(Log::key(2)), &json!(true)));
    assert_eq!(
        (&path["paths"][0]["from"], &path["paths"][0]["profile"]),
        (&json!(Log::key(1)), &json!(true))
    );
    assert!(json["earned"]["sum"].as_i64() > Some(0), "the digest was confirmed");
    assert!(json["lost"]["parts"][0]["part"] == Log::key(5), "{}", json["lost"]);

    let anchor = explained(&dir, &Log::key(4));
    assert_eq!(anchor["owner"], "acme 'labs'");
    assert_eq!(anchor["trusted"]["seeded"], "an own profile vouches for it");
    assert!(anchor["because"].to_string().contains("origins: an anchor"), "{anchor}");
    let profile = explained(&dir, &Log::key(1));
    assert_eq!(profile["trusted"]["seeded"], "an own profile");
    assert_eq!(explained(&dir, &Log::key(7))["origins"], json!([]));
}

#[test]
fn what_cannot_be_explained_is_told() {
    let World { dir, post, evidence, .. } = world("unknown");
    for (name, message) in [
        ("00000000", "00000000: no event or key of that name has been seen"),
        (&evidence, "no ask, post or digest"),
    ] {
        let output = replay(&dir, &["--explain", name, "--explain", &post]);
        assert_eq!(output.status.code(), Some(1));
        assert!(err(&output).contains(message), "{}", err(&output));
        assert!(out(&output).starts_with("post "), "the other is explained: {}", out(&output));
    }
}

#[test]
fn a_name_in_two_networks_is_explained_in_each() {
    let dir = scratch("networks");
    let mut log = Log::new();
    log.event(2, json!({"kind": "post", "text": "here"}));
    log.event_in("side", 2, json!({"kind": "post", "text": "there"}));
    log.write(&dir);
    let output = wats(&dir, &["replay", "log.jsonl", "--explain", &Log::key(2)[..8]]);
    let keys = out(&output).lines().filter(|line| line.starts_with("key "));
    assert_eq!(keys.count(), 2, "{}", out(&output));
    assert!(out(&output).contains("in main") && out(&output).contains("in side"));
}

#[test]
fn a_person_gets_tables() {
    let World { dir, digest, .. } = world("person");
    let output = replay(&dir, &[]);
    assert_eq!((output.status.code(), err(&output)), (Some(0), ""), "no progress bar without a terminal");
    let text = out(&output);
    for part in ["Posts by status", "Knowledge", &digest[..12], "\"All of it\"", "Most trusted", "bad_field"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let contested = text.lines().find(|line| line.contains("\"Wrong\"")).expect("the contested post");
    assert!(contested.contains("contested: contradicted with evidence by 1 key (\"fails');"), "{contested}");
    assert!(!text.contains('\u{1b}'), "no colours without a terminal");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}
