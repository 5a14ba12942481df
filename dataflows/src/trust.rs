//! Section 3: seeds, cold start, groups, backing, anchors, edges and flow.
//!
//! The graph of keys is small beside the signals that make it, but dense with dependencies: a
//! share depends on all its siblings, a class on the rounds before. One machine for each network
//! keeps it and recomputes, round by round, what a change reaches: the rounding of shares and
//! masses stops most changes after one hop.

mod explain;

pub use explain::{Explanation, Incoming};

mod edges;
mod rounds;

use crate::decay::AgedPair;
use crate::incremental::{Changes, Machine};
use crate::origins::{Allegiance, Groups, ROUNDS, Rounds, Standing};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use wats_model::fixed::{Fixed, ONE};
use wats_model::ids::{EventId, GroupId, KeyId, NetworkId, OwnerId};
use wats_model::policy::{Config, Policy};
use wats_model::views::MAX_SUGGESTED;

/// Something the trust graph is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
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
    /// The same, however old; the multiplicity is the number of posts.
    ReliedOnce(KeyId),
}

/// What the trust graph says.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// Of a key.
    Standing(KeyId, Standing),
    /// Of a network.
    Temper(NetworkId, Temper),
}

/// A network as a whole: what its label is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Temper {
    /// `cold > 0`.
    pub cold: bool,
    /// See [`wats_model::views::NetworkView::suggested`].
    pub suggested: Vec<KeyId>,
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
    /// The reader will not hear it.
    distrusted: bool,
    /// `age`, when it has held events.
    age: Option<Fixed>,
    work: i64,
    owner: Option<OwnerId>,
    group: Option<GroupId>,
    vouched_by_reader: i64,
    relied: i64,
    /// Its posts that own profiles accepted or used, however long ago.
    relied_once: i64,
    seed: Fixed,
    /// What it adds to `S`: its seed, without decay.
    warmth: Fixed,
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
    /// Shares as they were, by whose they are.
    shares: FxHashMap<KeyId, FxHashMap<KeyId, Fixed>>,
    /// Keys whose standing may differ.
    stale: FxHashSet<KeyId>,
    /// Keys that an own profile began or ceased to vouch for.
    vouched: FxHashSet<KeyId>,
}

/// A network as a whole.
#[derive(Default)]
struct Realm {
    /// `S`: the seeds, without decay, of keys that are not own profiles.
    warmth: i64,
    cold: i64,
    aged: FxHashSet<KeyId>,
    profile_owners: FxHashMap<OwnerId, i64>,
    /// Keys that a vouch by the reader would help, by trust.
    strangers: BTreeSet<(Fixed, KeyId)>,
    shown: Option<Temper>,
}

impl Realm {
    fn temper(&self) -> Temper {
        let most = self.strangers.last().map(|(trust, _)| *trust);
        let ties = self.strangers.iter().rev().take_while(|(trust, _)| Some(*trust) == most);
        let mut suggested: Vec<KeyId> = ties.take(MAX_SUGGESTED + 1).map(|(_, key)| *key).collect();
        if suggested.len() > MAX_SUGGESTED {
            suggested.clear();
        }
        suggested.reverse();
        Temper { cold: self.cold > 0, suggested }
    }
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
            node.distrusted = self.config.distrusted(network).contains(&key);
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

    /// `s(k)` of a key relied on so much.
    fn seed(&self, node: &Node, relied: i64) -> Fixed {
        if node.distrusted {
            return Fixed::ZERO;
        }
        let most = self.policy().seed_vouched;
        let vouched = if node.vouched_by_reader > 0 { most } else { Fixed::ZERO };
        let relied = most.scale(relied, relied.saturating_add(ONE.0));
        if node.profile { ONE } else { relied.max(vouched) }
    }

    fn reseed(&mut self) {
        for key in std::mem::take(&mut self.touched.seeds) {
            let node = self.node(key);
            let once = node.relied_once.saturating_mul(ONE.0);
            let seed = self.seed(node, node.relied);
            let warmth = if node.profile { Fixed::ZERO } else { self.seed(node, once) };
            let (before, warmth_before, network) = (node.seed, node.warmth, node.network);
            self.node_mut(key).warmth = warmth;
            self.realms.entry(network).or_default().warmth += warmth.0 - warmth_before.0;
            if seed != before {
                self.node_mut(key).seed = seed;
                self.touched.stale.insert(key);
                self.touched.keys.insert(key);
            }
        }
        let until = self.policy().cold_until.0;
        for realm in self.realms.values_mut() {
            let cold = (16 * i128::from((until - realm.warmth).max(0)) / i128::from(until)) as i64;
            if cold != realm.cold {
                realm.cold = cold;
                self.touched.stale.extend(realm.aged.iter());
            }
        }
    }

    fn floor(&self, node: &Node) -> Fixed {
        let (Some(age), false) = (node.age, node.profile || node.distrusted) else {
            return Fixed::ZERO;
        };
        let cold = self.realms.get(&node.network).map_or(0, |r| r.cold);
        let bonus = age.scale(node.work, node.work + self.policy().work_half).0 / 2;
        Fixed((age.0 + bonus) * cold / 16)
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

    /// Shows another standing of a key, and counts it among those that a vouch would help.
    fn show(&mut self, key: KeyId, standing: Option<Standing>) -> Option<Standing> {
        let node = &mut self.nodes[key.0 as usize];
        let realm = self.realms.entry(node.network).or_default();
        let before = std::mem::replace(&mut node.shown, standing);
        if let Some(before) = &before {
            realm.strangers.remove(&(before.trust, key));
        }
        let helped = !node.profile && !node.distrusted && node.vouched_by_reader == 0;
        let trust = node.shown.as_ref().map(|standing| standing.trust);
        if let Some(trust) = trust.filter(|trust| helped && *trust > Fixed::ZERO) {
            realm.strangers.insert((trust, key));
        }
        before
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
    type Change = (NetworkId, Input);
    type View = Output;

    fn apply(&mut self, (network, told): (NetworkId, Input), diff: i64) {
        self.realms.entry(network).or_default();
        match told {
            Input::Profile(key) => {
                self.open(network, key).profile = diff > 0;
                self.touched.owners.insert(key);
                self.touched.seeds.insert(key);
                self.touched.stale.insert(key);
            }
            Input::Age(key, age) => {
                self.open(network, key).age = (diff > 0).then_some(age);
                let aged = &mut self.realms.entry(network).or_default().aged;
                if diff > 0 && age > Fixed::ZERO {
                    aged.insert(key)
                } else {
                    aged.remove(&key)
                };
                self.touched.stale.insert(key);
            }
            Input::Work(key) => {
                self.open(network, key).work += diff;
                self.touched.stale.insert(key);
            }
            Input::Owner(key, owner) => {
                self.open(network, key);
                self.told_owner(key, owner, diff > 0);
            }
            Input::Vouch(a, b) => {
                self.open_edge(network, a, b).vouched = diff > 0;
                if self.config.profiles(network).contains(&a) {
                    self.node_mut(b).vouched_by_reader += diff;
                    self.touched.seeds.insert(b);
                    self.touched.vouched.insert(b);
                }
            }
            Input::Backing(a, b) => self.open_edge(network, a, b).value += diff,
            Input::Relied(key) => {
                self.open(network, key).relied += diff;
                self.touched.seeds.insert(key);
            }
            Input::ReliedOnce(key) => {
                self.open(network, key).relied_once += diff;
                self.touched.seeds.insert(key);
            }
        }
    }

    fn emit(&mut self, out: &mut Vec<(Output, i64)>) {
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
                let before = self.show(key, standing.clone());
                out.extend(before.map(|s| (Output::Standing(key, s), -1)));
                out.extend(standing.map(|s| (Output::Standing(key, s), 1)));
            }
        }
        // A vouch by the reader may leave the trust as it is.
        for key in std::mem::take(&mut self.touched.vouched) {
            let standing = self.node(key).shown.clone();
            self.show(key, standing);
        }
        for (network, realm) in &mut self.realms {
            let temper = Some(realm.temper());
            if temper != realm.shown {
                let before = std::mem::replace(&mut realm.shown, temper.clone());
                out.extend(before.map(|t| (Output::Temper(*network, t), -1)));
                out.extend(temper.map(|t| (Output::Temper(*network, t), 1)));
            }
        }
        self.touched = Touched::default();
    }
}

/// Backing (section 3): the largest value of accept, confirm and use for each pair, in the multiplicity.
pub fn backing<'s>(aged: Changes<'s, AgedPair>, config: Arc<Config>) -> Changes<'s, (NetworkId, Input)> {
    aged.explode(move |p| {
        let value = p.support(&config.policy).0;
        (value > 0).then_some(((p.pair.network, Input::Backing(p.pair.by, p.pair.to)), value))
    })
}

/// What own profiles accept and use (section 3, *Seeds* and *Cold start*): the largest decay for each
/// post, and the number of posts, in the multiplicity.
pub fn relied_on<'s>(aged: Changes<'s, AgedPair>, config: Arc<Config>) -> Changes<'s, (NetworkId, Input)> {
    let own = aged.flat_map(move |p| {
        let own = config.profiles(p.pair.network).contains(&p.pair.by);
        let relied = p.relied().filter(|_| own)?;
        Some(((p.pair.on, p.pair.network, p.pair.to), relied))
    });
    let largest: Changes<'s, ((EventId, NetworkId, KeyId), Fixed)> =
        own.reduce_named("most relied on", |_, relied, output| {
            output.extend(relied.last().map(|(most, _)| (**most, 1)));
        });
    let once = largest.clone().map(|((_, network, to), _)| (network, Input::ReliedOnce(to)));
    let decayed = largest
        .explode(|((_, network, to), most)| (most.0 > 0).then_some(((network, Input::Relied(to)), most.0)));
    once.concat(decayed)
}
