//! The store: RocksDB, one directory, one process.
//!
//! What was taken in is in the *sequence* and is the truth: events, copies received earlier, blobs,
//! in the order in which this node took them. It is written with one sync for many, before anybody is
//! told that an event is held. All else follows from it: where each event is, when a key was first
//! seen, the last word on a blob, and the *views*, which are written in one batch with the tick that
//! they are of. A crash may lose the last ticks, never an event, and never half a tick.

mod append;
mod blob_records;
pub mod blobs;
mod browse;
mod codec;
mod commit_watermark;
mod eviction_order;
pub mod export;
pub mod import;
mod lock;
mod options;
mod probe;
mod read;
mod rebuild;
mod records;
mod views;

pub use append::{AppendOutcome, Appender};
pub use browse::{Order, Page};
pub use codec::CodecError;
pub use eviction_order::{Ranked, Standing};
pub use lock::Lock;
pub use read::{Place, Readable, Reader, Records};
pub use records::{
    AuthorRecord, BlobPresence, EntryRecord, EventLocation, Group, GroupRecord, KeyStats, LabelRecord,
    ListedRecord, PostRecord, RankRecord, Seq, SequenceRecord, ShownRecord, TickMark, Under,
};
pub use views::{Compared, Shown, ViewBatch};

use commit_watermark::CommitWatermark;
use options::{family_options, options};
use rocksdb::checkpoint::Checkpoint;
use rocksdb::{Cache, ColumnFamilyDescriptor, DB, ErrorKind, IteratorMode, WriteOptions};
use std::io;
use std::path::{Path, PathBuf};
use wats_event::Hex32;

/// The version of the layout of column families and keys.
pub const SCHEMA: u32 = 3;

/// Why the store cannot do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds it.
    #[error("{}: is in use by {}; stop it first, or talk to it", directory.display(), holder(*pid))]
    Locked {
        /// The directory.
        directory: PathBuf,
        /// Who holds it, where that could be read.
        pid: Option<u32>,
    },
    /// It was written by a later wats.
    #[error("{}: is of schema {found}, and this wats knows up to {SCHEMA}: use the newer wats, or restore a backup", directory.display())]
    Newer {
        /// The directory.
        directory: PathBuf,
        /// Its schema.
        found: u32,
    },
    /// A stored record cannot be read.
    #[error("the store is damaged: {at}: {cause}; run `wats doctor`, or restore a backup")]
    Record {
        /// Where.
        at: String,
        /// Why.
        cause: CodecError,
    },
    /// The store contradicts itself.
    #[error("the store is damaged: {0}; run `wats doctor`, or restore a backup")]
    Damaged(String),
    /// The disk is full.
    #[error("the disk is full: {0}; free some space, and the node goes on by itself")]
    Full(String),
    /// RocksDB failed otherwise.
    #[error("the store failed: {0}")]
    Failed(#[source] rocksdb::Error),
    /// A file beside it failed.
    #[error("{}: {cause}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

impl From<rocksdb::Error> for StoreError {
    fn from(error: rocksdb::Error) -> StoreError {
        match error.kind() {
            ErrorKind::Corruption => StoreError::Damaged(error.into_string()),
            ErrorKind::IOError if is_full(error.as_ref()) => StoreError::Full(error.into_string()),
            _ => StoreError::Failed(error),
        }
    }
}

fn is_full(message: &str) -> bool {
    message.contains("No space left on device") || message.contains("NoSpace") || message.contains("no space")
}

impl From<CodecError> for StoreError {
    fn from(cause: CodecError) -> StoreError {
        StoreError::Record { at: "a record to write".into(), cause }
    }
}

/// A column family: what it maps to what, and how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Family {
    /// Schema, the store's id, the tick of the views.
    Meta,
    /// Place in the sequence -> [`SequenceRecord`].
    Sequence,
    /// Event id -> [`EventLocation`].
    Events,
    /// Network, key -> [`KeyStats`].
    Keys,
    /// Blob -> [`BlobPresence`].
    Blobs,
    /// Network, root, place -> a reply in its thread.
    Replies,
    /// Network, target, place -> a react on it.
    Reacts,
    /// Network, event -> [`PostRecord`].
    Posts,
    /// Network, key -> [`AuthorRecord`].
    Authors,
    /// Network, event, digest or thread -> [`EntryRecord`].
    Entries,
    /// Network, root, canonical answer or digest -> [`ShownRecord`].
    Threads,
    /// Blob -> [`RankRecord`].
    Ranks,
    /// Network, order, place in it -> [`GroupRecord`].
    Groups,
    /// Network, what it is under, rank, id -> [`ListedRecord`].
    Listed,
    /// The order of eviction, blob -> nothing: held blobs that are not pinned.
    Order,
    /// Blob -> how many copies: blobs of confirmed posts that are not held.
    Wants,
    /// Blob -> nothing: held blobs that are not pinned, and of which the network needs no copy.
    Spares,
    /// Network -> [`LabelRecord`]: networks that have a label.
    Labels,
}

impl Family {
    /// What follows from the sequence directly, and is written with it.
    const FOLLOWING: [Family; 5] =
        [Family::Events, Family::Keys, Family::Blobs, Family::Replies, Family::Reacts];
    /// What follows from the sequence by way of the dataflow.
    const VIEWS: [Family; 11] = [
        Family::Posts,
        Family::Authors,
        Family::Entries,
        Family::Threads,
        Family::Ranks,
        Family::Groups,
        Family::Listed,
        Family::Order,
        Family::Wants,
        Family::Spares,
        Family::Labels,
    ];

    fn all() -> impl Iterator<Item = Family> {
        [Family::Meta, Family::Sequence].into_iter().chain(Family::FOLLOWING).chain(Family::VIEWS)
    }

    fn part(self) -> Part {
        match self {
            _ if Family::FOLLOWING.contains(&self) => Part::Places,
            _ if Family::VIEWS.contains(&self) => Part::Views,
            _ => Part::Sequence,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Family::Meta => "default",
            Family::Sequence => "sequence",
            Family::Events => "events",
            Family::Keys => "keys",
            Family::Blobs => "blobs",
            Family::Replies => "replies",
            Family::Reacts => "reacts",
            Family::Posts => "posts",
            Family::Authors => "authors",
            Family::Entries => "entries",
            Family::Threads => "threads",
            Family::Ranks => "ranks",
            Family::Groups => "groups",
            Family::Listed => "listed",
            Family::Order => "order",
            Family::Wants => "wants",
            Family::Spares => "spares",
            Family::Labels => "labels",
        }
    }
}

const KEY_SCHEMA: &[u8] = b"schema";
const KEY_ID: &[u8] = b"id";
const KEY_TICKED: &[u8] = b"ticked";
/// While [`Part::Places`] is made again.
const KEY_REBUILDING: &[u8] = b"rebuilding";

/// What depends on what: damage in the first is lost, the others can be made again from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The sequence, and what the store is.
    Sequence,
    /// What follows from the sequence directly: places, keys, blobs, relations.
    Places,
    /// What follows from it by way of the dataflow.
    Views,
}

/// What a look at every block found.
#[derive(Debug, Default)]
pub struct Checked {
    /// Records in families without damage.
    pub records: u64,
    /// Where damage is, and the first of it in each family.
    pub damaged: Vec<(Part, String)>,
}

/// How much memory and disk the store may use for its own work.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Blocks kept in memory, in bytes.
    pub cache: usize,
    /// Writes kept in memory before they are sorted into files, in bytes.
    pub writes: usize,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { cache: 64 << 20, writes: 64 << 20 }
    }
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    db: DB,
    id: Hex32,
    directory: PathBuf,
    sizes: Sizes,
    acknowledged: CommitWatermark,
    /// Let go of after the database is closed.
    _lock: Lock,
}

impl Store {
    /// Opens the store in a directory, or makes one.
    ///
    /// # Errors
    /// When another process holds it, it is of a later schema, it is damaged, or the disk fails.
    pub fn open(directory: &Path, sizes: Sizes) -> Result<Store, StoreError> {
        let failed = |cause| StoreError::File { file: directory.to_owned(), cause };
        wats_files::private_directory(directory).map_err(failed)?;
        let lock = Lock::take(directory)?;
        let acknowledged = CommitWatermark::open(directory).map_err(failed)?;
        let database = directory.join("db");
        let last = probe::last(&database)?;
        acknowledged.check(last.unwrap_or_default(), directory)?;
        let mut options = options(sizes);
        options.create_if_missing(last.is_none());
        let cache = Cache::new_lru_cache(sizes.cache);
        let of = |family: Family| {
            ColumnFamilyDescriptor::new(family.name(), family_options(family, &cache, sizes))
        };
        let db = DB::open_cf_descriptors(&options, &database, Family::all().map(of))?;
        let directory = directory.to_owned();
        let mut store = Store { db, id: Hex32::default(), directory, sizes, acknowledged, _lock: lock };
        store.check_schema()?;
        store.id = store.own_id()?;
        Ok(store)
    }

    /// Where the files of blobs are: beside the database, under the same lock.
    pub fn blob_files(&self) -> crate::blobs::Files {
        crate::blobs::Files::new(self.directory.join("blobs"))
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// A name that was drawn when the store was made: a cursor of another store is told by it.
    pub fn id(&self) -> Hex32 {
        self.id
    }

    fn family(&self, family: Family) -> &rocksdb::ColumnFamily {
        // Every family was opened, or made, with the database.
        self.db.cf_handle(family.name()).expect("a family that was opened")
    }

    fn check_schema(&self) -> Result<(), StoreError> {
        let found = match self.db.get(KEY_SCHEMA)? {
            Some(bytes) => <[u8; 4]>::try_from(bytes.as_slice())
                .map(u32::from_le_bytes)
                .map_err(|_| StoreError::Damaged("the schema's version is not a number".into()))?,
            None if self.is_fresh()? => SCHEMA,
            None => return Err(StoreError::Damaged("it has records, and no schema".into())),
        };
        if found > SCHEMA {
            return Err(StoreError::Newer { directory: self.directory.clone(), found });
        }
        if found < SCHEMA {
            self.forget_views()?;
        }
        self.db.put_opt(KEY_SCHEMA, SCHEMA.to_le_bytes(), &synced())?;
        Ok(())
    }

    fn is_fresh(&self) -> Result<bool, StoreError> {
        let first = self.db.iterator_cf(self.family(Family::Sequence), IteratorMode::Start).next();
        Ok(first.transpose()?.is_none())
    }

    /// Drops every view: they follow from the sequence, so this is how an older schema is migrated.
    ///
    /// # Errors
    /// When the store fails.
    pub fn forget_views(&self) -> Result<(), StoreError> {
        Family::VIEWS.into_iter().try_for_each(|family| self.forget(family))?;
        self.db.delete(KEY_TICKED)?;
        Ok(())
    }

    /// Drops all of a family; no key is as long as the end of the range.
    fn forget(&self, family: Family) -> Result<(), StoreError> {
        Ok(self.db.delete_range_cf(self.family(family), [].as_slice(), [0xff; 160].as_slice())?)
    }

    /// The store's id; a new one for a copy, which goes on from where the original was: a cursor of the original
    /// would pass over what the copy takes in.
    fn own_id(&self) -> Result<Hex32, StoreError> {
        let is_copy = self.acknowledged.is_new() && !self.is_fresh()?;
        if let Some(id) = self.db.get(KEY_ID)?.filter(|_| !is_copy) {
            let damaged = |_| StoreError::Damaged("the store's id is not 32 bytes".into());
            return <[u8; 32]>::try_from(id.as_slice()).map(Hex32).map_err(damaged);
        }
        let mut id = [0; 32];
        getrandom::fill(&mut id)
            .map_err(|e| StoreError::File { file: self.directory.clone(), cause: io::Error::other(e) })?;
        self.db.put_opt(KEY_ID, id, &synced())?;
        if is_copy {
            self.acknowledge(self.last()?);
        }
        Ok(Hex32(id))
    }

    /// Makes a copy of the store, as it is now, in a directory that must not exist: hard links where
    /// the file system allows it, so that it costs next to nothing.
    ///
    /// # Errors
    /// When the directory exists or cannot be made.
    pub fn checkpoint(&self, directory: &Path) -> Result<(), StoreError> {
        wats_files::private_directory(directory)
            .map_err(|cause| StoreError::File { file: directory.to_owned(), cause })?;
        Checkpoint::new(&self.db)?.create_checkpoint(directory.join("db"))?;
        // After the database: what comes meanwhile is a file without a record, which a start takes in.
        let to = directory.join("blobs");
        self.blob_files().link_to(&to).map_err(|cause| StoreError::File { file: to, cause })?;
        Ok(())
    }

    /// Brings everything that was written to the disk.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> Result<(), StoreError> {
        Ok(self.db.flush_wal(true)?)
    }

    /// The size of the database on disk, in bytes, its logs of writes included.
    pub fn bytes(&self) -> u64 {
        let entries = std::fs::read_dir(self.directory.join("db")).into_iter().flatten();
        // A file that goes meanwhile takes up nothing.
        entries.filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len())).sum()
    }

    /// Reads every block of every file, and compares its checksum.
    pub fn check_files(&self) -> Checked {
        let mut checked = Checked::default();
        for family in Family::all() {
            match self.check_families(&[family]) {
                Ok(records) => checked.records += records,
                Err(e) => checked.damaged.push((family.part(), format!("{}: {e}", family.name()))),
            }
        }
        checked
    }

    /// The same for what loading does not read: neither the sequence nor views.
    ///
    /// # Errors
    /// The first damage that is met.
    pub fn check_places(&self) -> Result<u64, StoreError> {
        self.check_families(&Family::FOLLOWING)
    }

    /// Throws a part away that follows from the sequence, its files and all, and leaves it empty. A range
    /// that is deleted would leave a damaged block to a compaction.
    ///
    /// # Errors
    /// When the store fails.
    pub fn throw_away(&mut self, part: Part) -> Result<(), StoreError> {
        match part {
            Part::Sequence => return Ok(()),
            Part::Places => self.db.put_opt(KEY_REBUILDING, [], &synced())?,
            Part::Views => self.db.delete_opt(KEY_TICKED, &synced())?,
        }
        let cache = Cache::new_lru_cache(self.sizes.cache);
        for family in Family::all().filter(|family| family.part() == part) {
            self.db.drop_cf(family.name())?;
            self.db.create_cf(family.name(), &family_options(family, &cache, self.sizes))?;
        }
        Ok(())
    }

    /// Whether what follows from the sequence directly was begun to be made again, and is not whole.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_rebuilding(&self) -> Result<bool, StoreError> {
        Ok(self.db.get(KEY_REBUILDING)?.is_some())
    }

    /// Whether what follows from the sequence directly can be relied on.
    ///
    /// # Errors
    /// When it is half made, or the store cannot be read.
    pub fn check_rebuilt(&self) -> Result<(), StoreError> {
        match self.is_rebuilding()? {
            false => Ok(()),
            true => Err(StoreError::Damaged(
                "a repair was broken off, and `wats doctor --repair` finishes it".into(),
            )),
        }
    }

    fn check_families(&self, families: &[Family]) -> Result<u64, StoreError> {
        let mut records = 0;
        for &family in families {
            let mut options = rocksdb::ReadOptions::default();
            options.set_verify_checksums(true);
            options.fill_cache(false);
            for item in self.db.iterator_cf_opt(self.family(family), options, IteratorMode::Start) {
                item?;
                records += 1;
            }
        }
        Ok(records)
    }
}

fn synced() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.set_sync(true);
    options
}
