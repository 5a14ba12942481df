//! Where log bytes come from: plain, gzip or zstd files, or standard input.

use super::LogError;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much is read from a file at a time.
const BUFFER: usize = 64 * 1024;

/// An opened log and the name that errors give it.
pub struct Source {
    /// The path as it was given, or `standard input`.
    pub name: String,
    /// How many bytes of the file were read so far, compressed ones where it is compressed.
    pub taken: Arc<AtomicU64>,
    pub(super) bytes: Box<dyn Read + Send>,
    /// Whether the bytes come out of a decompressor.
    pub(super) packed: bool,
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("name", &self.name).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
}

impl Source {
    /// Opens a log: `-` is standard input; names that end in `.gz` or `.zst` are decompressed, and
    /// other input is when it starts with the magic number of either.
    ///
    /// # Errors
    /// When there is no such file, it is a directory, or its first bytes cannot be read.
    pub fn open(path: &Path) -> Result<Source, LogError> {
        if path == Path::new("-") {
            return Source::unpack("standard input".into(), io::stdin(), None);
        }
        let name = path.display().to_string();
        let failed = |cause| LogError::Open { file: name.clone(), cause };
        // Opening a directory succeeds on some systems, and reading it gives an obscure error.
        if path.is_dir() {
            return Err(LogError::Directory { file: name });
        }
        let file = File::open(path).map_err(failed)?;
        let packing = match path.extension().and_then(|e| e.to_str()) {
            Some("gz") => Some(Packing::Gzip),
            Some("zst") => Some(Packing::Zstd),
            _ => None,
        };
        Source::unpack(name, file, packing)
    }

    /// A log from any reader; compressed input is recognized by its magic number.
    ///
    /// # Errors
    /// When the first bytes cannot be read.
    pub fn from_reader(name: &str, bytes: impl Read + Send + 'static) -> Result<Source, LogError> {
        Source::unpack(name.to_owned(), bytes, None)
    }

    fn unpack(
        name: String,
        bytes: impl Read + Send + 'static,
        packing: Option<Packing>,
    ) -> Result<Source, LogError> {
        let failed = |cause| LogError::Open { file: name.clone(), cause };
        let taken = Arc::new(AtomicU64::new(0));
        let bytes = Counted { bytes, taken: taken.clone() };
        let mut bytes = BufReader::with_capacity(BUFFER, bytes);
        let packing = match packing {
            Some(packing) => packing,
            None => sniff(bytes.fill_buf().map_err(failed)?),
        };
        let bytes: Box<dyn Read + Send> = match packing {
            Packing::Plain => Box::new(bytes),
            Packing::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(bytes)),
            Packing::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(bytes).map_err(failed)?),
        };
        Ok(Source { name, taken, bytes, packed: packing != Packing::Plain })
    }
}

/// Counts what is read.
struct Counted<R> {
    bytes: R,
    taken: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.taken.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

fn sniff(start: &[u8]) -> Packing {
    if start.starts_with(&[0x1f, 0x8b]) {
        Packing::Gzip
    } else if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Packing::Zstd
    } else {
        Packing::Plain
    }
}
