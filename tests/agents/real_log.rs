//! A real log through the real node: the accepted answer comes first.

use super::node::{Running, scratch};
use super::{http, ids};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use wats::config::Config;
use wats::event::Hex32;
use wats::import::{Imported, import};
use wats::log::Source;
use wats::store::{Sizes, Store};

/// For each question whose asker has weight, its accepted answer is the first of the thread's answers, as the
/// search shows them, among those of comparable relevance.
#[test]
fn accepted_answers_come_first_among_answers_of_like_relevance() {
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/quantumcomputing");
    if !log.exists() {
        eprintln!("skipped: there is no {}", log.display());
        return;
    }
    let config = Config::load(&log.join("wats.toml")).expect("a configuration");
    let dir = scratch("real-log");
    let store = Arc::new(Store::open(&dir.join("store"), Sizes::default()).expect("a store"));
    let source = Source::open(&log.join("log.jsonl.gz")).expect("a log");
    let mut imported = Imported::default();
    let end = wats_dataflows::ids::Millis(1_600_000_000_000);
    import(&store, source, config.rules(), end, &mut imported, || {}).expect("a whole log");
    assert!(imported.new > 10_000, "{imported:?}");
    let network = config.networks.as_ref().expect("networks")[0].id.clone();
    let accepts = accepts(&store);
    drop(store);

    let mut running = Running::with("real-log-node", |settings| {
        settings.config = config;
        // The directory is emptied before a node starts; this one is the log's.
        settings.store = dir.join("store");
        settings.clock.set(end);
    });
    running.settle();
    let (mut seen, mut first) = (0, 0);
    for (ask, accepted) in accepts {
        let reader = running.store().read();
        let Some(post) = reader.post(&network, accepted).expect("readable") else {
            continue;
        };
        if post.counts.accepts == 0 {
            // The asker has no weight in this reader's eyes.
            continue;
        }
        drop(reader);
        let path = format!("/v1/search?network={network}&kind=answer&thread={ask}&limit=50&include_low=true");
        let found = http::get(running.address(), &path).json();
        let hits = ids(&found["hits"]);
        if !hits.contains(&accepted) {
            continue;
        }
        seen += 1;
        let status = |id: Hex32| -> Value {
            let hits = found["hits"].as_array().expect("hits");
            hits.iter().find(|hit| hit["id"] == id.to_string()).expect("a hit")["status"].clone()
        };
        first += usize::from(hits[0] == accepted || status(hits[0]) == status(accepted));
    }
    running.stop();
    assert!(seen > 20, "{seen} questions were looked at");
    assert_eq!(first, seen, "no answer of a lesser status comes before the accepted one");
}

/// By question, the answer that its asker accepted last.
fn accepts(store: &Store) -> HashMap<Hex32, Hex32> {
    use wats::event::{Content, Rules};
    use wats::log::{Record, read_record};
    use wats::store::{Logged, Seq};
    let (mut askers, mut threads, mut found) = (HashMap::new(), HashMap::new(), HashMap::new());
    for item in store.records(Seq(0)) {
        let (_, Logged::Event { id, text, .. }) = item.expect("readable") else {
            continue;
        };
        let Ok(Record::Event(event)) = read_record(text.as_bytes(), &Rules::any()).outcome else {
            continue;
        };
        match &event.content {
            Content::Post(post) => match post.reply {
                None => drop(askers.insert(id, event.author)),
                Some((_, thread)) => drop(threads.insert(id, thread)),
            },
            Content::React(react) if react.accept == Some(true) => {
                if let Some(thread) = threads.get(&react.target)
                    && askers.get(thread) == Some(&event.author)
                {
                    found.insert(*thread, react.target);
                }
            }
            _ => {}
        }
    }
    found
}
