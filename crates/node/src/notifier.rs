//! The thread that tells: what the views have taken in wakes those who wait for it.

use super::routing::release;
use super::state::NodeState;
use crossbeam::channel::{Receiver, RecvTimeoutError};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wats_event::Hex32;
use wats_event::stored_event::StoredEvent;
use wats_model::fixed::Fixed;
use wats_model::ids::Millis;
use wats_store::{Seq, SequenceRecord, Store, StoreError};

/// Records to read one by one; when more came at once everybody is told to look.
const FEW: u64 = 20_000;
/// Asks that are held back at a time; those who wait look for further ones by themselves.
const HELD_BACK: usize = 20_000;
/// How long to wait before looking whether the node stops.
const WAIT: Duration = Duration::from_millis(200);

/// Asks that everybody is told of later: when, and where they are. The next comes first.
type HeldBack = BinaryHeap<Reverse<(Millis, Seq)>>;

/// The telling thread's life: it ends with the tick loop. A message says that there is
/// something to look at, and one that waits stands for all.
pub(crate) fn run(core: &NodeState, more: &Receiver<()>) {
    let mut told = Seq(core.shown.load(Ordering::Acquire));
    let mut held_back = HeldBack::new();
    loop {
        match more.recv_timeout(until_next(core, &held_back)) {
            Ok(()) => {
                for (network, root) in core.take_changed_roots() {
                    core.waiters.entry(&network, root);
                }
                let shown = Seq(core.shown.load(Ordering::Acquire));
                if core.waiters.count() > 0 {
                    or_everybody(core, tell(core, told, shown, &mut held_back));
                }
                told = told.max(shown);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        or_everybody(core, tell_released(core, &mut held_back));
    }
}

fn until_next(core: &NodeState, held_back: &HeldBack) -> Duration {
    let next = held_back.peek().map(|Reverse((at, _))| Duration::from_millis(at.since(core.clock.now()).0));
    next.map_or(WAIT, |next| next.min(WAIT))
}

fn or_everybody(core: &NodeState, told: Result<(), StoreError>) {
    if let Err(error) = told {
        tracing::error!(%error, "those who wait cannot be told what came");
        core.waiters.everybody();
    }
}

fn tell(core: &NodeState, told: Seq, shown: Seq, held_back: &mut HeldBack) -> Result<(), StoreError> {
    if shown.0.saturating_sub(told.0) > FEW {
        core.waiters.everybody();
        return Ok(());
    }
    for item in core.store.records(told) {
        let (seq, logged) = item?;
        if seq > shown {
            break;
        }
        if let SequenceRecord::Event { text, received_at, .. } = logged
            && let Some(said) = StoredEvent::read(&text)
        {
            match release(&said, received_at, core.limits.head_start, core.clock.now()) {
                Some(release) => route(core, &said, (release, seq), held_back),
                None => {
                    let of = root_of_target(&core.store, &said)?;
                    core.waiters.event(&said, of);
                }
            }
        }
    }
    Ok(())
}

/// Tells some of an ask now, and the others later.
fn route(core: &NodeState, said: &StoredEvent, later: (Millis, Seq), held_back: &mut HeldBack) {
    let reader = core.store.read();
    core.waiters.routed(said, |key| {
        // Where the store fails, the woken waiter reports it.
        reader.author(&said.net, key).ok().flatten().map_or(Fixed::ZERO, |author| author.weight)
    });
    match held_back.len() < HELD_BACK {
        true => held_back.push(Reverse(later)),
        // A waiter that has looked knows the asks held back from it, and until when.
        false => core.waiters.everybody(),
    }
}

/// Tells everybody of asks whose head start is over.
fn tell_released(core: &NodeState, held_back: &mut HeldBack) -> Result<(), StoreError> {
    let now = core.clock.now();
    while let Some(Reverse((_, seq))) = held_back.peek().filter(|Reverse((at, _))| *at <= now).copied() {
        held_back.pop();
        if let Some(SequenceRecord::Event { text, .. }) = core.store.logged(seq)?
            && let Some(said) = StoredEvent::read(&text)
        {
            core.waiters.released(&said);
        }
    }
    Ok(())
}

/// The root of the thread that a react's target belongs to.
///
/// # Errors
/// When the store cannot be read.
pub(crate) fn root_of_target(store: &Store, said: &StoredEvent) -> Result<Option<Hex32>, StoreError> {
    let Some(target) = said.parent.filter(|_| said.kind == "react") else {
        return Ok(None);
    };
    let place = store.event(target)?;
    Ok(place.and_then(|place| StoredEvent::read(&place.text)).map(|target| target.root()))
}
