//! Section 3: seeds, cold start, groups, backing, anchors, edges and flow.
//!
//! The graph of keys is small beside the signals that make it, but dense with dependencies: a
//! share depends on all its siblings, a class on the rounds before. One machine for each network
//! keeps it and recomputes, round by round, what a change reaches: the rounding of shares and
//! masses stops most changes after one hop.

mod explain;

pub use explain::{Explanation, Incoming};

use crate::aging::AgedPair;
use crate::fixed::{Fixed, ONE, narrow};
use crate::ids::{GroupId, KeyId, NetworkId, OwnerId};
use crate::incremental::{Changes, Machine};
use crate::origins::{Allegiance, Groups, ROUNDS, Rounds, Standing, class_of, union};
use crate::policy::{Config, Policy};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Something the trust graph is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Told {
    /// An own profile.
    Profile(KeyId),
    /// A key of held events, and its `age` (*Cold start*).
    Age(KeyId, Fixed),
    /// Work beyond what the network asks; the multiplicity is the amount.
    Work(KeyId),
    /// The owner that a key declares.
    Owner(KeyId, OwnerId),
    /// The first key vouches for the second.
    Vouch(KeyId, KeyId),
    /// The first key accepts, confirms or uses what the second wrote; the multiplicity is the
    /// value, the largest for each post.
    Backing(KeyId, KeyId),
    /// An own profile accepts or uses what the key wrote; the multiplicity is the decay, the
    /// largest for each post.
    Relied(KeyId),
}

/// The edge from one key to another.
#[derive(Clone, Copy, Debug, Default)]
struct Edge {
    vouched: bool,
    /// Sum over posts of the largest value, whatever the groups.
    value: i64,
    /// `w0(a,b)`.
    w0: i64,
    /// `w(a,b)`.
    w: i64,
    /// `share(a,b)`.
    share: Fixed,
}

/// What edges from and to a key depend on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    group: GroupId,
    class: GroupId,
    distance: usize,
    has_origins: bool,
}

/// A key in the graph.
#[derive(Default)]
struct Node {
    network: NetworkId,
    profile: bool,
    /// `age`, when it has held events.
    age: Option<Fixed>,
    work: i64,
    owner: Option<OwnerId>,
    group: Option<GroupId>,
    vouched_by_reader: i64,
    relied: i64,
    seed: Fixed,
    anchor: bool,
    edges: BTreeMap<KeyId, Edge>,
    /// Keys with an edge to this one.
    from: BTreeSet<KeyId>,
    rounds: Rounds,
    place: Option<Place>,
    sponsors: Option<Groups>,
    /// `m0..m3`.
    mass: [Fixed; ROUNDS + 1],
    /// The sums that m1..m3 round, at 1..3.
    inflow: [i64; ROUNDS + 1],
    shown: Option<Standing>,
}

impl Node {
    fn group(&self, key: KeyId) -> GroupId {
        self.group.unwrap_or(GroupId::Alone(key))
    }

    fn class(&self, key: KeyId) -> GroupId {
        self.place.map_or(self.group(key), |p| p.class)
    }

    fn has_origins(&self) -> bool {
        !self.rounds.origins(ROUNDS).is_empty()
    }

    fn speaks(&self) -> bool {
        self.anchor || self.rounds.broad || !self.has_origins()
    }

    fn held(&self) -> bool {
        self.profile || self.age.is_some()
    }
}

/// What one tick has touched.
#[derive(Default)]
struct Touched {
    keys: FxHashSet<KeyId>,
    edges: FxHashSet<(KeyId, KeyId)>,
    owners: FxHashSet<KeyId>,
    seeds: FxHashSet<KeyId>,
    /// Keys whose backers, group or anchorhood changed.
    rewired: FxHashSet<KeyId>,
    /// Shares as they were.
    shares: FxHashMap<(KeyId, KeyId), Fixed>,
    /// Keys whose standing may differ.
    stale: FxHashSet<KeyId>,
}

/// A network as a whole.
#[derive(Default)]
struct Realm {
    /// `S`: the seeds of keys that are not own profiles.
    seeds: i64,
    cold: i64,
    aged: FxHashSet<KeyId>,
    profile_owners: FxHashMap<OwnerId, i64>,
}

/// The machine of section 3.
pub struct Trust {
    config: Arc<Config>,
    nodes: Vec<Node>,
    realms: FxHashMap<NetworkId, Realm>,
    members: FxHashMap<OwnerId, BTreeSet<KeyId>>,
    touched: Touched,
}

impl Trust {
    /// With no keys.
    pub fn new(config: Arc<Config>) -> Trust {
        Trust {
            config,
            nodes: Vec::new(),
            realms: FxHashMap::default(),
            members: FxHashMap::default(),
            touched: Touched::default(),
        }
    }

    fn policy(&self) -> &Policy {
        &self.config.policy
    }

    fn node(&self, key: KeyId) -> &Node {
        &self.nodes[key.0 as usize]
    }

    fn node_mut(&mut self, key: KeyId) -> &mut Node {
        &mut self.nodes[key.0 as usize]
    }

    fn open(&mut self, network: NetworkId, key: KeyId) -> &mut Node {
        let at = key.0 as usize;
        if self.nodes.len() <= at {
            self.nodes.resize_with(at + 1, Node::default);
        }
        self.touched.keys.insert(key);
        let node = &mut self.nodes[at];
        if node.group.is_none() {
            node.network = network;
            node.group = Some(GroupId::Alone(key));
        }
        node
    }

    fn open_edge(&mut self, network: NetworkId, a: KeyId, b: KeyId) -> &mut Edge {
        self.open(network, b).from.insert(a);
        self.touched.edges.insert((a, b));
        self.open(network, a).edges.entry(b).or_default()
    }

    /// The keys that `key` backs.
    fn backed(&self, key: KeyId) -> impl Iterator<Item = KeyId> {
        self.node(key).edges.iter().filter(|(_, e)| e.w0 > 0).map(|(b, _)| *b)
    }

    /// The keys that back `key`.
    fn backers(&self, key: KeyId) -> impl Iterator<Item = KeyId> {
        let backs = move |a: &KeyId| self.node(*a).edges.get(&key).is_some_and(|e| e.w0 > 0);
        self.node(key).from.iter().copied().filter(backs)
    }

    // Groups.

    /// Members of an owner that a profile declares, or no longer does, change with it.
    fn regroup(&mut self) {
        let mut keys: FxHashSet<KeyId> = std::mem::take(&mut self.touched.owners);
        for key in keys.clone() {
            if self.node(key).profile {
                let network = self.node(key).network;
                keys.extend(self.members.values().flatten().filter(|k| self.node(**k).network == network));
            }
        }
        for key in keys {
            let group = self.group_of(key);
            if self.node(key).group == Some(group) {
                continue;
            }
            self.node_mut(key).group = Some(group);
            self.touched.rewired.insert(key);
            self.touched.stale.insert(key);
            let node = &self.nodes[key.0 as usize];
            self.touched.edges.extend(node.edges.keys().map(|b| (key, *b)));
            self.touched.edges.extend(node.from.iter().map(|a| (*a, key)));
        }
    }

    fn group_of(&self, key: KeyId) -> GroupId {
        let node = self.node(key);
        if node.profile {
            return GroupId::Profiles(node.network);
        }
        let Some(owner) = node.owner else {
            return GroupId::Alone(key);
        };
        let of_profiles =
            self.realms.get(&node.network).is_some_and(|r| r.profile_owners.contains_key(&owner));
        if of_profiles { GroupId::Profiles(node.network) } else { GroupId::Owner(owner) }
    }

    // Backing.

    fn reweigh_backing(&mut self) {
        let edges: Vec<(KeyId, KeyId)> = self.touched.edges.iter().copied().collect();
        for (a, b) in edges {
            let apart = self.node(a).group(a) != self.node(b).group(b);
            let Some(edge) = self.node_mut(a).edges.get_mut(&b) else {
                continue;
            };
            let w0 = if edge.vouched { ONE.0 } else { 0 } + if apart { edge.value } else { 0 };
            let (was, is) = (edge.w0 > 0, w0 > 0);
            edge.w0 = w0;
            if was != is {
                self.touched.rewired.insert(b);
            }
        }
    }

    // Seeds and cold start.

    fn reseed(&mut self) {
        for key in std::mem::take(&mut self.touched.seeds) {
            let most = self.policy().seed_vouched;
            let node = self.node(key);
            let relied = most.scale(node.relied, node.relied.saturating_add(ONE.0));
            let vouched = if node.vouched_by_reader > 0 { most } else { Fixed::ZERO };
            let seed = if node.profile { ONE } else { relied.max(vouched) };
            let (before, network, profile) = (node.seed, node.network, node.profile);
            if seed == before {
                continue;
            }
            self.node_mut(key).seed = seed;
            if !profile {
                self.realms.entry(network).or_default().seeds += seed.0 - before.0;
            }
            self.touched.stale.insert(key);
            self.touched.keys.insert(key);
        }
        let until = self.policy().cold_until.0;
        for realm in self.realms.values_mut() {
            let cold = (16 * i128::from((until - realm.seeds).max(0)) / i128::from(until)) as i64;
            if cold != realm.cold {
                realm.cold = cold;
                self.touched.stale.extend(realm.aged.iter());
            }
        }
    }

    fn floor(&self, node: &Node) -> Fixed {
        let (Some(age), false) = (node.age, node.profile) else {
            return Fixed::ZERO;
        };
        let cold = self.realms.get(&node.network).map_or(0, |r| r.cold);
        let bonus = age.scale(node.work, node.work + self.policy().work_half).0 / 2;
        Fixed((age.0 + bonus) * cold / 16)
    }

    // Edges.

    /// `w(a,b)`: no trust flows back towards the one key that it came through.
    fn weight_of(&self, a: KeyId, b: KeyId, edge: &Edge) -> i64 {
        let (from, to) = (self.node(a), self.node(b));
        let class = from.class(a);
        let back =
            class != from.group(a) && class == to.class(b) && to.rounds.distance() <= from.rounds.distance();
        if back { 0 } else { edge.w0 }
    }

    /// Recomputes all shares of `a`; says whether one changed.
    fn reshare(&mut self, a: KeyId) {
        let mut edges = std::mem::take(&mut self.node_mut(a).edges);
        let mut total: i128 = 0;
        for (b, edge) in &mut edges {
            edge.w = self.weight_of(a, *b, edge);
            total += i128::from(edge.w);
        }
        for (b, edge) in &mut edges {
            let share = match total {
                0 => Fixed::ZERO,
                _ => Fixed(narrow(i128::from(edge.w) * i128::from(ONE.0) / total)).rounded(),
            };
            if share != edge.share {
                self.touched.shares.entry((a, *b)).or_insert(edge.share);
                edge.share = share;
            }
        }
        self.node_mut(a).edges = edges;
    }

    // Anchors.

    /// The reader's own shares come first: they decide who is an anchor.
    fn reanchor(&mut self) {
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

    fn first_hand(&self, key: KeyId) -> Fixed {
        let node = self.node(key);
        let profiles = self.config.profiles(node.network).iter().filter(|p| self.nodes.len() > p.0 as usize);
        let shares = profiles.filter_map(|p| self.node(*p).edges.get(&key)).map(|e| self.damped(e.share));
        node.seed + shares.sum()
    }

    fn damped(&self, x: Fixed) -> Fixed {
        let (numerator, denominator) = self.policy().damping;
        x.scale(numerator, denominator)
    }

    // Origins and classes.

    /// Runs the rounds over what changed; returns the keys whose rounds were computed anew.
    fn respread(&mut self) -> FxHashSet<KeyId> {
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

    fn round(&self, key: KeyId, round: usize) -> (Option<Groups>, Option<GroupId>, bool) {
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

    /// Classes of the keys reached, then the sponsors of them and of whom they back; returns the
    /// keys whose place changed, so that edges from and to them may weigh differently.
    fn reclass(&mut self, reached: FxHashSet<KeyId>) -> Vec<KeyId> {
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

    fn sponsors(&self, key: KeyId) -> Groups {
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

    fn reshare_touched(&mut self, moved: Vec<KeyId>) {
        let mut from: FxHashSet<KeyId> = self.touched.edges.iter().map(|(a, _)| *a).collect();
        for key in moved {
            from.insert(key);
            from.extend(self.node(key).from.iter());
        }
        for a in from {
            self.reshare(a);
        }
    }

    // Flow.

    fn passed_on(&self, mass: Fixed, share: Fixed) -> i64 {
        self.damped(mass.times(share)).0
    }

    fn flow(&mut self) {
        let shares = std::mem::take(&mut self.touched.shares);
        let reshared: FxHashSet<KeyId> = shares.keys().map(|(a, _)| *a).collect();
        let mut moved: FxHashMap<KeyId, Fixed> = FxHashMap::default();
        for key in self.touched.keys.clone() {
            let node = self.node_mut(key);
            if node.mass[0] != node.seed {
                moved.insert(key, node.mass[0]);
                node.mass[0] = node.seed;
            }
        }
        for round in 1..=ROUNDS {
            let mut inflow: FxHashMap<KeyId, i64> = FxHashMap::default();
            for a in reshared.iter().chain(moved.keys().filter(|k| !reshared.contains(k))) {
                let mass = self.node(*a).mass[round - 1];
                let mass_before = moved.get(a).copied().unwrap_or(mass);
                for (b, edge) in &self.node(*a).edges {
                    let share_before = shares.get(&(*a, *b)).copied().unwrap_or(edge.share);
                    let change = self.passed_on(mass, edge.share) - self.passed_on(mass_before, share_before);
                    if change != 0 {
                        *inflow.entry(*b).or_default() += change;
                    }
                }
            }
            moved = self.pour(round, inflow);
        }
    }

    /// Adds inflow of one round; returns the masses that changed, as they were.
    fn pour(&mut self, round: usize, inflow: FxHashMap<KeyId, i64>) -> FxHashMap<KeyId, Fixed> {
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

    fn standing(&self, key: KeyId) -> Option<Standing> {
        let node = self.node(key);
        if !node.held() {
            return None;
        }
        let group = node.group(key);
        let allegiance = Allegiance {
            group,
            class: node.class(key),
            speaks: node.speaks(),
            origins: node.rounds.origins[ROUNDS].clone().unwrap_or_default(),
            sponsors: node.sponsors.clone().unwrap_or_else(|| Arc::from([group])),
        };
        let before = node.shown.as_ref().map(|shown| &shown.allegiance);
        Some(Standing {
            network: node.network,
            trust: node.mass.iter().copied().sum::<Fixed>().min(ONE).rounded(),
            floor: self.floor(node),
            allegiance: match before {
                Some(before) if **before == allegiance => before.clone(),
                _ => Arc::new(allegiance),
            },
        })
    }

    /// Forgets edges that nothing is left of.
    fn prune(&mut self) {
        for (a, b) in std::mem::take(&mut self.touched.edges) {
            if self.node(a).edges.get(&b).is_some_and(|e| !e.vouched && e.value == 0) {
                self.node_mut(a).edges.remove(&b);
                self.node_mut(b).from.remove(&a);
            }
        }
    }

    fn told_owner(&mut self, key: KeyId, owner: OwnerId, here: bool) {
        self.touched.owners.insert(key);
        let node = self.node_mut(key);
        node.owner = here.then_some(owner);
        let (network, profile) = (node.network, node.profile);
        if here {
            self.members.entry(owner).or_default().insert(key);
        } else if let Some(members) = self.members.get_mut(&owner) {
            members.remove(&key);
            if members.is_empty() {
                self.members.remove(&owner);
            }
        }
        if profile {
            let owners = &mut self.realms.entry(network).or_default().profile_owners;
            let count = owners.entry(owner).or_default();
            *count += if here { 1 } else { -1 };
            if *count == 0 {
                owners.remove(&owner);
            }
        }
    }
}

impl Machine for Trust {
    type Change = (NetworkId, Told);
    type View = (KeyId, Standing);

    fn apply(&mut self, (network, told): (NetworkId, Told), diff: i64) {
        self.realms.entry(network).or_default();
        match told {
            Told::Profile(key) => {
                self.open(network, key).profile = diff > 0;
                self.touched.owners.insert(key);
                self.touched.seeds.insert(key);
                self.touched.stale.insert(key);
            }
            Told::Age(key, age) => {
                self.open(network, key).age = (diff > 0).then_some(age);
                let aged = &mut self.realms.entry(network).or_default().aged;
                if diff > 0 && age > Fixed::ZERO {
                    aged.insert(key)
                } else {
                    aged.remove(&key)
                };
                self.touched.stale.insert(key);
            }
            Told::Work(key) => {
                self.open(network, key).work += diff;
                self.touched.stale.insert(key);
            }
            Told::Owner(key, owner) => {
                self.open(network, key);
                self.told_owner(key, owner, diff > 0);
            }
            Told::Vouch(a, b) => {
                self.open_edge(network, a, b).vouched = diff > 0;
                if self.config.profiles(network).contains(&a) {
                    self.node_mut(b).vouched_by_reader += diff;
                    self.touched.seeds.insert(b);
                }
            }
            Told::Backing(a, b) => self.open_edge(network, a, b).value += diff,
            Told::Relied(key) => {
                self.open(network, key).relied += diff;
                self.touched.seeds.insert(key);
            }
        }
    }

    fn settle(&mut self, out: &mut Vec<((KeyId, Standing), i64)>) {
        self.regroup();
        self.reweigh_backing();
        self.reseed();
        self.reanchor();
        let reached = self.respread();
        let moved = self.reclass(reached);
        self.reshare_touched(moved);
        self.flow();
        self.prune();
        for key in std::mem::take(&mut self.touched.stale) {
            let standing = self.standing(key);
            if standing != self.node(key).shown {
                let before = std::mem::replace(&mut self.node_mut(key).shown, standing.clone());
                out.extend(before.map(|s| ((key, s), -1)));
                out.extend(standing.map(|s| ((key, s), 1)));
            }
        }
        self.touched = Touched::default();
    }
}

/// Backing (section 3): the largest value of accept, confirm and use for each pair, in the multiplicity.
pub fn backing<'s>(aged: Changes<'s, AgedPair>, config: Arc<Config>) -> Changes<'s, (NetworkId, Told)> {
    aged.explode(move |p| {
        let value = p.support(&config.policy).0;
        (value > 0).then_some(((p.pair.network, Told::Backing(p.pair.by, p.pair.to)), value))
    })
}

/// What own profiles accept and use (section 3, *Seeds*): the largest decay for each post, in the
/// multiplicity.
pub fn relied_on<'s>(aged: Changes<'s, AgedPair>, config: Arc<Config>) -> Changes<'s, (NetworkId, Told)> {
    let own = aged.flat_map(move |p| {
        let own = config.profiles(p.pair.network).contains(&p.pair.by);
        own.then(|| ((p.pair.on, p.pair.network, p.pair.to), p.relied()))
    });
    let largest = own.reduce_named("most relied on", |_, relied, output| {
        output.extend(relied.last().map(|(most, _)| (**most, 1)));
    });
    largest.explode(|((_, network, to), most)| (most.0 > 0).then_some(((network, Told::Relied(to)), most.0)))
}
