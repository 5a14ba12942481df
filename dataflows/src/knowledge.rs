//! Section 7: digests that qualify and supersede, canonical answers, and what covers what.

use crate::incremental::Changes;
use crate::relations::{Digest, HeldById};
use crate::status::Judged;
use differential_dataflow::operators::ThresholdTotal;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use wats_model::fixed::Fixed;
use wats_model::ids::{EventId, Millis, Stamp};
use wats_model::policy::Policy;
use wats_model::views::{CanonicalView, CoverView, EntryView, Status};

/// What section 7 is told of the posts.
pub struct Sources<'s> {
    /// Digests with refs.
    pub digests: Changes<'s, (EventId, Digest)>,
    /// What these cite: (digest, ref).
    pub refs: Changes<'s, (EventId, EventId)>,
    /// Post-like events whose parent is the root they claim, digests only with refs: (answer, (root,
    /// `received_at`)).
    pub answers: Changes<'s, (EventId, (EventId, Millis))>,
    /// Held asks.
    pub asks: Changes<'s, EventId>,
    /// All held events.
    pub held: HeldById<'s>,
    /// `thread(e)` of post-like events that are in one.
    pub threads: Changes<'s, (EventId, EventId)>,
    /// Post-like events without a parent.
    pub roots: Changes<'s, EventId>,
    /// All posts, judged.
    pub judged: Changes<'s, Judged>,
}

/// What section 7 puts out.
pub struct Knowledge<'s> {
    /// The entries.
    pub entries: Changes<'s, EntryView>,
    /// The canonical answers.
    pub canonical: Changes<'s, CanonicalView>,
    /// The digest shown for each covered root.
    pub covers: Changes<'s, CoverView>,
    /// The scores of the confirmed posts of which entries are made.
    pub scores: Changes<'s, (EventId, Fixed)>,
}

/// A confirmed post, as far as knowledge is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct Confirmed {
    score: Fixed,
    accepts: u32,
    stamp: Stamp,
    voices: u32,
    /// Qualifies as an answer, as a digest through its accept, as a digest through two voices.
    as_answer: bool,
    accepted: bool,
    relied_on: bool,
}

impl Confirmed {
    fn new(judged: &Judged, policy: &Policy) -> Confirmed {
        let (view, support) = (&judged.view, &judged.support);
        Confirmed {
            score: view.score,
            accepts: view.counts.accepts,
            stamp: judged.stamp,
            voices: support.voices,
            as_answer: (support.accept_holds && support.beyond_asker)
                || support.confirming as usize >= policy.knowledge_voices,
            accepted: support.accept_holds,
            relied_on: support.relying as usize >= policy.knowledge_voices,
        }
    }
}

/// A qualifying digest, and what it was written as.
type Qualified = (Confirmed, Digest);

/// Wires section 7.
pub fn knowledge<'s>(sources: Sources<'s>, policy: &Policy) -> Knowledge<'s> {
    let policy = policy.clone();
    let confirmed = sources
        .judged
        .filter(|j| j.view.status == Status::Confirmed)
        .map(move |j| (j.view.post, Confirmed::new(&j, &policy)))
        .filter(|(_, c)| c.as_answer || c.accepted || c.relied_on);
    let scores = confirmed.clone().map(|(id, c)| (id, c.score));

    let qualifying = sources.digests.join_map(confirmed.clone(), |id, digest, c| (*id, (*c, *digest)));
    let qualifying =
        qualifying.filter(|(_, (c, digest))| c.relied_on || (c.accepted && digest.answers.is_some()));
    let superseded = superseded(qualifying.clone());
    let digests = qualifying.antijoin(superseded.clone());

    let answers = sources.answers.antijoin(superseded);
    let answers =
        answers.join_map(confirmed, |id, (thread, received_at), c| (*thread, (*c, *received_at, *id)));
    let answers = answers.filter(|(_, (c, ..))| c.as_answer).semijoin(sources.asks);
    let canonical = answers.reduce_named("canonical", |_, answers, output| {
        // Of equals the first received: a copy does not replace what it copied.
        let first = |received_at: Millis, c: &Confirmed, id: EventId| Reverse((received_at, c.stamp.tie, id));
        let best = answers
            .iter()
            .map(|(answer, _)| **answer)
            .max_by_key(|(c, received_at, id)| (c.score, c.accepts, first(*received_at, c, *id)));
        output.extend(best.map(|(c, _, id)| ((c, id), 1)));
    });

    // Where a post belongs: to its thread, or to itself where it has no parent.
    let belongs =
        sources.threads.map(|(id, root)| (id, Some(root))).concat(sources.roots.map(|id| (id, None)));
    let belongs = belongs.arrange_by_key_named("roots by post");
    let of_digests = digests.clone().arrange_by_key_named("digests");
    let thread_of = of_digests.join_core(belongs.clone(), |id, q, root| Some(((*root)?, (*id, *q))));
    let relied_on = digests.clone().filter(|(_, (c, _))| c.relied_on);
    let cited = relied_on.join_map(sources.refs, |id, q, cited| (*cited, (*id, *q)));
    let cited = cited.arrange_by_key_named("cited by digests");
    let cited = cited.join_core(belongs, |id, digest, root| Some((root.unwrap_or(*id), *digest)));
    let roots = thread_of.concat(cited).distinct_total_core::<i64>();

    let uncontested = roots.clone().antijoin(canonical.clone().map(|(thread, _)| thread));
    let contested = roots.join_map(canonical.clone(), |root, digest, answer| (*root, *digest, *answer));
    let contested = contested.filter(|(_, (_, (digest, _)), (answer, _))| digest.voices >= answer.voices);
    let covering = uncontested.concat(contested.map(|(root, digest, _)| (root, digest)));
    let covering = covering.arrange_by_key_named("digests by root");
    let covering = covering.join_core(sources.held, |root, digest, _| Some((*root, *digest)));

    let covered = covering.clone().map(|(root, _)| root).distinct_total_core::<i64>();
    let threads = canonical.clone().antijoin(covered);
    let threads = threads.map(|(thread, (_, answer))| EntryView {
        entry: answer,
        digest: false,
        threads: vec![thread],
    });
    let covers = covering.clone().reduce_named("shown digest", |_, digests, output| {
        let best = digests.iter().map(|((id, (c, _)), _)| (c.score, c.stamp, *id)).max();
        output.extend(best.map(|(_, _, id)| (id, 1)));
    });
    Knowledge {
        entries: digest_entries(digests, covering).concat(threads),
        canonical: canonical.map(|(thread, (_, answer))| CanonicalView { thread, answer }),
        covers: covers.map(|(thread, digest)| CoverView { thread, digest }),
        scores,
    }
}

/// Qualifying digests that another qualifying one replaces, all decided at once.
fn superseded<'s>(qualifying: Changes<'s, (EventId, Qualified)>) -> Changes<'s, EventId> {
    let successors = qualifying.clone().flat_map(|(id, (c, digest))| {
        let old = digest.supersedes.filter(|old| *old != id);
        old.map(|old| (old, (c, digest.author)))
    });
    let pairs = qualifying.join_map(successors, |id, (c, digest), (by, author)| {
        let replaces = digest.author == *author || (by.score >= c.score && by.voices >= c.voices);
        (*id, replaces)
    });
    pairs.filter(|(_, replaces)| *replaces).map(|(id, _)| id).distinct_total_core::<i64>()
}

/// Entry digests with the held roots they cover.
fn digest_entries<'s>(
    digests: Changes<'s, (EventId, Qualified)>,
    covering: Changes<'s, (EventId, (EventId, Qualified))>,
) -> Changes<'s, EntryView> {
    let alone = digests.map(|(id, _)| (id, None));
    let covers = covering.map(|(root, (id, _))| (id, Some(root)));
    let entries = alone.concat(covers).reduce_named("roots covered", |_, roots, output| {
        let threads: Vec<EventId> = roots.iter().filter_map(|(root, _)| **root).collect();
        output.push((threads, 1));
    });
    entries.map(|(entry, threads)| EntryView { entry, digest: true, threads })
}
