//! Lines of a log as they are, some at a time: to be sent on.

use super::lines::{Chunk, Lines};
use super::{LogError, Source};
use crate::MAX_RECORD_BYTES;
use std::io::Read;

/// Some lines of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// Their numbers, from 1, and their bytes.
    pub lines: Vec<(u64, Vec<u8>)>,
    /// The numbers of lines over the limit of a record.
    pub over: Vec<u64>,
}

/// The lines of a log, some at a time, in its order.
pub struct Batches {
    name: String,
    packed: bool,
    lines: Lines<Box<dyn Read + Send>>,
    most: usize,
    ended: bool,
}

impl std::fmt::Debug for Batches {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batches").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Batches {
    /// At most `lines` lines at a time, and about 4 MiB.
    pub fn new(source: Source, lines: usize) -> Batches {
        let Source { name, packed, bytes, .. } = source;
        let whole = Lines::new(bytes, MAX_RECORD_BYTES);
        Batches { name, packed, lines: whole, most: lines, ended: false }
    }
}

/// Bytes at a time, about.
const BYTES: usize = 4 << 20;

impl Iterator for Batches {
    type Item = Result<Batch, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let mut chunk = Chunk::default();
        match self.lines.fill(&mut chunk, self.most, BYTES) {
            Ok(ended) => self.ended = ended,
            Err(cause) => {
                self.ended = true;
                return Some(Err(LogError::read(&self.name, self.packed, self.lines.number(), &cause)));
            }
        }
        let mut batch = Batch::default();
        for line in chunk.lines() {
            match line.over {
                true => batch.over.push(line.number),
                false => batch.lines.push((line.number, line.text.to_vec())),
            }
        }
        (!chunk.is_empty()).then_some(Ok(batch))
    }
}
