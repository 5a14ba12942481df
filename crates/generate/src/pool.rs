//! Signing on every processor, in order; and the log as bytes.

use super::record::{Line, Record};
use super::{Generator, Script};
use crossbeam::channel::{Receiver, Sender, bounded};
use std::io::Read;
use std::num::NonZero;
use std::thread;

/// How many lines a thread signs at a time.
const CHUNK: usize = 256;

type Job = (Vec<Line>, Sender<Vec<Record>>);

/// The records of a script, signed by several threads and given back in its order.
#[derive(Debug)]
pub(super) struct Pool {
    queue: Receiver<Receiver<Vec<Record>>>,
    current: std::vec::IntoIter<Record>,
}

impl Pool {
    pub(crate) fn new(script: Script) -> Pool {
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        // Bounded, so that a slow reader does not make the memory grow.
        let (jobs, to_do) = bounded::<Job>(threads);
        let (order, queue) = bounded(2 * threads + 2);
        for _ in 0..threads {
            let to_do = to_do.clone();
            thread::spawn(move || sign(&to_do));
        }
        thread::spawn(move || deal(script, &jobs, &order));
        Pool { queue, current: Vec::new().into_iter() }
    }
}

/// Cuts the script into jobs, until it ends or nobody reads any more.
fn deal(mut script: Script, jobs: &Sender<Job>, order: &Sender<Receiver<Vec<Record>>>) {
    loop {
        let lines: Vec<Line> = script.by_ref().take(CHUNK).collect();
        let (done, result) = bounded(1);
        if lines.is_empty() || order.send(result).is_err() || jobs.send((lines, done)).is_err() {
            return;
        }
    }
}

fn sign(to_do: &Receiver<Job>) {
    for (lines, done) in to_do {
        let records = lines.into_iter().map(|line| line.finish(true)).collect();
        // Where nobody waits for it any more, it is dropped.
        let _ = done.send(records);
    }
}

impl Iterator for Pool {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        loop {
            if let Some(record) = self.current.next() {
                return Some(record);
            }
            let chunk = self.queue.recv().ok()?;
            self.current = chunk.recv().ok()?.into_iter();
        }
    }
}

/// A generated log as bytes, made as they are read.
#[derive(Debug)]
pub struct Lines {
    records: Generator,
    line: Vec<u8>,
    read: usize,
}

impl Lines {
    pub(super) fn new(records: Generator) -> Lines {
        Lines { records, line: Vec::new(), read: 0 }
    }
}

impl Read for Lines {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        if self.read == self.line.len() {
            self.line.clear();
            self.read = 0;
            if let Some(record) = self.records.next() {
                record.write(&mut self.line);
            }
        }
        let read = (&self.line[self.read..]).read(into)?;
        self.read += read;
        Ok(read)
    }
}
