//! `GET /v1/threads/{id}`: a thread, with what is known of it first.

use super::cursor::Cursor;
use super::params::{Id, Params};
use super::shown::{self, Filled, ReadEvent};
use super::{App, Origin, Problem, apart};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use wats_event::Hex32;
use wats_store::{Reader, Seq, Store, StoreError};

/// Replies of a page, where nobody says how many.
const REPLIES: usize = 50;
/// Replies of a page, at most.
const MOST: usize = 200;

/// What to read.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ThreadQuery {
    limit: Option<usize>,
    cursor: Option<String>,
}

/// `GET /v1/threads/{id}`: the thread of an event, which may be its root or any post in it.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Extension(origin): Extension<Origin>,
    Id(id): Id,
    Params(asked): Params<ThreadQuery>,
) -> Result<Response, Problem> {
    Ok(Json(apart(move || page(&app, id, &asked, origin)).await?).into_response())
}

fn page(app: &App, id: Hex32, asked: &ThreadQuery, origin: Origin) -> Result<Value, Problem> {
    let store = &app.core.store;
    let limit = asked.limit.unwrap_or(REPLIES).clamp(1, MOST);
    let after = match &asked.cursor {
        Some(cursor) => Cursor::read(cursor, store)?.seq,
        None => Seq(0),
    };
    let found = app.event(id)?;
    let (network, root) = (found.said.net.clone(), found.said.root());
    let reader = store.read();
    let replies = store.replies(&network, root, after, limit + 1)?;
    let thread = ThreadReader { app, reader, network, root };
    let mut answer = json!({ "network": thread.network, "thread": root });
    app.tell_label(&mut answer, &thread.reader, &thread.network, origin)?;
    let mut filled = Filled::default();
    if asked.cursor.is_none() {
        if let Some(held) = shown::held(store, root)? {
            answer["root"] = thread.with_evidence(&held, &mut filled)?;
        }
        if let Some(first) = thread.first(&mut filled)? {
            answer["first"] = first;
        }
    }
    let (posts, looked_at) = thread.posts(&replies[..replies.len().min(limit)], &mut filled)?;
    answer["posts"] = tree(posts).into();
    if looked_at < replies.len()
        && let Some((seq, _)) = replies[..looked_at].last()
    {
        answer["cursor"] = Cursor { seq: *seq, entry: 0, held_back: Vec::new() }.write(store).into();
    }
    Ok(answer)
}

/// A reply on a page.
struct PageReply {
    id: Hex32,
    parent: Option<Hex32>,
    json: Value,
}

/// Replies as a tree, each after what it replies to, with its depth; in the order of the sequence where that
/// leaves a choice. One whose parent is on another page stands at depth 1, or deeper by what is known of it.
fn tree(mut page: Vec<PageReply>) -> Vec<Value> {
    let places: HashMap<Hex32, usize> = page.iter().enumerate().map(|(at, reply)| (reply.id, at)).collect();
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); page.len()];
    let mut tops = Vec::new();
    for (at, reply) in page.iter().enumerate() {
        match reply.parent.and_then(|parent| places.get(&parent)) {
            // A reply may come before what it replies to, but never is its own ancestor: ids are hashes.
            Some(parent) => below[*parent].push(at),
            None => tops.push(at),
        }
    }
    let mut posts = Vec::with_capacity(page.len());
    let mut next: Vec<(usize, u64)> = tops.into_iter().rev().map(|at| (at, 1)).collect();
    while let Some((at, depth)) = next.pop() {
        let mut json = page[at].json.take();
        json["depth"] = depth.into();
        posts.push(json);
        next.extend(below[at].iter().rev().map(|at| (*at, depth + 1)));
    }
    posts
}

struct ThreadReader<'a> {
    app: &'a App,
    reader: Reader<'a>,
    network: String,
    root: Hex32,
}

impl ThreadReader<'_> {
    fn store(&self) -> &Store {
        &self.app.core.store
    }

    fn with_evidence(&self, held: &ReadEvent, filled: &mut Filled) -> Result<Value, StoreError> {
        let mut json = shown::event(held, &self.reader)?;
        let weighty = |network: &str, key| self.app.core.weighty.contains(network, key);
        json["evidence"] = shown::evidence(&held.said, self.store(), weighty, filled)?.into();
        filled.shows(&json);
        Ok(json)
    }

    /// What to read first.
    fn first(&self, filled: &mut Filled) -> Result<Option<Value>, StoreError> {
        let Some((kind, id)) = shown::first(&self.reader, &self.network, self.root)? else {
            return Ok(None);
        };
        let held = shown::held(self.store(), id)?;
        held.map(|held| Ok(json!({ "kind": kind, "post": self.with_evidence(&held, filled)? }))).transpose()
    }

    /// Replies in the order of the sequence until the page is full, and how many were looked at: the page
    /// ends within that order and not within the tree, so that the next one goes on exactly there.
    fn posts(
        &self,
        replies: &[(Seq, Hex32)],
        filled: &mut Filled,
    ) -> Result<(Vec<PageReply>, usize), StoreError> {
        let mut page = Vec::with_capacity(replies.len());
        for (at, (_, id)) in replies.iter().enumerate() {
            if at > 0 && filled.is_full() {
                return Ok((page, at));
            }
            let Some(held) = shown::held(self.store(), *id)? else {
                continue;
            };
            filled.reads(&held.place.text);
            if self.belongs(&held, filled)? {
                let json = self.with_evidence(&held, filled)?;
                page.push(PageReply { id: held.said.id, parent: held.said.parent, json });
            }
        }
        Ok((page, replies.len()))
    }

    /// Whether a reply that names the root is in its thread: what it replies to is held, and is that root
    /// or names it too (section 1).
    fn belongs(&self, reply: &ReadEvent, filled: &mut Filled) -> Result<bool, StoreError> {
        let Some(parent) = reply.said.parent else {
            return Ok(false);
        };
        if parent == self.root {
            return Ok(self.store().held(parent)?.is_some());
        }
        let Some(parent) = shown::held(self.store(), parent)? else {
            return Ok(false);
        };
        filled.reads(&parent.place.text);
        Ok(parent.said.thread == Some(self.root))
    }
}
