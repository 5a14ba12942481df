//! Section 6: the status of a post, its score, its counts and why; and what sections 7 and 8 read off
//! the same signals.

mod sums;

use crate::aging::AgedPair;
use crate::contradictions::{Found, Verdict};
use crate::ids::{EventId, KeyId, Stamp};
use crate::incremental::Machine;
use crate::origins::{Allegiance, Place};
use crate::policy::{Config, Policy};
use crate::reputation::Voter;
use crate::small::SmallMap;
use crate::views::{Counts, PostView, Status, Why};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use sums::{Contest, Sums};

/// Something said about a post.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Told {
    /// It is held; its place in "latest", its author and the author's place.
    Held(Stamp, KeyId, Place),
    /// The signals of a key that has a voice, however small.
    Pair(AgedPair, Voter),
    /// A verdict of the second run on a contradiction of it, or its rebuttals.
    Found(Found),
    /// It is young (section 8).
    Young,
}

/// A post, judged: its view, and what section 7 asks of its live supporters that take part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Judged {
    /// Its place in "latest".
    pub stamp: Stamp,
    /// What a reader sees.
    pub view: PostView,
    /// What knowledge is made of.
    pub support: Support,
}

/// The live supporters of a post that take part in knowledge: `trust >= W_MIN`, with weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Support {
    /// The accept on it *holds*: it is live, and its asker takes part and is not partial to the author.
    pub accept_holds: bool,
    /// Someone supports it through confirm or use who is not the asker, nor of its group or class.
    pub beyond_asker: bool,
    /// `independent` of those through confirm.
    pub confirming: u32,
    /// `independent` of those through confirm or use.
    pub relying: u32,
    /// `voices` of all, accepts included.
    pub voices: u32,
}

/// A key's signals on the post.
#[derive(Clone, Debug)]
struct Entry {
    pair: AgedPair,
    voter: Voter,
}

/// A post.
#[derive(Default)]
struct Post {
    stamp: Stamp,
    author: Option<(KeyId, Place)>,
    entries: SmallMap<KeyId, Option<Box<Entry>>>,
    verdicts: SmallMap<KeyId, Option<Verdict>>,
    rebuttals: u32,
    young: bool,
    /// Kept for a post with many entries; read anew for the others.
    sums: Option<Box<Sums>>,
    shown: Option<Judged>,
}

/// Keys on one post beyond which its sums are kept.
const KEPT: usize = 32;

impl Post {
    /// Changes what one key says, and the kept sums with it.
    fn change(&mut self, k: KeyId, policy: &Policy, change: impl FnOnce(&mut Post)) {
        self.resum(k, -1, policy);
        change(self);
        self.resum(k, 1, policy);
    }

    fn resum(&mut self, k: KeyId, by: i64, policy: &Policy) {
        if let Some(mut sums) = self.sums.take() {
            self.add_to(&mut sums, k, by, policy);
            self.sums = Some(sums);
        }
    }

    fn add_to(&self, sums: &mut Sums, k: KeyId, by: i64, policy: &Policy) {
        let (Some(entry), Some((_, author))) = (self.entries.get(&k), &self.author) else {
            return;
        };
        if let Some(entry) = entry {
            sums.add(k, entry, self.verdicts.get(&k).and_then(Option::as_ref), author, by, policy);
        }
    }

    fn sum_up(&self, sums: &mut Sums, policy: &Policy) {
        self.entries.iter().for_each(|(k, _)| self.add_to(sums, *k, 1, policy));
    }

    /// Takes the contradictions out that support has outlived, and puts back those that it has not.
    fn outlive(&self, sums: &mut Sums, policy: &Policy) {
        for (k, by) in sums.outlive() {
            if let Some(entry) = self.entries.get(&k).and_then(Option::as_ref) {
                sums.contest.add(k, entry, self.verdicts.get(&k).and_then(Option::as_ref), by, policy);
            }
        }
    }

    /// Judges the post; `scratch` is memory for the sums of a post that keeps none.
    fn judge(&mut self, post: EventId, scratch: &mut Sums, policy: &Policy) -> Option<Judged> {
        self.author.as_ref()?;
        if self.entries.len() <= KEPT {
            self.sums = None;
            scratch.clear();
            self.sum_up(scratch, policy);
            self.outlive(scratch, policy);
            return self.judged(post, scratch, policy);
        }
        let mut sums = self.sums.take().unwrap_or_else(|| {
            let mut sums = Box::<Sums>::default();
            self.sum_up(&mut sums, policy);
            sums
        });
        self.outlive(&mut sums, policy);
        let judged = self.judged(post, &sums, policy);
        self.sums = Some(sums);
        judged
    }

    fn judged(&self, post: EventId, sums: &Sums, policy: &Policy) -> Option<Judged> {
        let (author, standing) = self.author.as_ref()?;
        let contest = &sums.contest;
        let status = if contest.keys > 0 {
            Status::Contested
        } else if sums.live > 0 {
            Status::Confirmed
        } else if sums.latest_support().is_some() {
            Status::Stale
        } else {
            Status::Unverified
        };
        let counts = Counts {
            accepts: sums.accepts.count(),
            confirmations: sums.confirmations.count(),
            uses: sums.uses.count(),
            contradictions: contest.voices.count(),
            cites: sums.cites.len() as u32,
            votes_up: sums.votes_up.len() as u32,
            votes_down: sums.votes_down.len() as u32,
        };
        let replicas = match status {
            Status::Confirmed => policy.replicas_confirmed,
            _ if self.young || sums.recent > 0 => policy.replicas_recent,
            _ => 0,
        };
        let view = PostView {
            post,
            author: *author,
            status,
            score: sums.positive.sum() - sums.negative.sum(),
            counts,
            replicas,
            why: self.why(status, contest),
        };
        Some(Judged { stamp: self.stamp, view, support: self.support(sums, standing) })
    }

    fn support(&self, sums: &Sums, author: &Place) -> Support {
        let asker = sums.asker.and_then(|k| Some((k, &*self.entries.get(&k)?.as_ref()?.voter.allegiance)));
        let beyond = |(asker, of_asker): (KeyId, &Allegiance)| {
            let mut reliers =
                sums.reliers.iter().filter_map(|(k, _)| Some((*k, self.entries.get(k)?.as_ref()?)));
            reliers.any(|(k, entry)| {
                let allegiance = &entry.voter.allegiance;
                k != asker && allegiance.group != of_asker.group && allegiance.class != of_asker.class
            })
        };
        Support {
            accept_holds: asker.is_some(),
            beyond_asker: asker.is_some_and(beyond),
            confirming: sums.confirming.independent(author),
            relying: sums.relying.independent(author),
            voices: sums.supporting.count(),
        }
    }

    fn why(&self, status: Status, contest: &Contest) -> Option<Why> {
        match (status, contest.quoted(), contest.rebutted()) {
            (Status::Contested, Some((undecided, quoted)), _) => Some(Why::Contradicted {
                keys: contest.keys as u32,
                evidence: !quoted.bare,
                argument: quoted.event,
                rebuttals: self.rebuttals,
                stands: !undecided,
            }),
            (Status::Confirmed, _, Some(evidence)) => Some(Why::Rebutted { evidence }),
            _ => None,
        }
    }
}

/// The machine of section 6.
pub struct Statuses {
    config: Arc<Config>,
    posts: FxHashMap<EventId, Post>,
    touched: FxHashSet<EventId>,
    scratch: Sums,
}

impl Statuses {
    /// With no posts.
    pub fn new(config: Arc<Config>) -> Statuses {
        Statuses {
            config,
            posts: FxHashMap::default(),
            touched: FxHashSet::default(),
            scratch: Sums::default(),
        }
    }

    /// The keys that say something about a post: signals, what they are worth, and the verdict.
    pub fn voices_on(&self, post: EventId) -> Vec<(AgedPair, Voter, Option<Verdict>)> {
        let Some(post) = self.posts.get(&post) else {
            return Vec::new();
        };
        let entries = post.entries.iter().filter_map(|(k, entry)| Some((k, entry.as_ref()?)));
        entries
            .map(|(k, entry)| (entry.pair, entry.voter.clone(), post.verdicts.get(k).copied().flatten()))
            .collect()
    }
}

impl Machine for Statuses {
    type Change = (EventId, Told);
    type View = Judged;

    fn apply(&mut self, (on, told): (EventId, Told), diff: i64) {
        let (here, policy) = (diff > 0, &self.config.policy);
        self.touched.insert(on);
        let post = self.posts.entry(on).or_default();
        match told {
            Told::Held(stamp, key, place) => {
                // Whoever was partial to the author may no longer be: sum up anew.
                post.sums = None;
                post.stamp = stamp;
                post.author = here.then_some((key, place));
            }
            Told::Pair(pair, voter) => {
                let k = pair.pair.by;
                post.change(k, policy, |post| {
                    if here {
                        post.entries.insert(k, Some(Box::new(Entry { pair, voter })));
                    } else {
                        post.entries.remove(&k);
                    }
                });
            }
            Told::Found(Found::Verdict(verdict)) => post.change(verdict.by, policy, |post| {
                if here {
                    post.verdicts.insert(verdict.by, Some(verdict));
                } else {
                    post.verdicts.remove(&verdict.by);
                }
            }),
            Told::Found(Found::Rebuttals(_, count)) => post.rebuttals = if here { count } else { 0 },
            Told::Young => post.young = here,
        }
    }

    fn settle(&mut self, out: &mut Vec<(Judged, i64)>) {
        for id in std::mem::take(&mut self.touched) {
            let Some(post) = self.posts.get_mut(&id) else {
                continue;
            };
            let judged = post.judge(id, &mut self.scratch, &self.config.policy);
            if judged != post.shown {
                let before = std::mem::replace(&mut post.shown, judged.clone());
                out.extend(before.map(|j| (j, -1)));
                out.extend(judged.map(|j| (j, 1)));
            }
            if post.author.is_none() && post.entries.is_empty() && post.verdicts.is_empty() {
                self.posts.remove(&id);
            }
        }
    }
}
