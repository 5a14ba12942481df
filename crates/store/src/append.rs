//! Taking records in: many, one sync, then they are held.

use super::codec::{decode, encode};
use super::records::{BlobPresence, EventLocation, KeyStats, Seq, SequenceRecord, ShownRecord, scoped};
use super::{Family, Store, StoreError, synced};
use rocksdb::WriteBatch;
use std::collections::HashMap;
use std::sync::Arc;
use wats_event::{Content, Event, Hex32, Post};
use wats_model::ids::Millis;

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// It is held, at this place.
    New(Seq),
    /// The event was held since a later time: the earlier one counts from now on.
    Earlier(Seq),
    /// It was held already, or says nothing new.
    Known(Seq),
}

/// The one who writes the sequence. Nothing is held before [`Appender::commit`] returns.
pub struct Appender {
    pub(super) store: Arc<Store>,
    /// The last place that was given.
    last: Seq,
    /// The last place that is durable.
    durable: Seq,
    pub(super) batch: WriteBatch,
    /// What the batch will say, for those that follow in it.
    pub(super) events: HashMap<Hex32, EventLocation>,
    keys: HashMap<Vec<u8>, KeyStats>,
    pub(super) blobs: HashMap<Hex32, BlobPresence>,
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
    /// When the store cannot be read, or a repair of it was broken off: what is held could not be told.
    pub fn new(store: Arc<Store>) -> Result<Appender, StoreError> {
        store.check_rebuilt()?;
        Appender::on(store)
    }

    pub(super) fn on(store: Arc<Store>) -> Result<Appender, StoreError> {
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
    pub fn held(&self, id: Hex32) -> Result<Option<EventLocation>, StoreError> {
        match self.events.get(&id) {
            Some(held) => Ok(Some(*held)),
            None => self.store.held(id),
        }
    }

    /// Adds an event that passed every check; `text` is its JSON text on one line.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn event(
        &mut self,
        event: &Event,
        received_at: Millis,
        text: &str,
    ) -> Result<AppendOutcome, StoreError> {
        let id = event.id;
        let Some(held) = self.held(id)? else {
            let text = text.to_owned();
            let seq = self.push(&SequenceRecord::Event { received_at, id, text })?;
            self.hold(id, EventLocation { seq, received_at })?;
            self.relate(event, seq)?;
            self.saw(event, received_at, true)?;
            return Ok(AppendOutcome::New(seq));
        };
        if held.received_at <= received_at {
            return Ok(AppendOutcome::Known(held.seq));
        }
        let seq = self.push(&SequenceRecord::Copy { received_at, id })?;
        self.hold(id, EventLocation { received_at, ..held })?;
        self.saw(event, received_at, false)?;
        Ok(AppendOutcome::Earlier(seq))
    }

    /// Adds a record of a blob.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn blob(
        &mut self,
        blob: Hex32,
        present: bool,
        received_at: Millis,
    ) -> Result<AppendOutcome, StoreError> {
        let said = BlobPresence { received_at, present };
        let Some(now) = said.after(self.blob_at(blob)?) else {
            return Ok(AppendOutcome::Known(self.last));
        };
        let seq = self.push(&SequenceRecord::Blob { received_at, blob, present })?;
        self.keep_blob(blob, now)?;
        Ok(AppendOutcome::New(seq))
    }

    /// Whether the file of a blob is there.
    pub fn has_blob(&self, blob: Hex32) -> bool {
        self.store.blob_files().has(blob)
    }

    /// When the node's own word on a blob counts from: now, unless the last word is of a later time, or
    /// of the same and would win. A word that says nothing new gets the time of the one before.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn own_word(&self, blob: Hex32, present: bool, now: Millis) -> Result<Millis, StoreError> {
        Ok(match self.blob_at(blob)? {
            None => now,
            Some(last) if last.present == present => last.received_at,
            Some(last) => now.max(Millis(last.received_at.0 + u64::from(present))),
        })
    }

    pub(super) fn blob_at(&self, blob: Hex32) -> Result<Option<BlobPresence>, StoreError> {
        match self.blobs.get(&blob) {
            Some(at) => Ok(Some(*at)),
            None => self.store.blob(blob),
        }
    }

    pub(super) fn keep_blob(&mut self, blob: Hex32, at: BlobPresence) -> Result<(), StoreError> {
        self.batch.put_cf(self.store.family(Family::Blobs), blob.0, encode(&at)?);
        self.blobs.insert(blob, at);
        Ok(())
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

    fn push(&mut self, logged: &SequenceRecord) -> Result<Seq, StoreError> {
        let seq = Seq(self.last.0 + 1);
        self.batch.put_cf(self.store.family(Family::Sequence), seq.0.to_be_bytes(), encode(logged)?);
        self.last = seq;
        Ok(seq)
    }

    pub(super) fn hold(&mut self, id: Hex32, held: EventLocation) -> Result<(), StoreError> {
        self.batch.put_cf(self.store.family(Family::Events), id.0, encode(&held)?);
        self.events.insert(id, held);
        Ok(())
    }

    /// What an event is said of: the thread of a reply, the target of a react.
    pub(super) fn relate(&mut self, event: &Event, seq: Seq) -> Result<(), StoreError> {
        let (family, mut key) = match &event.content {
            Content::Post(Post { reply: Some((_, thread)), .. }) => {
                (Family::Replies, scoped(&event.net, thread))
            }
            Content::React(react) => (Family::Reacts, scoped(&event.net, &react.target)),
            _ => return Ok(()),
        };
        key.extend_from_slice(&seq.0.to_be_bytes());
        self.batch.put_cf(self.store.family(family), key, encode(&ShownRecord { event: event.id })?);
        Ok(())
    }

    pub(super) fn saw(&mut self, event: &Event, received_at: Millis, new: bool) -> Result<(), StoreError> {
        let key = scoped(&event.net, &event.author);
        let seen = match self.keys.get(&key) {
            Some(seen) => Some(*seen),
            None => match self.store.db.get_pinned_cf(self.store.family(Family::Keys), &key)? {
                Some(bytes) => Some(decode::<KeyStats>(&bytes)?),
                None => None,
            },
        };
        let seen = seen.unwrap_or(KeyStats { first: received_at, events: 0, announce: None });
        let announce = matches!(event.content, Content::Announce { .. });
        let seen = KeyStats {
            first: seen.first.min(received_at),
            events: seen.events + u64::from(new),
            announce: seen.announce.max(announce.then_some((event.created_at, event.id))),
        };
        self.batch.put_cf(self.store.family(Family::Keys), &key, encode(&seen)?);
        self.keys.insert(key, seen);
        Ok(())
    }
}
