//! Section 3, *Backing*, *Anchors*, *Edges* and *Flow*: what each edge weighs, and what passes along it.

use super::{Edge, ROUNDS, Trust};
use rustc_hash::{FxHashMap, FxHashSet};
use wats_model::fixed::{Fixed, ONE, share};
use wats_model::ids::KeyId;

impl Trust {
    pub(super) fn reweigh_backing(&mut self) {
        let edges: Vec<(KeyId, KeyId)> = self.touched.edges.iter().copied().collect();
        for (a, b) in edges {
            let apart = self.node(a).group(a) != self.node(b).group(b);
            let heard = !self.node(a).distrusted && !self.node(b).distrusted;
            let Some(edge) = self.node_mut(a).edges.get_mut(&b) else {
                continue;
            };
            let w0 = if edge.vouched { ONE.0 } else { 0 } + if apart { edge.value } else { 0 };
            let w0 = if heard { w0 } else { 0 };
            let (was, is) = (edge.w0 > 0, w0 > 0);
            edge.w0 = w0;
            if was != is {
                self.touched.rewired.insert(b);
            }
        }
    }

    /// `w(a,b)`: no trust flows back towards the one key that it came through.
    pub(super) fn weight_of(&self, a: KeyId, b: KeyId, edge: &Edge) -> i64 {
        let (from, to) = (self.node(a), self.node(b));
        let class = from.class(a);
        let back =
            class != from.group(a) && class == to.class(b) && to.rounds.distance() <= from.rounds.distance();
        if back { 0 } else { edge.w0 }
    }

    /// Recomputes all shares of `a`, remembering those that change as they were.
    pub(super) fn reshare(&mut self, a: KeyId) {
        let mut edges = std::mem::take(&mut self.node_mut(a).edges);
        let mut total: i128 = 0;
        for (b, edge) in &mut edges {
            edge.w = self.weight_of(a, *b, edge);
            total += i128::from(edge.w);
        }
        for (b, edge) in &mut edges {
            let share = share(edge.w, total, edge.share);
            if share != edge.share {
                self.touched.shares.entry(a).or_default().entry(*b).or_insert(edge.share);
                edge.share = share;
            }
        }
        self.node_mut(a).edges = edges;
    }

    /// The reader's own shares come first: they decide who is an anchor.
    pub(super) fn reanchor(&mut self) {
        let mut doubtful: FxHashSet<KeyId> = self.touched.keys.clone();
        let profiles: FxHashSet<KeyId> =
            self.touched.edges.iter().map(|(a, _)| *a).filter(|a| self.node(*a).profile).collect();
        for p in profiles {
            doubtful.extend(self.node(p).edges.keys());
            self.reshare(p);
        }
        for key in doubtful {
            let anchor = self.first_hand(key) >= self.policy().w_min || self.node(key).profile;
            if anchor != self.node(key).anchor {
                self.node_mut(key).anchor = anchor;
                self.touched.rewired.insert(key);
            }
        }
    }

    pub(super) fn first_hand(&self, key: KeyId) -> Fixed {
        let node = self.node(key);
        let profiles = self.config.profiles(node.network).iter().filter(|p| self.nodes.len() > p.0 as usize);
        let shares = profiles.filter_map(|p| self.node(*p).edges.get(&key)).map(|e| self.damped(e.share));
        node.seed + shares.sum()
    }

    pub(super) fn damped(&self, x: Fixed) -> Fixed {
        let (numerator, denominator) = self.policy().damping;
        x.scale(numerator, denominator)
    }

    pub(super) fn reshare_touched(&mut self, moved: Vec<KeyId>) {
        let mut from: FxHashSet<KeyId> = self.touched.edges.iter().map(|(a, _)| *a).collect();
        for key in moved {
            from.insert(key);
            from.extend(self.node(key).from.iter());
        }
        for a in from {
            self.reshare(a);
        }
    }

    pub(super) fn passed_on(&self, mass: Fixed, share: Fixed) -> i64 {
        self.damped(mass.times(share)).0
    }

    pub(super) fn flow(&mut self) {
        let shares = std::mem::take(&mut self.touched.shares);
        let mut moved: FxHashMap<KeyId, Fixed> = FxHashMap::default();
        for key in self.touched.keys.clone() {
            let node = self.node_mut(key);
            if node.mass[0] != node.seed {
                moved.insert(key, node.mass[0]);
                node.mass[0] = node.seed;
            }
        }
        let none = FxHashMap::default();
        for round in 1..=ROUNDS {
            let mut inflow: FxHashMap<KeyId, i64> = FxHashMap::default();
            for (a, mass_before) in &moved {
                let (node, before) = (self.node(*a), shares.get(a).unwrap_or(&none));
                for (b, edge) in &node.edges {
                    let share_before = before.get(b).copied().unwrap_or(edge.share);
                    let was = self.passed_on(*mass_before, share_before);
                    add(&mut inflow, *b, self.passed_on(node.mass[round - 1], edge.share) - was);
                }
            }
            // Where the mass stays, only the shares that changed pass on other than before.
            for (a, before) in shares.iter().filter(|(a, _)| !moved.contains_key(*a)) {
                let node = self.node(*a);
                for (b, share_before) in before {
                    let share = node.edges.get(b).map_or(Fixed::ZERO, |edge| edge.share);
                    let [was, is] = [*share_before, share].map(|s| self.passed_on(node.mass[round - 1], s));
                    add(&mut inflow, *b, is - was);
                }
            }
            moved = self.pour(round, inflow);
        }
    }

    /// Adds inflow of one round; returns the masses that changed, as they were.
    pub(super) fn pour(&mut self, round: usize, inflow: FxHashMap<KeyId, i64>) -> FxHashMap<KeyId, Fixed> {
        let mut moved = FxHashMap::default();
        for (key, change) in inflow {
            let node = self.node_mut(key);
            node.inflow[round] += change;
            let mass = Fixed(node.inflow[round]).rounded();
            if mass != node.mass[round] {
                moved.insert(key, node.mass[round]);
                node.mass[round] = mass;
                self.touched.stale.insert(key);
            }
        }
        moved
    }
}

fn add(inflow: &mut FxHashMap<KeyId, i64>, key: KeyId, change: i64) {
    if change != 0 {
        *inflow.entry(key).or_default() += change;
    }
}
