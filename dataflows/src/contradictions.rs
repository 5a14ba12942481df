//! Section 4: which contradictions count, and what stands after the arguments are weighed.
//!
//! The machine keeps who is heard about each event, and the argument graph of what counts, both in
//! proportion to what was said. A post's framework is built when something within its three steps
//! changes, but for arguments that nobody disputes. Frameworks overlap; to keep them all would take
//! the square of the graph.

mod crowd;

use crate::argument_graph::{At, Graph, Link};
use crate::incremental::Machine;
use crate::labelling::{Framework, Label, Node, Who};
use crate::origins::{Place, Standing};
use crate::signals::{Argument, Contradiction};
use crate::small_map::SmallMap;
use crowd::{Crowd, Heard, Known};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;
use wats_model::fixed::Fixed;
use wats_model::ids::{EventId, GroupId, KeyId, NetworkId, Stamp};
use wats_model::policy::Config;

/// Something the argument graph is made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// A contradiction.
    Contradiction(Contradiction),
    /// What is known of a key.
    Standing(KeyId, Standing),
    /// The key contradicts so many posts that stand for something: `n(A)`, beyond what it has full
    /// force for.
    Spread(KeyId, i64),
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
    /// The key's contradiction of this react is rebutted, in the framework of the post that the react
    /// is on. Only the run by weight tells that: it is for section 5.
    Refuted(EventId, KeyId),
}

impl Found {
    /// The event it is about.
    pub fn on(&self) -> EventId {
        match self {
            Found::Verdict(verdict) => verdict.on,
            Found::Rebuttals(on, _) | Found::Refuted(on, _) => *on,
        }
    }
}

/// The contradictions of an event, and how they are weighed, for explanations.
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
    /// `force(A)`.
    pub force: Fixed,
    /// The key has the force, and in the run that asks for one the voice, to be heard.
    pub heard: bool,
    /// Its assertions count.
    pub counts: bool,
}

/// The contradictions of one event.
#[derive(Default)]
struct Target {
    author: Option<KeyId>,
    post: bool,
    critics: SmallMap<KeyId, Vec<Argument>>,
    crowd: Crowd,
    /// What was put out.
    shown: SmallMap<KeyId, Verdict>,
    rebuttals: u32,
    /// Contradictions of reacts on the post that were put out as rebutted: react and critic.
    refuted: BTreeSet<(EventId, KeyId)>,
}

/// The machine of section 4, for one of its two runs.
pub struct Contradictions {
    config: Arc<Config>,
    with_voice: bool,
    targets: FxHashMap<EventId, Target>,
    graph: Graph,
    keys: FxHashMap<KeyId, Known>,
    /// `n(A)` of those who contradict much.
    spread: FxHashMap<KeyId, i64>,
    voices: FxHashSet<KeyId>,
    /// For each key, the events it contradicts or wrote, that are contradicted.
    concerns: FxHashMap<KeyId, BTreeSet<EventId>>,
    /// Contradictions, by event and critic, that changed in this tick.
    touched: FxHashSet<(EventId, KeyId)>,
    /// Keys whose weight, trust or voice changed: what they assert may count, or no longer.
    reweighed: FxHashSet<KeyId>,
    /// Keys whose group or class changed: they may be partial to others than before.
    replaced: FxHashSet<KeyId>,
}

/// What is to be judged anew, by place in the graph.
#[derive(Default)]
struct Doubtful {
    /// Posts with all their disputed contradictions.
    posts: FxHashSet<At>,
    /// Contradictions, by post and critic.
    single: FxHashSet<(At, KeyId)>,
}

impl Contradictions {
    /// The first run, or the second, in which a critic also needs a voice.
    pub fn new(config: Arc<Config>, with_voice: bool) -> Contradictions {
        Contradictions {
            config,
            with_voice,
            targets: FxHashMap::default(),
            graph: Graph::default(),
            keys: FxHashMap::default(),
            spread: FxHashMap::default(),
            voices: FxHashSet::default(),
            concerns: FxHashMap::default(),
            touched: FxHashSet::default(),
            reweighed: FxHashSet::default(),
            replaced: FxHashSet::default(),
        }
    }

    /// `force(A)`.
    pub fn force(&self, key: KeyId) -> Fixed {
        let Some(known) = self.keys.get(&key) else { return Fixed::ZERO };
        match self.spread.get(&key) {
            Some(n) if !known.own => known.weight.scale(self.config.policy.full_force, *n).rounded(),
            _ => known.weight,
        }
    }

    /// What is known of a key that may be heard in this run: of enough force, and voice.
    fn heard(&self, key: KeyId) -> Option<Heard> {
        let known = self.keys.get(&key)?;
        let (force, w_min) = (self.force(key), self.config.policy.w_min);
        let voice = !self.with_voice || self.voices.contains(&key);
        (force.min(known.weight) >= w_min && voice).then(|| Heard::new(known, force))
    }

    /// `weight(author(X))`, against which critics of X are weighed.
    fn needed(&self, target: &Target) -> Fixed {
        target.author.and_then(|author| self.keys.get(&author)).map_or(Fixed::ZERO, |k| k.weight)
    }

    /// Who contradicts an event, and whether that counts; none when nobody does.
    pub fn criticism(&self, event: EventId) -> Option<Criticism> {
        let target = self.targets.get(&event).filter(|t| !t.critics.is_empty())?;
        let mut critics: Vec<Critic> = target
            .critics
            .iter()
            .map(|(by, arguments)| Critic {
                by: *by,
                arguments: arguments.clone(),
                force: self.force(*by),
                heard: target.crowd.hears(*by),
                counts: target.crowd.counts(*by),
            })
            .collect();
        critics.sort_unstable_by_key(|c| c.by);
        Some(Criticism {
            author: target.author?,
            needed: self.needed(target),
            joint: target.crowd.joint(),
            critics,
        })
    }

    /// Where a key stands in a framework.
    fn who(&self, key: KeyId) -> Who {
        let alone = GroupId::Alone(key);
        let unknown = (Place { group: alone, class: alone, heavy: false }, false);
        self.keys.get(&key).map_or(unknown, |known| (known.place(), known.own))
    }

    /// The framework of a post, written out: what an explanation is read from.
    pub fn framework(&self, post: EventId) -> Vec<Node> {
        let Some(at) = self.graph.at(post) else {
            return vec![Node { event: post, depth: 0, label: Label::In, assertions: Vec::new() }];
        };
        let who = |key| self.who(key);
        let mut framework = Framework::default();
        framework.label(&self.graph, at, &who);
        framework.written_out(&self.graph, &who)
    }

    /// What became of a key's contradiction of a post; `framework` is the post's, unless all its
    /// arguments are plain.
    fn verdict(
        &self,
        on: At,
        by: KeyId,
        framework: Option<&Framework>,
        rebuttals: &mut Rebuttals,
    ) -> Option<Verdict> {
        let post = self.graph.vertex(on).event;
        let target = self.targets.get(&post).filter(|t| t.crowd.counts(by))?;
        let arguments = target.critics.get(&by)?;
        let label = |at: At| framework.and_then(|f| f.label_of(at)).unwrap_or(Label::In);
        let labelled = arguments.iter().filter_map(|y| Some((self.graph.at(y.event)?, y)));
        let labelled: Vec<(Label, At, &Argument)> = labelled.map(|(at, y)| (label(at), at, y)).collect();
        let strongest = labelled.iter().map(|(label, ..)| *label).min()?;
        let mut evidence = false;
        if let Some(framework) = framework {
            for (_, at, _) in &labelled {
                evidence |= self.rebut(*at, framework, rebuttals);
            }
        }
        let outcome = match strongest {
            Label::In => Outcome::Stands,
            Label::Undec => Outcome::Undecided,
            Label::Out => Outcome::Rebutted { evidence },
        };
        let quoted = labelled.iter().filter(|(label, ..)| *label == strongest).map(|(_, _, y)| Quoted {
            bare: !y.evidence,
            stamp: y.stamp,
            event: y.rests_on.unwrap_or(y.event),
        });
        Some(Verdict { on: post, to: target.author?, by, outcome, argument: quoted.min()? })
    }

    /// Counts the arguments that are IN and attack an argument against the post; whether some of them
    /// is a react with evidence. All arguments at a front have the same.
    fn rebut(&self, at: At, framework: &Framework, rebuttals: &mut Rebuttals) -> bool {
        let fronts = framework.fronts(at);
        if let Some(evidence) = rebuttals.evidence.get(&fronts) {
            return *evidence;
        }
        let mut evidence = false;
        framework.defeaters(&self.graph, at, &|key| self.who(key), |y| {
            evidence |= self.graph.vertex(y).evidence;
            rebuttals.events.insert(y);
        });
        rebuttals.evidence.insert(fronts, evidence);
        evidence
    }

    fn told_contradiction(&mut self, told: Contradiction, here: bool) {
        let (on, by, to) = (told.pair.on, told.pair.by, told.pair.to);
        self.touched.insert((on, by));
        let target = self.targets.entry(on).or_default();
        target.author = Some(to);
        target.post = told.pair.on_post;
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
    fn told_standing(&mut self, key: KeyId, standing: &Standing, here: bool) {
        if !here {
            return;
        }
        let own = self.config.profiles(standing.network).contains(&key);
        let known = Known::new(standing, own);
        let before = self.keys.insert(key, known);
        if before.map(|k| k.place()) != Some(known.place()) {
            self.replaced.insert(key);
        }
        if before != Some(known) {
            self.reweighed.insert(key);
        }
    }

    /// Hears all critics that were touched or weigh other than before, and weighs them against the
    /// authors; returns the contradictions that may argue other than before.
    fn weigh(&mut self) -> FxHashSet<(EventId, KeyId)> {
        let mut touched = std::mem::take(&mut self.touched);
        let mut events: FxHashSet<EventId> = touched.iter().map(|(on, _)| *on).collect();
        for key in std::mem::take(&mut self.reweighed) {
            for on in self.concerns.get(&key).into_iter().flatten() {
                events.insert(*on);
                if self.targets.get(on).is_some_and(|t| t.critics.get(&key).is_some()) {
                    touched.insert((*on, key));
                }
            }
        }
        for (on, by) in &touched {
            let heard = self.heard(*by);
            if let Some(target) = self.targets.get_mut(on) {
                let heard = target.critics.get(by).and(heard);
                target.crowd.set(*by, heard);
            }
        }
        let factor = self.config.policy.critic_factor;
        for on in events {
            let Some(needed) = self.targets.get(&on).map(|t| self.needed(t)) else { continue };
            if let Some(target) = self.targets.get_mut(&on) {
                touched.extend(target.crowd.weigh(needed, factor).into_iter().map(|by| (on, by)));
            }
        }
        touched
    }

    /// The arguments of a contradiction, if it counts.
    fn links(&self, on: EventId, by: KeyId) -> Vec<Link> {
        let target = self.targets.get(&on).filter(|t| t.crowd.counts(by));
        let arguments = target.and_then(|t| t.critics.get(&by)).into_iter().flatten();
        let link = |y: &Argument| Link { event: y.event, evidence: y.evidence, rests_on: y.rests_on };
        let mut links: Vec<Link> = arguments.map(link).collect();
        links.sort_unstable();
        links
    }

    /// Brings the graph up to date; returns what must be judged anew, by the old graph and the new.
    fn reargue(&mut self, touched: FxHashSet<(EventId, KeyId)>) -> Doubtful {
        let mut changed: Vec<(At, KeyId, Vec<Link>)> = Vec::new();
        let mut doubtful = Doubtful::default();
        let mut events: FxHashSet<At> = FxHashSet::default();
        for (on, by) in touched {
            let links = self.links(on, by);
            let at = self.graph.at(on);
            let Some(target) = self.targets.get(&on) else { continue };
            if at.map_or(links.is_empty(), |at| self.graph.links(at, by) == links) {
                // A contradiction of a react that does not count by itself may argue by way of what the
                // react rests on.
                events.extend(at.filter(|_| !self.with_voice && !target.post));
                continue;
            }
            let at = self.graph.place(on, target.author.unwrap_or(by));
            self.graph.argued_as(at, target.post);
            changed.push((at, by, links));
        }
        events.extend(changed.iter().map(|(on, ..)| *on));
        self.graph.posts_around(&events, &mut doubtful.posts);
        for (on, by, links) in changed {
            let disputed = self.graph.disputed(on, by);
            self.graph.relink(on, by, &links);
            if disputed || self.graph.disputed(on, by) {
                doubtful.posts.insert(on);
            }
            doubtful.single.insert((on, by));
        }
        self.graph.posts_around(&events, &mut doubtful.posts);
        for (on, by) in self.graph.turned() {
            doubtful.posts.insert(on);
            doubtful.single.insert((on, by));
        }
        doubtful
    }

    /// Keys that stand elsewhere may argue in their own cause, or no longer.
    fn replaced(&mut self, doubtful: &mut Doubtful) {
        let keys = std::mem::take(&mut self.replaced);
        let concerned = keys.iter().filter_map(|k| self.concerns.get(k)).flatten();
        let concerned = concerned.filter_map(|on| self.graph.at(*on));
        let concerned: FxHashSet<At> = concerned.filter(|on| self.graph.vertex(*on).attacked()).collect();
        self.graph.posts_around(&concerned, &mut doubtful.posts);
        doubtful.posts.extend(concerned);
    }

    /// Judges a post's contradictions by these keys, and with a framework all that are disputed.
    fn judge(
        &mut self,
        on: At,
        mut keys: BTreeSet<KeyId>,
        framework: Option<&Framework>,
        out: &mut Vec<(Found, i64)>,
    ) {
        if framework.is_some() {
            keys.extend(self.graph.vertex(on).open.iter().map(|(by, _)| *by));
        }
        let mut rebuttals = Rebuttals::default();
        let verdicts = keys.into_iter().map(|by| (by, self.verdict(on, by, framework, &mut rebuttals)));
        let verdicts: Vec<(KeyId, Option<Verdict>)> = verdicts.collect();
        let post = self.graph.vertex(on).event;
        let Some(target) = self.targets.get_mut(&post).filter(|t| t.post) else { return };
        for (by, verdict) in verdicts {
            let before = target.shown.get(&by).copied();
            if before == verdict {
                continue;
            }
            out.extend(before.map(|v| (Found::Verdict(v), -1)));
            out.extend(verdict.map(|v| (Found::Verdict(v), 1)));
            match verdict {
                Some(verdict) => target.shown.insert(by, verdict),
                None => drop(target.shown.remove(&by)),
            }
        }
        let count = rebuttals.events.len() as u32;
        if framework.is_some() && count != target.rebuttals {
            let before = std::mem::replace(&mut target.rebuttals, count);
            out.extend((before > 0).then_some((Found::Rebuttals(post, before), -1)));
            out.extend((count > 0).then_some((Found::Rebuttals(post, count), 1)));
        }
    }

    /// Judges the contradictions of the reacts that argue against a post, in its framework.
    fn judge_reacts(&mut self, on: At, framework: &Framework, out: &mut Vec<(Found, i64)>) {
        let mut refuted = BTreeSet::new();
        for (_, at) in &self.graph.vertex(on).open {
            let event = self.graph.vertex(*at).event;
            let Some(react) = self.targets.get(&event).filter(|target| !target.post) else { continue };
            let critics = react.critics.iter();
            let rebutted = critics.filter(|(by, arguments)| self.rebutted(*at, **by, arguments, framework));
            refuted.extend(rebutted.map(|(by, _)| (event, *by)));
        }
        let post = self.graph.vertex(on).event;
        let Some(target) = self.targets.get_mut(&post) else { return };
        let before = std::mem::replace(&mut target.refuted, refuted);
        let gone = before.difference(&target.refuted).map(|(react, by)| (Found::Refuted(*react, *by), -1));
        out.extend(gone);
        let new = target.refuted.difference(&before).map(|(react, by)| (Found::Refuted(*react, *by), 1));
        out.extend(new);
    }

    /// A key's contradiction of a node argues with assertions that remain, and all its arguments are OUT.
    fn rebutted(&self, node: At, by: KeyId, arguments: &[Argument], framework: &Framework) -> bool {
        let attacking = arguments.iter().filter_map(|y| self.graph.at(y.event));
        let mut attacking = attacking.filter(|y| self.graph.attacks(by, *y, node)).peekable();
        let out = |y: At| framework.label_of(y) == Some(Label::Out);
        attacking.peek().is_some() && framework.argues(node, self.who(by)) && attacking.all(out)
    }
}

/// What rebuts the contradictions of a post.
#[derive(Default)]
struct Rebuttals {
    events: FxHashSet<At>,
    /// By the fronts at which an argument is attacked: some of it is a react with evidence.
    evidence: FxHashMap<[Option<u32>; 2], bool>,
}

impl Machine for Contradictions {
    type Change = (NetworkId, Input);
    type View = Found;

    fn apply(&mut self, (_, told): (NetworkId, Input), diff: i64) {
        match told {
            Input::Contradiction(contradiction) => self.told_contradiction(contradiction, diff > 0),
            Input::Standing(key, standing) => self.told_standing(key, &standing, diff > 0),
            Input::Spread(key, n) => {
                if diff > 0 {
                    self.spread.insert(key, n);
                } else {
                    self.spread.remove(&key);
                }
                self.reweighed.insert(key);
            }
            Input::Voice(key) => {
                if diff > 0 {
                    self.voices.insert(key)
                } else {
                    self.voices.remove(&key)
                };
                self.reweighed.insert(key);
            }
        }
    }

    fn emit(&mut self, out: &mut Vec<(Found, i64)>) {
        let touched = self.weigh();
        let mut doubtful = self.reargue(touched);
        self.replaced(&mut doubtful);
        let mut single: FxHashMap<At, BTreeSet<KeyId>> = FxHashMap::default();
        for (on, by) in doubtful.single {
            single.entry(on).or_default().insert(by);
        }
        let mut framework = Framework::default();
        let posts = doubtful.posts.into_iter().filter(|on| self.graph.vertex(*on).post);
        for on in posts.collect::<Vec<At>>() {
            framework.label(&self.graph, on, &|key| self.who(key));
            let keys = single.remove(&on).unwrap_or_default();
            self.judge(on, keys, Some(&framework), out);
            if !self.with_voice {
                self.judge_reacts(on, &framework, out);
            }
        }
        for (on, keys) in single {
            self.judge(on, keys, None, out);
        }
    }
}
