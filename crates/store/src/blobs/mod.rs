//! Blobs: files beside the store, what they take up, and who is charged for them.
//!
//! A blob is a file named by its hash, written once and never changed. It is visible when its bytes are
//! on the disk under that name, and held when the record that says so is: in the sequence, like an event.
//! A blob goes the other way round: first the record, then the file. So a crash leaves either a file
//! without a record, which the next start takes in when its bytes are what its name says, or nothing.

mod accounts;
mod files;
mod uploads;

pub use accounts::{Accounts, Gone, Reserved, Short, Sums, Why};
pub use files::{Files, Found, Read};
pub use uploads::{Begin, Source, Taken, Uploads};

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wats_config::Storage;
use wats_event::Hex32;

/// Files that were read whole and were what their names say, at most.
const VERIFIED: usize = 4096;
/// For how long that is believed of a file that looks the same.
const BELIEVED: Duration = Duration::from_secs(3600);
/// Locks on names.
const STRIPES: usize = 64;

/// How a file looks: another size, date or inode is another file.
type Look = (u64, i64, i64, u64);

/// The blobs of a node.
#[derive(Debug)]
pub struct Blobs {
    /// How much they may take up.
    pub storage: Storage,
    /// Where they are.
    pub files: Files,
    /// Uploads that are not finished.
    pub uploads: Arc<Uploads>,
    accounts: Arc<Mutex<Accounts>>,
    verified: Mutex<HashMap<Hex32, (Look, Instant)>>,
    stripes: Vec<Mutex<()>>,
}

impl Blobs {
    /// Blobs in a directory, none of them known yet.
    pub fn new(files: Files, storage: Storage) -> Blobs {
        let uploads = Arc::new(Uploads::new(&files, &storage));
        let accounts = Arc::new(Mutex::new(Accounts::new(&storage)));
        let stripes = (0..STRIPES).map(|_| Mutex::default()).collect();
        Blobs { storage, files, uploads, accounts, verified: Mutex::default(), stripes }
    }

    /// What they take up, and who is charged.
    pub fn accounts(&self) -> MutexGuard<'_, Accounts> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for an upload, none of it taken yet.
    pub fn reserve(&self, blob: Hex32, is_owner: bool) -> Reserved {
        Reserved::new(self.accounts.clone(), blob, is_owner)
    }

    /// The locks on some names: a thread that makes a file appear or go, and records it in the sequence, holds
    /// them meanwhile. They are taken in one order, and nobody takes more while holding some.
    pub fn lock(&self, names: impl IntoIterator<Item = Hex32>) -> Vec<MutexGuard<'_, ()>> {
        let stripes: std::collections::BTreeSet<usize> =
            names.into_iter().map(|name| usize::from(name.0[0]) % STRIPES).collect();
        stripes.into_iter().map(|n| self.stripes[n].lock().unwrap_or_else(PoisonError::into_inner)).collect()
    }

    /// All of the locks: nothing appears or goes meanwhile.
    pub fn lock_all(&self) -> Vec<MutexGuard<'_, ()>> {
        self.stripes.iter().map(|stripe| stripe.lock().unwrap_or_else(PoisonError::into_inner)).collect()
    }

    /// Opens a held blob whose file is what its name says. It is read whole, unless that was done
    /// lately and it looks the same since.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn open(&self, blob: Hex32) -> io::Result<Opened> {
        let Some(file) = self.files.open(blob)? else {
            return Ok(Opened::Missing);
        };
        let meta = file.metadata()?;
        let look = (meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ino());
        let known =
            self.verified().get(&blob).is_some_and(|(as_of, at)| *as_of == look && at.elapsed() < BELIEVED);
        if !known {
            if files::hash(&file)? != blob {
                return Ok(Opened::Damaged);
            }
            let mut verified = self.verified();
            if verified.len() >= VERIFIED {
                verified.clear();
            }
            verified.insert(blob, (look, Instant::now()));
        }
        Ok(Opened::Whole(file, meta.len()))
    }

    /// What was believed of a file is forgotten.
    pub fn doubt(&self, blob: Hex32) {
        self.verified().remove(&blob);
    }

    fn verified(&self) -> MutexGuard<'_, HashMap<Hex32, (Look, Instant)>> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What opening a blob finds.
#[derive(Debug)]
pub enum Opened {
    /// The file, from its beginning, and its length.
    Whole(File, u64),
    /// There is no file.
    Missing,
    /// The file is not what its name says.
    Damaged,
}
