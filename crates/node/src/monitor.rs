//! Once a second: the disk, the gauges, and a sign of life for systemd.

use super::state::{NodeState, Phase};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

const BEAT: Duration = Duration::from_secs(1);
/// After so long without a sign of life from the engine's thread, systemd is given none.
const SILENCE: Duration = Duration::from_secs(60);
const NAP: Duration = Duration::from_millis(50);

/// The watching thread's life.
pub(crate) fn run(core: &NodeState, stop: &CancellationToken) {
    let mut told = Phase::Loading;
    while !stop.is_cancelled() {
        look(core);
        told = tell(core, told);
        let next = Instant::now() + BEAT;
        while Instant::now() < next && !stop.is_cancelled() {
            thread::sleep(NAP);
            if core.phase() != told {
                break;
            }
        }
    }
    // Without systemd there is nobody to notify.
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Stopping]);
}

/// Free bytes of the disk that a path is on.
pub fn free_disk(path: &std::path::Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(path).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn look(core: &NodeState) {
    if let Some(free) = free_disk(core.store.directory()) {
        core.metrics.free_disk.set(signed(free));
        let low = free < core.limits.min_free_disk;
        if core.disk_low.swap(low, Ordering::Relaxed) != low {
            match low {
                true => tracing::warn!(
                    free,
                    least = core.limits.min_free_disk,
                    "the disk is nearly full: events are refused"
                ),
                false => tracing::info!(free, "the disk has room again: events are tried again"),
            }
        }
    }
    core.metrics.store_bytes.set(signed(core.store.bytes()));
    let (durable, shown) = (core.durable.load(Ordering::Acquire), core.shown.load(Ordering::Acquire));
    core.metrics.lag.set(signed(durable.saturating_sub(shown)));
    let sums = core.blobs.accounts().sums();
    let high = core.blobs.storage.high_water;
    for (gauge, value) in core.metrics.blobs.iter().zip([sums.blobs, sums.used, high, sums.unattached]) {
        gauge.set(signed(value));
    }
    core.metrics.unfinished.set(signed(core.blobs.uploads.len() as u64));
    core.metrics.ready.set(i64::from(core.refuses().is_none()));
}

fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Tells systemd, when it started this process, and readers of its status.
fn tell(core: &NodeState, told: Phase) -> Phase {
    use sd_notify::NotifyState;
    let phase = core.phase();
    // A large store's last tick of loading may be a long one.
    let alive = phase == Phase::Loading || core.silent() < SILENCE;
    let mut states: Vec<NotifyState<'_>> = alive.then_some(NotifyState::Watchdog).into_iter().collect();
    let loaded = format!(
        "{} of {} records",
        core.loaded.load(Ordering::Relaxed),
        core.to_load.load(Ordering::Relaxed)
    );
    match phase {
        Phase::Loading => states.push(NotifyState::Status(&loaded)),
        Phase::Ready if told != Phase::Ready => {
            states.push(NotifyState::Ready);
            states.push(NotifyState::Status("ready"));
        }
        _ => {}
    }
    let _ = sd_notify::notify(&states);
    phase
}
