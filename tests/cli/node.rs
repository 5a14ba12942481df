//! A node as its owner meets it: the real program, its directory, its commands.

use crate::cli;
use cli::{DAY, Log, START, err, out};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use wats_store::{Sizes, Store};

/// A directory of a test's own. Paths of sockets must be short.
fn scratch(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("wats-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("a directory");
    dir
}

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wats"));
    command.args(args).current_dir(dir).env_clear().env("WATS_DIR", dir.join("node")).stdin(Stdio::null());
    command
}

fn wats(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().expect("wats runs")
}

/// Runs a command that must succeed; what it prints.
fn good(dir: &Path, args: &[&str]) -> String {
    let output = wats(dir, args);
    assert!(output.status.success(), "{args:?}: {}{}", out(&output), err(&output));
    out(&output).to_owned()
}

fn json_of(dir: &Path, args: &[&str]) -> Value {
    serde_json::from_str(&good(dir, args)).expect("JSON")
}

/// A running node; killed when a test fails.
struct Running(Child);

impl Running {
    fn start(dir: &Path, args: &[&str]) -> Running {
        let all = [&["node", "--listen", "127.0.0.1:0", "--log", "warn"], args].concat();
        let child = command(dir, &all).stderr(Stdio::piped()).spawn().expect("wats runs");
        let mut node = Running(child);
        let began = Instant::now();
        loop {
            if let Some(ended) = node.0.try_wait().expect("a child") {
                panic!("the node ended: {ended}");
            }
            let status = wats(dir, &["status", "--json"]);
            if status.status.success() && out(&status).contains("\"phase\":\"ready\"") {
                return node;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "not ready: {}", err(&status));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn stop(mut self) {
        let pid = rustix::process::Pid::from_child(&self.0);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it lives");
        let ended = self.0.wait().expect("a child");
        assert!(ended.success(), "{ended}");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until the views have taken everything in.
fn settle(dir: &Path) {
    while json_of(dir, &["status", "--json"])["sequence"]["lag"] != 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A log of two networks, old enough that nothing in it is young today.
fn log(dir: &Path) -> Story {
    let mut log = Log::new();
    let announces: Vec<String> = (1..=4).map(|key| log.event(key, json!({"kind": "announce"}))).collect();
    let ask = log.event(3, json!({"kind": "ask", "title": "Why?"}));
    let answer =
        log.event(2, json!({"kind": "post", "parent": ask, "thread": ask, "text": "Because of the clock."}));
    let proof = log.react(4, &answer, json!({"value": 1, "evidence": "ran it"}));
    log.wait(DAY);
    let other = log.event(3, json!({"kind": "post", "title": "Another matter"}));
    let aside = log.event_in("side", 3, json!({"kind": "post", "title": "Elsewhere"}));
    log.line(&json!({"received_at": START + 2 * DAY, "blob": "0".repeat(64), "present": true}).to_string());
    log.line("{\"a\": 1}");
    fs::write(dir.join("log.jsonl"), log.text()).expect("a log");
    Story { announces, ask, answer, proof, other, aside }
}

struct Story {
    announces: Vec<String>,
    ask: String,
    answer: String,
    proof: String,
    other: String,
    aside: String,
}

/// Both networks, with key 1 as the reader, whose key file is there.
fn configure(dir: &Path) {
    let profiles = dir.join("node/profiles");
    fs::create_dir_all(&profiles).expect("a directory");
    for path in [dir.join("node"), profiles.clone()] {
        fs::set_permissions(path, Permissions::from_mode(0o700)).expect("mine");
    }
    let key = profiles.join("main.key");
    fs::write(&key, Log::secret(1).to_key_file()).expect("a key");
    fs::set_permissions(key, Permissions::from_mode(0o600)).expect("mine");
    let config =
        format!("[[network]]\nid = \"main\"\nprofiles = [\"{}\"]\n[[network]]\nid = \"side\"\n", Log::key(1));
    fs::write(dir.join("node/wats.toml"), config).expect("a configuration");
}

/// The document of a log at a time.
fn replayed(dir: &Path, log: &str, now: u64) -> Value {
    let now = now.to_string();
    let all = json_of(dir, &["replay", log, "--config", "node/wats.toml", "--json", "--now", &now]);
    all["networks"].clone()
}

#[test]
fn a_directory_is_made_once_and_for_its_owner_alone() {
    let dir = scratch("init");
    let made = json_of(&dir, &["init", "--network", "lab", "--json"]);
    let mode =
        |path: &str| fs::metadata(dir.join("node").join(path)).expect("made").permissions().mode() & 0o777;
    assert_eq!(["", "profiles", "profiles/lab.key", "wats.toml"].map(mode), [0o700, 0o700, 0o600, 0o600]);
    let again = wats(&dir, &["init"]);
    assert!(!again.status.success() && err(&again).contains("is there already"), "{}", err(&again));
    let node = Running::start(&dir, &[]);
    let status = json_of(&dir, &["status", "--json"]);
    assert_eq!(["wats.sock", "store", "store/db/CURRENT"].map(mode), [0o600, 0o700, 0o600]);
    assert_eq!(status["networks"][0]["id"], "lab");
    assert_eq!(status["networks"][0]["profiles"][0], made["profile"]);
    let second = wats(&dir, &["node", "--listen", "127.0.0.1:0"]);
    let pid = node.0.id().to_string();
    assert!(!second.status.success() && err(&second).contains(&format!("process {pid}")), "{}", err(&second));
    node.stop();
    assert!(!dir.join("node/wats.sock").exists());
    assert!(err(&wats(&dir, &["status"])).contains("no node answers"));
}

#[test]
fn what_cannot_be_done_leaves_nothing_behind() {
    let dir = scratch("nothing");
    let refused = wats(&dir, &["init", "--set", "limits.no=1"]);
    assert!(err(&refused).contains("unknown key `no`") && !dir.join("node").exists(), "{}", err(&refused));
    let long = wats(&dir, &["node", "--dir", &"d".repeat(100)]);
    assert!(err(&long).contains("too long") && !dir.join("d".repeat(100)).exists(), "{}", err(&long));
    let missing = wats(&dir, &["import", "no-such.jsonl"]);
    assert!(!missing.status.success() && err(&missing).contains("no-such.jsonl"), "{}", err(&missing));
    assert!(!dir.join("node/store").exists(), "a name that is mistyped makes no store");
    assert!(!wats(&dir, &["init", "--config", "no-such/mine.toml"]).status.success());
    good(&dir, &["init", "--config", "mine.toml", "--set", "limits.key_burst=31"]);
    let made = fs::read_to_string(dir.join("mine.toml")).expect("a configuration");
    assert!(made.lines().any(|line| line == "key_burst = 31"), "{made}");
    assert!(!dir.join("node/wats.toml").exists());
}

#[test]
fn a_log_comes_out_as_it_went_in_whether_a_node_runs_or_not() {
    let (running, still) = (scratch("in-running"), scratch("in-still"));
    let mut exports = Vec::new();
    for dir in [&running, &still] {
        configure(dir);
        let story = log(dir);
        let node = (dir == &running).then(|| Running::start(dir, &[]));
        let first = wats(dir, &["import", "log.jsonl", "--json"]);
        assert!(err(&first).contains("on trust"), "{}", err(&first));
        let first: Value = serde_json::from_str(out(&first)).expect("JSON");
        assert_eq!((&first["new"], &first["blobs"], &first["dated"]), (&json!(9), &json!(1), &json!(9)));
        assert_eq!(first["refused"][0]["code"], "bad_field");
        assert_eq!(first["refused"][0]["line"], 11);
        let again = json_of(dir, &["import", "log.jsonl", "--json"]);
        assert_eq!((&again["new"], &again["held"]), (&json!(0), &json!(9)), "an import may be begun again");
        for name in ["all.jsonl.part", "new.jsonl.part"] {
            fs::write(dir.join(name), "mine").expect("mine");
        }
        good(dir, &["export", "--out", "all.jsonl.zst"]);
        good(dir, &["export", "--out", "all.jsonl.zst", "--force"]);
        let none = "0".repeat(64);
        for (args, says) in [
            (["--out", "all.jsonl.zst"], "--force replaces it"),
            (["--out", "new.jsonl"], "new.jsonl.part: is there already"),
            (["--thread", &none], "held"),
            (
                ["--network", "no-such"],
                if node.is_some() { "does not carry" } else { "nothing of it is held" },
            ),
        ] {
            let output = wats(dir, &[&["export"], &args[..]].concat());
            assert!(!output.status.success() && err(&output).contains(says), "{args:?}: {}", err(&output));
        }
        assert!(!wats(dir, &["export", "--thread", &none, "--out", "none.jsonl"]).status.success());
        for name in ["all.jsonl.zst.part", "none.jsonl.part", "none.jsonl"] {
            assert!(!dir.join(name).exists(), "{name}");
        }
        for name in ["all.jsonl.part", "new.jsonl.part"] {
            assert_eq!(fs::read_to_string(dir.join(name)).expect("mine"), "mine");
        }
        let now = START + 3 * DAY;
        assert_eq!(replayed(dir, "all.jsonl.zst", now), replayed(dir, "log.jsonl", now));
        good(dir, &["export", "--out", "all.jsonl.gz"]);
        assert_eq!(replayed(dir, "all.jsonl.gz", now), replayed(dir, "log.jsonl", now));
        let ids = |args: &[&str]| ids(&good(dir, &[&["export"], args].concat()));
        assert_eq!(ids(&["--network", "side"]), set([&*story.aside]));
        assert_eq!(ids(&["--thread", &story.ask]), set([&*story.ask, &*story.answer, &*story.proof]));
        assert_eq!(ids(&["--thread", &story.ask[..16]]), ids(&["--thread", &story.ask]));
        let late = (START + DAY).to_string();
        assert_eq!(ids(&["--since", &late]), set([&*story.other, &*story.aside, "blob"]));
        assert_eq!(ids(&["--since", "2026-01-02"]), ids(&["--since", &late]), "a day begins at midnight");
        assert_eq!(ids(&["--until", &late]).len(), 7);
        let mut all: Vec<String> = good(dir, &["export"]).lines().map(str::to_owned).collect();
        all.sort_unstable();
        exports.push(all);
        node.into_iter().for_each(Running::stop);
    }
    assert_eq!(exports[0], exports[1]);
}

#[test]
fn an_earlier_date_of_a_held_event_is_taken_on_trust_too() {
    let dir = scratch("earlier");
    let mut log = Log::new();
    log.event(3, json!({"kind": "post", "title": "Seen twice"}));
    let mut late: Value = serde_json::from_str(&log.text()).expect("JSON");
    late["received_at"] = (START + DAY).into();
    fs::write(dir.join("late.jsonl"), late.to_string()).expect("a log");
    fs::write(dir.join("early.jsonl"), log.text()).expect("a log");
    for (file, counts) in [("late.jsonl", [1, 0, 1]), ("early.jsonl", [0, 1, 1]), ("late.jsonl", [0, 1, 0])] {
        let output = wats(&dir, &["import", file, "--json"]);
        let found: Value = serde_json::from_str(out(&output)).expect("JSON");
        assert_eq!(["new", "held", "dated"].map(|name| found[name].as_u64()), counts.map(Some), "{file}");
        assert_eq!(err(&output).contains("on trust"), counts[2] > 0, "{file}: {}", err(&output));
    }
}

fn set<const N: usize>(ids: [&str; N]) -> BTreeSet<String> {
    ids.map(str::to_owned).into()
}

/// The ids of a log's events, and `blob` for a blob.
fn ids(log: &str) -> BTreeSet<String> {
    let id = |line: &str| {
        let record: Value = serde_json::from_str(line).expect("JSON");
        record["event"]["id"].as_str().unwrap_or("blob").to_owned()
    };
    log.lines().map(id).collect()
}

#[test]
fn trust_is_given_taken_back_and_explained_to_the_owner() {
    let dir = scratch("vouch");
    configure(&dir);
    let story = log(&dir);
    good(&dir, &["import", "log.jsonl"]);
    let node = Running::start(&dir, &[]);
    let key = Log::key(4);
    let trust = |dir: &Path| json_of(dir, &["reputation", &key, "--json"])["explained"][0]["trust"].as_i64();
    assert_eq!(trust(&dir), Some(0));
    let status = || json_of(&dir, &["why", &story.answer, "--json"])["explained"][0]["status"].clone();
    assert!(good(&dir, &["vouch", &key, "--network", "main"]).starts_with("vouch: "));
    settle(&dir);
    assert!(trust(&dir) > Some(0));
    assert_eq!(status(), "confirmed");
    assert!(good(&dir, &["why", &story.answer[..12]]).contains("confirm with text evidence"));
    assert!(good(&dir, &["reputation", "--network", "main"]).contains(&key[..16]));
    assert!(good(&dir, &["reputation", &key[..8], "--explain"]).contains("an own profile vouches for it"));
    good(&dir, &["unvouch", &key, "--network", "main"]);
    settle(&dir);
    assert_eq!(trust(&dir), Some(0));
    for (args, says) in [
        (vec!["vouch", &Log::key(1), "--network", "main"], "cannot vouch for itself"),
        (vec!["vouch", &Log::key(9), "--network", "main"], "no event of"),
        (vec!["vouch", &key], "name one with --network"),
        (vec!["vouch", &key, "--network", "side"], "no key in"),
        (vec!["why", &story.announces[0]], "no ask, post or digest"),
        (vec!["why", "zz"], "hex digits"),
        (vec!["reputation", "ffffffff"], "no event or key"),
    ] {
        let output = wats(&dir, &args);
        assert!(!output.status.success() && err(&output).contains(says), "{args:?}: {}", err(&output));
    }
    let file = dir.join("node/profiles/main.key");
    fs::set_permissions(&file, Permissions::from_mode(0o644)).expect("mine");
    let output = wats(&dir, &["vouch", &key, "--network", "main"]);
    assert!(err(&output).contains("others than its owner may read it"), "{}", err(&output));
    node.stop();
}

#[test]
fn a_backup_of_a_running_node_is_a_node() {
    let dir = scratch("backup");
    configure(&dir);
    log(&dir);
    let none = wats(&dir, &["backup", "copy"]);
    assert!(err(&none).contains("there is no store") && !dir.join("copy").exists(), "{}", err(&none));
    fs::create_dir(dir.join("node/secret")).expect("mine");
    fs::write(dir.join("node/secret/token"), "0123456789abcdef").expect("mine");
    fs::rename(dir.join("node/wats.toml"), dir.join("mine.toml")).expect("mine");
    let node = Running::start(&dir, &["--config", "mine.toml"]);
    good(&dir, &["import", "log.jsonl"]);
    settle(&dir);
    good(&dir, &["backup", "copy", "--config", "mine.toml", "--set", "node.token_file=secret/token"]);
    assert!(err(&wats(&dir, &["backup", "copy"])).contains("is there already"));
    for file in ["profiles/main.key", "secret/token", "wats.toml"] {
        let copied = fs::metadata(dir.join("copy").join(file)).expect(file);
        assert_eq!(copied.permissions().mode() & 0o777, 0o600, "{file}");
    }
    let here = good(&dir, &["export"]);
    node.stop();
    assert_eq!(good(&dir, &["export", "--dir", "copy"]), here);
    good(&dir, &["doctor", "--dir", "copy"]);
}

#[test]
fn the_doctor_finds_what_is_wrong_and_repairs_what_can_be_made_again() {
    let dir = scratch("doctor");
    configure(&dir);
    log(&dir);
    good(&dir, &["import", "log.jsonl"]);
    Running::start(&dir, &[]).stop();
    good(&dir, &["doctor"]);
    let store = Store::open(&dir.join("node/store"), Sizes::default()).expect("nobody else has it");
    let ticked = store.read().ticked().expect("read");
    store.forget_views().expect("written");
    store.publish(&Default::default(), ticked).expect("written");
    drop(store);
    fs::set_permissions(dir.join("node/profiles/main.key"), Permissions::from_mode(0o644)).expect("mine");
    let states = |args: &[&str]| -> (bool, Vec<String>) {
        let output = wats(&dir, &[args, &["--json"]].concat());
        let found: Value = serde_json::from_str(out(&output)).expect("JSON");
        let of = |f: &Value| {
            format!("{} {}", f["check"].as_str().unwrap_or("?"), f["state"].as_str().unwrap_or("?"))
        };
        (output.status.success(), found["findings"].as_array().expect("a list").iter().map(of).collect())
    };
    for args in [&["doctor"][..], &["doctor", "--dry-run"]] {
        let (well, found) = states(args);
        assert!(!well, "{found:?}");
        assert!(found.contains(&"permissions repairable".into()), "{found:?}");
        assert!(found.contains(&"views repairable".into()), "{found:?}");
    }
    let (well, found) = states(&["doctor", "--repair"]);
    assert!(well && found.contains(&"views repaired".into()), "{found:?}");
    let (well, found) = states(&["doctor"]);
    assert!(well && found.iter().all(|f| f.ends_with("good")), "{found:?}");
    let node = Running::start(&dir, &[]);
    // No process has that number.
    let left = dir.join("node/doctor-99999999");
    fs::create_dir(&left).expect("mine");
    good(&dir, &["doctor", "--dir", "node"]);
    assert!(!left.exists(), "what an interrupted doctor left is removed");
    assert!(!wats(&dir, &["doctor", "--repair"]).status.success(), "a node runs on it");
    node.stop();
    fs::write(dir.join("node/store/db/CURRENT"), "nothing").expect("mine");
    let (well, found) = states(&["doctor"]);
    assert!(!well && found == ["permissions good", "store bad"], "{found:?}");
}

#[test]
fn a_flag_wins_over_the_environment_over_the_file_over_the_default() {
    let dir = scratch("settings");
    configure(&dir);
    let file = dir.join("node/wats.toml");
    let text = fs::read_to_string(&file).expect("a configuration");
    fs::write(&file, format!("{text}\n[limits]\nkey_burst = 11\nbody_lines = 12\nrequests = 13\n"))
        .expect("mine");
    let output = command(&dir, &["config", "--print", "--set", "limits.key_burst=31"])
        .env("WATS_LIMITS_KEY_BURST", "21")
        .env("WATS_LIMITS_BODY_LINES", "22")
        .env("WATS_LISTEN", "127.0.0.1:24")
        .env("WATS_WORKERS", "2")
        .env("WATS_NODE_WORKERS", "3")
        .output()
        .expect("wats runs");
    let printed = out(&output);
    for line in [
        "key_burst = 31",
        "body_lines = 22",
        "requests = 13",
        "source_burst = 20000",
        "listen = \"127.0.0.1:24\"",
        "workers = 3",
    ] {
        assert!(printed.lines().any(|l| l == line), "{line}: {printed}");
    }
    let flag = command(&dir, &["config", "--print", "--set", "node.listen=127.0.0.1:34"])
        .env("WATS_LISTEN", "127.0.0.1:24")
        .output()
        .expect("wats runs");
    assert!(out(&flag).lines().any(|line| line == "listen = \"127.0.0.1:34\""), "{}", out(&flag));
    fs::write(dir.join("printed.toml"), printed).expect("a file");
    assert_eq!(good(&dir, &["config", "--print", "--config", "printed.toml"]), printed, "it reads back");
    for (args, says) in [
        (vec!["config", "--set", "limits.no=1"], "unknown key `no`"),
        (vec!["config", "--set", "limits.key_burst=many"], "must be an integer"),
        (vec!["node", "--listen", "0.0.0.0:0"], "set `token_file`"),
    ] {
        let output = wats(&dir, &args);
        assert!(!output.status.success() && err(&output).contains(says), "{args:?}: {}", err(&output));
    }
}

#[test]
fn every_command_has_completions_and_a_page() {
    let dir = scratch("manual");
    for shell in ["bash", "zsh", "fish"] {
        assert!(good(&dir, &["completions", shell]).contains("reputation"), "{shell}");
    }
    good(&dir, &["man", "pages"]);
    let pages: Vec<String> = fs::read_dir(dir.join("pages"))
        .expect("made")
        .map(|page| page.expect("a page").file_name().to_string_lossy().into_owned())
        .collect();
    for command in ["node", "status", "import", "export", "doctor", "vouch", "why", "replay"] {
        assert!(pages.contains(&format!("wats-{command}.1")), "{command}: {pages:?}");
    }
}

#[test]
fn what_is_said_is_found_read_and_known() {
    let dir = scratch("say");
    good(&dir, &["init"]);
    let node = Running::start(&dir, &[]);
    let id = |args: &[&str]| good(&dir, args).trim().to_owned();
    id(&["announce", "--owner", "me", "--tag", "cap:rust"]);
    let ask = id(&["ask", "Why does the linker fail on musl?", "--tag", "build", "--text", "It says E0463."]);
    let answer = id(&["answer", &ask, "Install musl-tools first."]);
    let digest =
        id(&["digest", "musl needs musl-tools", "--text", "All of it.", "--ref", &answer, "--under", &ask]);
    let note =
        wats(&dir, &["react", &answer, "--use", "--confirm", "--evidence", "41 passed", "--type", "test"]);
    assert!(note.status.success() && err(&note).contains("your own post"), "{}", err(&note));
    settle(&dir);

    let began = Instant::now();
    let found = loop {
        let found = json_of(&dir, &["search", "linker", "musl", "--json"]);
        if found["hits"].as_array().is_some_and(|hits| !hits.is_empty()) {
            break found;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "nothing was found");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(found["hits"][0]["id"], *ask);
    assert!(good(&dir, &["search", "E0463"]).contains("Why does the linker fail on musl?"));
    assert!(good(&dir, &["search", "nothingofthesort"]).contains("nothing was found"));
    let wrong = wats(&dir, &["search", "\"open"]);
    assert!(!wrong.status.success() && err(&wrong).contains("wrong at character"), "{}", err(&wrong));
    let thread = good(&dir, &["read", &answer]);
    assert!(
        thread.contains("Install musl-tools first.") && thread.contains("musl needs musl-tools"),
        "{thread}"
    );
    assert!(thread.contains("confirms, used: 41 passed"), "{thread}");
    assert!(good(&dir, &["knowledge"]).starts_with("0 entries"));
    let map = good(&dir, &["browse"]);
    assert!(map.starts_with("build  0 entries, 3 unverified"), "{map}");
    assert!(
        good(&dir, &["browse", "title", "why"]).starts_with("Why does the linker fail on musl?  0 entries")
    );
    assert!(good(&dir, &["browse", "thread", &ask[..12]]).contains("nothing is known here yet"));
    let times = json_of(&dir, &["browse", "time", "--json"]);
    assert_eq!(times["groups"][0]["posts"]["unverified"], 3);

    let now = json_of(&dir, &["wait", "--timeout", "0", "--json"]);
    let cursor = now["cursor"].as_str().expect("a cursor");
    let post = id(&["post", "Another matter", "--tag", "news"]);
    let page = json_of(&dir, &["wait", "--tag", "news", "--cursor", cursor, "--json"]);
    assert_eq!(page["events"][0]["id"], *post);
    for (args, says) in [
        (vec!["react", &post, "--contradict"], "is only a vote"),
        (vec!["react", &post], "required"),
        (vec!["digest", "no sources"], "--ref"),
        (vec!["answer", &"0".repeat(64), "x"], "is not held"),
    ] {
        let output = wats(&dir, &args);
        assert!(!output.status.success() && err(&output).contains(says), "{args:?}: {}", err(&output));
    }
    assert!(!digest.is_empty());
    node.stop();
}

#[test]
fn files_are_attached_read_examined_and_evicted() {
    let dir = scratch("blobs");
    good(&dir, &["init"]);
    let node = Running::start(&dir, &[]);
    // Larger than a piece, so that it goes in several.
    let output: Vec<u8> = (0..9_000_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(dir.join("output.txt"), &output).expect("mine");
    fs::write(dir.join("small.txt"), "41 passed").expect("mine");
    let printed = good(&dir, &["attach", "output.txt", "small.txt"]);
    let hashes: Vec<&str> = printed.lines().filter_map(|line| line.split("  ").next()).collect();
    assert_eq!(hashes[0], blake3::hash(&output).to_string());
    good(&dir, &["blob", "get", hashes[0], "--out", "back.txt"]);
    assert!(fs::read(dir.join("back.txt")).expect("written") == output);
    settle(&dir);
    let next = json_of(&dir, &["evict", "--dry-run", "5", "--json"]);
    assert_eq!(next["blobs"].as_array().map(Vec::len), Some(2));
    assert!(good(&dir, &["evict", "--dry-run"]).contains("no post that counts holds it"));
    assert!(good(&dir, &["blob", "ls", "--spares"]).contains(hashes[1]));

    let post = good(&dir, &["post", "It works", "--attach", "output.txt"]).trim().to_owned();
    let react = good(&dir, &["react", &post, "--confirm", "--attach", "small.txt"]).trim().to_owned();
    settle(&dir);
    let read = good(&dir, &["read", &post]);
    for (name, hash) in [("output.txt, 8.58 MiB", hashes[0]), ("small.txt, 9 B", hashes[1])] {
        assert!(read.contains(&format!("file {name}: {hash}")), "{read}");
    }
    let exported = good(&dir, &["export"]);
    let event =
        exported.lines().find(|line| line.contains(&format!("\"id\":\"{react}\""))).expect("exported");
    let event: Value = serde_json::from_str(event).expect("JSON");
    assert_eq!(event["event"]["data"]["evidence"]["blob"], hashes[1]);
    assert_eq!(event["event"]["attachments"][0]["name"], "small.txt");
    assert!(good(&dir, &["blob", "ls"]).contains("pinned"));
    assert!(good(&dir, &["evict", "--dry-run"]).contains("nothing would go"));
    assert!(good(&dir, &["blob", "verify"]).starts_with("2 blobs read, 0"));
    assert_eq!(json_of(&dir, &["blob", "verify", "--json"]), json!({"read": 2, "bad": []}));
    assert!(good(&dir, &["status"]).contains("blobs: 2 held"));
    good(&dir, &["doctor"]);
    good(&dir, &["backup", "copy"]);
    node.stop();

    good(&dir, &["doctor", "--dir", "copy"]);
    let file = dir.join("node/store/blobs").join(&hashes[1][..2]).join(hashes[1]);
    // The copy shares the file with the original: it gets one of its own.
    fs::remove_file(&file).expect("mine");
    fs::write(&file, "41 failed").expect("mine");
    let looked = wats(&dir, &["doctor", "--dry-run"]);
    assert!(
        !looked.status.success() && out(&looked).contains("are not what their names say"),
        "{}",
        out(&looked)
    );
    assert!(good(&dir, &["doctor", "--repair"]).contains("repaired"));
    assert!(!file.exists());
    assert!(good(&dir, &["doctor"]).contains("1 blobs, each what its name says"));
    let node = Running::start(&dir, &[]);
    let gone = wats(&dir, &["blob", "get", hashes[1]]);
    assert!(!gone.status.success() && err(&gone).contains("is not held"), "{}", err(&gone));
    good(&dir, &["attach", "small.txt"]);
    good(&dir, &["blob", "get", hashes[1]]);
    node.stop();
}
