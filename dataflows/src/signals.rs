//! Section 2: what a key says about an event, read off its reacts, replies and citations.
//!
//! State is kept for each pair of a key A and a target X; a change re-reads that pair alone.

mod reading;
mod words;

use reading::Reading;
use words::Words;

use crate::incremental::Machine;
use crate::small_map::SmallMap;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use wats_model::ids::{EventId, KeyId, Millis, NetworkId, Stamp};
use wats_model::policy::Config;

/// Something said about the event it is keyed by, or about that event itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
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
    /// The target is its `parent`, whatever its `refs`.
    pub reply: bool,
}

/// What the machine puts out for a pair.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Output {
    /// The signals of a key, but for the accept: on a post-like event all, on a react a contradiction.
    Signals(PairSignals),
    /// The key contradicts the event.
    Contradiction(Contradiction),
    /// The asker's latest accept react on this answer says yes.
    Accept(Accept),
    /// A react that attaches a blob is part of what the key says.
    Attaching(Attaching),
}

/// The signals of a key on an event, with their clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PairSignals {
    /// The target and the key.
    pub pair: Pair,
    /// The stance.
    pub stance: Option<(Stance, Millis)>,
    /// A use.
    pub used: Option<Millis>,
    /// A cite.
    pub cite: Option<(Cite, Millis)>,
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
    /// X is post-like; otherwise it is a react.
    pub on_post: bool,
}

/// What a cite is by (section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Cite {
    /// By events that name the target in their `refs` and are no replies to it.
    Citation,
    /// By mere replies.
    Reply,
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

/// What is known of a target.
#[derive(Default)]
struct About {
    target: Option<Target>,
    /// Most events are no post in a thread, and nobody says anything about them.
    talk: Option<Box<Talk>>,
}

/// What there is to a target about which something is said.
#[derive(Default)]
struct Talk {
    asked: Option<Asked>,
    words: SmallMap<KeyId, Words>,
}

/// The machine of section 2.
pub struct Signals {
    config: Arc<Config>,
    targets: FxHashMap<EventId, About>,
    /// The pairs touched in this tick, with what was said of them before it.
    touched: FxHashMap<(EventId, KeyId), Vec<Output>>,
}

impl Signals {
    /// With nothing said.
    pub fn new(config: Arc<Config>) -> Signals {
        Signals { config, targets: FxHashMap::default(), touched: FxHashMap::default() }
    }

    fn touch(&mut self, on: EventId, by: KeyId) {
        if !self.touched.contains_key(&(on, by)) {
            let said = self.read(on, by);
            self.touched.insert((on, by), said);
        }
    }

    fn touch_all(&mut self, on: EventId) {
        let talk = self.targets.get(&on).and_then(|about| about.talk.as_ref());
        let speakers: Vec<KeyId> = talk.into_iter().flat_map(|t| t.words.iter()).map(|(k, _)| *k).collect();
        speakers.into_iter().for_each(|by| self.touch(on, by));
    }

    fn read(&self, on: EventId, by: KeyId) -> Vec<Output> {
        let Some(About { target: Some(target), talk: Some(talk) }) = self.targets.get(&on) else {
            return Vec::new();
        };
        let Some(words) = talk.words.get(&by) else {
            return Vec::new();
        };
        let (own, policy) = (self.config.profiles(target.network).contains(&by), &self.config.policy);
        let reacts = words.reacts();
        let reading = Reading {
            policy,
            pair: Pair { on, by, to: target.author, network: target.network, on_post: target.post },
            target: *target,
            asked: talk.asked,
            words,
            reacts: &reacts[reacts.len().saturating_sub(policy.max_reacts)..],
        };
        reading.all(own)
    }

    fn talk(&mut self, on: EventId) -> &mut Talk {
        self.targets.entry(on).or_default().talk.get_or_insert_default()
    }

    fn words_of(&mut self, on: EventId, by: KeyId) -> &mut Words {
        self.touch(on, by);
        self.talk(on).words.entry(by)
    }
}

impl Machine for Signals {
    type Change = (EventId, Input);
    type View = Output;

    fn apply(&mut self, (on, told): (EventId, Input), diff: i64) {
        let here = diff > 0;
        match told {
            Input::Target(target) => {
                self.touch_all(on);
                self.targets.entry(on).or_default().target = here.then_some(target);
            }
            Input::Asked(asked) => {
                self.touch_all(on);
                self.talk(on).asked = here.then_some(asked);
            }
            Input::React(react) => self.words_of(on, react.by).react(react, here),
            Input::Citing(citing) => self.words_of(on, citing.by).cite(citing, here),
            Input::Artifact { by, react } => self.words_of(on, by).artifact(react, here),
            Input::Names { by, react, own } => self.words_of(on, by).names(react, own, here),
        }
    }

    fn emit(&mut self, out: &mut Vec<(Output, i64)>) {
        for ((on, by), before) in std::mem::take(&mut self.touched) {
            let talk = self.targets.get_mut(&on).and_then(|about| about.talk.as_mut());
            if let Some(words) = talk.and_then(|talk| talk.words.get_mut(&by)) {
                words.cut(self.config.policy.max_reacts);
            }
            let after = self.read(on, by);
            let news = |said: &Output| !before.contains(said);
            out.extend(after.iter().filter(|said| news(said)).map(|said| (said.clone(), 1)));
            out.extend(before.into_iter().filter(|said| !after.contains(said)).map(|said| (said, -1)));
        }
    }
}
