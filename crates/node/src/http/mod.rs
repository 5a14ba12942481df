//! What clients and the owner speak to: HTTP on an address, and on a Unix socket with the owner's
//! permissions, which has the administration besides.

mod admin;
mod mcp;
pub use mcp::Agents;
mod blobs;
mod body;
mod browse;
mod connections;
mod cursor;
mod events;
mod export;
mod fair_semaphore;
mod health;
mod knowledge;
mod lines;
mod openapi;
mod params;
mod problem;
mod range;
mod read;
mod search;
mod shown;
mod verification_queue;
mod wait;

pub use problem::Problem;

use super::admission::Lanes;
use super::blob_manager::Keeper;
use super::limits::Rates;
use super::state::NodeState;
use super::tick_loop::{Driver, Question};
use super::{NodeError, Settings};
use axum::extract::connect_info::ConnectInfo;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use connections::{Capped, Peer};
use crossbeam::channel::Sender;
use fair_semaphore::FairSemaphore;
use serde_json::{Value, json};
use shown::ReadEvent;
use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::SizeAbove;
use wats_engine::labels::LabelAdvice;
use wats_event::Hex32;
use wats_model::views::NETWORK_LABEL;
use wats_search::Search;
use wats_store::{Reader, StoreError};

/// An answer of more bytes is compressed, for a client that takes it so.
const COMPRESSED: u64 = 1024;
/// Looks at the records at a time, of all who wait: each may read some thousand of them.
const LOOKING: usize = 32;
/// How long a client that waits for events waits for its turn to look.
const TURN: std::time::Duration = std::time::Duration::from_secs(20);
/// Connections at a time, of all clients.
const CONNECTIONS: usize = 4096;
/// Blobs that are read at a time, each of which is an open file.
const READING: usize = 256;
/// Files that the node needs besides: a store that cannot open a file has failed. 700 for it and the index,
/// the others for blobs.
const OTHER_FILES: u64 = 1_300;

/// Makes room for open files, and says how many connections there is room for.
fn open_files(most: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let want = most as u64 + OTHER_FILES;
    let wanted = limit.maximum.map_or(want, |hard| want.min(hard));
    if limit.current.is_some_and(|now| now < wanted) {
        // Where it cannot be raised there are fewer connections.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum });
    }
    let have = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(have.saturating_sub(OTHER_FILES)).map_or(most, |room| room.clamp(16, most))
}

/// Who sends a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An address.
    Address(IpAddr),
    /// The owner, by the socket.
    Owner,
}

/// What requests need.
#[derive(Debug)]
pub struct App {
    core: Arc<NodeState>,
    lanes: Lanes,
    rates: Arc<Rates>,
    ask: Sender<Question>,
    token: Option<wats_config::Token>,
    /// Requests that are worked on.
    working: FairSemaphore,
    /// Those who wait, and look at the records.
    looking: FairSemaphore,
    /// Uploads of them.
    uploading: FairSemaphore,
    /// Blobs that are sent.
    reading: FairSemaphore,
    keeper: Arc<Keeper>,
    search: Search,
    /// Networks in which the reader has a profile.
    read: HashSet<String>,
    stop: CancellationToken,
}

impl App {
    /// An app around what keeps the blobs of a core.
    pub fn new(
        keeper: Arc<Keeper>,
        lanes: Lanes,
        rates: Arc<Rates>,
        ask: Sender<Question>,
        settings: &Settings,
        search: Search,
        stop: CancellationToken,
    ) -> Arc<App> {
        let core = keeper.core().clone();
        let (working, looking) = (FairSemaphore::new(core.limits.requests), FairSemaphore::new(LOOKING));
        let uploading = FairSemaphore::new(core.blobs.storage.uploads);
        let reading = FairSemaphore::new(READING);
        let read = settings.config.networks.iter().flatten().filter(|network| !network.profiles.is_empty());
        Arc::new(App {
            core,
            lanes,
            rates,
            ask,
            token: settings.token.clone(),
            working,
            looking,
            uploading,
            reading,
            keeper,
            search,
            read: read.map(|network| network.id.clone()).collect(),
            stop,
        })
    }

    /// The label of a network, where it has one; its key is for the owner alone.
    fn label(
        &self,
        reader: &Reader<'_>,
        network: &str,
        origin: Origin,
    ) -> Result<Option<LabelAdvice>, StoreError> {
        let Some(record) = reader.label(network)? else {
            return Ok(None);
        };
        let told = LabelAdvice::new(record.label, record.suggested, self.read.contains(network));
        Ok(Some(match (origin, told.key) {
            (Origin::Owner, Some(key)) if self.can_be_vouched_for(network, key)? => told,
            _ => told.without_key(),
        }))
    }

    /// Adds the label of a network to an answer, where it has one.
    fn tell_label(
        &self,
        answer: &mut Value,
        reader: &Reader<'_>,
        network: &str,
        origin: Origin,
    ) -> Result<(), StoreError> {
        if let Some(told) = self.label(reader, network, origin)? {
            answer[NETWORK_LABEL] = json!(told);
        }
        Ok(())
    }

    /// Whether a key has an announce: a vouch reacts to one.
    fn can_be_vouched_for(&self, network: &str, key: Hex32) -> Result<bool, StoreError> {
        Ok(self.core.store.key_seen(network, key)?.is_some_and(|seen| seen.announce.is_some()))
    }

    /// How many durable records the search index has yet to take in.
    fn index_lag(&self) -> u64 {
        let durable = self.core.durable.load(std::sync::atomic::Ordering::Acquire);
        durable.saturating_sub(self.search.index().reached().0)
    }

    /// A held event of a network that the node carries: of one that it no longer does events stay in the
    /// store, and are not shown.
    fn event(&self, id: Hex32) -> Result<ReadEvent, Problem> {
        let held = shown::held(&self.core.store, id)?;
        let held = held.filter(|held| self.core.rules.pow_bits(&held.said.net).is_some());
        held.ok_or_else(|| Problem::not_found(format!("{id} is not held")))
    }

    /// The turn of one who waits to look at the records, for as long as it is held; the owner needs none.
    /// Many who are woken at a time take turns.
    async fn look(&self, origin: Origin) -> Result<Option<fair_semaphore::Share>, Problem> {
        let Origin::Address(address) = origin else {
            return Ok(None);
        };
        let turn = self.looking.turn(super::limits::source(address));
        tokio::time::timeout(TURN, turn).await.map_err(|_| Problem::later(super::Unavailable::Busy))
    }

    /// Asks the engine's thread about the state between two ticks.
    async fn asked<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Driver) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        if self.core.phase() != super::Phase::Ready {
            return Err(Problem::later(self.core.refuses().unwrap_or(super::Unavailable::Loading)));
        }
        let (answer, answered) = tokio::sync::oneshot::channel();
        let question: Question = Box::new(move |driver| {
            // The client may have gone.
            let _ = answer.send(question(driver));
        });
        self.ask.try_send(question).map_err(|_| Problem::later(super::Unavailable::Busy))?;
        answered.await.map_err(|_| Problem::later(super::Unavailable::Stopping))
    }
}

/// Does work that reads much of the store, apart from the threads that serve.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|e| Problem::new(500, "internal error", e.to_string()))?
}

/// An answer about a network, read from one snapshot of the store apart from the threads that serve, with
/// the network's label.
async fn about(
    app: Arc<App>,
    network: String,
    origin: Origin,
    page: impl FnOnce(&App, &Reader<'_>) -> Result<Value, Problem> + Send + 'static,
) -> Result<Response, Problem> {
    app.carries(&network)?;
    let answer = apart(move || {
        let reader = app.core.store.read();
        let mut answer = page(&app, &reader)?;
        app.tell_label(&mut answer, &reader, &network, origin)?;
        Ok(answer)
    });
    Ok(Json(answer.await?).into_response())
}

/// What everybody may ask.
fn public(app: Arc<App>) -> Router<Arc<App>> {
    use axum::routing::{get, post};
    Router::new()
        .route("/v1/events", post(events::post))
        .route("/v1/events/{id}", get(events::get))
        .route("/v1/threads/{id}", get(read::get))
        .route("/v1/knowledge", get(knowledge::get))
        .route("/v1/browse", get(browse::get))
        .route("/v1/search", get(search::get))
        .route("/v1/openapi.json", get(openapi::get))
        .layer(middleware::from_fn_with_state(app.clone(), one_of_many))
        // Those who wait are many, have a limit of their own, and cost nothing until they are woken.
        .route("/v1/wait", get(wait::get))
        // Monitoring is answered however busy the node is.
        .route("/healthz", get(health::health))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .fallback(|| async {
            Problem::not_found("there is nothing here; `/v1/openapi.json` says what there is")
        })
        .method_not_allowed_fallback(|| async {
            Problem::new(405, "method not allowed", "this path does not know that method")
        })
        .layer(DefaultBodyLimit::disable())
        .layer(CompressionLayer::new().compress_when(SizeAbove::new(COMPRESSED)))
        // Blobs are sent as they are: their length and their ranges are of what they are.
        .merge(blobs::routes().layer(middleware::from_fn_with_state(app, one_of_many)))
}

/// A bounded number of requests of clients is worked on; the others are told to come again.
async fn one_of_many(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let Some(Origin::Address(address)) = request.extensions().get().copied() else {
        return next.run(request).await;
    };
    match app.working.take(super::limits::source(address)) {
        Some(_share) => next.run(request).await,
        None => Problem::later(super::Unavailable::Busy).into_response(),
    }
}

async fn of_address(
    ConnectInfo(Peer(address)): ConnectInfo<Peer>,
    mut request: Request,
    next: Next,
) -> Response {
    request.extensions_mut().insert(Origin::Address(address));
    next.run(request).await
}

async fn of_owner(mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(Origin::Owner);
    next.run(request).await
}

/// Listens, and serves until told to stop.
///
/// # Errors
/// When an address cannot be had.
pub fn serve(
    runtime: &Runtime,
    app: Arc<App>,
    address: SocketAddr,
    socket: &Path,
    agents: Option<Agents>,
    stop: &CancellationToken,
) -> Result<(SocketAddr, Vec<JoinHandle<()>>), NodeError> {
    let _inside = runtime.enter();
    let failed = |at: String| move |cause| NodeError::Listen { at, cause };
    let tcp =
        runtime.block_on(tokio::net::TcpListener::bind(address)).map_err(failed(address.to_string()))?;
    let address = tcp.local_addr().map_err(failed(address.to_string()))?;
    let unix = connections::private_socket(socket).map_err(failed(socket.display().to_string()))?;

    let agents = agents.map(|agents| mcp::routes(&app, &agents, address, stop)).unwrap_or_default();
    let clients = public(app.clone()).layer(middleware::from_fn(of_address)).with_state(app.clone());
    let clients = clients.merge(agents);
    let clients = clients.into_make_service_with_connect_info::<Peer>();
    let owner = admin::routes(public(app.clone())).layer(middleware::from_fn(of_owner)).with_state(app);
    let until = |stop: CancellationToken| async move { stop.cancelled().await };
    let tcp = axum::serve(Capped::new(tcp, open_files(CONNECTIONS)), clients)
        .with_graceful_shutdown(until(stop.clone()));
    let unix = axum::serve(unix, owner.into_make_service()).with_graceful_shutdown(until(stop.clone()));
    let served =
        vec![runtime.spawn(async move { drop(tcp.await) }), runtime.spawn(async move { drop(unix.await) })];
    Ok((address, served))
}
