//! The commands that make and check events, as a person or a script meets them.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(name);
    // Left over from an earlier run, or not there.
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a directory");
    dir
}

fn wats(dir: &Path, args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_wats"))
        .args(args)
        .current_dir(dir)
        .env_remove("WATS_KEY")
        .env_remove("WATS_CONFIG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("wats runs");
    // A command that does not read its input may be gone.
    let _ = child.stdin.take().expect("an input").write_all(input);
    child.wait_with_output().expect("wats ends")
}

fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("UTF-8")
}

fn sign(dir: &Path, event: &str) -> String {
    let output = wats(dir, &["sign"], event.as_bytes());
    assert!(output.status.success(), "{}", err(&output));
    out(&output).to_owned()
}

#[test]
fn keys_are_private_and_never_overwritten() {
    let dir = scratch("keygen");
    let made = wats(&dir, &["keygen", "a.key"], b"");
    let public = out(&made).trim().to_owned();
    assert_eq!((made.status.code(), public.len()), (Some(0), 64));
    let before = std::fs::read(dir.join("a.key")).expect("a key");
    let again = wats(&dir, &["keygen", "a.key"], b"");
    assert_eq!(again.status.code(), Some(1));
    assert!(err(&again).contains("a.key: exists"), "{}", err(&again));
    assert_eq!(std::fs::read(dir.join("a.key")).expect("a key"), before);
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(
            &std::fs::metadata(dir.join("a.key")).expect("a key").permissions(),
        );
        assert_eq!(mode & 0o777, 0o600);
    }
    let json = wats(&dir, &["keygen", "--json"], b"");
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json["file"], "wats.key");
    let signed: Value = serde_json::from_str(&sign(&dir, r#"{"net":"main","kind":"post"}"#)).expect("JSON");
    assert_eq!(signed["author"], json["public"]);
    assert!(signed["created_at"].as_u64().expect("a time") > 1_700_000_000_000);
}

#[test]
fn what_is_signed_verifies() {
    let dir = scratch("sign");
    wats(&dir, &["keygen"], b"");
    let mined = wats(&dir, &["sign", "--pow", "9"], br#"{"net":"main","kind":"post","text":"x"}"#);
    let event: Value = serde_json::from_slice(&mined.stdout).expect("JSON");
    assert!(u16::from_str_radix(&event["id"].as_str().expect("an id")[..4], 16).expect("hex") < 128);
    let log = out(&mined).to_owned() + &sign(&dir, r#"{"net":"main","kind":"ask"}"#) + out(&mined);
    let counts = wats(&dir, &["verify", "--json", "-"], log.as_bytes());
    assert_eq!(counts.status.code(), Some(0));
    let counts: Value = serde_json::from_slice(&counts.stdout).expect("JSON");
    assert_eq!(counts["counts"]["valid"], 2);
    assert_eq!(counts["counts"]["duplicate"], 1);
    for (input, names) in
        [("{", "bad_json"), (r#"{"net":"main"}"#, "`kind`"), (r#"{"author":"x"}"#, "`author`")]
    {
        let refused = wats(&dir, &["sign"], input.as_bytes());
        assert_eq!(refused.status.code(), Some(1));
        assert!(refused.stdout.is_empty() && err(&refused).contains(names), "{}", err(&refused));
    }
    let no_key = wats(&dir, &["sign", "--key", "none.key"], b"{}");
    assert!(no_key.status.code() == Some(1) && err(&no_key).contains("none.key"));
}

#[test]
fn refusals_are_no_failure_and_unread_logs_are() {
    let dir = scratch("verify");
    wats(&dir, &["keygen"], b"");
    let good = sign(&dir, r#"{"net":"main","kind":"post","text":"fact"}"#);
    let log = format!("{good}\n{}{{\n", good.replace("fact", "lie"));
    std::fs::write(dir.join("log.jsonl"), &log).expect("writable");
    let json = wats(&dir, &["verify", "log.jsonl", "--json"], b"");
    assert_eq!(json.status.code(), Some(0));
    let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
    let listed: Vec<_> =
        json["refused"].as_array().expect("a list").iter().map(|r| (&r["line"], &r["code"])).collect();
    assert_eq!(listed, [(&3.into(), &"bad_id".into()), (&4.into(), &"bad_json".into())]);
    assert_eq!(json["counts"]["by_code"]["bad_id"], 1);
    let text = wats(&dir, &["verify", "log.jsonl"], b"");
    assert!(out(&text).contains("log.jsonl:3: bad_id: "), "{}", out(&text));
    assert!(!out(&text).contains('\u{1b}'), "no colours in a pipe");

    let packed = zstd::encode_all(log.as_bytes(), 0).expect("memory");
    std::fs::write(dir.join("cut.jsonl.zst"), &packed[..packed.len() - 9]).expect("writable");
    for unread in ["cut.jsonl.zst", "missing.jsonl", "."] {
        let some = wats(&dir, &["verify", unread, "log.jsonl", "--json"], b"");
        assert_eq!(some.status.code(), Some(1), "{unread}");
        assert!(err(&some).contains(unread), "{}", err(&some));
        let some: Value = serde_json::from_slice(&some.stdout).expect("JSON");
        assert_eq!((&some["counts"]["valid"], some["errors"].as_array().map(Vec::len)), (&1.into(), Some(1)));
    }
}

#[test]
fn a_wrong_command_line_is_2_and_a_wrong_configuration_1() {
    let dir = scratch("usage");
    for args in
        [&[][..], &["verify"], &["verify", "--no-such", "x"], &["sign", "--pow", "many"], &["nothing"]]
    {
        assert_eq!(wats(&dir, args, b"").status.code(), Some(2), "{args:?}");
    }
    std::fs::write(dir.join("wats.toml"), "[policy]\nhalf_lives = 1\n").expect("writable");
    let wrong = wats(&dir, &["verify", "-", "--config", "wats.toml"], b"");
    assert_eq!(wrong.status.code(), Some(1));
    assert!(err(&wrong).contains("wats.toml:2: unknown key `half_lives`"), "{}", err(&wrong));
    for args in [&["--help"][..], &["verify", "--help"], &["--version"]] {
        assert_eq!(wats(&dir, args, b"").status.code(), Some(0));
    }
}
