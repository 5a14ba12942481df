//! The owner's own: state, the numbers behind trust, imports, exports and backups. On the socket alone.

use super::body::{Pace, Paced};
use super::events::{Brought, many};
use super::params::{Params, Within};
use super::{App, Origin, Problem, about, apart, export, problem, verification_queue};
use crate::Phase;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wats_engine::explain::{ExplainError, MIN_DIGITS, explain, text};
use wats_event::Hex32;
use wats_store::{AuthorRecord, Group};

/// Adds the administration to what everybody may ask.
pub(super) fn routes(public: Router<Arc<App>>) -> Router<Arc<App>> {
    public
        .route("/admin/status", get(status))
        .route("/admin/reputation/{network}", get(reputation))
        .route("/admin/explain/{digits}", get(explained))
        .route("/admin/events/{digits}", get(called))
        .route("/admin/announce/{network}/{key}", get(announce))
        .route("/admin/label/{network}", get(label))
        .route("/admin/unchecked/{network}", get(verification_queue::get))
        .route("/admin/import", post(import))
        .route("/admin/export", get(export::get))
        .route("/admin/checkpoint", post(checkpoint))
        .route("/admin/blobs", get(super::blobs::held))
        .route("/admin/evict", get(super::blobs::next_to_go).post(super::blobs::evict))
}

async fn status(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let core = &app.core;
    let networks = match core.phase() {
        Phase::Ready => app.asked(networks).await?,
        _ => Value::Null,
    };
    let reading = app.clone();
    let read = move || Ok((labelled(&reading, networks)?, reading.core.store.read().ticked()?));
    let (networks, ticked) = apart(read).await?;
    let (durable, shown) = (core.durable.load(Ordering::Acquire), core.shown.load(Ordering::Acquire));
    let [weighty, others] = app.lanes.waiting();
    let ingest: BTreeMap<String, u64> = core
        .metrics
        .outcomes()
        .into_iter()
        .map(|(of, count)| (if of.code.is_empty() { of.outcome } else { of.code }.to_owned(), count))
        .collect();
    let answer = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "store": core.store.id(),
        "directory": core.store.directory().display().to_string(),
        "phase": format!("{:?}", core.phase()).to_lowercase(),
        "failure": core.failure(),
        "loaded": core.loaded.load(Ordering::Relaxed),
        "to_load": core.to_load.load(Ordering::Relaxed),
        "events": core.metrics.events.get(),
        "sequence": { "durable": durable, "shown": shown, "lag": durable.saturating_sub(shown) },
        "index": {
            "reached": app.search.index().reached().0,
            "lag": app.index_lag(),
            "events": app.search.index().events(),
            "commits": app.search.index().commits(),
        },
        "views": { "tick": ticked.tick, "now": ticked.now.0 },
        "clock": core.clock.now().0,
        "waiting": { "weighty_bytes": weighty, "others_bytes": others, "limit_bytes": core.limits.waiting_bytes },
        "ingest": ingest,
        "storage": {
            "store_bytes": core.store.bytes(),
            "free_bytes": crate::monitor::free_disk(core.store.directory()),
            "min_free_bytes": core.limits.min_free_disk,
            "full": core.disk_low.load(Ordering::Relaxed),
        },
        "blobs": super::blobs::status(core),
        "networks": networks,
    });
    Ok(Json(answer).into_response())
}

/// Networks with their labels: those of the views, as every other answer shows them.
fn labelled(app: &App, mut networks: Value) -> Result<Value, Problem> {
    let reader = app.core.store.read();
    for network in networks.as_array_mut().into_iter().flatten() {
        let id = network["id"].as_str().unwrap_or_default().to_owned();
        app.tell_label(network, &reader, &id, Origin::Owner)?;
    }
    Ok(networks)
}

/// The label of a network, for who asks about nothing else.
async fn label(State(app): State<Arc<App>>, Within(network): Within<String>) -> Result<Response, Problem> {
    let answer = json!({ "network": network });
    about(app, network, Origin::Owner, move |_, _| Ok(answer)).await
}

fn networks(driver: &crate::Driver) -> Value {
    let (intake, document) = (&driver.intake, &driver.document);
    let mut posts: BTreeMap<_, BTreeMap<&str, u64>> = BTreeMap::new();
    for post in document.posts.values() {
        if let Some(network) = intake.event_network(post.post) {
            *posts.entry(network).or_default().entry(post.status.name()).or_default() += 1;
        }
    }
    let mut authors: BTreeMap<_, u64> = BTreeMap::new();
    for key in document.authors.keys() {
        if let Some(network) = intake.key_network(*key) {
            *authors.entry(network).or_default() += 1;
        }
    }
    let mut entries: BTreeMap<_, u64> = BTreeMap::new();
    for entry in &document.entries {
        if let Some(network) = intake.event_network(entry.entry) {
            *entries.entry(network).or_default() += 1;
        }
    }
    let profiles = |at: usize| -> Vec<Hex32> {
        let network = intake.config().networks.get(at);
        network.into_iter().flat_map(|n| &n.profiles).filter_map(|k| intake.key_name(*k)).collect()
    };
    let of = |(at, (id, name)): (usize, (_, &str))| {
        json!({
            "id": name,
            "profiles": profiles(at),
            "authors": authors.get(&id).copied().unwrap_or(0),
            "entries": entries.get(&id).copied().unwrap_or(0),
            "posts": posts.get(&id).cloned().unwrap_or_default(),
        })
    };
    intake.networks().enumerate().map(of).collect()
}

#[derive(Debug, Deserialize)]
struct AuthorPageQuery {
    limit: Option<usize>,
}

/// The keys of a network, by trust and reputation.
async fn reputation(
    State(app): State<Arc<App>>,
    Within(network): Within<String>,
    Params(page): Params<AuthorPageQuery>,
) -> Result<Response, Problem> {
    let limit = page.limit.unwrap_or(50).min(10_000);
    let mut all = apart(move || Ok(app.core.store.read().authors(&network)?)).await?;
    let total = all.len();
    all.sort_by_key(|(key, a)| (std::cmp::Reverse((a.trust, a.reputation, a.weight)), *key));
    all.truncate(limit);
    let authors: Vec<Value> = all.iter().map(|(key, author)| author_json(*key, author)).collect();
    Ok(Json(json!({ "total": total, "authors": authors })).into_response())
}

fn author_json(key: Hex32, author: &AuthorRecord) -> Value {
    json!({
        "key": key,
        "trust": author.trust.0,
        "floor": author.floor.0,
        "weight": author.weight.0,
        "reputation": author.reputation.0,
        "voice": author.voice.0,
        "group": match &author.group {
            Group::Alone(key) => key.to_string(),
            Group::Profiles => "own profiles".into(),
            Group::Owner(owner) => format!("owner {owner:?}"),
        },
        "origins": author.origins.len(),
    })
}

/// Why a post has its status, or a key its trust.
async fn explained(State(app): State<Arc<App>>, Within(digits): Within<String>) -> Result<Response, Problem> {
    if !(MIN_DIGITS..=64).contains(&digits.len())
        || !digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    {
        return Err(Problem::bad_request("name a post or a key by 8 to 64 lower-case hex digits"));
    }
    let found =
        app.asked(move |driver| Ok((driver.ticked().now.0, explain(driver.seen(), &digits)?))).await?;
    let (now, mut explained) = found.map_err(|e: ExplainError| match e {
        ExplainError::Engine(e) => Problem::new(500, "internal error", e.to_string()),
        other => Problem::not_found(other.to_string()),
    })?;
    let explained = apart(move || {
        let reader = app.core.store.read();
        for of in &mut explained {
            let (network, label) = of.network_label();
            *label = app.label(&reader, network, Origin::Owner)?;
        }
        Ok(explained)
    })
    .await?;
    let text = text(&explained);
    Ok(Json(json!({ "now": now, "explained": explained, "text": text })).into_response())
}

/// The event whose id starts with some digits: people copy the first of them.
async fn called(State(app): State<Arc<App>>, Within(digits): Within<String>) -> Result<Response, Problem> {
    if !(MIN_DIGITS..=64).contains(&digits.len()) {
        return Err(Problem::bad_request(
            "name an event by the first 8 to 64 lower-case hex digits of its id",
        ));
    }
    let (store, start) = (app.core.store.clone(), digits.clone());
    match *apart(move || Ok(store.starting_with(&start, 2)?)).await? {
        [] => Err(Problem::not_found(format!("no event whose id starts with {digits} is held"))),
        [id] => Ok(Json(json!({ "id": id })).into_response()),
        [..] => Err(Problem::bad_request(format!("several ids start with {digits}: give more digits"))),
    }
}

/// The latest announce of a key: what a vouch for it reacts to.
async fn announce(
    State(app): State<Arc<App>>,
    Within((network, key)): Within<(String, String)>,
) -> Result<Response, Problem> {
    let key = problem::name("a key", &key)?;
    let (store, of) = (app.core.store.clone(), network.clone());
    let seen = apart(move || Ok(store.key_seen(&of, key)?)).await?;
    let seen = seen.ok_or_else(|| Problem::not_found(format!("no event of {key} is held in `{network}`")))?;
    let Some((created_at, announce)) = seen.announce else {
        return Err(Problem::not_found(format!(
            "{key} has announced nothing in `{network}` yet; a vouch reacts to an announce"
        )));
    };
    Ok(Json(json!({ "announce": announce, "created_at": created_at.0, "first_seen": seen.first.0 }))
        .into_response())
}

/// Records of a log, with their dates.
async fn import(State(app): State<Arc<App>>, body: Body) -> Result<Response, Problem> {
    if let Some(why) = app.core.refuses() {
        // A client that is still sending reads the answer when all was sent.
        Paced::new(body, 0, Pace::Leisure).rinse().await;
        return Err(Problem::later(why));
    }
    many(&app, Origin::Owner, Brought::Records, body).await
}

#[derive(Debug, Deserialize)]
struct BackupRequest {
    directory: PathBuf,
}

/// A backup, made while the node runs.
async fn checkpoint(
    State(app): State<Arc<App>>,
    Json(backup): Json<BackupRequest>,
) -> Result<Response, Problem> {
    if !backup.directory.is_absolute() || backup.directory.exists() {
        return Err(Problem::bad_request("`directory` must be an absolute path of nothing that exists"));
    }
    let made = apart(move || {
        // What the copy says of blobs is so of its files.
        let _still = app.core.blobs.lock_all();
        app.core.store.checkpoint(&backup.directory).inspect_err(|_| {
            // Half a copy is of no use, and in the way of the next; what cannot be removed stays.
            let _ = std::fs::remove_dir_all(&backup.directory);
        })?;
        Ok(backup.directory)
    });
    let made = made.await?;
    Ok(Json(json!({ "directory": made.display().to_string() })).into_response())
}
