//! The engine beside the oracle.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::{BTreeMap, BTreeSet};
use wats_engine::engine::Engine;
use wats_engine::interner::Change;
use wats_model::policy::Config;
use wats_model::views::View;
use wats_oracle::Views;
use wats_oracle::world::Tick;

/// The engine, and what its changes add up to.
pub(crate) struct Running {
    engine: Engine,
    pub views: Views,
}

impl Running {
    pub(crate) fn start(config: &Config, workers: usize) -> Running {
        let engine = Engine::start(config.clone(), workers).expect("the engine starts");
        Running { engine, views: Views::default() }
    }

    pub(crate) fn tick(&mut self, tick: &Tick) -> Vec<(View, i64)> {
        let events = tick.events.iter().map(|(e, diff)| Change::Event(Box::new(e.clone()), *diff));
        let blobs = tick.blobs.iter().map(|(blob, diff)| Change::Blob(*blob, *diff));
        let changes = self.engine.tick(events.chain(blobs).collect(), tick.now).expect("the engine runs");
        apply(&mut self.views, &changes);
        changes
    }
}

/// Applies a tick's changes, which must fit what was there.
pub(crate) fn apply(views: &mut Views, changes: &[(View, i64)]) {
    for (view, diff) in changes.iter().filter(|c| c.1 < 0).chain(changes.iter().filter(|c| c.1 > 0)) {
        assert!(diff.abs() == 1, "{view:?} changes {diff} times");
        apply_one(views, view, *diff > 0);
    }
}

fn apply_one(views: &mut Views, view: &View, here: bool) {
    match view.clone() {
        View::Post(v) => put(&mut views.posts, v.post, v, here),
        View::Author(v) => put(&mut views.authors, v.key, v, here),
        View::Canonical(v) => put(&mut views.canonical, v.thread, v.answer, here),
        View::Cover(v) => put(&mut views.covers, v.thread, v.digest, here),
        View::Blob(v) => put(&mut views.blobs, v.blob, v, here),
        View::Group(v) => put(&mut views.groups, v.facet, v, here),
        View::Network(v) => put(&mut views.networks, v.network, v, here),
        View::Listed(v) => {
            let changed = if here { views.listed.insert(v) } else { views.listed.remove(&v) };
            assert!(changed, "an entry is listed once and goes once");
        }
        View::Entry(v) => {
            let changed = if here { views.entries.insert(v) } else { views.entries.remove(&v) };
            assert!(changed, "an entry comes once and goes once");
        }
    }
}

/// A view replaces exactly what was there.
fn put<K: Ord, V: PartialEq + std::fmt::Debug>(map: &mut BTreeMap<K, V>, key: K, value: V, here: bool) {
    if here {
        assert_eq!(map.insert(key, value), None, "a view comes where there was none");
    } else {
        assert_eq!(map.remove(&key), Some(value), "a view goes as it was");
    }
}

/// Where two answers differ, in few words.
pub(crate) fn differences(want: &Views, got: &Views) -> Vec<String> {
    let mut out = Vec::new();
    maps("post", &want.posts, &got.posts, &mut out);
    maps("author", &want.authors, &got.authors, &mut out);
    maps("canonical", &want.canonical, &got.canonical, &mut out);
    maps("cover", &want.covers, &got.covers, &mut out);
    maps("blob", &want.blobs, &got.blobs, &mut out);
    maps("group", &want.groups, &got.groups, &mut out);
    maps("network", &want.networks, &got.networks, &mut out);
    for listed in want.listed.symmetric_difference(&got.listed) {
        out.push(format!("listed {listed:?}: expected {}", want.listed.contains(listed)));
    }
    for entry in want.entries.symmetric_difference(&got.entries) {
        out.push(format!("entry {entry:?}: expected {}", want.entries.contains(entry)));
    }
    out
}

fn maps<K: Ord + std::fmt::Debug, V: PartialEq + std::fmt::Debug>(
    what: &str,
    want: &BTreeMap<K, V>,
    got: &BTreeMap<K, V>,
    out: &mut Vec<String>,
) {
    let keys: BTreeSet<&K> = want.keys().chain(got.keys()).collect();
    for key in keys {
        let (want, got) = (want.get(key), got.get(key));
        if want != got {
            out.push(format!("{what} {key:?}:\n  want {want:?}\n  got  {got:?}"));
        }
    }
}
