//! `GET /admin/unchecked/{network}`: what an idle agent could check, what would settle the most first.
//! For the owner alone: which keys are of a group is the reader's own business.

use super::params::{Params, Within};
use super::shown;
use super::{App, Problem, apart, search};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use wats_event::Hex32;
use wats_event::fields::DIGEST;
use wats_event::stored_event::StoredEvent;
use wats_model::views::Status;
use wats_search::{Filter, Kind, MAX_HITS, Request};
use wats_store::{Reader, StoreError};

/// Posts that are looked at, the newest first, of answers and of digests each; and of one author, so that
/// none can fill them.
const LOOKED_AT: usize = 200;
const OF_ONE: usize = 5;
/// Posts that are named, where nobody says how many; and at most.
const NAMED: usize = 3;
const MOST: usize = 20;

/// The reader, and the posts it wants.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VerificationQuery {
    /// Nothing by this key or by one of its group: what it says of those counts zero.
    not_by: Hex32,
    /// Only what has one of these tags, or replies to an ask that has; with commas between them.
    tags: Option<String>,
    limit: Option<usize>,
}

/// `GET /admin/unchecked/{network}`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Within(network): Within<String>,
    Params(asked): Params<VerificationQuery>,
) -> Result<Response, Problem> {
    app.carries(&network)?;
    Ok(Json(apart(move || list(&app, &network, &asked)).await?).into_response())
}

/// A post that nobody checked.
struct UncheckedPost {
    said: StoredEvent,
    /// Threads that would have something known of them.
    settles: usize,
    /// Who took note of it: citations and votes.
    noted: u32,
}

fn list(app: &App, network: &str, asked: &VerificationQuery) -> Result<Value, Problem> {
    let wanted: BTreeSet<&str> =
        asked.tags.as_deref().unwrap_or_default().split(',').map(str::trim).collect();
    let wanted: BTreeSet<&str> = wanted.into_iter().filter(|tag| !tag.is_empty()).collect();
    let mut all = Vec::new();
    for kind in [Kind::Answer, Kind::Digest] {
        for id in newest(app, network, kind)? {
            all.extend(unchecked(app, network, id, asked.not_by, &wanted)?);
        }
    }
    let order = |one: &UncheckedPost| (Reverse((one.settles, one.noted, one.said.created_at)), one.said.id);
    all.sort_by_key(order);
    // An answer that is a digest is found as both.
    all.dedup_by_key(|one| one.said.id);
    let reader = app.core.store.read();
    let mut named = Vec::new();
    for one in all.into_iter().take(asked.limit.unwrap_or(NAMED).clamp(1, MOST)) {
        let Some(held) = shown::held(&app.core.store, one.said.id)? else {
            continue;
        };
        let mut json = shown::event(&held, &reader)?;
        json["settles"] = one.settles.into();
        if let Some(root) = root_of(app, &one.said)? {
            json["ask"] = json!({ "title": root.title, "text": root.text, "tags": root.tags });
        }
        named.push(json);
    }
    Ok(json!({ "posts": named }))
}

/// The newest unverified posts of a kind.
fn newest(app: &App, network: &str, kind: Kind) -> Result<Vec<Hex32>, Problem> {
    let filter = Filter { statuses: vec![Status::Unverified], kind: Some(kind), ..Filter::default() };
    let mut request = Request { network: network.to_owned(), filter, limit: MAX_HITS, ..Request::default() };
    let (mut ids, mut by) = (Vec::new(), HashMap::<Hex32, usize>::new());
    while ids.len() < LOOKED_AT {
        let page = app.search.search(&request).map_err(search::problem)?;
        for hit in &page.hits {
            let of_author = by.entry(hit.author).or_default();
            *of_author += 1;
            if *of_author <= OF_ONE {
                ids.push(hit.id);
            }
        }
        match page.cursor {
            Some(cursor) => request.cursor = Some(cursor),
            None => break,
        }
    }
    Ok(ids)
}

fn unchecked(
    app: &App,
    network: &str,
    id: Hex32,
    not_by: Hex32,
    wanted: &BTreeSet<&str>,
) -> Result<Option<UncheckedPost>, Problem> {
    let reader = app.core.store.read();
    let Some(held) = shown::held(&app.core.store, id)? else {
        return Ok(None);
    };
    let said = held.said;
    let post = reader.post(network, id)?.filter(|post| post.status == Status::Unverified);
    let (Some(post), false) = (post, is_kin(&reader, network, said.author, not_by)?) else {
        return Ok(None);
    };
    if !wanted.is_empty() {
        let root = root_of(app, &said)?;
        let tags = said.tags.iter().chain(root.iter().flat_map(|root| &root.tags));
        if !tags.into_iter().any(|tag| wanted.contains(tag.as_str())) {
            return Ok(None);
        }
    }
    let settles = settles(app, &reader, &said)?;
    Ok(Some(UncheckedPost { said, settles, noted: post.counts.cites + post.counts.votes_up }))
}

/// Whether two keys are one, or of one group (section 3).
fn is_kin(reader: &Reader<'_>, network: &str, one: Hex32, other: Hex32) -> Result<bool, StoreError> {
    if one == other {
        return Ok(true);
    }
    let groups = (reader.author(network, one)?, reader.author(network, other)?);
    Ok(matches!(groups, (Some(a), Some(b)) if a.group == b.group))
}

/// In how many threads nothing is known yet that this would be known in.
fn settles(app: &App, reader: &Reader<'_>, said: &StoredEvent) -> Result<usize, StoreError> {
    let mut roots = BTreeSet::from([said.root()]);
    if said.kind == DIGEST {
        for source in &said.refs {
            let held = shown::held(&app.core.store, *source)?.map(|held| held.said);
            roots.extend(held.filter(|source| source.net == said.net).map(|source| source.root()));
        }
    }
    let mut open = 0;
    for root in roots {
        open += usize::from(shown::first(reader, &said.net, root)?.is_none());
    }
    Ok(open)
}

/// What began the thread of a reply.
fn root_of(app: &App, said: &StoredEvent) -> Result<Option<StoredEvent>, StoreError> {
    let Some(root) = said.thread else {
        return Ok(None);
    };
    let held = shown::held(&app.core.store, root)?;
    Ok(held.map(|held| held.said).filter(|root| root.net == said.net))
}
