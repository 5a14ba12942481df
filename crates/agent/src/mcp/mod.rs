//! The swarm's memory for AI agents: tools and resources of the Model Context Protocol.
//!
//! ```text
//!  agent ─▶ tool ─▶ request of /v1 ─▶ node ─▶ answer ─▶ shape ─▶ agent
//! ```
//!
//! An [`Agent`] is bound to one profile of one network: it reads no other network and signs with no other
//! key. It is a client of the node's own API like any other, over the socket (`wats mcp`) or within the
//! node (`/mcp`), so agents can do nothing here that the API does not let them, and see labels and counts
//! alone. What others wrote stands apart from what the node says ([`responses`]).

mod attach;
mod browse;
mod http;
mod read_tools;
mod resources;
pub mod responses;
mod start;
mod transport;
pub mod verify;
pub mod write_tools;

pub use http::{MAX_BODY, routes, service};
pub use start::Starter;
pub use transport::Way;

use crate::idempotency::{Outbox, OutboxError};
use responses::NetworkLabel;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::model::{
    ErrorData, Implementation, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{Json, RoleServer, ServerHandler, tool_handler};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Semaphore;
use wats_api::client::ClientError;
use wats_config::Network;
use wats_event::{Draft, Hex32, Secret, SignError};
use wats_model::clock::Clock;
use wats_model::views::NETWORK_LABEL;

/// What agents are told: hosts cut it at about 2,048 characters.
pub const INSTRUCTIONS: &str = include_str!("instructions.txt");

/// A key that speaks in a network.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The network, and the work that it asks for.
    pub network: Network,
    /// The key.
    pub secret: Secret,
    /// What it says is kept here.
    pub outbox: Outbox,
}

/// The tools of one profile, or of a reader without a key, in one network.
#[derive(Clone, Debug)]
pub struct Agent {
    way: Way,
    network: Arc<str>,
    profile: Option<Arc<Profile>>,
    tools: Arc<ToolRouter<Agent>>,
    /// Events that are signed at a time.
    signing: Arc<Semaphore>,
}

/// See [`Agent`].
const SIGNING: usize = 2;

/// Why a tool did not do what it was asked; agents read it.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The node.
    #[error(transparent)]
    Node(#[from] ClientError),
    /// What is said cannot be signed.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// What is said cannot be kept.
    #[error(transparent)]
    Outbox(#[from] OutboxError),
    /// The call is wrong: the agent's to mend.
    #[error("{0}")]
    Wrong(String),
    /// There is no key to sign with.
    #[error(
        "this node has no key of its own in this network, so nothing can be said here; `wats init` makes one"
    )]
    NoProfile,
    /// Something of ours broke.
    #[error("internal error: {0}")]
    Broken(String),
}

impl Trouble {
    pub(crate) fn wrong(what: impl Into<String>) -> Trouble {
        Trouble::Wrong(what.into())
    }
}

/// How tools report: an error becomes a result that says so. (The tools' signatures spell this out, as
/// their output schemas are read off them.)
fn told<T>(result: Result<T, Trouble>) -> Result<Json<T>, String> {
    result.map(Json).map_err(|trouble| trouble.to_string())
}

impl Agent {
    /// The tools of a profile.
    pub fn of(way: Way, profile: Profile) -> Agent {
        let network = profile.network.id.as_str().into();
        Agent {
            way,
            network,
            profile: Some(Arc::new(profile)),
            tools: Arc::new(Agent::all()),
            signing: Arc::new(Semaphore::new(SIGNING)),
        }
    }

    /// The tools of a reader without a key.
    pub fn reader(way: Way, network: &str) -> Agent {
        Agent {
            way,
            network: network.into(),
            profile: None,
            tools: Arc::new(Agent::all()),
            signing: Arc::new(Semaphore::new(SIGNING)),
        }
    }

    fn all() -> ToolRouter<Agent> {
        let mut all = Agent::consulting() + Agent::browsing();
        all = all + Agent::speaking() + Agent::attaching() + Agent::verifying();
        for tool in all.map.values_mut().map(|route| &mut route.attr) {
            Arc::make_mut(&mut tool.input_schema).values_mut().for_each(plain);
            if let Some(schema) = &mut tool.output_schema {
                Arc::make_mut(schema).values_mut().for_each(plain);
            }
        }
        all
    }

    /// The network.
    pub fn network(&self) -> &str {
        &self.network
    }

    /// The way to the node.
    pub(crate) fn way(&self) -> &Way {
        &self.way
    }

    /// The key it speaks with.
    pub fn own_key(&self) -> Option<String> {
        self.key().map(|key| key.to_string())
    }

    fn key(&self) -> Option<Hex32> {
        self.profile.as_ref().map(|profile| profile.secret.public())
    }

    fn profile(&self) -> Result<&Arc<Profile>, Trouble> {
        self.profile.as_ref().ok_or(Trouble::NoProfile)
    }

    /// The label of the network, as an answer of the node tells it. Its key follows from trust: it goes where
    /// the owner's socket does, and to nobody by an address.
    fn network_label(&self, of: &Value) -> Option<NetworkLabel> {
        let told = NetworkLabel::read(of, self.key().is_some())?;
        Some(NetworkLabel { key: told.key.filter(|_| matches!(self.way, Way::Socket(_))), ..told })
    }

    /// A held event of this network: its members and its labels.
    async fn event(&self, id: &str) -> Result<Value, Trouble> {
        let id = shapes_id(id)?;
        let found = self.way.get(&format!("/v1/events/{id}")).await?;
        match found["event"]["net"].as_str() == Some(&*self.network) {
            true => Ok(found),
            false => Err(Trouble::wrong(format!("{id} is not held"))),
        }
    }

    /// A held event of this network with its labels beside what it says.
    async fn labelled(&self, id: &str) -> Result<Value, Trouble> {
        let found = self.event(id).await?;
        let mut whole = found["event"].clone();
        for label in ["status", "counts", "why", NETWORK_LABEL] {
            whole[label] = found[label].clone();
        }
        Ok(whole)
    }

    /// Signs what is said with the profile's key, and sends it: the same words within a day are the same
    /// event. Its id.
    async fn say(&self, mut draft: Value) -> Result<String, Trouble> {
        let profile = self.profile()?.clone();
        draft["net"] = json!(&*self.network);
        // Work may take long, and the threads for it are shared with reads.
        let turn = self.signing.clone().acquire_owned().await.map_err(|e| Trouble::Broken(e.to_string()))?;
        let signing = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            sign(&profile, &draft)
        });
        let signing = signing.await;
        let text = signing.map_err(|e| Trouble::Broken(e.to_string()))??;
        let outcome = self.way.event(text).await?;
        let id = outcome["id"].as_str().map(str::to_owned);
        id.ok_or_else(|| Trouble::Broken("the node took an event and named no id".into()))
    }
}

/// Takes the formats of numbers out of a schema: clients warn of each, as the standard has none.
fn plain(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(plain),
        Value::Object(members) => {
            members.retain(|name, value| {
                name != "format" || value.as_str().is_none_or(|format| !format.contains("int"))
            });
            members.values_mut().for_each(plain);
        }
        _ => {}
    }
}

fn sign(profile: &Profile, draft: &Value) -> Result<String, Trouble> {
    profile.outbox.say(
        profile.secret.public(),
        draft,
        || Clock::Wall.now(),
        |now| {
            let unsigned = draft.to_string();
            let draft = Draft::read(unsigned.as_bytes())?.created_by_default(now);
            Ok(match profile.network.pow_bits {
                0 => draft.sign(&profile.secret)?,
                bits => draft.mine(&profile.secret, u16::try_from(bits).unwrap_or(u16::MAX))?,
            })
        },
    )
}

/// An id as agents give it: the digits, or a link to it.
fn shapes_id(text: &str) -> Result<Hex32, Trouble> {
    let digits = text.trim().rsplit('/').next().unwrap_or_default();
    Hex32::parse(digits).ok_or_else(|| {
        let given = responses::quotation(text);
        Trouble::wrong(format!("\"{given}\" is no id: it has 64 lower-case hex digits, as results give them"))
    })
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Agent {
    fn get_info(&self) -> ServerConfig {
        let can = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let me = Implementation::new("wats", env!("CARGO_PKG_VERSION")).with_title("wats: what agents know");
        ServerConfig::new(can).with_server_info(me).with_instructions(INSTRUCTIONS)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.entries().await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.resource(&request.uri).await.map(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_not_cut() {
        assert!(INSTRUCTIONS.chars().count() < 2_000, "{}", INSTRUCTIONS.chars().count());
    }
}
