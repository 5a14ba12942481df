//! Section 3, *Origins* to *Partial*, and *Counting*: the trust that a key carries, the keys through which it
//! came, and how many voices a crowd is.

use crate::small_map::{SmallMap, make_room};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use wats_model::fixed::Fixed;
use wats_model::ids::{GroupId, KeyId, NetworkId};

/// Rounds in which trust, origins and classes spread.
pub const ROUNDS: usize = 3;

/// A sorted set of groups.
pub type Groups = Arc<[GroupId]>;

/// Whose word a key's word is: what a crowd is counted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Allegiance {
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

impl Allegiance {
    /// k is dependent: all its trust came through one key that is not its own group's.
    pub fn dependent(&self) -> bool {
        self.class != self.group
    }
}

/// What the trust graph says of a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Standing {
    /// The key's network.
    pub network: NetworkId,
    /// `trust(k)`.
    pub trust: Fixed,
    /// `floor(k)`.
    pub floor: Fixed,
    /// How it is counted.
    pub allegiance: Arc<Allegiance>,
}

impl Standing {
    /// `weight(k)`.
    pub fn weight(&self) -> Fixed {
        self.trust + self.floor
    }

    /// The key's place.
    pub fn place(&self, w_min: Fixed) -> Place {
        let heavy = self.weight() >= w_min;
        Place { group: self.allegiance.group, class: self.allegiance.class, heavy }
    }
}

/// The part of a standing that decides to which keys a key is partial, and whether it counts. It changes far less
/// often than trust does, so what depends on nothing else is spared the ripples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// `group(k)`.
    pub group: GroupId,
    /// `class(k)`.
    pub class: GroupId,
    /// `weight(k) >= W_MIN`.
    pub heavy: bool,
}

impl Place {
    /// This key is partial to another (section 3, *Partial*).
    pub fn partial_to(&self, b: &Place) -> bool {
        self.group == b.group || (self.class != self.group && self.class == b.class)
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
    pub fn add(&mut self, key: &Allegiance, by: i64) {
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
    pub fn independent(&self, b: &Place) -> u32 {
        let without = |set: &SmallMap<GroupId, i64>| {
            let group = set.get(&b.group).is_some();
            let class = b.class != b.group && set.get(&b.class).is_some();
            set.len() - usize::from(group) - usize::from(class)
        };
        self.counts().map(without).into_iter().min().unwrap_or(0) as u32
    }

    /// Empties the set, keeping its memory.
    pub fn clear(&mut self) {
        [&mut self.groups, &mut self.classes, &mut self.origins, &mut self.sponsors]
            .into_iter()
            .for_each(SmallMap::clear);
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
    parts: SmallMap<GroupId, Values<Fixed>>,
    sum: i64,
}

/// Values of keys: most often of one, and now and then of a hundred thousand.
#[derive(Clone, Debug, Default)]
pub enum Values<V> {
    /// None.
    #[default]
    None,
    /// One.
    One((V, KeyId)),
    /// Looked at one by one.
    Few(Vec<(V, KeyId)>),
    /// Sorted.
    Many(BTreeSet<(V, KeyId)>),
}

/// Values beyond which looking at all of them is slow.
const FEW: usize = 32;

impl Tally {
    /// Adds `v(k)` of a key of this group and class; once for each key.
    pub fn add(&mut self, k: KeyId, group: GroupId, class: GroupId, v: Fixed) {
        self.groups.change(group, |part| part.insert(k, v));
        self.classes.change(class, |part| part.insert(k, v));
    }

    /// Takes `v(k)` out again.
    pub fn remove(&mut self, k: KeyId, group: GroupId, class: GroupId, v: Fixed) {
        self.groups.change(group, |part| part.remove(k, v));
        self.classes.change(class, |part| part.remove(k, v));
    }

    /// Empties the set, keeping its memory.
    pub fn clear(&mut self) {
        self.groups.parts.clear();
        self.classes.parts.clear();
        (self.groups.sum, self.classes.sum) = (0, 0);
    }

    /// The tally.
    pub fn sum(&self) -> Fixed {
        Fixed(self.groups.sum.min(self.classes.sum))
    }
}

impl<V: Copy + Ord> Values<V> {
    /// Adds the value of a key that has none here.
    pub fn insert(&mut self, k: KeyId, v: V) {
        match self {
            Values::None => *self = Values::One((v, k)),
            Values::One(one) => *self = Values::Few(vec![*one, (v, k)]),
            Values::Few(few) if few.len() >= FEW => {
                *self = Values::Many(few.drain(..).chain([(v, k)]).collect());
            }
            Values::Few(few) => {
                make_room(few);
                few.push((v, k));
            }
            Values::Many(many) => drop(many.insert((v, k))),
        }
    }

    /// Takes it out again.
    pub fn remove(&mut self, k: KeyId, v: V) {
        match self {
            Values::One(one) if *one == (v, k) => *self = Values::None,
            Values::None | Values::One(_) => {}
            Values::Few(few) => {
                if let Some(at) = few.iter().position(|e| *e == (v, k)) {
                    few.swap_remove(at);
                }
            }
            Values::Many(many) => drop(many.remove(&(v, k))),
        }
    }

    /// The largest value, of those keys that pass.
    pub fn largest(&self, pass: impl Fn(KeyId) -> bool) -> Option<V> {
        let largest = match self {
            Values::None => None,
            Values::One(one) => Some(one).filter(|(_, k)| pass(*k)),
            Values::Few(few) => few.iter().filter(|(_, k)| pass(*k)).max(),
            Values::Many(many) => many.iter().rev().find(|(_, k)| pass(*k)),
        };
        largest.map(|(v, _)| *v)
    }

    /// The values and their keys, the largest first.
    pub fn descending(&self) -> impl Iterator<Item = (V, KeyId)> {
        let (mut few, many) = match self {
            Values::None => (Vec::new(), None),
            Values::One(one) => (vec![*one], None),
            Values::Few(few) => (few.clone(), None),
            Values::Many(many) => (Vec::new(), Some(many)),
        };
        few.sort_unstable_by(|a, b| b.cmp(a));
        few.into_iter().chain(many.into_iter().flat_map(|many| many.iter().rev().copied()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        match self {
            Values::None => true,
            Values::One(_) => false,
            Values::Few(few) => few.is_empty(),
            Values::Many(many) => many.is_empty(),
        }
    }
}

impl Maxima {
    fn change(&mut self, part: GroupId, change: impl FnOnce(&mut Values<Fixed>)) {
        let values = self.parts.entry(part);
        let largest = |values: &Values<Fixed>| values.largest(|_| true).unwrap_or_default();
        let before = largest(values);
        change(values);
        self.sum += (largest(values) - before).0;
        if values.is_empty() {
            self.parts.remove(&part);
        }
    }
}
