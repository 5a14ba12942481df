//! What a request's path and query string say, or a problem document about what is wrong with them.

use super::{App, Problem, problem};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use wats_event::{Code, Hex32};

/// The query string.
#[derive(Clone, Debug)]
pub(super) struct Params<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Params<T>, Problem> {
        let read = Query::<T>::from_request_parts(parts, state).await;
        let wrong = |e: QueryRejection| Problem::bad_request(e.body_text()).with("code", "bad_parameter");
        read.map(|Query(asked)| Params(asked)).map_err(wrong)
    }
}

/// The parts of a path that are not fixed.
#[derive(Clone, Debug)]
pub(super) struct Within<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Within<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Within<T>, Problem> {
        let read = Path::<T>::from_request_parts(parts, state).await;
        let wrong = |e: PathRejection| Problem::bad_request(e.body_text()).with("code", "bad_parameter");
        read.map(|Path(within)| Within(within)).map_err(wrong)
    }
}

/// The id that a path ends in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Id(pub Hex32);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Id, Problem> {
        let Within(text) = Within::<String>::from_request_parts(parts, state).await?;
        problem::name("an id", &text).map(Id)
    }
}

impl App {
    /// That the node carries a network: of others it shows nothing, and says so.
    ///
    /// # Errors
    /// When it does not.
    pub(super) fn carries(&self, network: &str) -> Result<(), Problem> {
        match self.core.rules.pow_bits(network) {
            Some(_) => Ok(()),
            None => Err(Problem::not_found("this node does not carry that network")
                .with("code", Code::WrongNetwork.as_str())),
        }
    }
}
