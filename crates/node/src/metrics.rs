//! What the node counts, for `/metrics` and `wats status`. Nothing here is derived from trust.

use super::outcome::{Outcome, Unavailable};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use std::time::Duration;
use tokio::sync::oneshot;
use wats_event::Code;
use wats_store::blobs::Why;

/// An outcome, and the code of a refusal or a wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Of {
    /// `accepted`, `duplicate`, `refused` or `later`.
    pub outcome: &'static str,
    /// Why, where there is a why.
    pub code: &'static str,
}

/// Why a blob went.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct For {
    /// `budget`, `unattached`, `damaged` or `missing`.
    pub why: &'static str,
}

/// What became of an upload.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Upload {
    /// `held`, `present`, `part`, or the code of its problem.
    pub outcome: &'static str,
}

/// The counters and clocks of a node.
#[derive(Debug)]
pub struct Metrics {
    /// Events by outcome.
    pub ingest: Family<Of, Counter>,
    /// Records of one sync.
    pub group: Histogram,
    /// Seconds of one tick of the dataflow, views written.
    pub tick: Histogram,
    /// Milliseconds of the longest tick since it was last set to zero, which only a bench does.
    pub longest_tick: Gauge,
    /// Records of one tick.
    pub tick_records: Histogram,
    /// Views changed.
    pub view_changes: Counter,
    /// Ticks.
    pub ticks: Counter,
    /// Bytes of events that wait to be written, by lane.
    pub waiting: [Gauge; 2],
    /// Records that are durable and not yet in the views.
    pub lag: Gauge,
    /// Groups of records between the writer and the engine.
    pub backlog: Gauge,
    /// Records that are durable, and whose events cannot be found yet.
    pub index_lag: Gauge,
    /// Events in the search index.
    pub index_events: Gauge,
    /// Commits of the search index.
    pub index_commits: Counter,
    /// Bytes of the store's files.
    pub store_bytes: Gauge,
    /// Bytes of free disk.
    pub free_disk: Gauge,
    /// Events held.
    pub events: Gauge,
    /// Whether the node is ready.
    pub ready: Gauge,
    /// Clients that wait for news.
    pub waiters: Gauge,
    /// Blobs held, their bytes, the high-water mark, and bytes that are charged to no key.
    pub blobs: [Gauge; 4],
    /// Uploads that are not finished.
    pub unfinished: Gauge,
    /// Blobs that went.
    pub gone: Family<For, Counter>,
    /// Their bytes.
    pub gone_bytes: Family<For, Counter>,
    /// Uploads.
    pub uploads: Family<Upload, Counter>,
}

impl Default for Metrics {
    fn default() -> Metrics {
        let seconds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 60.0];
        let records = [1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0];
        Metrics {
            ingest: Family::default(),
            group: Histogram::new(records),
            tick: Histogram::new(seconds),
            longest_tick: Gauge::default(),
            tick_records: Histogram::new(records),
            view_changes: Counter::default(),
            ticks: Counter::default(),
            waiting: [Gauge::default(), Gauge::default()],
            lag: Gauge::default(),
            backlog: Gauge::default(),
            index_lag: Gauge::default(),
            index_events: Gauge::default(),
            index_commits: Counter::default(),
            store_bytes: Gauge::default(),
            free_disk: Gauge::default(),
            events: Gauge::default(),
            ready: Gauge::default(),
            waiters: Gauge::default(),
            blobs: Default::default(),
            unfinished: Gauge::default(),
            gone: Family::default(),
            gone_bytes: Family::default(),
            uploads: Family::default(),
        }
    }
}

impl Metrics {
    /// Counts an outcome.
    pub fn count(&self, outcome: &Outcome) {
        let of = Of { outcome: outcome.name(), code: outcome.code().unwrap_or("") };
        self.ingest.get_or_create(&of).inc();
    }

    /// Counts an outcome, and sends it to the waiting client.
    pub fn answer(&self, answer: oneshot::Sender<Outcome>, outcome: Outcome) {
        self.count(&outcome);
        // The client may have gone; the event stays held.
        let _ = answer.send(outcome);
    }

    /// Counts a blob that went.
    pub fn gone(&self, why: Why, bytes: u64) {
        let of = For { why: why.as_str() };
        self.gone.get_or_create(&of).inc();
        self.gone_bytes.get_or_create(&of).inc_by(bytes);
    }

    /// Counts an upload.
    pub fn uploaded(&self, outcome: &'static str) {
        self.uploads.get_or_create(&Upload { outcome }).inc();
    }

    /// How many blobs went, and their bytes.
    pub fn all_gone(&self) -> Vec<(Why, u64, u64)> {
        let of = |why: Why| {
            let name = For { why: why.as_str() };
            Some((why, self.gone.get(&name)?.get(), self.gone_bytes.get(&name)?.get()))
        };
        Why::ALL.into_iter().filter_map(of).collect()
    }

    /// Counts a sync.
    pub fn committed(&self, records: usize) {
        self.group.observe(records as f64);
    }

    /// Counts a tick.
    pub fn ticked(&self, records: usize, changes: usize, took: Duration) {
        self.ticks.inc();
        self.tick.observe(took.as_secs_f64());
        let milliseconds = took.as_millis() as i64;
        if milliseconds > self.longest_tick.get() {
            self.longest_tick.set(milliseconds);
        }
        self.tick_records.observe(records as f64);
        self.view_changes.inc_by(changes as u64);
    }

    /// How many events had each outcome.
    pub fn outcomes(&self) -> Vec<(Of, u64)> {
        let codes = Code::ALL.iter().map(|code| ("refused", code.as_str()));
        let later = Unavailable::ALL.iter().map(|why| ("later", why.as_str()));
        let all = [("accepted", ""), ("duplicate", "")].into_iter().chain(codes).chain(later);
        all.filter_map(|(outcome, code)| {
            let of = Of { outcome, code };
            let count = self.ingest.get(&of)?.get();
            Some((of, count))
        })
        .collect()
    }

    /// All of it, as Prometheus reads it.
    pub fn registry(&self) -> Registry {
        let mut all = Registry::with_prefix("wats");
        all.register("ingest_events", "Events by outcome", self.ingest.clone());
        all.register("ingest_group_records", "Records of one sync", self.group.clone());
        all.register_with_unit(
            "tick",
            "One tick of the dataflow, views written",
            Unit::Seconds,
            self.tick.clone(),
        );
        all.register(
            "tick_longest_milliseconds",
            "The longest tick since the start",
            self.longest_tick.clone(),
        );
        all.register("tick_records", "Records of one tick", self.tick_records.clone());
        all.register("ticks", "Ticks of the dataflow", self.ticks.clone());
        all.register("view_changes", "Changes of views", self.view_changes.clone());
        let [weighty, others] = &self.waiting;
        all.register(
            "waiting_weighty_bytes",
            "Bytes of events that wait, of keys with weight",
            weighty.clone(),
        );
        all.register("waiting_others_bytes", "Bytes of events that wait, of other keys", others.clone());
        all.register(
            "view_lag_records",
            "Durable records that the views have not taken in",
            self.lag.clone(),
        );
        all.register(
            "engine_backlog_groups",
            "Groups of records that wait for the engine",
            self.backlog.clone(),
        );
        all.register(
            "index_lag_records",
            "Durable records whose events cannot be found by a search yet",
            self.index_lag.clone(),
        );
        all.register("index_events", "Events in the search index", self.index_events.clone());
        all.register("index_commits", "Commits of the search index", self.index_commits.clone());
        all.register("store_bytes", "Bytes of the store's files", self.store_bytes.clone());
        all.register("disk_free_bytes", "Bytes of free disk", self.free_disk.clone());
        all.register("events", "Events held", self.events.clone());
        all.register("ready", "Whether the node is ready", self.ready.clone());
        all.register("waiters", "Clients that wait for news", self.waiters.clone());
        let [blobs, bytes, high, unattached] = &self.blobs;
        all.register("blobs", "Blobs held", blobs.clone());
        all.register("blob_bytes", "Bytes of blobs held", bytes.clone());
        all.register("blob_high_water_bytes", "Bytes that blobs never take up more than", high.clone());
        all.register(
            "blob_unattached_bytes",
            "Bytes of blobs that are charged to no key",
            unattached.clone(),
        );
        all.register("blob_uploads_unfinished", "Uploads that are not finished", self.unfinished.clone());
        all.register("blob_uploads", "Uploads by what became of them", self.uploads.clone());
        all.register("blobs_gone", "Blobs that went, by why", self.gone.clone());
        all.register("blobs_gone_bytes", "Bytes of blobs that went, by why", self.gone_bytes.clone());
        all
    }
}
