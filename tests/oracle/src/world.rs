//! Random small worlds, for tests that compare the incremental engine with [`evaluate`] after every
//! tick.
//!
//! A [`World`] is a list of simple [`Op`]s about a fixed cast: a few keys, and numbered posts and
//! reacts that may be named before they are held, or never. An op refers to others only by these
//! numbers, so that a world from which ops are taken away is still the same story with a part
//! missing: that is how it shrinks. What an op cannot do, such as to say a second event under a
//! number that is taken, it leaves.
//!
//! ```
//! use wats_oracle::world::{Held, World};
//!
//! let world = World::from_seed(7, 60);
//! let config = world.config();
//! let mut held = Held::default();
//! for tick in world.ticks() {
//!     held.apply(&tick);
//!     let views = wats_oracle::evaluate(&held.state(&config));
//!     // ... and the engine, after the same changes, has the same views.
//! #   assert!(views.authors.len() >= 2);
//! }
//! ```
//!
//! [`evaluate`]: crate::evaluate

mod strategy;

pub use strategy::{crowded_world, world};

use crate::State;
use crate::build::{post, react, tie};
use proptest::strategy::Strategy;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config as Proptest, RngAlgorithm, TestRng, TestRunner};
use std::collections::{BTreeMap, BTreeSet};
use wats_model::facts::{Body, EventFact, Evidence, Post, PostKind, React, Reply};
use wats_model::ids::{BlobId, EventId, Initial, KeyId, Millis, NetworkId, OwnerId, Stamp, TagId};
use wats_model::policy::{Config, Network, Policy};

/// How many keys there are in each network.
pub const KEYS: u8 = 8;
/// How many further keys there may be in the first network: the authors of the crowd's posts.
pub const CROWD: u8 = 24;
/// How many asks; they are the first of the posts.
pub const ASKS: u8 = 3;
/// How many post-like events; each key is the author of some, in turn.
pub const POSTS: u8 = 21;
/// From which number on post-like events are digests.
pub const DIGESTS: u8 = 15;
/// How many posts a crowd has at most; their numbers follow those of all others.
pub const CROWD_POSTS: u8 = 110;
/// How many reacts there are at most, but for those on a crowd's posts.
pub const REACTS: u16 = 240;
/// How many reacts there are on one of a crowd's posts; their numbers follow those of all others.
pub const CROWD_REACTS: u16 = 3;
/// How many blobs.
pub const BLOBS: u8 = 3;
/// How many tags.
pub const TAGS: u8 = 4;
/// How many owners.
pub const OWNERS: u8 = 3;

/// When every world begins.
pub const BEGIN: Millis = Millis(1_750_000_000_000);

/// A random world.
#[derive(Clone, Debug)]
pub struct World {
    /// How many of the first keys are own profiles, in the first network; the second has one.
    pub profiles: u8,
    /// The required work.
    pub pow_bits: u32,
    /// The keys that the first profile vouches for at the beginning, by bit.
    pub vouched: u8,
    /// The keys that are distrusted in both networks, by bit; profiles are not.
    pub distrusted: u8,
    /// The policy's `full_force` and `force_per_class`.
    pub force: (i64, i64),
    /// How many keys of the crowd there are.
    pub crowd: u8,
    /// What happens.
    pub ops: Vec<Op>,
}

/// Something that happens.
#[derive(Clone, Debug)]
pub enum Op {
    /// So much time passes, and a tick with it.
    Tick(Millis),
    /// A key announces itself, again, with another owner or none.
    Announce(Saying, u8, Option<u8>),
    /// A key vouches for another, or takes it back.
    Vouch(Saying, u8, u8, bool),
    /// The post-like event of this number is said.
    Post(Saying, u8, Words),
    /// The react of this number is said, by this key.
    React(Saying, u16, u8, Reaction),
    /// The extension of this number is said, by this key: a parent, and nothing else.
    Other(Saying, u8, u8, Option<(Name, Name)>),
    /// A copy of an event arrives that was received so much earlier.
    Copy(Name, Millis),
    /// The node holds the blob, or no longer does.
    Blob(u8, bool),
}

/// An event, by kind and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// A post-like event.
    Post(u8),
    /// A react.
    React(u16),
    /// The first announce of a key.
    Announce(u8),
    /// An extension.
    Other(u8),
    /// A later announce, by its serial number.
    Again(u8),
    /// A vouch or what takes it back, by its serial number.
    Vouch(u8),
}

/// The circumstances in which an event is said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Saying {
    /// How long before now it was received.
    pub lag: Millis,
    /// How long before that it was created; the claim may also lie up to ten minutes later.
    pub before: Millis,
    /// How long after that it was created.
    pub ahead: Millis,
    /// Its work.
    pub work: u16,
    /// Whether it is said in the second network, by the key of the same number there.
    pub elsewhere: bool,
    /// A number that tells apart events without one of their own.
    pub serial: u8,
}

/// What a post-like event says; its kind and author follow from its number.
#[derive(Clone, Debug)]
pub struct Words {
    /// By whom, if not by whose turn it is.
    pub author: Option<u8>,
    /// Parent and thread.
    pub reply: Option<(Name, Name)>,
    /// Citations.
    pub refs: Vec<Name>,
    /// Whether it has no text.
    pub blank: bool,
    /// Attachments.
    pub blobs: Vec<u8>,
    /// What a digest supersedes.
    pub supersedes: Option<u8>,
    /// Tags.
    pub tags: Vec<u8>,
    /// The letter of the alphabet that its title begins with.
    pub letter: Option<u8>,
}

/// What a react says.
#[derive(Clone, Debug)]
pub struct Reaction {
    /// To what.
    pub target: Name,
    /// `value`.
    pub value: Option<i8>,
    /// `accept`.
    pub accept: Option<bool>,
    /// `used`.
    pub used: Option<bool>,
    /// `still_valid`.
    pub still_valid: bool,
    /// Text evidence.
    pub evidence: bool,
    /// Evidence that is this blob, which it attaches.
    pub artifact: Option<u8>,
    /// Whether it names the own post whose number is this turn of its author's, if any.
    pub own: Option<u8>,
    /// Other citations, before that.
    pub refs: Vec<Name>,
    /// Another attachment.
    pub blob: Option<u8>,
}

/// What changes in one tick.
#[derive(Clone, Debug, Default)]
pub struct Tick {
    /// The time after it.
    pub now: Millis,
    /// Facts that are added (1) and retracted (-1).
    pub events: Vec<(EventFact, i64)>,
    /// Blobs that the node holds from now on (1), or no longer (-1).
    pub blobs: Vec<(BlobId, i64)>,
}

/// What is held after some ticks.
#[derive(Clone, Debug, Default)]
pub struct Held {
    events: Vec<EventFact>,
    blobs: Vec<BlobId>,
    now: Millis,
}

impl Held {
    /// Applies the changes of a tick.
    pub fn apply(&mut self, tick: &Tick) {
        self.now = tick.now;
        for (event, change) in &tick.events {
            match change {
                1 => self.events.push(event.clone()),
                _ => self.events.retain(|held| held != event),
            }
        }
        for (blob, change) in &tick.blobs {
            match change {
                1 => self.blobs.push(*blob),
                _ => self.blobs.retain(|held| held != blob),
            }
        }
    }

    /// What the oracle evaluates.
    pub fn state<'a>(&'a self, config: &'a Config) -> State<'a> {
        State { config, events: &self.events, blobs: &self.blobs, now: self.now }
    }
}

impl World {
    /// The world of this seed, with so many scenes.
    pub fn from_seed(seed: u64, scenes: usize) -> World {
        drawn(seed, world(scenes..=scenes))
    }

    /// The crowded world of this seed.
    pub fn crowded_from_seed(seed: u64) -> World {
        drawn(seed, crowded_world(0..40))
    }

    /// The reader.
    pub fn config(&self) -> Config {
        let network = |network, profiles| Network {
            profiles: (0..profiles).map(|k| key(network, k)).collect(),
            distrusted: (profiles..KEYS)
                .filter(|k| self.distrusted >> k & 1 == 1)
                .map(|k| key(network, k))
                .collect(),
            pow_bits: self.pow_bits,
        };
        let (full_force, force_per_class) = self.force;
        let policy = Policy { full_force, force_per_class, ..Policy::default() };
        Config { networks: vec![network(0, self.profiles), network(1, 1)], policy }
    }

    /// What happens, tick by tick; in the first, every key announces itself and the first profile
    /// vouches for some.
    pub fn ticks(&self) -> Vec<Tick> {
        let mut teller = Teller { now: BEGIN, ..Teller::default() };
        for k in 0..KEYS + self.crowd {
            let body = Body::Announce { owner: None };
            teller.say(Saying::default(), Name::Announce(k), k, body);
        }
        for other in (0..KEYS).filter(|k| self.vouched >> k & 1 == 1) {
            let saying = Saying { serial: other, ..Saying::default() };
            teller.op(&Op::Vouch(saying, 0, other, true));
        }
        let mut ticks = Vec::new();
        for op in &self.ops {
            match op {
                Op::Tick(span) => {
                    ticks.push(teller.tick());
                    teller.now = teller.now.after(*span);
                }
                op => teller.op(op),
            }
        }
        ticks.push(teller.tick());
        ticks
    }
}

fn drawn(seed: u64, from: impl Strategy<Value = World>) -> World {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Proptest::default(), rng);
    let tree = from.new_tree(&mut runner);
    tree.expect("no part of the strategy rejects").current()
}

/// Turns ops into facts.
#[derive(Default)]
struct Teller {
    now: Millis,
    held: BTreeMap<EventId, EventFact>,
    blobs: BTreeSet<BlobId>,
    /// As they were after the last tick.
    held_before: BTreeMap<EventId, EventFact>,
    blobs_before: BTreeSet<BlobId>,
}

impl Teller {
    fn op(&mut self, op: &Op) {
        match op {
            Op::Tick(span) => self.now = self.now.after(*span),
            Op::Announce(saying, k, owner) => {
                let first = u32::from(saying.network()) * u32::from(OWNERS);
                let owner = owner.map(|o| OwnerId(first + u32::from(o)));
                let body = Body::Announce { owner };
                self.say(*saying, Name::Again(saying.serial), *k, body);
            }
            Op::Vouch(saying, from, to, vouch) => {
                let mut react = react(saying.id(Name::Announce(*to)));
                react.vouch = Some(*vouch);
                let body = Body::React(react);
                self.say(*saying, Name::Vouch(saying.serial), *from, body);
            }
            Op::Post(saying, n, words) => {
                let author = words.author.unwrap_or(n % KEYS);
                let body = Body::Post(words.post(*saying, *n));
                self.say(*saying, Name::Post(*n), author, body);
            }
            Op::React(saying, n, author, reaction) => {
                let body = Body::React(reaction.react(*saying, *author));
                self.say(*saying, Name::React(*n), *author, body);
            }
            Op::Other(saying, n, author, reply) => {
                let reply = reply.map(|reply| saying.reply(reply));
                self.say(*saying, Name::Other(*n), *author, Body::Other { reply });
            }
            Op::Copy(of, earlier) => {
                if let Some(event) = self.held.get_mut(&event(0, *of)) {
                    let received = Millis(event.received_at.0.saturating_sub(earlier.0));
                    let least = Millis(event.stamp.created_at.0.saturating_sub(AHEAD.0));
                    event.received_at = received.max(least).min(event.received_at);
                }
            }
            Op::Blob(blob, held) => {
                let blob = BlobId(u32::from(*blob));
                match held {
                    true => self.blobs.insert(blob),
                    false => self.blobs.remove(&blob),
                };
            }
        }
    }

    /// An event, unless its number is taken.
    fn say(&mut self, saying: Saying, name: Name, author: u8, body: Body) {
        let id = saying.id(name);
        let received_at = Millis(self.now.0 - saying.lag.0);
        let created_at = Millis(received_at.0 - saying.before.0).after(saying.ahead.min(AHEAD));
        self.held.entry(id).or_insert(EventFact {
            id,
            stamp: Stamp { created_at, tie: tie(id) },
            received_at,
            network: NetworkId(saying.network()),
            author: key(saying.network(), author),
            work: saying.work,
            body,
        });
    }

    /// What changed since the last tick.
    fn tick(&mut self) -> Tick {
        let mut tick = Tick { now: self.now, ..Tick::default() };
        for (id, event) in &self.held {
            let before = self.held_before.get(id);
            if before != Some(event) {
                tick.events.extend(before.map(|before| (before.clone(), -1)));
                tick.events.push((event.clone(), 1));
            }
        }
        let (blobs, before) = (&self.blobs, &self.blobs_before);
        tick.blobs.extend(before.difference(blobs).map(|&blob| (blob, -1)));
        tick.blobs.extend(blobs.difference(before).map(|&blob| (blob, 1)));
        self.held_before = self.held.clone();
        self.blobs_before = self.blobs.clone();
        tick
    }
}

impl Words {
    fn post(&self, saying: Saying, n: u8) -> Post {
        let kind = match n {
            0..ASKS => PostKind::Ask,
            DIGESTS..POSTS => PostKind::Digest,
            _ => PostKind::Post,
        };
        let supersedes = self.supersedes.filter(|_| kind == PostKind::Digest);
        let first = u32::from(saying.network()) * u32::from(TAGS);
        let tags: BTreeSet<TagId> = self.tags.iter().map(|&tag| TagId(first + u32::from(tag))).collect();
        let begins = kind == PostKind::Ask || self.reply.is_none();
        Post {
            reply: self.reply.map(|reply| saying.reply(reply)),
            refs: self.refs.iter().map(|&name| saying.id(name)).collect(),
            blank: self.blank,
            blobs: self.blobs.iter().map(|&b| BlobId(u32::from(b))).collect(),
            supersedes: supersedes.map(|n| saying.id(Name::Post(n))),
            tags: tags.into_iter().collect(),
            initial: self.letter.filter(|_| begins).map(|letter| Initial(u32::from(b'a' + letter))),
            ..post(kind)
        }
    }
}

impl Reaction {
    fn react(&self, saying: Saying, author: u8) -> React {
        let own = self.own.map(|turn| Name::Post(author + turn * KEYS));
        let blob = |b: u8| BlobId(u32::from(b));
        React {
            value: self.value,
            accept: self.accept,
            used: self.used,
            still_valid: self.still_valid,
            evidence: match (self.artifact, self.evidence) {
                (Some(b), _) => Evidence::Blob(blob(b)),
                (None, true) => Evidence::Text,
                (None, false) => Evidence::None,
            },
            refs: self.refs.iter().copied().chain(own).map(|name| saying.id(name)).collect(),
            blobs: self.artifact.into_iter().chain(self.blob).map(blob).collect(),
            ..react(saying.id(self.target))
        }
    }
}

/// How far ahead of its arrival an event may claim to be.
const AHEAD: Millis = Millis(600_000);

/// The key of this number in a network.
pub fn key(network: u16, k: u8) -> KeyId {
    KeyId(u32::from(network) * u32::from(KEYS + CROWD) + u32::from(k))
}

/// The event of this name in a network: one id in two networks is two `EventId`s.
pub fn event(network: u16, name: Name) -> EventId {
    let number = match name {
        Name::Post(n) => u32::from(n),
        Name::React(n) => 200 + u32::from(n),
        Name::Other(n) => 800 + u32::from(n),
        Name::Announce(k) => 900 + u32::from(k),
        Name::Again(serial) => 1000 + u32::from(serial),
        Name::Vouch(serial) => 1300 + u32::from(serial),
    };
    EventId(u32::from(network) * 2000 + number)
}

impl Saying {
    fn network(self) -> u16 {
        u16::from(self.elsewhere)
    }

    /// The event that is meant by a name here.
    fn id(self, name: Name) -> EventId {
        event(self.network(), name)
    }

    fn reply(self, (parent, thread): (Name, Name)) -> Reply {
        Reply { parent: self.id(parent), thread: self.id(thread) }
    }
}

impl Reaction {
    /// A react that says nothing.
    pub fn plain(target: Name) -> Reaction {
        Reaction {
            target,
            value: None,
            accept: None,
            used: None,
            still_valid: false,
            evidence: false,
            artifact: None,
            own: None,
            refs: Vec::new(),
            blob: None,
        }
    }
}
