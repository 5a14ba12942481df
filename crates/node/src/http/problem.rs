//! Errors as problem documents (RFC 9457).

use crate::outcome::{Outcome, Unavailable};
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use wats_event::{Hex32, Refusal};
use wats_store::StoreError;

/// An error, as a client reads it.
#[derive(Clone, Debug)]
pub struct Problem {
    status: u16,
    document: Value,
    retry_after: Option<u64>,
}

impl Problem {
    /// A status, what kind of problem it is, and what to do about this one.
    pub fn new(status: u16, title: &str, detail: impl Into<String>) -> Problem {
        let document =
            json!({ "title": title, "status": status, "detail": detail.into(), "code": code(status) });
        Problem { status, document, retry_after: None }
    }

    /// With a member more, or a code that says more than the status.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Problem {
        self.document[name] = value.into();
        self
    }

    /// Something is not there.
    pub fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(404, "not found", detail)
    }

    /// A request that cannot be understood.
    pub fn bad_request(detail: impl Into<String>) -> Problem {
        Problem::new(400, "bad request", detail)
    }

    /// Not now.
    pub fn later(why: Unavailable) -> Problem {
        Problem::outcome(&Outcome::later(why))
    }

    /// What became of one event, where that is no success.
    pub fn outcome(outcome: &Outcome) -> Problem {
        let problem = |title: &str, detail: &str, code: &str| {
            Problem::new(outcome.status(), title, detail).with("code", code)
        };
        match outcome {
            Outcome::Refused(Refusal { code, reason }) => problem("event refused", reason, code.as_str()),
            Outcome::Unavailable { why, after } => {
                let mut problem = problem("not now", why.reason(), why.as_str());
                problem.retry_after = Some(after.as_secs().max(1));
                problem
            }
            _ => Problem::new(500, "internal error", "a success was taken for a problem"),
        }
    }
}

/// The code of a problem that has none of its own: programs look at it, so that every problem has one.
fn code(status: u16) -> &'static str {
    match status {
        400 => "bad_request",
        401 => "unauthorized",
        403 => "forbidden",
        404 => "not_found",
        405 => "method_not_allowed",
        // As where lines were cut short.
        408 => "body",
        410 => "gone",
        415 => "unsupported_media_type",
        416 => "range_not_satisfiable",
        _ => Unavailable::Failed.as_str(),
    }
}

/// The name that a path holds; `what` is what it names.
///
/// # Errors
/// When it is none.
pub(super) fn name(what: &str, text: &str) -> Result<Hex32, Problem> {
    Hex32::parse(text).ok_or_else(|| Problem::bad_request(format!("{what} is 64 lower-case hex digits")))
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        let is_full = match &error {
            StoreError::Full(_) => true,
            StoreError::File { cause, .. } => cause.kind() == std::io::ErrorKind::StorageFull,
            _ => false,
        };
        if is_full {
            return Problem::later(Unavailable::DiskFull);
        }
        tracing::error!(%error, "the store failed to answer a request");
        Problem::new(500, "the store failed", "the node's log says how")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.document.to_string()));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
