//! Section 8: the rank of blobs. (How long a post is young is in `aging`, its replicas in `status`.)

use crate::incremental::{Changes, Machine};
use crate::status::Judged;
use differential_dataflow::operators::ThresholdTotal;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use wats_model::fixed::Fixed;
use wats_model::ids::{BlobId, EventId, Millis};
use wats_model::views::{BlobView, EntryView, Status};

/// What a holder gives its blobs: (`score`, used, `created_at`).
pub type Rank = (Fixed, bool, Millis);

/// What a holder says of its blobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Holding {
    /// What it ranks them.
    pub rank: Rank,
    /// Its `replicas`.
    pub replicas: u8,
    /// Whether it is confirmed.
    pub confirmed: bool,
}

/// Something said about a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// The node holds it.
    Held,
    /// A holder.
    Holder(EventId, Holding),
    /// A holder for whose sake it is never evicted.
    Pinned(EventId),
}

/// A blob.
#[derive(Default)]
struct Blob {
    held: bool,
    holders: BTreeMap<(Rank, EventId), i64>,
    /// How many holders have so many replicas, and are confirmed: a few values, however many holders.
    needs: BTreeMap<(u8, bool), i64>,
    pinning: i64,
    shown: Option<BlobView>,
}

/// Adds to a count, and forgets it at zero.
fn add<K: Ord>(counts: &mut BTreeMap<K, i64>, key: K, diff: i64) {
    use std::collections::btree_map::Entry;
    match counts.entry(key) {
        Entry::Occupied(count) if *count.get() + diff == 0 => drop(count.remove()),
        entry => *entry.or_default() += diff,
    }
}

/// The machine of section 8: blobs by rank.
#[derive(Default)]
pub struct Blobs {
    blobs: FxHashMap<BlobId, Blob>,
    touched: FxHashSet<BlobId>,
}

impl Machine for Blobs {
    type Change = (BlobId, Input);
    type View = BlobView;

    fn apply(&mut self, (id, told): (BlobId, Input), diff: i64) {
        self.touched.insert(id);
        let blob = self.blobs.entry(id).or_default();
        match told {
            Input::Held => blob.held = diff > 0,
            Input::Pinned(_) => blob.pinning += diff,
            Input::Holder(holder, Holding { rank, replicas, confirmed }) => {
                add(&mut blob.holders, (rank, holder), diff);
                add(&mut blob.needs, (replicas, confirmed), diff);
            }
        }
    }

    fn emit(&mut self, out: &mut Vec<(BlobView, i64)>) {
        for id in std::mem::take(&mut self.touched) {
            let Some(blob) = self.blobs.get_mut(&id) else {
                continue;
            };
            let rank = blob.holders.keys().next_back().map(|(rank, _)| *rank);
            let known = blob.held || rank.is_some();
            let view = known.then(|| BlobView {
                blob: id,
                held: blob.held,
                pinned: blob.pinning > 0,
                rank,
                replicas: blob.needs.keys().map(|(replicas, _)| *replicas).max().unwrap_or(0),
                confirmed: blob.needs.keys().any(|(_, confirmed)| *confirmed),
            });
            if view != blob.shown {
                out.extend(blob.shown.map(|v| (v, -1)));
                out.extend(view.map(|v| (v, 1)));
                blob.shown = view;
            }
            if !known && blob.pinning == 0 {
                self.blobs.remove(&id);
            }
        }
    }
}

/// What section 8 is told.
pub struct Sources<'s> {
    /// Blobs that the node holds.
    pub held: Changes<'s, BlobId>,
    /// Holders: (post, blob).
    pub holders: Changes<'s, (EventId, BlobId)>,
    /// Posts by own profiles.
    pub own: Changes<'s, EventId>,
    /// The knowledge entries.
    pub entries: Changes<'s, EntryView>,
    /// All posts, judged, with the blobs that they hold.
    pub judged: Changes<'s, Judged>,
}

/// What is to be said to [`Blobs`].
pub fn holders<'s>(sources: Sources<'s>) -> Changes<'s, (BlobId, Input)> {
    let pinning = sources.own.concat(sources.entries.map(|e| e.entry)).distinct_total_core::<i64>();
    let ranks = sources.judged.flat_map(|j| {
        let used = j.view.counts.uses + j.view.counts.cites > 0;
        let (holder, rank) = (j.view.post, (j.view.score, used, j.stamp.created_at));
        let confirmed = j.view.status == Status::Confirmed;
        let holding = Holding { rank, replicas: j.view.replicas, confirmed };
        let blobs: Vec<BlobId> = j.blobs.iter().flat_map(|blobs| blobs.iter().copied()).collect();
        blobs.into_iter().map(move |blob| (blob, Input::Holder(holder, holding)))
    });
    let pinned = sources.holders.semijoin(pinning).map(|(holder, blob)| (blob, Input::Pinned(holder)));
    sources.held.map(|blob| (blob, Input::Held)).concat(ranks).concat(pinned)
}
