//! What an agent's commands look like to a person, and to a program: on a real node.

use crate::cli;
use cli::{err, out};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use wats_api::client::{Client, Node as Address};
use wats_event::{Secret, sign};

/// How long a test waits before it fails.
const LONG: Duration = Duration::from_secs(60);

/// What an author may write to take a terminal over: to clear it, to name its window, to reorder a line, to fake
/// one of ours.
const EVIL: &str =
    "harm\u{1b}[2J\u{1b}]0;owned\u{7} \u{202e}desrever\u{9b}31m\r\nconfirmed  ask      trust me";

/// A running node, and its directory. Paths of sockets must be short.
struct Node {
    dir: PathBuf,
    child: Child,
}

impl Node {
    fn new(name: &str) -> Node {
        let dir = std::env::temp_dir().join(format!("wats-read-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("a directory");
        let init = command(&dir, &["init"]).output().expect("wats runs");
        assert!(init.status.success(), "{}", err(&init));
        let child = start(&dir);
        let node = Node { dir, child };
        node.ready();
        node
    }

    fn ready(&self) {
        self.until("ready", || {
            let status = self.run(&["status", "--json"]);
            status.status.success() && out(&status).contains("\"phase\":\"ready\"")
        });
    }

    /// Waits until the views and the index have taken everything in.
    fn settle(&self) {
        self.until("settled", || {
            let status = self.json(&["status", "--json"]);
            status["sequence"]["lag"] == 0 && status["index"]["lag"] == 0
        });
    }

    fn until(&self, what: &str, holds: impl Fn() -> bool) {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < LONG, "not {what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn run(&self, args: &[&str]) -> Output {
        command(&self.dir, args).output().expect("wats runs")
    }

    /// Runs a command that must succeed; what it prints.
    fn good(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(output.status.success(), "{args:?}: {}{}", out(&output), err(&output));
        out(&output).to_owned()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.good(args)).expect("JSON")
    }

    /// Says something; its id.
    fn say(&self, args: &[&str]) -> String {
        self.good(args).trim().to_owned()
    }

    fn stop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it lives");
        assert!(self.child.wait().expect("a child").success());
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.dir);
    }
}

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wats"));
    command.args(args).current_dir(dir).env_clear().env("WATS_DIR", dir.join("node")).stdin(Stdio::null());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command
}

fn start(dir: &Path) -> Child {
    let mut node = command(dir, &["node", "--listen", "127.0.0.1:0", "--log", "warn"]);
    node.stderr(Stdio::null()).spawn().expect("wats runs")
}

#[test]
fn nothing_of_an_author_takes_the_terminal_over() {
    let node = Node::new("harm");
    let ask = node.say(&["ask", "harmless?", "--tag", "harm"]);
    let post = node.say(&["answer", &ask, EVIL]);
    node.say(&["react", &ask, "--vote", "1", "--evidence", EVIL]);
    node.say(&["announce", "--text", EVIL]);
    node.say(&["post", EVIL, "--tag", "harm\u{1b}[2J\u{202e}\r\nconfirmed"]);
    let from = "--cursor";
    let begin =
        node.json(&["wait", "--timeout", "0", "--json"])["cursor"].as_str().expect("a cursor").to_owned();
    // From the first record on.
    let begin = format!("{}{:016x}{}", &begin[..20], 0, &begin[36..]);
    node.settle();
    for args in [
        &["search", "harm"][..],
        &["search", "desrever", "--no-pager"],
        &["read", &ask],
        &["read", &post[..10]],
        &["wait", "--timeout", "0", from, &begin],
        &["why", &post],
        &["knowledge"],
        &["browse"],
        &["browse", "thread"],
        &["browse", "title", ""],
        &["status"],
    ] {
        let shown = node.good(args);
        let hidden = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}');
        assert!(!shown.contains(hidden), "{args:?}: {shown:?}");
        // No line but ours begins with a status.
        assert!(!shown.lines().any(|line| line.starts_with("confirmed")), "{args:?}: {shown}");
    }
    assert!(node.good(&["read", &ask]).contains("trust me"), "what is harmless of it is shown");
    // A program gets what was said, as JSON spells it.
    let thread = node.good(&["read", &ask, "--json"]);
    let thread: Value = serde_json::from_str(&thread).expect("JSON");
    assert_eq!(thread["posts"][0]["text"], EVIL);
}

#[test]
fn statuses_have_colours_where_they_are_wanted_and_long_output_a_pager() {
    let node = Node::new("pager");
    let ask = node.say(&["ask", "How long is it?"]);
    for n in 0..30 {
        node.say(&["answer", &ask, &format!("line {n}")]);
    }
    node.settle();
    let terminal = |args: &[&str], env: &[(&str, &str)]| {
        let wats = [&[env!("CARGO_BIN_EXE_wats")], args].concat().join(" ");
        let mut script = Command::new("script");
        script.args(["-qec", &format!("stty rows 24 cols 80; {wats}"), "/dev/null"]).stdin(Stdio::null());
        script
            .env("WATS_DIR", node.dir.join("node"))
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .env_remove("LESS");
        script.env_remove("CI").env_remove("CLICOLOR").env_remove("CLICOLOR_FORCE");
        script.envs(env.iter().copied()).output()
    };
    let paged = [("PAGER", "sed s/^/PAGED:/")];
    let long = terminal(&["read", &ask], &paged).expect("`script` of util-linux makes a terminal");
    let (bold, long) = ("\u{1b}[1m", out(&long).to_owned());
    assert!(long.lines().all(|line| line.starts_with("PAGED:")) && long.contains(bold), "{long}");
    let shown = |args: &[&str], env: &[(&str, &str)]| {
        let output = terminal(args, env).expect("it ran before");
        out(&output).to_owned()
    };
    let short = shown(&["search", "How", "long"], &paged);
    assert!(short.contains(bold) && !short.contains("PAGED:"), "it fits: {short}");
    let plain = shown(&["read", &ask, "--no-pager"], &[("PAGER", "sed s/^/PAGED:/"), ("NO_COLOR", "1")]);
    assert!(!plain.contains("PAGED:") && !plain.contains('\u{1b}'), "{plain}");
    let none = shown(&["read", &ask], &[("PAGER", "no-such-program-here")]);
    assert!(none.contains("line 29"), "without such a pager it is shown all the same: {none}");
    // In a pipe there are neither.
    let piped = node.good(&["read", &ask]);
    assert!(!piped.contains('\u{1b}') && piped.contains("line 29"));
}

#[test]
fn ids_are_named_by_their_first_digits() {
    let node = Node::new("digits");
    let ask = node.say(&["ask", "Which one?", "--to", &"a".repeat(64)]);
    let answer = node.say(&["answer", &ask[..8], "The first."]);
    let digest = node.say(&[
        "digest",
        "The first it is",
        "--ref",
        &answer[..12],
        "--under",
        &ask[..12].to_uppercase(),
    ]);
    let newer = node.say(&["digest", "Still the first", "--ref", &answer, "--supersedes", &digest[..9]]);
    node.say(&["react", &answer[..12], "--use", "--accept", "--renew"]);
    node.settle();
    let thread = node.json(&["read", &answer[..16], "--json"]);
    assert_eq!(
        (&thread["thread"], &thread["posts"][1]["id"]),
        (&Value::from(ask.clone()), &Value::from(digest))
    );
    assert_eq!(thread["posts"][1]["refs"][0], answer);
    let found = node.json(&["search", "still", "--json"]);
    assert_eq!(found["hits"][0]["id"], newer);
    for (args, code, says) in [
        (&["read", "0000000000"][..], 1, "no event whose id starts with 0000000000 is held"),
        (&["read", "12345"], 2, "the first 8 or more"),
        (&["react", "00000000", "--use"], 1, "no event whose id starts with"),
        (&["post", "x", "--ref", "00000000"], 1, "no event whose id starts with"),
        (&["search", "tag:"], 1, "wrong at character 5"),
        (&["search", "x", "--min-status", "good"], 2, "contested, unverified, stale, confirmed"),
        (&["wait", "--cursor", "x"], 1, "none that a node gave"),
        (&["react", &ask, "--confirm", "--contradict"], 2, "cannot be used with"),
        (&["ask", " "], 2, "says nothing"),
    ] {
        let output = node.run(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", err(&output));
        assert!(err(&output).contains(says), "{args:?}: {}", err(&output));
        assert!(!err(&output).contains("the node answers 4"), "{args:?}: {}", err(&output));
    }
}

/// Says something with a key that is not the reader's; its id.
fn say_as(node: &Node, key: u8, mut event: Value) -> String {
    let mut client = Client::connect(Address::Socket(node.dir.join("node/wats.sock"))).expect("a node");
    event["net"] = "main".into();
    event["created_at"] = wats_model::clock::Clock::Wall.now().0.into();
    let text = sign(&Secret::from_seed([key; 32]), event.to_string().as_bytes()).expect("an event");
    client.event(&text).expect("it is taken")["id"].as_str().expect("an id").to_owned()
}

/// The lines that tell the label of the network.
fn told(shown: &str) -> Vec<&str> {
    shown.lines().filter(|line| line.contains("main is cold: ")).collect()
}

#[test]
fn a_cold_network_says_so_once_in_every_command_until_others_are_trusted() {
    let node = Node::new("cold");
    let ask = node.say(&["ask", "Which one?"]);
    node.say(&["answer", &ask, "The first."]);
    let keys = [21, 22].map(|key| Secret::from_seed([key; 32]).public().to_string());
    let announces = [21, 22].map(|key| say_as(&node, key, json!({ "kind": "announce" })));
    node.say(&["vouch", &keys[0], "--json"]);
    say_as(&node, 21, json!({ "kind": "react", "parent": announces[1], "data": { "label": "vouch" } }));
    node.settle();
    let commands = [
        &["search", "first"][..],
        &["read", &ask],
        &["knowledge"],
        &["browse"],
        &["wait", "--timeout", "0"],
        &["status"],
        &["why", &ask],
        &["reputation", &keys[0], "--explain"],
    ];
    let most = format!("; `wats vouch {}` would help most", keys[1]);
    for (n, command) in commands.into_iter().enumerate() {
        let output = node.run(command);
        // In a pipe what was found stands alone.
        let (there, elsewhere) = match n < 5 {
            true => (err(&output), out(&output)),
            false => (out(&output), err(&output)),
        };
        let lines = told(there);
        assert!(lines.len() == 1 && told(elsewhere).is_empty(), "{command:?}: {there} {elsewhere}");
        assert!(lines[0].contains("`wats vouch KEY`") && lines[0].ends_with(&most), "{command:?}: {there}");
    }
    for command in &commands[..5] {
        let found = node.json(&[command, &["--json"][..]].concat());
        let label = &found["network_label"];
        assert_eq!((&label["label"], &label["key"]), (&json!("cold"), &json!(keys[1])), "{found}");
    }
    let status = node.json(&["status", "--json"]);
    assert_eq!(status["networks"][0]["network_label"]["key"], keys[1], "{status}");
    let why = node.json(&["why", &ask, "--json"]);
    assert_eq!(why["explained"][0]["network_label"]["label"], "cold", "{why}");

    // The same of a log, where nothing runs.
    node.good(&["export", "--out", "log.jsonl"]);
    let replay = ["replay", "log.jsonl", "--config", "node/wats.toml"];
    let tables = node.good(&replay);
    assert!(tables.contains("Labels of networks") && tables.contains(&keys[1]), "{tables}");
    let document = node.json(&[&replay[..], &["--json"]].concat());
    assert_eq!(document["networks"]["main"]["network_label"]["key"], keys[1], "{document}");
    let explained = node.good(&[&replay[..], &["--explain", &ask, "--explain", &keys[0]]].concat());
    assert_eq!(told(&explained).len(), 1, "{explained}");
    let nobody = node.json(&["replay", "log.jsonl", "--json"]);
    let advice = nobody["networks"]["main"]["network_label"]["advice"].as_str().expect("a sentence");
    assert!(advice.contains("`wats keygen`"), "without a key of one's own: {advice}");

    node.say(&["vouch", &keys[1]]);
    node.settle();
    for command in commands {
        let output = node.run(command);
        assert!(told(out(&output)).is_empty() && told(err(&output)).is_empty(), "{command:?}");
    }
    assert!(node.json(&["search", "first", "--json"]).get("network_label").is_none());
}

#[test]
fn who_follows_goes_on_when_the_node_comes_back() {
    let mut node = Node::new("follow");
    let mut follow = command(&node.dir, &["wait", "--follow", "--tag", "news", "--timeout", "1"]);
    let mut follow = follow.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("wats runs");
    let mut lines = BufReader::new(follow.stdout.take().expect("piped")).lines();
    let mut complaints = BufReader::new(follow.stderr.take().expect("piped")).lines();
    let mut next = |about: &str| {
        let line = lines.next().expect("it follows").expect("UTF-8");
        assert!(line.contains(about), "{line}");
        // Its tags.
        assert!(lines.next().expect("it follows").expect("UTF-8").contains("#news"));
    };
    // It begins from now on, and nobody says when that was.
    let told = std::sync::atomic::AtomicBool::new(false);
    let said = std::thread::scope(|scope| {
        let saying = scope.spawn(|| {
            let mut said = 0;
            while !told.load(std::sync::atomic::Ordering::Relaxed) {
                node.say(&["post", "first news", "--tag", "news"]);
                said += 1;
                std::thread::sleep(Duration::from_millis(200));
            }
            said
        });
        next("first news");
        told.store(true, std::sync::atomic::Ordering::Relaxed);
        saying.join().expect("it said")
    });
    assert!(said > 0);
    node.stop();
    // Before that it was told, once, that nobody is trusted here.
    let said = |line: Option<std::io::Result<String>>| line.expect("it says so").expect("UTF-8");
    let (cold, away) = (said(complaints.next()), said(complaints.next()));
    assert!(cold.starts_with("note: main is cold: ") && away.contains("trying on"), "{cold} {away}");
    node.child = start(&node.dir);
    node.ready();
    node.say(&["post", "second news", "--tag", "news"]);
    loop {
        // What was said before it was told to stop may come first.
        let line = lines.next().expect("it follows").expect("UTF-8");
        if line.contains("second news") {
            break;
        }
        assert!(line.contains("first news") || line.contains("#news"), "{line}");
    }
    follow.kill().expect("it follows still");
    follow.wait().expect("a child");
}
