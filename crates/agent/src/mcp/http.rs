//! The tools over streamable HTTP, served by the node itself.

use super::{Agent, Profile, Way};
use axum::Router;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The longest request, in bytes: an attachment of 2 MiB as base64, and what is put around it.
pub const MAX_BODY: usize = 4 << 20;

/// The service of an agent. It keeps no sessions: each request stands alone, in both versions of the
/// protocol. Requests of a browser's page are refused unless it is of this machine; so are those that name
/// another host than the node's.
pub fn service(
    agent: Agent,
    listen: SocketAddr,
    stop: &CancellationToken,
) -> StreamableHttpService<Agent, NeverSessionManager> {
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    config.sse_keep_alive = None;
    config.max_request_body_bytes = MAX_BODY;
    config.cancellation_token = stop.child_token();
    config.allowed_hosts.push(listen.ip().to_string());
    // Pages of this machine's own, as of an inspector; they need the token like everybody.
    let own = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:*"));
    config.allowed_origins.extend(own);
    let config = config.enforce_origin_validation();
    let sessions = Arc::new(NeverSessionManager::default());
    StreamableHttpService::new(move || Ok(agent.clone()), sessions, config)
}

/// `/mcp/NETWORK` for each profile, and `/mcp` where there is but one. `node` is the API of the node that serves
/// them, as its owner has it.
pub fn routes(profiles: Vec<Profile>, node: Router, listen: SocketAddr, stop: &CancellationToken) -> Router {
    let way = Way::Within(node);
    let alone = profiles.len() == 1;
    let mut routes = Router::new();
    for profile in profiles {
        let path = format!("/mcp/{}", profile.network.id);
        let service = service(Agent::of(way.clone(), profile), listen, stop);
        if alone {
            routes = routes.route_service("/mcp", service.clone());
        }
        routes = routes.route_service(&path, service);
    }
    routes
}
