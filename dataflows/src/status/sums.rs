//! Section 6, what a post's view is read from: sums that each key's word is added to and taken out of.

use crate::contradictions::{Outcome, Quoted, Verdict};
use crate::decay::{Aged, AgedPair};
use crate::origins::{Place, Tally, Values, Voices};
use crate::reputation::Voter;
use crate::signals::Stance;
use crate::small_map::SmallMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use wats_model::fixed::Fixed;
use wats_model::ids::{GroupId, KeyId, Millis};
use wats_model::policy::Policy;

/// What the signals of a key on a post say, as far as the post's status is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Word {
    /// The largest value of its positive signals.
    positive: Fixed,
    /// The value of its negative signal.
    negative: Fixed,
    /// The latest clock of its accept, confirm and use.
    supported: Millis,
    /// The clock of its contradiction.
    contradicted: Millis,
    stance: Option<Opinion>,
    /// There is an accept, and it is live; a use.
    accept: Option<bool>,
    used: Option<bool>,
    cite: bool,
    /// An accept, confirm, use or citation is within the 180 days of section 8.
    recent: bool,
}

/// A stance, and whether it is live where that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
enum Opinion {
    Confirm { live: bool },
    VoteUp,
    Contradiction { live: bool },
    VoteDown,
}

impl Word {
    /// What a key says.
    pub fn new(pair: &AgedPair, policy: &Policy) -> Word {
        let live = |aged: Aged| aged.live(policy);
        let stance = pair.stance.map(|(stance, aged)| match stance {
            Stance::Confirm { .. } => Opinion::Confirm { live: live(aged) },
            Stance::VoteUp => Opinion::VoteUp,
            Stance::Contradiction { .. } => Opinion::Contradiction { live: live(aged) },
            Stance::VoteDown => Opinion::VoteDown,
        });
        let vote = |which| pair.vote(which).map(|a| a.value(policy.base_vote));
        let support = pair.supports().next().map(|_| pair.support(policy));
        let contradiction = pair.contradiction(policy);
        let negative = contradiction.map(|(aged, base)| aged.value(base)).or(vote(Stance::VoteDown));
        Word {
            positive: [support, pair.cited(policy), vote(Stance::VoteUp)]
                .into_iter()
                .flatten()
                .max()
                .unwrap_or_default(),
            negative: negative.unwrap_or_default(),
            supported: pair.supports().map(|a| a.clock).max().unwrap_or_default(),
            contradicted: contradiction.map(|(aged, _)| aged.clock).unwrap_or_default(),
            stance,
            accept: pair.accept.map(live),
            used: pair.used.map(live),
            cite: pair.cite.is_some(),
            recent: pair.supports().chain(pair.citation(policy).map(|(aged, _)| aged)).any(|a| a.recent),
        }
    }

    /// Says the same as another, but for values that have decayed.
    pub(super) fn differs_in_values(&self, other: &Word) -> bool {
        Word { positive: other.positive, negative: other.negative, ..*self } == *other
    }

    fn supports(&self) -> bool {
        let confirm = matches!(self.stance, Some(Opinion::Confirm { .. }));
        confirm || self.accept.is_some() || self.used.is_some()
    }

    fn in_favour(&self) -> bool {
        self.supports() || self.cite || self.stance == Some(Opinion::VoteUp)
    }
}

/// What one key with weight says of a post, by all that it depends on.
pub(super) struct Said<'a> {
    pub k: KeyId,
    pub word: &'a Word,
    pub voter: &'a Voter,
    pub verdict: Option<&'a Verdict>,
}

impl Said<'_> {
    /// The value of its negative signal: a vote down, or a contradiction if it stands.
    fn against(&self) -> Option<Fixed> {
        let stands = || self.verdict.is_some_and(|v| v.outcome == Outcome::Stands);
        let counts = match self.word.stance? {
            Opinion::VoteDown => true,
            Opinion::Contradiction { .. } => stands(),
            Opinion::Confirm { .. } | Opinion::VoteUp => false,
        };
        counts.then_some(self.word.negative)
    }
}

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
    /// The latest clock of each key's support.
    support: Values<Millis>,
    /// Keys whose support is live.
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
    /// The contradictions but for those of `outlived`.
    pub contest: Contest,
    /// Contradictions that stand or are undecided and are not live, by clock.
    old: BTreeSet<(Millis, KeyId)>,
    /// Those of them that support has outlived.
    outlived: BTreeSet<KeyId>,
}

impl Sums {
    /// Empties the sums, keeping their memory.
    pub(super) fn clear(&mut self) {
        [&mut self.positive, &mut self.negative].into_iter().for_each(Tally::clear);
        [&mut self.accepts, &mut self.confirmations, &mut self.uses].into_iter().for_each(Voices::clear);
        [&mut self.confirming, &mut self.relying, &mut self.supporting].into_iter().for_each(Voices::clear);
        [&mut self.cites, &mut self.votes_up, &mut self.votes_down].into_iter().for_each(SmallMap::clear);
        self.support = Values::None;
        self.reliers.clear();
        (self.live, self.recent, self.asker) = (0, 0, None);
        self.contest.clear();
        self.old.clear();
        self.outlived.clear();
    }

    /// There is a supporter.
    pub(super) fn supported(&self) -> bool {
        !self.support.is_empty()
    }

    /// The contradictions that are outlived since this was last asked (-1), or no longer are (1).
    pub(super) fn outlive<'v>(
        &mut self,
        voter: impl Fn(KeyId) -> Option<&'v Voter>,
        factor: i64,
    ) -> Vec<(KeyId, i64)> {
        let outlived = self.find_outlived(voter, factor);
        let before = std::mem::replace(&mut self.outlived, outlived);
        let gone = self.outlived.difference(&before).map(|k| (*k, -1));
        let back = before.difference(&self.outlived).map(|k| (*k, 1));
        gone.chain(back).collect()
    }

    /// A contradiction that is not live is outlived when the supporters with a later clock have half
    /// of its critic's voice. The later its clock, the fewer these are: one walk finds all.
    pub(super) fn find_outlived<'v>(
        &self,
        voter: impl Fn(KeyId) -> Option<&'v Voter>,
        factor: i64,
    ) -> BTreeSet<KeyId> {
        let voice = |k: KeyId| voter(k).map_or(Fixed::ZERO, |voter| voter.voice);
        let Some(loudest) = self.old.iter().map(|(_, k)| voice(*k)).max() else {
            return BTreeSet::new();
        };
        let enough = |tally: &Tally, needed: Fixed| {
            i128::from(factor) * i128::from(tally.sum().0) >= i128::from(needed.0)
        };
        let (mut tally, mut any) = (Tally::default(), false);
        let mut supporters = self.support.descending().peekable();
        let mut outlived = BTreeSet::new();
        for (clock, critic) in self.old.iter().rev() {
            while !(any && enough(&tally, loudest))
                && let Some((_, k)) = supporters.next_if(|(later, _)| later > clock)
            {
                any = true;
                if let Some(voter) = voter(k) {
                    tally.add(k, voter.allegiance.group, voter.allegiance.class, voter.voice);
                }
            }
            if any && enough(&tally, voice(*critic)) {
                outlived.insert(*critic);
            }
        }
        outlived
    }

    /// Adds what a key says (`by` = 1), or takes it out again (-1), given the same verdict and author.
    pub(super) fn add(&mut self, said: &Said, author: &Place, by: i64) {
        let Said { word, voter, verdict, .. } = said;
        if let Some(verdict) = verdict {
            self.contradict(said, verdict, by);
        }
        if word.stance == Some(Opinion::VoteDown) {
            self.votes_down.add(voter.allegiance.class, by);
        }
        self.add_values(said, author, by);
        if !voter.place().partial_to(author) {
            self.count(said, by);
        }
    }

    /// The part of [`Sums::add`] that a score is made of.
    pub(super) fn add_values(&mut self, said: &Said, author: &Place, by: i64) {
        if let Some(value) = said.against() {
            tally(&mut self.negative, said, value, by);
        }
        if said.word.in_favour() && !said.voter.place().partial_to(author) {
            tally(&mut self.positive, said, said.word.positive, by);
        }
    }

    /// `score(p)`.
    pub(super) fn score(&self) -> Fixed {
        (self.positive.sum() - self.negative.sum()).rounded()
    }

    /// A contradiction that is not live may be outlived: that is found when all is said.
    fn contradict(&mut self, said: &Said, verdict: &Verdict, by: i64) {
        let Some(Opinion::Contradiction { live }) = said.word.stance else {
            return;
        };
        if !live && !matches!(verdict.outcome, Outcome::Rebutted { .. }) {
            let old = (said.word.contradicted, said.k);
            if by > 0 {
                self.old.insert(old);
            } else {
                self.old.remove(&old);
                if self.outlived.remove(&said.k) {
                    return;
                }
            }
        }
        self.contest.add(said.k, said.voter, verdict, by);
    }

    fn count(&mut self, said: &Said, by: i64) {
        let (word, allegiance) = (said.word, &*said.voter.allegiance);
        let confirm = match word.stance {
            Some(Opinion::Confirm { live }) => Some(live),
            _ => None,
        };
        let voice = |voices: &mut Voices, there: bool| {
            if there {
                voices.add(allegiance, by);
            }
        };
        voice(&mut self.accepts, word.accept.is_some());
        voice(&mut self.confirmations, confirm.is_some());
        voice(&mut self.uses, word.used.is_some());
        let relying = confirm == Some(true) || word.used == Some(true);
        let accepting = word.accept == Some(true);
        if said.voter.takes_part {
            voice(&mut self.confirming, confirm == Some(true));
            voice(&mut self.relying, relying);
            voice(&mut self.supporting, relying || accepting);
            if relying {
                self.reliers.add(said.k, by);
            }
            if accepting {
                self.asker = (by > 0).then_some(said.k);
            }
        }
        if word.cite {
            self.cites.add(allegiance.class, by);
        }
        if word.stance == Some(Opinion::VoteUp) {
            self.votes_up.add(allegiance.class, by);
        }
        if word.supports() {
            match by {
                1.. => self.support.insert(said.k, word.supported),
                _ => self.support.remove(said.k, word.supported),
            }
        }
        self.live += if relying || accepting { by } else { 0 };
        self.recent += if word.recent { by } else { 0 };
    }
}

fn tally(tally: &mut Tally, said: &Said, value: Fixed, by: i64) {
    let (value, of) = (said.voter.voice.times(value), &*said.voter.allegiance);
    if by > 0 {
        tally.add(said.k, of.group, of.class, value);
    } else {
        tally.remove(said.k, of.group, of.class, value);
    }
}

/// The contradictions that contest a post, and those that were rebutted.
#[derive(Default)]
pub(super) struct Contest {
    /// How many contest it.
    pub keys: i64,
    /// Their voices.
    pub voices: Voices,
    /// (only undecided, the argument to quote, its author).
    quoted: BTreeSet<(bool, Quoted, KeyId)>,
    /// How many were rebutted without evidence, and with.
    rebutted: [i64; 2],
}

impl Contest {
    /// Adds a contradiction that is not outlived, or takes it out again.
    pub(super) fn add(&mut self, k: KeyId, voter: &Voter, verdict: &Verdict, by: i64) {
        if let Outcome::Rebutted { evidence } = verdict.outcome {
            self.rebutted[usize::from(evidence)] += by;
            return;
        }
        self.keys += by;
        self.voices.add(&voter.allegiance, by);
        let quoted = (verdict.outcome != Outcome::Stands, verdict.argument, k);
        if by > 0 {
            self.quoted.insert(quoted);
        } else {
            self.quoted.remove(&quoted);
        }
    }

    /// The argument to quote: whether it is only undecided, and which.
    pub(super) fn quoted(&self) -> Option<(bool, Quoted)> {
        self.quoted.first().map(|(undecided, quoted, _)| (*undecided, *quoted))
    }

    /// A contradiction was rebutted: with evidence or not.
    pub(super) fn rebutted(&self) -> Option<bool> {
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
