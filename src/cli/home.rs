//! Where a node's directory is, for the commands that need it.

use super::FileError;
use clap::ValueHint;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use wats_api::client::{Client, ClientError, Node};
use wats_config::home::{Home, HomeError};
use wats_config::{Config, Network};
use wats_engine::explain::MIN_DIGITS;
use wats_event::Hex32;
use wats_store::{Sizes, Store};

/// The node's directory
#[derive(Clone, Debug, clap::Args)]
pub(super) struct HomeArgs {
    /// The node's directory [default: the user's data directory, and `wats` in it]
    #[arg(long, value_name = "DIR", env = "WATS_DIR", value_hint = ValueHint::DirPath)]
    dir: Option<PathBuf>,
    /// The configuration [default: wats.toml in the node's directory]
    #[arg(long, value_name = "FILE", env = "WATS_CONFIG", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
    /// Override a key of the configuration, like limits.key_burst=100; WATS_LIMITS_KEY_BURST=100 does too
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
}

fn setting(text: &str) -> Result<(String, String), String> {
    let split = text.split_once('=').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
    split.ok_or_else(|| "KEY=VALUE, like limits.key_burst=100".to_owned())
}

/// Variables of their own for what is set the most.
const SHORT: [(&str, &str); 3] = [
    ("WATS_LISTEN", "node.listen"),
    ("WATS_TOKEN_FILE", "node.token_file"),
    ("WATS_WORKERS", "node.workers"),
];

/// What the environment overrides: `WATS_LIMITS_KEY_BURST` is `limits.key_burst`. The short names come
/// first, so that a long one wins.
fn of_environment() -> Vec<(String, String, String)> {
    let tables = [
        ("WATS_NODE_", "node"),
        ("WATS_LIMITS_", "limits"),
        ("WATS_STORAGE_", "storage"),
        ("WATS_POLICY_", "policy"),
        ("WATS_AGENT_", "agent"),
    ];
    let of = |(name, value): (String, String)| {
        let (table, key) =
            tables.iter().find_map(|(prefix, table)| Some((table, name.strip_prefix(prefix)?)))?;
        Some((format!("{table}.{}", key.to_ascii_lowercase()), value, name))
    };
    let short =
        |(name, key): (&str, &str)| Some((key.to_owned(), std::env::var(name).ok()?, name.to_owned()));
    // Variables that are not UTF-8 are none of ours.
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let mut all: Vec<_> = std::env::vars_os().filter_map(text).filter_map(of).collect();
    all.sort();
    SHORT.into_iter().filter_map(short).chain(all).collect()
}

impl HomeArgs {
    /// The same directory and configuration, for another process.
    pub(super) fn again(&self, home: &Home) -> Vec<OsString> {
        let mut arguments = vec!["--dir".into(), home.path().into()];
        if let Some(file) = &self.config {
            arguments.extend(["--config".into(), file.into()]);
        }
        for (name, value) in &self.set {
            arguments.extend(["--set".into(), format!("{name}={value}").into()]);
        }
        arguments
    }

    /// The directory.
    pub(super) fn home(&self) -> Result<Home, String> {
        let given = self.dir.clone().map(Home::new);
        given
            .or_else(Home::usual)
            .ok_or_else(|| "name the node's directory: --dir DIR, or WATS_DIR".to_owned())
    }

    /// The configuration: what --set says, over what the environment says, over the file that is named or
    /// the one in the directory, over the defaults.
    pub(super) fn configured(&self, home: &Home) -> Result<Config, HomeError> {
        let mut config = match &self.config {
            Some(file) => Config::load(file)?,
            None => home.config()?,
        };
        for (name, value, variable) in of_environment() {
            config.set(&name, &value, &variable)?;
        }
        self.overridden(config)
    }

    /// A configuration, and what --set says over it.
    pub(super) fn overridden(&self, mut config: Config) -> Result<Config, HomeError> {
        for (name, value) in &self.set {
            config.set(name, value, "--set")?;
        }
        Ok(config)
    }

    /// The file of the configuration: the one that is named, or the one in the directory.
    pub(super) fn config_file(&self, home: &Home) -> PathBuf {
        self.config.clone().unwrap_or_else(|| home.config_file())
    }

    /// What holds what a node holds: the running node, or its store, which no node runs on.
    pub(super) fn held(&self, home: &Home) -> Result<Held, Box<dyn std::error::Error>> {
        if let Some(node) = self.running()? {
            return Ok(Held::Node(node));
        }
        let store = home.store();
        match store.exists() {
            true => Ok(Held::Store(Store::open(&store, Sizes::default())?)),
            false => Err(FileError::new(&store, "there is no store").into()),
        }
    }

    /// The running node, by its socket.
    pub(super) fn client(&self) -> Result<Client, Box<dyn std::error::Error>> {
        Ok(Client::connect(Node::Socket(self.home()?.socket()))?)
    }

    /// The running node, if one runs.
    pub(super) fn running(&self) -> Result<Option<Client>, Box<dyn std::error::Error>> {
        match Client::connect(Node::Socket(self.home()?.socket())) {
            Ok(client) => Ok(Some(client)),
            Err(ClientError::Connect { .. }) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }
}

/// What holds what a node holds.
pub(super) enum Held {
    /// It runs.
    Node(Client),
    /// Its store, held by nobody else.
    Store(Store),
}

/// Removes what doctors that were interrupted left in a node's directory: copies of its store, which
/// keep files on the disk that the store has long let go of.
pub(super) fn sweep(home: &Home) {
    // Where nobody tells which processes live, nothing is known to be left.
    let (Ok(entries), true) = (std::fs::read_dir(home.path()), Path::new("/proc/self").exists()) else {
        return;
    };
    let own = std::process::id().to_string();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix("doctor-"));
        let digits = |pid: &&str| !pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit());
        let Some(pid) = pid.filter(digits) else {
            continue;
        };
        // This process has made none yet: one of its number is of another before it.
        let lives = pid != own && Path::new("/proc").join(pid).exists();
        if !lives && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            // What cannot be removed now is in nobody's way, and is tried again.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// A network of the running node
#[derive(Clone, Debug, clap::Args)]
pub(super) struct InNetwork {
    #[command(flatten)]
    pub home: HomeArgs,
    /// In this network [default: the one that is configured]
    #[arg(long, value_name = "NAME")]
    pub network: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// An id on the command line: all of its digits, or the first 8 or more.
pub(super) fn digits(text: &str) -> Result<String, String> {
    let digits = text.to_ascii_lowercase();
    let fits = (MIN_DIGITS..=64).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    fits.then_some(digits).ok_or_else(|| "an id is 64 hex digits, or the first 8 or more of them".to_owned())
}

/// The event that is named by [`digits`].
pub(super) fn event(node: &mut Client, digits: &str) -> Result<Hex32, Box<dyn std::error::Error>> {
    if let Some(id) = Hex32::parse(digits) {
        return Ok(id);
    }
    let found = node.get(&format!("/admin/events/{digits}"))?;
    Ok(found["id"].as_str().and_then(Hex32::parse).ok_or("the node names no event")?)
}

/// The network that is named, or the one that is configured.
pub(super) fn network<'c>(config: &'c Config, name: Option<&str>) -> Result<&'c Network, String> {
    let all = config.networks.as_deref().unwrap_or_default();
    match (name, all) {
        (Some(name), _) => {
            let found = all.iter().find(|network| network.id == name);
            found.ok_or_else(|| format!("network `{name}` is not configured"))
        }
        (None, [one]) => Ok(one),
        (None, []) => Err("no network is configured; `wats init` makes a configuration".to_owned()),
        (None, _) => Err("several networks are configured: name one with --network".to_owned()),
    }
}
