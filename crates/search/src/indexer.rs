//! Following the store: what the sequence holds becomes findable.
//!
//! The sequence itself is what is read, at start and later: a message only says that there is more, so
//! that none can be lost, and what is indexed is durable by then. Commits come often enough for an event
//! to be found within a second of its acknowledgement, and seldom enough for bulk loads.

use super::SearchError;
use super::document::Document;
use super::index::{Index, Mark, indexed};
use crossbeam::channel::{Receiver, RecvTimeoutError, TryRecvError};
use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tantivy::{IndexWriter, TantivyError};
use wats_store::{Seq, SequenceRecord, Store};

/// From one commit to the next, at least.
const PERIOD: Duration = Duration::from_millis(250);
/// And at most, while commits take long and there is something new.
const LONGEST: Duration = Duration::from_millis(600);
/// From one commit to the next while far behind: nobody waits for one event of so many.
const FAR_PERIOD: Duration = Duration::from_secs(5);
/// How many records behind is far.
const FAR: u64 = 100_000;
/// Text that waits to be indexed, or is findable after the next commit, in bytes: it is in memory.
const WAITING_BYTES: usize = 64 << 20;
/// Records without an event to find after which a commit tells that they were seen.
const SILENT: u64 = 100_000;
/// Before another try after a failure: doubled each time, up to [`MOST_PATIENCE`].
const PATIENCE: Duration = Duration::from_secs(1);
const MOST_PATIENCE: Duration = Duration::from_secs(60);

/// What following amounted to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Records of the sequence that were looked at.
    pub records: u64,
    /// Events that were added.
    pub events: u64,
}

/// Writes the index of a store. There must be no other.
pub struct Indexer {
    store: Arc<Store>,
    index: Arc<Index>,
    writer: Option<IndexWriter>,
    /// How far was read.
    mark: Mark,
    /// Events added since the last commit.
    added: u64,
    /// And their text, in bytes.
    waiting: usize,
    committed: Instant,
    took: Duration,
}

impl std::fmt::Debug for Indexer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Indexer")
            .field("mark", &self.mark)
            .field("added", &self.added)
            .finish_non_exhaustive()
    }
}

/// Waits, whatever is said meanwhile, unless nobody is left to say anything.
fn rest(more: &Receiver<()>, wait: Duration) -> Result<(), RecvTimeoutError> {
    let until = Instant::now() + wait;
    loop {
        match more.recv_deadline(until) {
            Ok(()) => {}
            Err(RecvTimeoutError::Timeout) => return Ok(()),
            Err(disconnected) => return Err(disconnected),
        }
    }
}

/// Brings an index up to its store, and commits.
///
/// # Errors
/// When the store cannot be read, or the index cannot be written.
pub fn catch_up(store: &Arc<Store>, index: &Arc<Index>) -> Result<Followed, SearchError> {
    let mut indexer = Indexer::new(store.clone(), index.clone());
    let followed = indexer.follow(&|| false)?;
    indexer.commit()?;
    // The next to open the index must not meet a running merge.
    if let Some(writer) = indexer.writer.take() {
        writer.wait_merging_threads()?;
    }
    Ok(followed)
}

impl Indexer {
    /// An indexer that goes on where the index is.
    pub fn new(store: Arc<Store>, index: Arc<Index>) -> Indexer {
        let mark = index.mark();
        Indexer {
            store,
            index,
            writer: None,
            mark,
            added: 0,
            waiting: 0,
            committed: Instant::now().checked_sub(PERIOD).unwrap_or_else(Instant::now),
            took: Duration::ZERO,
        }
    }

    /// The indexing thread's life: it catches up, then follows whenever `more` says that something is
    /// durable, and ends when nobody can say so any more. The channel needs room for one message, and
    /// a sender that finds it full goes on: one waiting message stands for all.
    ///
    /// It does not fail: what goes wrong is logged, and tried again.
    pub fn run(mut self, more: &Receiver<()>) {
        let mut patience = PATIENCE;
        // A message that was taken while reading must not be lost.
        let heard = Cell::new(false);
        let ended = || {
            let message = more.try_recv();
            heard.set(heard.get() || message.is_ok());
            message == Err(TryRecvError::Disconnected)
        };
        loop {
            heard.set(false);
            let message = match self.step(&ended) {
                Ok(wait) => {
                    patience = PATIENCE;
                    match wait {
                        None if heard.get() => Ok(()),
                        None => more.recv().map_err(|_| RecvTimeoutError::Disconnected),
                        Some(wait) => more.recv_timeout(wait),
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, again_in = ?patience, "events are not indexed for searching");
                    self.restart(&error);
                    let wait = patience;
                    patience = (patience * 2).min(MOST_PATIENCE);
                    rest(more, wait)
                }
            };
            if message == Err(RecvTimeoutError::Disconnected) {
                break;
            }
        }
        // What came in at the last is found after the next start, if not now.
        if let Err(error) = self.follow(&|| true).and_then(|_| self.commit()) {
            tracing::warn!(%error, "the last events are indexed after the next start");
        }
    }

    /// Reads what there is, and commits when it is time; how long to wait for the next commit.
    fn step(&mut self, ended: &dyn Fn() -> bool) -> Result<Option<Duration>, SearchError> {
        self.follow(ended)?;
        if self.added == 0 {
            return Ok(None);
        }
        let since = self.committed.elapsed();
        if since < self.period(PERIOD) {
            return Ok(Some(self.period(PERIOD) - since));
        }
        self.commit()?;
        Ok(None)
    }

    /// Commits take a third of the time, if they take long.
    fn period(&self, least: Duration) -> Duration {
        least.max((self.took * 3).min(LONGEST))
    }

    /// Reads on to the end of the sequence, committing now and then; it stops early when `ended`.
    fn follow(&mut self, ended: &dyn Fn() -> bool) -> Result<Followed, SearchError> {
        self.check_store()?;
        let last = self.store.last()?;
        let far = last.0.saturating_sub(self.mark.through.0) > FAR;
        let mut followed = Followed::default();
        let store = self.store.clone();
        for item in store.records(self.mark.through) {
            let (seq, logged) = item?;
            followed.records += 1;
            followed.events += u64::from(self.take(seq, &logged)?);
            // Looking at the clock for each would cost more than it brings.
            if followed.records % 256 != 0 {
                continue;
            }
            if self.committed.elapsed() >= self.period(if far { FAR_PERIOD } else { PERIOD })
                && self.added > 0
            {
                self.commit()?;
            }
            if ended() {
                break;
            }
        }
        if self.mark.through.0 - self.index.mark().through.0 > SILENT {
            self.commit()?;
        }
        if self.added == 0 {
            self.index.reach(self.mark.through);
        }
        Ok(followed)
    }

    /// An index that is ahead of its store, or has seen another event where the store has one, is of a
    /// store that was since put back to an earlier state: it is made again.
    ///
    /// # Errors
    /// When the store cannot be read, or the index cannot be thrown away.
    pub fn check_store(&mut self) -> Result<(), SearchError> {
        let same = match self.mark.last {
            None => true,
            Some((seq, id)) => self.store.held(id)?.is_some_and(|held| held.seq == seq),
        };
        if same && self.mark.through <= self.store.last()? {
            return Ok(());
        }
        tracing::warn!("the index is of another state of the store, and is made again");
        self.clear()
    }

    fn clear(&mut self) -> Result<(), SearchError> {
        self.writer = None;
        self.index.clear()?;
        self.mark = Mark::default();
        (self.added, self.waiting) = (0, 0);
        Ok(())
    }

    /// Looks at one record; whether there is something to find in it.
    fn take(&mut self, seq: Seq, logged: &SequenceRecord) -> Result<bool, SearchError> {
        self.mark.through = seq;
        let SequenceRecord::Event { id, text, .. } = logged else {
            return Ok(false);
        };
        self.mark.last = Some((seq, *id));
        let Some(event) = Document::read(text) else {
            return Ok(false);
        };
        let document = indexed(*id, &event);
        self.writer()?.add_document(document)?;
        self.added += 1;
        self.waiting += text.len();
        if self.waiting > WAITING_BYTES {
            self.commit()?;
        }
        Ok(true)
    }

    fn writer(&mut self) -> Result<&mut IndexWriter, SearchError> {
        match &mut self.writer {
            Some(writer) => Ok(writer),
            none => Ok(none.insert(self.index.writer()?)),
        }
    }

    /// Makes findable what was added.
    fn commit(&mut self) -> Result<(), SearchError> {
        if self.mark == self.index.mark() {
            return Ok(());
        }
        let began = Instant::now();
        let (mark, index) = (self.mark, self.index.clone());
        index.commit(self.writer()?, mark)?;
        (self.added, self.waiting) = (0, 0);
        self.committed = Instant::now();
        self.took = self.committed - began;
        Ok(())
    }

    /// After a failure: on from the last commit, with a new writer; from the beginning where the index
    /// itself is damaged.
    fn restart(&mut self, error: &SearchError) {
        self.writer = None;
        (self.added, self.waiting) = (0, 0);
        self.mark = self.index.mark();
        let damaged = matches!(
            error,
            SearchError::Index(
                TantivyError::DataCorruption(_)
                    | TantivyError::OpenReadError(_)
                    | TantivyError::IncompatibleIndex(_)
                    | TantivyError::SchemaError(_)
            )
        );
        if damaged && let Err(error) = self.clear() {
            tracing::warn!(%error, "the damaged index cannot be thrown away");
        }
    }
}
