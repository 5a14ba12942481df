//! `GET /v1/search`: what was checked comes first.

use super::params::Params;
use super::{App, Origin, Problem, apart};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;
use wats_event::Hex32;
use wats_model::ids::Millis;
use wats_model::views::Status;
use wats_search::{Filter, Kind, Request, SearchError};

/// What to search for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchQuery {
    network: String,
    #[serde(default)]
    q: String,
    /// Statuses, with commas between them.
    status: Option<String>,
    min_status: Option<String>,
    /// Tags, with commas between them: all of them.
    tags: Option<String>,
    kind: Option<String>,
    author: Option<String>,
    thread: Option<Hex32>,
    since: Option<u64>,
    before: Option<u64>,
    #[serde(default)]
    include_low: bool,
    #[serde(default)]
    limit: usize,
    cursor: Option<String>,
}

impl SearchQuery {
    fn request(self) -> Result<Request, Problem> {
        let list = |text: Option<String>| -> Vec<String> {
            let text = text.unwrap_or_default();
            text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        let statuses = list(self.status).iter().map(|name| status(name)).collect::<Result<_, _>>()?;
        let kind = self.kind.map(|name| {
            Kind::parse(&name)
                .ok_or_else(|| Problem::bad_request("`kind` is `ask`, `answer`, `post` or `digest`"))
        });
        let filter = Filter {
            statuses,
            min_status: self.min_status.as_deref().map(status).transpose()?,
            tags: list(self.tags),
            kind: kind.transpose()?,
            author: self.author,
            thread: self.thread,
            since: self.since.map(Millis),
            before: self.before.map(Millis),
        };
        Ok(Request {
            network: self.network,
            query: self.q,
            filter,
            include_low: self.include_low,
            limit: self.limit,
            cursor: self.cursor,
        })
    }
}

/// A status by its name.
pub(super) fn status(name: &str) -> Result<Status, Problem> {
    let found = Status::ALL.into_iter().find(|status| status.name() == name);
    found.ok_or_else(|| Problem::bad_request("a status is `contested`, `unverified`, `stale` or `confirmed`"))
}

/// `GET /v1/search`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Extension(origin): Extension<Origin>,
    Params(asked): Params<SearchQuery>,
) -> Result<Response, Problem> {
    app.carries(&asked.network)?;
    let request = asked.request()?;
    let found = apart(move || {
        let mut answer = json!(app.search.search(&request).map_err(problem)?);
        app.tell_label(&mut answer, &app.core.store.read(), &request.network, origin)?;
        Ok(answer)
    });
    Ok(Json(found.await?).into_response())
}

/// What a search failed of, as a client reads it.
pub(super) fn problem(error: SearchError) -> Problem {
    match &error {
        SearchError::Query(query) => {
            Problem::bad_request(error.to_string()).with("code", "bad_query").with("at", query.at)
        }
        SearchError::TooOld | SearchError::OtherStore => {
            Problem::new(410, "gone", error.to_string()).with("code", "cursor_gone")
        }
        _ if error.is_of_client() => Problem::bad_request(error.to_string()),
        _ => {
            tracing::error!(%error, "a search failed");
            Problem::new(500, "the search failed", "the node's log says how")
        }
    }
}
