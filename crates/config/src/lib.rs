//! The configuration file, in TOML: the networks a node carries, and its policy.
//!
//! ```toml
//! [[network]]
//! id = "main"
//! profiles = ["8db03df7…"]   # the reader's own keys, 64 hex digits each; none by default
//! distrusted = ["e6e48e44…"] # keys that the reader will not hear; none by default
//! pow_bits = 6               # required work; 0 by default
//!
//! [policy]                   # any constant of the specification, by its name in `Policy`
//! base_use = 0.8             # quantities: decimal numbers, exact to nine digits
//! half_life = "180d"         # spans: "d", "h", "m", "s" or "ms"
//! max_reacts = 64            # counts: integers
//!
//! [node]                     # where a node listens, and what it may use; see `wats config --print`
//! listen = "127.0.0.1:7878"
//!
//! [limits]                   # bounds of a node
//! key_per_second = 100
//!
//! [storage]                  # how much blobs may take up
//! high_water = 10737418240
//!
//! [agent]                    # what `wats runner` runs
//! command = ["my-agent"]
//! ```
//!
//! A file without a network carries every network that its events name, without profiles. Nothing is
//! read as a floating-point number: the digits of the file are the digits of the fixed-point number.

mod agent;
pub mod home;
mod limits;
mod node;
mod policy;
mod print;
mod storage;
mod token;
mod value;

pub use agent::{AgentConfig, MAX_SHARE};
pub use limits::{LEAST_BYTES, Limits, MAX_WORKERS, Storage};
pub use node::NodeConfig;
pub use print::print;
pub use token::Token;
pub use value::decimal;

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use value::Values;
use wats_event::{Hex32, Rules};
use wats_model::ids::Millis;
use wats_model::policy::Policy;

/// A node's configuration.
///
/// [`Config::set`] is how command lines and the environment override it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// The networks it carries; `None` carries every network, without profiles or required work.
    pub networks: Option<Vec<Network>>,
    /// The constants of sections 2 to 8.
    pub policy: Policy,
    /// Where a node listens, and what it may use.
    pub node: NodeConfig,
    /// The bounds of a node.
    pub limits: Limits,
    /// How much blobs may take up.
    pub storage: Storage,
    /// What the runner runs.
    pub agent: AgentConfig,
}

/// A network, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// Its name.
    pub id: String,
    /// The reader's own keys in it.
    pub profiles: Vec<Hex32>,
    /// The keys that this reader will not hear (section 3, *Distrusted keys*); none of them a profile.
    pub distrusted: Vec<Hex32>,
    /// The work it requires, in leading zero bits.
    pub pow_bits: u32,
}

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{file}: cannot be read: {cause}")]
    Read {
        /// The file.
        file: String,
        /// Why not.
        cause: std::io::Error,
    },
    /// The file says something that cannot be.
    #[error("{file}:{line}: {what}")]
    Wrong {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what would be right.
        what: String,
    },
}

/// The tables whose keys can be overridden one by one.
const TABLES: [&str; 5] = ["node", "limits", "policy", "agent", "storage"];

/// The longest configuration file, in bytes.
pub const MAX_CONFIG: u64 = 1 << 20;

/// Reads a text file of at most `most` bytes: what is named may be a device that never ends.
///
/// # Errors
/// When it cannot be read, is not UTF-8 or is longer.
pub fn read_capped(path: &Path, most: u64) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(most + 1).read_to_string(&mut text)?;
    match text.len() as u64 > most {
        true => Err(io::Error::new(io::ErrorKind::InvalidData, format!("it is longer than {most} bytes"))),
        false => Ok(text),
    }
}

impl Config {
    /// Reads a configuration file.
    ///
    /// # Errors
    /// When it cannot be read, is not TOML, has an unknown key or an impossible value: names the key
    /// and the line.
    pub fn load(path: &Path) -> Result<Config, ConfigError> {
        let file = path.display().to_string();
        match read_capped(path, MAX_CONFIG) {
            Ok(text) => Config::parse(&text, &file),
            Err(cause) => Err(ConfigError::Read { file, cause }),
        }
    }

    /// Reads a configuration from its text; `file` is what errors call it.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse(text: &str, file: &str) -> Result<Config, ConfigError> {
        let mut config = Config::default();
        config.apply(text, file)?;
        Ok(config)
    }

    /// Overrides what a text names.
    fn apply(&mut self, text: &str, file: &str) -> Result<(), ConfigError> {
        let values = Values { text, file };
        let table = DeTable::parse(text).map_err(|e| {
            let at = e.span().map_or(0, |span| span.start);
            values.wrong_at(at, e.message())
        })?;
        for (key, value) in table.get_ref() {
            match key.get_ref().as_ref() {
                "network" => self.networks = Some(networks(&values, value)?),
                "policy" => policy::read(&values, value, &mut self.policy)?,
                "node" => node::read(&values, value, &mut self.node)?,
                "limits" => node::read_limits(&values, value, &mut self.limits)?,
                "storage" => storage::read(&values, value, &mut self.storage)?,
                "agent" => agent::read(&values, value, &mut self.agent)?,
                other => {
                    let known = "`network`, `policy`, `node`, `limits`, `storage` and `agent`";
                    return Err(values.unknown(key, other, known));
                }
            }
        }
        Ok(())
    }

    /// Overrides one key of `[node]`, `[limits]`, `[storage]`, `[policy]` or `[agent]`, as in
    /// `limits.key_burst`; `from` is what
    /// errors call it. The value is as in the file, and a text needs no quotes.
    ///
    /// # Errors
    /// When there is no such key, or the value is impossible.
    pub fn set(&mut self, name: &str, value: &str, from: &str) -> Result<(), ConfigError> {
        let file = from.to_owned();
        let wrong = |what: &str| ConfigError::Wrong { file, line: 1, what: what.to_owned() };
        let Some((table, key)) = name.split_once('.').filter(|(table, _)| TABLES.contains(table)) else {
            return Err(wrong(
                "name a key like `limits.key_burst`, of `node`, `limits`, `storage`, `policy` or `agent`",
            ));
        };
        let plain = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !plain(key) || value.contains(['\n', '\r']) {
            return Err(wrong("a key is of a-z and `_`, and a value stands on one line"));
        }
        let bare = format!("{table}.{key} = {value}");
        match DeTable::parse(&bare) {
            Ok(_) => self.apply(&bare, from),
            Err(_) => self.apply(&format!("{table}.{key} = {}", toml_text(value)), from),
        }
    }

    /// What this node asks of events.
    pub fn rules(&self) -> Rules {
        let of = |n: &Network| (n.id.clone(), n.pow_bits);
        Rules { networks: self.networks.as_ref().map(|list| list.iter().map(of).collect()) }
    }
}

/// A text as TOML writes it.
fn toml_text(text: &str) -> String {
    let escaped: String = text
        .chars()
        .map(|c| match c {
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
            c => c.to_string(),
        })
        .collect();
    format!("\"{escaped}\"")
}

/// Reads a span as the configuration writes it: `180d`, `12h`, `90m`, `30s` or `500ms`.
pub fn span(text: &str) -> Option<Millis> {
    value::milliseconds(text).map(Millis)
}

fn networks(values: &Values<'_>, list: &Spanned<DeValue<'_>>) -> Result<Vec<Network>, ConfigError> {
    let mut networks: Vec<Network> = Vec::new();
    for item in values.array(list, "network", "tables, written `[[network]]`")? {
        let network = network(values, item)?;
        if networks.iter().any(|other| other.id == network.id) {
            return Err(values.wrong(item, format!("network `{}` is there twice", network.id)));
        }
        networks.push(network);
    }
    Ok(networks)
}

fn network(values: &Values<'_>, item: &Spanned<DeValue<'_>>) -> Result<Network, ConfigError> {
    let table = values.table(item, "[[network]]")?;
    let mut id = None;
    let mut network =
        Network { id: String::new(), profiles: Vec::new(), distrusted: Vec::new(), pow_bits: 0 };
    let mut distrusted = Vec::new();
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "id" => id = Some(values.network_id(value)?),
            "profiles" => network.profiles = names(keys(values, value, "profiles")?),
            "distrusted" => distrusted = keys(values, value, "distrusted")?,
            "pow_bits" => network.pow_bits = values.count(value, "pow_bits", 0..=256)? as u32,
            other => {
                return Err(values.unknown(key, other, "`id`, `profiles`, `distrusted` and `pow_bits`"));
            }
        }
    }
    if let Some((own, at)) = distrusted.iter().find(|(key, _)| network.profiles.contains(key)) {
        let what = format!("`distrusted` names {own}, one of `profiles`: take it out of one of the two");
        return Err(values.wrong_at(*at, what));
    }
    network.distrusted = names(distrusted);
    network.id = id.ok_or_else(|| values.wrong(item, "a network without `id`"))?;
    Ok(network)
}

/// A key, and the byte of the file at which it stands.
type KeyAt = (Hex32, usize);

/// Public keys, each once.
fn keys(values: &Values<'_>, list: &Spanned<DeValue<'_>>, name: &str) -> Result<Vec<KeyAt>, ConfigError> {
    let mut keys: Vec<KeyAt> = Vec::new();
    let mut seen = HashSet::new();
    for item in values.array(list, name, "keys")? {
        let key = item.get_ref().as_str().and_then(Hex32::parse).ok_or_else(|| {
            values.wrong(item, format!("each of `{name}` must be a public key of 64 lower-case hex digits"))
        })?;
        if seen.insert(key) {
            keys.push((key, item.span().start));
        }
    }
    Ok(keys)
}

fn names(keys: Vec<KeyAt>) -> Vec<Hex32> {
    keys.into_iter().map(|(key, _)| key).collect()
}
