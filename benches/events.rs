//! How fast events are read, checked, verified and signed: `cargo bench --bench events`.
//!
//! Plain timing, a line for each: enough to see a factor, and nothing to install.
#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::num::NonZero;
use std::time::Instant;
use wats_engine::interner::Interner;
use wats_event::log::{Options, Source, read};
use wats_event::{Event, Rules, Secret, Verifier, verify_strict};

fn events(authors: usize, each: usize) -> Vec<String> {
    let text = "It builds with the lock file of last week and fails with this one; ".repeat(6);
    let secrets: Vec<Secret> = (0..authors)
        .map(|i| {
            let mut seed = [7; 32];
            seed[..8].copy_from_slice(&(i as u64).to_le_bytes());
            Secret::from_seed(seed)
        })
        .collect();
    let draft = |i: usize| format!(r#"{{"net":"main","kind":"post","created_at":{i},"text":"{text}"}}"#);
    (0..authors * each)
        .map(|i| wats_event::sign(&secrets[i % authors], draft(i).as_bytes()).expect("an event"))
        .collect()
}

fn rate<T>(what: &str, items: usize, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = black_box(work());
    let seconds = start.elapsed().as_secs_f64();
    println!("{what:<44} {:>10.0}/s {:>8.2} us", items as f64 / seconds, seconds * 1e6 / items as f64);
    result
}

fn main() {
    let n = 16_384;
    let texts = rate("sign, 64 authors", n, || events(64, n / 64));
    let rules = Rules::any();
    let bytes: usize = texts.iter().map(String::len).sum();
    println!("{} bytes an event", bytes / n);
    for _ in 0..2 {
        rate("  nesting", n, || texts.iter().map(|t| wats_event::json::depth(t.as_bytes(), 33)).max());
        rate("  JSON", n, || {
            texts.iter().filter_map(|t| wats_event::json::parse(t.as_bytes(), 32).ok()).count()
        });
    }
    let log = texts.join("\n");
    rate("read a log, one thread, signatures skipped", n, || {
        let source = Source::from_reader("a log", std::io::Cursor::new(log)).expect("memory");
        let options =
            Options { skip_signatures: true, threads: NonZero::new(1), ..Options::new(Rules::any()) };
        read(source, &options).filter(|line| line.as_ref().is_ok_and(|line| line.outcome.is_ok())).count()
    });
    let parsed: Vec<Event> = rate("parse and check up to the id", n, || {
        texts.iter().filter_map(|t| wats_event::parse(t.as_bytes(), &rules).ok()).collect()
    });
    assert_eq!(parsed.len(), n);
    rate("intake", n, || {
        let mut intake = Interner::new(&Default::default()).expect("no networks");
        let mut changes = Vec::new();
        for event in &parsed {
            intake.event(event, event.created_at, &mut changes).expect("room");
        }
        changes
    });
    rate("verify_strict, one by one", n, || parsed.iter().filter(|e| verify_strict(e)).count());
    for (authors, each) in [(64, n / 64), (2_048, 8), (4_096, 4), (n, 1)] {
        let texts = events(authors, each);
        let parsed: Vec<Event> =
            texts.iter().filter_map(|t| wats_event::parse(t.as_bytes(), &rules).ok()).collect();
        let mut verifier = Verifier::new();
        rate(&format!("Verifier, {authors} authors of {each} events"), n, || {
            let verdicts =
                parsed.chunks(2048).flat_map(|chunk| verifier.verify(&chunk.iter().collect::<Vec<_>>()));
            assert!(verdicts.into_iter().all(|valid| valid));
        });
    }
}
