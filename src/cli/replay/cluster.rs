//! `wats replay --processes N --process I`.

use super::super::span;
use std::path::PathBuf;
use std::time::Duration;
use wats_engine::cluster::{Cluster, HostsError, MAX_PROCESSES, loopback, read_hosts};
use wats_model::ids::Millis;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Several processes")]
pub(super) struct Args {
    /// Share the work with other processes, N in all, that replay the same logs (see below)
    #[arg(long, value_name = "N", requires = "process",
          value_parser = clap::value_parser!(u16).range(1..=MAX_PROCESSES as i64))]
    processes: Option<u16>,
    /// Which of them this is, from 0; the first one shows the result
    #[arg(long, value_name = "I", requires = "processes")]
    process: Option<u16>,
    /// Where they listen: a file with one HOST:PORT a line [default: 127.0.0.1:2101 and following]
    #[arg(long, value_name = "FILE", requires = "processes")]
    hosts: Option<PathBuf>,
    /// How long to wait for the others to come up, like 30s or 5m
    #[arg(long, value_name = "SPAN", requires = "processes", default_value = "60s", value_parser = span)]
    wait: Millis,
}

/// Why the processes cannot be as the command line says.
#[derive(Debug, thiserror::Error)]
pub(super) enum Wrong {
    #[error("--process {process}: {processes} processes are numbered 0 to {last}", last = processes - 1)]
    Process { process: u16, processes: u16 },
    #[error(transparent)]
    Hosts(#[from] HostsError),
}

impl Args {
    /// The cluster, when there is to be one.
    pub(super) fn cluster(&self, workers: usize) -> Result<Option<Cluster>, Wrong> {
        let (Some(processes), Some(process)) = (self.processes, self.process) else {
            return Ok(None);
        };
        if process >= processes {
            return Err(Wrong::Process { process, processes });
        }
        let addresses = match &self.hosts {
            Some(file) => read_hosts(file, usize::from(processes))?,
            None => loopback(usize::from(processes)),
        };
        let wait = Duration::from_millis(self.wait.0);
        Ok(Some(Cluster { process: usize::from(process), addresses, workers, wait }))
    }

    /// Whether this process shows what comes out.
    pub(super) fn shows(&self) -> bool {
        self.process.is_none_or(|process| process == 0)
    }
}

/// How processes share the work, at the end of `--help`.
pub(super) const HELP: &str = "\
Several processes:
  Each is given the same logs, configuration and options, reads all of it, and evaluates its
  share; the answer is the same as that of one. On two machines, with the two addresses in hosts:

    wats replay log.jsonl --json --processes 2 --process 0 --hosts hosts   # shows the result
    wats replay log.jsonl --json --processes 2 --process 1 --hosts hosts   # shows nothing

  --workers is for each process. What they send each other is neither signed nor encrypted: use
  addresses that nobody else can reach. When one is gone or was given other records, all end with
  an error; one that stands still is waited for. --explain needs all of the state in one process.";
