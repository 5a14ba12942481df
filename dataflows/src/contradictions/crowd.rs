//! The critics of one event who are heard, and how heavy one must be to count.

use crate::fixed::Fixed;
use crate::ids::{GroupId, KeyId};
use crate::origins::{Place, Standing, Tally};
use crate::small::SmallMap;
use std::collections::BTreeSet;

/// What section 4 asks of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub weight: Fixed,
    pub trust: Fixed,
    pub group: GroupId,
    pub class: GroupId,
    /// It is one of the reader's own.
    pub own: bool,
}

impl Known {
    pub fn new(standing: &Standing, own: bool) -> Known {
        let Standing { trust, ref allegiance, .. } = *standing;
        Known { weight: standing.weight(), trust, group: allegiance.group, class: allegiance.class, own }
    }

    /// Where it stands; who argues is heavy enough.
    pub fn place(&self) -> Place {
        Place { group: self.group, class: self.class, heavy: true }
    }
}

/// The critics of an event who are heard.
///
/// One counts from some weight on: from half the author's weight, or from nothing when all together
/// reach that. When it moves, only the critics between the old and the new turn.
#[derive(Default)]
pub(super) struct Crowd {
    heard: SmallMap<KeyId, Known>,
    by_weight: BTreeSet<(Fixed, KeyId)>,
    joint: Tally,
    least: Fixed,
}

impl Crowd {
    /// The critic is heard as what is known of it, or not at all.
    pub fn set(&mut self, key: KeyId, known: Option<Known>) {
        let before = self.heard.get(&key).copied();
        if before == known {
            return;
        }
        if let Some(was) = before {
            self.heard.remove(&key);
            self.by_weight.remove(&(was.weight, key));
            self.joint.remove(key, was.group, was.class, was.trust);
        }
        if let Some(is) = known {
            self.heard.insert(key, is);
            self.by_weight.insert((is.weight, key));
            self.joint.add(key, is.group, is.class, is.trust);
        }
    }

    /// `joint(X)`.
    pub fn joint(&self) -> Fixed {
        self.joint.sum()
    }

    pub fn hears(&self, key: KeyId) -> bool {
        self.heard.get(&key).is_some()
    }

    /// The critic's assertions count.
    pub fn counts(&self, key: KeyId) -> bool {
        self.heard.get(&key).is_some_and(|known| known.weight >= self.least)
    }

    /// The author weighs `needed`, which `factor` times a critic's weight, or what all have
    /// together, must reach; returns the critics who turn.
    pub fn weigh(&mut self, needed: Fixed, factor: i64) -> Vec<KeyId> {
        let together = i128::from(factor) * i128::from(self.joint().0) >= i128::from(needed.0);
        let alone = Fixed((needed.0 + factor - 1) / factor);
        let before = std::mem::replace(&mut self.least, if together { Fixed::ZERO } else { alone });
        let (low, high) = (before.min(self.least), before.max(self.least));
        self.by_weight.range((low, KeyId(0))..(high, KeyId(0))).map(|(_, key)| *key).collect()
    }
}
