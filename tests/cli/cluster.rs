//! Several processes as one: the same answers to the last digit, and clear errors where they are not
//! set up alike.

use crate::cli;
#[allow(dead_code, reason = "each test takes what it needs")]
use cli::{err, out, scratch};
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Longer than any of these takes, shorter than anybody waits for a test that hangs.
const LIMIT: Duration = Duration::from_secs(240);

/// One of several processes, ended when a test is.
struct Process(Option<Child>);

impl Process {
    fn start(dir: &Path, args: &[&str], input: Stdio) -> Process {
        let child = Command::new(env!("CARGO_BIN_EXE_wats"))
            .args(args)
            .current_dir(dir)
            .env_remove("WATS_CONFIG")
            .stdin(input)
            .stdout(file(dir, args, "out"))
            .stderr(file(dir, args, "err"))
            .spawn();
        Process(Some(child.expect("wats starts")))
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("it was not waited for")
    }

    fn end(mut self, dir: &Path, args: &[&str]) -> Output {
        let begun = Instant::now();
        let status = loop {
            match self.child().try_wait().expect("a child") {
                Some(status) => break status,
                None => assert!(begun.elapsed() < LIMIT, "wats {args:?} hangs"),
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        self.0 = None;
        let read = |what| std::fs::read(path(dir, args, what)).expect("what it wrote");
        Output { status, stdout: read("out"), stderr: read("err") }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Where a process writes: pipes would fill up while nobody reads.
fn path(dir: &Path, args: &[&str], what: &str) -> PathBuf {
    let process = args.iter().position(|arg| *arg == "--process").map_or("alone", |at| args[at + 1]);
    dir.join(format!("{process}.{what}"))
}

fn file(dir: &Path, args: &[&str], what: &str) -> std::fs::File {
    std::fs::File::create(path(dir, args, what)).expect("a file")
}

/// Writes addresses on loopback that were free a moment ago.
fn hosts(dir: &Path, processes: usize) {
    let listeners: Vec<_> =
        (0..processes).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let line = |l: &TcpListener| format!("{}\n", l.local_addr().expect("an address"));
    let text = "# processes, in their order\n\n".to_owned() + &listeners.iter().map(line).collect::<String>();
    std::fs::write(dir.join("hosts"), text).expect("a file");
}

/// Runs `wats replay` in as many processes as there are lists of arguments, process by process.
fn together(dir: &Path, each: &[Vec<&str>]) -> Vec<Output> {
    hosts(dir, each.len());
    let numbers: Vec<String> = (0..=each.len()).map(|n| n.to_string()).collect();
    let all: Vec<Vec<&str>> = (each.iter().zip(&numbers))
        .map(|(args, process)| {
            let cluster = ["--processes", &numbers[each.len()], "--process", process, "--hosts", "hosts"];
            ["replay"].iter().chain(args).chain(&cluster).copied().collect()
        })
        .collect();
    let started: Vec<_> = all.iter().map(|args| Process::start(dir, args, Stdio::null())).collect();
    started.into_iter().zip(&all).map(|(process, args)| process.end(dir, args)).collect()
}

/// The same arguments for each process.
fn alike<'a>(processes: usize, args: &[&'a str]) -> Vec<Vec<&'a str>> {
    vec![args.to_vec(); processes]
}

/// Compares several processes with one.
fn same_as_one(dir: &Path, args: &[&str]) {
    let one = cli::wats(dir, &[&["replay"], args].concat());
    assert!(one.status.success(), "{}", err(&one));
    assert!(one.stdout.len() > 100, "{args:?} shows something");
    for (processes, workers) in [(2, "1"), (2, "2"), (3, "1")] {
        let outputs = together(dir, &alike(processes, &[args, &["--workers", workers]].concat()));
        for (process, output) in outputs.iter().enumerate() {
            assert!(output.status.success(), "process {process} of {processes}: {}", err(output));
            let shown: &[u8] = if process == 0 { &one.stdout } else { b"" };
            assert!(output.stdout == shown, "process {process} of {processes}, {workers} workers, {args:?}");
            assert_eq!(err(output), err(&one), "process {process} of {processes}");
        }
    }
}

fn generate(dir: &Path, args: &str) {
    let args: Vec<&str> = args.split(' ').collect();
    let more = ["generate", "--out", "log.jsonl", "--write-config", "wats.toml"];
    let made = cli::wats(dir, &[&more, args.as_slice()].concat());
    assert!(made.status.success(), "{}", err(&made));
}

#[test]
fn generated_logs_amount_to_the_same() {
    let dir = scratch("cluster_generated");
    generate(&dir, "--events 1500 --seed 11");
    same_as_one(&dir, &["log.jsonl", "--config", "wats.toml", "--json"]);
    same_as_one(&dir, &["log.jsonl", "--config", "wats.toml"]);
    same_as_one(&dir, &["log.jsonl", "--config", "wats.toml", "--changes", "--tick-records", "500"]);
    // Without a configuration nobody is trusted.
    same_as_one(&dir, &["log.jsonl", "--json", "--tick-records", "100"]);
}

#[test]
fn an_attack_amounts_to_the_same() {
    let dir = scratch("cluster_attack");
    generate(&dir, "--events 300 --seed 12 --attack contradict-flood");
    same_as_one(&dir, &["log.jsonl", "--config", "wats.toml", "--json", "--tick-records", "300"]);
}

#[test]
fn vectors_amount_to_the_same() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let own = ["random_1", "thread_and_digests"].map(|name| here.join("tests/vectors").join(name));
    let shared = ["cycle", "contradiction_chain"].map(|name| here.join("tests/vectors/spec").join(name));
    for folder in own.iter().chain(&shared) {
        let dir = scratch("cluster_vectors");
        for name in ["log.jsonl", "wats.toml"] {
            std::fs::copy(folder.join(name), dir.join(name)).expect("a file of the vector");
        }
        same_as_one(&dir, &["log.jsonl", "--config", "wats.toml", "--json", "--tick-records", "7"]);
    }
}

#[test]
fn a_log_that_cannot_be_read_to_its_end_ends_everywhere() {
    let dir = scratch("cluster_cut");
    generate(&dir, "--events 300 --seed 13");
    let args = ["log.jsonl", "missing.jsonl", "--config", "wats.toml", "--json"];
    let one = cli::wats(&dir, &[&["replay"], args.as_slice()].concat());
    let outputs = together(&dir, &alike(2, &args));
    assert_eq!(out(&outputs[0]), out(&one));
    for output in outputs {
        assert_eq!(output.status.code(), Some(1));
        assert!(err(&output).contains("missing.jsonl: cannot be opened"), "{}", err(&output));
    }
}

/// All processes end with code 1, show nothing, and say what the matter is.
fn all_fail(dir: &Path, each: &[Vec<&str>], says: &str) {
    for output in together(dir, each) {
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        assert_eq!(out(&output), "");
        assert!(err(&output).contains(says), "{says}: {}", err(&output));
    }
}

#[test]
fn processes_that_are_not_alike_say_so() {
    let dir = scratch("cluster_unlike");
    generate(&dir, "--events 600 --seed 14");
    let text = std::fs::read_to_string(dir.join("log.jsonl")).expect("a log");
    let short: String = text.lines().take(400).map(|line| format!("{line}\n")).collect();
    std::fs::write(dir.join("short.jsonl"), short).expect("a log");
    let long = vec!["log.jsonl", "--config", "wats.toml", "--json"];
    let with = |args: &[&'static str]| [long.as_slice(), args].concat();

    all_fail(&dir, &[long.clone(), with(&["--workers", "2"])], "workers and this one");
    all_fail(&dir, &[long.clone(), vec!["log.jsonl", "--json"]], "has another configuration");
    let differs = "does not read what this one reads";
    let short = |args: &[&'static str]| [&["short.jsonl", "--config", "wats.toml", "--json"], args].concat();
    all_fail(&dir, &[long.clone(), short(&[])], differs);
    all_fail(&dir, &[long.clone(), with(&["--now", "2100-01-01T00:00:00Z"])], differs);
    // One ends, where it ends, with a whole tick; whichever it is, all are told.
    let ticks = ["--tick-records", "100"];
    all_fail(&dir, &[with(&ticks), short(&ticks)], differs);
    all_fail(&dir, &[short(&ticks), with(&ticks)], differs);
}

#[test]
fn a_process_that_is_killed_ends_the_others() {
    let dir = scratch("cluster_killed");
    generate(&dir, "--events 600 --seed 15");
    hosts(&dir, 2);
    let log = std::fs::read(dir.join("log.jsonl")).expect("a log");
    let of = |process| {
        let cluster = ["--processes", "2", "--process", process, "--hosts", "hosts"];
        [&["replay", "-", "--config", "wats.toml", "--json", "--tick-records", "50"], &cluster[..]].concat()
    };
    let (first, second) = (of("0"), of("1"));
    let mut survivor = Process::start(&dir, &first, Stdio::piped());
    let mut killed = Process::start(&dir, &second, Stdio::piped());
    // The second is given half of the log and kept waiting for the rest.
    let mut whole = survivor.child().stdin.take().expect("a pipe");
    let mut half = killed.child().stdin.take().expect("a pipe");
    half.write_all(&log[..log.len() / 2]).expect("it reads");
    whole.write_all(&log).expect("it reads");
    drop(whole);
    std::thread::sleep(Duration::from_millis(300));
    killed.child().kill().expect("it runs");
    let output = survivor.end(&dir, &first);
    assert_eq!((output.status.code(), out(&output)), (Some(1), ""));
    assert!(err(&output).contains("process 1 at 127.0.0.1:"), "{}", err(&output));
    assert!(err(&output).contains("is gone") && !err(&output).contains("panicked"), "{}", err(&output));
}

/// What one process says to a wrong command line or to peers that are not there.
fn alone(dir: &Path, args: &[&str]) -> (Option<i32>, String) {
    let output = cli::wats(dir, &[&["replay", "log.jsonl", "--processes", "2"], args].concat());
    assert_eq!(out(&output), "", "{args:?}");
    (output.status.code(), err(&output).to_owned())
}

#[test]
fn misuse_is_explained() {
    let dir = scratch("cluster_misuse");
    generate(&dir, "--events 10 --seed 16");
    let hosts = |text: &str| std::fs::write(dir.join("hosts"), text).expect("a file");
    let with_hosts = ["--process", "1", "--hosts", "hosts", "--wait", "200ms"];
    let says = |args: &[&str], code, says: &str| {
        let (status, text) = alone(&dir, args);
        assert_eq!(status, Some(code), "{text}");
        assert!(text.contains(says), "{says}: {text}");
    };
    says(&[], 2, "--process <I>");
    says(&["--process", "2"], 1, "2 processes are numbered 0 to 1");
    says(&with_hosts, 1, "hosts: cannot be read: No such file");
    hosts("127.0.0.1:1\n");
    says(&with_hosts, 1, "hosts: 1 addresses for 2 processes");
    hosts("127.0.0.1:1\n# and\nhost-b\n");
    says(&with_hosts, 1, "hosts:3: `host-b` is not an address like 10.0.0.2:2101");
    hosts("127.0.0.1:1\n127.0.0.1:1\n");
    says(&with_hosts, 1, "hosts:2: 127.0.0.1:1 stands on line 1 too");
    hosts("127.0.0.1:1\n127.0.0.1:2\n127.0.0.1:3\n");
    says(&with_hosts, 1, "process 0 at 127.0.0.1:1 did not come up within 200ms");
    let explain = ["--process", "0", "--explain", "00000000"];
    says(&explain, 2, "cannot be used with");
}

#[test]
fn strangers_are_not_listened_to() {
    let dir = scratch("cluster_strangers");
    generate(&dir, "--events 50 --seed 17");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    std::fs::write(dir.join("hosts"), format!("{address}\n127.0.0.1:1\n")).expect("a file");
    let args =
        ["replay", "log.jsonl", "--processes", "2", "--process", "0", "--hosts", "hosts", "--wait", "3s"];
    let first = Process::start(&dir, &args, Stdio::null());
    // One that says something else, and one that says nothing.
    let connect = || loop {
        match std::net::TcpStream::connect(address) {
            Ok(stream) => break stream,
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    connect().write_all(b"GET / HTTP/1.1\r\n\r\n").expect("it listens");
    let _silent = connect();
    let output = first.end(&dir, &args);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("process 1 at 127.0.0.1:1 did not come up within 3s"), "{}", err(&output));
}
