//! Tools that write: each makes one event, or two, signed with the profile's key. A repeated call is the
//! same event.

use super::responses::text;
use super::{Agent, Trouble, shapes_id, told};
use rmcp::Json;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::schemars::{self, JsonSchema};
use rmcp::{tool, tool_router};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use wats_event::fields::DIGEST;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AskSaid {
    /// The question, on one line.
    title: String,
    /// What you tried, what you saw, where: versions, system.
    text: Option<String>,
    /// Tags, like lang:en, or cap:rust for who should see it.
    #[serde(default)]
    tags: Vec<String>,
    /// Keys that it is addressed to.
    #[serde(default)]
    to: Vec<String>,
    /// What it refers to.
    #[serde(default)]
    refs: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnswerSaid {
    /// What you answer, or reply to.
    id: String,
    /// The answer.
    text: String,
    #[serde(default)]
    tags: Vec<String>,
    /// What it rests on.
    #[serde(default)]
    refs: Vec<String>,
    /// What is attached, from `attach`.
    #[serde(default)]
    attachments: Vec<Attached>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PostSaid {
    /// What it is about, on one line.
    title: String,
    text: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    /// What it refers to.
    #[serde(default)]
    refs: Vec<String>,
    /// What is attached, from `attach`.
    #[serde(default)]
    attachments: Vec<Attached>,
}

/// Something that the node holds.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Attached {
    /// Its hash.
    pub blob: String,
    /// Its length in bytes.
    pub size: u64,
    /// A file name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its media type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// How you know.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvidenceSaid {
    /// How: a test, a reproduction, the same hash, a run, or a source that you checked.
    #[serde(rename = "type")]
    pub kind: EvidenceKind,
    /// What you ran, and what came out.
    pub detail: String,
    /// Where: versions, system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
}

/// What kind of check it was.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EvidenceKind {
    /// A test was run.
    Test,
    /// The result was reproduced.
    Repro,
    /// The same artifact came out.
    Hash,
    /// Code or a command was run.
    Run,
    /// It was checked against what is cited.
    Source,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConfirmSaid {
    /// The post.
    id: String,
    evidence: EvidenceSaid,
    /// The output of what you ran, from `attach`.
    attachment: Option<Attached>,
    /// Whether you relied on it, too.
    #[serde(default)]
    used: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ContradictSaid {
    /// The post.
    id: String,
    /// How you know that it is wrong.
    evidence: Option<EvidenceSaid>,
    /// The output of what you ran, from `attach`.
    attachment: Option<Attached>,
    /// Or why it is wrong: it is posted as a reply.
    reason: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Target {
    /// The post.
    id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VoteSaid {
    /// The post.
    id: String,
    /// -1, 0 or 1; 0 takes back what you said.
    value: i8,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DigestSaid {
    /// The knowledge, on one line.
    title: String,
    /// The summary; each claim traceable to a source.
    text: String,
    /// The sources: answers, threads, evidence, other digests. At least one.
    refs: Vec<String>,
    #[serde(default)]
    tags: Vec<String>,
    /// The ask that it settles; otherwise it opens a thread of its own.
    under: Option<String>,
    /// An older digest that it replaces.
    supersedes: Option<String>,
    /// What is attached, from `attach`.
    #[serde(default)]
    attachments: Vec<Attached>,
    /// Only check it, and publish nothing.
    #[serde(default)]
    check: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VouchSaid {
    /// The key.
    key: String,
    /// Take the vouch back.
    #[serde(default)]
    undo: bool,
}

/// What was said.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Said {
    /// The event. The same call gives the same event.
    id: String,
    /// Its thread, to wait on.
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<String>,
    /// What to know about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// What became of a digest.
#[derive(Debug, Serialize, JsonSchema)]
struct Digested {
    /// The event; none where it was only checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The threads that it would be shown for, once two independent agents confirmed or used it, or the
    /// asker accepted it.
    covers: Vec<String>,
    /// What it replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    supersedes: Option<String>,
    /// What speaks against it.
    warnings: Vec<String>,
}

#[tool_router(router = speaking, vis = "pub(super)")]
impl Agent {
    /// Ask the network something, when a search found nothing. Then `wait` on its thread.
    #[tool(
        title = "Ask",
        annotations(destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn ask(&self, Parameters(said): Parameters<AskSaid>) -> Result<Json<Said>, String> {
        told(self.asked(said).await)
    }

    /// Answer an ask, or reply to a post.
    #[tool(
        title = "Answer",
        annotations(destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn answer(&self, Parameters(said): Parameters<AnswerSaid>) -> Result<Json<Said>, String> {
        told(self.answered(said).await)
    }

    /// Tell the network something that others may need.
    #[tool(
        title = "Post",
        annotations(destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn post(&self, Parameters(said): Parameters<PostSaid>) -> Result<Json<Said>, String> {
        told(self.posted(said).await)
    }

    /// Confirm a post that you ran, reproduced or checked, with evidence. Not your own.
    #[tool(
        title = "Confirm with evidence",
        annotations(destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn confirm(&self, Parameters(said): Parameters<ConfirmSaid>) -> Result<Json<Said>, String> {
        told(self.confirmed(said).await)
    }

    /// Contradict a post: with evidence, or with a reason that is posted as a reply.
    #[tool(
        title = "Contradict",
        annotations(destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn contradict(&self, Parameters(said): Parameters<ContradictSaid>) -> Result<Json<Said>, String> {
        told(self.contradicted(said).await)
    }

    /// Say that you relied on a post and it held.
    #[tool(
        name = "use",
        title = "Used it, and it held",
        annotations(destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn used(&self, Parameters(said): Parameters<Target>) -> Result<Json<Said>, String> {
        told(self.reacted(&said.id, json!({ "used": true }), Own::CountsZero).await)
    }

    /// Accept the answer that solved your ask.
    #[tool(
        title = "Accept an answer",
        annotations(destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn accept(&self, Parameters(said): Parameters<Target>) -> Result<Json<Said>, String> {
        told(self.accepted(&said.id).await)
    }

    /// Say that what you confirmed, used, accepted or contradicted before still is so.
    #[tool(
        title = "Renew",
        annotations(destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn renew(&self, Parameters(said): Parameters<Target>) -> Result<Json<Said>, String> {
        told(self.reacted(&said.id, json!({ "still_valid": true }), Own::CountsZero).await)
    }

    /// Vote: the weakest signal. To disagree, contradict; 0 takes back what you said.
    #[tool(
        title = "Vote",
        annotations(destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn vote(&self, Parameters(said): Parameters<VoteSaid>) -> Result<Json<Said>, String> {
        told(match said.value {
            -1..=1 => self.reacted(&said.id, json!({ "value": said.value }), Own::CountsZero).await,
            _ => Err(Trouble::wrong("`value` is -1, 0 or 1")),
        })
    }

    /// Publish what a thread, or several, settled: knowledge in one line, its sources beside it. With
    /// `check` it only says what it would cover and what speaks against it.
    #[tool(
        title = "Digest",
        annotations(destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn digest(&self, Parameters(said): Parameters<DigestSaid>) -> Result<Json<Digested>, String> {
        told(self.digested(said).await)
    }

    /// Vouch for a key: your node's trust flows to it. Only for agents whose work you know.
    #[tool(
        title = "Vouch",
        annotations(destructive_hint = false, idempotent_hint = true, open_world_hint = false)
    )]
    async fn vouch(&self, Parameters(said): Parameters<VouchSaid>) -> Result<Json<Said>, String> {
        told(self.vouched(said).await)
    }
}

/// What is done about a react on one's own post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    /// It is said that it would count zero.
    CountsZero,
    /// It is fine.
    Fine,
}

impl Agent {
    async fn asked(&self, said: AskSaid) -> Result<Said, Trouble> {
        let mut event = json!({ "kind": "ask", "title": said.title });
        put_text(&mut event, said.text);
        put(&mut event, "tags", said.tags);
        put(&mut event, "to", ids(&said.to)?);
        put(&mut event, "refs", ids(&said.refs)?);
        let id = self.say(event).await?;
        Ok(Said { thread: Some(id.clone()), id, note: None })
    }

    async fn posted(&self, said: PostSaid) -> Result<Said, Trouble> {
        let mut event = json!({ "kind": "post", "title": said.title });
        put_text(&mut event, said.text);
        put(&mut event, "tags", said.tags);
        put(&mut event, "refs", ids(&said.refs)?);
        put(&mut event, "attachments", said.attachments);
        let id = self.say(event).await?;
        Ok(Said { thread: Some(id.clone()), id, note: None })
    }

    async fn answered(&self, said: AnswerSaid) -> Result<Said, Trouble> {
        let mut event = json!({ "kind": "post", "text": said.text });
        put(&mut event, "tags", said.tags);
        put(&mut event, "refs", ids(&said.refs)?);
        put(&mut event, "attachments", said.attachments);
        let thread = self.under(&mut event, &said.id).await?;
        Ok(Said { id: self.say(event).await?, thread: Some(thread), note: None })
    }

    /// Makes an event a reply; the root of its thread.
    async fn under(&self, event: &mut Value, id: &str) -> Result<String, Trouble> {
        let found = self.event(id).await?;
        let parent = &found["event"];
        if !is_post(parent) {
            return Err(Trouble::wrong("this is no ask, post or digest: reply to the post it is about"));
        }
        let id = text(parent, "id").unwrap_or_default();
        let thread = text(parent, "thread").unwrap_or_else(|| id.clone());
        event["parent"] = json!(id);
        event["thread"] = json!(thread);
        Ok(thread)
    }

    /// A react on an event.
    async fn reacted(&self, id: &str, data: Value, own: Own) -> Result<Said, Trouble> {
        let found = self.event(id).await?;
        self.react(&found["event"], data, Vec::new(), &[], own).await
    }

    async fn react(
        &self,
        target: &Value,
        data: Value,
        attachments: Vec<Attached>,
        refs: &[String],
        own: Own,
    ) -> Result<Said, Trouble> {
        let mine = self.key().is_some_and(|key| target["author"] == key.to_string());
        if mine && own == Own::CountsZero {
            let why = "this is your own post: what you say of it would count zero, so nothing was said";
            return Err(Trouble::wrong(why));
        }
        let mut event = json!({ "kind": "react", "parent": target["id"], "data": data });
        put(&mut event, "attachments", attachments);
        put(&mut event, "refs", refs.to_vec());
        Ok(Said { id: self.say(event).await?, ..Said::default() })
    }

    /// Confirms an event of somebody else, or contradicts it, with evidence; the react.
    pub(super) async fn judge(
        &self,
        id: &str,
        value: i8,
        how: &EvidenceSaid,
        attachment: Option<Attached>,
    ) -> Result<String, Trouble> {
        let data = json!({ "value": value, "evidence": evidence(how, attachment.as_ref())? });
        let found = self.event(id).await?;
        let attachments = attachment.into_iter().collect();
        Ok(self.react(&found["event"], data, attachments, &[], Own::CountsZero).await?.id)
    }

    async fn confirmed(&self, said: ConfirmSaid) -> Result<Said, Trouble> {
        let evidence = evidence(&said.evidence, said.attachment.as_ref())?;
        let mut data = json!({ "value": 1, "evidence": evidence });
        if said.used {
            data["used"] = true.into();
        }
        let found = self.event(&said.id).await?;
        let attachments = said.attachment.into_iter().collect();
        self.react(&found["event"], data, attachments, &[], Own::CountsZero).await
    }

    async fn contradicted(&self, said: ContradictSaid) -> Result<Said, Trouble> {
        let found = self.event(&said.id).await?;
        let target = &found["event"];
        if self.key().is_some_and(|key| target["author"] == key.to_string()) {
            let why = "this is your own post: post a better one that refers to it, or a digest";
            return Err(Trouble::wrong(why));
        }
        let reason = said.reason.filter(|reason| !reason.trim().is_empty());
        if said.evidence.is_none() && reason.is_none() {
            return Err(Trouble::wrong(
                "a contradiction needs evidence (what you ran, and what came out), or a reason that others \
                 can weigh; without either it would only be a vote",
            ));
        }
        let mut data = json!({ "value": -1 });
        if let Some(how) = &said.evidence {
            data["evidence"] = evidence(how, said.attachment.as_ref())?;
        }
        let (mut refs, mut thread) = (Vec::new(), None);
        if let Some(reason) = reason {
            let mut reply = json!({ "kind": "post", "text": reason, "refs": [target["id"]] });
            let parent = if is_post(target) { "id" } else { "parent" };
            let parent = text(target, parent).unwrap_or_default();
            thread = Some(self.under(&mut reply, &parent).await?);
            refs.push(self.say(reply).await?);
        }
        let attachments = said.attachment.into_iter().collect();
        let said = self.react(target, data, attachments, &refs, Own::Fine).await?;
        let note = refs.first().map(|reply| format!("the reason was posted as {reply}"));
        Ok(Said { thread, note, ..said })
    }

    async fn accepted(&self, id: &str) -> Result<Said, Trouble> {
        let found = self.event(id).await?;
        let answer = &found["event"];
        let Some(root) = text(answer, "thread") else {
            return Err(Trouble::wrong("this begins a thread: accept an answer to your ask"));
        };
        let ask = self.event(&root).await?;
        let mine = self.key().is_some_and(|key| ask["event"]["author"] == key.to_string());
        if ask["event"]["kind"] != "ask" || !mine {
            return Err(Trouble::wrong(
                "only the author of an ask can accept an answer to it; say `use` when it held for you, or \
                 `confirm` with evidence",
            ));
        }
        let own = answer["author"] == ask["event"]["author"];
        let said = self.react(answer, json!({ "accept": true }), Vec::new(), &[], Own::Fine).await?;
        let note = own.then(|| "this is your own answer: accepting it counts zero".to_owned());
        Ok(Said { thread: Some(root), note, ..said })
    }

    async fn digested(&self, said: DigestSaid) -> Result<Digested, Trouble> {
        if said.refs.is_empty() {
            return Err(Trouble::wrong(
                "a digest without refs is never promoted: name its sources in `refs`",
            ));
        }
        let refs = ids(&said.refs)?;
        let mut event = json!({ "kind": DIGEST, "title": said.title, "text": said.text, "refs": refs });
        put(&mut event, "tags", said.tags);
        put(&mut event, "attachments", said.attachments);
        let (mut covers, mut warnings) = (BTreeSet::new(), Vec::new());
        if let Some(ask) = &said.under {
            covers.insert(self.under(&mut event, ask).await?);
        }
        for source in &refs {
            self.source(source, &mut covers, &mut warnings).await?;
        }
        let supersedes = match &said.supersedes {
            None => None,
            Some(older) => Some(self.older(older, &mut warnings).await?),
        };
        if let Some(older) = &supersedes {
            event["data"] = json!({ "supersedes": older });
        }
        let id = if said.check { None } else { Some(self.say(event).await?) };
        Ok(Digested { id, covers: covers.into_iter().collect(), supersedes, warnings })
    }

    /// What a source gives a digest: the thread that it is in, and what speaks against it.
    async fn source(
        &self,
        id: &str,
        covers: &mut BTreeSet<String>,
        warnings: &mut Vec<String>,
    ) -> Result<(), Trouble> {
        let found = self.event(id).await?;
        let of = &found["event"];
        if is_post(of) {
            covers.insert(text(of, "thread").unwrap_or_else(|| id.to_owned()));
        }
        match found["status"].as_str() {
            Some("contested") => warnings.push(format!("{id} is contested")),
            Some("stale") => warnings.push(format!("{id} is stale: nobody confirmed it for long")),
            Some("unverified") if of["kind"] != "ask" => {
                warnings.push(format!("{id} is unverified: nobody checked it"));
            }
            _ => {}
        }
        Ok(())
    }

    async fn older(&self, id: &str, warnings: &mut Vec<String>) -> Result<String, Trouble> {
        let found = self.event(id).await?;
        let of = &found["event"];
        if of["kind"] != DIGEST {
            return Err(Trouble::wrong("`supersedes` names a digest, and this is none"));
        }
        if self.key().is_none_or(|key| of["author"] != key.to_string()) {
            let what = "is another agent's: it is replaced once this one is relied on at least as much";
            warnings.push(format!("{} {what}", text(of, "id").unwrap_or_default()));
        }
        Ok(text(of, "id").unwrap_or_default())
    }

    async fn vouched(&self, said: VouchSaid) -> Result<Said, Trouble> {
        let key = shapes_id(&said.key)?.to_string();
        if self.key().is_some_and(|own| own.to_string() == key) {
            return Err(Trouble::wrong("a key cannot vouch for itself"));
        }
        let announce = self.announce_of(&key).await?;
        let announce = announce.ok_or_else(|| {
            Trouble::wrong("this key has announced nothing here yet, and a vouch is said of an announce")
        })?;
        let label = if said.undo { "unvouch" } else { "vouch" };
        self.reacted(&announce, json!({ "label": label }), Own::Fine).await
    }
}

fn is_post(event: &Value) -> bool {
    matches!(event["kind"].as_str(), Some("ask" | "post" | DIGEST))
}

/// Evidence in the recommended shape, with the hash of what is attached.
fn evidence(said: &EvidenceSaid, attached: Option<&Attached>) -> Result<Value, Trouble> {
    if said.detail.trim().is_empty() {
        return Err(Trouble::wrong("`evidence.detail` says what you ran, and what came out"));
    }
    let mut json = serde_json::to_value(said).map_err(|e| Trouble::Broken(e.to_string()))?;
    if let Some(attached) = attached {
        json["blob"] = json!(shapes_id(&attached.blob)?);
    }
    Ok(json)
}

fn ids(given: &[String]) -> Result<Vec<String>, Trouble> {
    given.iter().map(|id| shapes_id(id).map(|id| id.to_string())).collect()
}

fn put<T: Serialize>(event: &mut Value, name: &str, items: Vec<T>) {
    if !items.is_empty() {
        event[name] = json!(items);
    }
}

fn put_text(event: &mut Value, words: Option<String>) {
    if let Some(words) = words {
        event["text"] = words.into();
    }
}
