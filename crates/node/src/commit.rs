//! Group commit: whatever has been checked goes to the disk with one sync; then it is acknowledged,
//! and handed to the engine.

use super::admission::{Incoming, Submission};
use super::outcome::{Outcome, Unavailable};
use super::state::{NETWORKS, NodeState};
use super::verify::Checked;
use crossbeam::channel::{Receiver, Sender};
use std::sync::atomic::Ordering;
use wats_event::{Code, Event, Hex32, Refusal};
use wats_model::ids::Millis;
use wats_store::{AppendOutcome, Appender, Seq, StoreError};

/// Records of one sync, about: what waits for the engine is a few of these, and is not shown yet.
const GROUP: usize = 1024;

/// Something durable that the engine has yet to take in.
#[derive(Debug)]
pub struct Durable {
    /// Its place in the sequence.
    pub seq: Seq,
    /// When it was received.
    pub received_at: Millis,
    /// What it is.
    pub what: Committed,
}

/// What the engine takes in.
#[derive(Debug)]
pub enum Committed {
    /// An event, or a copy of one that was received earlier.
    Event(Box<Event>),
    /// A record of a blob.
    Blob(Hex32, bool),
}

/// The writing thread's life: it ends with those who check, or with the engine.
pub(crate) fn run(
    core: &NodeState,
    mut appender: Appender,
    checked: &Receiver<Vec<Checked>>,
    next: &Sender<Vec<Durable>>,
) {
    while let Ok(mut group) = checked.recv() {
        while group.len() < GROUP
            && let Ok(more) = checked.try_recv()
        {
            group.extend(more);
        }
        let durable = commit(core, &mut appender, group);
        if !durable.is_empty() && next.send(durable).is_err() {
            return;
        }
    }
}

fn commit(core: &NodeState, appender: &mut Appender, group: Vec<Checked>) -> Vec<Durable> {
    let mut group =
        match core.refuses().filter(|why| *why == Unavailable::DiskFull || *why == Unavailable::Failed) {
            None => group,
            Some(why) => {
                // What makes room is written as long as it can be.
                let (room, rest) =
                    group.into_iter().partition(|c| why == Unavailable::DiskFull && makes_room(&c.incoming));
                refuse(core, rest, why);
                room
            }
        };
    let strange = |c: &mut Checked| matches!(&c.incoming.what, Submission::Event(event, _) if !core.carries(&event.net));
    for Checked { incoming, .. } in group.extract_if(.., strange) {
        let reason = format!(
            "this node has no network configured, and carries {NETWORKS} of them already: its owner names those that \
             count in `[[network]]`"
        );
        core.metrics.answer(incoming.answer, Outcome::Refused(Refusal::new(Code::WrongNetwork, reason)));
    }
    match write(core, appender, &mut group) {
        Ok(added) => {
            // Places that a failed write has used up are no records: nobody waits for them.
            if let Some(last) = added.iter().filter_map(written).max() {
                core.durable.store(last.0, Ordering::Release);
            }
            core.metrics.committed(added.len());
            acknowledge(core, group, added)
        }
        Err(e) => {
            appender.abandon();
            let why = failed(core, &e);
            refuse(core, group, why);
            Vec::new()
        }
    }
}

/// Whether this is the node's own word that it no longer holds a blob.
fn makes_room(incoming: &Incoming) -> bool {
    matches!(incoming.what, Submission::Blob(_, false)) && incoming.received_at.is_none()
}

/// The place of a record that was written.
fn written(added: &AppendOutcome) -> Option<Seq> {
    match added {
        AppendOutcome::New(seq) | AppendOutcome::Earlier(seq) => Some(*seq),
        AppendOutcome::Known(_) => None,
    }
}

/// What a failed write means for those who wait.
fn failed(core: &NodeState, error: &StoreError) -> Unavailable {
    match error {
        StoreError::Full(_) => {
            core.disk_low.store(true, Ordering::Relaxed);
            tracing::warn!(%error, "the disk is full: events are refused until there is space");
            Unavailable::DiskFull
        }
        _ => {
            core.fail("writing events", error);
            Unavailable::Failed
        }
    }
}

fn write(
    core: &NodeState,
    appender: &mut Appender,
    group: &mut [Checked],
) -> Result<Vec<AppendOutcome>, StoreError> {
    let mut added = Vec::with_capacity(group.len());
    for Checked { incoming, received_at } in group {
        added.push(match &mut incoming.what {
            Submission::Event(event, text) => appender.event(event, *received_at, text)?,
            Submission::Blob(blob, present) => {
                match incoming.received_at {
                    // What a log says of another node's disk is so here when it is so here.
                    Some(_) => *present = core.blobs.accounts().size(*blob).is_some(),
                    None => *received_at = appender.own_word(*blob, *present, *received_at)?,
                }
                appender.blob(*blob, *present, *received_at)?
            }
        });
    }
    appender.commit()?;
    Ok(added)
}

fn refuse(core: &NodeState, group: Vec<Checked>, why: Unavailable) {
    for checked in group {
        core.metrics.answer(checked.incoming.answer, Outcome::later(why));
    }
}

fn acknowledge(core: &NodeState, group: Vec<Checked>, added: Vec<AppendOutcome>) -> Vec<Durable> {
    let mut durable = Vec::with_capacity(group.len());
    for (Checked { incoming, received_at }, added) in group.into_iter().zip(added) {
        let (AppendOutcome::New(seq) | AppendOutcome::Earlier(seq) | AppendOutcome::Known(seq)) = added;
        let (outcome, what) = match incoming.what {
            Submission::Blob(blob, present) => (Outcome::Blob, Committed::Blob(blob, present)),
            Submission::Event(event, _) => {
                let id = event.id;
                let outcome = match added {
                    AppendOutcome::New(_) => Outcome::Accepted { id, seq },
                    AppendOutcome::Earlier(_) | AppendOutcome::Known(_) => Outcome::Duplicate { id, seq },
                };
                (outcome, Committed::Event(event))
            }
        };
        match (&what, incoming.received_at) {
            // No client sent it, and none is counted.
            (Committed::Blob(..), None) => drop(incoming.answer.send(outcome)),
            _ => core.metrics.answer(incoming.answer, outcome),
        }
        if !matches!(added, AppendOutcome::Known(_)) {
            durable.push(Durable { seq, received_at, what });
        }
    }
    durable
}
