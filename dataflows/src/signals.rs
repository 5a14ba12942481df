//! Section 2: what a key says about an event, read off its reacts, replies and citations.
//!
//! State is kept for each pair of a key A and a target X; a change re-reads that pair alone.

use crate::ids::{EventId, KeyId, Millis, NetworkId, Stamp};
use crate::incremental::Machine;
use crate::policy::{Config, Policy};
use crate::small::SmallMap;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Something said about the event it is keyed by, or about that event itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Told {
    /// The target is held.
    Target(Target),
    /// The target is in the thread of an ask.
    Asked(Asked),
    /// A key reacts.
    React(ReactOn),
    /// The artifact that this react's evidence points to can be read.
    Artifact {
        /// The react's author.
        by: KeyId,
        /// The react.
        react: EventId,
    },
    /// This react names an own event in its `refs`: the first one that is held and post-like.
    Names {
        /// The author of both.
        by: KeyId,
        /// The react.
        react: EventId,
        /// The event it names.
        own: EventId,
    },
    /// A post-like event has the target as `parent` or in `refs`.
    Citing(Citing),
}

/// A held post-like event or react.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Target {
    /// Its network.
    pub network: NetworkId,
    /// Its author.
    pub author: KeyId,
    /// Whether it is post-like; otherwise it is a react.
    pub post: bool,
    /// Its `created_at`.
    pub created_at: Millis,
}

/// `thread(X) = Q`, where Q is an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Asked {
    /// The ask, Q.
    pub thread: EventId,
    /// Its author.
    pub asker: KeyId,
}

/// A react, as far as it is a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReactOn {
    /// The react's author.
    pub by: KeyId,
    /// The react.
    pub id: EventId,
    /// Its place in "latest".
    pub stamp: Stamp,
    /// When it was received.
    pub received_at: Millis,
    /// Its `value`, or 1 where use with evidence is read as that.
    pub value: Option<i8>,
    /// `accept`.
    pub accept: Option<bool>,
    /// `used`.
    pub used: Option<bool>,
    /// `still_valid` is true.
    pub still_valid: bool,
    /// Has non-empty evidence.
    pub evidence: bool,
    /// Attaches a blob.
    pub attaches: bool,
}

impl ReactOn {
    fn te(&self) -> Millis {
        self.stamp.created_at.min(self.received_at)
    }
}

/// A post-like event that has the target as `parent` or in `refs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Citing {
    /// When it was received: first, for the order in which replies can be arguments.
    pub received_at: Millis,
    /// Its place in "latest".
    pub stamp: Stamp,
    /// Its author.
    pub by: KeyId,
    /// The event.
    pub id: EventId,
    /// Its text is blank.
    pub blank: bool,
}

/// What the machine puts out for a pair.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Said {
    /// The signals of a key on a post-like event, but for the accept.
    Signals(PairSignals),
    /// The key contradicts the event.
    Contradiction(Contradiction),
    /// The asker's latest accept react on this answer says yes.
    Accept(Accept),
    /// A react that attaches a blob is part of what the key says.
    Attaching(Attaching),
}

/// The signals of a key on a post-like event, with their clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PairSignals {
    /// Who, on what, by whom.
    pub pair: Pair,
    /// The stance.
    pub stance: Option<(Stance, Millis)>,
    /// A use.
    pub used: Option<Millis>,
    /// A cite.
    pub cite: Option<Millis>,
}

/// A key, a target by another author, and that author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pair {
    /// The target, X.
    pub on: EventId,
    /// The key, A.
    pub by: KeyId,
    /// `author(X)`.
    pub to: KeyId,
    /// Their network.
    pub network: NetworkId,
}

/// A stance other than none (section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Stance {
    /// A confirm.
    Confirm {
        /// Some react of the run has artifact evidence.
        artifact: bool,
    },
    /// A bare +1.
    VoteUp,
    /// A contradiction.
    Contradiction {
        /// Some react of the run has artifact evidence.
        artifact: bool,
    },
    /// A bare -1.
    VoteDown,
}

/// A contradiction of X by A, with its arguments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Contradiction {
    /// A, X and `author(X)`.
    pub pair: Pair,
    /// X is post-like.
    pub on_post: bool,
    /// Its arguments, at least one, all by A.
    pub arguments: Vec<Argument>,
}

/// An event that argues for a contradiction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Argument {
    /// The event, Y.
    pub event: EventId,
    /// Its place in "latest".
    pub stamp: Stamp,
    /// It is a react with evidence.
    pub evidence: bool,
    /// The own event that it rests on, for a react without evidence.
    pub rests_on: Option<EventId>,
}

/// An accept that would count if it is the asker's latest in the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Accept {
    /// The ask.
    pub thread: EventId,
    /// The asker's latest accept react on this answer.
    pub latest: Stamp,
    /// The asker, the answer and its author.
    pub pair: Pair,
    /// The signal's clock.
    pub clock: Millis,
}

/// A react that attaches a blob, while it is by an own profile or belongs to a confirm or contradiction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Attaching {
    /// The react.
    pub react: EventId,
    /// Its target, post-like.
    pub on: EventId,
    /// Its author.
    pub by: KeyId,
    /// It is by an own profile, which needs no weight.
    pub own: bool,
}

/// What one key has said about one event.
#[derive(Default)]
struct Words {
    /// Sorted by `stamp`; cut to the latest `max_reacts` when a tick settles.
    reacts: Vec<ReactOn>,
    /// Sorted by (`received_at`, id).
    citing: Vec<Citing>,
    /// What is known of some reacts.
    more: Option<Box<More>>,
}

#[derive(Default)]
struct More {
    artifacts: FxHashSet<EventId>,
    names: FxHashMap<EventId, EventId>,
}

impl Words {
    fn has_artifact(&self, react: &ReactOn) -> bool {
        react.evidence && self.more.as_ref().is_some_and(|m| m.artifacts.contains(&react.id))
    }

    fn own_event(&self, react: &ReactOn) -> Option<EventId> {
        self.more.as_ref().and_then(|m| m.names.get(&react.id).copied())
    }

    fn considered(&self, policy: &Policy) -> &[ReactOn] {
        &self.reacts[self.reacts.len().saturating_sub(policy.max_reacts)..]
    }
}

/// What is known of a target.
#[derive(Default)]
struct About {
    target: Option<Target>,
    asked: Option<Asked>,
    speakers: SmallMap<KeyId, ()>,
}

/// The machine of section 2.
pub struct Signals {
    config: Arc<Config>,
    targets: FxHashMap<EventId, About>,
    words: FxHashMap<(EventId, KeyId), Words>,
    /// The pairs touched in this tick, with what was said of them before it.
    touched: FxHashMap<(EventId, KeyId), Vec<Said>>,
}

impl Signals {
    /// With nothing said.
    pub fn new(config: Arc<Config>) -> Signals {
        Signals {
            config,
            targets: FxHashMap::default(),
            words: FxHashMap::default(),
            touched: FxHashMap::default(),
        }
    }

    fn touch(&mut self, on: EventId, by: KeyId) {
        if !self.touched.contains_key(&(on, by)) {
            let said = self.read(on, by);
            self.touched.insert((on, by), said);
        }
    }

    fn touch_all(&mut self, on: EventId) {
        let speakers: Vec<KeyId> = match self.targets.get(&on) {
            Some(about) => about.speakers.iter().map(|(k, _)| *k).collect(),
            None => return,
        };
        for by in speakers {
            self.touch(on, by);
        }
    }

    fn read(&self, on: EventId, by: KeyId) -> Vec<Said> {
        let (Some(about), Some(words)) = (self.targets.get(&on), self.words.get(&(on, by))) else {
            return Vec::new();
        };
        let Some(target) = about.target else {
            return Vec::new();
        };
        let own = self.config.profiles(target.network).contains(&by);
        let reading = Reading {
            policy: &self.config.policy,
            pair: Pair { on, by, to: target.author, network: target.network },
            target,
            asked: about.asked,
            words,
            reacts: words.considered(&self.config.policy),
        };
        reading.all(own)
    }
}

impl Machine for Signals {
    type Change = (EventId, Told);
    type View = Said;

    fn apply(&mut self, (on, told): (EventId, Told), diff: i64) {
        let here = diff > 0;
        match told {
            Told::Target(target) => {
                self.touch_all(on);
                self.targets.entry(on).or_default().target = here.then_some(target);
            }
            Told::Asked(asked) => {
                self.touch_all(on);
                self.targets.entry(on).or_default().asked = here.then_some(asked);
            }
            Told::React(react) => {
                let words = self.words_of(on, react.by);
                let at = words.reacts.binary_search_by_key(&(react.stamp, react.id), |r| (r.stamp, r.id));
                match (at, here) {
                    (Err(at), true) => words.reacts.insert(at, react),
                    (Ok(at), true) => words.reacts[at] = react,
                    (Ok(at), false) => drop(words.reacts.remove(at)),
                    (Err(_), false) => {}
                }
            }
            Told::Citing(citing) => {
                let words = self.words_of(on, citing.by);
                match (words.citing.binary_search(&citing), here) {
                    (Err(at), true) => words.citing.insert(at, citing),
                    (Ok(at), false) => drop(words.citing.remove(at)),
                    _ => {}
                }
            }
            Told::Artifact { by, react } => {
                let more = self.words_of(on, by).more.get_or_insert_default();
                if here {
                    more.artifacts.insert(react)
                } else {
                    more.artifacts.remove(&react)
                };
            }
            Told::Names { by, react, own } => {
                let more = self.words_of(on, by).more.get_or_insert_default();
                if here {
                    more.names.insert(react, own)
                } else {
                    more.names.remove(&react)
                };
            }
        }
    }

    fn settle(&mut self, out: &mut Vec<(Said, i64)>) {
        for ((on, by), before) in std::mem::take(&mut self.touched) {
            if let Some(words) = self.words.get_mut(&(on, by)) {
                let old = words.reacts.len().saturating_sub(self.config.policy.max_reacts);
                words.reacts.drain(..old);
            }
            out.extend(before.into_iter().map(|said| (said, -1)));
            out.extend(self.read(on, by).into_iter().map(|said| (said, 1)));
        }
    }
}

impl Signals {
    fn words_of(&mut self, on: EventId, by: KeyId) -> &mut Words {
        self.touch(on, by);
        self.targets.entry(on).or_default().speakers.insert(by, ());
        self.words.entry((on, by)).or_default()
    }
}

/// One reading of a pair.
struct Reading<'a> {
    policy: &'a Policy,
    pair: Pair,
    target: Target,
    asked: Option<Asked>,
    words: &'a Words,
    reacts: &'a [ReactOn],
}

impl Reading<'_> {
    fn all(&self, own: bool) -> Vec<Said> {
        let mut said = Vec::new();
        if self.pair.by == self.pair.to {
            if own {
                self.attaching(own, &[], false, &mut said);
            }
            return said;
        }
        let valued: Vec<ReactOn> = self.reacts.iter().filter(|r| r.value.is_some()).copied().collect();
        let run = suffix(&valued, |r| r.value == valued.last().and_then(|l| l.value));
        let (stance, arguments) = self.stance(run);
        let argued = matches!(stance, Some((Stance::Confirm { .. } | Stance::Contradiction { .. }, _)));
        if self.target.post {
            let against = matches!(stance, Some((Stance::Contradiction { .. } | Stance::VoteDown, _)));
            let signals = PairSignals {
                pair: self.pair,
                stance,
                used: self.standing_flag(|r| r.used).map(|(_, clock)| clock),
                cite: if against { None } else { self.cite() },
            };
            if signals.stance.is_some() || signals.used.is_some() || signals.cite.is_some() {
                said.push(Said::Signals(signals));
            }
            said.extend(self.accept().map(Said::Accept));
            self.attaching(own, run, argued, &mut said);
        }
        if !arguments.is_empty() {
            said.push(Said::Contradiction(Contradiction {
                pair: self.pair,
                on_post: self.target.post,
                arguments,
            }));
        }
        said
    }

    /// The stance of a run, with the arguments of a contradiction.
    fn stance(&self, run: &[ReactOn]) -> (Option<(Stance, Millis)>, Vec<Argument>) {
        let Some(last) = run.last() else {
            return (None, Vec::new());
        };
        let artifact = run.iter().any(|r| self.words.has_artifact(r));
        let evident = || run.iter().filter(|r| r.evidence).map(ReactOn::te);
        match last.value {
            Some(1) => match evident().min() {
                Some(origin) => {
                    (Some((Stance::Confirm { artifact }, self.renewed(origin, evident()))), Vec::new())
                }
                None => (Some((Stance::VoteUp, last.te())), Vec::new()),
            },
            Some(-1) => {
                let arguments = self.arguments(run);
                let origin = run.iter().map(ReactOn::te).min().unwrap_or_default();
                if arguments.is_empty() {
                    (Some((Stance::VoteDown, last.te())), arguments)
                } else {
                    (Some((Stance::Contradiction { artifact }, self.renewed(origin, evident()))), arguments)
                }
            }
            _ => (None, Vec::new()),
        }
    }

    /// The arguments of a contradiction with this run: of the few that may argue at all, by arrival
    /// and reacts first, those that argue for this run.
    fn arguments(&self, run: &[ReactOn]) -> Vec<Argument> {
        let lead =
            |first: &ReactOn| Millis(first.stamp.created_at.0.saturating_sub(self.policy.reply_lead.0));
        let against = || self.reacts.iter().filter(|r| r.value == Some(-1));
        let (Some(run_first), Some(first)) = (run.first(), against().next()) else {
            return Vec::new();
        };
        let mut reacts: Vec<&ReactOn> =
            against().filter(|r| r.evidence || self.words.own_event(r).is_some()).collect();
        reacts.sort_by_key(|r| (r.received_at, r.stamp.tie, r.id));
        let reacts = reacts.into_iter().map(|r| {
            let rests_on = if r.evidence { None } else { self.words.own_event(r) };
            let argument = Argument { event: r.id, stamp: r.stamp, evidence: r.evidence, rests_on };
            (argument, r.stamp >= run_first.stamp)
        });
        let replies = self.replies(lead(first)).map(|c| {
            let argument = Argument { event: c.id, stamp: c.stamp, evidence: false, rests_on: None };
            (argument, c.stamp.created_at >= lead(run_first))
        });
        let may_argue = reacts.chain(replies).take(self.policy.max_arguments);
        may_argue.filter_map(|(argument, of_this_run)| of_this_run.then_some(argument)).collect()
    }

    /// Non-blank replies created at `from` or later, by arrival.
    fn replies(&self, from: Millis) -> impl Iterator<Item = &Citing> {
        // Sorted by arrival and then by stamp, of which only the id orders here: ties are rare.
        let mut replies: Vec<&Citing> = Vec::new();
        let mut last_arrival = None;
        for c in self.words.citing.iter().filter(|c| !c.blank && c.stamp.created_at >= from) {
            if replies.len() >= self.policy.max_arguments && last_arrival != Some(c.received_at) {
                break;
            }
            last_arrival = Some(c.received_at);
            replies.push(c);
        }
        replies.sort_by_key(|c| (c.received_at, c.stamp.tie, c.id));
        replies.into_iter()
    }

    /// A boolean member's longest suffix of `true`: (its latest react, the signal's clock).
    fn standing_flag(&self, flag: impl Fn(&ReactOn) -> Option<bool>) -> Option<(Stamp, Millis)> {
        let carrying: Vec<ReactOn> = self.reacts.iter().filter(|r| flag(r).is_some()).copied().collect();
        let run = suffix(&carrying, |r| flag(r) == Some(true));
        let origin = run.iter().map(ReactOn::te).min()?;
        Some((run.last()?.stamp, self.renewed(origin, run.iter().map(ReactOn::te))))
    }

    fn accept(&self) -> Option<Accept> {
        let asked = self.asked.filter(|a| a.asker == self.pair.by && a.thread != self.pair.on)?;
        let (latest, clock) = self.standing_flag(|r| r.accept)?;
        Some(Accept { thread: asked.thread, latest, pair: self.pair, clock })
    }

    fn cite(&self) -> Option<Millis> {
        let citing = self.words.citing.iter().filter(|c| c.stamp.created_at > self.target.created_at);
        citing.map(|c| c.stamp.created_at.min(c.received_at)).min()
    }

    /// The clock: the origin, moved by each renewal at least 30 days after the previous clock.
    fn renewed(&self, origin: Millis, same_signal: impl Iterator<Item = Millis>) -> Millis {
        let still_valid = self.reacts.iter().filter(|r| r.still_valid).map(ReactOn::te);
        let mut candidates: Vec<Millis> = still_valid.chain(same_signal).filter(|te| *te > origin).collect();
        candidates.sort_unstable();
        candidates.into_iter().fold(
            origin,
            |clock, te| {
                if te >= clock.after(self.policy.renewal) { te } else { clock }
            },
        )
    }

    fn attaching(&self, own: bool, run: &[ReactOn], argued: bool, said: &mut Vec<Said>) {
        if !self.target.post {
            return;
        }
        let reacts = if own {
            self.reacts
        } else if argued {
            run
        } else {
            &[]
        };
        for react in reacts.iter().filter(|r| r.attaches) {
            said.push(Said::Attaching(Attaching {
                react: react.id,
                on: self.pair.on,
                by: self.pair.by,
                own,
            }));
        }
    }
}

/// The longest suffix whose elements all satisfy `test`.
fn suffix<T>(all: &[T], test: impl Fn(&T) -> bool) -> &[T] {
    let from = all.iter().rposition(|x| !test(x)).map_or(0, |at| at + 1);
    &all[from..]
}
