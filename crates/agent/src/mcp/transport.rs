//! How a request reaches the node: over its socket, or within it.

use super::start::Starter;
use axum::Router;
use axum::body::Body;
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tower_service::Service;
use wats_api::client::{self, ClientError, read_json, refused};

/// How long a request is repeated while the node says that it cannot take it yet: clients give up after
/// a minute.
const PATIENCE: Duration = Duration::from_secs(40);
/// The longest answer of the node that is read, in bytes.
const MAX_ANSWER: usize = 64 << 20;

/// A way to the node.
#[derive(Clone, Debug)]
pub enum Way {
    /// Over its socket; where no node runs, one is started.
    Socket(Arc<Starter>),
    /// This process is the node.
    Within(Router),
}

impl Way {
    /// Asks for a document.
    ///
    /// # Errors
    /// When the node cannot be started, or does not answer, or with an error.
    pub async fn get(&self, path: &str) -> Result<Value, ClientError> {
        self.patiently(Method::GET, path, "", Bytes::new()).await
    }

    /// Sends an event's text; what became of it.
    ///
    /// # Errors
    /// When the node cannot be started, or does not answer, or refuses it.
    pub async fn event(&self, text: String) -> Result<Value, ClientError> {
        self.patiently(Method::POST, "/v1/events", "application/json", text.into()).await
    }

    /// Gives the node a blob.
    ///
    /// # Errors
    /// When the node cannot be started, or does not answer, or refuses it.
    pub async fn put(&self, path: &str, content: Bytes) -> Result<Value, ClientError> {
        self.patiently(Method::PUT, path, "application/octet-stream", content).await
    }

    /// What the node takes in no hurry is asked again; so is a node that died, after it was started.
    async fn patiently(
        &self,
        method: Method,
        path: &str,
        kind: &str,
        body: Bytes,
    ) -> Result<Value, ClientError> {
        let until = Instant::now() + PATIENCE;
        loop {
            let answer = self.once(method.clone(), path, kind, body.clone()).await;
            let left = until.saturating_duration_since(Instant::now());
            match (answer, self) {
                (Err(ClientError::Connect { .. } | ClientError::Broken(_)), Way::Socket(starter))
                    if !left.is_zero() =>
                {
                    starter.start(left).await?;
                }
                (Err(ClientError::Refused { status: 429 | 503, retry_after: Some(after), .. }), _)
                    if Duration::from_secs(after) < left =>
                {
                    // Not as long as it says: it says so to everybody, and one who waits here is alone.
                    tokio::time::sleep(Duration::from_millis(500 * after.min(4))).await;
                }
                (answer, _) => return answer,
            }
        }
    }

    async fn once(&self, method: Method, path: &str, kind: &str, body: Bytes) -> Result<Value, ClientError> {
        match self {
            Way::Socket(starter) => client::ask(&starter.node(), method, path, kind, body).await,
            Way::Within(router) => within(router.clone(), method, path, kind, body).await,
        }
    }
}

async fn within(
    mut router: Router,
    method: Method,
    path: &str,
    kind: &str,
    body: Bytes,
) -> Result<Value, ClientError> {
    let strange = |e: &dyn std::fmt::Display| ClientError::Strange(e.to_string());
    let method_has_body = method != Method::GET;
    let mut request = Request::builder().method(method).uri(path);
    if !kind.is_empty() {
        request = request.header(hyper::header::CONTENT_TYPE, kind);
    }
    if method_has_body {
        request = request.header(hyper::header::CONTENT_LENGTH, body.len());
    }
    let request = request.body(Body::from(body)).map_err(|e| strange(&e))?;
    let response = match router.call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    let (status, retry): (StatusCode, _) = (response.status(), client::retry_after(response.headers()));
    let body = axum::body::to_bytes(response.into_body(), MAX_ANSWER).await.map_err(|e| strange(&e))?;
    match status.is_success() {
        true => read_json(&body),
        false => Err(refused(status, retry, &body)),
    }
}
