//! The node: a process that runs for months, takes events in, and keeps the views current.
//!
//! ```text
//!  http ─▶ lanes ─▶ verify ─▶ commit ─▶ drive ─▶ views
//!  checked   room     signa-    one sync   micro-    one batch
//!  to its id in bytes tures     for many   ticks     a tick
//! ```
//!
//! Each arrow is a bounded queue. When a stage cannot keep up the one before it waits, and at the
//! front clients are told to come again: nothing grows, and nothing that was acknowledged is lost.

mod admission;
mod blob_manager;
mod commit;
pub mod http;
pub mod limits;
mod metrics;
mod monitor;
mod notifier;
mod outcome;
mod recovery;
pub mod routing;
mod state;
mod tick_loop;
mod verify;
mod view_writer;
pub mod wait;

pub use monitor::free_disk;
pub use outcome::{Outcome, Unavailable};
pub use recovery::{Loaded, Until, load};
pub use state::{NodeState, Phase};
pub use tick_loop::{Driver, Question, next_slice};

use blob_manager::Keeper;
use crossbeam::channel::bounded;
pub use http::Agents;
use http::App;
use limits::Rates;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use wats_config::Config;
use wats_config::{Limits, Token};
use wats_engine::engine::EngineError;
use wats_model::clock::Clock;
use wats_model::ids::IdSpaceExhausted;
use wats_search::{Index, Indexer, Search};
use wats_store::{Appender, Sizes, Store, StoreError};

/// Why a node cannot start, or go on.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// There are more names than the engine has integers for.
    #[error(transparent)]
    Full(#[from] IdSpaceExhausted),
    /// It cannot listen.
    #[error("cannot listen on {at}: {cause}; another process may, or the address is not of this machine")]
    Listen {
        /// Where.
        at: String,
        /// Why not.
        cause: io::Error,
    },
    /// Writes would be open to anybody who reaches the address.
    #[error(
        "{0} can be reached from other machines: set `token_file` in `[node]`, so that only those who have the token may write"
    )]
    Open(SocketAddr),
    /// The search index.
    #[error(transparent)]
    Search(#[from] wats_search::SearchError),
    /// Threads cannot be had.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
    /// A part of it failed.
    #[error("{0}")]
    Failed(String),
}

/// What a node is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the store lies.
    pub store: PathBuf,
    /// Where the search index lies.
    pub index: PathBuf,
    /// The networks it carries, and its policy.
    pub config: Config,
    /// Where it listens for clients.
    pub listen: SocketAddr,
    /// The socket for its owner.
    pub socket: PathBuf,
    /// What a client must show to write; needed off the loopback.
    pub token: Option<Token>,
    /// Its bounds.
    pub limits: Limits,
    /// Workers of the dataflow.
    pub workers: usize,
    /// Memory for the store.
    pub sizes: Sizes,
    /// What time it is.
    pub clock: Clock,
    /// What is served beside the node's own routes, to clients that show the token; none by default.
    pub agents: Option<Agents>,
}

/// A running node.
#[derive(Debug)]
pub struct Node {
    core: Arc<NodeState>,
    address: SocketAddr,
    /// None when it has stopped.
    server: Option<tokio::runtime::Runtime>,
    stop: CancellationToken,
    served: Vec<tokio::task::JoinHandle<()>>,
    threads: Vec<JoinHandle<()>>,
    socket: PathBuf,
}

/// Groups of records between two threads.
const QUEUE: usize = 6;
/// Questions that wait for the engine.
const QUESTIONS: usize = 64;
/// Threads that serve clients.
const SERVING: usize = 2;
/// How long requests may take to end when the node stops.
const GRACE: Duration = Duration::from_secs(2);
/// How long a stop may take in all: a long tick is left unfinished.
const LONGEST_STOP: Duration = Duration::from_millis(4_500);

impl Node {
    /// Starts a node: it answers at once, and takes events in when it has read its store.
    ///
    /// # Errors
    /// When the store cannot be opened, or an address cannot be had.
    pub fn start(settings: Settings) -> Result<Node, NodeError> {
        if !settings.listen.ip().is_loopback() && settings.token.is_none() {
            return Err(NodeError::Open(settings.listen));
        }
        let store = Arc::new(Store::open(&settings.store, settings.sizes)?);
        warn_of(&settings);
        let rules = settings.config.rules();
        let core = NodeState::new(store, rules, settings.limits.clone(), settings.clock.clone());
        let core = Arc::new(core.keeping(settings.config.storage.clone()));
        let own =
            settings.config.networks.iter().flatten().flat_map(|network| network.profiles.iter().copied());
        core.blobs.accounts().own(own);
        let stop = CancellationToken::new();
        let rates = Arc::new(Rates::new(&settings.limits));
        let (lanes, exits) = admission::lanes(&settings.limits);
        let (to_commit, checked) = bounded(QUEUE);
        let blobs_to_commit = to_commit.clone();
        let (to_engine, durable) = bounded(QUEUE);
        let (ask, questions) = bounded(QUESTIONS);
        // A message says "look", and one that waits stands for all.
        let (look_at_events, events) = bounded(1);
        let (look_at_views, views) = bounded(1);
        let index = Arc::new(Index::open(&settings.index, core.store.id())?);
        let mut indexer = Indexer::new(core.store.clone(), index.clone());
        // Before anything is taken in: new events may come to stand where the index has seen others.
        indexer.check_store()?;
        let mut appender = Appender::new(core.store.clone())?;
        let mut threads = Vec::new();

        let (shared, limits) = (core.clone(), rates.clone());
        threads.push(spawn(&core, "verify", move || verify::run(&shared, &limits, &exits, &to_commit))?);
        let shared = core.clone();
        core.durable.store(appender.last().0, std::sync::atomic::Ordering::Release);
        let (look_at_blobs, looked) = bounded(1);
        threads.push(spawn(&core, "commit", move || {
            if let Err(e) = blob_manager::look(&shared, &mut appender) {
                shared.fail("looking at the files of blobs", &e);
                return;
            }
            // The engine reads the sequence from then on.
            drop(look_at_blobs);
            commit::run(&shared, appender, &checked, &to_engine);
        })?);
        let (shared, config, workers) = (core.clone(), settings.config.clone(), settings.workers);
        threads.push(spawn(&core, "drive", move || {
            let tell = vec![look_at_events, look_at_views];
            // Nothing is sent: it ends when the files were looked at.
            let _: Result<(), _> = looked.recv();
            if let Err(e) = drive(&shared, &config, workers, tell, &durable, &questions) {
                shared.fail("the engine", &e);
            }
        })?);
        let shared = core.clone();
        threads.push(spawn(&core, "tell", move || notifier::run(&shared, &views))?);
        threads.push(spawn(&core, "index", move || indexer.run(&events))?);
        let search = Search::new(core.store.clone(), index, settings.limits.hide_below);
        let (shared, ended) = (core.clone(), stop.clone());
        threads.push(spawn(&core, "watch", move || monitor::run(&shared, &ended))?);

        let keeper = Arc::new(Keeper::new(core.clone(), blobs_to_commit, stop.clone()));
        let keeping = keeper.clone();
        threads.push(spawn(&core, "keep", move || keeping.run())?);
        let app = App::new(keeper, lanes, rates, ask, &settings, search, stop.clone());
        let server = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(SERVING)
            .thread_name("wats-serve")
            .enable_all()
            .build()
            .map_err(NodeError::Thread)?;
        let served = http::serve(&server, app, settings.listen, &settings.socket, settings.agents, &stop);
        let (address, served) = served.inspect_err(|_| {
            core.enter(Phase::Stopping);
            stop.cancel();
            threads.drain(..).for_each(|thread| drop(thread.join()));
        })?;
        tracing::info!(%address, socket = %settings.socket.display(), "listening");
        Ok(Node { core, address, server: Some(server), stop, served, threads, socket: settings.socket })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The socket for its owner.
    pub fn socket(&self) -> &std::path::Path {
        &self.socket
    }

    /// What its threads share.
    pub fn core(&self) -> &Arc<NodeState> {
        &self.core
    }

    /// Waits until it has read its store.
    ///
    /// # Errors
    /// When it failed.
    pub fn wait_ready(&self) -> Result<(), NodeError> {
        while self.core.phase() == Phase::Loading {
            thread::sleep(Duration::from_millis(5));
        }
        self.core.failure().map_or(Ok(()), |why| Err(NodeError::Failed(why)))
    }

    /// Waits for a signal to stop (an interrupt or `SIGTERM`), or for a failure.
    ///
    /// # Errors
    /// When it failed, or signals cannot be heard.
    pub fn wait(&self) -> Result<(), NodeError> {
        use tokio::signal::unix::{SignalKind, signal};
        let Some(server) = &self.server else {
            return Ok(());
        };
        server.block_on(async {
            let mut terminate = signal(SignalKind::terminate()).map_err(NodeError::Thread)?;
            let mut interrupt = signal(SignalKind::interrupt()).map_err(NodeError::Thread)?;
            loop {
                tokio::select! {
                    _ = terminate.recv() => return Ok(()),
                    _ = interrupt.recv() => return Ok(()),
                    () = tokio::time::sleep(Duration::from_millis(200)) => {}
                }
                if let Some(why) = self.core.failure() {
                    return Err(NodeError::Failed(why));
                }
            }
        })
    }

    /// Stops: requests that are worked on get their answers, what was acknowledged is on the disk. What
    /// the engine has not taken in yet it takes in after the next start.
    ///
    /// # Errors
    /// When the disk fails at the last.
    pub fn stop(mut self) -> Result<(), NodeError> {
        let began = Instant::now();
        self.halt();
        self.core.store.sync()?;
        tracing::info!(took_ms = began.elapsed().as_millis() as u64, "stopped");
        self.core.failure().map_or(Ok(()), |why| Err(NodeError::Failed(why)))
    }

    fn halt(&mut self) {
        let (began, served) = (Instant::now(), std::mem::take(&mut self.served));
        let Some(server) = self.server.take() else {
            return;
        };
        self.core.enter(Phase::Stopping);
        self.stop.cancel();
        server.block_on(async {
            let all = async {
                for task in served {
                    // A server that panicked has ended.
                    let _ = task.await;
                }
            };
            let _ = tokio::time::timeout(GRACE, all).await;
        });
        // With the last request the lanes go, and one thread after the other runs dry.
        server.shutdown_timeout(GRACE / 4);
        end(std::mem::take(&mut self.threads), began + LONGEST_STOP);
        let _ = std::fs::remove_file(&self.socket);
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.halt();
    }
}

/// Waits for threads until some time. What one does after that nobody sees: what was acknowledged is on
/// the disk, and the rest follows from it after the next start.
fn end(threads: Vec<JoinHandle<()>>, until: Instant) {
    for thread in threads {
        while !thread.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(5));
        }
        if thread.is_finished() {
            // A thread that panicked has ended.
            let _ = thread.join();
        } else {
            let name = thread.thread().name().unwrap_or_default();
            tracing::warn!(name, "a thread is in the middle of something long, and is left behind");
        }
    }
}

/// What an owner may not have meant.
fn warn_of(settings: &Settings) {
    if settings.config.networks.is_none() {
        tracing::warn!(
            most = state::NETWORKS,
            "no network is configured: whatever anybody sends is carried, of so many networks, and you are the reader of \
             none; `wats init` makes a configuration"
        );
    }
    if wats_files::is_open_to_others(&settings.store).is_ok_and(|open| open) {
        let store = settings.store.display();
        tracing::warn!(%store, "others than its owner may enter the store; `wats doctor --repair` closes it");
    }
}

/// A thread of the node. Without one the others would go on, and say that all is well: when it panics, the node fails.
fn spawn(
    core: &Arc<NodeState>,
    name: &'static str,
    life: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, NodeError> {
    let watched = Watched { core: core.clone(), name };
    let life = move || {
        let _watched = watched;
        life();
    };
    thread::Builder::new().name(format!("wats-{name}")).spawn(life).map_err(NodeError::Thread)
}

/// Tells of a panic in a thread.
struct Watched {
    core: Arc<NodeState>,
    name: &'static str,
}

impl Drop for Watched {
    fn drop(&mut self) {
        if thread::panicking() {
            self.core.fail(self.name, &"a thread panicked; the message is above. Please report it");
        }
    }
}

/// The engine thread: loads, then follows.
fn drive(
    core: &Arc<NodeState>,
    config: &Config,
    workers: usize,
    tell: Vec<crossbeam::channel::Sender<()>>,
    durable: &crossbeam::channel::Receiver<Vec<commit::Durable>>,
    questions: &crossbeam::channel::Receiver<Question>,
) -> Result<(), NodeError> {
    let began = Instant::now();
    let mut driver = Driver::new(core.clone(), config, workers)?.telling(tell);
    let Some(loaded) = load(core, &mut driver, recovery::Until::End)? else {
        return Ok(());
    };
    // They count towards what a node without configured networks carries.
    for (_, name) in driver.intake.networks() {
        core.carries(name);
    }
    let views = loaded.views;
    tracing::info!(
        records = loaded.records,
        left_out = loaded.left_out,
        took_ms = began.elapsed().as_millis() as u64,
        views = views.same + views.missing + views.different,
        corrected = views.missing + views.extra + views.different,
        "ready"
    );
    core.enter(Phase::Ready);
    tick_loop::run(&mut driver, durable, questions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wats_event::Rules;

    #[test]
    fn a_thread_that_panics_fails_the_node() {
        let dir = std::env::temp_dir().join(format!("wats-panic-{}", std::process::id()));
        let store = Store::open(&dir, Sizes::default()).expect("a new store");
        let core = Arc::new(NodeState::new(Arc::new(store), Rules::any(), Limits::default(), Clock::Wall));
        let (quiet, loud) = ("quiet", "loud");
        spawn(&core, quiet, || {}).expect("a thread").join().expect("it ends");
        assert_eq!(core.phase(), Phase::Loading);
        assert!(spawn(&core, loud, || panic!("on purpose")).expect("a thread").join().is_err());
        assert_eq!(core.phase(), Phase::Failed);
        assert!(core.failure().is_some_and(|why| why.starts_with(loud)));
        drop(core);
        std::fs::remove_dir_all(dir).expect("the test's own");
    }
}
