//! A node within the test: a directory of its own, a port of its own, and a clock that the test sets.
#![allow(dead_code, reason = "each test takes what it needs")]

use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wats_config::Limits;
use wats_config::{Config, Network};
use wats_event::{Draft, Hex32, Secret};
use wats_generate::{Generator, Plan, Said};
use wats_model::clock::Clock;
use wats_model::ids::Millis;
use wats_node::{Node, NodeError, Phase, Settings};
use wats_store::{Seq, Sizes, Store, StoreError};

/// When tests begin.
pub(crate) const START: Millis = Millis(1_767_225_600_000);

/// An empty directory of a test's own.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("node").join(name);
    // Left over from an earlier run, or not there.
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a directory");
    dir
}

/// The secret of a key.
pub(crate) fn secret(key: u16) -> Secret {
    let mut seed = [3; 32];
    seed[..2].copy_from_slice(&key.to_le_bytes());
    Secret::from_seed(seed)
}

/// Signs an event; its id and its text.
pub(crate) fn signed_in(net: &str, key: u16, at: Millis, mut event: Value) -> (Hex32, String) {
    event["v"] = 1.into();
    event["net"] = net.into();
    event["created_at"] = at.0.into();
    event["author"] = secret(key).public().to_string().into();
    let draft = event.to_string();
    let text = Draft::read(draft.as_bytes()).and_then(|d| d.sign(&secret(key))).expect("an event");
    let signed: Value = serde_json::from_str(&text).expect("JSON");
    (Hex32::parse(signed["id"].as_str().expect("an id")).expect("hex"), text)
}

/// A post of a key.
pub(crate) fn post_of(key: u16, at: Millis, text: &str) -> (Hex32, String) {
    signed_in("main", key, at, json!({ "kind": "post", "text": text }))
}

/// A react of a key.
pub(crate) fn react_of(key: u16, at: Millis, on: Hex32, data: Value) -> (Hex32, String) {
    signed_in("main", key, at, json!({ "kind": "react", "parent": on, "data": data }))
}

/// A network whose reader is a key.
pub(crate) fn network(id: &str, reader: Hex32) -> Network {
    Network { id: id.into(), profiles: vec![reader], distrusted: Vec::new(), pow_bits: 0 }
}

/// `main`, read by key 1, without limits on who sends.
pub(crate) fn settings(dir: &Path) -> Settings {
    let config = Config { networks: Some(vec![network("main", secret(1).public())]), ..Config::default() };
    Settings {
        store: dir.join("store"),
        index: dir.join("index"),
        config,
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        socket: dir.join("sock"),
        token: None,
        limits: Limits {
            source_per_second: 0,
            key_per_second: 0,
            min_free_disk: 0,
            patience: Duration::from_millis(300),
            ..Limits::default()
        },
        workers: 1,
        sizes: Sizes { cache: 8 << 20, writes: 8 << 20 },
        clock: Clock::set_to(START),
        agents: None,
    }
}

/// Opens a store that a node of this test has let go of.
pub(crate) fn open(store: &Path) -> Store {
    patiently(|| Store::open(store, Sizes::default()), is_locked).expect("the store opens")
}

fn is_locked(error: &StoreError) -> bool {
    matches!(error, StoreError::Locked { .. })
}

/// Does it again for a while where a lock is in the way: a process that another test is about to start
/// has copies of the open files of this one for a moment.
fn patiently<T, E>(open: impl Fn() -> Result<T, E>, is_locked: impl Fn(&E) -> bool) -> Result<T, E> {
    let began = Instant::now();
    loop {
        match open() {
            Err(e) if is_locked(&e) && began.elapsed() < Duration::from_secs(10) => {
                std::thread::sleep(Duration::from_millis(20));
            }
            other => return other,
        }
    }
}

/// A running node.
pub(crate) struct Running {
    node: Option<Node>,
    pub settings: Settings,
    pub dir: PathBuf,
}

impl Running {
    pub(crate) fn new(name: &str) -> Running {
        Running::with(name, |_| {})
    }

    /// The same, with other settings.
    pub(crate) fn with(name: &str, change: impl FnOnce(&mut Settings)) -> Running {
        let dir = scratch(name);
        let mut settings = settings(&dir);
        change(&mut settings);
        let mut running = Running { node: None, settings, dir };
        running.start().expect("the node starts");
        running
    }

    /// Starts it again.
    pub(crate) fn start(&mut self) -> Result<(), NodeError> {
        let node = patiently(
            || Node::start(self.settings.clone()),
            |e| matches!(e, NodeError::Store(e) if is_locked(e)),
        )?;
        node.wait_ready()?;
        self.node = Some(node);
        Ok(())
    }

    pub(crate) fn stop(&mut self) {
        self.node.take().expect("it runs").stop().expect("it stops");
    }

    pub(crate) fn node(&self) -> &Node {
        self.node.as_ref().expect("it runs")
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.node().address()
    }

    pub(crate) fn store(&self) -> &Store {
        &self.node().core().store
    }

    pub(crate) fn now(&self) -> Millis {
        self.settings.clock.now()
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, span: Millis) {
        self.settings.clock.set(self.now().after(span));
    }

    /// Waits until a condition holds.
    pub(crate) fn until(&self, what: &str, holds: impl Fn(&Node) -> bool) {
        let began = Instant::now();
        while !holds(self.node()) {
            assert!(began.elapsed() < Duration::from_secs(120), "{what} is still to come");
            assert_eq!(self.node().core().failure(), None);
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits until the views show everything that is held, at the clock's time, or at that of the latest
    /// record where the clock was set back since: what was received has happened.
    pub(crate) fn settle(&self) {
        let records = self.store().records(Seq(0)).map(|item| item.expect("readable").1.received_at());
        let now = records.max().unwrap_or_default().max(self.now());
        self.until("the present", |node| {
            let core = node.core();
            let ticked = core.store.read().ticked().expect("a tick");
            core.phase() == Phase::Ready
                && ticked.through >= Seq(core.durable.load(Ordering::Acquire))
                && ticked.now >= now
        });
    }

    /// Waits until it is settled, and compares its views with a replay of its export.
    pub(crate) fn check(&self) {
        self.settle();
        super::views::assert_views(self.store(), &self.settings.config);
    }

    /// The status that it shows of a post.
    pub(crate) fn status(&self, post: Hex32) -> &'static str {
        let post = self.store().read().post("main", post).expect("readable").expect("a view of the post");
        post.status.name()
    }
}

/// A generated log: its plan, and its events as a client would send them.
pub(crate) fn generated(seed: u64, events: u64) -> (Plan, Vec<String>) {
    let plan =
        Plan { events, seed, start: Millis(START.0 - 60 * Millis::DAY.0), days: 60, ..Plan::default() };
    let texts = Generator::new(&plan).filter_map(|record| match record.said {
        Said::Event(text) => Some(text),
        Said::Blob { .. } => None,
    });
    let texts = texts.collect();
    (plan, texts)
}
