//! The way in: two bounded queues, so that a flood by keys without weight holds up nobody who has some.
//!
//! Room is counted in bytes and taken before an event is queued; it is given back when the event is
//! on the disk. An event that finds no room waits a while; then its client is told to come again.

use super::outcome::{Outcome, Unavailable};
use crossbeam::channel::{Receiver, Sender, bounded, select};
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use wats_config::{LEAST_BYTES, Limits};
use wats_event::{Event, Hex32};
use wats_model::ids::Millis;

/// What is on its way in.
#[derive(Debug)]
pub struct Incoming {
    /// What it says.
    pub what: Submission,
    /// When another node received it, as a wats export says; otherwise it is received now.
    pub received_at: Option<Millis>,
    /// The address it comes from; the owner has none, and no limits on keys.
    pub source: Option<IpAddr>,
    /// Where its outcome goes. The client may have gone.
    pub answer: oneshot::Sender<Outcome>,
    /// Its room in memory; a word of the node's own takes none.
    pub _room: Option<OwnedSemaphorePermit>,
}

/// What is brought.
#[derive(Debug)]
pub enum Submission {
    /// An event, checked up to its id, and its text.
    Event(Box<Event>, Box<str>),
    /// A record of a blob: of a log where it says when it was received, otherwise this node's own word.
    Blob(Hex32, bool),
}

/// The keys that have weight for a reader, by network.
#[derive(Debug, Default)]
pub struct Weighty(RwLock<HashMap<Box<str>, HashSet<Hex32>>>);

impl Weighty {
    /// Whether a key has weight.
    pub fn contains(&self, network: &str, key: Hex32) -> bool {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(network).is_some_and(|keys| keys.contains(&key))
    }

    /// Whether a key has weight in any network.
    pub fn anywhere(&self, key: Hex32) -> bool {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.values().any(|keys| keys.contains(&key))
    }

    /// Says of some keys whether they have weight.
    pub fn set(&self, keys: impl IntoIterator<Item = (Box<str>, Hex32, bool)>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for (network, key, has) in keys {
            let keys = all.entry(network).or_default();
            match has {
                true => keys.insert(key),
                false => keys.remove(&key),
            };
        }
    }
}

#[derive(Clone, Debug)]
struct Lane {
    room: Arc<Semaphore>,
    bytes: usize,
    queue: Sender<Incoming>,
}

/// The way in.
#[derive(Clone, Debug)]
pub struct Lanes {
    weighty: Lane,
    others: Lane,
    patience: Duration,
}

/// The other end of the lanes.
#[derive(Clone, Debug)]
pub(crate) struct Exits {
    weighty: Receiver<Incoming>,
    others: Receiver<Incoming>,
}

/// Makes the lanes.
pub(crate) fn lanes(limits: &Limits) -> (Lanes, Exits) {
    let bytes = (limits.waiting_bytes / 2).max(wats_event::MAX_BYTES);
    // Each event takes a kilobyte of room at least, so the queue never fills before the room does.
    let lane = || {
        let (queue, exit) = bounded(bytes / LEAST_BYTES + 1);
        (Lane { room: Arc::new(Semaphore::new(bytes)), bytes, queue }, exit)
    };
    let ((weighty, a), (others, b)) = (lane(), lane());
    (Lanes { weighty, others, patience: limits.patience }, Exits { weighty: a, others: b })
}

impl Lanes {
    /// Brings something in; what became of it comes by the receiver.
    ///
    /// # Errors
    /// When there is no room within the time, or the node is stopping.
    pub async fn bring(
        &self,
        what: Submission,
        received_at: Option<Millis>,
        weighty: bool,
        source: Option<IpAddr>,
    ) -> Result<oneshot::Receiver<Outcome>, Unavailable> {
        let lane = if weighty { &self.weighty } else { &self.others };
        let text = match &what {
            Submission::Event(_, text) => text.len(),
            Submission::Blob(..) => 0,
        };
        let size = u32::try_from(text.clamp(LEAST_BYTES, lane.bytes)).unwrap_or(u32::MAX);
        let wait = tokio::time::timeout(self.patience, lane.room.clone().acquire_many_owned(size));
        let room = match wait.await {
            Ok(Ok(room)) => room,
            // The semaphore is never closed.
            Ok(Err(_)) => return Err(Unavailable::Stopping),
            Err(_) => return Err(Unavailable::Busy),
        };
        let (answer, outcome) = oneshot::channel();
        let incoming = Incoming { what, received_at, source, answer, _room: Some(room) };
        lane.queue.try_send(incoming).map_err(|e| match e.is_disconnected() {
            true => Unavailable::Stopping,
            false => Unavailable::Busy,
        })?;
        Ok(outcome)
    }

    /// Bytes that wait: of keys with weight, and of others.
    pub fn waiting(&self) -> [usize; 2] {
        [&self.weighty, &self.others].map(|lane| lane.bytes - lane.room.available_permits().min(lane.bytes))
    }
}

impl Exits {
    /// Waits a while for something, then takes what is there, at most `most`: three of keys with weight
    /// for one of others while both wait. Nothing where nothing came.
    pub(crate) fn take(&self, most: usize, wait: Duration) -> Vec<Incoming> {
        let mut taken = Vec::new();
        select! {
            recv(self.weighty) -> one => taken.extend(one),
            recv(self.others) -> one => taken.extend(one),
            default(wait) => {}
        }
        while !taken.is_empty() && taken.len() < most {
            let before = taken.len();
            for (lane, share) in [(&self.weighty, 3), (&self.others, 1)] {
                taken.extend(lane.try_iter().take(share));
            }
            if taken.len() == before {
                break;
            }
        }
        taken
    }
}
