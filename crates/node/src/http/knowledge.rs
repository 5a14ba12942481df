//! `GET /v1/knowledge`: what the swarm knows, entry by entry (section 7).

use super::params::Params;
use super::shown::{self, Filled};
use super::{App, Origin, Problem, about};
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::sync::Arc;
use wats_event::Hex32;
use wats_model::fixed::Fixed;
use wats_model::ids::Millis;
use wats_store::{EntryRecord, Reader, StoreError, Under};

/// Entries of a page, where nobody says how many; and at most.
const ENTRIES: usize = 20;
const MOST: usize = 100;

/// What to list.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KnowledgeQuery {
    network: String,
    tag: Option<String>,
    sort: Option<EntryOrder>,
    limit: Option<usize>,
    /// The last entry of the page before.
    after: Option<Hex32>,
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum EntryOrder {
    /// What is relied on most.
    #[default]
    Score,
    /// What is newest.
    Recent,
}

/// `GET /v1/knowledge`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Extension(origin): Extension<Origin>,
    Params(asked): Params<KnowledgeQuery>,
) -> Result<Response, Problem> {
    about(app, asked.network.clone(), origin, move |app, reader| page(app, &asked, reader)).await
}

/// An entry, and what orders it.
struct RankedEntry {
    id: Hex32,
    digest: bool,
    record: EntryRecord,
    score: Fixed,
    created_at: Millis,
}

fn page(app: &App, asked: &KnowledgeQuery, reader: &Reader<'_>) -> Result<Value, Problem> {
    let mut all = entries(app, asked, reader)?;
    match asked.sort.unwrap_or_default() {
        EntryOrder::Score => all.sort_by_key(|e| (Reverse((e.score, e.created_at)), e.id)),
        EntryOrder::Recent => all.sort_by_key(|e| (Reverse(e.created_at), e.id)),
    }
    let from = match asked.after {
        None => 0,
        Some(after) => {
            let place = all.iter().position(|e| e.id == after);
            let gone = || {
                Problem::new(
                    410,
                    "gone",
                    "the entry named by `after` has lost its standing: begin without it",
                )
            };
            1 + place.ok_or_else(gone)?
        }
    };
    let limit = asked.limit.unwrap_or(ENTRIES).clamp(1, MOST);
    let total = all.len();
    let (mut shown, mut filled, mut to) = (Vec::new(), Filled::default(), from);
    for entry in all.iter().skip(from).take(limit) {
        if filled.is_full() {
            break;
        }
        to += 1;
        if let Some(json) = show(app, entry, reader)? {
            filled.shows(&json);
            shown.push(json);
        }
    }
    let mut answer = json!({ "entries": shown, "total": total });
    if to < total
        && let Some(last) = all[..to].last()
    {
        answer["after"] = json!(last.id);
    }
    Ok(answer)
}

fn entries(app: &App, asked: &KnowledgeQuery, reader: &Reader<'_>) -> Result<Vec<RankedEntry>, StoreError> {
    let mut all = Vec::new();
    for (id, digest, record) in of_tag(asked, reader)? {
        let Some(post) = reader.post(&asked.network, id)? else {
            continue;
        };
        let Some(held) = shown::held(&app.core.store, id)? else {
            continue;
        };
        all.push(RankedEntry { id, digest, record, score: post.score, created_at: held.said.created_at });
    }
    Ok(all)
}

/// All entries, or those under a tag: their own, or that of the ask or post that begins their thread.
fn of_tag(
    asked: &KnowledgeQuery,
    reader: &Reader<'_>,
) -> Result<Vec<(Hex32, bool, EntryRecord)>, StoreError> {
    let Some(tag) = &asked.tag else {
        return reader.entries(&asked.network);
    };
    // No tag is longer, and the order of entries has room for no more.
    if tag.len() > 64 {
        return Ok(Vec::new());
    }
    let mut all = Vec::new();
    for entry in reader.listed(&asked.network, &Under::Tag(tag.clone()), None, usize::MAX)? {
        let record = reader.entry(&asked.network, entry.entry, entry.digest)?;
        all.extend(record.map(|record| (entry.entry, entry.digest, record)));
    }
    Ok(all)
}

fn show(app: &App, entry: &RankedEntry, reader: &Reader<'_>) -> Result<Option<Value>, StoreError> {
    let Some(held) = shown::held(&app.core.store, entry.id)? else {
        return Ok(None);
    };
    let mut json = shown::event(&held, reader)?;
    json["knowledge"] = if entry.digest { "digest" } else { "answer" }.into();
    json["threads"] = json!(entry.record.threads);
    // An answer has no title of its own: it is that of its ask.
    if held.said.title.is_none()
        && let Some(root) = shown::held(&app.core.store, held.said.root())?
    {
        json["title"] = root.said.title.into();
    }
    Ok(Some(json))
}
