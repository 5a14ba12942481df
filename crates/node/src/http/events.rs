//! `POST /v1/events`: one event, or one a line, with an outcome for each; `GET /v1/events/{id}`.

use super::body::{BodyError, Pace};
use super::lines::{Line, Lines};
use super::params::Id;
use super::shown::{self, ReadEvent};
use super::{App, Origin, Problem, apart};
use crate::admission::Submission;
use crate::limits;
use crate::outcome::{Outcome, Unavailable};
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;
use tokio::sync::oneshot;
use wats_event::log::{Record, event_text, read_record};
use wats_event::stored_event::canonical_text;
use wats_event::{Code, Event, Hex32, MAX_BYTES, MAX_RECORD_BYTES, Refusal};
use wats_model::ids::Millis;

/// `POST /v1/events`
pub(super) async fn post(
    State(app): State<Arc<App>>,
    Extension(origin): Extension<Origin>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    app.may_write(origin, &headers)?;
    if let Some(why) = app.core.refuses() {
        return Err(app.not_now(why));
    }
    if headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
        return Err(Problem::new(
            415,
            "unsupported content coding",
            "send the body as it is: nothing compressed is read here",
        ));
    }
    match media_type(&headers).to_ascii_lowercase().as_str() {
        "application/json" => one(&app, origin, body).await,
        "application/x-ndjson" | "application/jsonl" => many(&app, origin, Brought::Events, body).await,
        other => Err(Problem::new(
            415,
            "unsupported media type",
            format!(
                "`{other}`: send `application/json` for one event, `application/x-ndjson` for one a line"
            ),
        )),
    }
}

/// What the lines of a body are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Brought {
    /// Events, received now.
    Events,
    /// Records of a log; what a wats export says of when they were received is kept.
    Records,
}

impl Brought {
    /// Bytes of a line, at most, without white space around it.
    fn most(self) -> usize {
        match self {
            Brought::Events => MAX_BYTES,
            Brought::Records => MAX_RECORD_BYTES,
        }
    }
}

fn media_type(headers: &HeaderMap) -> &str {
    let value = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim()
}

/// How fast a body of events must come. What the owner sends holds no place of others.
fn pace(origin: Origin) -> Pace {
    match origin {
        Origin::Address(_) => Pace::Steady,
        Origin::Owner => Pace::Leisure,
    }
}

impl App {
    /// Whether this request may write.
    pub fn may_write(&self, origin: Origin, headers: &HeaderMap) -> Result<(), Problem> {
        let shown = headers.get(header::AUTHORIZATION).and_then(|v| v.to_str().ok());
        match (&self.token, origin) {
            (None, _) | (_, Origin::Owner) => Ok(()),
            (Some(token), _) if token.is_shown(shown) => Ok(()),
            (Some(_), _) => {
                Err(Problem::new(401, "unauthorized", "show the node's token: `Authorization: Bearer …`"))
            }
        }
    }

    /// Counts an event that was not even read.
    fn not_now(&self, why: Unavailable) -> Problem {
        let outcome = Outcome::later(why);
        self.core.metrics.count(&outcome);
        Problem::outcome(&outcome)
    }
}

/// What became of a line, or will have.
enum Coming {
    Known(Outcome),
    Waited(oneshot::Receiver<Outcome>),
}

impl Coming {
    async fn outcome(self) -> Outcome {
        match self {
            Coming::Known(outcome) => outcome,
            // The thread that was to answer is gone: the node is stopping.
            Coming::Waited(outcome) => {
                outcome.await.unwrap_or_else(|_| Outcome::later(Unavailable::Stopping))
            }
        }
    }
}

async fn one(app: &App, origin: Origin, body: Body) -> Result<Response, Problem> {
    // One event may always come, and white space around it within the limit of a body.
    let bytes = app.core.limits.body_bytes.max(MAX_BYTES as u64 + 1);
    let body = Lines::new(body, MAX_BYTES, bytes, pace(origin)).whole().await;
    let line = match body {
        Ok(line) => line,
        Err(BodyError::TooLong) => Line::Over,
        Err(e) => return Err(Problem::new(408, "request timeout", e.to_string())),
    };
    let outcome = app.bring(line, origin, Brought::Events).await.outcome().await;
    match outcome {
        Outcome::Accepted { .. } | Outcome::Duplicate { .. } | Outcome::Blob => {
            let status = StatusCode::from_u16(outcome.status()).unwrap_or(StatusCode::OK);
            Ok((status, axum::Json(outcome.json())).into_response())
        }
        _ => Err(Problem::outcome(&outcome)),
    }
}

/// One a line: an outcome for each, in their order.
pub(super) async fn many(
    app: &App,
    origin: Origin,
    brought: Brought,
    body: Body,
) -> Result<Response, Problem> {
    let limits = &app.core.limits;
    let mut lines = Lines::new(body, brought.most(), limits.body_bytes, pace(origin));
    let mut coming: Vec<(u64, Coming)> = Vec::new();
    let mut number = 0;
    let ended = loop {
        match lines.next().await {
            Ok(None) => break None,
            Err(e) => break Some(e),
            Ok(Some(Line::Whole(line))) if line.is_empty() => number += 1,
            Ok(Some(_)) if coming.len() >= limits.body_lines => break Some(BodyError::TooLong),
            Ok(Some(line)) => {
                number += 1;
                coming.push((number, app.bring(line, origin, brought).await));
            }
        }
    };
    let mut text = String::with_capacity(coming.len() * 128);
    let (mut taken, mut later) = (0u64, None);
    for (line, coming) in coming {
        let outcome = coming.outcome().await;
        match &outcome {
            Outcome::Unavailable { why, after } => later = later.or(Some((*why, *after))),
            _ => taken += 1,
        }
        let mut json = outcome.json();
        json["line"] = line.into();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{json}");
    }
    let status = match (ended, later) {
        (Some(BodyError::TooLong), _) => 413,
        (Some(_), _) => 408,
        (None, Some((why, _))) if taken == 0 => why.status(),
        _ => 200,
    };
    if let Some(e) = ended {
        let _ = writeln!(
            text,
            "{}",
            json!({ "line": number + 1, "outcome": "later", "code": "body", "reason": e.to_string() })
        );
    }
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    if let Some((_, after)) = later {
        response.headers_mut().insert(header::RETRY_AFTER, after.as_secs().max(1).into());
    }
    Ok(response)
}

impl App {
    /// Brings a line on its way in: all that can be told of it at once is told at once.
    async fn bring(&self, line: Line, origin: Origin, brought: Brought) -> Coming {
        match self.start(line, origin, brought).await {
            Ok(outcome) => Coming::Waited(outcome),
            Err(outcome) => {
                self.core.metrics.count(&outcome);
                Coming::Known(outcome)
            }
        }
    }

    async fn start(
        &self,
        line: Line,
        origin: Origin,
        brought: Brought,
    ) -> Result<oneshot::Receiver<Outcome>, Outcome> {
        if let Some(why) = self.core.refuses() {
            return Err(Outcome::later(why));
        }
        let source = match origin {
            Origin::Address(address) => Some(limits::source(address)),
            Origin::Owner => None,
        };
        if source.is_some_and(|source| !self.rates.sources.allows(&source)) {
            return Err(Outcome::later(Unavailable::SourceLimited));
        }
        let Line::Whole(line) = line else {
            return Err(Outcome::Refused(wats_event::over_size(brought.most())));
        };
        let (received_at, what) =
            read(&line, brought, &self.core.rules, self.core.clock.now()).map_err(Outcome::Refused)?;
        let weighty = match &what {
            Submission::Event(event, _) => {
                if let Some(known) = self.known(event, received_at)? {
                    return Err(known);
                }
                !source.is_some_and(|source| self.rates.forgers.has(&source))
                    && self.core.weighty.contains(&event.net, event.author)
            }
            Submission::Blob(..) => true,
        };
        self.lanes.bring(what, received_at, weighty, source).await.map_err(Outcome::later)
    }

    /// An event that is held, by a copy that says nothing new: its checks may be skipped (section 1.2).
    fn known(&self, event: &Event, received_at: Option<Millis>) -> Result<Option<Outcome>, Outcome> {
        let held = self.core.store.held(event.id).map_err(|error| {
            tracing::error!(%error, "the store failed to say whether it holds an event");
            Outcome::later(Unavailable::Failed)
        })?;
        let known = held.filter(|held| received_at.is_none_or(|at| held.received_at <= at));
        Ok(known.map(|held| Outcome::Duplicate { id: event.id, seq: held.seq }))
    }
}

/// Reads a line up to the event's id.
fn read(
    line: &[u8],
    brought: Brought,
    rules: &wats_event::Rules,
    now: Millis,
) -> Result<(Option<Millis>, Submission), Refusal> {
    let text = one_line(line);
    let (received_at, record) = match brought {
        Brought::Events => {
            (None, wats_event::parse(&text, rules).map(|event| Record::Event(Box::new(event))))
        }
        Brought::Records => {
            let read = read_record(&text, rules);
            // Nothing was received in the future.
            (read.received_at.map(|at| at.min(now)), read.outcome)
        }
    };
    let what = match record? {
        Record::Blob { blob, present } => Submission::Blob(blob, present),
        Record::Event(event) => {
            // What parses is UTF-8.
            let text = String::from_utf8(text).map_err(|e| Refusal::new(Code::BadJson, e.to_string()))?;
            let own = received_at.and_then(|_| event_text(&text)).map(Into::into);
            Submission::Event(event, own.unwrap_or_else(|| text.into()))
        }
    };
    Ok((received_at, what))
}

/// The same JSON on one line: in JSON line ends stand between tokens only.
fn one_line(text: &[u8]) -> Vec<u8> {
    text.iter().map(|&b| if matches!(b, b'\n' | b'\r') { b' ' } else { b }).collect()
}

/// `GET /v1/events/{id}`: an event with its status; never a number that is derived from trust.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Extension(origin): Extension<Origin>,
    Id(id): Id,
) -> Result<Response, Problem> {
    Ok(axum::Json(apart(move || held_event(&app, id, origin)).await?).into_response())
}

fn held_event(app: &App, id: Hex32, origin: Origin) -> Result<Value, Problem> {
    let ReadEvent { said, place } = app.event(id)?;
    let mut answer = json!({ "seq": place.held.seq.0, "received_at": place.held.received_at.0 });
    let reader = app.core.store.read();
    if let Some(post) = reader.post(&said.net, said.id)? {
        shown::label(&mut answer, &post);
        app.tell_label(&mut answer, &reader, &said.net, origin)?;
    }
    // As it was signed, every member of it.
    answer["event"] =
        canonical_text(&place.text).and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    Ok(answer)
}
