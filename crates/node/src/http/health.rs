//! `/healthz`, `/readyz`, `/metrics`: for monitoring.

use super::{App, Problem};
use crate::Phase;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use prometheus_client::metrics::gauge::Gauge;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The process lives, and no part of it failed.
pub(super) async fn health(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    match app.core.failure() {
        None => Ok(axum::Json(json!({ "healthy": true })).into_response()),
        Some(_) => Err(Problem::new(500, "failed", "a part of the node failed; its log says how")),
    }
}

/// It takes events in; while it reads its store it says how far it is. How far the search index is it says
/// besides: a search is answered meanwhile, from what the index has.
pub(super) async fn ready(State(app): State<Arc<App>>) -> Response {
    let core = &app.core;
    let (loaded, to_load) = (core.loaded.load(Ordering::Relaxed), core.to_load.load(Ordering::Relaxed));
    let phase = match core.phase() {
        Phase::Loading => "loading",
        Phase::Ready if core.disk_low.load(Ordering::Relaxed) => "disk_full",
        Phase::Ready => "ready",
        Phase::Stopping => "stopping",
        Phase::Failed => "failed",
    };
    let status = if phase == "ready" { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let answer = json!({
        "ready": phase == "ready",
        "phase": phase,
        "loaded": loaded,
        "to_load": to_load,
        "to_index": app.index_lag(),
    });
    (status, axum::Json(answer)).into_response()
}

/// Everything that is counted, as Prometheus reads it.
pub(super) async fn metrics(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let [weighty, others] = app.lanes.waiting();
    let (metrics, index) = (&app.core.metrics, app.search.index());
    let set = |gauge: &Gauge, to: u64| gauge.set(i64::try_from(to).unwrap_or(i64::MAX));
    set(&metrics.waiting[0], weighty as u64);
    set(&metrics.waiting[1], others as u64);
    set(&metrics.waiters, app.core.waiters.count() as u64);
    set(&metrics.index_lag, app.index_lag());
    set(&metrics.index_events, index.events());
    metrics.index_commits.inner().store(index.commits(), Ordering::Relaxed);
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &metrics.registry())
        .map_err(|e| Problem::new(500, "internal error", e.to_string()))?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
