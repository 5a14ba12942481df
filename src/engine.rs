//! The dataflow on threads of its own: ticks in, changes of views out.
//!
//! Each worker of timely runs on one thread and waits for commands. A tick spreads its changes over
//! the workers; they exchange what they must, and each answers with the view changes it owns. The
//! answer is the same for any number of workers.

use crate::intake::Change;
use crossbeam::channel::{Receiver, Sender, bounded};
use differential_dataflow::consolidation::consolidate;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use timely::worker::Worker;
use wats_dataflows::ids::{Millis, NetworkId};
use wats_dataflows::incremental::Tick;
use wats_dataflows::policy::Config;
use wats_dataflows::views::View;
use wats_dataflows::{Inputs, Inside, build};

/// The most workers of one process.
pub const MAX_WORKERS: usize = 64;

/// How long a worker that waits for its peers sleeps at most: a wake-up may be lost to the queue
/// that it waited on before.
const NAP: Duration = Duration::from_millis(1);

/// Effort that an arrangement spends on merging when a tick brings it nothing.
const IDLE_MERGE_EFFORT: isize = 1000;

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
}

/// A question about a worker's share of the state.
type Question = Box<dyn FnOnce(&Inside) + Send>;

enum Command {
    Tick { changes: Vec<Change>, now: Millis },
    Ask(Question),
}

/// A running dataflow.
pub struct Engine {
    workers: Vec<Sender<Command>>,
    /// Of each worker, the changes of its ticks.
    answers: Vec<Receiver<ViewChanges>>,
    /// Ticks that were begun and not yet finished.
    open: usize,
    /// Dropped last: waits for the threads, which end with their queues.
    _threads: Threads,
}

/// Changes of views, with the tick that caused them.
type ViewChanges = Vec<(View, Tick, i64)>;

type Threads = timely::communication::WorkerGuards<()>;

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("workers", &self.workers.len()).field("open", &self.open).finish()
    }
}

impl Engine {
    /// Starts the dataflow on `workers` threads.
    ///
    /// # Errors
    /// When the number is out of range or threads cannot be had.
    pub fn start(config: Config, workers: usize) -> Result<Engine, EngineError> {
        if !(1..=MAX_WORKERS).contains(&workers) {
            return Err(EngineError::Workers(workers));
        }
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..workers).map(|_| bounded(2)).unzip();
        let (answer, answers): (Vec<_>, Vec<_>) = (0..workers).map(|_| bounded(2)).unzip();
        let queues: Vec<Option<(Receiver<Command>, Sender<ViewChanges>)>> =
            receivers.into_iter().zip(answer).map(Some).collect();
        let queues = Mutex::new(queues);
        let config = Arc::new(config);
        let mut timely = timely::Config {
            communication: match workers {
                1 => timely::CommunicationConfig::Thread,
                n => timely::CommunicationConfig::Process(n),
            },
            worker: timely::WorkerConfig::default(),
        };
        let merging = differential_dataflow::Config { idle_merge_effort: Some(IDLE_MERGE_EFFORT) };
        differential_dataflow::configure(&mut timely.worker, &merging);
        let threads = timely::execute(timely, move |worker| {
            let queue = {
                let mut queues = queues.lock().unwrap_or_else(PoisonError::into_inner);
                queues.get_mut(worker.index()).and_then(Option::take)
            };
            if let Some((queue, answer)) = queue {
                work(worker, config.clone(), &queue, &answer);
            }
        });
        let threads = threads.map_err(EngineError::Start)?;
        Ok(Engine { workers: senders, answers, open: 0, _threads: threads })
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
        let mut shares: Vec<Vec<Change>> = self.workers.iter().map(|_| Vec::new()).collect();
        let count = shares.len();
        for (at, change) in changes.into_iter().enumerate() {
            shares[at % count].push(change);
        }
        for (worker, changes) in self.workers.iter().zip(shares) {
            worker.send(Command::Tick { changes, now }).map_err(|_| EngineError::Stopped)?;
        }
        self.open += 1;
        Ok(())
    }

    /// Waits for the oldest open tick and returns what it changed, consolidated.
    ///
    /// # Errors
    /// When a worker has stopped.
    pub fn finish(&mut self) -> Result<Vec<(View, i64)>, EngineError> {
        let mut all = Vec::new();
        if self.open == 0 {
            return Ok(all);
        }
        for answers in &self.answers {
            let changes = answers.recv().map_err(|_| EngineError::Stopped)?;
            all.extend(changes.into_iter().map(|(view, _, diff)| (view, diff)));
        }
        self.open -= 1;
        consolidate(&mut all);
        Ok(all)
    }

    /// How many ticks are open.
    pub fn open(&self) -> usize {
        self.open
    }

    /// Asks every worker about its share of the state, between ticks.
    ///
    /// # Errors
    /// When a worker has stopped.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl Fn(&Inside) -> T + Send + Clone + 'static,
    ) -> Result<Vec<T>, EngineError> {
        let mut all = Vec::new();
        for worker in &self.workers {
            let (answer, answers) = bounded(1);
            let question = question.clone();
            let asked: Question = Box::new(move |inside| {
                // Whoever asked may have gone.
                let _ = answer.send(question(inside));
            });
            worker.send(Command::Ask(asked)).map_err(|_| EngineError::Stopped)?;
            all.push(answers.recv().map_err(|_| EngineError::Stopped)?);
        }
        Ok(all)
    }
}

/// One worker's life: it ends when its queue does.
fn work(worker: &mut Worker, config: Arc<Config>, queue: &Receiver<Command>, answer: &Sender<ViewChanges>) {
    let (mut inputs, outputs) = worker.dataflow(|scope| build(scope, config.clone()));
    if worker.index() == 0 {
        for (id, network) in (0..).map(NetworkId).zip(&config.networks) {
            network.profiles.iter().for_each(|k| inputs.profiles.update((id, *k), 1));
        }
    }
    let mut clock = None;
    let mut tick: Tick = 0;
    for command in queue {
        match command {
            Command::Ask(question) => question(&outputs.inside),
            Command::Tick { changes, now } => {
                tick += 1;
                feed(&mut inputs, changes, now, &mut clock, tick);
                while outputs.probe.less_than(&tick) {
                    worker.step_or_park(Some(NAP));
                }
                let changes = std::mem::take(&mut *outputs.changes.borrow_mut());
                if answer.send(changes).is_err() {
                    return;
                }
            }
        }
    }
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
