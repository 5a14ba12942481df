//! `/healthz`, `/readyz`, `/metrics`: for whoever watches the node.

use super::{App, Problem};
use crate::node::Phase;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The process lives, and no part of it failed.
pub async fn health(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    match app.core.failure() {
        None => Ok(axum::Json(json!({ "healthy": true })).into_response()),
        Some(_) => Err(Problem::new(500, "failed", "a part of the node failed; its log says how")),
    }
}

/// It takes events in; while it reads its store it says how far it is.
pub async fn ready(State(app): State<Arc<App>>) -> Response {
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
    let answer = json!({ "ready": phase == "ready", "phase": phase, "loaded": loaded, "to_load": to_load });
    (status, axum::Json(answer)).into_response()
}

/// Everything that is counted, as Prometheus reads it.
pub async fn metrics(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let [weighty, others] = app.lanes.waiting();
    let set = |gauge: usize, bytes: usize| {
        app.core.metrics.waiting[gauge].set(i64::try_from(bytes).unwrap_or(i64::MAX))
    };
    set(0, weighty);
    set(1, others);
    app.core.metrics.waiters.set(i64::try_from(app.core.waiters.count()).unwrap_or(i64::MAX));
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &app.core.metrics.registry())
        .map_err(|e| Problem::new(500, "internal error", e.to_string()))?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
