//! Which posts a tick has touched, and how far: a signal that decays by a step, or a voice that turns
//! a little, moves a score alone, and hardly ever a digit of it.

use super::{Keys, Word};
use crate::reputation::Voter;
use rustc_hash::FxHashMap;
use wats_model::ids::{EventId, KeyId};

/// How much of a post may look other than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Extent {
    /// Its score.
    Score,
    /// Anything.
    All,
}

/// The posts that a tick has touched.
#[derive(Default)]
pub(super) struct Touched {
    posts: FxHashMap<EventId, Extent>,
    /// Words and voters that were taken back, until their successors come.
    words: FxHashMap<(EventId, KeyId), Word>,
    voters: FxHashMap<KeyId, Voter>,
}

impl Touched {
    fn touch(&mut self, on: EventId, extent: Extent) {
        let before = self.posts.entry(on).or_insert(extent);
        *before = extent.max(*before);
    }

    /// Anything about the post may have changed.
    pub(super) fn all(&mut self, on: EventId) {
        self.touch(on, Extent::All);
    }

    /// A key's word on a post is taken back, or its successor comes.
    pub(super) fn word(&mut self, on: EventId, k: KeyId, word: Word, here: bool) {
        if !here {
            self.words.insert((on, k), word);
            return;
        }
        let before = self.words.remove(&(on, k));
        let decayed = before.is_some_and(|before| before.differs_in_values(&word));
        self.touch(on, if decayed { Extent::Score } else { Extent::All });
    }

    /// What weighed of the key was taken back, and its successor has not come.
    pub(super) fn replaces(&self, k: KeyId) -> bool {
        self.voters.contains_key(&k)
    }

    /// What weighs of a key that speaks on these posts is taken back, or its successor comes.
    pub(super) fn voter(&mut self, k: KeyId, voter: &Voter, says: &[EventId], here: bool) {
        if !here {
            self.voters.insert(k, voter.clone());
            return;
        }
        let extent = match self.voters.remove(&k) {
            Some(before) if Voter { voice: voter.voice, ..before.clone() } == *voter => Extent::Score,
            before => {
                // What it said before with weight is said without it now.
                if before.is_some_and(|before| before.has_weight && !voter.has_weight) {
                    self.voters.insert(k, voter.clone());
                }
                Extent::All
            }
        };
        says.iter().for_each(|on| self.touch(*on, extent));
    }

    /// All posts touched, and forgets them. What was taken back without a successor touches them all.
    pub(super) fn take(&mut self, keys: &Keys) -> FxHashMap<EventId, Extent> {
        for (on, _) in std::mem::take(&mut self.words).into_keys() {
            self.all(on);
        }
        for k in std::mem::take(&mut self.voters).into_keys() {
            let says = keys.0.get(&k).into_iter().flat_map(|key| key.says.iter());
            says.for_each(|(on, ())| self.touch(*on, Extent::All));
        }
        std::mem::take(&mut self.posts)
    }
}
