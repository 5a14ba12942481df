//! `GET /v1/wait`: what is new, in the order in which this node took it in; waits when there is nothing.

use super::cursor::{Cursor, short};
use super::params::Params;
use super::search::status;
use super::shown::{self, Held};
use super::{App, Problem, apart};
use crate::event::Hex32;
use crate::node::tell::root_of_target;
use crate::node::wait::Wanted;
use crate::node::{Later, Phase};
use crate::said::Said;
use crate::store::{HeldAt, Logged, Place, Reader, Seq};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wats_dataflows::fixed::Fixed;
use wats_dataflows::views::Status;

/// How long to wait, where nobody says.
const WAIT: u64 = 20;
/// How long to wait at most, in seconds: clients give up after a minute.
const MOST_WAIT: u64 = 50;
/// Events of a page, where nobody says how many; and at most.
const EVENTS: usize = 20;
const MOST_EVENTS: usize = 100;
/// Records that one page looks at, at most: an old cursor is caught up with page by page.
const LOOKED_AT: u64 = 20_000;

/// What is waited for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    network: String,
    kind: Option<String>,
    tag: Option<String>,
    to: Option<Hex32>,
    thread: Option<Hex32>,
    author: Option<Hex32>,
    min_status: Option<String>,
    include_low: Option<bool>,
    cursor: Option<String>,
    timeout: Option<u64>,
    limit: Option<usize>,
}

impl Asked {
    fn wanted(&self) -> Wanted {
        Wanted {
            network: self.network.clone(),
            kind: self.kind.clone(),
            tag: self.tag.clone(),
            to: self.to,
            thread: self.thread,
            author: self.author,
        }
    }
}

/// `GET /v1/wait`
pub async fn get(State(app): State<Arc<App>>, Params(asked): Params<Asked>) -> Result<Response, Problem> {
    app.carries(&asked.network)?;
    let min_status = asked.min_status.as_deref().map(status).transpose()?;
    let mut cursor = match &asked.cursor {
        Some(cursor) => Cursor::read(cursor, &app.core.store)?,
        None => Cursor { seq: Seq(app.core.shown.load(Ordering::Acquire)), entry: entry(&app, &asked)?.1 },
    };
    // Before the first look, so that nothing falls between the look and the wait.
    let busy = || Problem::later(Later::Busy);
    let waiter = app.core.waiters.wait(asked.wanted()).ok_or_else(busy)?;
    let until = Instant::now() + Duration::from_secs(asked.timeout.unwrap_or(WAIT).min(MOST_WAIT));
    let asked = Arc::new(asked);
    loop {
        let (looking, what) = (app.clone(), asked.clone());
        let found = apart(move || look(&looking, &what, min_status, cursor)).await?;
        let left = until.saturating_duration_since(Instant::now());
        let ends = left.is_zero() || app.core.phase() == Phase::Stopping;
        if !found.events.is_empty() || found.entry.is_some() || found.more || ends {
            return Ok(Json(found.json(&app)).into_response());
        }
        cursor = found.cursor;
        tokio::select! {
            () = waiter.woken() => {}
            () = tokio::time::sleep(left) => {}
            () = app.stop.cancelled() => {}
        }
    }
}

struct Found {
    events: Vec<Value>,
    /// What is shown for the thread now, where that is not what was told.
    entry: Option<Value>,
    cursor: Cursor,
    /// Whether there are records that were not looked at.
    more: bool,
}

impl Found {
    fn json(self, app: &App) -> Value {
        let mut json =
            json!({ "events": self.events, "cursor": self.cursor.write(&app.core.store), "more": self.more });
        if let Some(entry) = self.entry {
            json["knowledge"] = entry;
        }
        json
    }
}

/// What is shown for the thread that is asked for, and that in short.
fn entry(app: &App, asked: &Asked) -> Result<(Value, u64), Problem> {
    let Some(root) = asked.thread else {
        return Ok((Value::Null, 0));
    };
    let first = shown::first(&app.core.store.read(), &asked.network, root)?;
    let (kind, id) = first.unzip();
    let told = id.map_or(0, |id| short(&id.0).max(1));
    Ok((json!({ "thread": root, "kind": kind, "id": id }), told))
}

fn look(app: &App, asked: &Asked, min_status: Option<Status>, from: Cursor) -> Result<Found, Problem> {
    let core = &app.core;
    let shown = Seq(core.shown.load(Ordering::Acquire));
    let limit = asked.limit.unwrap_or(EVENTS).clamp(1, MOST_EVENTS);
    let (now, short) = entry(app, asked)?;
    let mut found = Found {
        events: Vec::new(),
        // A cursor of a wait on a thread may be passed on to one that asks for none.
        entry: (asked.thread.is_some() && short != from.entry).then_some(now),
        cursor: Cursor { entry: short, ..from },
        more: false,
    };
    let (wanted, reader) = (asked.wanted(), core.store.read());
    for item in core.store.records(from.seq) {
        let (seq, logged) = item?;
        if seq > shown {
            break;
        }
        if found.events.len() >= limit || seq.0 - from.seq.0 > LOOKED_AT {
            found.more = true;
            break;
        }
        found.cursor.seq = seq;
        let Logged::Event { received_at, text, .. } = logged else {
            continue;
        };
        let Some(said) = Said::read(&text) else {
            continue;
        };
        if said.net == wanted.network
            && wanted.takes(&said, root_of_target(&core.store, &said)?)
            && is_shown(&said, asked, min_status, core.limits.hide_below, &reader)?
        {
            let held = Held { said, place: Place { held: HeldAt { seq, received_at }, text: String::new() } };
            found.events.push(shown::event(&held, &reader)?);
        }
    }
    Ok(found)
}

/// Whether the status is high enough, and the author not below the threshold.
fn is_shown(
    said: &Said,
    asked: &Asked,
    min: Option<Status>,
    hide_below: Fixed,
    reader: &Reader<'_>,
) -> Result<bool, Problem> {
    if let Some(min) = min {
        let post = reader.post(&said.net, said.id)?;
        if post.is_none_or(|post| post.status < min) {
            return Ok(false);
        }
    }
    if asked.include_low == Some(true) {
        return Ok(true);
    }
    let author = reader.author(&said.net, said.author)?;
    Ok(author.is_none_or(|author| author.reputation >= hide_below))
}
