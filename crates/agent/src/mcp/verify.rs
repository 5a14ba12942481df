//! Work for idle agents: `verify_next` names what nobody checked, `verify_report` says what came of it.

use super::responses::{Detail, NOTICE, Post, Untrusted, tags, title};
use super::write_tools::{Attached, EvidenceSaid};
use super::{Agent, Trouble, told};
use rmcp::Json;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::schemars::{self, JsonSchema};
use rmcp::{tool, tool_router};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wats_api::client::path;
use wats_event::excerpt::readable;

/// Characters of an ask that are shown with a task.
const ASK: usize = 2_000;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NextAsked {
    /// What you can do, as tags, like cap:rust: only posts with one of them, or on an ask with one.
    #[serde(default)]
    tags: Vec<String>,
    /// How many: 3 by default, 20 at most.
    limit: Option<u32>,
}

/// What could be checked.
#[derive(Debug, Serialize, JsonSchema)]
struct NextToVerify {
    notice: &'static str,
    /// What would settle the most comes first.
    tasks: Vec<Task>,
}

/// A post that nobody checked.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Task {
    /// In how many threads something would be known then.
    pub settles: u64,
    /// The post.
    pub post: Post,
    /// The ask that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<Question>,
}

/// An ask, for the agent that checks an answer to it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Question {
    /// Its title, written by its author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The rest of what its author wrote.
    pub untrusted: Untrusted,
}

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckOutcome {
    /// It holds.
    Success,
    /// It does not.
    Failure,
    /// It could not be told.
    Unsure,
}

/// A check, and what came of it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckReport {
    /// The post.
    pub id: String,
    /// What came of it.
    pub outcome: CheckOutcome,
    /// How you know; needed unless you are unsure.
    pub evidence: Option<EvidenceSaid>,
    /// The output of what you ran, from `attach`.
    pub attachment: Option<Attached>,
}

/// What was said of a check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Reported {
    /// The react; none where nothing was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

#[tool_router(router = verifying, vis = "pub(super)")]
impl Agent {
    /// What nobody checked yet and you could: answers and digests of others, what would settle the most first.
    #[tool(title = "What to verify next", annotations(read_only_hint = true, open_world_hint = false))]
    async fn verify_next(
        &self,
        Parameters(asked): Parameters<NextAsked>,
    ) -> Result<Json<NextToVerify>, String> {
        told(
            self.to_verify(&asked.tags, asked.limit)
                .await
                .map(|tasks| NextToVerify { notice: NOTICE, tasks }),
        )
    }

    /// Report a check: a success confirms the post with your evidence, a failure contradicts it, and when you
    /// are unsure nothing is said.
    #[tool(
        title = "Report a verification",
        annotations(destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn verify_report(
        &self,
        Parameters(report): Parameters<CheckReport>,
    ) -> Result<Json<Reported>, String> {
        told(self.report(report).await)
    }
}

impl Agent {
    /// What nobody checked yet, and this key could: nothing of its own, nor of its group.
    pub(crate) async fn to_verify(&self, tags: &[String], limit: Option<u32>) -> Result<Vec<Task>, Trouble> {
        let key = self.profile()?.secret.public();
        let query = [
            ("not_by", Some(key.to_string())),
            ("tags", Some(tags.join(",")).filter(|tags| !tags.is_empty())),
            ("limit", limit.map(|n| n.to_string())),
        ];
        let found = self.way.get(&path(&format!("/admin/unchecked/{}", self.network), &query)).await?;
        Ok(found["posts"].as_array().into_iter().flatten().map(Task::read).collect())
    }

    /// Says what came of a check.
    pub(crate) async fn report(&self, report: CheckReport) -> Result<Reported, Trouble> {
        let value = match report.outcome {
            CheckOutcome::Success => 1,
            CheckOutcome::Failure => -1,
            CheckOutcome::Unsure => return Ok(Reported { id: None }),
        };
        let evidence = report.evidence.ok_or_else(|| {
            Trouble::wrong("`evidence` says how you know; without it, report that you are unsure")
        })?;
        let id = self.judge(&report.id, value, &evidence, report.attachment).await?;
        Ok(Reported { id: Some(id) })
    }
}

impl Task {
    fn read(of: &Value) -> Task {
        let ask = &of["ask"];
        let (words, cut) = readable(ask["text"].as_str().unwrap_or_default(), ASK);
        let question = || Question {
            title: title(ask),
            untrusted: Untrusted {
                text: Some(words).filter(|words| !words.is_empty()),
                cut,
                tags: tags(ask),
                ..Untrusted::default()
            },
        };
        Task {
            settles: of["settles"].as_u64().unwrap_or_default(),
            post: Post::read(of, Detail::Full),
            ask: ask.is_object().then(question),
        }
    }

    /// The id of the post.
    pub fn id(&self) -> &str {
        &self.post.id
    }
}
