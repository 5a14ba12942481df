//! Section 3, explained: the sources of a key's trust.

use super::Trust;
use crate::origins::{ROUNDS, Standing};
use wats_model::fixed::Fixed;
use wats_model::ids::{KeyId, OwnerId};

/// Where a key stands in the graph, and why (section 3).
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What others are told of it.
    pub standing: Standing,
    /// It is an own profile.
    pub profile: bool,
    /// The reader will not hear it.
    pub distrusted: bool,
    /// The owner that it declares.
    pub owner: Option<OwnerId>,
    /// The reader gives it trust at first hand.
    pub anchor: bool,
    /// What the reader gives it: its seed and the damped shares of own profiles.
    pub first_hand: Fixed,
    /// It is *broadly backed*.
    pub broad: bool,
    /// `distance(k)`; none when infinite.
    pub distance: Option<usize>,
    /// An own profile vouches for it.
    pub vouched_by_reader: bool,
    /// `n` of *Seeds*: what own profiles accept and use of it.
    pub relied: Fixed,
    /// `s(k)`.
    pub seed: Fixed,
    /// `age`; none of a profile without events.
    pub age: Option<Fixed>,
    /// `x` of *Cold start*: its work.
    pub work: i64,
    /// `cold` of its network, 0 to 16.
    pub cold: i64,
    /// `m0..m3`.
    pub mass: [Fixed; ROUNDS + 1],
    /// The keys that back it.
    pub incoming: Vec<Incoming>,
}

/// A key that backs another, and what comes of it (section 3, *Backing*, *Edges* and *Flow*).
#[derive(Clone, Copy, Debug)]
pub struct Incoming {
    /// The backer.
    pub from: KeyId,
    /// It vouches.
    pub vouched: bool,
    /// The sum over posts of the largest value of its accept, confirm and use.
    pub value: Fixed,
    /// The edge weighs nothing: it would lead trust back to where it came from.
    pub closed: bool,
    /// `share(a,b)`.
    pub share: Fixed,
    /// What it adds to `m1..m3`.
    pub passed: [Fixed; ROUNDS],
}

impl Trust {
    /// How a key comes to its trust, floor, group, class and origins; none of a key that is not in
    /// the graph.
    pub fn explain(&self, key: KeyId) -> Option<Explanation> {
        let node = self.nodes.get(key.0 as usize)?;
        let standing = node.shown.clone()?;
        let realm = self.realms.get(&node.network);
        Some(Explanation {
            standing,
            profile: node.profile,
            distrusted: node.distrusted,
            owner: node.owner,
            anchor: node.anchor,
            first_hand: self.first_hand(key),
            broad: node.rounds.broad,
            distance: Some(node.rounds.distance()).filter(|d| *d <= ROUNDS),
            vouched_by_reader: node.vouched_by_reader > 0,
            relied: Fixed(node.relied),
            seed: node.seed,
            age: node.age,
            work: node.work,
            cold: realm.map_or(0, |r| r.cold),
            mass: node.mass,
            incoming: node.from.iter().filter_map(|a| self.incoming(*a, key)).collect(),
        })
    }

    fn incoming(&self, from: KeyId, to: KeyId) -> Option<Incoming> {
        let node = self.node(from);
        let edge = node.edges.get(&to).filter(|e| e.w0 > 0)?;
        let mut passed = [Fixed::ZERO; ROUNDS];
        for (passed, mass) in passed.iter_mut().zip(node.mass) {
            *passed = self.damped(mass.times(edge.share));
        }
        Some(Incoming {
            from,
            vouched: edge.vouched,
            value: Fixed(edge.value),
            closed: edge.w == 0,
            share: edge.share,
            passed,
        })
    }
}
