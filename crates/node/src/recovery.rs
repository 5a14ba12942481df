//! Start: the sequence through the dataflow, then the stored views compared with what it says.

use super::NodeError;
use super::commit::{Committed, Durable};
use super::state::{NodeState, Phase};
use super::tick_loop::Driver;
use super::view_writer;
use crossbeam::channel::{Sender, bounded};
use std::sync::atomic::Ordering;
use std::thread;
use wats_engine::replay::Bounds;
use wats_event::log::read_stored;
use wats_event::{Code, admit};
use wats_store::{Compared, Seq, SequenceRecord, StoreError, TickMark, ViewBatch};

/// Records that are read at a time.
const CHUNK: usize = 4096;

/// What loading found.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Records that were taken in.
    pub records: u64,
    /// Stored events that this configuration refuses: of networks that it does not carry, or with
    /// less work than it asks for; and those that only an earlier edition took. They stay in the store.
    pub left_out: u64,
    /// How the stored views compared, before they were corrected.
    pub views: Compared,
    /// What corrects them, where it was not written.
    pub correct: ViewBatch,
}

/// How far to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// To the end of the sequence and the present time; stored views are corrected.
    End,
    /// To what the stored views are of, in records and in time; nothing is written.
    Views(TickMark),
}

/// Reads the store into a driver that holds nothing, and compares its views with the stored ones. None
/// when the node was told to stop meanwhile.
///
/// # Errors
/// When the store is damaged or fails, or names run out.
pub fn load(core: &NodeState, driver: &mut Driver, until: Until) -> Result<Option<Loaded>, NodeError> {
    core.store.check_rebuilt()?;
    let mut loaded = Loaded::default();
    let last = match until {
        Until::End => core.store.last()?,
        Until::Views(ticked) => ticked.through,
    };
    core.to_load.store(last.0, Ordering::Relaxed);
    let (chunks, ready) = bounded::<Result<Chunk, StoreError>>(4);
    thread::scope(|scope| {
        scope.spawn(move || read(core, last, &chunks));
        let places = scope.spawn(|| core.store.check_places());
        for chunk in ready {
            if core.phase() == Phase::Stopping {
                return Ok(());
            }
            let chunk = chunk?;
            core.lives();
            loaded.records += chunk.records.len() as u64;
            loaded.left_out += chunk.left_out;
            core.loaded.store(chunk.through.0, Ordering::Relaxed);
            driver.take(chunk.records)?;
            driver.passed(chunk.through);
            if driver.pending() >= Bounds::BULK.records {
                driver.tick_of_loading()?;
            }
        }
        if let Ok(checked) = places.join() {
            checked?;
        }
        Ok::<(), NodeError>(())
    })?;
    if core.phase() == Phase::Stopping {
        return Ok(None);
    }
    driver.tick_of_loading()?;
    let (compared, correct) = core.store.compare(view_writer::all(&driver.document, &driver.intake)?)?;
    loaded.views = compared;
    match until {
        Until::End => driver.publish_loaded(correct)?,
        Until::Views(_) => loaded.correct = correct,
    }
    Ok(Some(loaded))
}

/// Some records in the order of the sequence.
struct Chunk {
    records: Vec<Durable>,
    left_out: u64,
    through: Seq,
}

/// Reads and parses ahead of the dataflow, until the sequence ends or nobody listens.
fn read(core: &NodeState, last: Seq, chunks: &Sender<Result<Chunk, StoreError>>) {
    let mut chunk = Chunk { records: Vec::with_capacity(CHUNK), left_out: 0, through: Seq(0) };
    for item in core.store.records(Seq(0)).take_while(|item| !item.as_ref().is_ok_and(|(seq, _)| *seq > last))
    {
        match item.and_then(|(seq, logged)| Ok((seq, record(core, seq, logged)?))) {
            Ok((seq, record)) => {
                chunk.through = seq;
                chunk.left_out += u64::from(record.is_none());
                chunk.records.extend(record);
            }
            Err(e) => {
                // The error is the last message; the loading thread may have gone.
                let _ = chunks.send(Err(e));
                return;
            }
        }
        if chunk.records.len() >= CHUNK {
            let through = chunk.through;
            let full = std::mem::replace(
                &mut chunk,
                Chunk { records: Vec::with_capacity(CHUNK), left_out: 0, through },
            );
            if chunks.send(Ok(full)).is_err() {
                return;
            }
        }
    }
    let _ = chunks.send(Ok(chunk));
}

/// A stored record, checked again but for its signature: an id that is the hash of the event shows
/// that no bit of it has changed. None where the configuration refuses what was once taken.
fn record(core: &NodeState, seq: Seq, logged: SequenceRecord) -> Result<Option<Durable>, StoreError> {
    let received_at = logged.received_at();
    let damaged = |what: String| StoreError::Damaged(format!("record {} of the sequence: {what}", seq.0));
    let (id, text) = match logged {
        SequenceRecord::Blob { blob, present, .. } => {
            return Ok(Some(Durable { seq, received_at, what: Committed::Blob(blob, present) }));
        }
        SequenceRecord::Copy { id, .. } => {
            let place =
                core.store.event(id)?.ok_or_else(|| damaged(format!("a copy of {id}, which is not held")))?;
            (id, place.text)
        }
        SequenceRecord::Event { id, text, .. } => (id, text),
    };
    match read_stored(&text, id, &core.rules) {
        Ok(None) => Ok(None),
        Ok(Some((event, _))) if event.id == id => {
            let admitted = admit(&event, received_at, &core.rules).is_ok();
            Ok(admitted.then(|| Durable { seq, received_at, what: Committed::Event(Box::new(event)) }))
        }
        Ok(Some(_)) => Err(damaged(format!("is not the event {id}"))),
        Err(refusal) if refusal.code == Code::WrongNetwork => Ok(None),
        Err(refusal) => Err(damaged(format!("event {id}: {refusal}"))),
    }
}
