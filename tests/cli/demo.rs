//! The one command of the README: a node with the sample network in it, and a search with statuses.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn scratch(name: &str) -> PathBuf {
    // Paths of sockets must be short.
    let dir = std::env::temp_dir().join(format!("wats-demo-test-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).expect("a directory");
    dir
}

/// Runs the script with this build of wats; what it prints.
fn demo(temporary: &Path, args: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/demo");
    let output = Command::new(script)
        .args(args)
        .env("WATS", env!("CARGO_BIN_EXE_wats"))
        .env("TMPDIR", temporary)
        .env_remove("WATS_LISTEN")
        .stdin(Stdio::null())
        .output()
        .expect("the script runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    out.into_owned()
}

#[test]
fn one_command_shows_a_search_with_every_status_whatever_the_date() {
    let dir = scratch("once");
    let shown = demo(&dir, &["--once"]);
    let (_, hits) = shown.split_once("$ wats search").expect("a search");
    for status in ["confirmed", "contested", "stale", "unverified"] {
        assert!(hits.lines().any(|line| line.starts_with(status)), "no {status}: {shown}");
    }
    assert!(hits.contains("knowledge") && hits.contains("contested: contradicted"), "{shown}");
    assert!(shown.contains("1961 events new") && shown.contains("0 lines refused"), "{shown}");
    let left: Vec<_> = fs::read_dir(&dir).expect("a directory").collect();
    assert!(left.is_empty(), "{left:?}");
    fs::remove_dir(&dir).expect("the test's own");
}

#[test]
fn a_directory_that_is_named_is_kept_and_gone_on_with() {
    let dir = scratch("kept");
    let home = dir.join("home");
    let home = home.to_str().expect("UTF-8");
    let first = demo(&dir, &[home, "--once"]);
    let again = demo(&dir, &["--once", home]);
    assert!(first.contains("events new") && !again.contains("events new"), "{again}");
    let hits = |shown: &str| shown.split_once("$ wats search").map(|(_, hits)| hits.lines().count());
    assert_eq!(hits(&first), hits(&again));
    assert!(!Path::new(home).join("wats.sock").exists(), "the node has stopped");
    fs::remove_dir_all(&dir).expect("the test's own");
}
