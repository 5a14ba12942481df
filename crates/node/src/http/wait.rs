//! `GET /v1/wait`: what is new, in the order in which this node took it in; waits when there is nothing.
//!
//! An ask that is routed to others first is held back for a while ([`crate::routing`]). It is not
//! passed over: its place stays in the cursor until it is delivered, then with what is new at that time.

use super::cursor::{Cursor, HELD_BACK, short};
use super::params::Params;
use super::search::status;
use super::shown::{self, Filled, ReadEvent};
use super::{App, Origin, Problem, apart};
use crate::notifier::root_of_target;
use crate::routing::{Reach, Who, capabilities, release};
use crate::wait::EventFilter;
use crate::{Phase, Unavailable};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wats_event::Hex32;
use wats_event::stored_event::StoredEvent;
use wats_model::ids::Millis;
use wats_model::views::Status;
use wats_store::{EventLocation, Place, Reader, Seq, SequenceRecord};

/// How long to wait, where nobody says.
const WAIT: u64 = 20;
/// How long to wait at most, in seconds: clients give up after a minute.
const MOST_WAIT: u64 = 50;
/// Events of a page, where nobody says how many; and at most.
const EVENTS: usize = 20;
const MOST_EVENTS: usize = 100;
/// Records that one page looks at, at most: an old cursor is caught up with page by page.
const LOOKED_AT: u64 = 5_000;
/// The longest kind and tag, in bytes.
const MOST_TEXT: usize = 256;

/// What is waited for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitQuery {
    network: String,
    kind: Option<String>,
    tag: Option<String>,
    to: Option<Hex32>,
    thread: Option<Hex32>,
    author: Option<Hex32>,
    /// The key of who waits.
    #[serde(rename = "as")]
    who: Option<Hex32>,
    min_status: Option<String>,
    include_low: Option<bool>,
    cursor: Option<String>,
    timeout: Option<u64>,
    limit: Option<usize>,
}

impl WaitQuery {
    fn wanted(&self) -> EventFilter {
        EventFilter {
            network: self.network.clone(),
            kind: self.kind.clone(),
            tag: self.tag.clone(),
            to: self.to,
            thread: self.thread,
            author: self.author,
        }
    }

    /// The waiting client: one that waits with `to`, or for a capability tag, is treated as the addressee.
    fn who(&self, app: &App) -> Result<Who, Problem> {
        let mut who = Who::of(&app.core.store, &self.network, self.who.or(self.to))?;
        who.capabilities.extend(capabilities(self.tag.as_slice()).cloned());
        Ok(who)
    }
}

/// `GET /v1/wait`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Extension(origin): Extension<Origin>,
    Params(asked): Params<WaitQuery>,
) -> Result<Response, Problem> {
    app.carries(&asked.network)?;
    if asked.kind.iter().chain(&asked.tag).any(|text| text.len() > MOST_TEXT) {
        return Err(Problem::bad_request("`kind` and `tag` have 256 bytes at most"));
    }
    let min_status = asked.min_status.as_deref().map(status).transpose()?;
    if let Some(why) = not_now(&app, &asked) {
        return Err(Problem::later(why));
    }
    let (reading, of) = (app.clone(), asked.clone());
    let begun = apart(move || Ok((begin(&reading, &of)?, of.who(&reading)?)));
    let (mut cursor, who) = begun.await?;
    // Before the first look, so that nothing falls between the look and the wait.
    let busy = || Problem::later(Unavailable::Busy);
    let waiter = app.core.waiters.wait(asked.wanted(), who.clone()).ok_or_else(busy)?;
    let until = Instant::now() + Duration::from_secs(asked.timeout.unwrap_or(WAIT).min(MOST_WAIT));
    let asked = Arc::new(WaitState { wanted: asked.wanted(), asked, who, min_status });
    loop {
        let (looking, what) = (app.clone(), asked.clone());
        // Those who wait have no share in what is worked on; those who look do.
        let share = app.look(origin).await?;
        let found = apart(move || {
            let _share = share;
            look(&looking, &what, cursor)
        });
        let found = found.await?;
        let left = until.saturating_duration_since(Instant::now());
        let ends = left.is_zero() || app.core.phase() == Phase::Stopping;
        if !found.events.is_empty() || found.entry.is_some() || found.more || ends {
            let answer = apart(move || found.json(&app, &asked.wanted.network, origin));
            return Ok(Json(answer.await?).into_response());
        }
        // Not only when told: who waits may know of an ask that was held back before the node started.
        let next = found.release.map(|at| Duration::from_millis(at.since(app.core.clock.now()).0).max(BEAT));
        cursor = found.cursor;
        tokio::select! {
            () = waiter.woken() => {}
            () = tokio::time::sleep(next.map_or(left, |next| next.min(left))) => {}
            () = app.stop.cancelled() => {}
        }
    }
}

/// Where a wait begins: at its cursor, or now.
fn begin(app: &App, asked: &WaitQuery) -> Result<Cursor, Problem> {
    if let Some(cursor) = &asked.cursor {
        return Cursor::read(cursor, &app.core.store);
    }
    // Nothing is shown yet where the disk had no room for the views; what was loaded is not new then.
    let shown = app.core.shown.load(Ordering::Acquire);
    let seq = Seq(shown.max(app.core.to_load.load(Ordering::Relaxed)));
    Ok(Cursor { seq, entry: entry(app, asked)?.1, held_back: Vec::new() })
}

/// Why nobody can wait now. While the node loads it knows neither what is shown, where a wait without a cursor
/// begins, nor what the views say, by which it chooses: what was there long before would be news, or what
/// was held back be passed over.
fn not_now(app: &App, asked: &WaitQuery) -> Option<Unavailable> {
    app.core.refuses().filter(|why| match why {
        Unavailable::Loading => true,
        // What is there is told, whatever is not taken in.
        Unavailable::DiskFull => false,
        // A client with a cursor gets it back.
        _ => asked.cursor.is_none(),
    })
}

/// The least time between two looks that nobody asked for.
const BEAT: Duration = Duration::from_millis(50);

/// Who waits for what.
struct WaitState {
    asked: WaitQuery,
    wanted: EventFilter,
    who: Who,
    min_status: Option<Status>,
}

struct NewsPage {
    events: Vec<Value>,
    filled: Filled,
    /// What is shown for the thread now, where that is not what was told.
    entry: Option<Value>,
    cursor: Cursor,
    /// Whether there are records that were not looked at.
    more: bool,
    /// When the next of those that are held back is for everybody.
    release: Option<Millis>,
}

impl NewsPage {
    fn json(self, app: &App, network: &str, origin: Origin) -> Result<Value, Problem> {
        let store = &app.core.store;
        let mut json =
            json!({ "events": self.events, "cursor": self.cursor.write(store), "more": self.more });
        if let Some(entry) = self.entry {
            json["knowledge"] = entry;
        }
        app.tell_label(&mut json, &store.read(), network, origin)?;
        Ok(json)
    }
}

/// What is shown for the thread that is asked for, and that in short.
fn entry(app: &App, asked: &WaitQuery) -> Result<(Value, u64), Problem> {
    let Some(root) = asked.thread else {
        return Ok((Value::Null, 0));
    };
    let first = shown::first(&app.core.store.read(), &asked.network, root)?;
    let (kind, id) = first.unzip();
    let told = id.map_or(0, |id| short(&id.0).max(1));
    Ok((json!({ "thread": root, "kind": kind, "id": id }), told))
}

fn look(app: &App, wait: &WaitState, from: Cursor) -> Result<NewsPage, Problem> {
    let core = &app.core;
    let shown = Seq(core.shown.load(Ordering::Acquire));
    let limit = wait.asked.limit.unwrap_or(EVENTS).clamp(1, MOST_EVENTS);
    let (now, short) = entry(app, &wait.asked)?;
    let mut found = NewsPage {
        events: Vec::new(),
        filled: Filled::default(),
        // A cursor of a wait on a thread may be passed on to one that asks for none.
        entry: (wait.asked.thread.is_some() && short != from.entry).then_some(now),
        cursor: Cursor { seq: from.seq, entry: short, held_back: Vec::new() },
        more: false,
        release: None,
    };
    let look = WaitReader { app, wait, reader: core.store.read(), now: core.clock.now() };
    for &seq in &from.held_back {
        match core.store.logged(seq)?.map_or(Ok(RecordUse::Other), |logged| look.at(seq, logged, true))? {
            RecordUse::Wanted(_) if found.is_full(limit) => {
                found.more = true;
                found.cursor.held_back.push(seq);
            }
            RecordUse::Wanted(event) => found.deliver(event),
            RecordUse::HeldBack(release) => found.hold_back(seq, release),
            RecordUse::Other => {}
        }
    }
    for item in core.store.records(from.seq) {
        let (seq, logged) = item?;
        if seq > shown {
            break;
        }
        if found.is_full(limit) || seq.0 - from.seq.0 > LOOKED_AT {
            found.more = true;
            break;
        }
        if let SequenceRecord::Event { text, .. } = &logged {
            found.filled.reads(text);
        }
        // A head start is a courtesy: one more ask than a cursor remembers gets none.
        let has_room = found.cursor.held_back.len() < HELD_BACK;
        match look.at(seq, logged, has_room)? {
            RecordUse::Wanted(event) => found.deliver(event),
            RecordUse::HeldBack(release) => found.hold_back(seq, release),
            RecordUse::Other => {}
        }
        found.cursor.seq = seq;
    }
    Ok(found)
}

impl NewsPage {
    /// Whether the page ends here: by its events, by their bytes, or by what was read for it.
    fn is_full(&self, limit: usize) -> bool {
        self.events.len() >= limit || self.filled.is_full()
    }

    fn deliver(&mut self, event: Value) {
        self.filled.shows(&event);
        self.events.push(event);
    }

    fn hold_back(&mut self, seq: Seq, release: Millis) {
        self.cursor.held_back.push(seq);
        self.release = Some(self.release.map_or(release, |first| first.min(release)));
    }
}

/// What a record is to a waiter.
enum RecordUse {
    /// An event to deliver.
    Wanted(Value),
    /// An ask to deliver then.
    HeldBack(Millis),
    /// Nothing.
    Other,
}

/// One look at the records, in one state of the views.
struct WaitReader<'a> {
    app: &'a App,
    wait: &'a WaitState,
    reader: Reader<'a>,
    now: Millis,
}

impl WaitReader<'_> {
    /// `holds_back` is whether what goes to others first is held back.
    fn at(&self, seq: Seq, logged: SequenceRecord, holds_back: bool) -> Result<RecordUse, Problem> {
        let (core, WaitState { wanted, who, .. }) = (&self.app.core, self.wait);
        let SequenceRecord::Event { received_at, text, .. } = logged else {
            return Ok(RecordUse::Other);
        };
        let Some(said) = StoredEvent::read(&text).filter(|said| said.net == wanted.network) else {
            return Ok(RecordUse::Other);
        };
        // What a react is on is read for those who wait on a thread alone.
        let of = if wanted.thread.is_some() { root_of_target(&core.store, &said)? } else { None };
        if !wanted.takes(&said, of) || !self.is_shown(&said)? {
            return Ok(RecordUse::Other);
        }
        let release = release(&said, received_at, core.limits.head_start, self.now);
        if let Some(release) = release.filter(|_| holds_back && who.reach(&said) == Reach::Everybody) {
            return Ok(RecordUse::HeldBack(release));
        }
        let held = ReadEvent {
            said,
            place: Place { held: EventLocation { seq, received_at }, text: String::new() },
        };
        Ok(RecordUse::Wanted(shown::event(&held, &self.reader)?))
    }

    /// Whether the status is high enough, and the author not below the threshold.
    fn is_shown(&self, said: &StoredEvent) -> Result<bool, Problem> {
        if let Some(min) = self.wait.min_status {
            let post = self.reader.post(&said.net, said.id)?;
            if post.is_none_or(|post| post.status < min) {
                return Ok(false);
            }
        }
        if self.wait.asked.include_low == Some(true) {
            return Ok(true);
        }
        let author = self.reader.author(&said.net, said.author)?;
        Ok(author.is_none_or(|author| author.reputation >= self.app.core.limits.hide_below))
    }
}
