//! Logs: records, one JSON object a line, out of files of any size (section 1.2).
//!
//! [`read`] gives every line of a log, judged, in the order of the log. Lines are checked on several
//! threads; a bounded number of them is held at a time, and of a line over the limit nothing.

mod batches;
pub mod lines;
mod pipeline;
mod record;
mod source;

pub use batches::{Batch, Batches};
pub use pipeline::{Known, Options, Reader, read};
pub use record::{Checked, ReadRecord, Record, event_text, read_record, read_stored};
pub use source::Source;

use std::io;
use wats_model::ids::IdSpaceExhausted;

/// Why a log could not be read, or not to its end.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// It cannot be opened.
    #[error("{file}: cannot be opened: {cause}")]
    Open {
        /// The log.
        file: String,
        /// Why not.
        cause: io::Error,
    },
    /// It is a directory.
    #[error("{file}: is a directory; name the logs in it")]
    Directory {
        /// The directory.
        file: String,
    },
    /// It was read up to a line, and no further.
    #[error("{file}: line {line}: {what}; the {before} lines before it count", before = line - 1)]
    Read {
        /// The log.
        file: String,
        /// The line, from 1, that could not be read.
        line: u64,
        /// What went wrong, and what it means.
        what: String,
    },
}

impl LogError {
    /// The log names more than a node can hold.
    pub fn full(file: &str, line: u64, full: &IdSpaceExhausted) -> LogError {
        LogError::Read { file: file.to_owned(), line, what: full.to_string() }
    }

    /// Puts a failed read in words: decompressors say little.
    fn read(file: &str, packed: bool, line: u64, cause: &io::Error) -> LogError {
        let what = match cause.kind() {
            io::ErrorKind::UnexpectedEof => format!("the file is cut off ({cause})"),
            _ if packed && cause.to_string().contains("requires too much memory") => {
                "the compressed data needs a larger window than 128 MiB; compress it with less".to_owned()
            }
            _ if packed => format!("the compressed data is damaged ({cause})"),
            _ => format!("cannot be read on ({cause})"),
        };
        LogError::Read { file: file.to_owned(), line: line.max(1), what }
    }
}
