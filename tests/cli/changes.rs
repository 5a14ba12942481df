//! `wats replay --changes`: its lines, applied in order, give the document.

use crate::{cli, vectors};
use cli::{DAY, Log, err, out, scratch, wats};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// (network, kind, id): what is there.
type State = BTreeMap<(String, &'static str, String), Value>;

const KINDS: [&str; 4] = ["post", "author", "entry", "network_label"];

/// Replays with `--changes --json`, applies the lines, and holds the result against the document;
/// the number of change lines.
fn prove(dir: &Path, args: &[&str]) -> usize {
    let all = [&["replay", "--changes", "--json", "--skip-signatures"], args].concat();
    let output = wats(dir, &all);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let mut lines: Vec<Value> =
        out(&output).lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let document = lines.pop().expect("the document is the last line");
    let mut state = State::new();
    let mut tick = 0;
    let mut changes = 0;
    for line in &lines {
        if line.get("records").is_some() {
            let number = line["tick"].as_u64().expect("a number");
            assert!(number > tick, "ticks are numbered upwards");
            assert!(line["now"].is_u64() && line["records"].is_array());
            tick = number;
        } else {
            assert_eq!(line["tick"], tick, "a change is of the tick announced");
            apply(&mut state, line);
            changes += 1;
        }
    }
    assert!(state == of_document(&document), "{args:?}: the lines give another document");
    changes
}

fn apply(state: &mut State, line: &Value) {
    let kind = KINDS.into_iter().find(|kind| line.get(kind).is_some()).expect("a kind");
    let text = |name: &str| line[name].as_str().expect("text").to_owned();
    let key = (text("network"), kind, text(kind));
    let (before, after) = (&line["before"], &line["after"]);
    assert_ne!(before, after, "a line is a change");
    assert_eq!(state.get(&key).unwrap_or(&Value::Null), before, "before is what was there: {line}");
    match after {
        Value::Null => state.remove(&key),
        after => state.insert(key, after.clone()),
    };
}

fn of_document(document: &Value) -> State {
    let mut state = State::new();
    for (network, part) in document["networks"].as_object().expect("networks") {
        for (kind, list) in [("post", "posts"), ("author", "authors")] {
            let items: &Map<String, Value> = part[list].as_object().expect("a list");
            state.extend(items.iter().map(|(id, v)| ((network.clone(), kind, id.clone()), v.clone())));
        }
        for entry in part["entries"].as_array().expect("entries") {
            let id = entry["entry"].as_str().expect("an id").to_owned();
            state.insert((network.clone(), "entry", id), entry.clone());
        }
        if let Some(label) = part.get("network_label") {
            state.insert((network.clone(), "network_label", network.clone()), label.clone());
        }
    }
    state
}

/// In ticks of several sizes.
fn prove_in_ticks(dir: &Path, args: &[&str]) -> usize {
    let mut most = 0;
    for ticks in [&["--tick-records", "1"][..], &["--tick-records", "7", "--tick-span", "1h"], &[]] {
        for workers in ["1", "2"] {
            most = most.max(prove(dir, &[args, ticks, &["--workers", workers]].concat()));
        }
    }
    most
}

/// Everything that leaves a line: vouches, confirms, a contradiction rebutted, a digest that becomes an
/// entry and is contradicted, an accept, and time that passes.
fn life() -> Log {
    let mut log = Log::new();
    let announces: Vec<String> = (1..=7).map(|k| log.event(k, json!({"kind": "announce"}))).collect();
    for announce in &announces[1..6] {
        log.react(1, announce, json!({"label": "vouch"}));
    }
    let ask = log.event(2, json!({"kind": "ask", "title": "How?", "text": "?"}));
    let answer = log.event(3, json!({"kind": "post", "text": "So.", "parent": ask, "thread": ask}));
    log.react(2, &answer, json!({"accept": true}));
    log.react(4, &answer, json!({"value": 1, "evidence": "works"}));
    let digest = json!({"kind": "x.wearetheswarm.digest", "text": "All of it", "refs": [answer]});
    let digest = log.event(5, digest);
    log.react(4, &digest, json!({"value": 1, "evidence": {"detail": "checked"}}));
    log.react(2, &digest, json!({"used": true}));
    log.wait(DAY);
    let no = log.react(6, &digest, json!({"value": -1, "evidence": {"detail": "line \"3\"\nis wrong"}}));
    log.wait(DAY);
    log.react(3, &no, json!({"value": -1, "evidence": "it is right"}));
    log.wait(400 * DAY);
    log.event(7, json!({"kind": "post", "text": "late"}));
    log.wait(400 * DAY);
    log.event_in("side", 7, json!({"kind": "post", "text": "elsewhere"}));
    log
}

#[test]
fn the_lines_give_the_document() {
    let dir = scratch("life");
    let log = life();
    log.write(&dir);
    let changes = prove_in_ticks(&dir, &["log.jsonl"]);
    assert!(changes >= 30, "{changes} changes");
    let changes = prove_in_ticks(&dir, &["log.jsonl", "--config", "wats.toml"]);
    assert!(changes > 40, "{changes} changes");
    let now = (cli::START + 10 * DAY).to_string();
    prove_in_ticks(&dir, &["log.jsonl", "--config", "wats.toml", "--now", &now]);
}

#[test]
fn a_new_name_of_a_group_is_told_of_all_who_bear_it() {
    let dir = scratch("renamed");
    // Keys by name: the smaller is not yet a member when the others are seen with the group.
    let mut keys: Vec<u8> = (2..=6).collect();
    keys.sort_by_key(|k| Log::key(*k));
    let [smallest, member, other, protege, far] = keys[..] else { unreachable!("five keys") };
    let mut log = Log::new();
    let owner = json!({"kind": "announce", "data": {"owner": "acme"}});
    let announce = log.event(member, owner.clone());
    log.event(other, owner.clone());
    log.react(1, &announce, json!({"label": "vouch"}));
    // Origins and classes of those whom a member backs name the group.
    for (from, to) in [(member, protege), (protege, far)] {
        let announce = log.event(to, json!({"kind": "announce"}));
        log.react(from, &announce, json!({"label": "vouch"}));
    }
    log.event(smallest, json!({"kind": "announce"}));
    log.wait(DAY);
    let joined = log.len() + 1;
    log.event(smallest, owner);
    log.wait(DAY);
    log.event(smallest, json!({"kind": "announce"}));
    log.write(&dir);
    let args = ["log.jsonl", "--config", "wats.toml"];
    prove_in_ticks(&dir, &args);

    let output = wats(&dir, &[&["replay", "--changes", "--tick-records", "1"], &args[..]].concat());
    let lines: Vec<Value> =
        out(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of_tick = |line: usize| -> BTreeMap<String, Value> {
        let record = format!("log.jsonl:{line}");
        let head = lines.iter().find(|l| l["records"] == json!([record])).expect("a tick");
        let changes = lines.iter().filter(|l| l["tick"] == head["tick"] && l["author"].is_string());
        changes.map(|l| (l["author"].as_str().expect("a key").to_owned(), l.clone())).collect()
    };
    for (line, before, after) in [(joined, member, smallest), (joined + 1, smallest, member)] {
        let changes = of_tick(line);
        for key in [member, other] {
            let change = &changes[&Log::key(key)];
            assert_eq!(change["before"]["group"], Log::key(before), "line {line}");
            assert_eq!(change["after"]["group"], Log::key(after), "line {line}");
        }
        for key in [protege, far] {
            let change = &changes[&Log::key(key)];
            assert_eq!(change["before"]["origins"], json!([Log::key(before)]), "line {line}");
            assert_eq!(change["after"]["origins"], json!([Log::key(after)]), "line {line}");
            assert_eq!(change["after"]["class"], Log::key(after), "line {line}");
            assert_eq!(change["before"]["trust"], change["after"]["trust"]);
        }
    }
}

#[test]
fn a_tick_names_its_records() {
    let dir = scratch("records");
    let mut log = Log::new();
    log.event(2, json!({"kind": "post", "text": "a"}));
    log.event(2, json!({"kind": "post", "text": "b"}));
    log.line("not a record");
    log.event(2, json!({"kind": "post", "text": "c"}));
    log.write(&dir);
    let output = wats(&dir, &["replay", "--changes", "log.jsonl"]);
    let first: Value = serde_json::from_str(out(&output).lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["records"], json!(["log.jsonl:1-2", "log.jsonl:4"]));
    let output = wats(&dir, &["replay", "--changes", "--tick-records", "2", "log.jsonl"]);
    let ticks: Vec<Value> = out(&output)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter(|line| line.get("records").is_some())
        .map(|line| line["records"].clone())
        .collect();
    assert_eq!(ticks, [json!(["log.jsonl:1-2"]), json!(["log.jsonl:4"])]);
}

#[test]
fn the_lines_give_the_document_on_the_sample() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let args = ["sample.jsonl.zst", "--config", "wats.toml"];
    for ticks in [&["--tick-records", "50"][..], &["--tick-span", "6h", "--workers", "2"]] {
        let changes = prove(&examples, &[&args[..], ticks].concat());
        assert!(changes > 1000, "{changes} changes");
    }
}

#[test]
fn the_lines_give_the_document_on_the_vectors() {
    let folders = vectors::of_the_specification();
    for folder in &folders {
        let want: Value =
            serde_json::from_slice(&std::fs::read(folder.join("expected.json")).expect("a file"))
                .expect("JSON");
        let now = want["now"].to_string();
        for ticks in ["1", "1024"] {
            prove(folder, &["log.jsonl", "--config", "wats.toml", "--now", &now, "--tick-records", ticks]);
        }
    }
}
