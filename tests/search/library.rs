//! Stores and indexes for tests: events that are said, views that are set, and searches.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use wats_event::{Draft, Event, Hex32, Rules, Secret, check};
use wats_model::fixed::Fixed;
use wats_model::ids::Millis;
use wats_model::views::{Counts, Status};
use wats_search::{Filter, Hit, Index, Page, Request, Search, SearchError, catch_up};
use wats_store::{
    Appender, AuthorRecord, EntryRecord, Group, PostRecord, Seq, Shown, Sizes, Store, TickMark, ViewBatch,
};

/// When it all begins.
pub(crate) const START: u64 = 1_767_225_600_000;

/// An empty directory of a test's own.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("search").join(name);
    // Left over from an earlier run, or not there.
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a directory");
    dir
}

/// A key by number.
pub(crate) fn secret(key: u8) -> Secret {
    Secret::from_seed([key; 32])
}

/// A view of a post.
pub(crate) fn viewed(author: u8, status: Status, score: i64) -> PostRecord {
    PostRecord {
        author: secret(author).public(),
        status,
        score: Fixed(score),
        counts: Counts::default(),
        replicas: 1,
        why: (status == Status::Contested).then(|| "contested: contradicted by 1 key".to_owned()),
    }
}

/// A store, its index, and who searches.
pub(crate) struct Library {
    pub dir: PathBuf,
    pub store: Arc<Store>,
    pub index: Arc<Index>,
    pub search: Search,
    appender: Appender,
    views: ViewBatch,
    now: u64,
}

static TICK: AtomicU64 = AtomicU64::new(1);

impl Library {
    pub(crate) fn new(name: &str) -> Library {
        Library::at(scratch(name))
    }

    /// Opens what is in a directory.
    pub(crate) fn at(dir: PathBuf) -> Library {
        let store = Arc::new(Store::open(&dir.join("store"), Sizes::default()).expect("a store"));
        let index = Arc::new(Index::open(&dir.join("index"), store.id()).expect("an index"));
        let search = Search::new(store.clone(), index.clone(), Fixed::ZERO);
        let appender = Appender::new(store.clone()).expect("a store");
        Library { dir, store, index, search, appender, views: ViewBatch::default(), now: START }
    }

    /// Says an event in a network.
    pub(crate) fn say_in(&mut self, network: &str, key: u8, mut event: Value) -> Hex32 {
        self.now += 60_000;
        event["v"] = 1.into();
        event["net"] = network.into();
        if event.get("created_at").is_none() {
            event["created_at"] = self.now.into();
        }
        let draft = event.to_string();
        let text = Draft::read(draft.as_bytes()).expect("an event").sign(&secret(key)).expect("signed");
        let event: Event = check(text.as_bytes(), Millis(self.now), &Rules::any()).expect("valid");
        self.appender.event(&event, Millis(self.now), &text).expect("a store");
        event.id
    }

    /// Takes in an event that somebody else said.
    pub(crate) fn append(&mut self, event: &Event, received_at: Millis, text: &str) {
        self.appender.event(event, received_at, text).expect("a store");
    }

    pub(crate) fn say(&mut self, key: u8, event: Value) -> Hex32 {
        self.say_in("main", key, event)
    }

    /// A post that says something.
    pub(crate) fn post(&mut self, key: u8, text: &str) -> Hex32 {
        self.say(key, json!({ "kind": "post", "text": text }))
    }

    /// Sets the view of a post.
    pub(crate) fn view(&mut self, id: Hex32, view: &PostRecord) {
        self.views.post("main", id, Some(view)).expect("a view");
    }

    /// Sets the reputation of a key.
    pub(crate) fn reputation(&mut self, key: u8, reputation: i64) {
        let key = secret(key).public();
        let zero = Fixed::ZERO;
        let view = AuthorRecord {
            trust: zero,
            floor: zero,
            weight: zero,
            reputation: Fixed(reputation),
            voice: zero,
            group: Group::Alone(key),
            class: Group::Alone(key),
            origins: Vec::new(),
        };
        self.views.author("main", key, Some(&view)).expect("a view");
    }

    /// Makes an entry of an event.
    pub(crate) fn entry(&mut self, id: Hex32, digest: bool, threads: &[Hex32]) {
        let entry = EntryRecord { threads: threads.to_vec() };
        self.views.entry("main", id, digest, Some(&entry)).expect("a view");
    }

    /// An entry is none any more.
    pub(crate) fn forget_entry(&mut self, id: Hex32, digest: bool) {
        self.views.entry("main", id, digest, None).expect("a view");
    }

    /// What is shown for a thread.
    pub(crate) fn shown(&mut self, root: Hex32, what: Shown, event: Hex32) {
        self.views.shown("main", root, what, Some(event)).expect("a view");
    }

    /// Publishes the views that were set.
    pub(crate) fn publish(&mut self) {
        let tick = TICK.fetch_add(1, Ordering::Relaxed);
        let ticked = TickMark { tick, now: Millis(self.now), through: Seq(0) };
        self.store.publish(&std::mem::take(&mut self.views), ticked).expect("a store");
    }

    /// Makes durable what was said, without indexing it.
    pub(crate) fn commit(&mut self) {
        self.appender.commit().expect("a store");
    }

    /// Makes durable and findable what was said, and publishes the views.
    pub(crate) fn settle(&mut self) {
        self.commit();
        catch_up(&self.store, &self.index).expect("an index");
        self.publish();
    }

    pub(crate) fn ask(&self, request: &Request) -> Result<Page, SearchError> {
        self.search.search(request)
    }

    /// The hits of a query.
    pub(crate) fn hits(&self, query: &str) -> Vec<Hit> {
        self.ask(&all(query)).expect("an answer").hits
    }

    /// Their ids.
    pub(crate) fn find(&self, query: &str) -> Vec<Hex32> {
        self.hits(query).into_iter().map(|hit| hit.id).collect()
    }

    pub(crate) fn find_with(&self, query: &str, filter: Filter) -> Vec<Hex32> {
        let page = self.ask(&Request { filter, ..all(query) }).expect("an answer");
        page.hits.into_iter().map(|hit| hit.id).collect()
    }
}

/// A query for as many hits as a page holds.
pub(crate) fn all(query: &str) -> Request {
    Request { network: "main".into(), query: query.into(), limit: 50, ..Request::default() }
}
