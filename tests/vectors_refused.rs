//! Every `refused` line of the shared vectors, where they are at hand.

use std::path::{Path, PathBuf};
use wats_config::Config;
use wats_event::log::{Options, Source, read};

fn vectors() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/vectors");
    let given = std::env::var_os("WATS_VECTORS").map_or(beside, PathBuf::from);
    given.is_dir().then_some(given)
}

#[test]
fn refused_lines_and_codes_match_the_vectors() {
    let Some(vectors) = vectors() else {
        println!("skipped: no vectors here; WATS_VECTORS names them");
        return;
    };
    let mut seen = 0;
    for entry in std::fs::read_dir(vectors).expect("a directory") {
        let dir = entry.expect("an entry").path();
        if !dir.join("expected.json").exists() {
            continue;
        }
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
