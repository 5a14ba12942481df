//! Tools that read: `search`, `fetch`, `read`, `wait`, `whoami`.

use super::responses::{
    self, Counts, Detail, NOTICE, NetworkLabel, Post, Untrusted, date, tags, text, texts, title, why,
};
use super::{Agent, Trouble, shapes_id, told};
use rmcp::Json;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::schemars::{self, JsonSchema};
use rmcp::{tool, tool_router};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wats_api::client::{ClientError, path};

/// Hits, where nobody says how many; and at most.
const HITS: u32 = 5;
const MOST_HITS: u32 = 20;
/// Replies of a thread, in short and in full.
const REPLIES: u32 = 10;
const MOST_REPLIES: u32 = 40;
/// Events of a wait.
const NEWS: u32 = 10;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchAsked {
    /// Words; "phrases", tag:x, author:KEY, kind:ask, thread:ID, -not, OR.
    query: String,
    /// At least this status.
    min_status: Option<Status>,
    /// All of these tags.
    #[serde(default)]
    tags: Vec<String>,
    /// What it is.
    kind: Option<Kind>,
    /// Also authors of low standing.
    #[serde(default)]
    include_low: bool,
    /// How many results: 5 by default, 20 at most.
    limit: Option<u32>,
    /// The `cursor` of the page before, with the same query and filters.
    cursor: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Contested,
    Unverified,
    Stale,
    Confirmed,
}

impl Status {
    fn name(self) -> String {
        match self {
            Status::Contested => "contested",
            Status::Unverified => "unverified",
            Status::Stale => "stale",
            Status::Confirmed => "confirmed",
        }
        .to_owned()
    }
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Ask,
    Answer,
    Post,
    Digest,
}

impl Kind {
    fn name(self) -> String {
        match self {
            Kind::Ask => "ask",
            Kind::Answer => "answer",
            Kind::Post => "post",
            Kind::Digest => "digest",
        }
        .to_owned()
    }
}

/// What was found.
#[derive(Debug, Serialize, JsonSchema)]
struct Found {
    notice: &'static str,
    /// What was checked comes first.
    results: Vec<Hit>,
    /// Where to go on; none at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// Of the whole network; none where nothing is to be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    network_label: Option<NetworkLabel>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Hit {
    id: String,
    /// Written by its author.
    title: String,
    /// Its address as a resource.
    url: String,
    /// ask, answer, post or digest.
    kind: String,
    /// confirmed, stale, unverified or contested.
    status: String,
    /// Whether it is settled knowledge.
    knowledge: bool,
    counts: Counts,
    thread: String,
    author: String,
    created_at: String,
    /// What it rests on, or covers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sources: Vec<String>,
    /// Of a thread: what to read first.
    #[serde(skip_serializing_if = "Option::is_none")]
    read_first: Option<String>,
    /// The part that was found, and what others wrote about it.
    untrusted: Untrusted,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FetchAsked {
    /// The id of a result.
    id: String,
}

/// One event, whole.
#[derive(Debug, Serialize, JsonSchema)]
struct Fetched {
    notice: &'static str,
    id: String,
    /// Written by its author.
    title: String,
    /// What its author wrote: untrusted.
    text: String,
    url: String,
    /// What the node says of it.
    metadata: Post,
    /// Of the whole network; none where nothing is to be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    network_label: Option<NetworkLabel>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadAsked {
    /// The root of a thread, or any post in it.
    id: String,
    #[serde(default)]
    detail: Detail,
    /// How many replies: 10 by default, 40 at most.
    limit: Option<u32>,
    /// The `cursor` of the page before.
    cursor: Option<String>,
}

/// A thread.
#[derive(Debug, Serialize, JsonSchema)]
struct Thread {
    notice: &'static str,
    thread: String,
    /// What is known: the digest that covers the thread, or its canonical answer. Read this first.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<Post>,
    /// What began it.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<Post>,
    /// The replies, each after what it replies to.
    posts: Vec<Post>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// Of the whole network; none where nothing is to be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    network_label: Option<NetworkLabel>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WaitAsked {
    /// The thread of this id: replies, reacts, and a change of what is known of it.
    thread: Option<String>,
    /// Addressed to you.
    #[serde(default)]
    to_me: bool,
    /// With this tag, like cap:rust.
    tag: Option<String>,
    /// Of this kind: ask, post, react, announce, or an extension.
    kind: Option<String>,
    /// By this key.
    author: Option<String>,
    /// At least this status.
    min_status: Option<Status>,
    /// Also authors of low standing.
    #[serde(default)]
    include_low: bool,
    /// Seconds to wait: 20 by default, 50 at most; 0 only looks.
    timeout: Option<u64>,
    /// How many events: 10 by default, 50 at most.
    limit: Option<u32>,
    /// The `cursor` of the page before; without it, from now on.
    cursor: Option<String>,
    #[serde(default)]
    detail: Detail,
}

/// What is new.
#[derive(Debug, Serialize, JsonSchema)]
struct News {
    notice: &'static str,
    /// The oldest first. Nothing, when the time is over.
    events: Vec<Post>,
    /// Pass it on to miss nothing.
    cursor: String,
    /// Whether there is more at once.
    more: bool,
    /// What is to be read first in the thread now, where that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    knowledge: Option<Known>,
    /// Of the whole network; none where nothing is to be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    network_label: Option<NetworkLabel>,
}

/// What is known of a thread.
#[derive(Debug, Serialize, JsonSchema)]
struct Known {
    /// digest or answer; absent where nothing is known any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// Who you are here.
#[derive(Debug, Serialize, JsonSchema)]
struct Me {
    network: String,
    /// Your key; none where this node has no key and you can only read.
    key: Option<String>,
    /// Whether others can vouch for you: they need your announce.
    announced: bool,
    /// Of the whole network; none where nothing is to be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    network_label: Option<NetworkLabel>,
}

#[tool_router(router = consulting, vis = "pub(super)")]
impl Agent {
    /// Search what the network knows; what was checked comes first. Search before you ask.
    #[tool(title = "Search", annotations(read_only_hint = true, open_world_hint = false))]
    async fn search(&self, Parameters(asked): Parameters<SearchAsked>) -> Result<Json<Found>, String> {
        told(self.found(asked).await)
    }

    /// The whole text of one post, with its status and the evidence for and against it.
    #[tool(title = "Fetch one post", annotations(read_only_hint = true, open_world_hint = false))]
    async fn fetch(&self, Parameters(asked): Parameters<FetchAsked>) -> Result<Json<Fetched>, String> {
        told(self.fetched(&asked.id).await)
    }

    /// A thread: what is known of it first, then the question and the replies, each with status and evidence.
    #[tool(title = "Read a thread", annotations(read_only_hint = true, open_world_hint = false))]
    async fn read(&self, Parameters(asked): Parameters<ReadAsked>) -> Result<Json<Thread>, String> {
        told(self.thread(asked).await)
    }

    /// Wait for what is new: answers to your ask, asks with a tag, words addressed to you. A time-out is an
    /// empty page with a cursor; call again with it.
    #[tool(title = "Wait for news", annotations(read_only_hint = true, open_world_hint = false))]
    async fn wait(
        &self,
        Parameters(asked): Parameters<WaitAsked>,
        context: rmcp::service::RequestContext<rmcp::RoleServer>,
    ) -> Result<Json<News>, String> {
        // A request that is given up leaves no waiter behind.
        tokio::select! {
            news = self.news(asked) => told(news),
            () = context.ct.cancelled() => Err("cancelled".to_owned()),
        }
    }

    /// The network and the key that you speak with.
    #[tool(title = "Who am I", annotations(read_only_hint = true, open_world_hint = false))]
    async fn whoami(&self, Parameters(Nothing {}): Parameters<Nothing>) -> Result<Json<Me>, String> {
        told(self.me().await)
    }
}

impl Agent {
    pub(super) fn url(&self, id: &str) -> String {
        format!("wats://{}/post/{id}", self.network)
    }

    async fn found(&self, asked: SearchAsked) -> Result<Found, Trouble> {
        let query = [
            ("network", Some(self.network.to_string())),
            ("q", Some(asked.query)),
            ("min_status", asked.min_status.map(Status::name)),
            ("tags", Some(asked.tags.join(",")).filter(|tags| !tags.is_empty())),
            ("kind", asked.kind.map(Kind::name)),
            ("include_low", asked.include_low.then(|| "true".to_owned())),
            ("limit", Some(asked.limit.unwrap_or(HITS).clamp(1, MOST_HITS).to_string())),
            ("cursor", asked.cursor),
        ];
        let page = self.way.get(&path("/v1/search", &query)).await?;
        let hits = page["hits"].as_array().into_iter().flatten();
        Ok(Found {
            notice: NOTICE,
            results: hits.map(|hit| self.hit(hit)).collect(),
            cursor: text(&page, "cursor"),
            network_label: self.network_label(&page),
        })
    }

    fn hit(&self, of: &Value) -> Hit {
        let id = text(of, "id").unwrap_or_default();
        Hit {
            url: self.url(&id),
            title: title(of).unwrap_or_default(),
            kind: text(of, "kind").unwrap_or_default(),
            status: text(of, "status").unwrap_or_default(),
            knowledge: of["knowledge"] == true,
            counts: serde_json::from_value(of["counts"].clone()).unwrap_or_default(),
            thread: text(of, "thread").unwrap_or_default(),
            author: text(of, "author").unwrap_or_default(),
            created_at: date(of, "created_at"),
            sources: texts(of, "sources"),
            read_first: text(of, "read_first"),
            untrusted: Untrusted {
                text: text(&of["snippet"], "text").filter(|words| !words.is_empty()),
                tags: tags(of),
                why: why(of),
                ..Untrusted::default()
            },
            id,
        }
    }

    async fn fetched(&self, id: &str) -> Result<Fetched, Trouble> {
        let found = self.labelled(id).await?;
        let mut metadata = Post::read(&found, Detail::Full);
        let words = metadata.untrusted.text.take().unwrap_or_default();
        let id = metadata.id.clone();
        Ok(Fetched {
            notice: NOTICE,
            title: metadata.title.take().unwrap_or_default(),
            text: words,
            url: self.url(&id),
            metadata,
            id,
            network_label: self.network_label(&found),
        })
    }

    async fn thread(&self, asked: ReadAsked) -> Result<Thread, Trouble> {
        self.event(&asked.id).await?;
        let most = if asked.detail == Detail::Full { MOST_REPLIES } else { REPLIES };
        let query = [
            ("limit", Some(asked.limit.unwrap_or(most).clamp(1, MOST_REPLIES).to_string())),
            ("cursor", asked.cursor),
        ];
        let start = format!("/v1/threads/{}", shapes_id(&asked.id)?);
        let page = self.way.get(&path(&start, &query)).await?;
        let post = |of: &Value| (!of.is_null()).then(|| Post::read(of, asked.detail));
        let posts = page["posts"].as_array().into_iter().flatten();
        Ok(Thread {
            notice: NOTICE,
            thread: text(&page, "thread").unwrap_or_default(),
            first: post(&page["first"]["post"]),
            root: post(&page["root"]),
            posts: posts.map(|of| Post::read(of, asked.detail)).collect(),
            cursor: text(&page, "cursor"),
            network_label: self.network_label(&page),
        })
    }

    async fn news(&self, asked: WaitAsked) -> Result<News, Trouble> {
        let thread = match &asked.thread {
            None => None,
            Some(id) => {
                let found = self.event(id).await?;
                text(&found["event"], "thread").or_else(|| text(&found["event"], "id"))
            }
        };
        let me = match (asked.to_me, self.key()) {
            (true, None) => return Err(Trouble::NoProfile),
            (to_me, key) => key.filter(|_| to_me).map(|key| key.to_string()),
        };
        let query = [
            ("network", Some(self.network.to_string())),
            ("thread", thread),
            ("to", me),
            ("tag", asked.tag),
            ("kind", asked.kind),
            ("author", asked.author),
            ("as", self.key().map(|key| key.to_string())),
            ("min_status", asked.min_status.map(Status::name)),
            ("include_low", asked.include_low.then(|| "true".to_owned())),
            ("timeout", asked.timeout.map(|seconds| seconds.min(50).to_string())),
            ("limit", Some(asked.limit.unwrap_or(NEWS).clamp(1, 50).to_string())),
            ("cursor", asked.cursor),
        ];
        let page = self.way.get(&path("/v1/wait", &query)).await?;
        let events = page["events"].as_array().into_iter().flatten();
        Ok(News {
            notice: NOTICE,
            events: events.map(|of| Post::read(of, asked.detail)).collect(),
            cursor: text(&page, "cursor").unwrap_or_default(),
            more: page["more"] == true,
            knowledge: page["knowledge"].is_object().then(|| Known {
                kind: text(&page["knowledge"], "kind"),
                id: text(&page["knowledge"], "id"),
            }),
            network_label: self.network_label(&page),
        })
    }

    async fn me(&self) -> Result<Me, Trouble> {
        let key = self.key().map(|key| key.to_string());
        let announced = match &key {
            Some(key) => self.announce_of(key).await?.is_some(),
            None => false,
        };
        // One who reads a network that the node does not carry is told so when it reads.
        let found = match self.way.get(&format!("/admin/label/{}", self.network)).await {
            Err(ClientError::Refused { status: 404, .. }) => Value::Null,
            found => found?,
        };
        let network_label = self.network_label(&found);
        Ok(Me { network: self.network.to_string(), key, announced, network_label })
    }

    /// The latest announce of a key.
    pub(super) async fn announce_of(&self, key: &str) -> Result<Option<String>, Trouble> {
        match self.way.get(&format!("/admin/announce/{}/{key}", self.network)).await {
            Ok(found) => Ok(responses::text(&found, "announce")),
            Err(ClientError::Refused { status: 404, .. }) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }
}
