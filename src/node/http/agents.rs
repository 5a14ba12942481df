//! `/mcp`: the tools of the node's own profiles for agents, over streamable HTTP.

use super::{App, Problem, of_owner, public};
use crate::mcp::{self, Agent, Profile, Way};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// `/mcp/NETWORK` for each profile, and `/mcp` where there is but one. Whoever uses it speaks with the
/// profile's key, so it takes the token, on the loopback too.
pub fn routes(
    app: &Arc<App>,
    profiles: Vec<Profile>,
    listen: SocketAddr,
    stop: &CancellationToken,
) -> Router {
    let node = super::admin::routes(public(app.clone())).layer(middleware::from_fn(of_owner));
    let way = Way::Within(node.with_state(app.clone()));
    let alone = profiles.len() == 1;
    let mut routes = Router::new();
    for profile in profiles {
        let path = format!("/mcp/{}", profile.network.id);
        let service = mcp::service(Agent::of(way.clone(), profile), listen, stop);
        if alone {
            routes = routes.route_service("/mcp", service.clone());
        }
        routes = routes.route_service(&path, service);
    }
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
