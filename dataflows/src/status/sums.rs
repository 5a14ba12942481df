//! Section 6, what a post's view is read from: sums that each key's word is added to and taken out of.

use super::Entry;
use crate::aging::Aged;
use crate::contradictions::{Outcome, Quoted, Verdict};
use crate::fixed::Fixed;
use crate::ids::{GroupId, KeyId, Millis};
use crate::origins::{Place, Tally, Voices};
use crate::policy::Policy;
use crate::signals::Stance;
use crate::small::SmallMap;
use std::collections::{BTreeMap, BTreeSet};

/// Everything the view is read from, kept up to date by additions and removals.
#[derive(Default)]
pub(super) struct Sums {
    pub positive: Tally,
    pub negative: Tally,
    pub accepts: Voices,
    pub confirmations: Voices,
    pub uses: Voices,
    pub cites: SmallMap<GroupId, i64>,
    pub votes_up: SmallMap<GroupId, i64>,
    pub votes_down: SmallMap<GroupId, i64>,
    /// The clocks of supporting signals, all and live.
    support: BTreeMap<Millis, i64>,
    pub live: i64,
    /// Signals within the 180 days of section 8.
    pub recent: i64,
    /// Live supporters that take part: through confirm, through confirm or use, through anything.
    pub confirming: Voices,
    pub relying: Voices,
    pub supporting: Voices,
    /// Those through confirm or use.
    pub reliers: SmallMap<KeyId, i64>,
    pub asker: Option<KeyId>,
    /// The contradictions that are not outlived, as far as `outlived` says.
    pub contest: Contest,
    /// Contradictions that stand or are undecided and are not live, by clock.
    old: BTreeSet<(Millis, KeyId)>,
    /// Those with an earlier clock are outlived.
    outlived: Millis,
}

impl Sums {
    /// Empties the sums, keeping their memory.
    pub fn clear(&mut self) {
        [&mut self.positive, &mut self.negative].into_iter().for_each(Tally::clear);
        [&mut self.accepts, &mut self.confirmations, &mut self.uses].into_iter().for_each(Voices::clear);
        [&mut self.confirming, &mut self.relying, &mut self.supporting].into_iter().for_each(Voices::clear);
        [&mut self.cites, &mut self.votes_up, &mut self.votes_down].into_iter().for_each(SmallMap::clear);
        self.support.clear();
        self.reliers.clear();
        (self.live, self.recent, self.asker) = (0, 0, None);
        self.contest.clear();
        self.old.clear();
        self.outlived = Millis::default();
    }

    /// The latest clock of a supporting signal.
    pub fn latest_support(&self) -> Option<Millis> {
        self.support.keys().next_back().copied()
    }

    /// The contradictions that are outlived since this was last asked (-1), or no longer are (1).
    pub fn outlive(&mut self) -> Vec<(KeyId, i64)> {
        let latest = self.latest_support().unwrap_or_default();
        let before = std::mem::replace(&mut self.outlived, latest);
        let by = if latest > before { -1 } else { 1 };
        let turned = (before.min(latest), KeyId(0))..(before.max(latest), KeyId(0));
        self.old.range(turned).map(|(_, k)| (*k, by)).collect()
    }

    /// A contradiction that stands or is undecided is outlived when it is not live and some support has
    /// a later clock.
    fn contradict(&mut self, k: KeyId, entry: &Entry, verdict: &Verdict, by: i64, policy: &Policy) {
        let Some((aged, _)) = entry.pair.contradiction(policy) else {
            return;
        };
        if !aged.live(policy) && !matches!(verdict.outcome, Outcome::Rebutted { .. }) {
            if by > 0 {
                self.old.insert((aged.clock, k));
            } else {
                self.old.remove(&(aged.clock, k));
            }
            if aged.clock < self.outlived {
                return;
            }
        }
        self.contest.add(k, entry, Some(verdict), by, policy);
    }

    /// Adds what a key's entry says (`by` = 1), or takes it out again (-1), given the same verdict
    /// and author.
    pub fn add(
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
        if let Some(verdict) = verdict {
            self.contradict(k, entry, verdict, by, policy);
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
    let (value, place) = (entry.voter.voice.times(value), &*entry.voter.allegiance);
    if by > 0 {
        tally.add(k, place.group, place.class, value);
    } else {
        tally.remove(k, place.group, place.class, value);
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

/// The contradictions that contest a post, and those that were rebutted.
#[derive(Default)]
pub(super) struct Contest {
    /// How many contest it.
    pub keys: i64,
    /// Their voices.
    pub voices: Voices,
    /// (only undecided, the argument to quote, by whom).
    quoted: BTreeSet<(bool, Quoted, KeyId)>,
    /// How many were rebutted without evidence, and with.
    rebutted: [i64; 2],
}

impl Contest {
    /// Adds a contradiction that is not outlived, or takes it out again.
    pub fn add(&mut self, k: KeyId, entry: &Entry, verdict: Option<&Verdict>, by: i64, policy: &Policy) {
        let Some(verdict) = verdict else { return };
        if let Outcome::Rebutted { evidence } = verdict.outcome {
            self.rebutted[usize::from(evidence)] += by;
            return;
        }
        if entry.pair.contradiction(policy).is_none() {
            return;
        }
        self.keys += by;
        self.voices.add(&entry.voter.allegiance, by);
        let quoted = (verdict.outcome != Outcome::Stands, verdict.argument, k);
        if by > 0 {
            self.quoted.insert(quoted);
        } else {
            self.quoted.remove(&quoted);
        }
    }

    /// The argument to quote: whether it is only undecided, and which.
    pub fn quoted(&self) -> Option<(bool, Quoted)> {
        self.quoted.first().map(|(undecided, quoted, _)| (*undecided, *quoted))
    }

    /// A contradiction was rebutted: with evidence or not.
    pub fn rebutted(&self) -> Option<bool> {
        match self.rebutted {
            [0, 0] => None,
            [_, with] => Some(with > 0),
        }
    }

    fn clear(&mut self) {
        (self.keys, self.rebutted) = (0, [0, 0]);
        self.voices.clear();
        self.quoted.clear();
    }
}
