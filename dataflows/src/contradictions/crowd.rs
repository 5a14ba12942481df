//! The critics of one event who are heard, and how much force one must have to count.

use crate::origins::{Place, Standing, Tally};
use crate::small_map::SmallMap;
use std::collections::BTreeSet;
use wats_model::fixed::Fixed;
use wats_model::ids::{GroupId, KeyId};

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
    pub(super) fn new(standing: &Standing, own: bool) -> Known {
        let Standing { trust, ref allegiance, .. } = *standing;
        Known { weight: standing.weight(), trust, group: allegiance.group, class: allegiance.class, own }
    }

    /// Where it stands; who argues is heavy enough.
    pub(super) fn place(&self) -> Place {
        Place { group: self.group, class: self.class, heavy: true }
    }
}

/// What an event's critic weighs there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Heard {
    /// `force(A)`.
    force: Fixed,
    /// The smaller of its trust and its force: what it adds to `joint(X)`.
    joint: Fixed,
    group: GroupId,
    class: GroupId,
}

impl Heard {
    pub(super) fn new(known: &Known, force: Fixed) -> Heard {
        Heard { force, joint: known.trust.min(force), group: known.group, class: known.class }
    }
}

/// The critics of an event who are heard.
///
/// One counts from some force on: from half the author's weight, or from nothing when all together
/// reach that. When it moves, only the critics between the old and the new turn.
#[derive(Default)]
pub(super) struct Crowd {
    heard: SmallMap<KeyId, Heard>,
    by_force: BTreeSet<(Fixed, KeyId)>,
    joint: Tally,
    least: Fixed,
}

impl Crowd {
    /// The critic is heard as this, or not at all.
    pub(super) fn set(&mut self, key: KeyId, heard: Option<Heard>) {
        let before = self.heard.get(&key).copied();
        if before == heard {
            return;
        }
        if let Some(was) = before {
            self.heard.remove(&key);
            self.by_force.remove(&(was.force, key));
            self.joint.remove(key, was.group, was.class, was.joint);
        }
        if let Some(is) = heard {
            self.heard.insert(key, is);
            self.by_force.insert((is.force, key));
            self.joint.add(key, is.group, is.class, is.joint);
        }
    }

    /// `joint(X)`.
    pub(super) fn joint(&self) -> Fixed {
        self.joint.sum()
    }

    pub(super) fn hears(&self, key: KeyId) -> bool {
        self.heard.get(&key).is_some()
    }

    /// The critic's assertions count.
    pub(super) fn counts(&self, key: KeyId) -> bool {
        self.heard.get(&key).is_some_and(|heard| heard.force >= self.least)
    }

    /// The author weighs `needed`, which `factor` times a critic's force, or what all have
    /// together, must reach; returns the critics who turn.
    pub(super) fn weigh(&mut self, needed: Fixed, factor: i64) -> Vec<KeyId> {
        let together = i128::from(factor) * i128::from(self.joint().0) >= i128::from(needed.0);
        let alone = Fixed((needed.0 + factor - 1) / factor);
        let before = std::mem::replace(&mut self.least, if together { Fixed::ZERO } else { alone });
        let (low, high) = (before.min(self.least), before.max(self.least));
        self.by_force.range((low, KeyId(0))..(high, KeyId(0))).map(|(_, key)| *key).collect()
    }
}
