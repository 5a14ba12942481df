//! What a tick made of the document: before and after, for each item that looks different.

use super::{ViewSet, entry_json, is_alone};
use crate::interner::Interner;
use crate::labels::LabelAdvice;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use wats_event::Hex32;
use wats_model::ids::{EventId, GroupId, KeyId, NetworkId};
use wats_model::views::NETWORK_LABEL;
use wats_model::views::{AuthorView, EntryView, NetworkView, PostView};

/// What an item of the document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A post-like event (section 6).
    Post,
    /// A key (sections 3 and 5).
    Author,
    /// A knowledge entry (section 7).
    Entry,
    /// The label of the network.
    Label,
}

impl Kind {
    /// How it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Post => "post",
            Kind::Author => "author",
            Kind::Entry => "entry",
            Kind::Label => NETWORK_LABEL,
        }
    }
}

/// An item of the document that a tick changed; absent before, or after, is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// The network it belongs to.
    pub network: NetworkId,
    /// What it is.
    pub kind: Kind,
    /// The event, or the key; none of a label, which is its network's.
    pub id: Option<Hex32>,
    /// As the document held it before the tick.
    pub before: Option<Value>,
    /// As the document holds it now.
    pub after: Option<Value>,
}

/// What a tick touched, as it was before.
#[derive(Debug, Default)]
pub(super) struct ViewDiff {
    pub posts: HashMap<EventId, Option<PostView>>,
    pub authors: HashMap<KeyId, Option<AuthorView>>,
    pub entries: BTreeMap<(EventId, bool), Option<EntryView>>,
    pub networks: BTreeMap<NetworkId, Option<NetworkView>>,
    /// The names of groups that somebody joined or left.
    pub names: HashMap<GroupId, Option<Hex32>>,
}

impl ViewDiff {
    /// What looks different now, by network, kind and name.
    pub(super) fn changed(mut self, document: &ViewSet, intake: &Interner) -> Vec<Changed> {
        self.names.retain(|group, before| document.group_name(*group, intake) != *before);
        self.add_renamed(document);
        let mut changed = Vec::new();
        for (id, before) in &self.posts {
            let json = |post: &PostView| document.post_json(post, intake);
            let (before, after) = (before.as_ref().map(json), document.posts.get(id).map(json));
            let (network, name) = (intake.event_network(*id), intake.event_name(*id));
            note(&mut changed, Kind::Post, network, name, before, after);
        }
        for (key, before) in &self.authors {
            let old_name = |group: GroupId| match self.names.get(&group) {
                Some(before) => *before,
                None => document.group_name(group, intake),
            };
            let before = before.as_ref().map(|author| ViewSet::author_json_named(author, old_name));
            let after = document.authors.get(key).map(|author| document.author_json(author, intake));
            note(&mut changed, Kind::Author, intake.key_network(*key), intake.key_name(*key), before, after);
        }
        self.changed_entries(document, intake, &mut changed);
        for (network, before) in &self.networks {
            let before = before.as_ref().map(|view| json!(LabelAdvice::in_view(view, intake)));
            let after = document.label(*network, intake).map(|told| json!(told));
            if before != after {
                changed.push(Changed { network: *network, kind: Kind::Label, id: None, before, after });
            }
        }
        changed.sort_by_key(|c| (c.network, c.kind, c.id));
        changed
    }

    fn changed_entries(&self, document: &ViewSet, intake: &Interner, changed: &mut Vec<Changed>) {
        if self.entries.is_empty() {
            return;
        }
        let touched = document.entries.iter().filter(|e| self.entries.contains_key(&(e.entry, e.digest)));
        let mut now: BTreeMap<(EventId, bool), Value> =
            touched.filter_map(|e| Some(((e.entry, e.digest), entry_json(e, intake)?))).collect();
        for (key, before) in &self.entries {
            let before = before.as_ref().and_then(|entry| entry_json(entry, intake));
            let (network, name) = (intake.event_network(key.0), intake.event_name(key.0));
            note(changed, Kind::Entry, network, name, before, now.remove(key));
        }
    }

    /// Adds the keys whose own views did not change, but name a group that is called otherwise now.
    ///
    /// All authors are looked at, but only then: each of those found is a line of output, and a name
    /// changes only when a smaller key joins a group of several, or its smallest leaves.
    fn add_renamed(&mut self, document: &ViewSet) {
        let renamed = |group: &GroupId| !is_alone(*group) && self.names.contains_key(group);
        if self.names.values().all(Option::is_none) {
            return;
        }
        let names = |author: &AuthorView| {
            renamed(&author.group) || renamed(&author.class) || author.origins.iter().any(renamed)
        };
        let found: Vec<&AuthorView> = document.authors.values().filter(|author| names(author)).collect();
        for author in found {
            self.authors.entry(author.key).or_insert_with(|| Some(author.clone()));
        }
    }
}

fn note(
    changed: &mut Vec<Changed>,
    kind: Kind,
    network: Option<NetworkId>,
    id: Option<Hex32>,
    before: Option<Value>,
    after: Option<Value>,
) {
    if let (Some(network), Some(_)) = (network, id)
        && before != after
    {
        changed.push(Changed { network, kind, id, before, after });
    }
}
