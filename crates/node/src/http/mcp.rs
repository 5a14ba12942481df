//! `/mcp`: the tools of the node's own profiles for agents, which the program brings along.

use super::{App, Problem, of_owner, public};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Routes for agents, made when the node knows where it listens: from its own API as its owner has it, the
/// address, and the token that stops it.
#[derive(Clone)]
pub struct Agents(Arc<Make>);

type Make = dyn Fn(Router, SocketAddr, &CancellationToken) -> Router + Send + Sync;

impl Agents {
    /// Routes that `make` gives.
    pub fn new(
        make: impl Fn(Router, SocketAddr, &CancellationToken) -> Router + Send + Sync + 'static,
    ) -> Agents {
        Agents(Arc::new(make))
    }
}

impl fmt::Debug for Agents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Agents(…)")
    }
}

/// Routes for agents, behind the node's token: a client of theirs signs with the node's own keys, so it takes
/// the token on the loopback too.
pub(super) fn routes(
    app: &Arc<App>,
    agents: &Agents,
    listen: SocketAddr,
    stop: &CancellationToken,
) -> Router {
    let node = super::admin::routes(public(app.clone())).layer(middleware::from_fn(of_owner));
    let routes = (agents.0)(node.with_state(app.clone()), listen, stop);
    routes.layer(middleware::from_fn_with_state(app.clone(), token_holders))
}

async fn token_holders(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let shown = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some(token) = &app.token else {
        let what = "agents speak with this node's key here: set `token_file` in `[node]`, and show the token";
        return Problem::new(403, "forbidden", what).into_response();
    };
    if token.is_shown(shown) {
        return next.run(request).await;
    }
    let problem = Problem::new(401, "unauthorized", "show the node's token: `Authorization: Bearer …`");
    let mut response = problem.into_response();
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}
