//! From checked records to changes of the dataflow's input: names are interned, copies of an event
//! are reduced to the earliest, blob records to the last word (section 1.2).
//!
//! What is held depends on the set of records alone: in whatever order they come, the changes add up
//! to the same facts (with other integers for the same names).

use crate::collation;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use wats_config::Config;
use wats_event::{Content, Event, Evidence, Hex32, Post, Standing};
use wats_model::facts::{self, Body, EventFact, PostKind, Reply};
use wats_model::ids::IdSpaceExhausted;
use wats_model::ids::{BlobId, EventId, KeyId, Millis, NetworkId, OwnerId, Stamp, TagId};
use wats_model::policy;

/// A change of the dataflow's input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// An event fact appears (1) or goes (-1).
    Event(Box<EventFact>, i64),
    /// A blob appears (1) or goes (-1).
    Blob(BlobId, i64),
}

/// What became of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ingested {
    /// It is held now.
    New(EventId),
    /// It was held, and this copy was received earlier: its fact is replaced.
    Earlier(EventId),
    /// It was held: `duplicate`, which is not an error.
    Duplicate(EventId),
}

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// A key.
    Key(KeyId),
    /// An event, held or only named by others.
    Event(EventId),
}

/// Interned names, both ways.
///
/// The standard hasher, keyed at random, because authors choose the names: with a fast fixed hash
/// they could choose millions that collide. Nothing depends on the maps' order.
#[derive(Debug)]
struct Names<K> {
    what: &'static str,
    most: usize,
    ids: HashMap<K, u32>,
    names: Vec<K>,
}

impl<K: Clone + Eq + Hash> Names<K> {
    fn new(what: &'static str, most: usize) -> Names<K> {
        Names { what, most, ids: HashMap::new(), names: Vec::new() }
    }

    fn intern(&mut self, name: &K) -> Result<u32, IdSpaceExhausted> {
        if let Some(&id) = self.ids.get(name) {
            return Ok(id);
        }
        let id = u32::try_from(self.names.len()).ok().filter(|_| self.names.len() < self.most);
        let id = id.ok_or(IdSpaceExhausted(self.what))?;
        self.ids.insert(name.clone(), id);
        self.names.push(name.clone());
        Ok(id)
    }

    fn find(&self, name: &K) -> Option<u32> {
        self.ids.get(name).copied()
    }

    fn name(&self, id: u32) -> Option<&K> {
        self.names.get(id as usize)
    }
}

/// What the intake remembers of an event that is held.
#[derive(Clone, Debug)]
pub struct Held {
    /// The smallest `received_at` of its copies.
    pub received_at: Millis,
    /// The first words of its title, fit to show, on a post-like event.
    pub title: Option<Box<str>>,
    /// The first words of what it says, fit to quote.
    pub quote: Option<Box<str>>,
}

/// Interns names and turns records into changes.
#[derive(Debug)]
pub struct Interner {
    networks: Names<Box<str>>,
    keys: Names<(NetworkId, Hex32)>,
    owners: Names<(NetworkId, Box<str>)>,
    events: Names<(NetworkId, Hex32)>,
    blobs: Names<Hex32>,
    tags: Names<(NetworkId, Arc<str>)>,
    /// By [`EventId`]; none where the event is only named by others.
    held: Vec<Option<Held>>,
    /// By [`BlobId`]: the latest record, and whether the blob was there.
    presence: Vec<Option<(Millis, bool)>>,
    config: policy::Config,
}

const IDS: usize = u32::MAX as usize;

impl Interner {
    /// An intake that holds nothing, with the configured networks and own profiles interned.
    ///
    /// # Errors
    /// With more than 65,536 networks.
    pub fn new(config: &Config) -> Result<Interner, IdSpaceExhausted> {
        let mut intake = Interner {
            networks: Names::new("networks", 1 << 16),
            keys: Names::new("keys", IDS),
            owners: Names::new("owners", IDS),
            events: Names::new("events", IDS),
            blobs: Names::new("blobs", IDS),
            tags: Names::new("tags", IDS),
            held: Vec::new(),
            presence: Vec::new(),
            config: policy::Config { networks: Vec::new(), policy: config.policy.clone() },
        };
        for network in config.networks.iter().flatten() {
            let id = intake.network(&network.id)?;
            let mut keys = |names: &[Hex32]| -> Result<Vec<KeyId>, IdSpaceExhausted> {
                names.iter().map(|name| intake.key(id, *name)).collect()
            };
            let (profiles, distrusted) = (keys(&network.profiles)?, keys(&network.distrusted)?);
            let pow_bits = network.pow_bits;
            intake.config.networks.push(policy::Network { profiles, distrusted, pow_bits });
        }
        Ok(intake)
    }

    /// The configuration, with names interned, for the dataflow.
    pub fn config(&self) -> &policy::Config {
        &self.config
    }

    /// Takes an event that passed every check; the changes are added to `changes`.
    ///
    /// # Errors
    /// When names run out; nothing is changed then.
    pub fn event(
        &mut self,
        event: &Event,
        received_at: Millis,
        changes: &mut Vec<Change>,
    ) -> Result<Ingested, IdSpaceExhausted> {
        let network = self.network(&event.net)?;
        let id = self.event_id(network, event.id)?;
        let before = self.held[id.0 as usize].as_ref().map(|held| held.received_at);
        if before.is_some_and(|before| before <= received_at) {
            return Ok(Ingested::Duplicate(id));
        }
        let fact = self.fact(id, network, event, received_at)?;
        if let Some(before) = before {
            // A copy of the same id has the same content: the old fact is this one, received later.
            changes.push(Change::Event(Box::new(EventFact { received_at: before, ..fact.clone() }), -1));
        }
        changes.push(Change::Event(Box::new(fact), 1));
        self.held[id.0 as usize] =
            Some(Held { received_at, title: event.title.clone(), quote: event.quote.clone() });
        Ok(if before.is_some() { Ingested::Earlier(id) } else { Ingested::New(id) })
    }

    /// Takes a record of a blob: the largest `received_at` counts, and on a tie absence does.
    ///
    /// # Errors
    /// When names run out.
    pub fn blob(
        &mut self,
        blob: Hex32,
        present: bool,
        received_at: Millis,
        changes: &mut Vec<Change>,
    ) -> Result<BlobId, IdSpaceExhausted> {
        let id = self.blob_id(&blob)?;
        let last = &mut self.presence[id.0 as usize];
        let before = last.is_some_and(|(_, present)| present);
        match *last {
            Some((at, _)) if received_at < at => {}
            Some((at, was)) if received_at == at => *last = Some((at, was && present)),
            _ => *last = Some((received_at, present)),
        }
        match (before, last.is_some_and(|(_, present)| present)) {
            (false, true) => changes.push(Change::Blob(id, 1)),
            (true, false) => changes.push(Change::Blob(id, -1)),
            _ => {}
        }
        Ok(id)
    }

    fn fact(
        &mut self,
        id: EventId,
        network: NetworkId,
        event: &Event,
        received_at: Millis,
    ) -> Result<EventFact, IdSpaceExhausted> {
        Ok(EventFact {
            id,
            stamp: Stamp { created_at: event.created_at, tie: event.id.first_half() },
            received_at,
            network,
            author: self.key(network, event.author)?,
            work: event.id.leading_zeros(),
            body: self.body(network, event)?,
        })
    }

    fn body(&mut self, network: NetworkId, event: &Event) -> Result<Body, IdSpaceExhausted> {
        Ok(match &event.content {
            Content::Post(post) => Body::Post(facts::Post {
                kind: post.kind,
                reply: self.reply(network, post.reply)?,
                refs: self.event_ids(network, &post.refs)?,
                blank: post.blank,
                blobs: self.blob_ids(&post.blobs)?,
                supersedes: post.supersedes.map(|id| self.event_id(network, id)).transpose()?,
                tags: self.tag_ids(network, &post.tags)?,
                initial: event.title.as_deref().filter(|_| begins_a_thread(post)).map(collation::initial),
            }),
            Content::React(react) => Body::React(facts::React {
                target: self.event_id(network, react.target)?,
                value: react.value,
                accept: react.accept,
                used: react.used,
                still_valid: react.still_valid,
                vouch: react.standing.map(|standing| standing == Standing::Vouch),
                evidence: match react.evidence {
                    Evidence::None => facts::Evidence::None,
                    Evidence::Text => facts::Evidence::Text,
                    Evidence::Blob(blob) => facts::Evidence::Blob(self.blob_id(&blob)?),
                },
                refs: self.event_ids(network, &react.refs)?,
                blobs: self.blob_ids(&react.blobs)?,
            }),
            Content::Announce { owner } => Body::Announce {
                owner: match owner {
                    Some(owner) => Some(OwnerId(self.owners.intern(&(network, owner.clone()))?)),
                    None => None,
                },
            },
            Content::Other { reply } => Body::Other { reply: self.reply(network, *reply)? },
        })
    }

    fn reply(
        &mut self,
        network: NetworkId,
        reply: Option<(Hex32, Hex32)>,
    ) -> Result<Option<Reply>, IdSpaceExhausted> {
        let Some((parent, thread)) = reply else {
            return Ok(None);
        };
        let parent = self.event_id(network, parent)?;
        Ok(Some(Reply { parent, thread: self.event_id(network, thread)? }))
    }

    fn network(&mut self, name: &str) -> Result<NetworkId, IdSpaceExhausted> {
        let id = self.networks.intern(&name.into())?;
        // The table ends at 65,536 names.
        u16::try_from(id).map(NetworkId).map_err(|_| IdSpaceExhausted("networks"))
    }

    fn key(&mut self, network: NetworkId, key: Hex32) -> Result<KeyId, IdSpaceExhausted> {
        self.keys.intern(&(network, key)).map(KeyId)
    }

    /// An id is interned for the network that names it, so that nothing joined on ids can cross.
    fn event_id(&mut self, network: NetworkId, id: Hex32) -> Result<EventId, IdSpaceExhausted> {
        let id = self.events.intern(&(network, id))?;
        self.held.resize(self.events.names.len(), None);
        Ok(EventId(id))
    }

    fn event_ids(&mut self, network: NetworkId, ids: &[Hex32]) -> Result<Box<[EventId]>, IdSpaceExhausted> {
        ids.iter().map(|id| self.event_id(network, *id)).collect()
    }

    fn blob_id(&mut self, blob: &Hex32) -> Result<BlobId, IdSpaceExhausted> {
        let id = self.blobs.intern(blob)?;
        self.presence.resize(self.blobs.names.len(), None);
        Ok(BlobId(id))
    }

    fn tag_ids(&mut self, network: NetworkId, tags: &[Arc<str>]) -> Result<Box<[TagId]>, IdSpaceExhausted> {
        let mut ids = Vec::with_capacity(tags.len());
        for tag in tags {
            ids.push(TagId(self.tags.intern(&(network, tag.clone()))?));
        }
        ids.sort_unstable();
        ids.dedup();
        Ok(ids.into())
    }

    fn blob_ids(&mut self, blobs: &[Hex32]) -> Result<Box<[BlobId]>, IdSpaceExhausted> {
        blobs.iter().map(|blob| self.blob_id(blob)).collect()
    }
}

/// Asks, and posts without a parent.
fn begins_a_thread(post: &Post) -> bool {
    post.kind == PostKind::Ask || post.reply.is_none()
}

/// Names, to put the dataflow's answers into words.
impl Interner {
    /// The bytes of an event id.
    pub fn event_name(&self, id: EventId) -> Option<Hex32> {
        self.events.name(id.0).map(|(_, id)| *id)
    }

    /// The bytes of a key.
    pub fn key_name(&self, id: KeyId) -> Option<Hex32> {
        self.keys.name(id.0).map(|(_, key)| *key)
    }

    /// The network a key belongs to.
    pub fn key_network(&self, id: KeyId) -> Option<NetworkId> {
        self.keys.name(id.0).map(|(network, _)| *network)
    }

    /// The bytes of a blob's hash.
    pub fn blob_name(&self, id: BlobId) -> Option<Hex32> {
        self.blobs.name(id.0).copied()
    }

    /// A tag, with the network it was met in.
    pub fn tag_name(&self, id: TagId) -> Option<(NetworkId, &str)> {
        self.tags.name(id.0).map(|(network, tag)| (*network, tag.as_ref()))
    }

    /// A declared owner.
    pub fn owner_name(&self, id: OwnerId) -> Option<&str> {
        self.owners.name(id.0).map(|(_, owner)| owner.as_ref())
    }

    /// A network's name.
    pub fn network_name(&self, id: NetworkId) -> Option<&str> {
        self.networks.name(u32::from(id.0)).map(AsRef::as_ref)
    }

    /// The networks that are configured, or were met, with their names.
    pub fn networks(&self) -> impl Iterator<Item = (NetworkId, &str)> {
        // The table holds at most 65,536 names, so the zip ends with it.
        (0..=u16::MAX).map(NetworkId).zip(self.networks.names.iter().map(AsRef::as_ref))
    }

    /// The network that an event is held or named in.
    pub fn event_network(&self, id: EventId) -> Option<NetworkId> {
        self.events.name(id.0).map(|(network, _)| *network)
    }

    /// The event of that id in a network, whether held or only named by others.
    pub fn find_event(&self, network: NetworkId, id: Hex32) -> Option<EventId> {
        self.events.find(&(network, id)).map(EventId)
    }

    /// A key in a network.
    pub fn find_key(&self, network: NetworkId, key: Hex32) -> Option<KeyId> {
        self.keys.find(&(network, key)).map(KeyId)
    }

    /// The keys and events whose names start with some hex digits; an event may be only named by
    /// others. Looks at every name there is.
    pub fn starting_with<'a>(&'a self, digits: &'a str) -> impl Iterator<Item = Named> + 'a {
        let keys = (0..).map(KeyId).zip(&self.keys.names).map(|(id, (_, name))| (Named::Key(id), name));
        let events = (0..).map(EventId).zip(&self.events.names);
        let events = events.map(|(id, (_, name))| (Named::Event(id), name));
        keys.chain(events).filter(|(_, name)| name.starts_with(digits)).map(|(named, _)| named)
    }

    /// What is remembered of an event, when it is held.
    pub fn held(&self, id: EventId) -> Option<&Held> {
        self.held.get(id.0 as usize)?.as_ref()
    }
}
