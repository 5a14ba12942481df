//! `[node]` and `[limits]`: where a node listens, what it may use, and its bounds.

use super::ConfigError;
use super::value::Values;
use crate::Limits;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
use toml::Spanned;
use toml::de::DeValue;
use wats_model::fixed::ONE;

/// Where a node listens, and what it may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeConfig {
    /// The address for clients: the loopback unless told otherwise.
    pub listen: SocketAddr,
    /// A file with the token that a client must show to write; from the node's directory on.
    pub token_file: Option<PathBuf>,
    /// Workers of the dataflow.
    pub workers: usize,
    /// Blocks of the store kept in memory, in bytes.
    pub cache_bytes: usize,
    /// Writes of the store kept in memory, in bytes.
    pub write_buffer_bytes: usize,
}

impl Default for NodeConfig {
    fn default() -> NodeConfig {
        NodeConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7878)),
            token_file: None,
            workers: 1,
            cache_bytes: 64 << 20,
            write_buffer_bytes: 64 << 20,
        }
    }
}

const NODE: &str = "listen, token_file, workers, cache_bytes and write_buffer_bytes";
const LIMITS: &str = "body_bytes, body_lines, waiting_bytes, patience, requests, source_per_second, source_burst, \
    key_per_second, key_burst, min_free_disk, hide_below and head_start";

/// Overrides what `[node]` names.
pub(super) fn read(
    values: &Values<'_>,
    table: &Spanned<DeValue<'_>>,
    node: &mut NodeConfig,
) -> Result<(), ConfigError> {
    for (key, value) in values.table(table, "node")? {
        let name = key.get_ref().as_ref();
        let bytes = |least: u64| values.count(value, name, least..=1 << 40).map(|n| n as usize);
        match name {
            "listen" => {
                let text = values.text(value, name)?;
                let form =
                    "`listen` must be an address and a port, like \"127.0.0.1:7878\" or \"[::1]:7878\"";
                node.listen = text.parse().map_err(|_| values.wrong(value, form))?;
            }
            "token_file" => node.token_file = Some(values.text(value, name)?.into()),
            "workers" => node.workers = values.count(value, name, 1..=crate::MAX_WORKERS as u64)? as usize,
            "cache_bytes" => node.cache_bytes = bytes(1 << 20)?,
            "write_buffer_bytes" => node.write_buffer_bytes = bytes(1 << 20)?,
            other => return Err(values.unknown(key, other, NODE)),
        }
    }
    Ok(())
}

/// Overrides what `[limits]` names.
pub(super) fn read_limits(
    values: &Values<'_>,
    table: &Spanned<DeValue<'_>>,
    limits: &mut Limits,
) -> Result<(), ConfigError> {
    for (key, value) in values.table(table, "limits")? {
        let name = key.get_ref().as_ref();
        let count = |range| values.count(value, name, range);
        let rate = || count(0..=1_000_000_000).map(|n| n as u32);
        match name {
            "body_bytes" => limits.body_bytes = count(1 << 10..=1 << 40)?,
            "body_lines" => limits.body_lines = count(1..=10_000_000)? as usize,
            "waiting_bytes" => limits.waiting_bytes = count(1 << 20..=1 << 32)? as usize,
            "patience" => limits.patience = Duration::from_millis(values.span(value, name, 0)?.0),
            "requests" => limits.requests = count(1..=65_536)? as usize,
            "source_per_second" => limits.source_per_second = rate()?,
            "source_burst" => limits.source_burst = rate()?,
            "key_per_second" => limits.key_per_second = rate()?,
            "key_burst" => limits.key_burst = rate()?,
            "min_free_disk" => limits.min_free_disk = count(0..=1 << 50)?,
            "hide_below" => limits.hide_below = values.fixed(value, name, 0..=1_000 * ONE.0)?,
            "head_start" => limits.head_start = Duration::from_millis(values.span(value, name, 0)?.0),
            other => return Err(values.unknown(key, other, LIMITS)),
        }
    }
    Ok(())
}
