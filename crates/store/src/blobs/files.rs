//! Files of blobs: `ab/<hash>` for a blob whose hash begins with `ab`, and `partial/` for what is being
//! written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use wats_event::Hex32;
use wats_files::private_directory;

/// Where unfinished files are.
const PARTIAL: &str = "partial";
/// Bytes that are read at a time.
const BLOCK: usize = 64 << 10;

/// The directory of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files(PathBuf);

/// A file in the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A blob's, by its name, and its length.
    Blob(Hex32, u64),
    /// Something that is none.
    Stray(PathBuf),
}

/// The hash of all that a file holds.
pub(super) fn hash(file: &File) -> io::Result<Hex32> {
    let (mut hasher, mut block, mut at) = (blake3::Hasher::new(), vec![0; BLOCK], 0);
    loop {
        match file.read_at(&mut block, at) {
            Ok(0) => return Ok(Hex32(*hasher.finalize().as_bytes())),
            Ok(read) => {
                hasher.update(&block[..read]);
                at += read as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

impl Files {
    /// The files in a directory, which need not be there yet.
    pub fn new(directory: PathBuf) -> Files {
        Files(directory)
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.0
    }

    /// Where a blob's file is, or would be.
    pub fn path(&self, blob: Hex32) -> PathBuf {
        let name = blob.to_string();
        self.0.join(&name[..2]).join(name)
    }

    /// Whether a blob's file is there.
    pub fn has(&self, blob: Hex32) -> bool {
        self.path(blob).is_file()
    }

    /// Opens a blob's file; none where there is none.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn open(&self, blob: Hex32) -> io::Result<Option<File>> {
        match File::open(self.path(blob)) {
            Ok(file) => Ok(Some(file)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Whether a blob's file holds what its name says; false as well where there is none.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn is_whole(&self, blob: Hex32) -> io::Result<bool> {
        self.open(blob)?.map_or(Ok(false), |file| Ok(hash(&file)? == blob))
    }

    /// A new file to write to.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(super) fn partial(&self, name: &str) -> io::Result<(PathBuf, File)> {
        let directory = self.0.join(PARTIAL);
        private_directory(&directory)?;
        let path = directory.join(name);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(0o600);
        Ok((path.clone(), options.open(path)?))
    }

    /// Gives a written file its name: it is synced before, and its name after.
    ///
    /// # Errors
    /// When the disk fails.
    pub(super) fn place(&self, written: &Path, file: &File, blob: Hex32) -> io::Result<()> {
        file.sync_all()?;
        let path = self.path(blob);
        let directory = path.parent().unwrap_or(&self.0);
        private_directory(directory)?;
        fs::rename(written, &path)?;
        File::open(directory)?.sync_all()
    }

    /// Removes a blob's file, if it is there. That need not reach the disk: a file that comes back after
    /// a crash has no record, and the next start sees to it.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn remove(&self, blob: Hex32) -> io::Result<()> {
        match fs::remove_file(self.path(blob)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }

    /// Everything that is there, unfinished files apart.
    ///
    /// # Errors
    /// When a directory cannot be read.
    pub fn all(&self, mut each: impl FnMut(Found)) -> io::Result<()> {
        for shard in entries(&self.0)? {
            let (name, path) = (shard.file_name(), shard.path());
            if name == PARTIAL {
                continue;
            }
            if !shard.file_type()?.is_dir() {
                each(Found::Stray(path));
                continue;
            }
            for file in entries(&path)? {
                let blob = file.file_name().to_str().and_then(Hex32::parse);
                let meta = file.metadata()?;
                match blob.filter(|blob| meta.is_file() && self.path(*blob) == file.path()) {
                    Some(blob) => each(Found::Blob(blob, meta.len())),
                    None => each(Found::Stray(file.path())),
                }
            }
        }
        Ok(())
    }

    /// Unfinished files: nobody writes to them when no node runs.
    ///
    /// # Errors
    /// When the directory cannot be read.
    pub fn unfinished(&self) -> io::Result<Vec<PathBuf>> {
        Ok(entries(&self.0.join(PARTIAL))?.into_iter().map(|entry| entry.path()).collect())
    }

    /// Links or copies all blobs to another directory. One that goes meanwhile is left out.
    ///
    /// # Errors
    /// When that directory cannot be written.
    pub fn link_to(&self, to: &Path) -> io::Result<()> {
        let copy = Files::new(to.to_owned());
        private_directory(to)?;
        let mut failed = Ok(());
        self.all(|found| {
            let (Found::Blob(blob, _), Ok(())) = (found, &failed) else { return };
            let (from, to) = (self.path(blob), copy.path(blob));
            let linked = private_directory(to.parent().unwrap_or(&copy.0))
                .and_then(|()| fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop)));
            match linked {
                Err(_) if !from.exists() => {}
                Err(e) => failed = Err(e),
                Ok(()) => {}
            }
        })?;
        failed
    }
}

/// What a directory holds; nothing when it is not there.
fn entries(directory: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(directory) {
        Ok(entries) => entries.collect(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}

/// A part of a file that is read block by block. Of a whole file it is seen at the end whether it was
/// what its name says.
#[derive(Debug)]
pub struct Read {
    file: File,
    left: u64,
    /// The name that the bytes must have, when all of them are read.
    whole: Option<(Hex32, blake3::Hasher)>,
}

impl Read {
    /// From a place on, so many bytes; `whole` where that is all of them.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn new(mut file: File, from: u64, left: u64, whole: Option<Hex32>) -> io::Result<Read> {
        file.seek(SeekFrom::Start(from))?;
        Ok(Read { file, left, whole: whole.map(|blob| (blob, blake3::Hasher::new())) })
    }

    /// The next bytes; none at the end.
    ///
    /// # Errors
    /// When the disk fails, or ([`io::ErrorKind::InvalidData`]) what was read is not what the name says:
    /// the last block is not given then.
    pub fn block(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.left == 0 {
            return Ok(None);
        }
        let mut block = vec![0; usize::try_from(self.left).unwrap_or(BLOCK).min(BLOCK)];
        self.file.read_exact(&mut block).map_err(|e| match e.kind() {
            io::ErrorKind::UnexpectedEof => damaged(),
            _ => e,
        })?;
        self.left -= block.len() as u64;
        if let Some((blob, hasher)) = &mut self.whole {
            hasher.update(&block);
            if self.left == 0 && hasher.finalize().as_bytes() != &blob.0 {
                return Err(damaged());
            }
        }
        Ok(Some(block))
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the file is not what its name says")
}
