//! How much of anything a node takes: every bound in one place, with a default that works.

use std::time::Duration;
use wats_model::fixed::Fixed;
use wats_model::ids::Millis;

/// The most workers of an engine.
pub const MAX_WORKERS: usize = 64;

/// The bounds of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one request's body, streamed.
    pub body_bytes: u64,
    /// Lines of one request's body.
    pub body_lines: usize,
    /// Bytes of events that wait to be written, half of which are for keys with weight.
    pub waiting_bytes: usize,
    /// How long an event waits for room before its client is told to come again.
    pub patience: Duration,
    /// Requests that are worked on at a time.
    pub requests: usize,
    /// Events a second of one address (of one /64 in IPv6), over time.
    pub source_per_second: u32,
    /// Events of one address at once.
    pub source_burst: u32,
    /// Events a second of one key, over time; ten times as many of a key with weight.
    pub key_per_second: u32,
    /// Events of one key at once.
    pub key_burst: u32,
    /// Bytes of free disk below which nothing is taken in.
    pub min_free_disk: u64,
    /// Authors whose reputation is below this are left out of searches and waits, unless asked for.
    pub hide_below: Fixed,
    /// How long an ask that names keys or capabilities is held back from others who wait.
    pub head_start: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body_bytes: 64 << 20,
            body_lines: 10_000,
            waiting_bytes: 32 << 20,
            patience: Duration::from_secs(2),
            requests: 256,
            // The steady rate that a node of a million events is measured for: no source alone outruns
            // the views.
            source_per_second: 1_000,
            source_burst: 20_000,
            key_per_second: 100,
            key_burst: 5_000,
            min_free_disk: 128 << 20,
            hide_below: Fixed::ZERO,
            head_start: Duration::from_secs(10),
        }
    }
}

/// The least an event counts for in [`Limits::waiting_bytes`]: what it takes besides its text.
pub const LEAST_BYTES: usize = 1 << 10;

/// How much blobs may take up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Storage {
    /// Bytes that blobs never take up more than: what comes then must be worth more than what goes.
    pub high_water: u64,
    /// Bytes that are left when blobs were evicted.
    pub low_water: u64,
    /// Bytes of one blob.
    pub blob_bytes: u64,
    /// Bytes of the blobs that one key named first; ten times as many for a key with weight, and no limit
    /// for an own profile.
    pub key_bytes: u64,
    /// Bytes of all blobs that are charged to no key.
    pub unattached_bytes: u64,
    /// How long a blob that is charged to no key is safe from others like it.
    pub unattached_for: Millis,
    /// Uploads at a time; no address has more than half of them.
    pub uploads: usize,
    /// Uploads that broke off and may be resumed.
    pub unfinished: usize,
    /// For how long they may be.
    pub unfinished_for: Millis,
}

impl Default for Storage {
    fn default() -> Storage {
        Storage {
            high_water: 10 << 30,
            low_water: 9 << 30,
            blob_bytes: 64 << 20,
            key_bytes: 1 << 30,
            unattached_bytes: 512 << 20,
            unattached_for: Millis::HOUR,
            uploads: 64,
            unfinished: 256,
            unfinished_for: Millis::HOUR,
        }
    }
}
