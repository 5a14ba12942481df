//! Small stories, told to the engine tick by tick and to the oracle as a whole.
//!
//! A story is a [`Build`]: keys, and what they say when. [`Story::at`] moves the time on, lets the
//! running engine take what was said since, and gives the views, after it has checked that they are
//! the oracle's, and those of an engine that takes everything in one tick.
#![allow(dead_code, reason = "each test takes what it needs")]

use crate::engine::{Running, differences};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use wats_model::facts::{EventFact, Evidence, React};
use wats_model::ids::{BlobId, EventId, KeyId, Millis};
use wats_model::views::{AuthorView, PostView, Status};
use wats_oracle::Views;
use wats_oracle::build::{Build, react};
use wats_oracle::world::Tick;

/// So many days after the beginning.
pub(crate) const DAY: fn(u64) -> Millis = Millis::days;

/// A story, and the engine that listens.
pub(crate) struct Story {
    build: Build,
    engine: Option<Running>,
    held: BTreeMap<EventId, EventFact>,
    blobs: BTreeSet<BlobId>,
    now: Millis,
}

impl Deref for Story {
    type Target = Build;
    fn deref(&self) -> &Build {
        &self.build
    }
}

impl DerefMut for Story {
    fn deref_mut(&mut self) -> &mut Build {
        &mut self.build
    }
}

impl Story {
    pub(crate) fn new() -> Story {
        Story {
            build: Build::new(),
            engine: None,
            held: BTreeMap::new(),
            blobs: BTreeSet::new(),
            now: Millis(0),
        }
    }

    /// A reader, and keys that it vouches for on the first day.
    pub(crate) fn vouched<const N: usize>() -> (Story, KeyId, [KeyId; N]) {
        let mut story = Story::new();
        let me = story.profile();
        let keys = std::array::from_fn(|_| story.key());
        for k in keys {
            story.vouch(me, k, DAY(1));
        }
        (story, me, keys)
    }

    /// The views at this time; it never goes back.
    pub(crate) fn at(&mut self, now: Millis) -> Views {
        assert!(now >= self.now, "time goes on");
        self.now = now;
        let want = self.build.views(now);
        let tick = self.tick(now);
        let engine = self.engine.get_or_insert_with(|| Running::start(&self.build.config, 1));
        engine.tick(&tick);
        let found = differences(&want, &engine.views);
        assert!(found.is_empty(), "the engine differs from the oracle:\n{}", found.join("\n"));
        let mut at_once = Running::start(&self.build.config, 2);
        at_once.tick(&Tick {
            now,
            events: self.held.values().map(|event| (event.clone(), 1)).collect(),
            blobs: self.blobs.iter().map(|blob| (*blob, 1)).collect(),
        });
        let found = differences(&want, &at_once.views);
        assert!(found.is_empty(), "one tick differs from the oracle:\n{}", found.join("\n"));
        want
    }

    /// What changed since the last tick.
    fn tick(&mut self, now: Millis) -> Tick {
        let mut tick = Tick { now, ..Tick::default() };
        for event in self.build.events.iter().filter(|event| event.received_at <= now) {
            let before = self.held.insert(event.id, event.clone());
            if before.as_ref() != Some(event) {
                tick.events.extend(before.map(|before| (before, -1)));
                tick.events.push((event.clone(), 1));
            }
        }
        let blobs: BTreeSet<BlobId> = self.build.blobs.iter().copied().collect();
        tick.blobs.extend(self.blobs.difference(&blobs).map(|blob| (*blob, -1)));
        tick.blobs.extend(blobs.difference(&self.blobs).map(|blob| (*blob, 1)));
        self.blobs = blobs;
        tick
    }

    pub(crate) fn post_at(&mut self, post: EventId, now: Millis) -> PostView {
        self.at(now).posts[&post].clone()
    }

    pub(crate) fn status(&mut self, post: EventId, now: Millis) -> Status {
        self.post_at(post, now).status
    }

    pub(crate) fn author_at(&mut self, key: KeyId, now: Millis) -> AuthorView {
        self.at(now).authors[&key].clone()
    }

    /// A react -1 without evidence that names events.
    pub(crate) fn contradict_naming(
        &mut self,
        by: KeyId,
        target: EventId,
        named: &[EventId],
        at: Millis,
    ) -> EventId {
        let (value, refs) = (Some(-1), named.into());
        self.react(by, React { value, refs, ..react(target) }, at)
    }

    /// A react of this value whose evidence is a blob that it attaches.
    pub(crate) fn show(
        &mut self,
        by: KeyId,
        target: EventId,
        value: i8,
        blob: BlobId,
        at: Millis,
    ) -> EventId {
        let (value, evidence, blobs) = (Some(value), Evidence::Blob(blob), [blob].into());
        self.react(by, React { value, evidence, blobs, ..react(target) }, at)
    }

    /// A vouch by each of some keys.
    pub(crate) fn vouch_each(&mut self, by: &[KeyId], other: KeyId, at: Millis) {
        for k in by {
            self.vouch(*k, other, at);
        }
    }

    /// So many new keys.
    pub(crate) fn keys<const N: usize>(&mut self) -> [KeyId; N] {
        std::array::from_fn(|_| self.key())
    }
}
