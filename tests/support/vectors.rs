//! Vectors: folders of a log, a configuration and the document that they must give.
#![allow(dead_code, reason = "each test takes what it needs")]

use serde_json::{Value, json};
use std::io::Read;
use std::path::{Path, PathBuf};
use wats_config::Config;
use wats_engine::replay::{Bounds, Place, Replay};
use wats_event::log::{Checked, Options, Source, read};
use wats_model::ids::Millis;

/// Everything in one tick.
pub(crate) const ONE_TICK: Bounds = Bounds { records: usize::MAX, span: Millis(u64::MAX) };

/// A vector, its lines judged.
pub(crate) struct Vector {
    pub name: String,
    pub config: Config,
    pub lines: Vec<Checked>,
    /// What `expected.json` holds.
    pub want: Value,
}

impl Vector {
    pub(crate) fn load(folder: &Path) -> Vector {
        let config = Config::load(&folder.join("wats.toml")).expect("a configuration");
        let log = bytes(&folder.join("log.jsonl"));
        Vector {
            name: folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
            lines: judge(log, &config),
            config,
            want: serde_json::from_slice(&bytes(&folder.join("expected.json"))).expect("JSON"),
        }
    }

    /// Where a replay of these lines, in this order, differs from what is expected.
    pub(crate) fn differences(&self, lines: &[Checked], workers: usize, bounds: Bounds) -> Vec<String> {
        let now = Millis(self.want["now"].as_u64().expect("a time"));
        let got = document(&self.config, lines, Some(now), workers, bounds);
        let mut differences = Vec::new();
        compare(&self.want, &got, "", &mut differences);
        differences
    }

    /// The same, where the lines' places may have changed: of what was refused, only the codes count.
    pub(crate) fn differences_in_any_order(
        &self,
        lines: &[Checked],
        workers: usize,
        bounds: Bounds,
    ) -> Vec<String> {
        let now = Millis(self.want["now"].as_u64().expect("a time"));
        let mut got = document(&self.config, lines, Some(now), workers, bounds);
        let mut want = self.want.clone();
        let mut differences = Vec::new();
        if let (Some(want), Some(got)) = (remove(&mut want, "refused"), remove(&mut got, "refused")) {
            let (want, got) = (codes(&want), codes(&got));
            if want != got {
                differences.push(format!("refused: want {want:?}, got {got:?}"));
            }
        }
        compare(&want, &got, "", &mut differences);
        differences
    }
}

fn remove(value: &mut Value, member: &str) -> Option<Value> {
    value.as_object_mut()?.remove(member)
}

/// The codes of refused lines, sorted.
fn codes(refused: &Value) -> Vec<String> {
    let mut codes: Vec<String> =
        refused.as_array().into_iter().flatten().map(|r| r["code"].to_string()).collect();
    codes.sort_unstable();
    codes
}

/// The vectors of the specification: the repository's copy, or those in the directory that `WATS_VECTORS` names.
pub(crate) fn of_the_specification() -> Vec<PathBuf> {
    let directory =
        std::env::var_os("WATS_VECTORS").map_or_else(|| here("tests/vectors/spec"), PathBuf::from);
    let folders = folders(&directory);
    assert!(
        !folders.is_empty(),
        "no vector in {}; WATS_VECTORS names another directory",
        directory.display()
    );
    folders
}

/// Real logs with expected results: the repository's own, and those in the directory that `WATS_DATA` names.
pub(crate) fn real_logs() -> Vec<PathBuf> {
    let mut logs = folders(&here("tests/data"));
    if let Some(more) = std::env::var_os("WATS_DATA") {
        logs.extend(folders(Path::new(&more)));
    }
    assert!(!logs.is_empty(), "no real log in tests/data");
    logs
}

/// A path of the repository.
pub(crate) fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The folders of a directory that hold a log with its configuration, sorted; none when it is not there.
pub(crate) fn folders(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|folder| folder.join("wats.toml").exists())
        .collect();
    folders.sort();
    folders
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

/// The lines of a log, judged.
pub(crate) fn judge(log: Vec<u8>, config: &Config) -> Vec<Checked> {
    let source = Source::from_reader("log", std::io::Cursor::new(log)).expect("a log");
    let lines = read(source, &Options::new(config.rules()));
    lines.map(|line| line.expect("a log that can be read to its end")).collect()
}

/// The document that a replay of these lines gives.
pub(crate) fn document(
    config: &Config,
    lines: &[Checked],
    until: Option<Millis>,
    workers: usize,
    bounds: Bounds,
) -> Value {
    let replay = replayed(config, lines, until, workers, bounds);
    let mut networks = Vec::new();
    replay.document.write_networks(&mut networks, &replay.intake, "\n").expect("memory can be written");
    let refused: Vec<Value> = replay
        .refused
        .lines
        .iter()
        .map(|(place, code)| json!({ "line": place.line, "code": code.to_string() }))
        .collect();
    json!({
        "networks": serde_json::from_slice::<Value>(&networks).expect("JSON"),
        "now": replay.now().0,
        "refused": refused,
    })
}

/// A replay of these lines, at its end.
pub(crate) fn replayed(
    config: &Config,
    lines: &[Checked],
    until: Option<Millis>,
    workers: usize,
    bounds: Bounds,
) -> Replay {
    let mut replay = Replay::start(config, until, workers, bounds).expect("the engine starts");
    for line in lines {
        let place = Place { log: 0, line: line.line };
        replay.take(place, line.clone()).expect("the engine runs");
    }
    replay.end().expect("the engine runs");
    replay
}

/// What is expected must be there and equal; there are no other posts and authors; entries are a set.
pub(crate) fn compare(want: &Value, got: &Value, path: &str, differences: &mut Vec<String>) {
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
    let items = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let mut entries: Vec<_> = items(list)
        .iter()
        .map(|entry| {
            let mut threads: Vec<String> = items(&entry["threads"]).iter().map(Value::to_string).collect();
            threads.sort_unstable();
            (entry["entry"].to_string(), entry["kind"].to_string(), threads)
        })
        .collect();
    entries.sort();
    entries
}
