//! `GET /admin/export`: the log of the store, streamed while the node runs.

use super::params::Params;
use super::{App, Problem, apart};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::mpsc;
use wats_event::Hex32;
use wats_model::ids::Millis;
use wats_store::export::{Wanted, export};
use wats_store::{Seq, StoreError};

/// Bytes that are sent at a time.
const CHUNK: usize = 64 << 10;
/// Chunks that wait for a slow reader.
const WAITING: usize = 4;

/// What to export.
#[derive(Debug, Deserialize)]
pub(super) struct ExportQuery {
    network: Option<String>,
    since: Option<u64>,
    until: Option<u64>,
    thread: Option<Hex32>,
}

/// `GET /admin/export`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Params(asked): Params<ExportQuery>,
) -> Result<Response, Problem> {
    if let Some(network) = &asked.network {
        app.carries(network)?;
    }
    if let Some(root) = asked.thread {
        let store = app.core.store.clone();
        let held = apart(move || Ok(store.held(root)?)).await?;
        held.ok_or_else(|| Problem::not_found(format!("{root} is not held")))?;
    }
    let wanted = Wanted {
        network: asked.network,
        since: asked.since.map(Millis),
        until: asked.until.map(Millis),
        thread: asked.thread,
    };
    let (chunks, body) = mpsc::channel(WAITING);
    tokio::task::spawn_blocking(move || stream(&app, &wanted, &chunks));
    let body = futures_util::stream::unfold(body, |mut body| async {
        let chunk: Result<Bytes, io::Error> = body.recv().await?;
        Some((chunk, body))
    });
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(body)).into_response())
}

fn stream(app: &App, wanted: &Wanted, chunks: &mpsc::Sender<Result<Bytes, io::Error>>) {
    let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
    let mut chunk = Vec::with_capacity(CHUNK);
    // What is durable now, and nothing after it.
    let last = Seq(app.core.durable.load(Ordering::Acquire));
    let sent = export(&app.core.store, wanted, last, |line| {
        chunk.extend_from_slice(line.as_bytes());
        chunk.push(b'\n');
        if chunk.len() >= CHUNK {
            let full = std::mem::replace(&mut chunk, Vec::with_capacity(CHUNK));
            chunks.blocking_send(Ok(full.into())).map_err(|_| Failed::Sent(gone()))?;
        }
        Ok::<(), Failed>(())
    });
    match sent {
        Ok(_) => drop(chunks.blocking_send(Ok(chunk.into()))),
        Err(Failed::Sent(_)) => {}
        Err(Failed::Read(error)) => {
            tracing::error!(%error, "an export failed");
            // A body that breaks off shows the reader that it is not whole.
            let _ = chunks.blocking_send(Err(io::Error::other(error)));
        }
    }
}

enum Failed {
    Read(StoreError),
    Sent(#[expect(dead_code, reason = "only its being there counts")] io::Error),
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Failed {
        Failed::Read(error)
    }
}
