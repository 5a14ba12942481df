//! What the long benchmarks share.
#![allow(dead_code, reason = "each takes what it needs")]

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tikv_jemallocator::Jemalloc;
use wats_config::Limits;
use wats_config::{Config, Network};
use wats_engine::interner::{Change, Interner};
use wats_event::Rules;
use wats_event::log::{Checked, Options, Reader, Record, Source, read};
use wats_generate::{Generator, Plan};
use wats_model::clock::Clock;
use wats_model::facts::{Body, EventFact, Evidence, React};
use wats_model::ids::{EventId, KeyId, Millis, NetworkId, Stamp};
use wats_node::Settings;
use wats_store::Sizes;

/// That of the command (`src/main.rs`).
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// How long [`settled`] waits.
const SETTLE: Duration = Duration::from_secs(20);

/// Resident memory, in bytes, where the system tells.
pub(crate) fn resident() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|s| s.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()));
    pages.unwrap_or(0) * 4096
}

/// Resident memory once what was used for a while has gone back to the system: the allocator keeps it for ten
/// seconds.
pub(crate) fn settled() -> u64 {
    thread::sleep(SETTLE);
    resident()
}

/// For how long the engine's worker has had a processor, where the system tells: on a machine that
/// others use it is less than the time that passed.
pub(crate) fn worked() -> Duration {
    processor("timely:work")
}

/// For how long this process has had a processor, those of its threads included that have ended; in hundredths
/// of a second, where the system tells.
pub(crate) fn process() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in parentheses, may hold anything; user and system time are the 12th and 13th after it.
    let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
    let ticks = after.split_whitespace().skip(11).take(2).filter_map(|n| n.parse::<u64>().ok());
    Duration::from_millis(10 * ticks.sum::<u64>())
}

/// For how long threads whose names begin so have had a processor, where the system tells.
pub(crate) fn processor(name: &str) -> Duration {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return Duration::ZERO };
    let read = |task: &fs::DirEntry, file| fs::read_to_string(task.path().join(file)).unwrap_or_default();
    let workers = tasks.flatten().filter(|task| read(task, "comm").starts_with(name));
    let nanos = |task: &fs::DirEntry| read(task, "schedstat").split(' ').next().and_then(|n| n.parse().ok());
    Duration::from_nanos(workers.map(|task| nanos(&task).unwrap_or(0u64)).sum())
}

/// The value that `percent` of all are at most.
pub(crate) fn quantile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    times.get((times.len() * percent / 100).min(times.len().saturating_sub(1))).copied().unwrap_or_default()
}

/// Milliseconds, for a table.
pub(crate) fn ms(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}

/// The configuration of a reader who has a profile in each of the plans, of one network.
pub(crate) fn config_of(plans: &[&Plan]) -> Config {
    let profiles = plans.iter().map(|plan| plan.reader()).collect();
    let network = Network { id: plans[0].network.clone(), profiles, distrusted: Vec::new(), pow_bits: 0 };
    Config { networks: Some(vec![network]), ..Config::default() }
}

/// What a node of a benchmark is started with: everything on, on a free port, in a directory of its own.
pub(crate) fn settings(directory: &Path, config: Config, limits: Limits) -> Settings {
    Settings {
        store: directory.join("store"),
        index: directory.join("index"),
        config,
        listen: "127.0.0.1:0".parse().expect("an address"),
        socket: directory.join("wats.sock"),
        token: None,
        limits,
        workers: 1,
        sizes: Sizes::default(),
        clock: Clock::Wall,
        agents: None,
    }
}

/// The usual limits, but for how fast anybody may send.
pub(crate) fn unhurried() -> Limits {
    Limits { source_per_second: 0, key_per_second: 0, ..Limits::default() }
}

/// A generated log as it is read, with its bytes and lines counted.
pub(crate) struct Feed {
    reader: Reader,
    count: Arc<Count>,
}

#[derive(Default)]
struct Count {
    bytes: AtomicU64,
    lines: AtomicU64,
}

struct Counted<R> {
    from: R,
    count: Arc<Count>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        let lines = into[..read].iter().filter(|b| **b == b'\n').count();
        self.count.bytes.fetch_add(read as u64, Ordering::Relaxed);
        self.count.lines.fetch_add(lines as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl Feed {
    pub(crate) fn new(plan: &Plan) -> Feed {
        let count = Arc::new(Count::default());
        let lines = Counted { from: Generator::new(plan).lines(), count: count.clone() };
        let source = Source::from_reader("generated", lines).expect("a reader");
        let options = Options { skip_signatures: !plan.signed, ..Options::new(Rules::any()) };
        Feed { reader: read(source, &options), count }
    }

    /// Bytes of JSON a line, about: of those read so far.
    pub(crate) fn bytes_a_line(&self) -> f64 {
        let bytes = self.count.bytes.load(Ordering::Relaxed) as f64;
        bytes / self.count.lines.load(Ordering::Relaxed).max(1) as f64
    }
}

impl Iterator for Feed {
    type Item = Checked;

    fn next(&mut self) -> Option<Checked> {
        Some(self.reader.next()?.expect("a generated log is whole"))
    }
}

/// Interns a generated record.
pub(crate) fn take(intake: &mut Interner, checked: Checked, changes: &mut Vec<Change>) {
    match checked.outcome.expect("a generated record is valid") {
        Record::Event(event) => {
            intake.event(&event, checked.received_at, changes).expect("few names");
        }
        Record::Blob { blob, present } => {
            intake.blob(blob, present, checked.received_at, changes).expect("few names");
        }
    }
}

/// Reacts of known keys to known posts, in an order that is the same each time.
pub(crate) struct Reacts {
    authors: Vec<KeyId>,
    posts: Vec<(EventId, KeyId)>,
    made: u32,
}

impl Reacts {
    /// Events of these have numbers of their own.
    const FIRST: u32 = 1 << 31;

    pub(crate) fn of(changes: &[Change]) -> Reacts {
        let (mut authors, mut posts) = (Vec::new(), Vec::new());
        for change in changes {
            let Change::Event(fact, 1) = change else { continue };
            authors.push(fact.author);
            if matches!(fact.body, Body::Post(_)) {
                posts.push((fact.id, fact.author));
            }
        }
        Reacts { authors, posts, made: 0 }
    }

    /// The next: a confirm with evidence in words.
    pub(crate) fn next(&mut self, now: Millis) -> Change {
        let (on, author) = self.pair();
        let react = React { value: Some(1), evidence: Evidence::Text, ..wats_oracle::build::react(on) };
        let id = EventId(Reacts::FIRST + self.made);
        self.made += 1;
        Change::Event(Box::new(fact(id, author, now, Body::React(react))), 1)
    }

    /// A post, and a key that did not write it.
    fn pair(&self) -> (EventId, KeyId) {
        let mut at = u64::from(self.made).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        loop {
            let (on, by) = self.posts[(at >> 20) as usize % self.posts.len()];
            let author = self.authors[(at >> 40) as usize % self.authors.len()];
            if author != by {
                return (on, author);
            }
            at = at.wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(1);
        }
    }
}

/// A fact of the first network.
pub(crate) fn fact(id: EventId, author: KeyId, now: Millis, body: Body) -> EventFact {
    let mut tie = [0; 16];
    tie[..4].copy_from_slice(&id.0.to_be_bytes());
    let stamp = Stamp { created_at: now, tie };
    EventFact { id, stamp, received_at: now, network: NetworkId(0), author, work: 0, body }
}
