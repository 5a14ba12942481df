//! A real log through the real node: the accepted answer comes first.

use super::http;
use super::node::{Running, scratch};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wats_config::Config;
use wats_event::Hex32;
use wats_event::log::Source;
use wats_event::stored_event::StoredEvent;
use wats_model::ids::Millis;
use wats_model::policy::Policy;
use wats_store::import::{Imported, import};
use wats_store::{Seq, SequenceRecord, Sizes, Store};

/// For each question whose asker has weight, the answer that it accepted is the first of its thread.
#[test]
#[ignore = "needs WATS_DATA: a log of questions and answers, whose texts are not wats' to pass on"]
fn accepted_answers_come_first() {
    let data = std::env::var_os("WATS_DATA").expect("WATS_DATA names the directory of `quantumcomputing`");
    let log = Path::new(&data).join("quantumcomputing");
    let config = Config::load(&log.join("wats.toml")).expect("a configuration");
    let dir = scratch("real-log");
    let store = Arc::new(Store::open(&dir.join("store"), Sizes::default()).expect("a store"));
    let source = Source::open(&log.join("log.jsonl.gz")).expect("a log");
    let mut imported = Imported::default();
    import(&store, source, config.rules(), Millis(u64::MAX), &mut imported, || {}).expect("a whole log");
    assert!(imported.new > 10_000, "{imported:?}");
    let network = config.networks.as_ref().expect("networks")[0].id.clone();
    let (asks, end) = asks(&store);
    drop(store);

    let mut running = Running::with("real-log-node", |settings| {
        settings.config = config;
        // The directory is emptied before a node starts; this one is the log's.
        settings.store = dir.join("store");
        settings.clock.set(end);
    });
    running.settle();
    let reader = running.store().read();
    let has_weight = |asker| {
        let author = reader.author(&network, asker).expect("readable");
        author.is_some_and(|author| author.weight >= Policy::default().w_min)
    };
    let askers: Vec<Hex32> =
        asks.into_iter().filter(|(_, asker)| has_weight(*asker)).map(|(ask, _)| ask).collect();
    // The index follows the store at its own pace.
    let began = Instant::now();
    let mut seen = 0;
    while seen <= 100 && began.elapsed() < Duration::from_secs(60) {
        seen = askers.iter().filter(|ask| accepted_is_first(&running, &network, **ask)).count();
    }
    drop(reader);
    running.stop();
    assert!(seen > 100, "{seen} questions with an accepted answer");
}

/// Whether a thread has an accepted answer; it must come first then.
fn accepted_is_first(running: &Running, network: &str, ask: Hex32) -> bool {
    let path = format!("/v1/search?network={network}&kind=answer&thread={ask}&limit=50");
    let found = http::get(running.address(), &path).json();
    let hits = found["hits"].as_array().expect("hits");
    // An accept that has decayed, or that is of a contested answer, gives nothing any more.
    let stands = |hit: &Value| hit["counts"]["accepts"] == 1 && hit["status"] == "confirmed";
    let Some(at) = hits.iter().position(stands) else {
        return false;
    };
    assert_eq!(at, 0, "{path}");
    true
}

/// The questions with their askers, and when the last record was received.
fn asks(store: &Store) -> (Vec<(Hex32, Hex32)>, Millis) {
    let (mut asks, mut end) = (Vec::new(), Millis(0));
    for item in store.records(Seq(0)) {
        let (_, logged) = item.expect("readable");
        end = end.max(logged.received_at());
        if let SequenceRecord::Event { text, .. } = logged {
            let said = StoredEvent::read(&text).expect("an event");
            if said.kind == "ask" {
                asks.push((said.id, said.author));
            }
        }
    }
    (asks, end)
}
