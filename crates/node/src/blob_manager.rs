//! What is on the disk and what the sequence says of it, kept one: the files at start, blobs that come
//! and go, and the budget (section 8).
//!
//! A pass takes blobs from the front of the order that the views keep, so it costs what it evicts. It
//! sees pins as of the last tick, and waits a little for the views when they are behind.

use super::admission::{Incoming, Submission};
use super::outcome::{Outcome, Unavailable};
use super::state::{NodeState, Phase};
use super::verify::Checked;
use crossbeam::channel::Sender;
use std::collections::HashMap;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use wats_event::Hex32;
use wats_model::fixed::Fixed;
use wats_model::ids::Millis;
use wats_store::blobs::{Found, Gone, Short, Taken, Why};
use wats_store::{Appender, Ranked, Seq, StoreError};

/// Blobs that go with one sync.
const BATCH: usize = 256;
/// Blobs of the pool that are looked at for one upload.
const LOOKED_AT: usize = 1024;
/// How long a pass waits for the views.
const PATIENCE: Duration = Duration::from_secs(2);
const BEAT: Duration = Duration::from_secs(1);
const NAP: Duration = Duration::from_millis(50);

/// Why blobs could not be looked after.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Their files.
    #[error("the files of blobs: {0}")]
    Files(#[from] io::Error),
    /// It could not be said in the sequence.
    #[error("{}", .0.reason())]
    Unsaid(Unavailable),
}

/// What a pass did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Blobs that went.
    pub blobs: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A blob that goes, with its length and what stands behind it.
type Going = (Hex32, u64, String);

/// Makes the files and the records agree, before anything is read from the sequence: a blob without a
/// file is not held, and a file without a record is taken in when it is what its name says.
///
/// # Errors
/// When the store or the disk fails.
pub(crate) fn look(core: &NodeState, appender: &mut Appender) -> Result<(), KeepError> {
    let files = &core.blobs.files;
    for path in files.unfinished()? {
        std::fs::remove_file(path)?;
    }
    let mut said: HashMap<Hex32, Millis> = HashMap::new();
    for word in core.store.blob_words() {
        let (blob, at) = word?;
        if at.present {
            said.insert(blob, at.received_at);
        }
    }
    let (now, mut unsaid) = (core.clock.now(), Vec::new());
    files.all(|found| match found {
        Found::Stray(path) => tracing::warn!(path = %path.display(), "not the file of a blob"),
        Found::Blob(blob, size) => match said.remove(&blob) {
            Some(since) => core.blobs.accounts().keep(blob, size, since),
            None => unsaid.push((blob, size)),
        },
    })?;
    let taken_in = adopt(core, unsaid)?;
    let words = taken_in.iter().map(|(blob, _)| (*blob, true)).chain(said.keys().map(|blob| (*blob, false)));
    for (blob, present) in words {
        let at = appender.own_word(blob, present, now)?;
        appender.blob(blob, present, at)?;
    }
    match appender.commit() {
        Ok(last) => core.durable.store(last.0, Ordering::Release),
        // The next start says it.
        Err(StoreError::Full(why)) => tracing::warn!(why, "what became of blobs could not be written"),
        Err(e) => return Err(e.into()),
    }
    let mut accounts = core.blobs.accounts();
    for (blob, size) in taken_in {
        accounts.keep(blob, size, now);
    }
    for blob in said.into_keys() {
        tracing::warn!(%blob, "its file is gone: it is not held any longer");
        core.metrics.gone(Why::Missing, 0);
        accounts.gone(Gone { blob, size: 0, at: now, why: Why::Missing, reason: "no file at start".into() });
    }
    Ok(())
}

/// Of files without a record, those that are what their names say; the others are removed.
fn adopt(core: &NodeState, unsaid: Vec<(Hex32, u64)>) -> Result<Vec<(Hex32, u64)>, KeepError> {
    let mut taken_in = Vec::new();
    for (blob, size) in unsaid {
        if core.blobs.files.is_whole(blob)? {
            tracing::info!(%blob, size, "a file without a record is taken in");
            taken_in.push((blob, size));
        } else {
            tracing::warn!(%blob, size, "a file that is not what its name says is removed");
            core.blobs.files.remove(blob)?;
        }
    }
    Ok(taken_in)
}

/// Takes blobs in and evicts them.
#[derive(Debug)]
pub struct Keeper {
    core: Arc<NodeState>,
    to_commit: Sender<Vec<Checked>>,
    stop: CancellationToken,
    /// One pass at a time.
    pass: Mutex<()>,
}

impl Keeper {
    /// A keeper that writes its words by way of the committing thread.
    pub fn new(core: Arc<NodeState>, to_commit: Sender<Vec<Checked>>, stop: CancellationToken) -> Keeper {
        Keeper { core, to_commit, stop, pass: Mutex::default() }
    }

    /// What it shares with the other threads.
    pub fn core(&self) -> &Arc<NodeState> {
        &self.core
    }

    /// The keeping thread's life: once a second it looks whether there is too much.
    pub fn run(&self) {
        let storage = &self.core.blobs.storage;
        while !self.stop.is_cancelled() {
            self.core.blobs.uploads.expire();
            let above = self.core.blobs.accounts().above(storage.high_water, 0);
            if above > 0
                && self.core.phase() == Phase::Ready
                && let Err(error) = self.evict(self.low_water(), 0, None)
            {
                tracing::warn!(%error, "blobs could not be evicted");
            }
            let next = Instant::now() + BEAT;
            while Instant::now() < next && !self.stop.is_cancelled() {
                thread::sleep(NAP);
            }
        }
    }

    /// Bytes that a pass leaves.
    pub fn low_water(&self) -> u64 {
        let storage = &self.core.blobs.storage;
        storage.low_water.min(storage.high_water)
    }

    /// Says in the sequence which blobs are here now and which are not, and waits until it is durable.
    fn say(&self, words: impl IntoIterator<Item = (Hex32, bool)>) -> Result<(), KeepError> {
        let (received_at, mut answers, mut group) = (self.core.clock.now(), Vec::new(), Vec::new());
        for (blob, present) in words {
            let (answer, answered) = oneshot::channel();
            let what = Submission::Blob(blob, present);
            let incoming = Incoming { what, received_at: None, source: None, answer, _room: None };
            group.push(Checked { incoming, received_at });
            answers.push(answered);
        }
        if group.is_empty() {
            return Ok(());
        }
        let stopping = || KeepError::Unsaid(Unavailable::Stopping);
        self.to_commit.send(group).map_err(|_| stopping())?;
        for answered in answers {
            if let Outcome::Unavailable { why, .. } = answered.blocking_recv().map_err(|_| stopping())? {
                return Err(KeepError::Unsaid(why));
            }
        }
        Ok(())
    }

    /// An upload of which everything came, and is what its name says, becomes a blob: durable when this
    /// returns. Whether it is new.
    ///
    /// # Errors
    /// When the disk fails, or it could not be said; then the blob is not held.
    pub fn finish(&self, blob: Hex32, taken: Taken) -> Result<bool, KeepError> {
        let blobs = &self.core.blobs;
        let _lock = blobs.lock([blob]);
        if blobs.accounts().size(blob).is_some() {
            taken.discard();
            return Ok(false);
        }
        let Some((reserved, size)) = taken.place()? else {
            return Ok(false);
        };
        if let Err(e) = self.say([(blob, true)]) {
            blobs.files.remove(blob)?;
            return Err(e);
        }
        reserved.keep(size, self.core.clock.now());
        Ok(true)
    }

    /// A blob whose file is gone, or is not what its name says, is held no longer.
    pub fn lose(&self, blob: Hex32, why: Why) {
        let Some(size) = self.core.blobs.accounts().size(blob) else {
            return;
        };
        tracing::error!(%blob, size, why = why.as_str(), "a blob was lost on this disk: it is not held any longer");
        if let Err(error) = self.let_go(vec![(blob, size, "found on reading".into())], why) {
            tracing::warn!(%blob, %error, "that could not be written; the next to read it will try again");
        }
    }

    /// Blobs go: first the record, then the file.
    fn let_go(&self, going: Vec<Going>, why: Why) -> Result<Passed, KeepError> {
        let blobs = &self.core.blobs;
        let _locks = blobs.lock(going.iter().map(|(blob, ..)| *blob));
        let reader = self.core.store.read();
        let mut still = Vec::with_capacity(going.len());
        for (blob, size, reason) in going {
            let stays = match why {
                Why::Budget | Why::Unattached => reader.rank(blob)?.is_some_and(|rank| rank.pinned),
                // Somebody may have brought it again meanwhile.
                Why::Damaged | Why::Missing => blobs.files.is_whole(blob)?,
            };
            if !stays && blobs.accounts().size(blob).is_some() {
                still.push((blob, size, reason));
            }
        }
        self.say(still.iter().map(|(blob, ..)| (*blob, false)))?;
        let (at, mut passed) = (self.core.clock.now(), Passed::default());
        for (blob, size, reason) in still {
            // A file that cannot be removed has no record: the next start sees to it.
            if let Err(error) = blobs.files.remove(blob) {
                tracing::warn!(%blob, %error, "its file cannot be removed");
            }
            blobs.doubt(blob);
            tracing::debug!(%blob, size, why = why.as_str(), reason, "a blob went");
            passed.blobs += 1;
            passed.bytes += size;
            self.core.metrics.gone(why, size);
            let mut accounts = blobs.accounts();
            accounts.forget(blob);
            accounts.gone(Gone { blob, size, at, why, reason });
        }
        Ok(passed)
    }

    /// Evicts in increasing rank until blobs, and `more` bytes that come, are not above a mark; never what
    /// is pinned, and nothing of the rank `below` or a higher one.
    ///
    /// # Errors
    /// When the store fails, or it could not be said.
    pub fn evict(&self, mark: u64, more: u64, below: Option<Ranked>) -> Result<Passed, KeepError> {
        let _one = self.pass.lock().unwrap_or_else(PoisonError::into_inner);
        self.wait_for_views();
        let (began, mut after, mut all) = (Instant::now(), None, Passed::default());
        while self.core.blobs.accounts().above(mark, more) > 0 && !self.stop.is_cancelled() {
            let first = self.core.store.read().first_to_go(after.as_deref(), below, BATCH)?;
            let Some(last) = first.last() else {
                break;
            };
            after = Some(last.key.clone());
            let mut need = self.core.blobs.accounts().above(mark, more);
            let mut going = Vec::new();
            for standing in first {
                // What went meanwhile is still in the views of the last tick.
                let size = self.core.blobs.accounts().size(standing.blob);
                let Some(size) = size.filter(|_| need > 0) else {
                    continue;
                };
                need = need.saturating_sub(size);
                going.push((standing.blob, size, reason(standing.rank)));
            }
            let Passed { blobs, bytes } = self.let_go(going, Why::Budget)?;
            all.blobs += blobs;
            all.bytes += bytes;
        }
        if all.blobs > 0 {
            let left = self.core.blobs.accounts().sums().used;
            let took_ms = began.elapsed().as_millis() as u64;
            tracing::info!(
                blobs = all.blobs,
                bytes = all.bytes,
                left,
                took_ms,
                "evicted the blobs of the lowest rank"
            );
        }
        Ok(all)
    }

    /// What the records say so far is to be in the views: an own post may have come that pins a blob.
    fn wait_for_views(&self) {
        let (durable, until) = (Seq(self.core.durable.load(Ordering::Acquire)), Instant::now() + PATIENCE);
        while Seq(self.core.shown.load(Ordering::Acquire)) < durable && Instant::now() < until {
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Makes room for `size` bytes of a blob, where what is less worth can go; whether there may be room
    /// now.
    ///
    /// # Errors
    /// When the store fails, or it could not be said.
    pub fn make_room(&self, blob: Hex32, size: u64, short: Short) -> Result<bool, KeepError> {
        match short {
            Short::Unattached(need) => self.displace(need),
            Short::Budget(need) => {
                let known = self.core.store.read().rank(blob)?;
                let below = match known {
                    Some(record) if record.pinned => None,
                    record => Some(record.and_then(|record| record.rank)),
                };
                if !self.would_yield(need, below)? {
                    return self.displace(need);
                }
                Ok(self.evict(self.low_water(), size, below)?.blobs > 0)
            }
        }
    }

    /// Whether so many bytes can go; it costs what they would.
    fn would_yield(&self, need: u64, below: Option<Ranked>) -> Result<bool, KeepError> {
        let (mut after, mut left) = (None, need);
        loop {
            let first = self.core.store.read().first_to_go(after.as_deref(), below, BATCH)?;
            let Some(last) = first.last() else {
                return Ok(false);
            };
            after = Some(last.key.clone());
            let accounts = self.core.blobs.accounts();
            for standing in &first {
                left = left.saturating_sub(accounts.size(standing.blob).unwrap_or(0));
            }
            if left == 0 {
                return Ok(true);
            }
        }
    }

    /// Lets go of blobs that were charged to no key for long and that nobody relies on, the oldest first,
    /// if there are enough of them.
    fn displace(&self, need: u64) -> Result<bool, KeepError> {
        let _one = self.pass.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.core.clock.now();
        let before = Millis(now.0.saturating_sub(self.core.blobs.storage.unattached_for.0));
        let (mut left, mut going) = (need, Vec::new());
        let oldest = self.core.blobs.accounts().oldest_unattached(before, LOOKED_AT);
        for (blob, size) in oldest {
            let record = self.core.store.read().rank(blob)?;
            let relied = record.is_some_and(|record| {
                record.pinned || record.rank.is_some_and(|(score, used, _)| used || score > Fixed::ZERO)
            });
            if !relied && left > 0 {
                left = left.saturating_sub(size);
                going.push((blob, size, "no key was charged for it, and others came".to_owned()));
            }
        }
        if left > 0 {
            return Ok(false);
        }
        let passed = self.let_go(going, Why::Unattached)?;
        tracing::info!(
            blobs = passed.blobs,
            bytes = passed.bytes,
            "blobs that no key was charged for went for others"
        );
        Ok(passed.blobs > 0)
    }
}

/// Why a blob is next to go, for the owner.
pub(crate) fn reason(rank: Ranked) -> String {
    let Some((score, used, created_at)) = rank else {
        return "no post that counts holds it".to_owned();
    };
    let used = if used { "used or cited" } else { "not used" };
    let date = i64::try_from(created_at.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let date = date.map_or_else(|| created_at.0.to_string(), |date| date.to_string());
    format!(
        "the best post that holds it has score {}, is {used}, and of {date}",
        wats_config::decimal(score.0)
    )
}
