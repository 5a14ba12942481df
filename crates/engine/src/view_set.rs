//! The answers of a node, as the dataflow's changes add up to them, under the names that events sign.
//!
//! Integers become names here, and one thing more is decided here: a group is named by its smallest
//! key (section 3, *Groups*). When a smaller key joins, the name changes in every answer that bears
//! it, although the dataflow, to which the group is the same, says nothing of them.

mod changed;
mod json;

pub use changed::{Changed, Kind};
pub use json::{counts, entry_json};

use crate::interner::Interner;
use crate::labels::LabelAdvice;
use changed::ViewDiff;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wats_event::Hex32;
use wats_model::ids::{BlobId, EventId, GroupId, KeyId, NetworkId};
use wats_model::views::{
    AuthorView, BlobView, EntryView, Facet, GroupView, ListedView, NetworkView, PostView, View,
};

/// All views, at the end of a tick.
#[derive(Debug, Default)]
pub struct ViewSet {
    /// Post-like events (section 6).
    pub posts: HashMap<EventId, PostView>,
    /// Keys (sections 3 and 5).
    pub authors: HashMap<KeyId, AuthorView>,
    /// Knowledge entries (section 7).
    pub entries: BTreeSet<EntryView>,
    /// Canonical answers, by thread (section 7).
    pub canonical: BTreeMap<EventId, EventId>,
    /// The digest shown, by the root it covers (section 7).
    pub covers: BTreeMap<EventId, EventId>,
    /// Blobs (section 8).
    pub blobs: BTreeMap<BlobId, BlobView>,
    /// Counts of what is under each thing to browse by.
    pub groups: HashMap<Facet, GroupView>,
    /// Entries under each.
    pub listed: BTreeSet<ListedView>,
    /// Networks that have a label.
    pub networks: BTreeMap<NetworkId, NetworkView>,
    /// The members of each group that may have several.
    members: HashMap<GroupId, BTreeSet<Hex32>>,
}

impl ViewSet {
    /// Takes the consolidated changes of a tick.
    pub fn apply(&mut self, changes: &[(View, i64)], intake: &Interner) {
        self.take(changes, intake, &mut None);
    }

    /// Takes the consolidated changes of a tick, and tells what became of each post, key and entry
    /// that looks different afterwards, those included of which only the name of a group changed.
    pub fn apply_and_tell(&mut self, changes: &[(View, i64)], intake: &Interner) -> Vec<Changed> {
        let mut noted = Some(ViewDiff::default());
        self.take(changes, intake, &mut noted);
        noted.unwrap_or_default().changed(self, intake)
    }

    fn take(&mut self, changes: &[(View, i64)], intake: &Interner, noted: &mut Option<ViewDiff>) {
        let retractions = changes.iter().filter(|(_, diff)| *diff < 0);
        let additions = changes.iter().filter(|(_, diff)| *diff > 0);
        for (view, diff) in retractions.chain(additions) {
            self.take_one(view, *diff > 0, intake, noted);
        }
    }

    fn take_one(&mut self, view: &View, here: bool, intake: &Interner, noted: &mut Option<ViewDiff>) {
        match view {
            View::Post(post) => {
                let before = replace(&mut self.posts, post.post, here.then(|| post.clone()));
                if let Some(noted) = noted {
                    noted.posts.entry(post.post).or_insert(before);
                }
            }
            View::Author(author) => self.take_author(author, here, intake, noted),
            View::Entry(entry) => {
                if here {
                    self.entries.insert(entry.clone());
                } else {
                    self.entries.remove(entry);
                }
                if let Some(noted) = noted {
                    let before = (!here).then(|| entry.clone());
                    noted.entries.entry((entry.entry, entry.digest)).or_insert(before);
                }
            }
            View::Canonical(c) if here => drop(self.canonical.insert(c.thread, c.answer)),
            View::Canonical(c) => drop(self.canonical.remove(&c.thread)),
            View::Cover(c) if here => drop(self.covers.insert(c.thread, c.digest)),
            View::Cover(c) => drop(self.covers.remove(&c.thread)),
            View::Blob(blob) if here => drop(self.blobs.insert(blob.blob, *blob)),
            View::Blob(blob) => drop(self.blobs.remove(&blob.blob)),
            View::Group(group) => drop(replace(&mut self.groups, group.facet, here.then_some(*group))),
            View::Listed(listed) if here => drop(self.listed.insert(*listed)),
            View::Listed(listed) => drop(self.listed.remove(listed)),
            View::Network(view) => {
                let before = match here {
                    true => self.networks.insert(view.network, view.clone()),
                    false => self.networks.remove(&view.network),
                };
                if let Some(noted) = noted {
                    noted.networks.entry(view.network).or_insert(before);
                }
            }
        }
    }

    fn take_author(
        &mut self,
        author: &AuthorView,
        here: bool,
        intake: &Interner,
        noted: &mut Option<ViewDiff>,
    ) {
        if let (false, Some(name)) = (is_alone(author.group), intake.key_name(author.key)) {
            if let Some(noted) = noted {
                let before = self.group_name(author.group, intake);
                noted.names.entry(author.group).or_insert(before);
            }
            let members = self.members.entry(author.group).or_default();
            if here {
                members.insert(name)
            } else {
                members.remove(&name)
            };
            if members.is_empty() {
                self.members.remove(&author.group);
            }
        }
        let before = replace(&mut self.authors, author.key, here.then(|| author.clone()));
        if let Some(noted) = noted {
            noted.authors.entry(author.key).or_insert(before);
        }
    }

    /// The label of a network, with the key that a vouch would help most.
    pub fn label(&self, network: NetworkId, intake: &Interner) -> Option<LabelAdvice> {
        self.networks.get(&network).map(|view| LabelAdvice::in_view(view, intake))
    }

    /// The name of a group: its smallest key (section 3, *Groups*).
    pub fn group_name(&self, group: GroupId, intake: &Interner) -> Option<Hex32> {
        match group {
            GroupId::Alone(key) => intake.key_name(key),
            GroupId::Profiles(_) | GroupId::Owner(_) => self.members.get(&group)?.first().copied(),
        }
    }
}

/// A group of one key for ever: its name cannot change.
fn is_alone(group: GroupId) -> bool {
    matches!(group, GroupId::Alone(_))
}

/// Puts a value in place of another, or nothing; what was there.
fn replace<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>, key: K, value: Option<V>) -> Option<V> {
    match value {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    }
}
