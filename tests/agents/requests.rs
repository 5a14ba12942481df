//! Requests that the document of the API gives rise to, right ones and wrong ones: whatever comes, the
//! answer is one that the document describes, and the node lives.
//!
//! `WATS_FUZZ_SECONDS` says for how long (2 by default), `WATS_FUZZ_SEED` from where.

use super::api::{Api, Operation};
use super::dice::Dice;
use super::node::generated;
use super::{Story, http};
use serde_json::Value;
use std::time::{Duration, Instant};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Texts that have broken something somewhere.
const ODD: [&str; 22] = [
    "",
    " ",
    "0",
    "-1",
    "1",
    "18446744073709551615",
    "18446744073709551616",
    "9007199254740993",
    "1e3",
    "NaN",
    "true",
    "null",
    "[]",
    "\"",
    "\0",
    "\u{202e}x",
    "é",
    "%",
    "%zz",
    "a b",
    "tag:",
    "-",
];

struct Maker<'a> {
    api: &'a Api,
    /// Ids, cursors and words that mean something.
    known: Vec<String>,
    events: Vec<String>,
}

impl Maker<'_> {
    fn value(&self, schema: &Value, dice: &mut Dice<'_>) -> String {
        let schema = self.api.resolve(schema);
        if dice.below(4) == 0 {
            return match dice.below(3) {
                0 => "x".repeat(dice.below(3_000)),
                1 => self.known[dice.below(self.known.len())].clone(),
                _ => ODD[dice.below(ODD.len())].to_owned(),
            };
        }
        if let Some(names) = schema["enum"].as_array() {
            return names[dice.below(names.len())].as_str().unwrap_or("null").to_owned();
        }
        match schema["type"].as_str() {
            Some("integer") => (dice.roll() >> (8 * dice.below(8))).to_string(),
            Some("boolean") => ["true", "false"][dice.below(2)].to_owned(),
            _ => self.known[dice.below(self.known.len())].clone(),
        }
    }

    fn path(&self, operation: &Operation<'_>, dice: &mut Dice<'_>) -> String {
        let (mut path, mut query) = (operation.path.to_owned(), Vec::new());
        for parameter in self.api.parameters(operation) {
            let name = parameter["name"].as_str().expect("a name");
            let value = match name {
                "network" if dice.below(8) > 0 => "main".to_owned(),
                // A test does not wait.
                "timeout" => {
                    if dice.below(8) > 0 {
                        "0".into()
                    } else {
                        ODD[dice.below(4)].to_owned()
                    }
                }
                _ => self.value(&parameter["schema"], dice),
            };
            match parameter["in"].as_str() {
                Some("path") => path = path.replace(&format!("{{{name}}}"), &escaped(&value, dice)),
                _ if name == "timeout" || parameter["required"] == true || dice.below(3) == 0 => {
                    query.push(format!("{name}={}", escaped(&value, dice)));
                }
                _ => {}
            }
        }
        if dice.below(20) == 0 {
            query.push(format!("{}={}", escaped(&self.value(&Value::Null, dice), dice), dice.roll()));
        }
        if dice.below(20) == 0 && !query.is_empty() {
            query.push(query[dice.below(query.len())].clone());
        }
        dice.shuffle(&mut query);
        let query = query.join("&").replace([' ', '\r', '\n', '\0'], "+");
        if query.is_empty() { path } else { format!("{path}?{query}") }
    }

    fn body(&self, dice: &mut Dice<'_>) -> (&'static str, Vec<u8>) {
        let media = ["application/json", "application/x-ndjson", "application/jsonl", "text/plain", ""];
        let media = media[dice.below(20).min(4).min(dice.below(5))];
        let lines = 1 + dice.below(if media == "application/json" { 1 } else { 5 });
        let mut body = Vec::new();
        for _ in 0..lines {
            body.extend_from_slice(self.events[dice.below(self.events.len())].as_bytes());
            body.push(b'\n');
        }
        for _ in 0..dice.below(3) {
            let at = dice.below(body.len());
            match dice.below(3) {
                0 => body[at] = dice.roll() as u8,
                1 => body.truncate(at),
                _ => body.insert(at, b'"'),
            }
            if body.is_empty() {
                break;
            }
        }
        (media, body)
    }
}

/// In percents where that is needed, and sometimes not.
fn escaped(value: &str, dice: &mut Dice<'_>) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~:,".contains(&b);
    let odd = dice.below(30) == 0;
    let text: String = value
        .bytes()
        .map(|b| {
            if plain(b) || (odd && b"!$&'()*+;=@/?".contains(&b)) {
                char::from(b).to_string()
            } else {
                format!("%{b:02X}")
            }
        })
        .collect();
    if odd { format!("{text}%ff") } else { text }
}

#[test]
fn whatever_is_asked_the_answer_is_described() {
    let story = Story::new("requests");
    story.settle_it();
    let node = story.running.address();
    let api = Api::of(node);
    let cursor = |path: &str| story.get(path)["cursor"].as_str().map(str::to_owned);
    let (_, events) = generated(7, 300);
    let mut known =
        vec!["main".into(), "cache".into(), "because".into(), "build".into(), "\"the cache\" -moon".into()];
    known.extend([story.ask, story.answer, story.other].map(|id| id.to_string()));
    known.extend(cursor("/v1/wait?network=main&timeout=0"));
    known.extend(cursor("/v1/browse?network=main&by=tag&limit=1"));
    known.extend(["2026-01", "2026-01-01", "why"].map(str::to_owned));
    known.extend(cursor("/v1/search?network=main&q=because&limit=1&include_low=true"));
    known.extend(cursor(&format!("/v1/threads/{}?limit=1", story.ask)));
    let make = Maker { api: &api, known, events };
    let operations = api.operations();
    let until = Instant::now() + Duration::from_secs(setting("WATS_FUZZ_SECONDS", 2));
    let mut seed = setting("WATS_FUZZ_SEED", 1);
    let mut good = 0;
    while Instant::now() < until {
        let mut dice = Dice::new(seed);
        let operation = &operations[dice.below(operations.len())];
        let path = make.path(operation, &mut dice);
        let (media, body) = match operation.method.as_str() {
            "POST" => make.body(&mut dice),
            _ => ("", Vec::new()),
        };
        let headers: &[_] = if media.is_empty() { &[] } else { &[("Content-Type", media)] };
        let asked = format!("seed {seed}: {} {path} {}", operation.method, String::from_utf8_lossy(&body));
        let answer = http::try_call(node, &operation.method, &path, headers, &body);
        let answer = answer.unwrap_or_else(|e| panic!("{asked}: {e}"));
        assert_ne!(answer.status, 500, "{asked}: {}", String::from_utf8_lossy(&answer.body));
        // A path with a slash within may be no path of the API.
        let elsewhere = answer.status == 404 && operation.path.contains('{');
        if !elsewhere {
            api.check(operation, &answer, &asked);
        }
        good += u64::from(answer.status < 300);
        seed += 1;
    }
    assert!(good > 0, "some requests are right");
    assert_eq!(http::get(node, "/healthz").status, 200);
    story.running.check();
}
