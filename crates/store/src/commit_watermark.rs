//! How far the sequence was acknowledged, in a file of its own: a log of writes whose middle is damaged
//! is read up to the damage, and without this nobody would know that there was more.
//!
//! It is written after the sync of what it tells of, and not synced itself: it may be behind, and never
//! ahead.

use super::records::Seq;
use super::{Store, StoreError};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The name of the file in a store's directory.
const FILE: &str = "acknowledged";

/// The file, open.
#[derive(Debug)]
pub(super) struct CommitWatermark(File);

impl CommitWatermark {
    /// Opens the file of a directory, or makes it.
    pub(crate) fn open(directory: &Path) -> io::Result<CommitWatermark> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        options.open(directory.join(FILE)).map(CommitWatermark)
    }

    /// What it says; nothing when it is new, or damaged itself.
    pub(crate) fn read(&self) -> Option<Seq> {
        let mut bytes = [0; 16];
        self.0.read_exact_at(&mut bytes, 0).ok()?;
        let number = u128::from_le_bytes(bytes);
        let (seq, check) = (number as u64, (number >> 64) as u64);
        (check == !seq).then_some(Seq(seq))
    }

    /// Whether nothing was ever acknowledged here: the store is new, or a copy.
    pub(crate) fn is_new(&self) -> bool {
        self.read().is_none()
    }

    /// Whether a sequence that ends at `last` holds what was acknowledged.
    pub(crate) fn check(&self, last: Seq, directory: &Path) -> Result<(), StoreError> {
        let known = self.read().unwrap_or_default();
        if last >= known {
            return Ok(());
        }
        Err(StoreError::Damaged(format!(
            "the sequence can be read up to {}, and events up to {} were acknowledged: a log of writes is damaged, or \
             files are missing. Nothing was changed. To go on without those events, copy {} first, then remove \
             the file `{FILE}` in it",
            last.0,
            known.0,
            directory.display()
        )))
    }

    fn write(&self, seq: Seq) -> io::Result<()> {
        let number = u128::from(seq.0) | u128::from(!seq.0) << 64;
        self.0.write_all_at(&number.to_le_bytes(), 0)
    }
}

impl Store {
    /// Notes that the sequence was acknowledged up to a place, and is on the disk.
    pub(super) fn acknowledge(&self, seq: Seq) {
        // Where it cannot be written it stays behind, which does no harm.
        if let Err(error) = self.acknowledged.write(seq) {
            tracing::debug!(%error, "how far the sequence goes was not noted");
        }
    }
}
