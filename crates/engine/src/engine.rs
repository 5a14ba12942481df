//! The dataflow on threads of its own: ticks in, changes of views out.
//!
//! Each worker of timely runs on one thread and waits for commands. A tick spreads its changes over
//! the workers; they exchange what they must, and each answers with the view changes it owns. The
//! answer is the same for any number of workers, in one process or in several (see [`crate::cluster`]).

use crate::cluster::{Arrived, Cluster, Gather, LinkError, Links, Lost, Mark, connect};
use crate::interner::Change;
use crossbeam::channel::{Receiver, Sender, bounded};
use differential_dataflow::consolidation::consolidate;
use std::any::Any;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;
use timely::communication::Hooks;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::worker::Worker;
use wats_config::MAX_WORKERS;
use wats_dataflows::incremental::Tick;
use wats_dataflows::{Inputs, Introspection, build};
use wats_model::ids::{Millis, NetworkId};
use wats_model::policy::Config;
use wats_model::views::View;

/// How long a worker that waits for its peers sleeps at most: a wake-up may be lost to the queue
/// that it waited on before.
const NAP: Duration = Duration::from_millis(1);

/// Why the engine cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A number of workers that makes no sense.
    #[error("{0} workers: choose 1 to {MAX_WORKERS}, and no more than the machine has free cores")]
    Workers(usize),
    /// The workers could not be started.
    #[error("the engine's threads cannot be started: {0}")]
    Start(String),
    /// A worker thread ended.
    #[error("a worker of the engine has stopped, which is an error of wats: please report it")]
    Stopped,
    /// The processes of a cluster did not come together.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A process of the cluster is gone.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// A process of the cluster was given something else.
    #[error(
        "process {0} does not read what this one reads, or has ended before it; give all the same logs and options, in the same order"
    )]
    Differs(usize),
}

/// A question about a worker's share of the state.
type Question = Box<dyn FnOnce(&Introspection) + Send>;

enum Command {
    Tick { changes: Vec<Change>, now: Millis, given: u64 },
    Ask(Question),
}

/// A running dataflow, or this process's share of one.
pub struct Engine {
    workers: Vec<Sender<Command>>,
    /// Of each worker, what its ticks changed.
    answers: Vec<Receiver<Arrived>>,
    /// Ticks that were begun and not yet finished: what the process was given in each, in short.
    open: VecDeque<u64>,
    share: Share,
    /// Set when a process of the cluster is gone.
    lost: Arc<OnceLock<Lost>>,
    /// Waits, when dropped, for the threads, which end with their queues.
    threads: Option<Threads>,
}

/// Which of all workers are those of this process.
#[derive(Clone, Copy, Debug)]
struct Share {
    process: usize,
    processes: usize,
    /// Workers of each process.
    workers: usize,
}

impl Share {
    /// The place among this process's workers of the worker that takes a change, by its place in its
    /// tick; none when it is another process's.
    fn of(self, change: usize) -> Option<usize> {
        let worker = change % (self.processes * self.workers);
        (worker / self.workers == self.process).then_some(worker % self.workers)
    }

    fn alone(self) -> bool {
        self.processes == 1
    }
}

type Threads = timely::communication::WorkerGuards<()>;

/// What timely's workers are made of, and what must outlive them.
type Allocators = (Vec<AllocatorBuilder>, Box<dyn Any + Send>);

/// How often to look whether a process that is to end has been lost.
const LOOK: Duration = Duration::from_millis(10);

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("workers", &self.workers.len())
            .field("open", &self.open.len())
            .finish()
    }
}

impl Engine {
    /// Starts the dataflow on `workers` threads.
    ///
    /// # Errors
    /// When the number is out of range or threads cannot be had.
    pub fn start(config: Config, workers: usize) -> Result<Engine, EngineError> {
        let share = Share { process: 0, processes: 1, workers };
        check(workers)?;
        let communication = match workers {
            1 => timely::CommunicationConfig::Thread,
            n => timely::CommunicationConfig::Process(n),
        };
        let allocators = communication.try_build().map_err(EngineError::Start)?;
        Engine::run(config, share, allocators, Arc::default())
    }

    /// Starts this process's share of the dataflow of a cluster, when all its processes are there.
    ///
    /// Every process must give its engine the same ticks; only the first is told what they changed.
    ///
    /// # Errors
    /// As [`Engine::start`], and when the other processes are not there in time or are set up otherwise.
    pub fn join(config: Config, cluster: &Cluster) -> Result<Engine, EngineError> {
        let Cluster { process, workers, .. } = *cluster;
        check(workers)?;
        let share = Share { process, processes: cluster.addresses.len(), workers };
        let Links { sockets, lost } = connect(cluster, digest(|hasher| format!("{config:?}").hash(hasher)))?;
        let hooks = Hooks::default();
        let inside = ProcessBuilder::new_typed_vector(workers, hooks.refill.clone(), None);
        let built = initialize_networking_from_sockets(inside, sockets, process, workers, hooks);
        let (builders, guard) = built.map_err(|e| EngineError::Start(e.to_string()))?;
        let builders = builders.into_iter().map(AllocatorBuilder::Tcp).collect();
        Engine::run(config, share, (builders, Box::new(guard)), lost)
    }

    fn run(
        config: Config,
        share: Share,
        (builders, guard): Allocators,
        lost: Arc<OnceLock<Lost>>,
    ) -> Result<Engine, EngineError> {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..share.workers).map(|_| bounded(2)).unzip();
        let (answer, answers): (Vec<_>, Vec<_>) = (0..share.workers).map(|_| bounded(2)).unzip();
        let queues = receivers.into_iter().zip(answer).map(Some).collect::<Vec<_>>();
        let queues = Mutex::new(queues);
        let (config, watched) = (Arc::new(config), lost.clone());
        // An arrangement that a tick brings nothing merges nothing: a single record would wait for it.
        let settings = timely::WorkerConfig::default();
        let threads = timely::execute::execute_from(builders, guard, settings, move |worker| {
            let queue = {
                let mut queues = queues.lock().unwrap_or_else(PoisonError::into_inner);
                queues.get_mut(worker.index() % share.workers).and_then(Option::take)
            };
            if let Some((commands, answers)) = queue {
                work(worker, config.clone(), &Desk { commands, answers, share, lost: watched.clone() });
            }
        });
        let threads = Some(threads.map_err(EngineError::Start)?);
        Ok(Engine { workers: senders, answers, open: VecDeque::new(), share, lost, threads })
    }

    /// Runs one tick to its end: the changes, with the time at `now`, and what they changed.
    ///
    /// # Errors
    /// When a worker has stopped.
    pub fn tick(&mut self, changes: Vec<Change>, now: Millis) -> Result<Vec<(View, i64)>, EngineError> {
        self.begin(changes, now)?;
        self.finish()
    }

    /// Begins a tick; at most two may be open.
    ///
    /// # Errors
    /// When a worker has stopped.
    pub fn begin(&mut self, changes: Vec<Change>, now: Millis) -> Result<(), EngineError> {
        let given = match self.share.alone() {
            true => 0,
            false => digest(|hasher| (&changes, now).hash(hasher)),
        };
        self.send(changes, now, given)
    }

    fn send(&mut self, changes: Vec<Change>, now: Millis, given: u64) -> Result<(), EngineError> {
        let mut shares: Vec<Vec<Change>> = self.workers.iter().map(|_| Vec::new()).collect();
        for (at, change) in changes.into_iter().enumerate() {
            if let Some(worker) = self.share.of(at) {
                shares[worker].push(change);
            }
        }
        for (worker, changes) in self.workers.iter().zip(shares) {
            worker.send(Command::Tick { changes, now, given }).map_err(|_| self.stopped())?;
        }
        self.open.push_back(given);
        Ok(())
    }

    /// Waits for the oldest open tick and returns what it changed, consolidated; in a cluster, nothing
    /// but at its first process.
    ///
    /// # Errors
    /// When a worker has stopped, or a process of the cluster is gone or was given something else.
    pub fn finish(&mut self) -> Result<Vec<(View, i64)>, EngineError> {
        let Some(given) = self.open.pop_front() else {
            return Ok(Vec::new());
        };
        let (mut views, mut marks) = (Vec::new(), Vec::new());
        for answers in &self.answers {
            let arrived = answers.recv().map_err(|_| self.stopped())?;
            views.extend(arrived.views);
            marks.extend(arrived.marks);
        }
        if !self.share.alone() {
            let same = |process| marks.contains(&Mark { process, given });
            if let Some(other) = (0..self.share.processes).find(|process| !same(*process)) {
                return Err(EngineError::Differs(other));
            }
        }
        consolidate(&mut views);
        Ok(views)
    }

    /// Why a worker has stopped.
    fn stopped(&self) -> EngineError {
        self.lost.get().map_or(EngineError::Stopped, |lost| lost.clone().into())
    }

    /// In a cluster, ends this process's share when all processes have come to the end of their ticks;
    /// an engine that is alone goes on.
    ///
    /// # Errors
    /// As [`Engine::finish`].
    pub fn close(&mut self) -> Result<(), EngineError> {
        if self.share.alone() {
            return Ok(());
        }
        self.send(Vec::new(), Millis(0), digest(|hasher| "the end".hash(hasher)))?;
        while !self.open.is_empty() {
            self.finish()?;
        }
        self.end();
        self.lost.get().map_or(Ok(()), |lost| Err(lost.clone().into()))
    }

    fn end(&mut self) {
        self.workers.clear();
        self.answers.clear();
        let Some(threads) = self.threads.take() else {
            return;
        };
        if self.share.alone() {
            drop(threads);
            return;
        }
        // Threads that wait for a process that is gone never end: they are left to the end of this one.
        let ending = thread::spawn(move || drop(threads));
        while !ending.is_finished() && self.lost.get().is_none() {
            thread::sleep(LOOK);
        }
    }

    /// How many ticks are open.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// Asks every worker of this process about its share of the state, between ticks.
    ///
    /// # Errors
    /// When a worker has stopped.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl Fn(&Introspection) -> T + Send + Clone + 'static,
    ) -> Result<Vec<T>, EngineError> {
        let mut all = Vec::new();
        for worker in &self.workers {
            let (answer, answers) = bounded(1);
            let question = question.clone();
            let asked: Question = Box::new(move |inside| {
                // The caller may have gone.
                let _ = answer.send(question(inside));
            });
            worker.send(Command::Ask(asked)).map_err(|_| self.stopped())?;
            all.push(answers.recv().map_err(|_| self.stopped())?);
        }
        Ok(all)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.end();
    }
}

fn check(workers: usize) -> Result<(), EngineError> {
    if (1..=MAX_WORKERS).contains(&workers) { Ok(()) } else { Err(EngineError::Workers(workers)) }
}

/// A hash that is the same in every process: the standard hasher without a key, which is good enough
/// between processes that trust each other.
fn digest(what: impl FnOnce(&mut DefaultHasher)) -> u64 {
    let mut hasher = DefaultHasher::new();
    what(&mut hasher);
    hasher.finish()
}

/// What a worker has beside the dataflow.
struct Desk {
    commands: Receiver<Command>,
    answers: Sender<Arrived>,
    share: Share,
    lost: Arc<OnceLock<Lost>>,
}

impl Desk {
    /// Runs the worker while `busy`; whether it came to the end of it, with no process lost.
    fn step(&self, worker: &mut Worker, busy: impl Fn() -> bool) -> bool {
        while busy() {
            if self.lost.get().is_some() {
                return false;
            }
            worker.step_or_park(Some(NAP));
        }
        true
    }
}

/// One worker's life: it ends when its queue does, or when a process of the cluster is lost.
fn work(worker: &mut Worker, config: Arc<Config>, desk: &Desk) {
    let (mut inputs, outputs) = worker.dataflow(|scope| build(scope, config.clone()));
    let mut gather = (!desk.share.alone()).then(|| Gather::new(worker));
    if worker.index() == 0 {
        for (id, network) in (0..).map(NetworkId).zip(&config.networks) {
            network.profiles.iter().for_each(|k| inputs.profiles.update((id, *k), 1));
        }
    }
    let mut clock = None;
    let mut tick: Tick = 0;
    for command in &desk.commands {
        match command {
            Command::Ask(question) => question(&outputs.inside),
            Command::Tick { changes, now, given } => {
                tick += 1;
                feed(&mut inputs, changes, now, &mut clock, tick);
                if !desk.step(worker, || outputs.probe.less_than(&tick)) {
                    return;
                }
                let changes = std::mem::take(&mut *outputs.changes.borrow_mut());
                let views = changes.into_iter().map(|(view, _, diff)| (view, diff)).collect();
                let arrived = match &mut gather {
                    None => Some(Arrived { views, marks: Vec::new() }),
                    Some(gather) => bring_together(worker, gather, views, given, tick, desk),
                };
                if arrived.is_none_or(|arrived| desk.answers.send(arrived).is_err()) {
                    return;
                }
            }
        }
    }
}

/// Sends a worker's share of a tick's changes to the first of all, and what its process was given to
/// the first worker of each; what arrived here, unless a process is lost.
fn bring_together(
    worker: &mut Worker,
    gather: &mut Gather,
    mut views: Vec<(View, i64)>,
    given: u64,
    tick: Tick,
    desk: &Desk,
) -> Option<Arrived> {
    consolidate(&mut views);
    let Share { process, processes, workers } = desk.share;
    let speaks = worker.index() == process * workers;
    let to = (0..processes).filter(|_| speaks).map(|process| process * workers);
    gather.send(tick, views, Mark { process, given }, to);
    desk.step(worker, || gather.waits_for(tick)).then(|| gather.take())
}

/// Feeds a tick at the inputs' current time and moves them on to the next, `tick`.
fn feed(inputs: &mut Inputs, changes: Vec<Change>, now: Millis, clock: &mut Option<Millis>, tick: Tick) {
    for change in changes {
        match change {
            Change::Event(fact, diff) => inputs.events.update(Arc::from(fact), diff),
            Change::Blob(blob, diff) => inputs.blobs.update(blob, diff),
        }
    }
    // Time never goes back: an answer given is not taken back because a clock was set.
    if clock.is_none_or(|last| last < now) {
        if let Some(last) = clock.replace(now) {
            inputs.clock.update(last, -1);
        }
        inputs.clock.update(now, 1);
    }
    inputs.events.advance_to(tick);
    inputs.events.flush();
    inputs.blobs.advance_to(tick);
    inputs.blobs.flush();
    inputs.profiles.advance_to(tick);
    inputs.profiles.flush();
    inputs.clock.advance_to(tick);
    inputs.clock.flush();
}
