//! What the oracle says of a log.
#![allow(dead_code, reason = "each test takes what it needs")]

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use wats_config::Config;
use wats_engine::interner::{Change, Interner};
use wats_engine::view_set::ViewSet;
use wats_event::Hex32;
use wats_event::log::{Checked, Record};
use wats_model::facts::EventFact;
use wats_model::ids::{BlobId, EventId, Millis};
use wats_model::views::{CanonicalView, CoverView, View};
use wats_oracle::{State, Views, evaluate};

/// A log, reduced to what the oracle starts from. Names are interned in the log's order, as a replay
/// of the same lines does.
pub(crate) struct Facts {
    intake: Interner,
    events: Vec<EventFact>,
    blobs: Vec<BlobId>,
    pub now: Millis,
    refused: Vec<Value>,
}

impl Facts {
    pub(crate) fn of(config: &Config, lines: &[Checked], until: Option<Millis>) -> Facts {
        let mut intake = Interner::new(config).expect("room for names");
        let mut changes = Vec::new();
        let mut refused = Vec::new();
        let (mut clock, mut refused_clock) = (None, None);
        for line in lines {
            let at = line.received_at;
            match &line.outcome {
                Err(refusal) => {
                    refused.push(json!({ "line": line.line, "code": refusal.code.to_string() }));
                    refused_clock = refused_clock.max(line.dated.then_some(at));
                }
                Ok(_) if until.is_some_and(|until| at > until) => {}
                Ok(record) => {
                    clock = clock.max(Some(at));
                    let taken = match record {
                        Record::Event(event) => intake.event(event, at, &mut changes).map(|_| ()),
                        Record::Blob { blob, present } => {
                            intake.blob(*blob, *present, at, &mut changes).map(|_| ())
                        }
                    };
                    taken.expect("room for names");
                }
            }
        }
        let mut events: BTreeMap<EventId, EventFact> = BTreeMap::new();
        let mut blobs = BTreeSet::new();
        for change in changes {
            match change {
                Change::Event(event, 1) => drop(events.insert(event.id, *event)),
                Change::Event(event, _) => drop(events.remove(&event.id)),
                Change::Blob(blob, 1) => drop(blobs.insert(blob)),
                Change::Blob(blob, _) => drop(blobs.remove(&blob)),
            }
        }
        Facts {
            intake,
            events: events.into_values().collect(),
            blobs: blobs.into_iter().collect(),
            now: until.or(clock).or(refused_clock).unwrap_or_default(),
            refused,
        }
    }

    pub(crate) fn views(&self) -> Views {
        let config = self.intake.config();
        evaluate(&State { config, events: &self.events, blobs: &self.blobs, now: self.now })
    }

    /// The held blobs that are not pinned, as section 8 evicts them: in increasing rank, of equals by hash.
    pub(crate) fn eviction(&self) -> Vec<Hex32> {
        let held = self.views().blobs.into_values().filter(|blob| blob.held && !blob.pinned);
        let name = |blob| self.intake.blob_name(blob).expect("a name");
        let mut order: Vec<_> = held.map(|view| (view.rank, name(view.blob))).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, blob)| blob).collect()
    }

    /// The document that a replay must give.
    pub(crate) fn document(&self) -> Value {
        let views = self.views();
        let mut all: Vec<View> = views.posts.into_values().map(View::Post).collect();
        all.extend(views.authors.into_values().map(View::Author));
        all.extend(views.entries.into_iter().map(View::Entry));
        let canonical = views.canonical.into_iter();
        all.extend(canonical.map(|(thread, answer)| View::Canonical(CanonicalView { thread, answer })));
        let covers = views.covers.into_iter();
        all.extend(covers.map(|(thread, digest)| View::Cover(CoverView { thread, digest })));
        all.extend(views.networks.into_values().map(View::Network));
        let changes: Vec<(View, i64)> = all.into_iter().map(|view| (view, 1)).collect();
        let mut document = ViewSet::default();
        document.apply(&changes, &self.intake);
        let mut networks = Vec::new();
        document.write_networks(&mut networks, &self.intake, "\n").expect("memory can be written");
        json!({
            "networks": serde_json::from_slice::<Value>(&networks).expect("JSON"),
            "now": self.now.0,
            "refused": self.refused,
        })
    }
}
