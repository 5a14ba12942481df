//! From facts back to signed events: logs of what a test, or a random world, says.
#![allow(dead_code, reason = "each test takes what it needs")]

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use wats_event::{Secret, sign};
use wats_model::facts::{Body, EventFact, Evidence, Post, PostKind, React, Reply};
use wats_model::ids::{BlobId, EventId, KeyId, NetworkId};
use wats_model::policy::Config;
use wats_oracle::world::Tick;

/// The names of the networks.
pub(crate) const NETWORKS: [&str; 2] = ["main", "side"];

/// The secret of the key of this number.
pub(crate) fn secret(key: KeyId) -> Secret {
    let mut seed = [7; 32];
    seed[..4].copy_from_slice(&key.0.to_le_bytes());
    Secret::from_seed(seed)
}

/// The hash of the blob of this number.
pub(crate) fn blob_name(blob: BlobId) -> String {
    format!("{:064x}", 0xb10b_0000_0000u64 + u64::from(blob.0))
}

/// The configuration, as a file.
pub(crate) fn toml(config: &Config) -> String {
    let keys = |keys: &[KeyId]| {
        keys.iter().map(|&k| format!("\"{}\"", secret(k).public())).collect::<Vec<_>>().join(", ")
    };
    let network = |(network, name): (&wats_model::policy::Network, &str)| {
        let (profiles, distrusted) = (keys(&network.profiles), keys(&network.distrusted));
        let pow_bits = network.pow_bits;
        let mut lines =
            format!("[[network]]\nid = \"{name}\"\npow_bits = {pow_bits}\nprofiles = [{profiles}]\n");
        if !distrusted.is_empty() {
            lines += &format!("distrusted = [{distrusted}]\n");
        }
        lines
    };
    config.networks.iter().zip(NETWORKS).map(network).collect::<Vec<_>>().join("\n")
}

/// The log of these ticks: a line for each event, each copy that came earlier, and each blob.
pub(crate) fn log(ticks: &[Tick]) -> Vec<String> {
    let mut pen = Pen::default();
    for (fact, _) in ticks.iter().flat_map(|tick| &tick.events).filter(|(_, diff)| *diff > 0) {
        pen.facts.entry(fact.id).or_insert(fact);
    }
    let mut lines = Vec::new();
    for tick in ticks {
        for (fact, _) in tick.events.iter().filter(|(_, diff)| *diff > 0) {
            pen.name(fact.id);
            lines.push(record(fact.received_at.0, &pen.signed[&fact.id].1));
        }
        for (blob, diff) in &tick.blobs {
            let (blob, present) = (blob_name(*blob), *diff > 0);
            lines.push(json!({ "received_at": tick.now.0, "blob": blob, "present": present }).to_string());
        }
    }
    lines
}

/// A record of an event.
pub(crate) fn record(received_at: u64, event: &str) -> String {
    format!(r#"{{"received_at":{received_at},"event":{event}}}"#)
}

/// Signs what is named before what names it.
#[derive(Default)]
struct Pen<'a> {
    facts: BTreeMap<EventId, &'a EventFact>,
    /// The id, and the whole event.
    signed: BTreeMap<EventId, (String, String)>,
    writing: BTreeSet<EventId>,
}

impl Pen<'_> {
    /// The id of an event; of one that is never held, or that itself waits for this name, a name
    /// that nobody has.
    fn name(&mut self, id: EventId) -> String {
        if let Some((name, _)) = self.signed.get(&id) {
            return name.clone();
        }
        match self.facts.get(&id).copied() {
            Some(fact) if self.writing.insert(id) => {
                let draft = self.draft(fact).to_string();
                let text = sign(&secret(fact.author), draft.as_bytes()).expect("an event");
                let event: Value = serde_json::from_str(&text).expect("JSON");
                let name = event["id"].as_str().expect("an id").to_owned();
                self.signed.insert(id, (name.clone(), text));
                name
            }
            _ => format!("{:064x}", u128::from(id.0) << 32 | 0xabcd),
        }
    }

    fn names(&mut self, ids: &[EventId]) -> Vec<String> {
        ids.iter().map(|id| self.name(*id)).collect()
    }

    fn draft(&mut self, fact: &EventFact) -> Value {
        let NetworkId(network) = fact.network;
        let mut draft = match &fact.body {
            Body::Post(post) => self.post(post, fact.id),
            Body::React(react) => self.react(react),
            Body::Announce { owner } => {
                let owner = owner.map(|owner| format!("owner {}", owner.0));
                json!({ "kind": "announce", "data": { "owner": owner } })
            }
            Body::Other { reply } => {
                let mut draft = json!({ "kind": "x.example.other" });
                self.stand(&mut draft, *reply);
                draft
            }
        };
        draft["net"] = NETWORKS[usize::from(network)].into();
        draft["created_at"] = fact.stamp.created_at.0.into();
        draft["number"] = fact.id.0.into();
        draft
    }

    fn post(&mut self, post: &Post, id: EventId) -> Value {
        let kind = match post.kind {
            PostKind::Ask => "ask",
            PostKind::Post => "post",
            PostKind::Digest => "x.wearetheswarm.digest",
        };
        let text = if post.blank { " ".to_owned() } else { format!("event {}", id.0) };
        let mut draft = json!({ "kind": kind, "text": text, "refs": self.names(&post.refs) });
        self.stand(&mut draft, post.reply);
        attach(&mut draft, &post.blobs);
        if !post.tags.is_empty() {
            draft["tags"] = post.tags.iter().map(|tag| format!("tag {}", tag.0)).collect();
        }
        if let Some(letter) = post.initial.and_then(|initial| char::from_u32(initial.0)) {
            draft["title"] = format!("{letter} {}", id.0).into();
        }
        if let Some(other) = post.supersedes {
            draft["data"] = json!({ "supersedes": self.name(other) });
        }
        draft
    }

    fn react(&mut self, react: &React) -> Value {
        let mut data = json!({});
        let flags = [("accept", react.accept), ("used", react.used)];
        for (name, flag) in flags.into_iter().filter_map(|(name, flag)| Some((name, flag?))) {
            data[name] = flag.into();
        }
        if react.still_valid {
            data["still_valid"] = true.into();
        }
        if let Some(value) = react.value {
            data["value"] = value.into();
        }
        if let Some(vouch) = react.vouch {
            data["label"] = if vouch { "vouch" } else { "unvouch" }.into();
        }
        match react.evidence {
            Evidence::None => {}
            Evidence::Text => data["evidence"] = "I tried it".into(),
            Evidence::Blob(blob) => data["evidence"] = json!({ "blob": blob_name(blob), "detail": "output" }),
        }
        let (parent, refs) = (self.name(react.target), self.names(&react.refs));
        let mut draft = json!({ "kind": "react", "parent": parent, "refs": refs, "data": data });
        attach(&mut draft, &react.blobs);
        draft
    }

    fn stand(&mut self, draft: &mut Value, reply: Option<Reply>) {
        if let Some(reply) = reply {
            draft["parent"] = self.name(reply.parent).into();
            draft["thread"] = self.name(reply.thread).into();
        }
    }
}

fn attach(draft: &mut Value, blobs: &[BlobId]) {
    if !blobs.is_empty() {
        let blobs = blobs.iter().map(|blob| json!({ "blob": blob_name(*blob), "size": 1 }));
        draft["attachments"] = blobs.collect();
    }
}
