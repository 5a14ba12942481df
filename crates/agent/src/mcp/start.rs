//! Starts a node where none runs: clients come one process each, and the store admits one.

use hyper::Method;
use hyper::body::Bytes;
use serde_json::Value;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wats_api::client::{self, ClientError, Node};
use wats_config::home::Home;

/// How often it is looked whether the node is there.
const LOOK: Duration = Duration::from_millis(50);
/// How long it may take to say whether it is ready.
const ANSWER: Duration = Duration::from_secs(2);
/// How often it is tried to start one, and after how long again.
const SPAWNS: u32 = 4;
const AGAIN: Duration = Duration::from_secs(2);

/// A log that is longer begins anew at the next start, in bytes.
const MAX_LOG: u64 = 16 << 20;

/// What starts a node.
#[derive(Debug)]
pub struct Starter {
    home: Home,
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Starter {
    /// Starts the node of a directory with a program and its arguments.
    pub fn new(home: Home, program: PathBuf, arguments: Vec<OsString>) -> Starter {
        Starter { home, program, arguments }
    }

    /// Where the node is.
    pub fn node(&self) -> Node {
        Node::Socket(self.home.socket())
    }

    /// Waits until a node is ready, and starts one where none runs. Of many who start at the same time
    /// one does.
    ///
    /// # Errors
    /// When it cannot be started, or is not ready in time.
    pub async fn start(&self, patience: Duration) -> Result<(), ClientError> {
        let until = Instant::now() + patience;
        // The process with the next turn finds a node running, or sees that it ended.
        let Some(_held) = self.turn(until).await? else {
            return Ok(());
        };
        let mut left = SPAWNS;
        loop {
            match self.ready().await {
                Ok(_) => return Ok(()),
                Err(ClientError::Connect { .. }) => {
                    tracing::info!(home = %self.home.path().display(), "no node runs: one is started");
                    let child = self.spawn().map_err(|cause| self.failed(&cause))?;
                    left -= 1;
                    match self.wait_for(child, until).await {
                        // One that is about to stop may hold the store for a moment.
                        Err(_) if left > 0 && Instant::now() < until => tokio::time::sleep(AGAIN).await,
                        waited => return waited,
                    }
                }
                // It reads its store, or is busy; should it die, the next look finds nobody there.
                Err(_) => self.in_time(until).await?,
            }
        }
    }

    /// The turn to start a node, held by a lock on a file; none when a node runs by now.
    async fn turn(&self, until: Instant) -> Result<Option<File>, ClientError> {
        let path = self.home.path().join("starting.lock");
        let file = private(&path, false).map_err(|cause| self.failed(&cause))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(file)),
                // A waiting process waits for a node, and may find one before.
                Err(std::fs::TryLockError::WouldBlock) if self.ready().await.is_ok() => return Ok(None),
                Err(std::fs::TryLockError::WouldBlock) if Instant::now() < until => {
                    tokio::time::sleep(LOOK).await;
                }
                Err(e) => return Err(self.failed(&e.into())),
            }
        }
    }

    async fn ready(&self) -> Result<Value, ClientError> {
        let node = self.node();
        let asked = client::ask(&node, Method::GET, "/readyz", "", Bytes::new());
        // One that dies at this moment may never answer.
        let late = |_| ClientError::Broken("the node does not say whether it is ready".to_owned());
        tokio::time::timeout(ANSWER, asked).await.map_err(late)?
    }

    /// A process of its own group, which outlives this one; it logs beside its store.
    fn spawn(&self) -> io::Result<std::process::Child> {
        if std::fs::metadata(self.log()).is_ok_and(|log| log.len() > MAX_LOG) {
            std::fs::remove_file(self.log())?;
        }
        let log = private(&self.log(), true)?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        command.process_group(0).spawn()
    }

    fn log(&self) -> PathBuf {
        self.home.path().join("node.log")
    }

    async fn wait_for(&self, mut child: std::process::Child, until: Instant) -> Result<(), ClientError> {
        loop {
            if let Ok(Some(status)) = child.try_wait() {
                let what = format!("it ended ({status}); {} says why", self.log().display());
                return Err(self.failed(&io::Error::other(what)));
            }
            if self.ready().await.is_ok() {
                // This process reaps the node, however it ends: else it would stay behind as a zombie.
                std::thread::spawn(move || child.wait());
                return Ok(());
            }
            self.in_time(until).await?;
        }
    }

    async fn in_time(&self, until: Instant) -> Result<(), ClientError> {
        if Instant::now() >= until {
            let what = "it is still reading its store; try again in a while";
            return Err(self.failed(&io::Error::new(io::ErrorKind::TimedOut, what)));
        }
        tokio::time::sleep(LOOK).await;
        Ok(())
    }

    fn failed(&self, cause: &io::Error) -> ClientError {
        let at = self.home.path().display().to_string();
        ClientError::Connect { at, cause: io::Error::new(cause.kind(), cause.to_string()) }
    }
}

/// A file that only its owner may read.
fn private(path: &Path, append: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).append(append).create(true).truncate(false).mode(0o600).open(path)
}
