//! Taking records in: many, one sync, then they are held.

use super::codec::{decode, encode};
use super::records::{BlobAt, HeldAt, KeySeen, Logged, Seq, scoped};
use super::{Family, Store, StoreError, synced};
use crate::event::{Content, Event, Hex32};
use rocksdb::WriteBatch;
use std::collections::HashMap;
use std::sync::Arc;
use wats_dataflows::ids::Millis;

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It is held, at this place.
    New(Seq),
    /// The event was held since a later time: the earlier one counts from now on.
    Earlier(Seq),
    /// It was held already, or says nothing new.
    Known(Seq),
}

/// The one who writes the sequence. Nothing is held before [`Appender::commit`] returns.
pub struct Appender {
    store: Arc<Store>,
    /// The last place that was given.
    last: Seq,
    /// The last place that is durable.
    durable: Seq,
    batch: WriteBatch,
    /// What the batch will say, for those that follow in it.
    events: HashMap<Hex32, HeldAt>,
    keys: HashMap<Vec<u8>, KeySeen>,
    blobs: HashMap<Hex32, BlobAt>,
}

impl std::fmt::Debug for Appender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Appender").field("last", &self.last).field("durable", &self.durable).finish()
    }
}

impl Appender {
    /// Appends to a store; there must be no other.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn new(store: Arc<Store>) -> Result<Appender, StoreError> {
        let last = store.last()?;
        Ok(Appender {
            store,
            last,
            durable: last,
            batch: WriteBatch::default(),
            events: HashMap::new(),
            keys: HashMap::new(),
            blobs: HashMap::new(),
        })
    }

    /// Where a held event is, those of this batch included.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn held(&self, id: Hex32) -> Result<Option<HeldAt>, StoreError> {
        match self.events.get(&id) {
            Some(held) => Ok(Some(*held)),
            None => self.store.held(id),
        }
    }

    /// Adds an event that passed every check; `text` is its JSON text on one line.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn event(&mut self, event: &Event, received_at: Millis, text: &str) -> Result<Added, StoreError> {
        let id = event.id;
        let Some(held) = self.held(id)? else {
            let text = text.to_owned();
            let seq = self.push(&Logged::Event { received_at, id, text })?;
            self.hold(id, HeldAt { seq, received_at })?;
            self.saw(event, received_at, true)?;
            return Ok(Added::New(seq));
        };
        if held.received_at <= received_at {
            return Ok(Added::Known(held.seq));
        }
        let seq = self.push(&Logged::Copy { received_at, id })?;
        self.hold(id, HeldAt { received_at, ..held })?;
        self.saw(event, received_at, false)?;
        Ok(Added::Earlier(seq))
    }

    /// Adds a record of a blob.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn blob(&mut self, blob: Hex32, present: bool, received_at: Millis) -> Result<Added, StoreError> {
        let before = match self.blobs.get(&blob) {
            Some(at) => Some(*at),
            None => self.store.blob(blob)?,
        };
        let seq = self.last;
        let now = match before {
            Some(at) if received_at < at.received_at => return Ok(Added::Known(seq)),
            // On a tie absence is the last word (section 1.2).
            Some(at) if received_at == at.received_at && (present || !at.present) => {
                return Ok(Added::Known(seq));
            }
            _ => BlobAt { received_at, present },
        };
        let seq = self.push(&Logged::Blob { received_at, blob, present })?;
        self.batch.put_cf(self.store.family(Family::Blobs), blob.0, encode(&now)?);
        self.blobs.insert(blob, now);
        Ok(Added::New(seq))
    }

    /// The last place that was given.
    pub fn last(&self) -> Seq {
        self.last
    }

    /// Records in the batch.
    pub fn pending(&self) -> u64 {
        self.last.0 - self.durable.0
    }

    /// Lets go of the batch: nothing of it was written.
    pub fn abandon(&mut self) {
        self.batch = WriteBatch::default();
        self.events.clear();
        self.keys.clear();
        self.blobs.clear();
        self.durable = self.last;
    }

    /// Makes the batch durable: one sync. When it fails nothing of it is held, and its places are not
    /// given again: whatever of it may have reached the disk stands at places of its own.
    ///
    /// # Errors
    /// When the disk fails or is full.
    pub fn commit(&mut self) -> Result<Seq, StoreError> {
        let (batch, pending) = (std::mem::take(&mut self.batch), self.pending());
        self.abandon();
        if pending > 0 {
            self.store.db.write_opt(batch, &synced())?;
            self.store.acknowledge(self.last);
        }
        Ok(self.last)
    }

    fn push(&mut self, logged: &Logged) -> Result<Seq, StoreError> {
        let seq = Seq(self.last.0 + 1);
        self.batch.put_cf(self.store.family(Family::Sequence), seq.0.to_be_bytes(), encode(logged)?);
        self.last = seq;
        Ok(seq)
    }

    fn hold(&mut self, id: Hex32, held: HeldAt) -> Result<(), StoreError> {
        self.batch.put_cf(self.store.family(Family::Events), id.0, encode(&held)?);
        self.events.insert(id, held);
        Ok(())
    }

    fn saw(&mut self, event: &Event, received_at: Millis, new: bool) -> Result<(), StoreError> {
        let key = scoped(&event.net, &event.author);
        let seen = match self.keys.get(&key) {
            Some(seen) => Some(*seen),
            None => match self.store.db.get_pinned_cf(self.store.family(Family::Keys), &key)? {
                Some(bytes) => Some(decode::<KeySeen>(&bytes)?),
                None => None,
            },
        };
        let seen = seen.unwrap_or(KeySeen { first: received_at, events: 0, announce: None });
        let announce = matches!(event.content, Content::Announce { .. });
        let seen = KeySeen {
            first: seen.first.min(received_at),
            events: seen.events + u64::from(new),
            announce: seen.announce.max(announce.then_some((event.created_at, event.id))),
        };
        self.batch.put_cf(self.store.family(Family::Keys), &key, encode(&seen)?);
        self.keys.insert(key, seen);
        Ok(())
    }
}
