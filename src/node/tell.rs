//! The thread that tells: what the views have taken in wakes those who wait for it.

use super::core::Core;
use crate::event::Hex32;
use crate::said::Said;
use crate::store::{Logged, Seq, Store, StoreError};
use crossbeam::channel::{Receiver, RecvTimeoutError};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Records to read one by one; when more came at once everybody is told to look.
const FEW: u64 = 20_000;
/// How long to wait before looking whether the node stops.
const WAIT: Duration = Duration::from_millis(200);

/// The telling thread's life: it ends with whoever drives the engine. A message says that there is
/// something to look at, and one that waits stands for all.
pub fn run(core: &Core, more: &Receiver<()>) {
    let mut told = Seq(core.shown.load(Ordering::Acquire));
    loop {
        match more.recv_timeout(WAIT) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return,
        }
        for (network, root) in core.take_changed_roots() {
            core.waiters.entry(&network, root);
        }
        let shown = Seq(core.shown.load(Ordering::Acquire));
        if core.waiters.count() > 0
            && let Err(error) = tell(core, told, shown)
        {
            tracing::error!(%error, "those who wait cannot be told what came");
            core.waiters.everybody();
        }
        told = told.max(shown);
    }
}

fn tell(core: &Core, told: Seq, shown: Seq) -> Result<(), StoreError> {
    if shown.0.saturating_sub(told.0) > FEW {
        core.waiters.everybody();
        return Ok(());
    }
    for item in core.store.records(told) {
        let (seq, logged) = item?;
        if seq > shown {
            break;
        }
        if let Logged::Event { text, .. } = logged
            && let Some(said) = Said::read(&text)
        {
            let of = root_of_target(&core.store, &said)?;
            core.waiters.event(&said, of);
        }
    }
    Ok(())
}

/// The root of the thread that a react's target belongs to.
///
/// # Errors
/// When the store cannot be read.
pub fn root_of_target(store: &Store, said: &Said) -> Result<Option<Hex32>, StoreError> {
    let Some(target) = said.parent.filter(|_| said.kind == "react") else {
        return Ok(None);
    };
    let place = store.event(target)?;
    Ok(place.and_then(|place| Said::read(&place.text)).map(|target| target.root()))
}
