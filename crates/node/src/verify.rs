//! Signatures, in batches, off the dataflow's thread; then work and time (section 1.1), and the limits
//! on keys, which nobody can use up for another before the signature is known to be valid.

use super::admission::{Exits, Incoming, Submission};
use super::limits::Rates;
use super::outcome::{Outcome, Unavailable};
use super::state::{NodeState, Phase};
use crossbeam::channel::Sender;
use std::sync::Arc;
use std::time::Duration;
use wats_event::{Code, Verifier, admit, verified};
use wats_model::ids::Millis;

/// Events of a batch, at most.
const BATCH: usize = 1024;

/// Something to be written.
#[derive(Debug)]
pub struct Checked {
    /// What it is.
    pub incoming: Incoming,
    /// When it was received.
    pub received_at: Millis,
}

/// How long to wait before looking whether the node stops.
const WAIT: Duration = Duration::from_millis(50);

/// One verifying thread's life: it ends when the node stops, or with the commit thread.
pub(crate) fn run(core: &NodeState, rates: &Arc<Rates>, exits: &Exits, next: &Sender<Vec<Checked>>) {
    let mut verifier = Verifier::new();
    loop {
        let taken = exits.take(BATCH, WAIT);
        if taken.is_empty() {
            match core.phase() {
                Phase::Loading | Phase::Ready => continue,
                Phase::Stopping | Phase::Failed => return,
            }
        }
        let checked = check(core, rates, &mut verifier, taken);
        if !checked.is_empty() && next.send(checked).is_err() {
            return;
        }
    }
}

fn check(core: &NodeState, rates: &Rates, verifier: &mut Verifier, taken: Vec<Incoming>) -> Vec<Checked> {
    let now = core.clock.now();
    let events: Vec<_> = taken
        .iter()
        .filter_map(|incoming| match &incoming.what {
            Submission::Event(event, _) => Some(event.as_ref()),
            Submission::Blob(..) => None,
        })
        .collect();
    let mut valid = verifier.verify(&events).into_iter();
    let mut checked = Vec::with_capacity(taken.len());
    for incoming in taken {
        let received_at = incoming.received_at.unwrap_or(now);
        let refused = match &incoming.what {
            Submission::Blob(..) => None,
            Submission::Event(event, _) => verified(valid.next().unwrap_or(false))
                .and_then(|()| admit(event, received_at, &core.rules))
                .err()
                .map(Outcome::Refused)
                .or_else(|| limited(core, rates, &incoming)),
        };
        match refused {
            None => checked.push(Checked { incoming, received_at }),
            Some(outcome) => {
                if matches!(&outcome, Outcome::Refused(refusal) if refusal.code == Code::BadSignature)
                    && let Some(source) = incoming.source
                {
                    rates.forgers.add(source);
                }
                core.metrics.answer(incoming.answer, outcome);
            }
        }
    }
    checked
}

fn limited(core: &NodeState, rates: &Rates, incoming: &Incoming) -> Option<Outcome> {
    let Submission::Event(event, _) = &incoming.what else {
        return None;
    };
    let weighty = core.weighty.contains(&event.net, event.author);
    let limiter = if weighty { &rates.weighty } else { &rates.keys };
    let allowed = incoming.source.is_none() || limiter.allows(&event.author);
    (!allowed).then(|| Outcome::later(Unavailable::KeyLimited))
}
