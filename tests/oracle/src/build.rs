//! Facts for tests, without JSON, hashes or signatures: keys, and what they say at given times.
//!
//! ```
//! use wats_model::ids::Millis;
//! use wats_model::views::Status;
//! use wats_oracle::build::Build;
//!
//! let day = Millis::days;
//! let mut b = Build::new();
//! let (me, friend, asker) = (b.profile(), b.key(), b.key());
//! b.vouch(me, friend, day(1));
//! let ask = b.ask(asker, day(2));
//! let answer = b.answer(asker, ask, day(3));
//! b.confirm(friend, answer, day(4));
//! assert_eq!(b.views(day(5)).posts[&answer].status, Status::Confirmed);
//! ```
//!
//! Every event is received when it is created, unless [`Build::received`] says otherwise. Its place
//! in the order of ids is arbitrary but fixed: [`tie`] of its number.

use crate::{State, Views, evaluate};
use rustc_hash::FxHashMap;
use wats_model::facts::{Body, EventFact, Evidence, Post, PostKind, React, Reply};
use wats_model::ids::{BlobId, EventId, KeyId, Millis, NetworkId, OwnerId, Stamp};
use wats_model::policy::{Config, Network};

/// A node's facts in the making, in one network.
#[derive(Clone, Debug)]
pub struct Build {
    /// The reader.
    pub config: Config,
    /// What was said so far.
    pub events: Vec<EventFact>,
    /// The blobs that the node holds.
    pub blobs: Vec<BlobId>,
    keys: u32,
    announces: FxHashMap<KeyId, EventId>,
}

impl Default for Build {
    fn default() -> Build {
        Build::new()
    }
}

impl Build {
    /// A network without profiles that asks no work.
    pub fn new() -> Build {
        Build {
            config: Config { networks: vec![Network::default()], ..Config::default() },
            events: Vec::new(),
            blobs: Vec::new(),
            keys: 0,
            announces: FxHashMap::default(),
        }
    }

    /// A new key.
    pub fn key(&mut self) -> KeyId {
        self.keys += 1;
        KeyId(self.keys - 1)
    }

    /// A new key of the reader's own.
    pub fn profile(&mut self) -> KeyId {
        let key = self.key();
        self.config.networks[0].profiles.push(key);
        key
    }

    /// A new event with this body.
    pub fn say(&mut self, author: KeyId, body: Body, at: Millis) -> EventId {
        let id = EventId(self.events.len() as u32);
        self.events.push(EventFact {
            id,
            stamp: Stamp { created_at: at, tie: tie(id) },
            received_at: at,
            network: NetworkId(0),
            author,
            work: 0,
            body,
        });
        id
    }

    /// The event, to change what the methods do not offer.
    pub fn event(&mut self, id: EventId) -> &mut EventFact {
        &mut self.events[id.0 as usize]
    }

    /// Changes when the event was received.
    pub fn received(&mut self, id: EventId, at: Millis) {
        self.event(id).received_at = at;
    }

    /// The post's words, to change them. For events that are post-like.
    pub fn post_mut(&mut self, id: EventId) -> &mut Post {
        match &mut self.event(id).body {
            Body::Post(post) => post,
            body => panic!("not post-like: {body:?}"),
        }
    }

    /// An announce, with a declared owner or none.
    pub fn announce(&mut self, author: KeyId, owner: Option<OwnerId>, at: Millis) -> EventId {
        let id = self.say(author, Body::Announce { owner }, at);
        self.announces.insert(author, id);
        id
    }

    /// A vouch; the other key announces itself at that moment if it has not.
    pub fn vouch(&mut self, author: KeyId, other: KeyId, at: Millis) -> EventId {
        self.label(author, other, true, at)
    }

    /// Takes a vouch back.
    pub fn unvouch(&mut self, author: KeyId, other: KeyId, at: Millis) -> EventId {
        self.label(author, other, false, at)
    }

    fn label(&mut self, author: KeyId, other: KeyId, vouch: bool, at: Millis) -> EventId {
        let announced = self.announces.get(&other).copied();
        let target = announced.unwrap_or_else(|| self.announce(other, None, at));
        let vouch = Some(vouch);
        self.react(author, React { vouch, ..react(target) }, at)
    }

    /// An ask that opens a thread.
    pub fn ask(&mut self, author: KeyId, at: Millis) -> EventId {
        self.say(author, Body::Post(post(PostKind::Ask)), at)
    }

    /// A post that opens a thread.
    pub fn post(&mut self, author: KeyId, at: Millis) -> EventId {
        self.say(author, Body::Post(post(PostKind::Post)), at)
    }

    /// A post that cites others.
    pub fn post_citing(&mut self, author: KeyId, refs: &[EventId], at: Millis) -> EventId {
        let refs = refs.into();
        let post = Post { refs, ..post(PostKind::Post) };
        self.say(author, Body::Post(post), at)
    }

    /// A post that replies to the root of a thread: an answer, when that is an ask.
    pub fn answer(&mut self, author: KeyId, root: EventId, at: Millis) -> EventId {
        self.reply(author, root, root, at)
    }

    /// A post that replies to an event of a thread.
    pub fn reply(&mut self, author: KeyId, parent: EventId, thread: EventId, at: Millis) -> EventId {
        let reply = Some(Reply { parent, thread });
        let post = Post { reply, ..post(PostKind::Post) };
        self.say(author, Body::Post(post), at)
    }

    /// A digest of its sources, in a thread of its own.
    pub fn digest(&mut self, author: KeyId, refs: &[EventId], at: Millis) -> EventId {
        let refs = refs.into();
        let digest = Post { refs, ..post(PostKind::Digest) };
        self.say(author, Body::Post(digest), at)
    }

    /// A react; [`react`] gives one that says nothing, to be filled in.
    pub fn react(&mut self, author: KeyId, react: React, at: Millis) -> EventId {
        self.say(author, Body::React(react), at)
    }

    /// A react with a bare value.
    pub fn vote(&mut self, author: KeyId, target: EventId, value: i8, at: Millis) -> EventId {
        let value = Some(value);
        self.react(author, React { value, ..react(target) }, at)
    }

    /// A react +1 with text evidence.
    pub fn confirm(&mut self, author: KeyId, target: EventId, at: Millis) -> EventId {
        self.with_evidence(author, target, 1, at)
    }

    /// A react -1 with text evidence.
    pub fn contradict(&mut self, author: KeyId, target: EventId, at: Millis) -> EventId {
        self.with_evidence(author, target, -1, at)
    }

    fn with_evidence(&mut self, author: KeyId, target: EventId, value: i8, at: Millis) -> EventId {
        let value = Some(value);
        let evidence = Evidence::Text;
        self.react(author, React { value, evidence, ..react(target) }, at)
    }

    /// A react `accept: true`.
    pub fn accept(&mut self, author: KeyId, target: EventId, at: Millis) -> EventId {
        let accept = Some(true);
        self.react(author, React { accept, ..react(target) }, at)
    }

    /// A react `used: true`.
    pub fn used(&mut self, author: KeyId, target: EventId, at: Millis) -> EventId {
        let used = Some(true);
        self.react(author, React { used, ..react(target) }, at)
    }

    /// A react `still_valid: true`.
    pub fn renew(&mut self, author: KeyId, target: EventId, at: Millis) -> EventId {
        self.react(author, React { still_valid: true, ..react(target) }, at)
    }

    /// What the oracle says of all that was received until `now`.
    pub fn views(&self, now: Millis) -> Views {
        let received = |e: &&EventFact| e.received_at <= now;
        let events: Vec<_> = self.events.iter().filter(received).cloned().collect();
        evaluate(&State { config: &self.config, events: &events, blobs: &self.blobs, now })
    }
}

/// A post-like event with some text, in no thread, that cites and attaches nothing.
pub fn post(kind: PostKind) -> Post {
    Post {
        kind,
        reply: None,
        refs: Box::default(),
        blank: false,
        blobs: Box::default(),
        supersedes: None,
        tags: Box::default(),
        initial: None,
    }
}

/// A react that says nothing.
pub fn react(target: EventId) -> React {
    React {
        target,
        value: None,
        accept: None,
        used: None,
        still_valid: false,
        vouch: None,
        evidence: Evidence::None,
        refs: Box::default(),
        blobs: Box::default(),
    }
}

/// The first half of an event's hash, as it were: arbitrary, and different for different events.
pub fn tie(id: EventId) -> [u8; 16] {
    // splitmix64, a bijection.
    let mut z = (u64::from(id.0) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let mut tie = [0; 16];
    tie[..8].copy_from_slice(&z.to_be_bytes());
    tie
}
