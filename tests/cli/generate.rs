//! `wats generate`, as a person or a script meets it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli_generate").join(name);
    // Left over from an earlier run, or not there.
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a directory");
    dir
}

fn wats(dir: &Path, args: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wats"))
        .args(args.split(' '))
        .current_dir(dir)
        .env_remove("WATS_CONFIG")
        .output()
        .expect("wats runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("UTF-8")
}

#[test]
fn a_file_is_packed_as_its_name_says_and_holds_what_standard_output_gets() {
    let dir = scratch("packed");
    let plain = wats(&dir, "generate --events 200 --seed 5");
    assert!(plain.status.success());
    for name in ["log.jsonl", "log.jsonl.gz", "log.jsonl.zst"] {
        let made =
            wats(&dir, &format!("generate --events 200 --seed 5 --out {name} --write-config wats.toml"));
        assert!(made.status.success() && made.stdout.is_empty(), "{}", text(&made.stderr));
        let verified = wats(&dir, &format!("verify {name} --config wats.toml --json"));
        let counts: serde_json::Value = serde_json::from_slice(&verified.stdout).expect("JSON");
        assert_eq!(counts["refused"], serde_json::json!([]), "{name}");
    }
    assert_eq!(std::fs::read(dir.join("log.jsonl")).expect("a log"), plain.stdout);
}

#[test]
fn attacks_are_listed_and_an_unknown_one_names_them() {
    let dir = scratch("attacks");
    let listed = wats(&dir, "generate --list-attacks");
    assert_eq!(text(&listed.stdout).lines().count(), 12);
    let unknown = wats(&dir, "generate --attack sybil");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("there are vouch-chain, "), "{}", text(&unknown.stderr));
    let small = wats(&dir, "generate --attack reply-flood --events 3 --unsigned");
    assert_eq!(text(&small.stdout).matches("Same here.").count(), 3);
}

#[test]
fn what_cannot_be_is_refused_with_its_name() {
    let dir = scratch("wrong");
    for (args, code, names) in [
        ("generate --network Main", 2, "a-z"),
        ("generate --authors 3", 2, "16"),
        ("generate --out no/such/folder.jsonl", 1, "no/such/folder.jsonl: cannot be written"),
        ("generate --write-config no/wats.toml", 1, "no/wats.toml: cannot be written"),
    ] {
        let output = wats(&dir, args);
        assert_eq!(output.status.code(), Some(code), "{args}");
        assert!(text(&output.stderr).contains(names), "{args}: {}", text(&output.stderr));
    }
}
