//! Keys, their groups, and who backs whom (section 3).

use crate::network::Key;
use wats_model::fixed::Fixed;
use wats_model::ids::GroupId;

/// A group of keys, by its place in [`Keys::groups`].
pub(crate) type Group = usize;

/// What section 3 says of each key.
pub(crate) struct Keys {
    /// The groups' names.
    pub(crate) groups: Vec<GroupId>,
    /// `group(k)`.
    pub(crate) group: Vec<Group>,
    /// `class(k)`.
    pub(crate) class: Vec<Group>,
    /// `origins(k)`.
    pub(crate) origins: Vec<Vec<Group>>,
    /// `sponsors(k)`.
    pub(crate) sponsors: Vec<Vec<Group>>,
    /// Whether k speaks for itself.
    pub(crate) speaks_for_itself: Vec<bool>,
    /// `trust(k)`.
    pub(crate) trust: Vec<Fixed>,
    /// `floor(k)`.
    pub(crate) floor: Vec<Fixed>,
    /// `weight(k)`.
    pub(crate) weight: Vec<Fixed>,
    /// Whether an own profile vouches for k.
    pub(crate) vouched: Vec<bool>,
    /// `cold`: the network is cold while it is above zero.
    pub(crate) cold: i64,
}

impl Keys {
    /// Whether A is *dependent*: all of its trust came through one other group.
    pub(crate) fn dependent(&self, a: Key) -> bool {
        self.class[a] != self.group[a]
    }

    /// Whether A is *partial* to B.
    pub(crate) fn partial(&self, a: Key, b: Key) -> bool {
        self.group[a] == self.group[b] || self.dependent(a) && self.class[a] == self.class[b]
    }
}

/// `w0(from, to)`: how much one key backs another.
#[derive(Clone, Copy)]
pub(crate) struct Backing {
    pub(crate) from: Key,
    pub(crate) to: Key,
    pub(crate) w0: Fixed,
}
