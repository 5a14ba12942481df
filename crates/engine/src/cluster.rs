//! Several processes as one engine: who they are, how they find each other, what they send.
//!
//! Every process reads the whole log and interns it by itself. Names become integers in the order of
//! the records and of nothing else, so the integers agree everywhere; so do the ticks, which are cut
//! from the same records. Of each tick's changes a process feeds only its share, by place among
//! them. The dataflow exchanges what it must, and the first process is brought all that changed.
//! What each was given is compared at the end of every tick: processes whose logs differ stop.
//!
//! What processes send each other is neither signed nor encrypted, and every host that can connect to their
//! addresses is believed: these belong on a network of the cluster's own.

mod gather;
mod hosts;
mod links;

pub(crate) use gather::{Arrived, Gather, Mark};
pub use hosts::{HostsError, read_hosts};
pub use links::{LinkError, Lost};
pub(crate) use links::{Links, connect};

use std::time::Duration;

/// The most processes of a cluster.
pub const MAX_PROCESSES: usize = 64;

/// The port of the first process where no addresses are given; the others follow.
pub const FIRST_PORT: u16 = 2101;

/// A cluster, as one of its processes sees it.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Which of the processes this is, from 0.
    pub process: usize,
    /// Where each process listens, in their order; there are as many processes.
    pub addresses: Vec<String>,
    /// Workers of each process.
    pub workers: usize,
    /// How long to wait for the others to come up.
    pub wait: Duration,
}

/// Addresses on this machine that no other machine can reach.
pub fn loopback(processes: usize) -> Vec<String> {
    (FIRST_PORT..).take(processes).map(|port| format!("127.0.0.1:{port}")).collect()
}
