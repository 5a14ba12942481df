//! A bounded number of places, of which no source has more than half: whoever keeps many leaves room
//! for others.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places.
#[derive(Debug)]
pub(super) struct FairSemaphore {
    room: Arc<Semaphore>,
    most_each: usize,
    taken: Arc<Taken>,
}

type Taken = Mutex<HashMap<IpAddr, usize>>;

/// A place that is taken.
#[derive(Debug)]
pub(super) struct Share {
    source: IpAddr,
    taken: Arc<Taken>,
    _room: OwnedSemaphorePermit,
}

impl FairSemaphore {
    /// So many places.
    pub(super) fn new(most: usize) -> FairSemaphore {
        let most_each = most.div_ceil(2);
        FairSemaphore { room: Arc::new(Semaphore::new(most)), most_each, taken: Arc::default() }
    }

    /// Waits until a place is free.
    pub(super) async fn wait(&self) {
        // The semaphore is never closed.
        let _ = self.room.acquire().await;
    }

    /// Takes a place for a source; none when all are taken, or it has half of them.
    pub(super) fn take(&self, source: IpAddr) -> Option<Share> {
        let room = self.room.clone().try_acquire_owned().ok()?;
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let of_source = taken.entry(source).or_default();
        if *of_source >= self.most_each {
            return None;
        }
        *of_source += 1;
        Some(Share { source, taken: self.taken.clone(), _room: room })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_source) = taken.get_mut(&self.source) {
            *of_source -= 1;
            if *of_source == 0 {
                taken.remove(&self.source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_source_has_half_at_most_and_gives_it_back() {
        let (a, b): (IpAddr, IpAddr) = ([127, 0, 0, 1].into(), [127, 0, 0, 2].into());
        let shares = FairSemaphore::new(4);
        let mut of_a = vec![shares.take(a).unwrap(), shares.take(a).unwrap()];
        assert!(shares.take(a).is_none());
        let of_b = (shares.take(b).unwrap(), shares.take(b).unwrap());
        assert!(shares.take([127, 0, 0, 3].into()).is_none());
        drop(of_b);
        of_a.pop();
        assert!(shares.take(a).is_some());
        drop(of_a);
        assert!(shares.taken.lock().unwrap().is_empty());
    }
}
