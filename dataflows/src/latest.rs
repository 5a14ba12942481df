//! "Latest" (section 1.3), for what one key says time and again: vouches, owners and accepts.

use crate::incremental::Machine;
use crate::signals::Accept;
use differential_dataflow::ExchangeData;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::hash::Hash;
use wats_model::ids::{EventId, Stamp};

/// The latest value for each key. Events are never taken back, so the greatest told so far is it.
pub struct Latest<K, V> {
    latest: FxHashMap<K, (Stamp, V)>,
    touched: FxHashMap<K, Option<V>>,
}

impl<K, V> Default for Latest<K, V> {
    fn default() -> Self {
        Latest { latest: FxHashMap::default(), touched: FxHashMap::default() }
    }
}

impl<K: ExchangeData + Hash, V: ExchangeData> Machine for Latest<K, V> {
    type Change = (K, (Stamp, V));
    type View = (K, V);

    fn apply(&mut self, (key, told): (K, (Stamp, V)), diff: i64) {
        if diff < 0 {
            return;
        }
        let before = self.latest.get(&key).cloned();
        if before.as_ref().is_none_or(|before| *before < told) {
            self.touched.entry(key.clone()).or_insert(before.map(|(_, value)| value));
            self.latest.insert(key, told);
        }
    }

    fn emit(&mut self, out: &mut Vec<((K, V), i64)>) {
        for (key, before) in std::mem::take(&mut self.touched) {
            let after = self.latest.get(&key).map(|(_, value)| value.clone());
            if before == after {
                continue;
            }
            out.extend(before.map(|value| ((key.clone(), value), -1)));
            out.extend(after.map(|value| ((key, value), 1)));
        }
    }
}

/// The accept that counts for each ask (section 2): "only the one whose latest accept react is latest".
#[derive(Default)]
pub struct LatestAccept {
    accepts: FxHashMap<EventId, BTreeSet<Accepted>>,
    touched: FxHashMap<EventId, Option<Accepted>>,
}

/// An accept, ordered as "latest".
type Accepted = (Stamp, Accept);

impl Machine for LatestAccept {
    type Change = Accept;
    type View = Accept;

    fn apply(&mut self, accept: Self::Change, diff: i64) {
        let accepts = self.accepts.entry(accept.thread).or_default();
        self.touched.entry(accept.thread).or_insert_with(|| accepts.last().copied());
        if diff > 0 {
            accepts.insert((accept.latest, accept));
        } else {
            accepts.remove(&(accept.latest, accept));
        }
    }

    fn emit(&mut self, out: &mut Vec<(Self::View, i64)>) {
        for (thread, before) in std::mem::take(&mut self.touched) {
            let after = self.accepts.get(&thread).and_then(|a| a.last().copied());
            if before != after {
                out.extend(before.map(|(_, accept)| (accept, -1)));
                out.extend(after.map(|(_, accept)| (accept, 1)));
            }
            if after.is_none() {
                self.accepts.remove(&thread);
            }
        }
    }
}
