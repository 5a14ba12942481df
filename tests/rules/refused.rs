//! Every `refused` line of the vectors of the specification.

use crate::vectors as support;
use wats_config::Config;
use wats_event::log::{Options, Source, read};

#[test]
fn refused_lines_and_codes_match_the_vectors() {
    let mut seen = 0;
    for dir in support::of_the_specification() {
        let text = std::fs::read(dir.join("expected.json")).expect("readable");
        let expected: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        let listed = expected["refused"].as_array().cloned().unwrap_or_default();
        let want: Vec<(u64, String)> = listed
            .iter()
            .map(|r| (r["line"].as_u64().expect("line"), r["code"].as_str().expect("code").to_owned()))
            .collect();
        let config = Config::load(&dir.join("wats.toml")).expect("a configuration");
        let source = Source::open(&dir.join("log.jsonl")).expect("a log");
        let mut got = Vec::new();
        for line in read(source, &Options::new(config.rules())) {
            let line = line.expect("read to its end");
            seen += 1;
            if let Err(refusal) = line.outcome {
                got.push((line.line, refusal.code.to_string()));
            }
        }
        assert_eq!(got, want, "{}", dir.display());
    }
    assert!(seen > 0, "no vector was read");
}
