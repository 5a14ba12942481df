//! A look at a database before it is opened for writing.
//!
//! Opening replays the logs of writes. What RocksDB cannot read of them ends the replay, and what comes after it
//! is deleted with the log; where the file that names the database's state is missing, it makes a new
//! database and deletes the files of the old one. So what does not hold all that was acknowledged is not opened.

use super::records::Seq;
use super::{Family, StoreError, read};
use rocksdb::{DB, IteratorMode, Options};
use std::fs;
use std::io;
use std::path::Path;

/// The last place of the sequence of the database in a directory, none where there is no database yet. Nothing is
/// changed.
///
/// # Errors
/// When it cannot be read.
pub(super) fn last(directory: &Path) -> Result<Option<Seq>, StoreError> {
    if !holds_files(directory).map_err(|cause| StoreError::File { file: directory.to_owned(), cause })? {
        return Ok(None);
    }
    let options = Options::default();
    // There were files of a database: where one is missing it is damaged.
    let damaged = |e: rocksdb::Error| match e.as_ref().contains("No such file") {
        true => StoreError::Damaged(e.into_string()),
        false => e.into(),
    };
    let sequence = Family::Sequence.name();
    let families = DB::list_cf(&options, directory).map_err(damaged)?;
    if !families.iter().any(|family| family == sequence) {
        return Ok(Some(Seq(0)));
    }
    let families = [Family::Meta.name(), sequence];
    let db = DB::open_cf_for_read_only(&options, directory, families, false).map_err(damaged)?;
    let Some(sequence) = db.cf_handle(sequence) else {
        return Ok(Some(Seq(0)));
    };
    match db.iterator_cf(sequence, IteratorMode::End).next() {
        None => Ok(Some(Seq(0))),
        Some(item) => read::seq(&item?.0).map(Some),
    }
}

/// Whether there are sorted files or logs of writes: a database that was not yet made has neither.
fn holds_files(directory: &Path) -> io::Result<bool> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(e),
    };
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "sst" || extension == "log") {
            return Ok(true);
        }
    }
    Ok(false)
}
