//! What somebody tries in a world, with keys and events of their own.

use wats_model::facts::{Body, EventFact, Evidence, Post, PostKind, React, Reply};
use wats_model::ids::{EventId, KeyId, Millis, NetworkId, Stamp};
use wats_oracle::build::{post, react, tie};
use wats_oracle::world::{Held, Tick, World};

/// Keys from this number on are no world's.
pub(crate) const FIRST_KEY: u32 = 1_000;
/// Events from this number on are no world's.
pub(crate) const FIRST_EVENT: u32 = 10_000;

pub(crate) const TEXT: Evidence = Evidence::Text;

/// Events in the making, after those of a world, in its first network.
#[derive(Clone)]
pub(crate) struct Attempt {
    pub now: Millis,
    events: Vec<EventFact>,
    told: usize,
    keys: u32,
    names: u32,
}

impl Attempt {
    pub(crate) fn after(ticks: &[Tick]) -> Attempt {
        let now = ticks.last().map_or(Millis(0), |tick| tick.now).after(Millis::HOUR);
        Attempt { now, events: Vec::new(), told: 0, keys: FIRST_KEY, names: FIRST_EVENT }
    }

    pub(crate) fn key(&mut self) -> KeyId {
        self.keys += 1;
        KeyId(self.keys - 1)
    }

    /// A new key that a profile vouches for.
    pub(crate) fn vouched(&mut self, profile: KeyId) -> KeyId {
        let key = self.key();
        let announce = self.say(key, Body::Announce { owner: None });
        self.say(profile, Body::React(React { vouch: Some(true), ..react(announce) }));
        key
    }

    /// A name for an event that is to come.
    pub(crate) fn name(&mut self) -> EventId {
        self.names += 1;
        EventId(self.names - 1)
    }

    pub(crate) fn say(&mut self, author: KeyId, body: Body) -> EventId {
        let id = self.name();
        self.say_as(id, author, body);
        id
    }

    fn say_as(&mut self, id: EventId, author: KeyId, body: Body) {
        self.events.push(EventFact {
            id,
            // Later than whatever the world's keys claimed to say later.
            stamp: Stamp { created_at: self.now.after(Millis(600_000)), tie: tie(id) },
            received_at: self.now,
            network: NetworkId(0),
            author,
            work: 0,
            body,
        });
    }

    pub(crate) fn post(&mut self, id: EventId, author: KeyId, kind: PostKind, refs: &[EventId]) {
        let refs = refs.into();
        self.say_as(id, author, Body::Post(Post { refs, ..post(kind) }));
    }

    pub(crate) fn ask(&mut self, author: KeyId) -> EventId {
        self.say(author, Body::Post(post(PostKind::Ask)))
    }

    pub(crate) fn answer(&mut self, author: KeyId, ask: EventId) -> EventId {
        let reply = Some(Reply { parent: ask, thread: ask });
        self.say(author, Body::Post(Post { reply, ..post(PostKind::Post) }))
    }

    /// What was said since the last tick.
    pub(crate) fn tick(&mut self) -> Tick {
        let events = self.events[self.told..].iter().map(|event| (event.clone(), 1)).collect();
        self.told = self.events.len();
        Tick { now: self.now, events, blobs: Vec::new() }
    }

    /// All that was said, as one tick.
    pub(crate) fn all(&self) -> Tick {
        let events = self.events.iter().map(|event| (event.clone(), 1)).collect();
        Tick { now: self.now, events, blobs: Vec::new() }
    }
}

/// A world's events as fresh keys would say them within seven days after `begin`: about their own
/// events, or those of another world that has the same numbers.
pub(crate) fn by_fresh_keys(world: &World, begin: Millis, work: u16) -> Vec<EventFact> {
    let mut held = Held::default();
    world.ticks().iter().for_each(|tick| held.apply(tick));
    let config = world.config();
    let mut events: Vec<EventFact> = held.state(&config).events.to_vec();
    let week = Millis::days(7).0 - 2;
    for event in &mut events {
        let EventFact { id, stamp, author, .. } = event.clone();
        event.id = EventId(id.0 + FIRST_EVENT);
        event.stamp.tie = tie(event.id);
        event.author = KeyId(author.0 + FIRST_KEY);
        event.network = NetworkId(0);
        event.received_at = Millis(begin.0 + 1 + event.received_at.0 % week);
        event.stamp.created_at = stamp.created_at.min(event.received_at.after(Millis(600_000)));
        event.work = event.work.max(work * u16::from(id.0 % 3 == 0));
        let own = |named: EventId| match (named.0 ^ id.0) & 1 {
            0 => named,
            _ => EventId(named.0 + FIRST_EVENT),
        };
        let replied = |reply: Reply| Reply { parent: own(reply.parent), thread: own(reply.thread) };
        match &mut event.body {
            Body::Post(post) => {
                post.reply = post.reply.map(replied);
                post.refs.iter_mut().for_each(|named| *named = own(*named));
                post.supersedes = post.supersedes.map(own);
            }
            Body::React(react) => {
                react.target = own(react.target);
                react.refs.iter_mut().for_each(|named| *named = own(*named));
            }
            Body::Other { reply } => *reply = reply.map(replied),
            Body::Announce { .. } => {}
        }
    }
    events
}
