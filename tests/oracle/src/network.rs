//! Sections 1.2 and 1.3: the held events of one network, with keys and events numbered densely.

use crate::State;
use rustc_hash::{FxHashMap, FxHashSet};
use wats_model::facts::{Body, EventFact, Post, React, Reply};
use wats_model::ids::{BlobId, EventId, KeyId, Millis, NetworkId, OwnerId, Stamp};
use wats_model::policy::Policy;

/// A key, by its place in [`Network::keys`].
pub(crate) type Key = usize;

/// A held event, by its place in [`Network::events`].
pub(crate) type Event = usize;

/// One network: its held events and its keys, everything else below is indexed by their places.
pub(crate) struct Network<'a> {
    /// The constants.
    pub(crate) policy: &'a Policy,
    /// Which network.
    pub(crate) id: NetworkId,
    /// The work it requires.
    pub(crate) pow_bits: u32,
    /// The evaluation time.
    pub(crate) now: Millis,
    /// The blobs that the node holds.
    pub(crate) held_blobs: &'a FxHashSet<BlobId>,
    /// The held events.
    pub(crate) events: Vec<&'a EventFact>,
    /// Their authors.
    pub(crate) author: Vec<Key>,
    /// `thread(e)`.
    pub(crate) thread: Vec<Option<EventId>>,
    /// The authors of held events, and the own profiles.
    pub(crate) keys: Vec<KeyId>,
    /// Which of them are own profiles.
    pub(crate) own: Vec<bool>,
    /// Which of them the reader will not hear.
    pub(crate) distrusted: Vec<bool>,
    places: Places,
}

impl<'a> Network<'a> {
    pub(crate) fn new(state: &State<'a>, id: NetworkId, held_blobs: &'a FxHashSet<BlobId>) -> Network<'a> {
        let events: Vec<_> = state.events.iter().filter(|e| e.network == id).collect();
        let mut places = Places::default();
        for (place, event) in events.iter().enumerate() {
            places.set(event.id.0, place);
        }
        let profiles = state.config.profiles(id);
        let distrusted = state.config.distrusted(id);
        let mut keys = Vec::new();
        let mut key_places = Places::default();
        let mut place_of = |key: KeyId| {
            key_places.get(key.0).unwrap_or_else(|| {
                keys.push(key);
                key_places.set(key.0, keys.len() - 1);
                keys.len() - 1
            })
        };
        for &profile in profiles {
            place_of(profile);
        }
        let author = events.iter().map(|e| place_of(e.author)).collect();
        let mut net = Network {
            policy: &state.config.policy,
            id,
            pow_bits: state.config.pow_bits(id),
            now: state.now,
            held_blobs,
            own: keys.iter().map(|k| profiles.contains(k)).collect(),
            distrusted: keys.iter().map(|k| distrusted.contains(k)).collect(),
            thread: Vec::new(),
            events,
            author,
            keys,
            places,
        };
        net.thread = (0..net.events.len()).map(|e| net.find_thread(e)).collect();
        net
    }

    /// The held event of this id, if this network holds it.
    pub(crate) fn held(&self, id: EventId) -> Option<Event> {
        self.places.get(id.0)
    }

    /// The post-like event.
    pub(crate) fn post(&self, e: Event) -> Option<&'a Post> {
        match &self.events[e].body {
            Body::Post(post) => Some(post),
            _ => None,
        }
    }

    /// The react.
    pub(crate) fn react(&self, e: Event) -> Option<&'a React> {
        match &self.events[e].body {
            Body::React(react) => Some(react),
            _ => None,
        }
    }

    /// Its place in the order "latest".
    pub(crate) fn stamp(&self, e: Event) -> Stamp {
        self.events[e].stamp
    }

    /// The order (`received_at`, `id`).
    pub(crate) fn by_receipt(&self, e: Event) -> (Millis, [u8; 16]) {
        (self.events[e].received_at, self.events[e].stamp.tie)
    }

    /// The post-like events.
    pub(crate) fn posts(&self) -> impl Iterator<Item = (Event, &'a Post)> {
        (0..self.events.len()).filter_map(|e| Some((e, self.post(e)?)))
    }

    /// The reacts.
    pub(crate) fn reacts(&self) -> impl Iterator<Item = (Event, &'a React)> {
        (0..self.events.len()).filter_map(|e| Some((e, self.react(e)?)))
    }

    /// `thread(e)`: its claim, when its parent is held and is that root or claims the same thread.
    ///
    /// Reading: the parent may be of any kind, and nothing is asked of the root itself: it need not
    /// be held, nor be without a parent.
    fn find_thread(&self, e: Event) -> Option<EventId> {
        let claim = reply(self.events[e])?;
        let parent = self.held(claim.parent)?;
        let same = || reply(self.events[parent]).is_some_and(|r| r.thread == claim.thread);
        (claim.parent == claim.thread || same()).then_some(claim.thread)
    }

    /// The owner that each key's latest announce declares.
    pub(crate) fn owners(&self) -> Vec<Option<OwnerId>> {
        let mut latest: Vec<Option<(Stamp, Option<OwnerId>)>> = vec![None; self.keys.len()];
        for (e, event) in self.events.iter().enumerate() {
            if let Body::Announce { owner } = event.body {
                let latest = &mut latest[self.author[e]];
                *latest = (*latest).max(Some((event.stamp, owner)));
            }
        }
        latest.into_iter().map(|l| l.and_then(|(_, owner)| owner)).collect()
    }

    /// Who vouches for whom: the latest label of each (voucher, author of the announce) counts.
    ///
    /// Reading: the limit of 64 reacts is for targets that are post-like or reacts, not for these.
    pub(crate) fn vouches(&self) -> Vec<(Key, Key)> {
        let mut latest: FxHashMap<(Key, Key), (Stamp, bool)> = FxHashMap::default();
        for (e, react) in self.reacts() {
            let (Some(vouch), Some(target)) = (react.vouch, self.held(react.target)) else {
                continue;
            };
            let pair = (self.author[e], self.author[target]);
            if pair.0 != pair.1 && matches!(self.events[target].body, Body::Announce { .. }) {
                let said = (self.stamp(e), vouch);
                let latest = latest.entry(pair).or_insert(said);
                *latest = said.max(*latest);
            }
        }
        latest.into_iter().filter(|(_, (_, vouch))| *vouch).map(|(pair, _)| pair).collect()
    }
}

/// Where an event says that it stands.
fn reply(event: &EventFact) -> Option<Reply> {
    match &event.body {
        Body::Post(post) => post.reply,
        Body::Other { reply } => *reply,
        Body::React(_) | Body::Announce { .. } => None,
    }
}

/// From interned ids to places.
#[derive(Default)]
struct Places(Vec<u32>);

impl Places {
    const NONE: u32 = u32::MAX;

    fn get(&self, id: u32) -> Option<usize> {
        let place = *self.0.get(id as usize)?;
        (place != Places::NONE).then_some(place as usize)
    }

    fn set(&mut self, id: u32, place: usize) {
        let id = id as usize;
        if self.0.len() <= id {
            self.0.resize(id + 1, Places::NONE);
        }
        self.0[id] = u32::try_from(place).expect("fewer than 2^32 events, since ids are 32 bits");
    }
}
