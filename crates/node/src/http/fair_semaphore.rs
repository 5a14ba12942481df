//! A bounded number of places, of which no source has more than half: a source that keeps many leaves room for others.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places. Each source has a semaphore of its own, with half of them, in front of the one of all.
#[derive(Debug)]
pub(super) struct FairSemaphore {
    room: Arc<Semaphore>,
    most_each: usize,
    sources: Arc<Sources>,
}

type Sources = Mutex<HashMap<IpAddr, Arc<Semaphore>>>;

/// A place that is taken.
#[derive(Debug)]
pub(super) struct Share {
    // Permits are given back before the source is forgotten.
    _of_source: OwnedSemaphorePermit,
    _of_room: OwnedSemaphorePermit,
    _source: Source,
}

/// The semaphore of a source, which is forgotten with its last user.
#[derive(Debug)]
struct Source {
    address: IpAddr,
    sources: Arc<Sources>,
}

impl FairSemaphore {
    /// A semaphore with `most` places.
    pub(super) fn new(most: usize) -> FairSemaphore {
        let most_each = most.div_ceil(2);
        FairSemaphore { room: Arc::new(Semaphore::new(most)), most_each, sources: Arc::default() }
    }

    /// Waits until a place is free.
    pub(super) async fn wait(&self) {
        // The semaphore is never closed.
        let _ = self.room.acquire().await;
    }

    /// Takes a place for a source; none when all are taken, or it has half of them.
    pub(super) fn take(&self, address: IpAddr) -> Option<Share> {
        let (source, semaphore) = self.source(address);
        let of_source = semaphore.try_acquire_owned().ok()?;
        let of_room = self.room.clone().try_acquire_owned().ok()?;
        Some(Share { _of_source: of_source, _of_room: of_room, _source: source })
    }

    /// Waits for a place for a source, in turn: behind those of the same source first, then behind all that have their
    /// source's leave.
    pub(super) async fn turn(&self, address: IpAddr) -> Option<Share> {
        let (source, semaphore) = self.source(address);
        // The semaphores are never closed.
        let of_source = semaphore.acquire_owned().await.ok()?;
        let of_room = self.room.clone().acquire_owned().await.ok()?;
        Some(Share { _of_source: of_source, _of_room: of_room, _source: source })
    }

    fn source(&self, address: IpAddr) -> (Source, Arc<Semaphore>) {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let own = sources.entry(address).or_insert_with(|| Arc::new(Semaphore::new(self.most_each)));
        (Source { address, sources: self.sources.clone() }, own.clone())
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        // A permit that is held, and a wait for one, hold the semaphore too.
        if sources.get(&self.address).is_some_and(|own| Arc::strong_count(own) == 1) {
            sources.remove(&self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 1));
    const B: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 2));

    #[test]
    fn one_source_has_half_at_most_and_gives_it_back() {
        let shares = FairSemaphore::new(4);
        let mut of_a = vec![shares.take(A).unwrap(), shares.take(A).unwrap()];
        assert!(shares.take(A).is_none());
        let of_b = (shares.take(B).unwrap(), shares.take(B).unwrap());
        assert!(shares.take([127, 0, 0, 3].into()).is_none());
        drop(of_b);
        of_a.pop();
        assert!(shares.take(A).is_some());
        drop(of_a);
        assert!(shares.sources.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn a_source_that_waits_with_many_holds_up_no_other() {
        let shares = Arc::new(FairSemaphore::new(2));
        let first = shares.turn(A).await.unwrap();
        let crowd: Vec<_> = (0..100)
            .map(|_| {
                let shares = shares.clone();
                tokio::spawn(async move { drop(shares.turn(A).await) })
            })
            .collect();
        tokio::task::yield_now().await;
        // The place that A may not have.
        drop(shares.turn(B).await.unwrap());
        assert!(crowd.iter().all(|waiting| !waiting.is_finished()));
        drop(first);
        for waiting in crowd {
            waiting.await.unwrap();
        }
        assert!(shares.sources.lock().unwrap().is_empty(), "a source is forgotten with its last user");
    }

    #[tokio::test]
    async fn a_wait_that_is_given_up_leaves_nothing_behind() {
        let shares = FairSemaphore::new(2);
        let held = shares.turn(A).await.unwrap();
        let waiting = tokio::time::timeout(std::time::Duration::from_millis(1), shares.turn(A)).await;
        assert!(waiting.is_err());
        drop(held);
        assert!(shares.sources.lock().unwrap().is_empty());
    }
}
