//! Section 3, *Origins* and *Class*: three rounds from the anchors outward, over what changed.

use super::{Place, Trust};
use crate::origins::{Groups, ROUNDS, class_of, union};
use rustc_hash::FxHashSet;
use std::sync::Arc;
use wats_model::ids::{GroupId, KeyId};

impl Trust {
    /// Runs the rounds over what changed; returns the keys whose rounds were computed anew.
    pub(super) fn respread(&mut self) -> FxHashSet<KeyId> {
        let rewired = std::mem::take(&mut self.touched.rewired);
        let mut reached = rewired.clone();
        let mut dirty = rewired.clone();
        for round in 0..=ROUNDS {
            let mut next = rewired.clone();
            for key in dirty {
                let (origins, class, broad) = self.round(key, round);
                let rounds = &mut self.node_mut(key).rounds;
                let same = rounds.origins[round] == origins && rounds.class[round] == class;
                rounds.origins[round] = origins;
                rounds.class[round] = class;
                if round == ROUNDS {
                    rounds.broad = broad;
                }
                reached.insert(key);
                if !same {
                    next.extend(self.backed(key));
                }
            }
            dirty = next;
        }
        reached
    }

    pub(super) fn round(&self, key: KeyId, round: usize) -> (Option<Groups>, Option<GroupId>, bool) {
        let node = self.node(key);
        let group = node.group(key);
        if node.anchor {
            return (Some(Arc::from([group])), Some(group), false);
        }
        let Some(before) = round.checked_sub(1) else {
            return (None, None, false);
        };
        let backers = || self.backers(key).map(|b| &self.node(b).rounds);
        let class = class_of(group, backers().filter_map(|r| r.class[before]));
        match union(backers().map(|r| r.origins(before)), self.policy().broad) {
            Some(union) if union.is_empty() => (None, class, false),
            Some(union) => (Some(union.into()), class, false),
            None => (Some(Arc::from([group])), class, true),
        }
    }

    /// Classes of the keys reached, then their sponsors and those of the keys they back; returns the
    /// keys whose place changed, so that edges from and to them may weigh differently.
    pub(super) fn reclass(&mut self, reached: FxHashSet<KeyId>) -> Vec<KeyId> {
        let mut moved = Vec::new();
        for key in &reached {
            let node = self.node(*key);
            let class = if node.speaks() { None } else { node.rounds.class[ROUNDS] };
            let place = Place {
                group: node.group(*key),
                class: class.unwrap_or(node.group(*key)),
                distance: node.rounds.distance(),
                has_origins: node.has_origins(),
            };
            if node.place != Some(place) {
                self.node_mut(*key).place = Some(place);
                moved.push(*key);
            }
        }
        let mut sponsored = reached;
        for key in &moved {
            sponsored.extend(self.backed(*key));
        }
        for key in sponsored {
            let sponsors = self.sponsors(key);
            self.node_mut(key).sponsors = Some(sponsors);
            self.touched.stale.insert(key);
        }
        moved
    }

    pub(super) fn sponsors(&self, key: KeyId) -> Groups {
        let node = self.node(key);
        let group = node.group(key);
        if node.anchor || !node.has_origins() {
            return Arc::from([group]);
        }
        let classes: Vec<GroupId> = {
            let backers = self.backers(key).filter(|b| self.node(*b).has_origins());
            backers.map(|b| self.node(b).class(b)).collect()
        };
        match union([&classes[..]].into_iter(), self.policy().broad) {
            Some(classes) => classes.into(),
            None => Arc::from([group]),
        }
    }
}
