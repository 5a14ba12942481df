//! `/v1/blobs`: uploads that may be resumed, reads that are verified, and what the network should hold.

use super::body::{BodyError, Pace, Paced};
use super::fair_semaphore::Share;
use super::params::{Params, Within};
use super::range::{self, RequestedRange};
use super::{App, Origin, Problem, apart, problem};
use crate::blob_manager::{KeepError, reason};
use crate::limits;
use crate::outcome::Unavailable;
use crate::state::NodeState;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Json, Router};
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use wats_config::decimal;
use wats_event::Hex32;
use wats_store::blobs::{Begin, Opened, Read, Short, Source, Taken, Why};
use wats_store::{RankRecord, Standing};

/// Bytes of a body that are written at a time.
const BLOCK: usize = 256 << 10;
/// Blobs of one page of a list.
const PAGE: usize = 100;
/// At most.
const LONGEST_PAGE: usize = 1_000;

const UPLOAD_OFFSET: HeaderName = HeaderName::from_static("upload-offset");
const REPLICAS: HeaderName = HeaderName::from_static("wats-replicas");
const PINNED: HeaderName = HeaderName::from_static("wats-pinned");

/// What everybody may ask of blobs.
pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/v1/blobs/wants", get(wants))
        .route("/v1/blobs/spares", get(spares))
        .route("/v1/blobs/{hash}", get(read).put(upload))
        .route("/v1/blobs/{hash}/about", get(about))
        .method_not_allowed_fallback(|| async {
            Problem::new(405, "method not allowed", "this path does not know that method")
        })
        .layer(axum::extract::DefaultBodyLimit::disable())
}

fn name(hash: &str) -> Result<Hex32, Problem> {
    problem::name("a blob", hash)
}

fn source(origin: Origin) -> Source {
    match origin {
        Origin::Address(address) => Some(limits::source(address)),
        Origin::Owner => None,
    }
}

/// What a client should know of a blob that it asks for.
async fn blob_headers(app: &Arc<App>, blob: Hex32, headers: &mut HeaderMap) -> Result<(), Problem> {
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let store = app.core.store.clone();
    let record = apart(move || Ok(store.read().rank(blob)?)).await?;
    if let Some(RankRecord { replicas, pinned, .. }) = record {
        headers.insert(REPLICAS, u64::from(replicas).into());
        headers.insert(PINNED, HeaderValue::from_static(if pinned { "true" } else { "false" }));
    }
    Ok(())
}

/// `GET` and `HEAD /v1/blobs/{hash}`
async fn read(
    State(app): State<Arc<App>>,
    Extension(origin): Extension<Origin>,
    Within(hash): Within<String>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let blob = name(&hash)?;
    let Some(size) = app.core.blobs.accounts().size(blob) else {
        return not_here(&app, blob, source(origin)).await;
    };
    let tag = format!("\"{blob}\"");
    let text = |name| headers.get(name).and_then(|v: &HeaderValue| v.to_str().ok());
    let mut answer = Response::new(Body::empty());
    let out = answer.headers_mut();
    blob_headers(&app, blob, out).await?;
    let value = |text: &str| HeaderValue::from_str(text).map_err(|e| Problem::bad_request(e.to_string()));
    out.insert(header::ETAG, value(&tag)?);
    if text(header::IF_NONE_MATCH).is_some_and(|tags| tags == "*" || tags.contains(&tag)) {
        *answer.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(answer);
    }
    // Anybody may have sent the bytes: nothing should take them for a page of this node's.
    out.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    out.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    out.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    // A range of something else than the client has a part of is no use.
    let fresh = text(header::IF_RANGE).is_none_or(|of| of == tag);
    let wanted = range::wanted(text(header::RANGE).filter(|_| fresh), size);
    let (from, length) = match wanted {
        RequestedRange::All => (0, size),
        RequestedRange::Part(first, last) => {
            *answer.status_mut() = StatusCode::PARTIAL_CONTENT;
            let of = value(&format!("bytes {first}-{last}/{size}"))?;
            answer.headers_mut().insert(header::CONTENT_RANGE, of);
            (first, last - first + 1)
        }
        RequestedRange::Nothing => {
            let problem = Problem::new(416, "range not satisfiable", format!("it has {size} bytes"));
            let of = value(&format!("bytes */{size}"))?;
            return Ok(([(header::CONTENT_RANGE, of)], problem).into_response());
        }
    };
    answer.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    if method == Method::HEAD {
        return Ok(answer);
    }
    let busy = || Problem::later(Unavailable::Busy);
    let share = source(origin).map(|source| app.reading.take(source).ok_or_else(busy)).transpose()?;
    let part = UploadPart { from, length, all: length == size };
    *answer.body_mut() = verified(app, blob, part, share).await?;
    Ok(answer)
}

/// What of a blob is sent.
struct UploadPart {
    from: u64,
    length: u64,
    /// Whether that is all of it.
    all: bool,
}

/// A blob, or a part, of which the file was found to be what its name says; while all of it is sent that
/// is looked at once more, and the answer breaks off before its end when it is not so.
async fn verified(
    app: Arc<App>,
    blob: Hex32,
    part: UploadPart,
    share: Option<Share>,
) -> Result<Body, Problem> {
    let UploadPart { from, length, all } = part;
    let keeping = app.clone();
    let opened = apart(move || {
        let lost = |why| {
            keeping.keeper.lose(blob, why);
            Problem::not_found(format!("{blob} was lost on this node's disk; it is not held any longer"))
                .with("code", why.as_str())
        };
        match keeping.core.blobs.open(blob).map_err(failed)? {
            Opened::Whole(file, _) => Read::new(file, from, length, all.then_some(blob)).map_err(failed),
            Opened::Missing => Err(lost(Why::Missing)),
            Opened::Damaged => Err(lost(Why::Damaged)),
        }
    });
    let next = move |(app, share, mut read): (Arc<App>, Option<Share>, Read)| async move {
        let block = tokio::task::spawn_blocking(move || {
            let block = read.block();
            if block.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::InvalidData) {
                app.keeper.lose(blob, Why::Damaged);
            }
            block.map(|block| block.map(|block| (block, (app, share, read))))
        });
        block.await.map_err(io::Error::other)?
    };
    Ok(Body::from_stream(stream::try_unfold((app, share, opened.await?), next)))
}

fn failed(error: io::Error) -> Problem {
    tracing::error!(%error, "a blob cannot be read");
    Problem::new(500, "the disk failed", "the node's log says how")
}

/// A blob that is not held; how much of it this client has sent already.
async fn not_here(app: &Arc<App>, blob: Hex32, source: Source) -> Result<Response, Problem> {
    let mut answer = Problem::not_found(format!("{blob} is not held")).into_response();
    blob_headers(app, blob, answer.headers_mut()).await?;
    if let Some(offset) = app.core.blobs.uploads.offset(blob, source) {
        answer.headers_mut().insert(UPLOAD_OFFSET, offset.into());
    }
    Ok(answer)
}

/// `PUT /v1/blobs/{hash}`
async fn upload(
    State(app): State<Arc<App>>,
    Extension(origin): Extension<Origin>,
    Within(hash): Within<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let blob = name(&hash)?;
    app.may_write(origin, &headers)?;
    let mut body = Paced::new(body, app.core.blobs.storage.blob_bytes, Pace::Leisure);
    match take_in(&app, blob, origin, &headers, &mut body).await {
        Ok(UploadProgress::All(size, new)) => {
            app.core.metrics.uploaded(if new { "held" } else { "present" });
            let status = if new { StatusCode::CREATED } else { StatusCode::OK };
            Ok((status, Json(json!({ "blob": blob, "size": size }))).into_response())
        }
        Ok(UploadProgress::Part(offset)) => {
            app.core.metrics.uploaded("part");
            let part = Json(json!({ "blob": blob, "offset": offset }));
            Ok((StatusCode::ACCEPTED, [(UPLOAD_OFFSET, HeaderValue::from(offset))], part).into_response())
        }
        Err(UploadRefusal { code, problem, offset }) => {
            app.core.metrics.uploaded(code);
            // A connection that is closed with something unread is reset, and the client may not see why;
            // but where too many are at it, none is waited for.
            if code != Unavailable::Busy.as_str() {
                body.rinse().await;
            }
            let mut answer = problem.with("code", code).into_response();
            if let Some(offset) = offset {
                answer.headers_mut().insert(UPLOAD_OFFSET, offset.into());
            }
            Ok(answer)
        }
    }
}

/// What came of an upload.
enum UploadProgress {
    /// The blob is held; whether it was not before.
    All(u64, bool),
    /// So much of it is here.
    Part(u64),
}

/// Why an upload is not taken.
struct UploadRefusal {
    code: &'static str,
    problem: Problem,
    offset: Option<u64>,
}

impl UploadRefusal {
    fn new(status: u16, code: &'static str, detail: impl Into<String>) -> UploadRefusal {
        let title = if status == 507 { "no room" } else { "upload refused" };
        UploadRefusal { code, problem: Problem::new(status, title, detail), offset: None }
    }

    fn later(why: Unavailable) -> UploadRefusal {
        UploadRefusal { code: why.as_str(), problem: Problem::later(why), offset: None }
    }

    fn short(app: &App, short: Short) -> UploadRefusal {
        let storage = &app.core.blobs.storage;
        match short {
            Short::Budget(bytes) => UploadRefusal::new(
                507,
                "no_room",
                format!(
                    "it is {bytes} bytes over the {} that blobs may take up here, and what is held is pinned or ranks \
                     higher: a blob ranks by the posts that hold it, so publish the event that names it first",
                    storage.high_water
                ),
            ),
            Short::Unattached(bytes) => UploadRefusal::new(
                507,
                "unattached_full",
                format!(
                    "it is {bytes} bytes over the {} that this node keeps for blobs that are charged to no key: publish \
                     the event that names it first; where that was done, its author has more here than `[storage] key_bytes`",
                    storage.unattached_bytes
                ),
            ),
        }
    }
}

impl From<BodyError> for UploadRefusal {
    fn from(error: BodyError) -> UploadRefusal {
        match error {
            BodyError::TooLong => UploadRefusal::new(413, "too_large", "more came than was said"),
            _ => UploadRefusal::new(408, "body", error.to_string()),
        }
    }
}

impl From<KeepError> for UploadRefusal {
    fn from(error: KeepError) -> UploadRefusal {
        match error {
            KeepError::Unsaid(why) => UploadRefusal::later(why),
            KeepError::Files(e) => e.into(),
            KeepError::Store(error) => {
                tracing::error!(%error, "the store failed to answer a request");
                UploadRefusal::later(Unavailable::Failed)
            }
        }
    }
}

impl From<io::Error> for UploadRefusal {
    fn from(error: io::Error) -> UploadRefusal {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                UploadRefusal::later(Unavailable::DiskFull)
            }
            io::ErrorKind::InvalidInput => UploadRefusal::new(413, "too_large", error.to_string()),
            _ => {
                tracing::error!(%error, "a blob cannot be written");
                UploadRefusal::later(Unavailable::Failed)
            }
        }
    }
}

/// Does blocking work of an upload. It goes on when the client has gone.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, UploadRefusal> + Send + 'static,
) -> Result<T, UploadRefusal> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|e| UploadRefusal::new(500, "failed", e.to_string()))?
}

/// Where an upload begins, how much this request brings, and of how much.
fn extent(headers: &HeaderMap, most: u64) -> Result<(u64, u64, u64), UploadRefusal> {
    let text = |name| headers.get(name).and_then(|v: &HeaderValue| v.to_str().ok());
    let length = text(header::CONTENT_LENGTH).and_then(|n| n.parse::<u64>().ok());
    let length = length.ok_or_else(|| {
        UploadRefusal::new(411, "length_required", "say with `Content-Length` how much comes")
    })?;
    let (from, size) = match text(header::CONTENT_RANGE).map(range::sent) {
        None => (0, length),
        Some(Some((from, bytes, size))) if bytes == length => (from, size),
        Some(_) => {
            let detail = "`Content-Range` must be `bytes FIRST-LAST/SIZE`, and agree with `Content-Length`";
            return Err(UploadRefusal::new(400, "bad_range", detail));
        }
    };
    match size <= most {
        true => Ok((from, length, size)),
        false => Err(UploadRefusal::new(413, "too_large", format!("a blob has at most {most} bytes here"))),
    }
}

async fn take_in(
    app: &Arc<App>,
    blob: Hex32,
    origin: Origin,
    headers: &HeaderMap,
    body: &mut Paced,
) -> Result<UploadProgress, UploadRefusal> {
    if let Some(why) = app.core.refuses() {
        return Err(UploadRefusal::later(why));
    }
    let known = app.core.blobs.accounts().size(blob);
    if let Some(size) = known {
        // It is here: what comes is not even read.
        body.rinse().await;
        return Ok(UploadProgress::All(size, false));
    }
    let (from, length, size) = extent(headers, app.core.blobs.storage.blob_bytes)?;
    let source = source(origin);
    let _share = match source {
        Some(source) => {
            Some(app.uploading.take(source).ok_or_else(|| UploadRefusal::later(Unavailable::Busy))?)
        }
        None => None,
    };
    let beginning = app.clone();
    let mut taken = blocking(move || begin(&beginning, blob, source, from, size)).await?;
    let mut block: Vec<u8> = Vec::new();
    let ended = loop {
        let next = body.next().await;
        if let Ok(Some(bytes)) = &next {
            block.extend_from_slice(bytes);
        }
        let over = !matches!(next, Ok(Some(_)));
        if block.len() >= BLOCK || (over && !block.is_empty()) {
            let bytes = std::mem::take(&mut block);
            taken =
                match blocking(move || Ok((taken.add(&bytes).map_err(UploadRefusal::from)?, taken))).await? {
                    (Ok(()), taken) => taken,
                    (Err(short), taken) => return Err(with_offset(UploadRefusal::short(app, short), &taken)),
                };
        }
        match next {
            Ok(Some(_)) => {}
            Ok(None) => break Ok(()),
            Err(e) => break Err(e),
        }
    };
    if let Err(e) = ended {
        return Err(with_offset(e.into(), &taken));
    }
    if taken.offset() != from + length || !taken.is_whole() {
        return Ok(UploadProgress::Part(taken.offset()));
    }
    let finishing = app.clone();
    blocking(move || {
        if !taken.is_true() {
            taken.discard();
            return Err(UploadRefusal::new(
                422,
                "bad_hash",
                "what came is not what the name says; it was thrown away",
            ));
        }
        Ok(UploadProgress::All(size, finishing.keeper.finish(blob, taken)?))
    })
    .await
}

/// A refusal of something that may be resumed.
fn with_offset(refused: UploadRefusal, taken: &Taken) -> UploadRefusal {
    UploadRefusal { offset: Some(taken.offset()), ..refused }
}

/// Finds room for an upload, and its place in the file.
fn begin(app: &App, blob: Hex32, source: Source, from: u64, size: u64) -> Result<Taken, UploadRefusal> {
    let taken = app.core.blobs.uploads.take(&app.core.blobs, blob, source, from, size);
    let taken = taken.map_err(|begin| match begin {
        Begin::Offset(offset) => {
            let refused = UploadRefusal::new(409, "offset", begin.to_string());
            UploadRefusal { offset: Some(offset), ..refused }
        }
        Begin::Busy => UploadRefusal::new(409, "uploading", begin.to_string()),
        Begin::TooMany => UploadRefusal::later(Unavailable::Busy),
        Begin::Disk(e) => e.into(),
    })?;
    if let Err(short) = taken.would_fit() {
        app.keeper.make_room(blob, size, short)?;
        // What there is room in now may leave none in the other.
        if let Err(short) = taken.would_fit() {
            app.keeper.make_room(blob, size, short)?;
        }
        taken.would_fit().map_err(|short| UploadRefusal::short(app, short))?;
    }
    Ok(taken)
}

/// `GET /v1/blobs/{hash}/about`: what the network should hold of it; never a number derived from trust.
async fn about(State(app): State<Arc<App>>, Within(hash): Within<String>) -> Result<Response, Problem> {
    let blob = name(&hash)?;
    let answer = apart(move || known(&app, blob));
    Ok(Json(answer.await?).into_response())
}

fn known(app: &App, blob: Hex32) -> Result<Value, Problem> {
    let (size, word) = (app.core.blobs.accounts().size(blob), app.core.store.blob(blob)?);
    let record = app.core.store.read().rank(blob)?;
    if size.is_none() && word.is_none() && record.is_none() {
        return Err(Problem::not_found(format!("nothing is known of {blob}")));
    }
    let mut answer = json!({
        "blob": blob,
        "held": size.is_some(),
        "replicas": record.map_or(0, |record| record.replicas),
        "pinned": record.is_some_and(|record| record.pinned),
    });
    if let Some(size) = size {
        answer["size"] = size.into();
    }
    if let Some(word) = word {
        answer["since"] = word.received_at.0.into();
    }
    Ok(answer)
}

/// What is asked of a list.
#[derive(Debug, Deserialize)]
pub(super) struct BlobPageQuery {
    limit: Option<usize>,
    after: Option<String>,
}

impl BlobPageQuery {
    fn read(self) -> Result<(Option<Hex32>, usize), Problem> {
        let after = self.after.as_deref().map(name).transpose()?;
        Ok((after, self.limit.unwrap_or(PAGE).clamp(1, LONGEST_PAGE)))
    }
}

/// A page of a list, and what to ask for the next one with.
fn page(blobs: Vec<(Hex32, Value)>, most: usize) -> Response {
    let next = blobs.last().filter(|_| blobs.len() == most).map(|(blob, _)| *blob);
    let blobs: Vec<Value> = blobs.into_iter().map(|(_, json)| json).collect();
    Json(json!({ "blobs": blobs, "after": next })).into_response()
}

/// `GET /v1/blobs/wants`: blobs of confirmed posts that the node does not hold.
async fn wants(
    State(app): State<Arc<App>>,
    Params(asked): Params<BlobPageQuery>,
) -> Result<Response, Problem> {
    let (after, most) = asked.read()?;
    let wants = apart(move || Ok(app.core.store.read().wants(after, most)?)).await?;
    let json = |(blob, replicas): (Hex32, u8)| (blob, json!({ "blob": blob, "replicas": replicas }));
    Ok(page(wants.into_iter().map(json).collect(), most))
}

/// `GET /v1/blobs/spares`: held blobs that are not pinned, and of which the network needs no copy.
async fn spares(
    State(app): State<Arc<App>>,
    Params(asked): Params<BlobPageQuery>,
) -> Result<Response, Problem> {
    let (after, most) = asked.read()?;
    let found = apart(move || {
        let spares = app.core.store.read().spares(after, most)?;
        let accounts = app.core.blobs.accounts();
        let json = |blob: Hex32| (blob, json!({ "blob": blob, "size": accounts.size(blob), "replicas": 0 }));
        Ok(spares.into_iter().map(json).collect())
    });
    Ok(page(found.await?, most))
}

/// For `wats status`.
pub(super) fn status(core: &NodeState) -> Value {
    // Before the accounts are locked: uploads lock them while their table is.
    let unfinished = core.blobs.uploads.len();
    let accounts = core.blobs.accounts();
    let (sums, storage) = (accounts.sums(), &core.blobs.storage);
    let gone: serde_json::Map<String, Value> = core
        .metrics
        .all_gone()
        .into_iter()
        .map(|(why, blobs, bytes)| (why.as_str().to_owned(), json!({ "blobs": blobs, "bytes": bytes })))
        .collect();
    let lately: Vec<Value> = accounts
        .lately()
        .map(|gone| {
            json!({
                "blob": gone.blob, "size": gone.size, "at": gone.at.0, "why": gone.why.as_str(), "reason": gone.reason,
            })
        })
        .collect();
    json!({
        "held": sums.blobs,
        "bytes": sums.used,
        "uploading_bytes": sums.reserved,
        "unfinished": unfinished,
        "unattached_bytes": sums.unattached,
        "unattached_limit": storage.unattached_bytes,
        "high_water": storage.high_water,
        "low_water": storage.low_water.min(storage.high_water),
        "gone": gone,
        "lately": lately,
    })
}

/// `GET /admin/blobs`: what is held, with the rank of each. For the owner alone.
pub(super) async fn held(
    State(app): State<Arc<App>>,
    Params(asked): Params<BlobPageQuery>,
) -> Result<Response, Problem> {
    let (after, most) = asked.read()?;
    let found = apart(move || {
        let ranks = app.core.store.read().ranks(after, most)?;
        let accounts = app.core.blobs.accounts();
        let json = |(blob, record): (Hex32, RankRecord)| {
            let mut json = json!({ "blob": blob, "held": false });
            if let Some(size) = accounts.size(blob) {
                json = to_go(&Standing { blob, rank: record.rank, key: Vec::new() }, size);
                json["held"] = true.into();
            }
            json["pinned"] = record.pinned.into();
            json["replicas"] = record.replicas.into();
            (blob, json)
        };
        Ok(ranks.into_iter().map(json).collect())
    });
    Ok(page(found.await?, most))
}

/// What is asked of a pass.
#[derive(Debug, Deserialize)]
pub(super) struct EvictionQuery {
    limit: Option<usize>,
}

/// `GET /admin/evict`: the next that would go, with the reason for each. For the owner alone.
pub(super) async fn next_to_go(
    State(app): State<Arc<App>>,
    Params(next): Params<EvictionQuery>,
) -> Result<Response, Problem> {
    let most = next.limit.unwrap_or(20).clamp(1, 10_000);
    let found = apart(move || {
        let (mut after, mut found) = (None, Vec::new());
        while found.len() < most {
            let some = app.core.store.read().first_to_go(after.as_deref(), None, most)?;
            let Some(last) = some.last() else {
                break;
            };
            after = Some(last.key.clone());
            let accounts = app.core.blobs.accounts();
            let held = some.iter().filter_map(|s| Some(to_go(s, accounts.size(s.blob)?)));
            found.extend(held.take(most - found.len()));
        }
        Ok(found)
    });
    Ok(Json(json!({ "blobs": found.await? })).into_response())
}

fn to_go(standing: &Standing, size: u64) -> Value {
    let mut json = json!({ "blob": standing.blob, "size": size, "reason": reason(standing.rank) });
    if let Some((score, used, created_at)) = standing.rank {
        json["score"] = decimal(score.0).into();
        json["used"] = used.into();
        json["created_at"] = created_at.0.into();
    }
    json
}

/// How far to evict.
#[derive(Debug, Deserialize)]
pub(super) struct EvictionPass {
    /// Bytes that are left; those of the low-water mark where it says nothing.
    to: Option<u64>,
}

/// `POST /admin/evict`: a pass down to the low-water mark, or another. For the owner alone.
pub(super) async fn evict(
    State(app): State<Arc<App>>,
    Json(pass): Json<EvictionPass>,
) -> Result<Response, Problem> {
    if let Some(why) = app.core.refuses().filter(|why| *why != Unavailable::DiskFull) {
        return Err(Problem::later(why));
    }
    let (passed, left) = apart(move || {
        let passed =
            app.keeper.evict(pass.to.unwrap_or(app.keeper.low_water()), 0, None).map_err(|e| match e {
                KeepError::Unsaid(why) => Problem::later(why),
                other => Problem::new(500, "the disk failed", other.to_string()),
            })?;
        Ok((passed, app.core.blobs.accounts().sums().used))
    })
    .await?;
    Ok(Json(json!({ "blobs": passed.blobs, "bytes": passed.bytes, "left": left })).into_response())
}
