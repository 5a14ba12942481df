//! What the threads of a node share.

use super::admission::Weighty;
use super::metrics::Metrics;
use super::outcome::Unavailable;
use super::wait::Subscriptions;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use wats_config::{Limits, Storage};
use wats_event::{Hex32, Rules};
use wats_model::clock::Clock;
use wats_store::Store;
use wats_store::blobs::Blobs;

/// Networks of a node that has none configured: each takes memory for good, and anybody may name a new one.
pub(crate) const NETWORKS: usize = 1_024;

/// How far a node is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It reads its store.
    Loading,
    /// It takes events in and answers.
    Ready,
    /// It finishes what it began.
    Stopping,
    /// A part of it failed: it must be started again.
    Failed,
}

/// The state that the threads of a node share.
#[derive(Debug)]
pub struct NodeState {
    /// Events, views and blobs on the disk.
    pub store: Arc<Store>,
    /// What it asks of events.
    pub rules: Rules,
    /// Its bounds.
    pub limits: Limits,
    /// What time it is.
    pub clock: Clock,
    /// What it counts.
    pub metrics: Metrics,
    /// Its blobs.
    pub blobs: Blobs,
    /// The keys with weight.
    pub weighty: Weighty,
    phase: AtomicU8,
    /// Records of the sequence that were read while loading, and how many there are.
    pub loaded: AtomicU64,
    /// See [`NodeState::loaded`].
    pub to_load: AtomicU64,
    /// The disk has too little room.
    pub disk_low: AtomicBool,
    /// The last place that is durable.
    pub durable: AtomicU64,
    /// The last place that the views have taken in.
    pub shown: AtomicU64,
    /// Those who wait for events.
    pub waiters: Arc<Subscriptions>,
    /// Roots of threads for which another entry is shown than was told.
    changed_roots: Mutex<HashSet<(String, Hex32)>>,
    /// The networks that are carried, where none are configured.
    carried: Mutex<HashSet<Box<str>>>,
    failure: Mutex<Option<String>>,
    /// When the engine's thread last gave a sign of life.
    alive: Mutex<Instant>,
}

impl NodeState {
    /// A core that is loading.
    pub fn new(store: Arc<Store>, rules: Rules, limits: Limits, clock: Clock) -> NodeState {
        NodeState {
            blobs: Blobs::new(store.blob_files(), Storage::default()),
            store,
            rules,
            limits,
            clock,
            metrics: Metrics::default(),
            weighty: Weighty::default(),
            phase: AtomicU8::new(0),
            loaded: AtomicU64::new(0),
            to_load: AtomicU64::new(0),
            disk_low: AtomicBool::new(false),
            durable: AtomicU64::new(0),
            shown: AtomicU64::new(0),
            waiters: Arc::default(),
            changed_roots: Mutex::default(),
            carried: Mutex::default(),
            failure: Mutex::new(None),
            alive: Mutex::new(Instant::now()),
        }
    }

    /// With a budget for its blobs.
    #[must_use]
    pub fn keeping(mut self, storage: Storage) -> NodeState {
        self.blobs = Blobs::new(self.store.blob_files(), storage);
        self
    }

    /// How far it is.
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Loading,
            1 => Phase::Ready,
            2 => Phase::Stopping,
            _ => Phase::Failed,
        }
    }

    /// Moves on; a phase never goes back.
    pub fn enter(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
    }

    /// A part of the node failed: it says why, and the node will stop.
    pub fn fail(&self, part: &str, why: &dyn std::fmt::Display) {
        tracing::error!(part, why = %why, "a part of the node failed; it must be started again");
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| format!("{part}: {why}"));
        self.enter(Phase::Failed);
    }

    /// Another entry, or none, is shown for these roots now.
    pub fn roots_changed(&self, roots: impl IntoIterator<Item = (String, Hex32)>) {
        self.changed_roots.lock().unwrap_or_else(PoisonError::into_inner).extend(roots);
    }

    /// The roots that changed since the last time.
    pub fn take_changed_roots(&self) -> HashSet<(String, Hex32)> {
        std::mem::take(&mut *self.changed_roots.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether events of a network are taken in: the rules say so where networks are configured, and otherwise the
    /// first `NETWORKS` are.
    pub fn carries(&self, network: &str) -> bool {
        if self.rules.networks.is_some() {
            return true;
        }
        let mut carried = self.carried.lock().unwrap_or_else(PoisonError::into_inner);
        carried.contains(network) || (carried.len() < NETWORKS && carried.insert(network.into()))
    }

    /// The engine's thread lives.
    pub fn lives(&self) {
        *self.alive.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// How long ago the engine's thread last gave a sign of life.
    pub fn silent(&self) -> Duration {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// Why it failed.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Why events are not taken in now, when they are not.
    pub fn refuses(&self) -> Option<Unavailable> {
        match self.phase() {
            Phase::Loading => Some(Unavailable::Loading),
            Phase::Stopping => Some(Unavailable::Stopping),
            Phase::Failed => Some(Unavailable::Failed),
            Phase::Ready if self.disk_low.load(Ordering::Relaxed) => Some(Unavailable::DiskFull),
            Phase::Ready => None,
        }
    }
}
