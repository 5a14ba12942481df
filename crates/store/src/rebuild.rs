//! Everything that follows from the sequence directly, made again: places, keys, blobs, relations.

use super::append::Appender;
use super::records::{BlobPresence, EventLocation, Seq, SequenceRecord};
use super::{Family, KEY_REBUILDING, Store, StoreError, synced};
use std::sync::Arc;
use wats_event::Rules;
use wats_event::log::read_stored;

/// Names of one write while rebuilding.
const REBUILT: usize = 10_000;

impl Appender {
    /// Makes again what follows from the sequence directly: places, keys and blobs.
    ///
    /// # Errors
    /// When the sequence is damaged, or the disk fails.
    pub fn rebuild(store: Arc<Store>) -> Result<(), StoreError> {
        // A store with this key holds half of what follows from the sequence.
        store.db.put_opt(KEY_REBUILDING, [], &synced())?;
        for family in Family::FOLLOWING {
            store.forget(family)?;
        }
        let mut appender = Appender::on(store.clone())?;
        for item in store.records(Seq(0)) {
            let (seq, logged) = item?;
            appender.follow(seq, &logged)?;
            if appender.events.len() + appender.blobs.len() >= REBUILT {
                appender.write()?;
            }
        }
        appender.write()?;
        Ok(store.db.delete_opt(KEY_REBUILDING, &synced())?)
    }

    fn follow(&mut self, seq: Seq, logged: &SequenceRecord) -> Result<(), StoreError> {
        match logged {
            SequenceRecord::Event { received_at, id, text } => {
                let Ok(event) = read_stored(text, *id, &Rules::any()) else {
                    return Err(StoreError::Damaged(format!("record {} is not the event {id}", seq.0)));
                };
                self.hold(*id, EventLocation { seq, received_at: *received_at })?;
                let Some((event, _)) = event else { return Ok(()) };
                self.relate(&event, seq)?;
                self.saw(&event, *received_at, true)
            }
            SequenceRecord::Copy { received_at, id } => {
                let Some(held) = self.held(*id)? else {
                    return Err(StoreError::Damaged(format!(
                        "record {} is a copy of {id}, which is not held",
                        seq.0
                    )));
                };
                let place = self.store.record_at(held.seq)?;
                self.hold(*id, EventLocation { received_at: held.received_at.min(*received_at), ..held })?;
                match read_stored(&place, *id, &Rules::any()) {
                    Ok(Some((event, _))) => self.saw(&event, *received_at, false),
                    Ok(None) | Err(_) => Ok(()),
                }
            }
            SequenceRecord::Blob { received_at, blob, present } => {
                let said = BlobPresence { received_at: *received_at, present: *present };
                match said.after(self.blob_at(*blob)?) {
                    Some(now) => self.keep_blob(*blob, now),
                    None => Ok(()),
                }
            }
        }
    }

    fn write(&mut self) -> Result<(), StoreError> {
        let batch = std::mem::take(&mut self.batch);
        self.abandon();
        Ok(self.store.db.write_opt(batch, &synced())?)
    }
}
