//! A host of agents: it starts `wats mcp`, and speaks the protocol over its standard input and output.
#![allow(dead_code, reason = "each test takes what it needs")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long a test waits for an answer before it fails.
const LONG: Duration = Duration::from_secs(120);

/// A program of its own that gives tools.
pub(crate) struct Host {
    child: Child,
    input: Option<ChildStdin>,
    said: Receiver<String>,
    next: u64,
    /// Answers that came before they were asked for.
    kept: Vec<Value>,
}

impl Host {
    /// Starts it for the node of a directory, and shakes hands.
    pub(crate) fn start(dir: &Path) -> Host {
        Host::with(dir, &[])
    }

    /// The same, with arguments.
    pub(crate) fn with(dir: &Path, arguments: &[&str]) -> Host {
        let mut host = Host::raw(dir, arguments);
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } });
        let id = host.send("initialize", hello);
        let answer = host.answer(id);
        assert_eq!(answer["result"]["serverInfo"]["name"], "wats", "{answer}");
        host.tell("notifications/initialized", json!({}));
        host
    }

    /// Starts it, and says nothing.
    pub(crate) fn raw(dir: &Path, arguments: &[&str]) -> Host {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wats"));
        command.args(["mcp", "--dir"]).arg(dir).env_remove("WATS_CONFIG");
        // A node that it starts must not take the usual port.
        command.args(["--set", "node.listen=127.0.0.1:0"]).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("wats runs");
        let (heard, said) = channel();
        let lines = BufReader::new(child.stdout.take().expect("its standard output"));
        std::thread::spawn(move || lines.lines().map_while(Result::ok).try_for_each(|line| heard.send(line)));
        let input = child.stdin.take();
        Host { child, input, said, next: 0, kept: Vec::new() }
    }

    fn write(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("its standard input");
        writeln!(input, "{message}").expect("it reads");
    }

    /// Sends a request; its number.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        self.next
    }

    /// Sends a notification.
    pub(crate) fn tell(&mut self, method: &str, params: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Begins to call a tool.
    pub(crate) fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The answer to a request. Whatever is said besides must be of the protocol too.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        if let Some(at) = self.kept.iter().position(|answer| answer["id"] == id) {
            return self.kept.swap_remove(at);
        }
        let until = Instant::now() + LONG;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.said.recv_timeout(left).expect("an answer in time");
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if message["id"] == id {
                return message;
            }
            self.kept.push(message);
        }
    }

    /// Whether an answer comes within a time.
    pub(crate) fn is_answered(&mut self, id: u64, within: Duration) -> bool {
        if let Ok(line) = self.said.recv_timeout(within) {
            self.kept.push(serde_json::from_str(&line).expect("JSON"));
        }
        self.kept.iter().any(|answer| answer["id"] == id)
    }

    /// Calls a tool: what it gives, or what it complains of.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        let id = self.begin(tool, arguments);
        outcome(&self.answer(id))
    }

    /// Calls a tool that must do what it is asked.
    pub(crate) fn good(&mut self, tool: &str, arguments: Value) -> Value {
        let shown = arguments.to_string();
        self.call(tool, arguments).unwrap_or_else(|e| panic!("{tool} {shown}: {e}"))
    }

    /// Closes its input, and waits until it ends.
    pub(crate) fn end(mut self) -> ExitStatus {
        drop(self.input.take());
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            assert!(began.elapsed() < LONG, "it does not end with its input");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the answer to a call of a tool holds.
pub(crate) fn outcome(answer: &Value) -> Result<Value, String> {
    let result = &answer["result"];
    let words = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    if !answer["error"].is_null() {
        return Err(answer["error"].to_string());
    }
    if result["isError"] == true {
        return Err(words);
    }
    let copy: Value = serde_json::from_str(&words).expect("a copy as text");
    assert_eq!(copy, result["structuredContent"], "the text is a copy of what is structured");
    Ok(copy)
}
