//! Files and directories that only their owner may read.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Makes a directory that only its owner may enter, with those above it, unless it is there. Its name
/// is on the disk before anything in it is relied on.
///
/// # Errors
/// When it cannot be made.
pub fn private_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    if path.is_dir() {
        return Ok(());
    }
    builder.create(path)?;
    sync_parent(path)
}

fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => Ok(()),
    }
}

/// Writes a new file that only its owner may read, and brings it to the disk. Of one that cannot be
/// written to its end nothing is left.
///
/// # Errors
/// When it is there already ([`io::ErrorKind::AlreadyExists`]) or cannot be written.
pub fn new_private_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written?;
    sync_parent(path)
}

/// Whether others than its owner may read or write a file, or enter a directory.
///
/// # Errors
/// When it cannot be looked at.
pub fn is_open_to_others(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::metadata(path)?.permissions().mode() & 0o077 != 0)
}
