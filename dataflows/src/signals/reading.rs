//! Section 2, *Stance* to *Clock*: one pair of a key and a target, read.

use super::{
    Accept, Argument, Asked, Attaching, Citing, Contradiction, Pair, PairSignals, ReactOn, Said, Stance,
    Target, Words,
};
use crate::ids::{Millis, Stamp};
use crate::policy::Policy;

/// One reading of a pair.
pub(super) struct Reading<'a> {
    pub(super) policy: &'a Policy,
    pub(super) pair: Pair,
    pub(super) target: Target,
    pub(super) asked: Option<Asked>,
    pub(super) words: &'a Words,
    pub(super) reacts: &'a [ReactOn],
}

impl Reading<'_> {
    /// Everything that the key says.
    pub(super) fn all(&self, own: bool) -> Vec<Said> {
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
            |first: &ReactOn| Millis(first.stamp.created_at.0.saturating_sub(self.policy.reply_window.0));
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
        for c in self.words.citing().iter().filter(|c| !c.blank && c.stamp.created_at >= from) {
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
        let citing = self.words.citing().iter().filter(|c| c.stamp.created_at > self.target.created_at);
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
