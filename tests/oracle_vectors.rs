//! The oracle against the shared vectors and the real logs, where they are at hand: every value of
//! `expected.json`, to the last digit.

use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;
use wats::config::Config;
use wats::intake::{Change, Intake};
use wats::log::{Options, Record, Source, read};
use wats_dataflows::facts::EventFact;
use wats_dataflows::ids::{BlobId, EventId, GroupId, KeyId, Millis, NetworkId};
use wats_dataflows::views::{AuthorView, PostView, Status};
use wats_oracle::{State, Views, evaluate};

#[test]
fn vectors_match_to_the_last_digit() {
    all_match("vectors", "WATS_VECTORS");
}

#[test]
fn real_logs_match_to_the_last_digit() {
    all_match("data", "WATS_DATA");
}

/// Compares every folder of `../shared/<name>`, or of the directory that the variable names.
fn all_match(name: &str, variable: &str) {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(name);
    let given = std::env::var_os(variable).map_or(beside, PathBuf::from);
    if !given.is_dir() {
        println!("skipped: no {name} here; {variable} names their directory");
        return;
    }
    let mut folders: Vec<PathBuf> = std::fs::read_dir(given)
        .expect("a directory that can be read")
        .map(|entry| entry.expect("an entry").path())
        .filter(|folder| folder.is_dir())
        .collect();
    folders.sort();
    let mut failed = 0;
    for folder in &folders {
        let differences = differences(folder);
        if !differences.is_empty() {
            failed += 1;
            println!("{}: {} differences", folder.display(), differences.len());
            differences.iter().take(6).for_each(|line| println!("    {line}"));
        }
    }
    assert!(!folders.is_empty(), "a directory with vectors");
    assert_eq!(failed, 0, "of {} folders", folders.len());
    println!("{} folders match", folders.len());
}

/// Where the oracle's answer differs from what a folder expects.
fn differences(folder: &Path) -> Vec<String> {
    let want: Value = serde_json::from_slice(&bytes(&folder.join("expected.json"))).expect("JSON");
    let now = Millis(want["now"].as_u64().expect("a time"));
    let log = Log::load(folder, now);
    let started = Instant::now();
    let views = evaluate(&State { config: log.intake.config(), events: &log.events, blobs: &log.blobs, now });
    if log.events.len() > 10_000 {
        println!("{}: {} events in {:?}", folder.display(), log.events.len(), started.elapsed());
    }
    let got = json!({ "networks": log.networks(&views), "now": now.0, "refused": log.refused });
    let mut differences = Vec::new();
    compare(&want, &got, "", &mut differences);
    differences
}

/// A file, or the one beside it that is compressed.
fn bytes(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let packed = path.with_added_extension("gz");
    let read = match std::fs::File::open(&packed) {
        Ok(file) => flate2::read::GzDecoder::new(file).read_to_end(&mut bytes),
        Err(_) => std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)),
    };
    read.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    bytes
}

/// A log, read until `now`.
struct Log {
    intake: Intake,
    events: Vec<EventFact>,
    blobs: Vec<BlobId>,
    refused: Vec<Value>,
}

impl Log {
    fn load(folder: &Path, now: Millis) -> Log {
        let config = Config::load(&folder.join("wats.toml")).expect("a configuration");
        let mut intake = Intake::new(&config).expect("room for names");
        let plain = folder.join("log.jsonl");
        let path = if plain.exists() { plain } else { folder.join("log.jsonl.gz") };
        let mut changes = Vec::new();
        let mut refused = Vec::new();
        for line in read(Source::open(&path).expect("a log"), &Options::new(config.rules())) {
            let line = line.expect("a log that can be read to its end");
            let taken = match line.outcome {
                Err(refusal) => {
                    refused.push(json!({ "line": line.line, "code": refusal.code.to_string() }));
                    continue;
                }
                Ok(_) if line.received_at > now => continue,
                Ok(Record::Event(event)) => intake.event(&event, line.received_at, &mut changes).map(drop),
                Ok(Record::Blob { blob, present }) => {
                    intake.blob(blob, present, line.received_at, &mut changes).map(drop)
                }
            };
            taken.expect("room for names");
        }
        let mut events: BTreeMap<EventId, EventFact> = BTreeMap::new();
        let mut blobs: BTreeMap<BlobId, i64> = BTreeMap::new();
        for change in changes {
            match change {
                Change::Event(event, 1) => drop(events.insert(event.id, *event)),
                Change::Event(event, _) => drop(events.remove(&event.id)),
                Change::Blob(blob, change) => *blobs.entry(blob).or_default() += change,
            }
        }
        let events = events.into_values().collect();
        let blobs = blobs.into_iter().filter(|&(_, held)| held > 0).map(|(blob, _)| blob).collect();
        Log { intake, events, blobs, refused }
    }

    /// The views of each network, as `expected.json` has them.
    fn networks(&self, views: &Views) -> Value {
        let groups = self.group_names(views);
        let network_of: HashMap<EventId, NetworkId> =
            self.events.iter().map(|event| (event.id, event.network)).collect();
        let mut networks = serde_json::Map::new();
        for (network, name) in self.intake.networks() {
            let here = |id: &EventId| network_of.get(id) == Some(&network);
            let posts = views.posts.values().filter(|view| here(&view.post));
            let authors = views.authors.values();
            let authors = authors.filter(|view| self.intake.key_network(view.key) == Some(network));
            let entries = views.entries.iter().filter(|entry| here(&entry.entry)).map(|entry| {
                json!({
                    "entry": self.event(entry.entry),
                    "kind": if entry.digest { "digest" } else { "thread" },
                    "threads": entry.threads.iter().map(|&t| self.event(t)).collect::<Vec<_>>(),
                })
            });
            let value = json!({
                "posts": posts.map(|view| (self.event(view.post), post(view))).collect::<Value>(),
                "authors": authors
                    .map(|view| (self.key(view.key), author(view, &groups)))
                    .collect::<Value>(),
                "entries": entries.collect::<Value>(),
            });
            networks.insert(name.to_owned(), value);
        }
        Value::Object(networks)
    }

    /// A group is named by its smallest key.
    fn group_names(&self, views: &Views) -> HashMap<GroupId, String> {
        let mut names: HashMap<GroupId, String> = HashMap::new();
        for view in views.authors.values() {
            let key = self.key(view.key);
            let name = names.entry(view.group).or_insert_with(|| key.clone());
            if key < *name {
                *name = key;
            }
        }
        names
    }

    fn event(&self, id: EventId) -> String {
        self.intake.event_name(id).expect("an id of this intake").to_string()
    }

    fn key(&self, id: KeyId) -> String {
        self.intake.key_name(id).expect("a key of this intake").to_string()
    }
}

fn post(view: &PostView) -> Value {
    let counts = view.counts;
    json!({
        "status": match view.status {
            Status::Confirmed => "confirmed",
            Status::Contested => "contested",
            Status::Unverified => "unverified",
            Status::Stale => "stale",
        },
        "score": view.score.0,
        "replicas": view.replicas,
        "counts": {
            "accepts": counts.accepts,
            "confirmations": counts.confirmations,
            "uses": counts.uses,
            "contradictions": counts.contradictions,
            "cites": counts.cites,
            "votes_up": counts.votes_up,
            "votes_down": counts.votes_down,
        },
    })
}

fn author(view: &AuthorView, groups: &HashMap<GroupId, String>) -> Value {
    let mut origins: Vec<&String> = view.origins.iter().map(|group| &groups[group]).collect();
    origins.sort();
    json!({
        "trust": view.trust.0,
        "floor": view.floor.0,
        "weight": view.weight.0,
        "reputation": view.reputation.0,
        "voice": view.voice.0,
        "group": groups[&view.group],
        "class": groups[&view.class],
        "origins": origins,
    })
}

/// What is expected must be there and equal; there are no other posts and authors; entries are a set.
fn compare(want: &Value, got: &Value, path: &str, differences: &mut Vec<String>) {
    match (want, got) {
        (Value::Object(want), Value::Object(got)) => {
            for (name, want) in want {
                let path = format!("{path}/{name}");
                match got.get(name) {
                    Some(got) => compare(want, got, &path, differences),
                    None => differences.push(format!("{path}: missing")),
                }
            }
            if path.ends_with("/posts") || path.ends_with("/authors") {
                let more = got.keys().filter(|name| !want.contains_key(*name));
                differences.extend(more.map(|name| format!("{path}/{name}: not expected")));
            }
        }
        (Value::Array(_), Value::Array(_)) if path.ends_with("/entries") => {
            let (want, got) = (entries(want), entries(got));
            if want != got {
                differences.push(format!("{path}: want {want:?}, got {got:?}"));
            }
        }
        _ if want != got => differences.push(format!("{path}: want {want}, got {got}")),
        _ => {}
    }
}

/// (entry, kind, threads), sorted.
fn entries(list: &Value) -> Vec<(String, String, Vec<String>)> {
    let sorted = |list: &Value, of: &dyn Fn(&Value) -> String| {
        let mut list: Vec<String> = list.as_array().into_iter().flatten().map(of).collect();
        list.sort();
        list
    };
    let mut entries: Vec<_> = list
        .as_array()
        .into_iter()
        .flatten()
        .map(|entry| {
            let threads = sorted(&entry["threads"], &Value::to_string);
            (entry["entry"].to_string(), entry["kind"].to_string(), threads)
        })
        .collect();
    entries.sort();
    entries
}
