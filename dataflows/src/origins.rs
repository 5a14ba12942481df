//! Section 3, *Origins* to *Partial*, and *Counting*: whose trust a key carries, through whom it
//! came, and how many voices a crowd is.

use crate::fixed::Fixed;
use crate::ids::{GroupId, KeyId, NetworkId};
use crate::small::SmallMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Rounds in which trust, origins and classes spread.
pub const ROUNDS: usize = 3;

/// A sorted set of groups.
pub type Groups = Arc<[GroupId]>;

/// What the trust graph says of a key: everything that others need to weigh it and to count it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Standing {
    /// The key's network.
    pub network: NetworkId,
    /// `trust(k)`.
    pub trust: Fixed,
    /// `floor(k)`.
    pub floor: Fixed,
    /// `group(k)`.
    pub group: GroupId,
    /// `class(k)`.
    pub class: GroupId,
    /// k speaks for itself: an anchor, broadly backed, or without origins.
    pub speaks: bool,
    /// `origins(k)`.
    pub origins: Groups,
    /// `sponsors(k)`.
    pub sponsors: Groups,
}

impl Standing {
    /// `weight(k)`.
    pub fn weight(&self) -> Fixed {
        self.trust + self.floor
    }

    /// k is dependent: all its trust came through one key that is not its own group's.
    pub fn dependent(&self) -> bool {
        self.class != self.group
    }

    /// This key, of author `a`, is partial to `b` (section 3, *Partial*); the keys are different.
    pub fn partial_to(&self, b: &Standing) -> bool {
        self.group == b.group || (self.dependent() && self.class == b.class)
    }
}

/// The rounds of one key: `O0..O3` and `C0..C3`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    /// `Oi(k)`.
    pub origins: [Option<Groups>; ROUNDS + 1],
    /// `Ci(k)`.
    pub class: [Option<GroupId>; ROUNDS + 1],
    /// In the third round the union had too many members to name.
    pub broad: bool,
}

impl Rounds {
    /// `Oi(k)`, empty where there is none.
    pub fn origins(&self, round: usize) -> &[GroupId] {
        self.origins[round].as_deref().unwrap_or_default()
    }

    /// `distance(k)`: the first round with origins.
    pub fn distance(&self) -> usize {
        (0..=ROUNDS).find(|i| !self.origins(*i).is_empty()).unwrap_or(usize::MAX)
    }
}

/// The union of some sets, or nothing when it has `broad` or more members.
pub fn union<'a>(sets: impl Iterator<Item = &'a [GroupId]>, broad: usize) -> Option<Vec<GroupId>> {
    let mut union: Vec<GroupId> = Vec::new();
    for group in sets.flatten() {
        if let Err(at) = union.binary_search(group) {
            union.insert(at, *group);
            if union.len() >= broad {
                return None;
            }
        }
    }
    Some(union)
}

/// `Ci(k)` from the classes of k's backers in the round before.
pub fn class_of(group: GroupId, backers: impl Iterator<Item = GroupId>) -> Option<GroupId> {
    let (mut any, mut other) = (false, None);
    for class in backers {
        any = true;
        if class == group || other == Some(class) {
            continue;
        }
        if other.is_some() {
            return Some(group);
        }
        other = Some(class);
    }
    any.then_some(other.unwrap_or(group))
}

/// A set of keys, counted: `voices(K)` and `independent(K, B)`.
#[derive(Clone, Debug, Default)]
pub struct Voices {
    groups: SmallMap<GroupId, i64>,
    classes: SmallMap<GroupId, i64>,
    origins: SmallMap<GroupId, i64>,
    sponsors: SmallMap<GroupId, i64>,
}

impl Voices {
    /// Adds a key to the set, or with -1 takes it out.
    pub fn add(&mut self, key: &Standing, by: i64) {
        self.groups.add(key.group, by);
        self.classes.add(key.class, by);
        let own = [key.group];
        let origins = if key.speaks { &own[..] } else { &key.origins };
        for origin in origins {
            self.origins.add(*origin, by);
        }
        for sponsor in key.sponsors.iter() {
            self.sponsors.add(*sponsor, by);
        }
    }

    /// `voices(K)`: the smallest of the four counts.
    pub fn count(&self) -> u32 {
        self.counts().map(SmallMap::len).into_iter().min().unwrap_or(0) as u32
    }

    /// `independent(K, B)`: the same without group(B) and class(B) in any of the four.
    pub fn independent(&self, b: &Standing) -> u32 {
        let without = |set: &SmallMap<GroupId, i64>| {
            let group = set.get(&b.group).is_some();
            let class = b.class != b.group && set.get(&b.class).is_some();
            set.len() - usize::from(group) - usize::from(class)
        };
        self.counts().map(without).into_iter().min().unwrap_or(0) as u32
    }

    fn counts(&self) -> [&SmallMap<GroupId, i64>; 4] {
        [&self.groups, &self.classes, &self.origins, &self.sponsors]
    }
}

/// `tally(K, v)`: the smaller of two sums, over groups and over classes, of the largest v in each.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    groups: Maxima,
    classes: Maxima,
}

/// Values by part, and the sum of each part's largest.
#[derive(Clone, Debug, Default)]
struct Maxima {
    parts: SmallMap<GroupId, Vec<(KeyId, Fixed)>>,
    sum: i64,
}

impl Tally {
    /// Adds `v(k)`.
    pub fn add(&mut self, k: KeyId, key: &Standing, v: Fixed) {
        self.groups.change(key.group, |part| part.push((k, v)));
        self.classes.change(key.class, |part| part.push((k, v)));
    }

    /// Takes `v(k)` out again.
    pub fn remove(&mut self, k: KeyId, key: &Standing, v: Fixed) {
        let take = |part: &mut Vec<(KeyId, Fixed)>| {
            if let Some(at) = part.iter().position(|e| *e == (k, v)) {
                part.swap_remove(at);
            }
        };
        self.groups.change(key.group, take);
        self.classes.change(key.class, take);
    }

    /// The tally.
    pub fn sum(&self) -> Fixed {
        Fixed(self.groups.sum.min(self.classes.sum))
    }
}

impl Maxima {
    fn change(&mut self, part: GroupId, change: impl FnOnce(&mut Vec<(KeyId, Fixed)>)) {
        let largest = |part: &[(KeyId, Fixed)]| part.iter().map(|(_, v)| v.0).max().unwrap_or(0);
        let values = self.parts.entry(part);
        let before = largest(values);
        change(values);
        self.sum += largest(values) - before;
        if values.is_empty() {
            self.parts.remove(&part);
        }
    }
}
