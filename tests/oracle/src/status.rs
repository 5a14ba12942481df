//! Section 6: what a reader sees of a post.

use crate::contradictions::{Judgement, Verdict};
use crate::counting::{Sets, Tally};
use crate::keys::Keys;
use crate::network::{Event, Key, Network};
use crate::reputation::Standing;
use crate::signals::{Contradiction, Kind, Signal, Signals};
use wats_model::fixed::Fixed;
use wats_model::ids::EventId;
use wats_model::views::{Counts, PostView, Status, Why};

/// What section 6 says of a post-like event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PostStatus {
    pub(crate) status: Status,
    pub(crate) score: Fixed,
    pub(crate) counts: Counts,
    pub(crate) why: Option<Why>,
}

/// The statuses of all post-like events, by event; from the verdicts of the second run.
pub(crate) fn statuses(
    net: &Network,
    signals: &Signals,
    keys: &Keys,
    standing: &Standing,
    verdicts: &[Judgement],
) -> Vec<Option<PostStatus>> {
    let mut of = Of { net, keys, standing, tally: Tally::new(keys) };
    let status = |p: Event| {
        net.post(p)?;
        let range = signals.contradictions.range(p);
        let contradictions = signals.contradictions.items[range.clone()].iter();
        let judged: Vec<Judged> = contradictions.zip(&verdicts[range]).collect();
        Some(of.status(signals.on(p), &judged))
    };
    (0..net.events.len()).map(status).collect()
}

/// Whether the signal is a positive one that counts: by a key that is not partial to p's author.
pub(crate) fn positive(net: &Network, keys: &Keys, s: &Signal) -> bool {
    s.kind != Kind::VoteDown && !keys.partial(s.author, net.author[s.target])
}

struct Of<'a> {
    net: &'a Network<'a>,
    keys: &'a Keys,
    standing: &'a Standing,
    tally: Tally<'a>,
}

/// A contradiction of p, and the verdict on it.
type Judged<'a> = (&'a Contradiction, &'a Judgement);

impl Of<'_> {
    fn status(&mut self, on_p: &[Signal], contradictions: &[Judged]) -> PostStatus {
        // Of the keys with weight: no others move anything.
        let on_p = || on_p.iter().filter(|s| self.standing.has_weight[s.author]).copied();
        let for_p: Vec<Signal> = on_p().filter(|s| positive(self.net, self.keys, s)).collect();
        let down: Vec<Signal> = on_p().filter(|s| s.kind == Kind::VoteDown).collect();
        let supports = |s: &&Signal| s.kind.supports();
        let support: Vec<Signal> = for_p.iter().filter(supports).copied().collect();
        // The contradictions that contest p.
        let contest = |(c, judgement): &&Judged| {
            let open = matches!(judgement.verdict, Verdict::Stands | Verdict::Undecided);
            open && !self.outlived(c, &support)
        };
        let contesting: Vec<Judged> = contradictions.iter().filter(contest).copied().collect();

        let status = match contesting.is_empty() {
            false => Status::Contested,
            true if support.iter().any(|s| s.is.live) => Status::Confirmed,
            true if !support.is_empty() => Status::Stale,
            true => Status::Unverified,
        };
        let counts = self.counts(&for_p, &down, &contesting);
        PostStatus {
            status,
            score: self.score(&for_p, &down, contradictions),
            counts,
            why: self.why(status, counts, &contesting, contradictions),
        }
    }

    /// Whether a contradiction is *outlived*: it is not live, and the supporters who have spoken
    /// since have at least half of its critic's voice together.
    fn outlived(&mut self, c: &Contradiction, support: &[Signal]) -> bool {
        let later = support.iter().filter(|s| s.is.clock > c.is.clock);
        let later: Vec<Key> = later.map(|s| s.author).collect();
        later.iter().for_each(|&k| self.tally.count(k, self.standing.voice[k]));
        let together = self.tally.take().scale(self.net.policy.outlive_factor, 1);
        !c.is.live && !later.is_empty() && together >= self.standing.voice[c.author]
    }

    /// `score(p)`: what is said for it, minus what is said against it, each by voice.
    fn score(&mut self, for_p: &[Signal], down: &[Signal], contradictions: &[Judged]) -> Fixed {
        let has_weight = |k: Key| self.standing.has_weight[k];
        let voice = |k: Key, value: Fixed| self.standing.voice[k].times(value);
        for s in for_p {
            self.tally.count(s.author, voice(s.author, s.is.value));
        }
        let for_p = self.tally.take();
        for s in down {
            self.tally.count(s.author, voice(s.author, s.is.value));
        }
        for (c, judgement) in contradictions {
            if judgement.verdict == Verdict::Stands && has_weight(c.author) {
                self.tally.count(c.author, voice(c.author, c.is.value));
            }
        }
        (for_p - self.tally.take()).rounded()
    }

    /// `counts`, over the keys with weight.
    fn counts(&self, for_p: &[Signal], down: &[Signal], contesting: &[Judged]) -> Counts {
        let such = |kind: &dyn Fn(Kind) -> bool| -> Vec<Key> {
            let such = for_p.iter().chain(down).filter(|s| kind(s.kind));
            such.map(|s| s.author).collect()
        };
        let by = |kind: Kind| such(&|k| k == kind);
        let critics = contesting.iter().map(|(c, _)| c.author);
        let critics: Vec<Key> = critics.filter(|&k| self.standing.has_weight[k]).collect();
        let sets = Sets(self.keys);
        Counts {
            accepts: count(sets.voices(&by(Kind::Accept))),
            confirmations: count(sets.voices(&by(Kind::Confirm))),
            uses: count(sets.voices(&by(Kind::Use))),
            contradictions: count(sets.voices(&critics)),
            cites: count(sets.classes(&such(&Kind::cites))),
            votes_up: count(sets.classes(&by(Kind::VoteUp))),
            votes_down: count(sets.classes(&by(Kind::VoteDown))),
        }
    }

    /// What decided: present when contested, or confirmed against a rebutted contradiction.
    ///
    /// Reading: rebuttals are events labelled IN that attack an argument of any contradiction of p,
    /// outlived or not.
    fn why(&self, status: Status, counts: Counts, contesting: &[Judged], all: &[Judged]) -> Option<Why> {
        match status {
            Status::Contested => {
                let quote = contesting.iter().filter_map(|(_, j)| j.quote).min()?;
                let rebuttals = all.iter().flat_map(|(_, j)| &j.rebuttals);
                let mut rebuttals: Vec<Event> = rebuttals.copied().collect();
                rebuttals.sort_unstable();
                rebuttals.dedup();
                Some(Why::Contradicted {
                    keys: counts.contradictions.max(1),
                    evidence: !quote.without_evidence,
                    argument: self.net.events[quote.argument].id,
                    rebuttals: count(rebuttals.len()),
                    stands: contesting.iter().any(|(_, j)| j.verdict == Verdict::Stands),
                })
            }
            Status::Confirmed => {
                let rebutted = || all.iter().filter(|(_, j)| j.verdict == Verdict::Rebutted);
                rebutted().next()?;
                let evidence = |e: &Event| self.net.react(*e).is_some_and(|r| r.evidence.given());
                let evidence = rebutted().any(|(_, j)| j.rebuttals.iter().any(evidence));
                Some(Why::Rebutted { evidence })
            }
            Status::Stale | Status::Unverified => None,
        }
    }
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The views of all post-like events.
pub(crate) fn views(
    net: &Network,
    statuses: &[Option<PostStatus>],
    replicas: &[u8],
) -> impl Iterator<Item = (EventId, PostView)> {
    (0..net.events.len()).filter_map(|p| {
        let PostStatus { status, score, counts, why } = statuses[p]?;
        let post = net.events[p].id;
        let author = net.events[p].author;
        let replicas = replicas[p];
        Some((post, PostView { post, author, status, score, counts, replicas, why }))
    })
}
