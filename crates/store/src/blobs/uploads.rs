//! Uploads that are not finished: each of one source, a file that grows, and the hash of what has come.
//!
//! One that breaks off may be resumed by the same source, for a while and while the node runs. Nothing is
//! read again for that: the hash so far is kept.

use super::accounts::{Reserved, Short};
use super::files::Files;
use super::{Blobs, Storage};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use wats_event::Hex32;

/// Who uploads: an address, or the owner.
pub type Source = Option<IpAddr>;

/// One that was touched within this time is not thrown away for another.
const FRESH: Duration = Duration::from_secs(60);

/// The uploads.
#[derive(Debug)]
pub struct Uploads {
    files: Files,
    most: usize,
    kept_for: Duration,
    table: Mutex<HashMap<(Hex32, Source), Slot>>,
}

#[derive(Debug)]
enum Slot {
    /// Somebody sends.
    Busy,
    /// It broke off.
    Idle(Box<Partial>),
}

/// A file that grows. It is removed when this goes, unless it got its name.
#[derive(Debug)]
struct Partial {
    path: PathBuf,
    file: File,
    hasher: blake3::Hasher,
    offset: u64,
    size: u64,
    touched: Instant,
    reserved: Option<Reserved>,
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After it got its name there is no such file.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Why an upload cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum Begin {
    /// The same source sends the same blob already.
    #[error("this blob is being uploaded from this address already")]
    Busy,
    /// There are too many.
    #[error("there are too many unfinished uploads")]
    TooMany,
    /// It does not go on where it broke off.
    #[error("{0} bytes of it are here: go on from there")]
    Offset(u64),
    /// The disk.
    #[error(transparent)]
    Disk(#[from] io::Error),
}

impl Uploads {
    pub(super) fn new(files: &Files, storage: &Storage) -> Uploads {
        Uploads {
            files: files.clone(),
            most: storage.unfinished,
            kept_for: Duration::from_millis(storage.unfinished_for.0),
            table: Mutex::default(),
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<(Hex32, Source), Slot>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many bytes of an upload that broke off are here.
    pub fn offset(&self, blob: Hex32, source: Source) -> Option<u64> {
        match self.table().get(&(blob, source))? {
            Slot::Idle(partial) => Some(partial.offset),
            Slot::Busy => None,
        }
    }

    /// Begins an upload of `size` bytes, or goes on at an offset with one that broke off there.
    ///
    /// # Errors
    /// When that cannot be.
    pub fn take(
        self: &Arc<Uploads>,
        blobs: &Blobs,
        blob: Hex32,
        source: Source,
        from: u64,
        size: u64,
    ) -> Result<Taken, Begin> {
        let key = (blob, source);
        let mut table = self.table();
        match table.get(&key) {
            Some(Slot::Busy) => return Err(Begin::Busy),
            Some(Slot::Idle(partial)) if from > 0 && (partial.offset, partial.size) != (from, size) => {
                return Err(Begin::Offset(partial.offset));
            }
            None if from > 0 => return Err(Begin::Offset(0)),
            _ => {}
        }
        let partial = match table.remove(&key) {
            Some(Slot::Idle(partial)) if from > 0 => partial,
            // Begun anew: what there was goes, and its file before the new one is made.
            before => {
                drop(before);
                self.make_room(&mut table, source)?;
                let from = source.map_or_else(|| "owner".to_owned(), |ip| format!("{:016x}", short(ip)));
                let (path, file) = self.files.partial(&format!("{blob}.{from}"))?;
                let (hasher, touched) = (blake3::Hasher::new(), Instant::now());
                let reserved = Some(blobs.reserve(blob, source.is_none()));
                Box::new(Partial { path, file, hasher, offset: 0, size, touched, reserved })
            }
        };
        table.insert(key, Slot::Busy);
        Ok(Taken { uploads: self.clone(), key, partial: Some(partial) })
    }

    /// No source has more than half, and one that was quiet goes for one that comes; for one of the owner's any
    /// that nobody sends at this moment.
    fn make_room(&self, table: &mut HashMap<(Hex32, Source), Slot>, source: Source) -> Result<(), Begin> {
        let of_source =
            source.is_some() && table.keys().filter(|(_, of)| *of == source).count() >= self.most.div_ceil(2);
        if table.len() < self.most && !of_source {
            return Ok(());
        }
        let idle = table.iter().filter_map(|(key, slot)| match slot {
            Slot::Idle(partial) if !of_source || key.1 == source => Some((partial.touched, *key)),
            _ => None,
        });
        let (touched, oldest) = idle.min_by_key(|(touched, _)| *touched).ok_or(Begin::TooMany)?;
        if touched.elapsed() < FRESH && source.is_some() {
            return Err(Begin::TooMany);
        }
        table.remove(&oldest);
        Ok(())
    }

    /// Throws away what broke off too long ago.
    pub fn expire(&self) {
        let kept_for = self.kept_for;
        self.table().retain(|_, slot| match slot {
            Slot::Idle(partial) => partial.touched.elapsed() < kept_for,
            Slot::Busy => true,
        });
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.table().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.table().is_empty()
    }
}

/// A short name of an address: it stands in the name of a file.
fn short(ip: IpAddr) -> u64 {
    let hash = blake3::hash(ip.to_string().as_bytes());
    u64::from_le_bytes(hash.as_bytes().first_chunk().copied().unwrap_or_default())
}

/// An upload that somebody sends to. When this goes it is kept, to be resumed.
#[derive(Debug)]
pub struct Taken {
    uploads: Arc<Uploads>,
    key: (Hex32, Source),
    partial: Option<Box<Partial>>,
}

impl Taken {
    /// How much has come.
    pub fn offset(&self) -> u64 {
        self.partial.as_ref().map_or(0, |partial| partial.offset)
    }

    /// Whether all has come.
    pub fn is_whole(&self) -> bool {
        self.partial.as_ref().is_some_and(|partial| partial.offset == partial.size)
    }

    /// Whether there is room for all of it now.
    ///
    /// # Errors
    /// What there is no room in.
    pub fn would_fit(&self) -> Result<(), Short> {
        let Some((partial, reserved)) = self.partial.as_ref().and_then(|p| Some((p, p.reserved.as_ref()?)))
        else {
            return Ok(());
        };
        reserved.would_fit(partial.size)
    }

    /// Adds what came.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<Result<(), Short>> {
        let Some(partial) = &mut self.partial else {
            return Ok(Ok(()));
        };
        let offset = partial.offset + bytes.len() as u64;
        if offset > partial.size {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "more came than was said"));
        }
        if let Some(reserved) = &mut partial.reserved
            && let Err(short) = reserved.grow(offset, partial.size)
        {
            return Ok(Err(short));
        }
        if let Err(e) = partial.file.write_all(bytes) {
            // How much of it was written nobody knows.
            self.partial = None;
            return Err(e);
        }
        partial.hasher.update(bytes);
        partial.offset = offset;
        partial.touched = Instant::now();
        Ok(Ok(()))
    }

    /// Whether what came is what the name says.
    pub fn is_true(&self) -> bool {
        self.partial.as_ref().is_some_and(|p| p.hasher.finalize().as_bytes() == &self.key.0.0)
    }

    /// Throws it away.
    pub fn discard(mut self) {
        self.partial = None;
    }

    /// Gives the file its name, synced; the room that it took, and its length.
    ///
    /// # Errors
    /// When the disk fails; the upload is gone then.
    pub fn place(mut self) -> io::Result<Option<(Reserved, u64)>> {
        let Some(mut partial) = self.partial.take() else {
            return Ok(None);
        };
        self.uploads.files.place(&partial.path, &partial.file, self.key.0)?;
        let size = partial.size;
        Ok(partial.reserved.take().map(|reserved| (reserved, size)))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut table = self.uploads.table();
        match self.partial.take().filter(|partial| partial.offset > 0) {
            Some(partial) => table.insert(self.key, Slot::Idle(partial)),
            None => table.remove(&self.key),
        };
    }
}
