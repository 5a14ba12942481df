//! One process at a time: a lock on a file that names who holds it.

use super::StoreError;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// The name of the lock file in a store's directory.
const FILE: &str = "wats.lock";

/// How often a lock that is held is tried again, and after how long. A child that any thread of this process
/// starts has the file open until it runs its program, so a lock that was let go of may be held a moment longer.
const TRIES: usize = 20;
const AGAIN: Duration = Duration::from_millis(10);

/// Holds a directory for this process; the kernel lets go of it however the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a directory.
    ///
    /// # Errors
    /// When another process holds it, which is named, or the file cannot be made.
    pub fn take(directory: &Path) -> Result<Lock, StoreError> {
        let path = directory.join(FILE);
        let failed = |cause| StoreError::File { file: path.clone(), cause };
        // The file names the holder of the lock, so it is not emptied before the lock is ours.
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(&path).map_err(failed)?;
        let mut left = TRIES;
        let taken = loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Err(Errno::WOULDBLOCK) if left > 0 => left -= 1,
                taken => break taken,
            }
            thread::sleep(AGAIN);
        };
        match taken {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let mut holder = String::new();
                // A file that cannot be read leaves the holder unnamed.
                let _ = (&file).take(32).read_to_string(&mut holder);
                let pid = holder.trim().parse().ok();
                return Err(StoreError::Locked { directory: directory.to_owned(), pid });
            }
            Err(e) => return Err(failed(e.into())),
        }
        file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
        writeln!(file, "{}", std::process::id()).map_err(failed)?;
        Ok(Lock { _file: file })
    }
}
