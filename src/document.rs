//! The answers of a node, as the dataflow's changes add up to them, under the names that events sign.

use crate::event::Hex32;
use crate::intake::Intake;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};
use wats_dataflows::ids::{BlobId, EventId, GroupId, KeyId, NetworkId};
use wats_dataflows::views::{AuthorView, BlobView, Counts, EntryView, PostView, Status, View};

/// All views, at the end of a tick.
#[derive(Debug, Default)]
pub struct Document {
    /// Post-like events.
    pub posts: HashMap<EventId, PostView>,
    /// Keys.
    pub authors: HashMap<KeyId, AuthorView>,
    /// Knowledge entries.
    pub entries: BTreeSet<EntryView>,
    /// Canonical answers, by thread.
    pub canonical: BTreeMap<EventId, EventId>,
    /// The digest shown, by the root it covers.
    pub covers: BTreeMap<EventId, EventId>,
    /// Blobs.
    pub blobs: BTreeMap<BlobId, BlobView>,
    /// The members of each group, of which the smallest names it.
    members: HashMap<GroupId, BTreeSet<Hex32>>,
}

impl Document {
    /// Takes the consolidated changes of a tick.
    pub fn apply(&mut self, changes: &[(View, i64)], intake: &Intake) {
        let retractions = changes.iter().filter(|(_, diff)| *diff < 0);
        let additions = changes.iter().filter(|(_, diff)| *diff > 0);
        for (view, diff) in retractions.chain(additions) {
            self.apply_one(view, *diff > 0, intake);
        }
    }

    fn apply_one(&mut self, view: &View, here: bool, intake: &Intake) {
        match view {
            View::Post(post) if here => drop(self.posts.insert(post.post, post.clone())),
            View::Post(post) => drop(self.posts.remove(&post.post)),
            View::Author(author) => {
                if let Some(name) = intake.key_name(author.key) {
                    let members = self.members.entry(author.group).or_default();
                    if here {
                        members.insert(name)
                    } else {
                        members.remove(&name)
                    };
                }
                if here {
                    self.authors.insert(author.key, author.clone());
                } else {
                    self.authors.remove(&author.key);
                }
            }
            View::Entry(entry) if here => drop(self.entries.insert(entry.clone())),
            View::Entry(entry) => drop(self.entries.remove(entry)),
            View::Canonical(c) if here => drop(self.canonical.insert(c.thread, c.answer)),
            View::Canonical(c) => drop(self.canonical.remove(&c.thread)),
            View::Cover(c) if here => drop(self.covers.insert(c.thread, c.digest)),
            View::Cover(c) => drop(self.covers.remove(&c.thread)),
            View::Blob(blob) if here => drop(self.blobs.insert(blob.blob, *blob)),
            View::Blob(blob) => drop(self.blobs.remove(&blob.blob)),
        }
    }

    /// The name of a group: its smallest key.
    pub fn group_name(&self, group: GroupId) -> Option<Hex32> {
        self.members.get(&group)?.first().copied()
    }
}

/// How a status is written.
pub fn status_name(status: Status) -> &'static str {
    match status {
        Status::Contested => "contested",
        Status::Unverified => "unverified",
        Status::Stale => "stale",
        Status::Confirmed => "confirmed",
    }
}

/// `counts`, as the document holds them.
pub fn counts(counts: &Counts) -> Value {
    json!({
        "accepts": counts.accepts,
        "confirmations": counts.confirmations,
        "uses": counts.uses,
        "contradictions": counts.contradictions,
        "cites": counts.cites,
        "votes_up": counts.votes_up,
        "votes_down": counts.votes_down,
    })
}

impl Document {
    /// A post, as the document holds it.
    pub fn post_json(&self, post: &PostView, why: Option<String>) -> Value {
        let mut json = json!({
            "status": status_name(post.status),
            "score": post.score.0,
            "counts": counts(&post.counts),
            "replicas": post.replicas,
        });
        if let (Some(why), Value::Object(members)) = (why, &mut json) {
            members.insert("why".into(), why.into());
        }
        json
    }

    /// A key, as the document holds it.
    pub fn author_json(&self, author: &AuthorView) -> Value {
        let name = |group: GroupId| self.group_name(group).map(|name| name.to_string());
        let mut origins: Vec<String> = author.origins.iter().filter_map(|g| name(*g)).collect();
        origins.sort_unstable();
        json!({
            "trust": author.trust.0,
            "floor": author.floor.0,
            "weight": author.weight.0,
            "reputation": author.reputation.0,
            "voice": author.voice.0,
            "group": name(author.group),
            "class": name(author.class),
            "origins": origins,
        })
    }
}

impl Document {
    /// Writes the member `networks`, an item at a time: a large node's document has millions.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_networks(
        &self,
        out: &mut impl Write,
        intake: &Intake,
        why: impl Fn(&PostView) -> Option<String>,
    ) -> io::Result<()> {
        let mut networks: BTreeMap<NetworkId, Part<'_>> = BTreeMap::new();
        for post in self.posts.values() {
            if let (Some(network), Some(name)) =
                (intake.event_network(post.post), intake.event_name(post.post))
            {
                networks.entry(network).or_default().posts.insert(name, post);
            }
        }
        for author in self.authors.values() {
            if let (Some(network), Some(name)) = (intake.key_network(author.key), intake.key_name(author.key))
            {
                networks.entry(network).or_default().authors.insert(name, author);
            }
        }
        for entry in &self.entries {
            if let Some(network) = intake.event_network(entry.entry) {
                networks.entry(network).or_default().entries.extend(entry_json(entry, intake));
            }
        }
        write!(out, "{{")?;
        for (at, (id, name)) in intake.networks().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let part = networks.remove(&id).unwrap_or_default();
            write!(out, "{comma}\n{}:{{\"posts\":{{", Value::from(name))?;
            list(out, part.posts, |post| self.post_json(post, why(post)))?;
            write!(out, "}},\n\"authors\":{{")?;
            list(out, part.authors, |author| self.author_json(author))?;
            write!(out, "}},\n\"entries\":{}}}", Value::from(part.entries))?;
        }
        write!(out, "}}")
    }
}

/// What a network has in the document, by name.
#[derive(Default)]
struct Part<'a> {
    posts: BTreeMap<Hex32, &'a PostView>,
    authors: BTreeMap<Hex32, &'a AuthorView>,
    entries: Vec<Value>,
}

fn list<T>(out: &mut impl Write, items: BTreeMap<Hex32, T>, json: impl Fn(T) -> Value) -> io::Result<()> {
    for (at, (name, item)) in items.into_iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(out, "{comma}\n\"{name}\":{}", json(item))?;
    }
    Ok(())
}

/// An entry, as the document holds it.
pub fn entry_json(entry: &EntryView, intake: &Intake) -> Option<Value> {
    let name = |id: EventId| intake.event_name(id).map(|name| name.to_string());
    let mut threads: Vec<String> = entry.threads.iter().filter_map(|id| name(*id)).collect();
    threads.sort_unstable();
    let kind = if entry.digest { "digest" } else { "thread" };
    Some(json!({ "entry": name(entry.entry)?, "kind": kind, "threads": threads }))
}
