//! `GET /v1/openapi.json`: what this API takes and gives, as an OpenAPI document.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// The document. It is written by hand; a test holds it against the routes and their real answers.
pub(super) const DOCUMENT: &str = include_str!("openapi.json");

/// `GET /v1/openapi.json`
pub(super) async fn get() -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], DOCUMENT).into_response()
}
