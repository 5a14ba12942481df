//! Section 8: what the network should keep.

use crate::keys::Keys;
use crate::knowledge::Knowledge;
use crate::network::{Event, Network};
use crate::reputation::Standing;
use crate::signals::Signals;
use crate::status::{PostStatus, positive};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use wats_model::ids::BlobId;
use wats_model::views::{BlobView, Status};

/// `replicas(p)`, by event.
pub(crate) fn replicas(
    net: &Network,
    signals: &Signals,
    keys: &Keys,
    standing: &Standing,
    statuses: &[Option<PostStatus>],
) -> Vec<u8> {
    let policy = net.policy;
    let recent = |clock| net.now.since(clock) < policy.recent;
    let replicas = |p: Event| match statuses[p] {
        Some(PostStatus { status: Status::Confirmed, .. }) => policy.replicas_confirmed,
        Some(_) => {
            let mut relied = signals
                .on(p)
                .iter()
                .filter(|s| s.kind.relies() && standing.has_weight[s.author] && positive(net, keys, s));
            let keep = recent(net.events[p].te()) || relied.any(|s| recent(s.is.clock));
            if keep { policy.replicas_recent } else { 0 }
        }
        None => 0,
    };
    (0..net.events.len()).map(replicas).collect()
}

/// The view of a blob, whoever holds it.
fn view(views: &mut BTreeMap<BlobId, BlobView>, blob: BlobId) -> &mut BlobView {
    let nothing = BlobView { blob, held: false, pinned: false, rank: None, replicas: 0, confirmed: false };
    views.entry(blob).or_insert(nothing)
}

/// The node holds a blob.
pub(crate) fn hold(views: &mut BTreeMap<BlobId, BlobView>, blob: BlobId) {
    view(views, blob).held = true;
}

/// Adds the network's holders to the views of the blobs.
///
/// Reading: a blob is one in all networks, so its holders are those of all of them.
pub(crate) fn blobs(
    views: &mut BTreeMap<BlobId, BlobView>,
    net: &Network,
    signals: &Signals,
    standing: &Standing,
    statuses: &[Option<PostStatus>],
    replicas: &[u8],
    knowledge: &Knowledge,
) {
    let entries: FxHashSet<_> = knowledge.entries.iter().map(|entry| entry.entry).collect();
    let mut holder = |holder: Event, blob| {
        let Some(status) = statuses[holder] else {
            return;
        };
        let event = net.events[holder];
        let used = status.counts.uses + status.counts.cites > 0;
        let view = view(views, blob);
        view.pinned |= net.own[net.author[holder]] || entries.contains(&event.id);
        view.rank = view.rank.max(Some((status.score, used, event.stamp.created_at)));
        view.replicas = view.replicas.max(replicas[holder]);
        view.confirmed |= status.status == Status::Confirmed;
    };
    for (p, post) in net.posts() {
        post.blobs.iter().for_each(|&blob| holder(p, blob));
    }
    let of_weight = signals.attaching.iter().filter(|&&e| standing.has_weight[net.author[e]]);
    for e in of_weight.copied().chain(own_attaching(net)) {
        if let Some((react, x)) = net.react(e).and_then(|r| Some((r, net.held(r.target)?))) {
            react.blobs.iter().for_each(|&blob| holder(x, blob));
        }
    }
}

/// The own profiles' reacts that attach blobs, of the latest on each target; their own posts are
/// targets too.
fn own_attaching(net: &Network) -> Vec<Event> {
    let mut reacts: FxHashMap<_, Vec<Event>> = FxHashMap::default();
    for (e, react) in net.reacts().filter(|&(e, _)| net.own[net.author[e]]) {
        reacts.entry((net.author[e], react.target)).or_default().push(e);
    }
    let mut attaching = Vec::new();
    for on_x in reacts.values_mut() {
        on_x.sort_unstable_by_key(|&e| net.stamp(e));
        let considered = &on_x[on_x.len().saturating_sub(net.policy.max_reacts)..];
        let attaches = |e: &Event| net.react(*e).is_some_and(|react| !react.blobs.is_empty());
        attaching.extend(considered.iter().copied().filter(attaches));
    }
    attaching
}
