//! The document as JSON: what the vectors hold, and `why` beside it.

use super::ViewSet;
use crate::interner::Interner;
use crate::summary::why;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{self, Write};
use wats_event::Hex32;
use wats_model::ids::{EventId, GroupId, NetworkId};
use wats_model::views::NETWORK_LABEL;
use wats_model::views::{AuthorView, Counts, EntryView, PostView};

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

/// An entry, as the document holds it.
pub fn entry_json(entry: &EntryView, intake: &Interner) -> Option<Value> {
    let name = |id: EventId| intake.event_name(id).map(|name| name.to_string());
    let mut threads: Vec<String> = entry.threads.iter().filter_map(|id| name(*id)).collect();
    threads.sort_unstable();
    let kind = if entry.digest { "digest" } else { "thread" };
    Some(json!({ "entry": name(entry.entry)?, "kind": kind, "threads": threads }))
}

impl ViewSet {
    /// A post, as the document holds it.
    pub fn post_json(&self, post: &PostView, intake: &Interner) -> Value {
        let mut json = json!({
            "status": post.status.name(),
            "score": post.score.0,
            "counts": counts(&post.counts),
            "replicas": post.replicas,
        });
        if let Some(why) = why(post, intake) {
            json["why"] = why.into();
        }
        json
    }

    /// A key, as the document holds it.
    pub fn author_json(&self, author: &AuthorView, intake: &Interner) -> Value {
        ViewSet::author_json_named(author, |group| self.group_name(group, intake))
    }

    /// A key, with groups named by `name`.
    pub(super) fn author_json_named(author: &AuthorView, name: impl Fn(GroupId) -> Option<Hex32>) -> Value {
        let name = |group: GroupId| name(group).map(|name| name.to_string());
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

    /// Writes the member `networks`, an item at a time: a large node's document has millions. `gap`
    /// stands between items: a line end, or nothing.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_networks(&self, out: &mut impl Write, intake: &Interner, gap: &str) -> io::Result<()> {
        let mut networks = self.by_network(intake);
        write!(out, "{{")?;
        for (at, (id, name)) in intake.networks().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let part = networks.remove(&id).unwrap_or_default();
            write!(out, "{comma}{gap}{}:{{\"posts\":{{", Value::from(name))?;
            list(out, gap, part.posts, |post| self.post_json(post, intake))?;
            write!(out, "}},{gap}\"authors\":{{")?;
            list(out, gap, part.authors, |author| self.author_json(author, intake))?;
            write!(out, "}},{gap}\"entries\":{}", Value::from(part.entries))?;
            if let Some(told) = self.label(id, intake) {
                write!(out, ",{gap}\"{}\":{}", NETWORK_LABEL, json!(told))?;
            }
            write!(out, "}}")?;
        }
        write!(out, "}}")
    }

    fn by_network(&self, intake: &Interner) -> BTreeMap<NetworkId, Part<'_>> {
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
        for part in networks.values_mut() {
            part.entries.sort_by(|a, b| a["entry"].as_str().cmp(&b["entry"].as_str()));
        }
        networks
    }
}

/// What a network has in the document, by name.
#[derive(Default)]
struct Part<'a> {
    posts: BTreeMap<Hex32, &'a PostView>,
    authors: BTreeMap<Hex32, &'a AuthorView>,
    entries: Vec<Value>,
}

fn list<T>(
    out: &mut impl Write,
    gap: &str,
    items: BTreeMap<Hex32, T>,
    json: impl Fn(T) -> Value,
) -> io::Result<()> {
    for (at, (name, item)) in items.into_iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(out, "{comma}{gap}\"{name}\":{}", json(item))?;
    }
    Ok(())
}
