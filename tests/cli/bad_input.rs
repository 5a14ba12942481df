//! `wats replay` on what is no log, or only half of one: it says what is wrong and where, counts what
//! was valid before, and ends with the exit code that tells a script.

use crate::cli;
use cli::{Log, err, out, scratch, wats};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::Output;

/// The most address space that a replay of bad input may take, in kilobytes: stacks of threads are
/// most of it.
#[cfg(target_os = "linux")]
const MOST_MEMORY: u64 = 1_600_000;

/// Posts with text that does not compress, so that a packed log has a middle to damage.
fn posts(n: usize) -> Log {
    let mut log = Log::new();
    for at in 0..n {
        let text: String = (0..40u64)
            .map(|k| {
                let x = (at as u64 * 64 + k).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                format!("{:016x}", x ^ x >> 29)
            })
            .collect();
        log.event(2, json!({"kind": "post", "text": text}));
    }
    log
}

fn replay(dir: &Path, file: &str) -> Output {
    let output = wats(dir, &["replay", "--json", file]);
    assert!(!err(&output).contains("panicked"), "{}", err(&output));
    output
}

/// The document, and how many posts are in it.
fn document(output: &Output) -> (Value, usize) {
    let document: Value = serde_json::from_str(out(output)).expect("JSON");
    let posts = document["networks"]["main"]["posts"].as_object().map_or(0, serde_json::Map::len);
    (document, posts)
}

/// (line, code) of what was refused.
fn refused(document: &Value) -> Vec<(u64, String)> {
    let list = document["refused"].as_array().expect("a list").iter();
    list.map(|r| (r["line"].as_u64().expect("a line"), r["code"].as_str().expect("a code").to_owned()))
        .collect()
}

fn reason(document: &Value, at: usize) -> &str {
    document["reasons"][at]["reason"].as_str().expect("a reason")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).expect("memory can be written");
    packed.finish().expect("memory can be written")
}

#[test]
fn a_cut_or_damaged_compressed_log_counts_up_to_there() {
    let dir = scratch("packed");
    let text = posts(300).text();
    // With a checksum, as the zstd command writes it: without one, damage may look like other text.
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).expect("memory can be written");
    zstd.include_checksum(true).expect("a checksum");
    zstd.write_all(text.as_bytes()).expect("memory can be written");
    let zstd = zstd.finish().expect("memory can be written");
    for (name, whole) in [("log.jsonl.gz", gzip(text.as_bytes())), ("log.jsonl.zst", zstd)] {
        std::fs::write(dir.join(name), &whole).expect("a file");
        let output = replay(&dir, name);
        assert_eq!((output.status.code(), document(&output).1), (Some(0), 300), "{name}");

        std::fs::write(dir.join(name), &whole[..whole.len() * 2 / 3]).expect("a file");
        let output = replay(&dir, name);
        let (_, before) = document(&output);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!((1..300).contains(&before), "{name}: {before} posts");
        let message = format!("{name}: line {}: the file is cut off", before + 1);
        assert!(err(&output).contains(&message), "{}", err(&output));
        assert!(err(&output).contains(&format!("the {before} lines before it count")), "{}", err(&output));

        let mut damaged = whole.clone();
        let middle = whole.len() / 2;
        damaged[middle..middle + 64].fill(0xa5);
        std::fs::write(dir.join(name), &damaged).expect("a file");
        let output = replay(&dir, name);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(err(&output).contains(&format!("{name}: line ")), "{}", err(&output));
        assert!(document(&output).1 < 300, "{name}");
    }
    std::fs::write(dir.join("no.jsonl.gz"), "not compressed").expect("a file");
    let output = replay(&dir, "no.jsonl.gz");
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("no.jsonl.gz"), "{}", err(&output));
}

#[test]
fn a_half_line_at_the_end_is_refused() {
    let dir = scratch("half");
    let text = posts(3).text();
    std::fs::write(dir.join("log.jsonl"), &text[..text.len() - 30]).expect("a file");
    let output = replay(&dir, "log.jsonl");
    let (document, posts) = document(&output);
    assert_eq!((output.status.code(), posts), (Some(0), 2));
    assert_eq!(refused(&document), [(3, "bad_json".to_owned())]);
    assert!(reason(&document, 0).contains("the log ends within this line"), "{}", reason(&document, 0));
}

#[test]
fn lines_that_are_no_records_are_refused_alone() {
    let dir = scratch("lines");
    let mut log = posts(1);
    let mut bad: Vec<(Vec<u8>, &str)> = vec![
        (b"\"\xff\xfe\"".to_vec(), "bad_json"),
        ([b"[".repeat(100_000), b"]".repeat(100_000)].concat(), "too_large"),
        (br#"{"received_at":1,"received_at":2,"event":{}}"#.to_vec(), "bad_json"),
        (br#"{"received_at":1,"event":{"v":1,"v":1}}"#.to_vec(), "bad_json"),
        (br#"{"received_at":1e999,"event":{}}"#.to_vec(), "bad_json"),
        (br#"{"received_at":9007199254740992,"event":{}}"#.to_vec(), "bad_json"),
        (br#"{"received_at":1,"event":{"x":1e16}}"#.to_vec(), "bad_json"),
        (br#"{"received_at":1,"event":{},"x":9007199254740991.5}"#.to_vec(), "bad_json"),
        (format!(r#"{{"received_at":1,"event":"{}"}}"#, "x".repeat(262_143)).into_bytes(), "too_large"),
        (br#"{"received_at":-1,"event":{}}"#.to_vec(), "bad_field"),
        (br#"{"received_at":1,"event":{"v":2}}"#.to_vec(), "bad_field"),
        (b"{}".to_vec(), "bad_field"),
        (b"nonsense".to_vec(), "bad_json"),
    ];
    let first = log.text();
    log.event(2, json!({"kind": "post", "text": "after"}));
    let last = log.text()[first.len()..].to_owned();
    let mut bytes = first.into_bytes();
    for (line, _) in &bad {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(last.as_bytes());
    std::fs::write(dir.join("log.jsonl"), bytes).expect("a file");
    let output = replay(&dir, "log.jsonl");
    let (document, posts) = document(&output);
    assert_eq!((output.status.code(), posts), (Some(0), 2), "{}", err(&output));
    let want: Vec<(u64, String)> = (2..).zip(bad.drain(..).map(|(_, code)| code.to_owned())).collect();
    assert_eq!(refused(&document), want);
    for at in 0..want.len() {
        assert!(!reason(&document, at).is_empty() && reason(&document, at).len() < 500);
    }
}

#[test]
fn a_line_of_300_mb_is_refused_in_bounded_memory() {
    let dir = scratch("long");
    let mut file = std::io::BufWriter::new(std::fs::File::create(dir.join("log.jsonl")).expect("a file"));
    let mut log = posts(1);
    let first = log.text();
    log.event(2, json!({"kind": "post", "text": "after"}));
    file.write_all(first.as_bytes()).expect("a disk");
    let megabyte = vec![b'['; 1 << 20];
    for _ in 0..300 {
        file.write_all(&megabyte).expect("a disk");
    }
    file.write_all(b"\n").expect("a disk");
    file.write_all(&log.text().as_bytes()[first.len()..]).expect("a disk");
    file.into_inner().expect("a disk");
    let output = replay(&dir, "log.jsonl");
    std::fs::remove_file(dir.join("log.jsonl")).expect("a file");
    let (document, posts) = document(&output);
    assert_eq!((output.status.code(), posts), (Some(0), 2));
    assert_eq!(refused(&document), [(2, "too_large".to_owned())]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_compressed_line_of_300_mb_needs_no_memory_either() {
    let dir = scratch("bomb");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let megabyte = vec![b'"'; 1 << 20];
    for _ in 0..300 {
        packed.write_all(&megabyte).expect("memory can be written");
    }
    std::fs::write(dir.join("log.jsonl.gz"), packed.finish().expect("memory")).expect("a file");
    // The shell's limit ends the process, were it to take more.
    let command =
        format!("ulimit -v {}; exec \"$0\" replay --json --skip-signatures log.jsonl.gz", MOST_MEMORY);
    let output = std::process::Command::new("sh")
        .args(["-c", &command, env!("CARGO_BIN_EXE_wats")])
        .current_dir(&dir)
        .env_remove("WATS_CONFIG")
        .output()
        .expect("a shell");
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert_eq!(refused(&document(&output).0), [(1, "too_large".to_owned())]);
}

#[test]
fn a_log_of_another_network_is_refused_whole() {
    let dir = scratch("network");
    let log = posts(2);
    log.write(&dir);
    std::fs::write(dir.join("other.toml"), "[[network]]\nid = \"other\"\n").expect("a file");
    let output = wats(&dir, &["replay", "--config", "other.toml", "log.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    assert!(out(&output).contains("0 events, 2 refused"), "{}", out(&output));
    assert!(out(&output).contains("wrong_network"), "{}", out(&output));
}

#[test]
fn an_empty_log_is_a_log() {
    let dir = scratch("empty");
    std::fs::write(dir.join("log.jsonl"), "").expect("a file");
    let output = replay(&dir, "log.jsonl");
    assert_eq!((output.status.code(), err(&output)), (Some(0), ""));
    assert_eq!(document(&output).0["networks"], json!({}));
    let output = wats(&dir, &["replay", "log.jsonl"]);
    assert!(out(&output).starts_with("No records"), "{}", out(&output));
}

#[test]
fn what_is_no_file_is_told_and_the_others_count() {
    let dir = scratch("missing");
    posts(2).write(&dir);
    let output = wats(&dir, &["replay", "--json", "missing.jsonl", "log.jsonl", "."]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(document(&output).1, 2, "the log between them counts");
    assert!(err(&output).contains("missing.jsonl: cannot be opened"), "{}", err(&output));
    assert!(err(&output).contains(".: is a directory"), "{}", err(&output));
    let output = wats(&dir, &["replay", "missing.jsonl"]);
    assert_eq!((output.status.code(), out(&output)), (Some(1), ""));
    let output = wats(&dir, &["replay", "--config", "missing.toml", "log.jsonl"]);
    assert_eq!((output.status.code(), out(&output)), (Some(1), ""));
    assert!(err(&output).contains("missing.toml"), "{}", err(&output));
}

#[test]
fn a_wrong_command_line_is_told_from_bad_input() {
    let dir = scratch("usage");
    for wrong in [
        &["replay"][..],
        &["replay", "x", "--workers", "0"],
        &["replay", "x", "--workers", "65"],
        &["replay", "x", "--now", "yesterday"],
        &["replay", "x", "--tick-records", "0"],
        &["replay", "x", "--tick-span", "5"],
        &["replay", "x", "--explain", "zz"],
        &["replay", "x", "--explain", "1234567"],
        &["replay", "x", "--unknown"],
    ] {
        let output = wats(&dir, wrong);
        assert_eq!((output.status.code(), out(&output)), (Some(2), ""), "{wrong:?}");
    }
}

#[test]
fn now_is_a_number_or_a_date_and_what_is_later_is_ignored() {
    let dir = scratch("now");
    let mut log = posts(3);
    log.line("{}");
    log.write(&dir);
    let at = cli::START + 2 * 60_000;
    for now in [at.to_string(), "2026-01-01T00:02:00Z".to_owned(), "2026-01-01T01:02:00+01:00".to_owned()] {
        let output = wats(&dir, &["replay", "--json", "--now", &now, "log.jsonl"]);
        let (document, posts) = document(&output);
        assert_eq!((&document["now"], posts), (&json!(at), 2), "{now}");
        assert_eq!(document["records"]["later"], 1);
        assert_eq!(refused(&document), [(4, "bad_field".to_owned())]);
    }
}
