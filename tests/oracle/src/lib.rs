//! The specification of wats, sections 2 to 8, as one batch computation over plain vectors: from the
//! set of held events, the configuration and the time to every view at once.
//!
//! It is written to be read beside the specification, one module a section, with the
//! specification's names; the incremental engine must agree with it after every tick, to the last
//! digit. It knows nothing of JSON, signatures or dataflow: it starts from the same facts as the
//! engine does.
//!
//! | module | section |
//! |---|---|
//! | `network` | 1.2 and 1.3: held events, threads, owners, vouches |
//! | `signals`, `decay` | 2: what each key says of each event |
//! | `trust`, `origins`, `counting` | 3: whom the reader trusts, and through whom |
//! | `contradictions` | 4: what stands |
//! | `reputation` | 5: voices |
//! | `status` | 6: statuses, scores, counts, why |
//! | `knowledge` | 7: entries, canonical answers, covers |
//! | `survival` | 8: replicas and blobs |
//! | `label` | 3, *Cold start*: the labels of networks |
//! | `browse` | none: the map of posts and entries |
//!
//! [`build`] makes facts for tests without signatures, and [`world`] random small worlds.
//!
//! Where the specification's words admit several readings, the function concerned carries a note
//! that begins with *Reading:*.

mod browse;
pub mod build;
mod contradictions;
mod counting;
mod decay;
mod grouped;
mod keys;
mod knowledge;
mod label;
mod network;
mod origins;
mod reputation;
mod signals;
mod status;
mod survival;
mod trust;
pub mod world;

use network::Network;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use wats_model::facts::EventFact;
use wats_model::ids::{BlobId, EventId, KeyId, Millis, NetworkId};
use wats_model::policy::Config;
use wats_model::views::{
    AuthorView, BlobView, EntryView, Facet, GroupView, ListedView, NetworkView, PostView,
};

/// All that the answer is a function of.
#[derive(Clone, Copy, Debug)]
pub struct State<'a> {
    /// The reader: networks, profiles, constants.
    pub config: &'a Config,
    /// The held events of all networks, each once, in any order; none received after `now`.
    pub events: &'a [EventFact],
    /// The blobs that the node holds, in any order.
    pub blobs: &'a [BlobId],
    /// The evaluation time.
    pub now: Millis,
}

/// The answer, for all networks at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Views {
    /// The post-like events (sections 6 and 8).
    pub posts: BTreeMap<EventId, PostView>,
    /// The keys: authors of held events, and the own profiles (sections 3 and 5).
    pub authors: BTreeMap<KeyId, AuthorView>,
    /// The knowledge entries (section 7).
    pub entries: BTreeSet<EntryView>,
    /// The canonical answer of each thread that has one (section 7).
    pub canonical: BTreeMap<EventId, EventId>,
    /// The digest shown for each held root that one covers (section 7).
    pub covers: BTreeMap<EventId, EventId>,
    /// The blobs that are held by the node or have a holder (section 8).
    pub blobs: BTreeMap<BlobId, BlobView>,
    /// How many posts and entries are under what.
    pub groups: BTreeMap<Facet, GroupView>,
    /// The entries under each.
    pub listed: BTreeSet<ListedView>,
    /// The networks that have a label.
    pub networks: BTreeMap<NetworkId, NetworkView>,
}

/// Evaluates the specification: each network by itself, since nothing crosses (section 1); only a
/// blob may have holders in several.
pub fn evaluate(state: &State) -> Views {
    let held_blobs: FxHashSet<BlobId> = state.blobs.iter().copied().collect();
    let mut views = Views::default();
    for &blob in state.blobs {
        survival::hold(&mut views.blobs, blob);
    }
    for id in networks(state) {
        let net = Network::new(state, id, &held_blobs);
        let signals = signals::read(&net);
        let keys = trust::trust(&net, &signals);
        let force = contradictions::forces(&net, &signals, &keys);
        let first = contradictions::run(&net, &signals, &keys, &force, None);
        let standing = reputation::reputation(&net, &signals, &keys, &first);
        let second = contradictions::run(&net, &signals, &keys, &force, Some(&standing.voice));
        let statuses = status::statuses(&net, &signals, &keys, &standing, &second);
        let knowledge = knowledge::knowledge(&net, &signals, &keys, &standing, &statuses);
        let replicas = survival::replicas(&net, &signals, &keys, &standing, &statuses);

        survival::blobs(&mut views.blobs, &net, &signals, &standing, &statuses, &replicas, &knowledge);
        browse::browse(&net, &statuses, &knowledge.entries, &mut views.groups, &mut views.listed);
        views.posts.extend(status::views(&net, &statuses, &replicas));
        views.authors.extend(reputation::views(&net, &keys, &standing));
        views.entries.extend(knowledge.entries);
        views.canonical.extend(knowledge.canonical);
        views.covers.extend(knowledge.covers);
        views.networks.extend(label::view(&net, &keys, &standing).map(|view| (id, view)));
    }
    views
}

/// The networks that are configured or have events.
fn networks(state: &State) -> BTreeSet<NetworkId> {
    let configured = (0..state.config.networks.len()).filter_map(|n| u16::try_from(n).ok());
    let mut networks: BTreeSet<NetworkId> = configured.map(NetworkId).collect();
    let mut last = None;
    for event in state.events {
        if last != Some(event.network) {
            networks.insert(event.network);
            last = Some(event.network);
        }
    }
    networks
}
