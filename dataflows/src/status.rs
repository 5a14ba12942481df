//! Section 6: the status of a post, its score, its counts and why; and what sections 7 and 8 read off
//! the same signals.

use crate::aging::{Aged, AgedPair};
use crate::contradictions::{Found, Outcome, Quoted, Verdict};
use crate::fixed::Fixed;
use crate::ids::{EventId, GroupId, KeyId, Millis, Stamp};
use crate::incremental::Machine;
use crate::origins::{Allegiance, Place, Tally, Voices};
use crate::policy::{Config, Policy};
use crate::reputation::Voter;
use crate::signals::Stance;
use crate::small::SmallMap;
use crate::views::{Counts, PostView, Status, Why};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

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

/// Everything the view is read from, kept up to date by additions and removals.
#[derive(Default)]
struct Sums {
    positive: Tally,
    negative: Tally,
    accepts: Voices,
    confirmations: Voices,
    uses: Voices,
    cites: SmallMap<GroupId, i64>,
    votes_up: SmallMap<GroupId, i64>,
    votes_down: SmallMap<GroupId, i64>,
    /// The clocks of supporting signals, all and live.
    support: BTreeMap<Millis, i64>,
    live: i64,
    /// Signals within the 180 days of section 8.
    recent: i64,
    /// Live supporters that take part: through confirm, through confirm or use, through anything.
    confirming: Voices,
    relying: Voices,
    supporting: Voices,
    /// Those through confirm or use.
    reliers: SmallMap<KeyId, i64>,
    asker: Option<KeyId>,
}

impl Sums {
    /// Empties the sums, keeping their memory.
    fn clear(&mut self) {
        [&mut self.positive, &mut self.negative].into_iter().for_each(Tally::clear);
        [&mut self.accepts, &mut self.confirmations, &mut self.uses].into_iter().for_each(Voices::clear);
        [&mut self.confirming, &mut self.relying, &mut self.supporting].into_iter().for_each(Voices::clear);
        [&mut self.cites, &mut self.votes_up, &mut self.votes_down].into_iter().for_each(SmallMap::clear);
        self.support.clear();
        self.reliers.clear();
        (self.live, self.recent, self.asker) = (0, 0, None);
    }

    /// Adds what a key's entry says (`by` = 1), or takes it out again (-1), given the same verdict
    /// and author.
    fn add(
        &mut self,
        k: KeyId,
        entry: &Entry,
        verdict: Option<&Verdict>,
        author: &Place,
        by: i64,
        policy: &Policy,
    ) {
        let voter = &entry.voter;
        let value = against(entry, verdict, policy);
        if let Some(value) = value {
            tally(&mut self.negative, k, entry, value, by);
        }
        if voter.has_weight && entry.pair.vote(Stance::VoteDown).is_some() {
            self.votes_down.add(voter.allegiance.class, by);
        }
        if voter.place().partial_to(author) {
            return;
        }
        if let Some(value) = in_favour(entry, policy) {
            tally(&mut self.positive, k, entry, value, by);
        }
        if voter.has_weight {
            self.count(k, entry, by, policy);
        }
    }

    fn count(&mut self, k: KeyId, entry: &Entry, by: i64, policy: &Policy) {
        let (pair, allegiance) = (&entry.pair, &*entry.voter.allegiance);
        let confirm = pair.confirm(policy).map(|(aged, _)| aged);
        let voice = |voices: &mut Voices, there: bool| {
            if there {
                voices.add(allegiance, by);
            }
        };
        voice(&mut self.accepts, pair.accept.is_some());
        voice(&mut self.confirmations, confirm.is_some());
        voice(&mut self.uses, pair.used.is_some());
        if entry.voter.takes_part {
            let live = |aged: Option<Aged>| aged.is_some_and(|a| a.live(policy));
            let relying = live(confirm) || live(pair.used);
            voice(&mut self.confirming, live(confirm));
            voice(&mut self.relying, relying);
            voice(&mut self.supporting, relying || live(pair.accept));
            if relying {
                self.reliers.add(k, by);
            }
            if live(pair.accept) {
                self.asker = (by > 0).then_some(k);
            }
        }
        if pair.cite.is_some() {
            self.cites.add(allegiance.class, by);
        }
        if pair.vote(Stance::VoteUp).is_some() {
            self.votes_up.add(allegiance.class, by);
        }
        for aged in pair.supports() {
            let count = self.support.entry(aged.clock).or_default();
            *count += by;
            if *count == 0 {
                self.support.remove(&aged.clock);
            }
            self.live += if aged.live(policy) { by } else { 0 };
        }
        self.recent += by * pair.supports().chain(pair.cite).filter(|a| a.recent).count() as i64;
    }
}

fn tally(tally: &mut Tally, k: KeyId, entry: &Entry, value: Fixed, by: i64) {
    let value = entry.voter.voice.times(value);
    if by > 0 {
        tally.add(k, &entry.voter.allegiance, value);
    } else {
        tally.remove(k, &entry.voter.allegiance, value);
    }
}

/// The largest value of an entry's positive signals.
fn in_favour(entry: &Entry, policy: &Policy) -> Option<Fixed> {
    let pair = &entry.pair;
    let cite = pair.cite.map(|a| a.value(policy.base_cite));
    let vote = pair.vote(Stance::VoteUp).map(|a| a.value(policy.base_vote));
    let support = pair.supports().next().map(|_| pair.support(policy));
    [support, cite, vote].into_iter().flatten().max()
}

/// The value of an entry's negative signal: a vote down, or a contradiction if it stands.
fn against(entry: &Entry, verdict: Option<&Verdict>, policy: &Policy) -> Option<Fixed> {
    if let Some(vote) = entry.pair.vote(Stance::VoteDown) {
        return Some(vote.value(policy.base_vote));
    }
    let (aged, base) = entry.pair.contradiction(policy)?;
    verdict.filter(|v| v.outcome == Outcome::Stands)?;
    Some(aged.value(base))
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

    /// Judges the post; `scratch` is memory for the sums of a post that keeps none.
    fn judge(&mut self, post: EventId, scratch: &mut Sums, policy: &Policy) -> Option<Judged> {
        self.author.as_ref()?;
        if self.entries.len() <= KEPT {
            self.sums = None;
            scratch.clear();
            self.sum_up(scratch, policy);
            return self.judged(post, scratch, policy);
        }
        let sums = self.sums.take().unwrap_or_else(|| {
            let mut sums = Box::<Sums>::default();
            self.sum_up(&mut sums, policy);
            sums
        });
        let judged = self.judged(post, &sums, policy);
        self.sums = Some(sums);
        judged
    }

    fn judged(&self, post: EventId, sums: &Sums, policy: &Policy) -> Option<Judged> {
        let (author, standing) = self.author.as_ref()?;
        let latest_support = sums.support.keys().next_back().copied();
        let contest = self.contest(latest_support, policy);
        let status = if contest.keys > 0 {
            Status::Contested
        } else if sums.live > 0 {
            Status::Confirmed
        } else if latest_support.is_some() {
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
            why: self.why(status, &contest),
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

    /// The contradictions that stand or are undecided and are not outlived.
    fn contest(&self, latest_support: Option<Millis>, policy: &Policy) -> Contest {
        let mut contest = Contest::default();
        for (k, verdict) in self.verdicts.iter() {
            let Some(verdict) = verdict else { continue };
            if let Outcome::Rebutted { evidence } = verdict.outcome {
                contest.rebutted = Some(contest.rebutted.unwrap_or(false) || evidence);
                continue;
            }
            let Some(entry) = self.entries.get(k).and_then(Option::as_ref) else {
                continue;
            };
            let Some((aged, _)) = entry.pair.contradiction(policy) else {
                continue;
            };
            if !aged.live(policy) && latest_support.is_some_and(|clock| clock > aged.clock) {
                continue;
            }
            contest.keys += 1;
            contest.voices.add(&entry.voter.allegiance, 1);
            let quoted = (verdict.outcome != Outcome::Stands, verdict.argument);
            contest.quoted = Some(contest.quoted.map_or(quoted, |q| q.min(quoted)));
        }
        contest
    }

    fn why(&self, status: Status, contest: &Contest) -> Option<Why> {
        match (status, contest.quoted, contest.rebutted) {
            (Status::Contested, Some((undecided, quoted)), _) => Some(Why::Contradicted {
                keys: contest.keys,
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

#[derive(Default)]
struct Contest {
    keys: u32,
    voices: Voices,
    /// (only undecided, the argument to quote).
    quoted: Option<(bool, Quoted)>,
    /// A contradiction was rebutted, with evidence or not.
    rebutted: Option<bool>,
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
