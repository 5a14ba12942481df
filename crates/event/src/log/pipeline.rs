//! Reading and checking side by side: one thread cuts lines, some check them, the caller gets them
//! back in order.

use super::lines::{Chunk, Lines, RawLine};
use super::record::{self, Checked, Record};
use super::{LogError, Source};
use crate::{Event, Hex32, MAX_RECORD_BYTES, Rules, Verifier};
use crossbeam::channel::{Receiver, Sender, bounded};
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

/// How many lines a thread checks at a time: as many as make a good batch of signatures.
const CHUNK_LINES: usize = 2048;
/// How many bytes of lines a thread checks at a time; one line may exceed it.
const CHUNK_BYTES: usize = 2 * 1024 * 1024;

/// The most checking threads by default: each may hold some chunks in memory.
const MOST_THREADS: usize = 16;

/// How to check a log.
#[derive(Clone, Debug)]
pub struct Options {
    /// What the node asks of events.
    pub rules: Arc<Rules>,
    /// Takes every signature for valid: for a log this node has checked before.
    pub skip_signatures: bool,
    /// Keeps the text of valid records.
    pub keep_text: bool,
    /// Events whose signature need not be checked, because they are held (section 1.2).
    pub known: Option<Known>,
    /// Checking threads; by default, as many as there are processors.
    pub threads: Option<NonZero<usize>>,
}

impl Options {
    /// Checks everything, on every processor.
    pub fn new(rules: Rules) -> Options {
        Options {
            rules: Arc::new(rules),
            skip_signatures: false,
            keep_text: false,
            known: None,
            threads: None,
        }
    }
}

/// Says whether an event is held.
#[derive(Clone)]
pub struct Known(pub Arc<dyn Fn(Hex32) -> bool + Send + Sync>);

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Known")
    }
}

type Judged = Result<Vec<Checked>, LogError>;
type Job = (Chunk, Sender<Judged>);

/// The judged lines of a log, in its order; an error is the last item.
#[derive(Debug)]
pub struct Reader {
    name: String,
    queue: Receiver<Receiver<Judged>>,
    current: std::vec::IntoIter<Checked>,
    line: u64,
    ended: bool,
}

/// Reads and judges a log.
pub fn read(source: Source, options: &Options) -> Reader {
    let processors = || thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let threads = options.threads.map_or_else(processors, NonZero::get);
    // Bounded, so that a fast disk does not fill the memory.
    let (jobs, to_do) = bounded::<Job>(threads);
    let (order, queue) = bounded(2 * threads + 2);
    for _ in 0..threads {
        let (to_do, options) = (to_do.clone(), options.clone());
        thread::spawn(move || work(&to_do, &options));
    }
    let name = source.name.clone();
    thread::spawn(move || cut(source, &jobs, &order));
    Reader { name, queue, current: Vec::new().into_iter(), line: 0, ended: false }
}

/// Cuts the stream into chunks, until it ends or nobody listens any more.
fn cut(source: Source, jobs: &Sender<Job>, order: &Sender<Receiver<Judged>>) {
    let mut lines = Lines::new(source.bytes, MAX_RECORD_BYTES);
    loop {
        let mut chunk = Chunk::default();
        let state = lines.fill(&mut chunk, CHUNK_LINES, CHUNK_BYTES);
        if !chunk.is_empty() {
            let (done, result) = bounded(1);
            if order.send(result).is_err() || jobs.send((chunk, done)).is_err() {
                return;
            }
        }
        match state {
            Ok(false) => {}
            Ok(true) => return,
            Err(cause) => {
                let (done, result) = bounded(1);
                // Nobody listens any more, or they hear of it.
                let _ = done.send(Err(LogError::read(&source.name, source.packed, lines.number(), &cause)));
                let _ = order.send(result);
                return;
            }
        }
    }
}

fn work(to_do: &Receiver<Job>, options: &Options) {
    let mut verifier = Verifier::new();
    for (chunk, done) in to_do {
        let mut judged: Vec<Checked> = chunk.lines().map(|line| read_line(line, options)).collect();
        finish(&mut judged, &mut verifier, options);
        // The caller may have stopped listening.
        let _ = done.send(Ok(judged));
    }
}

fn read_line(line: RawLine<'_>, options: &Options) -> Checked {
    let mut checked = record::parse(line, &options.rules);
    if options.keep_text && checked.outcome.is_ok() {
        // What parses is UTF-8.
        checked.text = std::str::from_utf8(line.text).ok().map(Into::into);
    }
    checked
}

/// The checks from the signature on.
fn finish(judged: &mut [Checked], verifier: &mut Verifier, options: &Options) {
    let known = |event: &Event| options.known.as_ref().is_some_and(|known| (known.0)(event.id));
    let trusted: Vec<bool> =
        judged.iter().filter_map(event_of).map(|event| options.skip_signatures || known(event)).collect();
    let events = judged.iter().filter_map(event_of).zip(&trusted);
    let unknown: Vec<&Event> = events.filter(|(_, trusted)| !**trusted).map(|(event, _)| event).collect();
    let mut verified = verifier.verify(&unknown).into_iter();
    let mut verdicts = trusted.into_iter().map(|trusted| trusted || verified.next() == Some(true));
    for checked in judged {
        let Some(event) = event_of(checked) else {
            continue;
        };
        let verdict = crate::verified(verdicts.next() == Some(true))
            .and_then(|()| crate::admit(event, checked.received_at, &options.rules));
        if let Err(refusal) = verdict {
            checked.outcome = Err(refusal);
        }
    }
}

fn event_of(checked: &Checked) -> Option<&Event> {
    match &checked.outcome {
        Ok(Record::Event(event)) => Some(event),
        _ => None,
    }
}

impl Iterator for Reader {
    type Item = Result<Checked, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(checked) = self.current.next() {
                self.line = checked.line;
                return Some(Ok(checked));
            }
            if self.ended {
                return None;
            }
            let Ok(result) = self.queue.recv() else {
                self.ended = true;
                return None;
            };
            match result.recv() {
                Ok(Ok(lines)) => self.current = lines.into_iter(),
                Ok(Err(e)) => {
                    self.ended = true;
                    return Some(Err(e));
                }
                Err(_) => {
                    self.ended = true;
                    return Some(Err(self.stopped()));
                }
            }
        }
    }
}

impl Reader {
    /// A checking thread that ends before its time has met an error of this program.
    fn stopped(&self) -> LogError {
        LogError::Read {
            file: self.name.clone(),
            line: self.line + 1,
            what: "checking stopped, which is an error of wats: please report it with this log".into(),
        }
    }
}
