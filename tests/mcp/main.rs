//! Agents and their tools: the real program over standard input and output, the real node over HTTP.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines,
    reason = "a test prints what it measured, and tells its story in one piece"
)]

mod clients;
mod crowd;
mod hostile;
#[path = "../support/http.rs"]
mod http;
mod idle;
mod labels;
#[path = "../support/mcp.rs"]
mod mcp;
mod remote;
mod stdio;
mod story;

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use wats_api::client::{Client, Node as Address};
use wats_event::{Secret, sign};
use wats_model::clock::Clock;

/// How long a test waits before it fails.
const LONG: Duration = Duration::from_secs(120);

/// A node's directory, made by `wats init`; whatever node runs there is ended with the test. Paths of
/// sockets must be short.
struct House(PathBuf);

impl House {
    fn new(name: &str) -> House {
        let dir = std::env::temp_dir().join(format!("wats-mcp-{name}-{}", std::process::id()));
        // Left over from a run that died, or not there.
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("a directory");
        let house = House(dir.join("node"));
        let made = Command::new(env!("CARGO_BIN_EXE_wats"))
            .args(["init", "--dir"])
            .arg(&house.0)
            .env_remove("WATS_CONFIG")
            .output()
            .expect("wats runs");
        assert!(made.status.success(), "{made:?}");
        house
    }

    fn dir(&self) -> &Path {
        &self.0
    }

    fn host(&self) -> mcp::Host {
        mcp::Host::start(self.dir())
    }

    /// A connection to the node, by its socket.
    fn client(&self) -> Client {
        Client::connect(Address::Socket(self.0.join("wats.sock"))).expect("a node runs")
    }

    /// Starts the node with a token, and gives its address and the token.
    fn serve(&self) -> Served {
        use std::os::unix::fs::PermissionsExt;
        let (file, token) = (self.0.join("token"), "a-token-for-agents-only");
        fs::write(&file, token).expect("a token");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("private");
        let log = fs::File::create(self.0.join("test.log")).expect("a log");
        let mut command = Command::new(env!("CARGO_BIN_EXE_wats"));
        command.args(["node", "--listen", "127.0.0.1:0", "--token-file", "token", "--dir"]).arg(&self.0);
        command.env_remove("WATS_CONFIG").stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let mut served = Served {
            child: command.spawn().expect("wats runs"),
            address: String::new(),
            token: token.to_owned(),
        };
        let began = Instant::now();
        loop {
            let said = fs::read_to_string(self.0.join("test.log")).expect("a log");
            let address = said.split("address=").nth(1).and_then(|rest| rest.split(' ').next());
            if let Some(address) = address.filter(|_| said.contains("ready")) {
                address.clone_into(&mut served.address);
                return served;
            }
            assert!(began.elapsed() < LONG, "{said}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The process of the node that runs here: the store's lock names it.
    fn pid(&self) -> Option<rustix::process::Pid> {
        let holder = fs::read_to_string(self.0.join("store/wats.lock")).ok()?;
        rustix::process::Pid::from_raw(holder.trim().parse().ok()?)
    }

    /// `kill -9`
    fn kill(&self) {
        if let Some(pid) = self.pid() {
            // It may have ended already.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.kill();
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(self.0.parent().unwrap_or(&self.0));
        }
    }
}

/// A node that serves agents over HTTP; ended with the test.
struct Served {
    child: Child,
    address: String,
    token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Somebody else in the network, who sends signed events to the node.
struct Other(Secret);

impl Other {
    fn new(number: u8) -> Other {
        Other(Secret::from_seed([number; 32]))
    }

    fn key(&self) -> String {
        self.0.public().to_string()
    }

    /// Says something; its id.
    fn say(&self, house: &House, mut event: Value) -> String {
        event["net"] = "main".into();
        event["created_at"] = Clock::Wall.now().0.into();
        let text = sign(&self.0, event.to_string().as_bytes()).expect("an event");
        let outcome = house.client().event(&text).expect("it is taken");
        outcome["id"].as_str().expect("an id").to_owned()
    }

    fn answer(&self, house: &House, ask: &str, text: &str) -> String {
        self.say(house, json!({ "kind": "post", "parent": ask, "thread": ask, "text": text }))
    }

    fn react(&self, house: &House, on: &str, data: Value) -> String {
        self.say(house, json!({ "kind": "react", "parent": on, "data": data }))
    }

    fn announce(&self, house: &House) -> String {
        self.say(house, json!({ "kind": "announce" }))
    }
}

/// Looks again until something holds: what is acknowledged is seen a moment later.
fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < LONG, "{what} is still to come");
        std::thread::sleep(Duration::from_millis(20));
    }
}
