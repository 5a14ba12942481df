//! Section 4: which contradictions count, and what stands after the arguments are weighed.
//!
//! The machine keeps the argument graph of a network as it is, in proportion to what was said, and
//! builds a post's framework when something within its three steps changes. Frameworks overlap; to
//! keep them all would take the square of the graph.

use crate::fixed::Fixed;
use crate::ids::{EventId, KeyId, NetworkId, Stamp};
use crate::incremental::Machine;
use crate::labelling::{Framework, Label};
use crate::origins::{Standing, Tally};
use crate::policy::Config;
use crate::signals::{Argument, Contradiction};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How far arguments are followed from a post.
pub const DEPTH: usize = 3;

/// Something the argument graph is made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Told {
    /// A contradiction.
    Contradiction(Contradiction),
    /// What is known of a key.
    Standing(KeyId, Standing),
    /// The key has a voice, in the run that asks for one.
    Voice(KeyId),
}

/// What became of a contradiction of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Verdict {
    /// The post.
    pub on: EventId,
    /// Its author.
    pub to: KeyId,
    /// Who contradicts it.
    pub by: KeyId,
    /// What became of it.
    pub outcome: Outcome,
    /// The argument to quote: of the strongest label, reacts with evidence first, then the earliest.
    pub argument: Quoted,
}

/// An argument in the order in which one is quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Quoted {
    /// Not a react with evidence.
    pub bare: bool,
    /// Its place in "latest".
    pub stamp: Stamp,
    /// The event, or the one that it rests on: a react without evidence has nothing to quote.
    pub event: EventId,
}

/// The outcome of a contradiction that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Outcome {
    /// One of its arguments is IN.
    Stands,
    /// None is IN and one is UNDEC.
    Undecided,
    /// All are OUT.
    Rebutted {
        /// A react with evidence is among what defeated them.
        evidence: bool,
    },
}

/// What the machine puts out for a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Found {
    /// A contradiction that is not ignored.
    Verdict(Verdict),
    /// So many arguments that are IN attack the arguments of its contradictions.
    Rebuttals(EventId, u32),
}

impl Found {
    /// The post it is about.
    pub fn post(&self) -> EventId {
        match self {
            Found::Verdict(verdict) => verdict.on,
            Found::Rebuttals(post, _) => *post,
        }
    }
}

/// A counting assertion on some event: A argues with Y.
pub type Assertion = (KeyId, EventId);

/// The contradictions of an event, and how they are weighed: for whoever asks.
#[derive(Clone, Debug)]
pub struct Criticism {
    /// Its author.
    pub author: KeyId,
    /// The author's weight: twice a critic's, or twice what they have together, must reach it.
    pub needed: Fixed,
    /// `joint(X)`.
    pub joint: Fixed,
    /// Those who contradict it.
    pub critics: Vec<Critic>,
}

/// A contradiction of an event.
#[derive(Clone, Debug)]
pub struct Critic {
    /// Who contradicts.
    pub by: KeyId,
    /// With what.
    pub arguments: Vec<Argument>,
    /// The key has the weight, and in the run that asks for one the voice, to be heard.
    pub heard: bool,
    /// Its assertions count.
    pub counts: bool,
}

/// The contradictions of one event.
#[derive(Default)]
struct Target {
    author: Option<KeyId>,
    post: bool,
    critics: BTreeMap<KeyId, Vec<Argument>>,
    /// The counting assertions on it, those on what it rests on included.
    attacks: BTreeSet<Assertion>,
    found: Vec<Found>,
}

/// The machine of section 4, for one of its two runs.
pub struct Contradictions {
    config: Arc<Config>,
    with_voice: bool,
    targets: FxHashMap<EventId, Target>,
    keys: FxHashMap<KeyId, Standing>,
    voices: FxHashSet<KeyId>,
    /// Arguments: who makes them, and whether they are reacts with evidence.
    authors: FxHashMap<EventId, (KeyId, bool)>,
    /// For each event, the arguments that rest on it; and for each of those, the event.
    resting: FxHashMap<EventId, BTreeSet<EventId>>,
    rests_on: FxHashMap<EventId, EventId>,
    /// For each argument, the events it argues against by a counting assertion.
    against: FxHashMap<EventId, BTreeSet<EventId>>,
    /// For each key, the events it contradicts or wrote, that are contradicted.
    concerns: FxHashMap<KeyId, BTreeSet<EventId>>,
    /// Events whose contradictions changed in this tick.
    dirty_targets: FxHashSet<EventId>,
    /// Keys whose weight, trust or voice changed: what they assert may count, or no longer.
    reweighed: FxHashSet<KeyId>,
    /// Keys whose group or class changed: they may be partial to others than before.
    replaced: FxHashSet<KeyId>,
}

impl Contradictions {
    /// The first run, or the second, in which a critic also needs a voice.
    pub fn new(config: Arc<Config>, with_voice: bool) -> Contradictions {
        Contradictions {
            config,
            with_voice,
            targets: FxHashMap::default(),
            keys: FxHashMap::default(),
            voices: FxHashSet::default(),
            authors: FxHashMap::default(),
            resting: FxHashMap::default(),
            rests_on: FxHashMap::default(),
            against: FxHashMap::default(),
            concerns: FxHashMap::default(),
            dirty_targets: FxHashSet::default(),
            reweighed: FxHashSet::default(),
            replaced: FxHashSet::default(),
        }
    }

    /// The standing of a key that may be heard in this run: of enough weight, and voice.
    fn heard(&self, key: KeyId) -> Option<&Standing> {
        let standing = self.keys.get(&key)?;
        let voice = !self.with_voice || self.voices.contains(&key);
        (standing.weight() >= self.config.policy.w_min && voice).then_some(standing)
    }

    /// `weight(author(X))`, against which critics of X are weighed.
    fn needed(&self, target: &Target) -> Fixed {
        target.author.and_then(|author| self.keys.get(&author)).map_or(Fixed::ZERO, Standing::weight)
    }

    /// `joint(X)`.
    fn joint(&self, target: &Target) -> Fixed {
        let mut joint = Tally::default();
        for (key, standing) in target.critics.keys().filter_map(|k| Some((*k, self.heard(*k)?))) {
            joint.add(key, &standing.allegiance, standing.trust);
        }
        joint.sum()
    }

    /// The counting assertions on an event itself.
    fn counting(&self, target: &Target) -> BTreeSet<Assertion> {
        let needed = i128::from(self.needed(target).0);
        let factor = i128::from(self.config.policy.critic_factor);
        let alone = |standing: &Standing| factor * i128::from(standing.weight().0) >= needed;
        let heard = || target.critics.iter().filter_map(|(key, ys)| Some((*key, ys, self.heard(*key)?)));
        // What all may do alone need not be asked of all together.
        let together = !heard().all(|(_, _, standing)| alone(standing))
            && factor * i128::from(self.joint(target).0) >= needed;
        let counting = heard().filter(|(_, _, standing)| together || alone(standing));
        counting.flat_map(|(key, ys, _)| ys.iter().map(move |y| (key, y.event))).collect()
    }

    /// Who contradicts an event, and whether that counts; none when nobody does.
    pub fn criticism(&self, event: EventId) -> Option<Criticism> {
        let target = self.targets.get(&event).filter(|t| !t.critics.is_empty())?;
        let counting = self.counting(target);
        let critics = target.critics.iter().map(|(by, arguments)| Critic {
            by: *by,
            arguments: arguments.clone(),
            heard: self.heard(*by).is_some(),
            counts: arguments.iter().any(|y| counting.contains(&(*by, y.event))),
        });
        Some(Criticism {
            author: target.author?,
            needed: self.needed(target),
            joint: self.joint(target),
            critics: critics.collect(),
        })
    }

    /// Who makes an argument.
    pub fn arguer(&self, argument: EventId) -> Option<KeyId> {
        self.authors.get(&argument).map(|(key, _)| *key)
    }

    /// The counting assertions on an event, by its own critics and by those of what it rests on.
    fn attacks(&self, event: EventId) -> BTreeSet<Assertion> {
        let mut attacks = self.targets.get(&event).map(|t| self.counting(t)).unwrap_or_default();
        if let Some(target) = self.rests_on.get(&event).and_then(|t| self.targets.get(t)) {
            attacks.extend(self.counting(target));
        }
        attacks
    }

    fn set_attacks(&mut self, event: EventId, attacks: BTreeSet<Assertion>) {
        let target = self.targets.entry(event).or_default();
        for (_, y) in std::mem::replace(&mut target.attacks, attacks.clone()) {
            if let Some(against) = self.against.get_mut(&y) {
                against.remove(&event);
                if against.is_empty() {
                    self.against.remove(&y);
                }
            }
        }
        for (_, y) in attacks {
            self.against.entry(y).or_default().insert(event);
        }
    }

    /// Counts again what attacks each event, and adds the posts that a change reaches, by the old
    /// graph and by the new.
    fn reattack(&mut self, events: FxHashSet<EventId>, posts: &mut FxHashSet<EventId>) {
        let counted = events.into_iter().map(|event| (event, self.attacks(event)));
        let differs = |(event, attacks): &(EventId, BTreeSet<Assertion>)| {
            self.targets.get(event).map_or(!attacks.is_empty(), |t| t.attacks != *attacks)
        };
        let changed: Vec<(EventId, BTreeSet<Assertion>)> = counted.filter(differs).collect();
        let events: FxHashSet<EventId> = changed.iter().map(|(event, _)| *event).collect();
        self.posts_around(&events, posts);
        for (event, attacks) in changed {
            self.set_attacks(event, attacks);
        }
        self.posts_around(&events, posts);
    }

    /// Adds the posts whose framework reaches one of `events`.
    fn posts_around(&self, events: &FxHashSet<EventId>, posts: &mut FxHashSet<EventId>) {
        let mut seen = events.clone();
        let mut last: Vec<EventId> = events.iter().copied().collect();
        for _ in 0..=DEPTH {
            posts.extend(last.iter().filter(|e| self.targets.get(e).is_some_and(|t| t.post)));
            let next = last.iter().filter_map(|e| self.against.get(e)).flatten().copied();
            last = next.filter(|e| seen.insert(*e)).collect();
        }
    }

    /// The framework of a post, as it is now: what `why` and an explanation are read from.
    pub fn framework(&self, post: EventId) -> Framework {
        let author =
            |event: EventId| self.arguer(event).or_else(|| self.targets.get(&event).and_then(|t| t.author));
        let partial = |a: KeyId, b: KeyId| match (self.keys.get(&a), self.keys.get(&b)) {
            _ if a == b => true,
            (Some(a), Some(b)) => {
                let w_min = self.config.policy.w_min;
                a.place(w_min).partial_to(&b.place(w_min))
            }
            _ => false,
        };
        let network = self.targets.get(&post).and_then(|t| t.author).and_then(|a| self.keys.get(&a));
        let profiles = self.config.profiles(network.map_or(NetworkId(0), |s| s.network));
        let mut framework = Framework::reach(post, DEPTH, |x| {
            self.targets.get(&x).map(|t| t.attacks.iter().copied().collect()).unwrap_or_default()
        });
        framework.drop_own_causes(author, partial, |a| profiles.contains(&a));
        framework.label();
        framework
    }

    /// What the framework of a post finds about its contradictions.
    fn find(&self, post: EventId) -> Vec<Found> {
        let Some(target) = self.targets.get(&post).filter(|t| t.post && !t.attacks.is_empty()) else {
            return Vec::new();
        };
        let framework = self.framework(post);
        let Some(to) = target.author else {
            return Vec::new();
        };
        let mut found: Vec<Found> = Vec::new();
        let mut rebuttals: BTreeSet<EventId> = BTreeSet::new();
        for (by, arguments) in &target.critics {
            let remaining = arguments.iter().filter(|y| target.attacks.contains(&(*by, y.event)));
            let labelled: Vec<(Label, &Argument)> =
                remaining.map(|y| (framework.label_of(y.event), y)).collect();
            let Some(strongest) = labelled.iter().map(|(label, _)| *label).min() else {
                continue;
            };
            let mut defeaters: BTreeSet<EventId> = BTreeSet::new();
            for (_, y) in &labelled {
                let attackers = framework.attackers(y.event);
                defeaters.extend(attackers.filter(|z| framework.label_of(*z) == Label::In));
            }
            let outcome = match strongest {
                Label::In => Outcome::Stands,
                Label::Undec => Outcome::Undecided,
                Label::Out => Outcome::Rebutted { evidence: defeaters.iter().any(|z| self.evident(*z)) },
            };
            rebuttals.extend(defeaters);
            let quoted = labelled.iter().filter(|(label, _)| *label == strongest).map(|(_, y)| Quoted {
                bare: !y.evidence,
                stamp: y.stamp,
                event: y.rests_on.unwrap_or(y.event),
            });
            let argument = quoted.min().expect("the strongest label belongs to an argument");
            found.push(Found::Verdict(Verdict { on: post, to, by: *by, outcome, argument }));
        }
        if !rebuttals.is_empty() {
            found.push(Found::Rebuttals(post, rebuttals.len() as u32));
        }
        found
    }

    fn evident(&self, argument: EventId) -> bool {
        self.authors.get(&argument).is_some_and(|(_, evidence)| *evidence)
    }

    fn told_contradiction(&mut self, told: Contradiction, here: bool) {
        let (on, by, to) = (told.pair.on, told.pair.by, told.pair.to);
        self.dirty_targets.insert(on);
        let target = self.targets.entry(on).or_default();
        target.author = Some(to);
        target.post = told.on_post;
        for argument in &told.arguments {
            if here {
                self.authors.insert(argument.event, (by, argument.evidence));
            }
            if let Some(rest) = argument.rests_on {
                self.dirty_targets.insert(argument.event);
                let resting = self.resting.entry(rest).or_default();
                if here {
                    resting.insert(argument.event);
                    self.rests_on.insert(argument.event, rest);
                } else {
                    resting.remove(&argument.event);
                    self.rests_on.remove(&argument.event);
                }
            }
        }
        if here {
            target.critics.insert(by, told.arguments);
        } else {
            target.critics.remove(&by);
        }
        for key in [by, to] {
            self.concerns.entry(key).or_default().insert(on);
        }
    }

    /// A standing is replaced within a tick by its retraction and its successor; the key is kept in
    /// between, as its old place is what the new one is compared with.
    fn told_standing(&mut self, key: KeyId, standing: Standing, here: bool) {
        if !here {
            return;
        }
        let place = |s: &Standing| (s.allegiance.group, s.allegiance.class);
        let weight = |s: &Standing| (s.trust, s.weight());
        let before = self.keys.insert(key, standing);
        let (before, now) = (before.as_ref(), self.keys.get(&key));
        if before.map(place) != now.map(place) {
            self.replaced.insert(key);
            self.reweighed.insert(key);
        } else if before.map(weight) != now.map(weight) {
            self.reweighed.insert(key);
        }
    }
}

impl Machine for Contradictions {
    type Change = (NetworkId, Told);
    type View = Found;

    fn apply(&mut self, (_, told): (NetworkId, Told), diff: i64) {
        match told {
            Told::Contradiction(contradiction) => self.told_contradiction(contradiction, diff > 0),
            Told::Standing(key, standing) => self.told_standing(key, standing, diff > 0),
            Told::Voice(key) => {
                if diff > 0 {
                    self.voices.insert(key)
                } else {
                    self.voices.remove(&key)
                };
                self.reweighed.insert(key);
            }
        }
    }

    fn settle(&mut self, out: &mut Vec<(Found, i64)>) {
        let mut posts = FxHashSet::default();
        let mut recount = std::mem::take(&mut self.dirty_targets);
        self.posts_around(&recount, &mut posts);
        let concerned = |keys: &FxHashSet<KeyId>| -> FxHashSet<EventId> {
            keys.iter().filter_map(|k| self.concerns.get(k)).flatten().copied().collect()
        };
        recount.extend(concerned(&self.reweighed));
        let mut regrouped = concerned(&self.replaced);
        self.reweighed.clear();
        self.replaced.clear();
        for events in [&mut recount, &mut regrouped] {
            let resting: Vec<EventId> =
                events.iter().filter_map(|e| self.resting.get(e)).flatten().copied().collect();
            events.extend(resting);
        }
        self.posts_around(&regrouped, &mut posts);
        self.reattack(recount, &mut posts);
        for post in posts {
            let found = self.find(post);
            let Some(target) = self.targets.get_mut(&post) else {
                continue;
            };
            if found != target.found {
                let before = std::mem::replace(&mut target.found, found);
                let found = &target.found;
                out.extend(found.iter().filter(|f| !before.contains(f)).map(|f| (*f, 1)));
                out.extend(before.iter().filter(|f| !found.contains(f)).map(|f| (*f, -1)));
            }
        }
    }
}
