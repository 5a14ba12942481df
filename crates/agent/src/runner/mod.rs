//! A heartbeat for agents that have none of their own: it runs the operator's command when there is something
//! to do, within a time limit and a budget.
//!
//! ```text
//!  news for the agent, or a post that nobody checked ─▶ ledger ─▶ command ─▶ result ─▶ a signed react
//! ```
//!
//! The command gets one JSON document on its standard input and writes one to its standard output; what it
//! may do on this machine is for the operator to decide. Neither the runner nor the node runs evidence.

pub mod command;
pub mod ledger;

use crate::mcp::responses::{Detail, NOTICE, Post};
use crate::mcp::verify::{CheckOutcome, CheckReport, Task};
use crate::mcp::write_tools::{EvidenceKind, EvidenceSaid};
use crate::mcp::{Agent, Trouble};
use command::CommandError;
use ledger::{Budget, Ledger, Purpose};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use wats_api::client::{ClientError, path};
use wats_config::AgentConfig;
use wats_event::excerpt::readable;
use wats_files::{new_private_file, private_directory};
use wats_model::clock::Clock;
use wats_model::ids::Millis;

/// Characters of a result's evidence.
const DETAIL: usize = 2_000;
/// Bytes of an output that are attached.
const OUTPUT: usize = 1 << 20;
/// Asks of one task, at most.
const ASKS: u32 = 20;
/// Pages of asks of one heartbeat, at most.
const PAGES: usize = 10;
/// Tries of a task about the same news, within a day.
const TRIES: usize = 3;

/// Why the runner cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// Another one runs.
    #[error("another runner works for {}: stop it first", .0.display())]
    Another(PathBuf),
    /// A file of its own.
    #[error("{}: {cause}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// There is nothing to run.
    #[error("no command is configured: set `command` in `[agent]`, as in `command = [\"my-agent\"]`")]
    NoCommand,
    /// The network or the node.
    #[error(transparent)]
    Agent(#[from] Trouble),
}

/// A runner.
#[derive(Debug)]
pub struct Runner {
    agent: Agent,
    config: AgentConfig,
    ledger: Ledger,
    directory: PathBuf,
    clock: Clock,
    stop: CancellationToken,
}

/// What was done in a heartbeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Beat {
    /// Tasks about news.
    pub news: u32,
    /// Posts that were checked, by what came of it.
    pub confirmed: u32,
    /// And so on.
    pub contradicted: u32,
    /// Where nothing was said.
    pub unsure: u32,
    /// Tasks that failed.
    pub failed: u32,
    /// Tasks that the budget had no room for.
    pub deferred: u32,
}

/// What a command says of a check.
#[derive(Debug, Deserialize)]
struct Checked {
    outcome: CheckOutcome,
    #[serde(rename = "type")]
    kind: Option<EvidenceKind>,
    detail: Option<String>,
    env: Option<String>,
    /// What it wrote, to be attached: such evidence weighs more.
    output: Option<String>,
}

impl Runner {
    /// A runner for an agent; `directory` is where it remembers things.
    ///
    /// # Errors
    /// When another one has that directory, or nothing is configured.
    pub fn new(
        agent: Agent,
        config: AgentConfig,
        directory: PathBuf,
        clock: Clock,
        stop: CancellationToken,
    ) -> Result<Runner, RunnerError> {
        if config.command.is_empty() {
            return Err(RunnerError::NoCommand);
        }
        let ledger = Ledger::open(&directory, clock.now())?;
        Ok(Runner { agent, config, ledger, directory, clock, stop })
    }

    /// Beats until it is told to stop.
    ///
    /// # Errors
    /// When it cannot write down what it does; what the node or a command fails at is logged.
    pub async fn run(&mut self) -> Result<(), RunnerError> {
        while !self.stop.is_cancelled() {
            match self.beat().await {
                Ok(beat) if beat == Beat::default() => tracing::debug!("nothing to do"),
                Ok(beat) => tracing::info!(?beat, "did what there was"),
                Err(RunnerError::Agent(error)) => tracing::warn!(%error, "the node cannot be asked"),
                Err(e) => return Err(e),
            }
            let every = Duration::from_millis(self.config.every.0);
            tokio::select! {
                () = self.stop.cancelled() => {}
                () = tokio::time::sleep(every) => {}
            }
        }
        Ok(())
    }

    /// Does what there is to do: news first, then, where the operator wants it, what nobody checked.
    ///
    /// # Errors
    /// When the node cannot be asked, or what is done cannot be written down.
    pub async fn beat(&mut self) -> Result<Beat, RunnerError> {
        let mut beat = Beat::default();
        self.news(&mut beat).await?;
        if self.config.verify && !self.stop.is_cancelled() {
            self.verify(&mut beat).await?;
        }
        Ok(beat)
    }

    /// Asks that name the agent, or what it can do, since the last time. Where the budget has no room for
    /// them, or the command fails, they stay news; but after some tries it goes on without them.
    async fn news(&mut self, beat: &mut Beat) -> Result<(), RunnerError> {
        let file = self.directory.join("cursor");
        for _ in 0..PAGES {
            let cursor = std::fs::read_to_string(&file).ok().filter(|cursor| !cursor.is_empty());
            let page = self.agent.asks(cursor.as_deref()).await?;
            let for_me: Vec<&Value> = page.asks.iter().filter(|ask| self.concerns(ask)).collect();
            let about = format!("news:{}", cursor.unwrap_or_default());
            if !for_me.is_empty() && self.ledger.times(&about) < TRIES {
                let asks: Vec<Post> = for_me.iter().map(|ask| Post::read(ask, Detail::Full)).collect();
                let task = json!({ "task": "news", "network": self.agent.network(), "notice": NOTICE,
                    "asks": asks });
                match self.spend(Purpose::News, Some(about), &task).await? {
                    None => {
                        beat.deferred += 1;
                        return Ok(());
                    }
                    Some(Ok(_)) => beat.news += 1,
                    Some(Err(error)) => {
                        tracing::warn!(%error, "a task about news failed");
                        beat.failed += 1;
                        return Ok(());
                    }
                }
            }
            remember(&file, &page.cursor)?;
            if !page.more || self.stop.is_cancelled() {
                break;
            }
        }
        Ok(())
    }

    fn concerns(&self, ask: &Value) -> bool {
        let holds = |name: &str, wanted: &dyn Fn(&str) -> bool| {
            ask[name].as_array().is_some_and(|all| all.iter().any(|item| item.as_str().is_some_and(wanted)))
        };
        let key = self.agent.own_key();
        // Nobody answers itself.
        if ask["author"].as_str() == key.as_deref() {
            return false;
        }
        holds("to", &|to| Some(to) == key.as_deref())
            || holds("tags", &|tag| self.config.capabilities.iter().any(|can| can == tag))
    }

    /// Checks what nobody checked, each post at most once a day.
    async fn verify(&mut self, beat: &mut Beat) -> Result<(), RunnerError> {
        let tried: BTreeSet<String> = self.ledger.about().into_iter().map(str::to_owned).collect();
        let tasks = self.agent.to_verify(&self.config.capabilities, Some(20)).await?;
        let fresh = tasks.into_iter().filter(|task| !tried.contains(task.id()));
        for task in fresh.take(self.config.verify_tasks) {
            if self.stop.is_cancelled() {
                break;
            }
            self.check(&task, beat).await?;
        }
        Ok(())
    }

    async fn check(&mut self, task: &Task, beat: &mut Beat) -> Result<(), RunnerError> {
        let given = json!({ "task": "verify", "notice": NOTICE, "network": self.agent.network(), "post": task.post,
            "ask": task.ask, "settles": task.settles });
        let result = match self.spend(Purpose::Verify, Some(task.id().to_owned()), &given).await? {
            None => {
                beat.deferred += 1;
                return Ok(());
            }
            Some(Ok(result)) => result,
            Some(Err(error)) => {
                tracing::warn!(post = task.id(), %error, "a check failed");
                beat.failed += 1;
                return Ok(());
            }
        };
        let report = match serde_json::from_value::<Checked>(result) {
            Ok(checked) => self.report(task, checked).await?,
            Err(error) => {
                tracing::warn!(post = task.id(), %error, "a result that is none: nothing is said");
                beat.failed += 1;
                return Ok(());
            }
        };
        let outcome = report.outcome;
        if let Err(error) = self.agent.report(report).await {
            tracing::warn!(post = task.id(), %error, "what came of a check could not be said");
            beat.failed += 1;
            return Ok(());
        }
        match outcome {
            CheckOutcome::Success => beat.confirmed += 1,
            CheckOutcome::Failure => beat.contradicted += 1,
            CheckOutcome::Unsure => beat.unsure += 1,
        }
        Ok(())
    }

    /// What is said of a check. One that does not say how it knows is unsure. Where the node has no room
    /// for the output it is said without.
    async fn report(&self, task: &Task, checked: Checked) -> Result<CheckReport, RunnerError> {
        let detail = checked.detail.map(|detail| readable(&detail, DETAIL).0);
        let detail = detail.filter(|detail| !detail.trim().is_empty());
        let outcome = if detail.is_some() { checked.outcome } else { CheckOutcome::Unsure };
        let env = checked.env.map(|env| readable(&env, DETAIL).0);
        let kind = checked.kind.unwrap_or(EvidenceKind::Run);
        let evidence = detail.map(|detail| EvidenceSaid { kind, detail, env });
        let output = checked.output.filter(|output| outcome != CheckOutcome::Unsure && !output.is_empty());
        let attachment = match output {
            None => None,
            Some(mut output) => {
                output.truncate(output.floor_char_boundary(OUTPUT));
                let name = Some("output.txt".to_owned());
                let kept = self.agent.keep(output.into_bytes(), name, Some("text/plain".to_owned())).await;
                kept.inspect_err(|error| tracing::warn!(%error, "the output is not attached")).ok()
            }
        };
        Ok(CheckReport { id: task.id().to_owned(), outcome, evidence, attachment })
    }

    /// Runs the command, where the budget has room for its limit; what it took is written down.
    async fn spend(
        &mut self,
        purpose: Purpose,
        about: Option<String>,
        task: &Value,
    ) -> Result<Option<Result<Value, CommandError>>, RunnerError> {
        let budget = Budget { all: self.config.budget, verify: self.config.verify_share };
        let limit = self.config.time_limit;
        let Some(number) = self.ledger.begin(purpose, about, limit, budget, self.clock.now())? else {
            return Ok(None);
        };
        let (command, task, stop) = (self.config.command.clone(), task.clone(), self.stop.clone());
        let began = Instant::now();
        let running = tokio::task::spawn_blocking(move || {
            command::run(&command, &task, Duration::from_millis(limit.0), &|| stop.is_cancelled())
        });
        let result = running.await.unwrap_or_else(|e| Err(CommandError::Failed(e.to_string())));
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.ledger.end(number, Millis(took))?;
        Ok(Some(result))
    }
}

/// Replaces a small file as a whole.
fn remember(file: &Path, text: &str) -> Result<(), RunnerError> {
    let beside = file.with_extension("new");
    let failed = |cause| RunnerError::File { file: file.to_owned(), cause };
    if let Some(directory) = file.parent() {
        private_directory(directory).map_err(failed)?;
    }
    // Left by one who died.
    let _ = std::fs::remove_file(&beside);
    new_private_file(&beside, text.as_bytes()).map_err(failed)?;
    std::fs::rename(&beside, file).map_err(failed)
}

/// Asks that came in, and where to go on.
#[derive(Clone, Debug, Default)]
pub struct Asks {
    asks: Vec<Value>,
    cursor: String,
    /// Whether there are more at once.
    more: bool,
}

impl Agent {
    /// The asks since a cursor; from now on without one, or where it is of another store.
    async fn asks(&self, cursor: Option<&str>) -> Result<Asks, Trouble> {
        let query = [
            ("network", Some(self.network().to_owned())),
            ("kind", Some("ask".to_owned())),
            ("as", self.own_key()),
            ("timeout", Some("0".to_owned())),
            ("limit", Some(ASKS.to_string())),
            ("cursor", cursor.map(str::to_owned)),
        ];
        let page = match self.way().get(&path("/v1/wait", &query)).await {
            Err(ClientError::Refused { status: 400 | 410, .. }) if cursor.is_some() => {
                return Box::pin(self.asks(None)).await;
            }
            page => page?,
        };
        let asks = page["events"].as_array().cloned().unwrap_or_default();
        let cursor = page["cursor"].as_str().unwrap_or_default().to_owned();
        Ok(Asks { asks, cursor, more: page["more"] == true })
    }
}
