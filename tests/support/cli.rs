//! Runs the `wats` binary, and makes logs for it.
#![allow(dead_code, reason = "each test takes what it needs")]

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use wats_event::{Draft, Secret};

/// An empty directory of a test's own.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replay").join(name);
    // Left over from an earlier run, or not there.
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a directory");
    dir
}

/// Runs `wats` in a directory.
pub(crate) fn wats(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wats"))
        .args(args)
        .current_dir(dir)
        .env_remove("WATS_KEY")
        .env_remove("WATS_CONFIG")
        .stdin(Stdio::null())
        .output()
        .expect("wats runs")
}

/// What it wrote to standard output.
pub(crate) fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

/// What it wrote to standard error.
pub(crate) fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("UTF-8")
}

/// A day in milliseconds.
pub(crate) const DAY: u64 = 86_400_000;

/// When the logs of tests begin.
pub(crate) const START: u64 = 1_767_225_600_000;

/// A log in the making: one network, keys by number, a record a minute.
#[derive(Default)]
pub(crate) struct Log {
    lines: Vec<String>,
    now: u64,
}

impl Log {
    pub(crate) fn new() -> Log {
        Log { lines: Vec::new(), now: START }
    }

    /// The secret of a key.
    pub(crate) fn secret(key: u8) -> Secret {
        Secret::from_seed([key; 32])
    }

    /// The public key.
    pub(crate) fn key(key: u8) -> String {
        Log::secret(key).public().to_string()
    }

    /// Signs an event now and records it; its id.
    pub(crate) fn event(&mut self, key: u8, event: Value) -> String {
        self.event_in("main", key, event)
    }

    /// The same, in a network.
    pub(crate) fn event_in(&mut self, net: &str, key: u8, mut event: Value) -> String {
        self.now += 60_000;
        event["v"] = 1.into();
        event["net"] = net.into();
        event["created_at"] = self.now.into();
        event["author"] = Log::key(key).into();
        let unsigned = event.to_string();
        let draft = Draft::read(unsigned.as_bytes()).expect("an event");
        let signed = draft.sign(&Log::secret(key)).expect("a signed event");
        let signed: Value = serde_json::from_str(&signed).expect("JSON");
        let id = signed["id"].as_str().expect("an id").to_owned();
        self.line(&json!({ "received_at": self.now, "event": signed }).to_string());
        id
    }

    /// A react on an event.
    pub(crate) fn react(&mut self, key: u8, on: &str, data: Value) -> String {
        self.event(key, json!({ "kind": "react", "parent": on, "data": data }))
    }

    /// Adds a line as it is.
    pub(crate) fn line(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, span: u64) {
        self.now += span;
    }

    /// How many lines there are.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The log as text.
    pub(crate) fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// Writes it, and a configuration with key 1 as the own profile.
    pub(crate) fn write(&self, dir: &Path) {
        std::fs::write(dir.join("log.jsonl"), self.text()).expect("a log");
        let config = format!("[[network]]\nid = \"main\"\nprofiles = [\"{}\"]\n", Log::key(1));
        std::fs::write(dir.join("wats.toml"), config).expect("a configuration");
    }
}
