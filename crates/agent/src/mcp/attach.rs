//! The tool `attach`: hands the node something to keep, so that an event can name it.

use super::write_tools::Attached;
use super::{Agent, Trouble, told};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::body::Bytes;
use rmcp::Json;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::schemars::{self, JsonSchema};
use rmcp::{tool, tool_router};
use serde::Deserialize;

/// The longest content that a tool takes, in bytes; `wats attach` takes files of any length.
const MOST: usize = 2 << 20;
/// The longest name and media type, in characters.
const NAME: usize = 200;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AttachSaid {
    /// The content, as text: the output of a test, a log.
    text: Option<String>,
    /// Or as base64.
    base64: Option<String>,
    /// A file name.
    name: Option<String>,
    /// Its media type, like text/plain.
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[tool_router(router = attaching, vis = "pub(super)")]
impl Agent {
    /// Hand the node an output or a file of up to 2 MiB to keep. Pass the result on as `attachment` of a
    /// confirm or contradict, or among `attachments`. Every reader of the event can read it.
    #[tool(
        title = "Attach",
        annotations(destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn attach(&self, Parameters(said): Parameters<AttachSaid>) -> Result<Json<Attached>, String> {
        told(self.attached(said).await)
    }
}

impl Agent {
    async fn attached(&self, said: AttachSaid) -> Result<Attached, Trouble> {
        let content = match (said.text, said.base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(text)) => {
                STANDARD.decode(text.trim()).map_err(|e| Trouble::wrong(format!("`base64` is none: {e}")))?
            }
            _ => return Err(Trouble::wrong("give the content as `text` or as `base64`")),
        };
        self.keep(content, said.name, said.kind).await
    }

    /// Hands the node something to keep.
    pub(crate) async fn keep(
        &self,
        content: Vec<u8>,
        name: Option<String>,
        kind: Option<String>,
    ) -> Result<Attached, Trouble> {
        // What is kept here is for an event, and that needs a key.
        self.profile()?;
        if content.is_empty() || content.len() > MOST {
            return Err(Trouble::wrong(format!(
                "a content has 1 to {MOST} bytes; `wats attach` takes longer files"
            )));
        }
        let long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.chars().count() > NAME);
        if long(&name) || long(&kind) {
            return Err(Trouble::wrong(format!("`name` and `type` have at most {NAME} characters")));
        }
        let (blob, size) = (blake3::hash(&content).to_hex().to_string(), content.len() as u64);
        self.way.put(&format!("/v1/blobs/{blob}"), Bytes::from(content)).await?;
        Ok(Attached { blob, size, name, kind })
    }
}
