//! Section 2, *Stance* to *Clock*: one pair of a key and a target, read.

use super::{
    Accept, Argument, Asked, Attaching, Cite, Citing, Contradiction, Output, Pair, PairSignals, ReactOn,
    Stance, Target, Words,
};
use wats_model::ids::{Millis, Stamp};
use wats_model::policy::Policy;

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
    pub(super) fn all(&self, own: bool) -> Vec<Output> {
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
        said.extend(self.signals(stance).map(Output::Signals));
        if self.target.post {
            said.extend(self.accept().map(Output::Accept));
            self.attaching(own, run, argued, &mut said);
        }
        if !arguments.is_empty() {
            said.push(Output::Contradiction(Contradiction { pair: self.pair, arguments }));
        }
        said
    }

    /// What ages of the pair, unless that is nothing. On a react only a contradiction has a value
    /// that anything is made of (section 5).
    fn signals(&self, stance: Option<(Stance, Millis)>) -> Option<PairSignals> {
        let contradicts = matches!(stance, Some((Stance::Contradiction { .. }, _)));
        let against = contradicts || matches!(stance, Some((Stance::VoteDown, _)));
        let post = self.target.post;
        let signals = PairSignals {
            pair: self.pair,
            stance: stance.filter(|_| post || contradicts),
            used: if post { self.standing_flag(|r| r.used).map(|(_, clock)| clock) } else { None },
            cite: if post && !against { self.cite() } else { None },
        };
        let any = signals.stance.is_some() || signals.used.is_some() || signals.cite.is_some();
        any.then_some(signals)
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
        let against: Vec<&ReactOn> = self.reacts.iter().filter(|r| r.value == Some(-1)).collect();
        let Some(run_first) = run.first() else {
            return Vec::new();
        };
        let argues = |r: &&&ReactOn| r.evidence || self.words.own_event(r).is_some();
        let mut reacts: Vec<&ReactOn> = against.iter().filter(argues).copied().collect();
        reacts.sort_by_key(|r| (r.received_at, r.stamp.tie, r.id));
        let reacts = reacts.into_iter().map(|r| {
            let rests_on = if r.evidence { None } else { self.words.own_event(r) };
            let argument = Argument { event: r.id, stamp: r.stamp, evidence: r.evidence, rests_on };
            (argument, r.stamp >= run_first.stamp)
        });
        let replies = self.replies(&against).map(|c| {
            let argument = Argument { event: c.id, stamp: c.stamp, evidence: false, rests_on: None };
            (argument, self.near(c, run.iter()))
        });
        let may_argue = reacts.chain(replies).take(self.policy.max_arguments);
        may_argue.filter_map(|(argument, of_this_run)| of_this_run.then_some(argument)).collect()
    }

    /// The reply was created within the hour, before or after, of one of these reacts.
    fn near<'r>(&self, reply: &Citing, mut reacts: impl Iterator<Item = &'r ReactOn>) -> bool {
        let apart = |r: &ReactOn| reply.stamp.created_at.0.abs_diff(r.stamp.created_at.0);
        reacts.any(|r| apart(r) <= self.policy.reply_window.0)
    }

    /// The first non-blank replies near one of the reacts `against` the target, by arrival; as many
    /// as may be arguments, and those that arrived with the last of them.
    fn replies(&self, against: &[&ReactOn]) -> impl Iterator<Item = &Citing> {
        // Sorted by arrival and then by stamp, of which only the id orders here: ties are rare.
        let mut replies: Vec<&Citing> = Vec::new();
        let mut last_arrival = None;
        let near = |c: &&Citing| !c.blank && self.near(c, against.iter().copied());
        for c in self.words.citing().iter().filter(near) {
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

    /// A citation by the events that have the target in `refs` alone; without one a reply, by all.
    fn cite(&self) -> Option<(Cite, Millis)> {
        let later = |c: &&Citing| c.stamp.created_at > self.target.created_at;
        let first = |cite: Cite| {
            let of_kind = |c: &&Citing| cite == Cite::Reply || !c.reply;
            let citing = self.words.citing().iter().filter(later).filter(of_kind);
            citing.map(|c| c.stamp.created_at.min(c.received_at)).min().map(|origin| (cite, origin))
        };
        first(Cite::Citation).or_else(|| first(Cite::Reply))
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

    fn attaching(&self, own: bool, run: &[ReactOn], argued: bool, said: &mut Vec<Output>) {
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
            said.push(Output::Attaching(Attaching {
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
