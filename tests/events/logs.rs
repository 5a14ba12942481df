//! Logs in every state: packed, cut off, damaged, over-long, or no logs at all (section 1.2).

use std::io::{Cursor, Read, Write};
use std::path::{Path, PathBuf};
use wats_event::log::{Checked, LogError, Options, Record, Source, event_text, read, read_stored};
use wats_event::{Code, Hex32, Rules, Secret};
use wats_model::ids::Millis;

const BLOB: &str = "00000000000000000000000000000000000000000000000000000000000000ab";

fn event(n: usize) -> String {
    let draft = format!(r#"{{"net":"main","kind":"post","created_at":{n},"text":"fact {n}"}}"#);
    wats_event::sign(&Secret::from_seed([1; 32]), draft.as_bytes()).expect("an event")
}

fn record(n: usize) -> String {
    format!(r#"{{"received_at":{},"event":{}}}"#, n + 1000, event(n))
}

fn log(n: usize) -> String {
    (0..n).map(|n| record(n) + "\n").collect()
}

fn options() -> Options {
    Options::new(Rules::any())
}

/// The judged lines, and the error at the end.
fn judge(bytes: impl Read + Send + 'static) -> (Vec<Checked>, Option<LogError>) {
    match Source::from_reader("a log", bytes) {
        Ok(source) => finish(source),
        Err(e) => (Vec::new(), Some(e)),
    }
}

fn finish(source: Source) -> (Vec<Checked>, Option<LogError>) {
    let mut lines = Vec::new();
    for line in read(source, &options()) {
        match line {
            Ok(line) => lines.push(line),
            Err(e) => return (lines, Some(e)),
        }
    }
    (lines, None)
}

fn text(log: &str) -> Vec<Checked> {
    let (lines, error) = judge(Cursor::new(log.to_owned()));
    assert!(error.is_none(), "{error:?}");
    lines
}

/// Line numbers, and `ok` or the code.
fn verdicts(lines: &[Checked]) -> Vec<(u64, &'static str)> {
    lines.iter().map(|l| (l.line, l.outcome.as_ref().map_or_else(|r| r.code.as_str(), |_| "ok"))).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes).expect("memory");
    out.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect("memory")
}

/// A directory of this test's own, under the one that Cargo gives tests.
fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("logs").join(name);
    std::fs::create_dir_all(&dir).expect("a directory");
    dir
}

#[test]
fn packed_logs_are_read_like_plain_ones() {
    let plain = log(3000);
    let want = text(&plain);
    assert_eq!(want.len(), 3000);
    let (left, right) = plain.as_bytes().split_at(plain.len() / 3);
    for packed in [
        gzip(plain.as_bytes()),
        [gzip(left), gzip(right)].concat(),
        [gzip(b""), gzip(left), gzip(b""), gzip(right)].concat(),
        zstd(plain.as_bytes()),
        [zstd(left), zstd(right)].concat(),
    ] {
        let (lines, error) = judge(Cursor::new(packed));
        assert!(error.is_none(), "{error:?}");
        assert!(lines == want);
    }
}

#[test]
fn what_was_valid_before_a_cut_or_damage_counts() {
    let plain = log(1500);
    for (packed, what) in [(gzip(plain.as_bytes()), "gzip"), (zstd(plain.as_bytes()), "zstd")] {
        let cut = packed[..packed.len() * 2 / 3].to_owned();
        let (lines, error) = judge(Cursor::new(cut));
        assert_before(&lines, error, &format!("{what} cut off"));
        let mut damaged = packed.clone();
        for byte in &mut damaged[packed.len() * 2 / 3..packed.len() * 2 / 3 + 40] {
            *byte ^= 0x5a;
        }
        let (lines, error) = judge(Cursor::new(damaged));
        let message = error.expect("damage is found").to_string();
        assert!(message.starts_with("a log: line ") && message.contains("damaged"), "{what}: {message}");
        let valid = lines.iter().filter(|l| l.outcome.is_ok()).count();
        assert!(lines.len() <= 1501 && valid > 20, "{what}: {valid} of {}", lines.len());
    }
    // The check sum at the very end.
    let mut packed = gzip(plain.as_bytes());
    let last = packed.len() - 5;
    packed[last] ^= 1;
    let (lines, error) = judge(Cursor::new(packed));
    assert_eq!(lines.len(), 1500);
    assert!(error.expect("a wrong sum").to_string().contains("damaged"));
    let trailing = [gzip(plain.as_bytes()), b"more".to_vec()].concat();
    let (lines, error) = judge(Cursor::new(trailing));
    assert!(lines.len() == 1500 && error.is_some());
}

fn assert_before(lines: &[Checked], error: Option<LogError>, what: &str) {
    let Some(LogError::Read { file, line, what: message }) = error else {
        panic!("{what}: {error:?}");
    };
    assert_eq!((file.as_str(), line), ("a log", lines.len() as u64 + 1), "{what}");
    assert!(message.contains("cut off"), "{what}: {message}");
    assert!(lines.len() > 20 && lines.iter().all(|l| l.outcome.is_ok()), "{what}");
}

#[test]
fn a_half_line_at_the_end_is_refused_and_said_to_be_one() {
    let whole = log(3);
    let lines = text(&whole[..whole.len() - 20]);
    assert_eq!(verdicts(&lines), [(1, "ok"), (2, "ok"), (3, "bad_json")]);
    let reason = &lines[2].outcome.as_ref().expect_err("half").reason;
    assert!(reason.contains("the log ends within this line"), "{reason}");
    // One that is whole but for the line end counts.
    assert_eq!(verdicts(&text(whole.trim_end())), [(1, "ok"), (2, "ok"), (3, "ok")]);
}

#[test]
fn lines_that_are_no_records_are_refused_alone() {
    let mut log = Vec::new();
    let deep = "[".repeat(100_000);
    for line in [
        b"".as_slice(),
        b"{",
        b"\xff\xfe",
        b" \r",
        record(1).as_bytes(),
        b"[]",
        deep.as_bytes(),
        b"\xef\xbb\xbf{}",
        record(2).as_bytes(),
    ] {
        log.extend_from_slice(line);
        log.extend_from_slice(b"\r\n");
    }
    let (lines, error) = judge(Cursor::new(log));
    assert!(error.is_none());
    let want = [
        (2, "bad_json"),
        (3, "bad_json"),
        (5, "ok"),
        (6, "bad_json"),
        (7, "too_large"),
        (8, "bad_json"),
        (9, "ok"),
    ];
    assert_eq!(verdicts(&lines), want);
}

#[test]
fn an_over_long_line_is_skipped_in_bounded_memory() {
    let long = std::io::repeat(b'[').take(300 << 20);
    let log = Cursor::new(record(1) + "\n").chain(long).chain(Cursor::new(format!("\n{}\n", record(2))));
    let (lines, error) = judge(log);
    assert!(error.is_none());
    assert_eq!(verdicts(&lines), [(1, "ok"), (2, "too_large"), (3, "ok")]);
    // White space around a line counts for nothing, as long as it may be.
    let space = || std::io::repeat(b' ').take(100 << 20);
    let log =
        space().chain(Cursor::new(record(1))).chain(space()).chain(Cursor::new("\n{} \n")).chain(space());
    let (lines, error) = judge(log);
    assert!(error.is_none());
    assert_eq!(verdicts(&lines), [(1, "ok"), (2, "bad_field")]);
}

#[test]
fn the_line_of_a_record_has_a_size_limit_without_white_space_around_it() {
    let sized = |n: usize| {
        let with =
            |fill: usize| format!(r#"{{"received_at":1,"x":"{}","event":{}}}"#, "x".repeat(fill), event(1));
        let line = with(n - with(0).len());
        assert_eq!(line.len(), n);
        line
    };
    let most = 256 * 1024 + 128;
    for end in ["\n", "\r\n", "", " \t \r\n", &" ".repeat(1000)] {
        for start in ["", " ", &"\t ".repeat(100)] {
            let verdict = |n: usize| verdicts(&text(&format!("{start}{}{end}", sized(n))));
            assert_eq!(verdict(most), [(1, "ok")], "{start:?} {end:?}");
            assert_eq!(verdict(most + 1), [(1, "too_large")], "{start:?} {end:?}");
        }
    }
    let spaced =
        record(1).replace("{\"received_at\"", &format!("{{{}\"received_at\"", " ".repeat(256 * 1024)));
    assert_eq!(verdicts(&text(&spaced)), [(1, "too_large")]);
}

/// An event of so many bytes.
fn sized(n: usize) -> String {
    let with = |fill: usize| {
        let draft = format!(r#"{{"net":"main","kind":"post","created_at":1,"x":"{}"}}"#, "x".repeat(fill));
        wats_event::sign(&Secret::from_seed([1; 32]), draft.as_bytes()).expect("an event")
    };
    let event = with(n - with(0).len());
    assert_eq!(event.len(), n);
    event
}

#[test]
fn the_event_in_a_record_has_a_size_limit_of_its_own() {
    let largest = sized(256 * 1024);
    let larger = largest.replacen("{\"author\"", "{ \"author\"", 1);
    assert_eq!(larger.len(), 256 * 1024 + 1);
    let forms: [&dyn Fn(&str) -> String; 6] = [
        &|event| event.to_owned(),
        &|event| format!(r#"{{"received_at":9007199254740991,"event":{event}}}"#),
        &|event| format!(r#"{{"event":{event},"received_at":5,"x":[{{"event":1}}]}}"#),
        &|event| format!("  {{ \"received_at\" :\t5 , \"\\u0065vent\" : \t{event}  }}  "),
        &|event| format!(r#"{{"a":{{"event":"x\"}},"}},"received_at":5,"event":{event}}}"#),
        &|event| format!("{{\"received_at\":5,\"event\":{}{event}}}", " ".repeat(90)),
    ];
    for form in forms {
        let shown: String = form("…").chars().take(60).collect();
        assert_eq!(verdicts(&text(&form(&largest))), [(1, "ok")], "{shown}");
        assert_eq!(verdicts(&text(&form(&larger))), [(1, "too_large")], "{shown}");
    }
    // It is judged before the members of the record, and whatever it is.
    for line in [
        format!(r#"{{"event":{larger}}}"#),
        format!(r#"{{"received_at":-1,"event":{larger}}}"#),
        format!(r#"{{"received_at":1,"event":"{}"}}"#, "x".repeat(256 * 1024)),
    ] {
        assert_eq!(verdicts(&text(&line)), [(1, "too_large")]);
    }
    let other = format!(r#"{{"received_at":1,"event":"{}"}}"#, "x".repeat(256 * 1024 - 2));
    assert_eq!(verdicts(&text(&other)), [(1, "bad_field")]);
    let broken = format!(r#"{{"received_at":1,"event":{larger}"#);
    assert_eq!(verdicts(&text(&broken)), [(1, "bad_json")]);
}

#[test]
fn the_event_of_a_record_is_kept_as_it_is_written() {
    let written = event(7).replace(":7,", ": 7.0 ,");
    for (record, want) in [
        (format!(r#"{{"received_at":1,"event":{written}}}"#), Some(written.as_str())),
        (format!("{{ \"event\" : {written} , \"received_at\":1}}"), Some(written.as_str())),
        (format!(r#"{{"event":{written}}}"#), None),
        (written.clone(), None),
        (format!(r#"{{"received_at":1,"blob":"{BLOB}","present":true}}"#), None),
        (r#"{"received_at":1,"event":7}"#.into(), None),
        ("nonsense".into(), None),
    ] {
        assert_eq!(event_text(&record), want, "{record}");
    }
    assert_eq!(verdicts(&text(&written)), [(1, "ok")]);
}

#[test]
fn a_stored_event_may_have_members_of_a_record() {
    let draft =
        r#"{"net":"main","kind":"post","created_at":5,"text":"fact","received_at":9,"event":{},"blob":1}"#;
    let odd = wats_event::sign(&Secret::from_seed([1; 32]), draft.as_bytes()).expect("an event");
    let rules = Rules::any();
    let id = wats_event::parse(odd.as_bytes(), &rules).expect("an event").id;
    let (read, own) = read_stored(&odd, id, &rules).expect("an event").expect("of this edition");
    assert_eq!((read.created_at, own), (Millis(5), odd.as_str()));
    let record = format!(r#"{{"received_at":1,"event":{odd}}}"#);
    let (held, own) =
        read_stored(&record, id, &rules).expect("an event in a record").expect("of this edition");
    assert_eq!((held, own), (read, odd.as_str()));
    assert_eq!(verdicts(&text(&record)), [(1, "ok")]);
    for wrong in ["{}", "nonsense", r#"{"received_at":1,"event":{}}"#, &odd.replace("fact", "lie")] {
        assert!(read_stored(wrong, id, &rules).is_err(), "{wrong}");
    }
}

#[test]
fn the_event_is_what_the_nesting_limit_measures() {
    let nested = |n: usize| {
        let value = "[".repeat(n - 1) + &"]".repeat(n - 1);
        format!(r#"{{"net":"main","kind":"post","created_at":1,"x":{value}}}"#)
    };
    let sign = |n| wats_event::sign(&Secret::from_seed([1; 32]), nested(n).as_bytes());
    let most = sign(32).expect("within the limit");
    assert!(sign(33).is_err());
    let deeper = most.replace("\"x\":[", "\"x\":[[").replace("]}", "]]}");
    let lines = [
        most.clone(),
        format!(r#"{{"received_at":1,"event":{most}}}"#),
        deeper.clone(),
        format!(r#"{{"received_at":1,"event":{deeper}}}"#),
    ];
    let got = text(&lines.join("\n"));
    assert_eq!(verdicts(&got)[0], (1, "ok"));
    assert_eq!(verdicts(&got)[1], (2, "ok"));
    assert_eq!(verdicts(&got)[3], (4, "too_large"));
    assert_ne!(verdicts(&got)[2].1, "ok");
}

#[test]
fn every_form_of_record_is_read() {
    let blob = |rest: &str| format!(r#"{{"received_at":7,"blob":"{BLOB}"{rest}}}"#);
    let event_record = record(1);
    let cases: Vec<(String, &str)> = vec![
        (event(1), "ok"),
        (event_record.clone(), "ok"),
        (event_record.replace("1001", "1001.0"), "ok"),
        (event_record.replace("{\"received_at\"", "{\"extra\":1,\"received_at\""), "ok"),
        (event_record.replace("{\"received_at\":1001,", "{"), "bad_field"),
        (event_record.replace("1001", "-1"), "bad_field"),
        (event_record.replace("1001", "\"1001\""), "bad_field"),
        (event_record.replace("1001", "null"), "bad_field"),
        (event_record.replace("1001", "9007199254740991"), "ok"),
        (event_record.replace("1001", "9007199254740992"), "bad_json"),
        (event_record.replace("1001", "1e16"), "bad_json"),
        (event_record.replace("{\"received_at\"", "{\"extra\":1e16,\"received_at\""), "bad_json"),
        (event_record.replace("{\"received_at\"", "{\"received_at\":1,\"received_at\""), "bad_json"),
        (r#"{"received_at":1,"event":5}"#.into(), "bad_field"),
        (r#"{"received_at":1,"event":null}"#.into(), "bad_field"),
        (r#"{"received_at":1}"#.into(), "bad_field"),
        ("{}".into(), "bad_field"),
        (blob(r#","present":true"#), "ok"),
        (blob(r#","present":false"#), "ok"),
        (blob(""), "bad_field"),
        (blob(r#","present":1"#), "bad_field"),
        (blob(r#","present":true"#).replace("00ab", "00AB"), "bad_field"),
        (blob(r#","present":true"#).replace("\"received_at\":7,", ""), "bad_field"),
        (blob(r#","present":true,"event":{}"#), "bad_field"),
    ];
    for (line, want) in cases {
        let got = text(&line);
        assert_eq!(verdicts(&got), [(1, want)], "{line}");
    }
    let got = text(&blob(r#","present":false"#));
    let blob = Hex32::parse(BLOB).expect("a blob");
    assert_eq!(got[0].outcome, Ok(Record::Blob { blob, present: false }));
    assert_eq!((got[0].received_at, got[0].dated), (Millis(7), true));
    assert_eq!(text(&event(9))[0].received_at, Millis(9));
}

#[test]
fn an_event_may_be_too_new_for_its_record() {
    let line = |at: u64| format!(r#"{{"received_at":{at},"event":{}}}"#, event(700_000));
    assert_eq!(verdicts(&text(&line(100_000))), [(1, "ok")]);
    assert_eq!(verdicts(&text(&line(99_999))), [(1, "future")]);
}

#[test]
fn an_empty_log_is_a_log() {
    for bytes in [Vec::new(), gzip(b""), zstd(b"")] {
        let (lines, error) = judge(Cursor::new(bytes));
        assert!(lines.is_empty() && error.is_none(), "{error:?}");
    }
}

#[test]
fn what_is_no_log_says_so() {
    let dir = scratch("none");
    let missing = Source::open(&dir.join("missing.jsonl")).expect_err("no such file").to_string();
    assert!(missing.contains("missing.jsonl: cannot be opened"), "{missing}");
    let directory = Source::open(&dir).expect_err("a directory").to_string();
    assert!(directory.contains("is a directory"), "{directory}");
    for (name, bytes) in
        [("empty.jsonl.gz", b"".as_slice()), ("plain.jsonl.gz", b"{}\n"), ("plain.jsonl.zst", b"{}\n{}\n")]
    {
        std::fs::write(dir.join(name), bytes).expect("writable");
        let (lines, error) = match Source::open(&dir.join(name)) {
            Ok(source) => finish(source),
            Err(e) => (Vec::new(), Some(e)),
        };
        let message = error.expect("not compressed").to_string();
        assert!(lines.is_empty() && message.contains(&format!("{name}: line 1")), "{message}");
    }
}

#[test]
fn a_reader_may_stop_early() {
    let (source, options) = (Source::from_reader("a log", Cursor::new(log(3000).repeat(20))), options());
    let mut lines = read(source.expect("readable"), &options);
    assert_eq!(lines.next().expect("a line").expect("readable").line, 1);
    drop(lines);
}

#[test]
fn signatures_may_be_skipped_and_nothing_else() {
    let zeros = "0".repeat(128);
    let bad = |n| {
        let text = record(n);
        let sig = text.split("\"sig\":\"").nth(1).map(|rest| rest[..128].to_owned()).expect("a signature");
        text.replace(&sig, &zeros)
    };
    let log = format!("{}\n{}\n", bad(1), bad(2).replace("fact", "lie"));
    let mut options = options();
    let codes = |options: &Options| {
        let source = Source::from_reader("a log", Cursor::new(log.clone())).expect("readable");
        read(source, options).map(|l| l.expect("readable").outcome.err().map(|r| r.code)).collect::<Vec<_>>()
    };
    assert_eq!(codes(&options), [Some(Code::BadSignature), Some(Code::BadId)]);
    options.skip_signatures = true;
    assert_eq!(codes(&options), [None, Some(Code::BadId)]);
}
