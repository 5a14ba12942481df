//! A node's directory: where its configuration, its store, its keys and its socket are.

use crate::{Config, ConfigError, Token, read_capped};
use std::io;
use std::path::{Path, PathBuf};
use wats_event::{Hex32, Secret};

/// The longest key or token file, in bytes.
const MAX_SECRET: u64 = 4096;

/// Why something in a node's directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A file.
    #[error("{}: {cause}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A secret that others may read.
    #[error("{}: others than its owner may read it; `chmod 600` it, and make a new one if others did", .0.display())]
    Open(PathBuf),
    /// A secret that is none.
    #[error("{}: {what}", file.display())]
    Secret {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// There is no such profile.
    #[error("no key in {} is a profile of `{network}`: put it there, or make one there with `wats keygen` and name it in `profiles` of that `[[network]]`", profiles.display())]
    NoProfile {
        /// Where keys are looked for.
        profiles: PathBuf,
        /// The network.
        network: String,
    },
}

/// A node's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// A directory.
    pub fn new(directory: impl Into<PathBuf>) -> Home {
        Home(directory.into())
    }

    /// Where this user's node is unless told otherwise; none for a user without a home.
    pub fn usual() -> Option<Home> {
        use etcetera::{BaseStrategy, choose_base_strategy};
        choose_base_strategy().ok().map(|base| Home(base.data_dir().join("wats")))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.0.join("wats.toml")
    }

    /// The store.
    pub fn store(&self) -> PathBuf {
        self.0.join("store")
    }

    /// The search index.
    pub fn index(&self) -> PathBuf {
        self.0.join("index")
    }

    /// The socket for the owner.
    pub fn socket(&self) -> PathBuf {
        self.0.join("wats.sock")
    }

    /// What own keys said of late.
    pub fn outbox(&self) -> PathBuf {
        self.0.join("outbox")
    }

    /// What the runner remembers.
    pub fn runner(&self) -> PathBuf {
        self.0.join("runner")
    }

    /// The own keys, one file each.
    pub fn profiles(&self) -> PathBuf {
        self.0.join("profiles")
    }

    /// The configuration of the file there, or the default when there is none. A link to nothing, and a
    /// file that may not be looked at, are no reason to go on without what they were to say.
    ///
    /// # Errors
    /// When it cannot be used.
    pub fn config(&self) -> Result<Config, HomeError> {
        let file = self.config_file();
        match std::fs::symlink_metadata(&file) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Config::default()),
            _ => Ok(Config::load(&file)?),
        }
    }

    /// Reads a secret that only its owner may read.
    fn secret(file: &Path) -> Result<String, HomeError> {
        let failed = |cause| HomeError::File { file: file.to_owned(), cause };
        if wats_files::is_open_to_others(file).map_err(failed)? {
            return Err(HomeError::Open(file.to_owned()));
        }
        read_capped(file, MAX_SECRET).map_err(failed)
    }

    /// A token's file, taken from this directory on.
    ///
    /// # Errors
    /// When it cannot be read, others may read it, or it is too short.
    pub fn token(&self, file: &Path) -> Result<Token, HomeError> {
        let file = self.0.join(file);
        let text = Home::secret(&file)?;
        let what = format!("a token has at least {} printable characters and no spaces", Token::MIN);
        Token::new(&text).ok_or(HomeError::Secret { file, what })
    }

    /// The key of an own profile in a network: the first of the configured profiles that has a file.
    ///
    /// # Errors
    /// When there is none, or a key file cannot be used.
    pub fn profile(&self, config: &Config, network: &str) -> Result<Secret, HomeError> {
        let configured = config.networks.iter().flatten().filter(|n| n.id == network);
        let wanted: Vec<Hex32> = configured.flat_map(|n| n.profiles.iter().copied()).collect();
        let keys = self.keys()?;
        let found = wanted.iter().find_map(|want| keys.iter().find(|key| key.public() == *want));
        found
            .cloned()
            .ok_or_else(|| HomeError::NoProfile { profiles: self.profiles(), network: network.to_owned() })
    }

    /// All keys there are.
    fn keys(&self) -> Result<Vec<Secret>, HomeError> {
        let directory = self.profiles();
        let failed = |file: &Path| {
            let file = file.to_owned();
            move |cause| HomeError::File { file, cause }
        };
        if !directory.exists() {
            return Ok(Vec::new());
        }
        let mut keys = Vec::new();
        for entry in std::fs::read_dir(&directory).map_err(failed(&directory))? {
            let file = entry.map_err(failed(&directory))?.path();
            if file.extension().is_some_and(|e| e == "key") {
                let text = Home::secret(&file)?;
                let key = Secret::from_key_file(&text);
                keys.push(key.map_err(|e| HomeError::Secret { file, what: e.to_string() })?);
            }
        }
        Ok(keys)
    }
}
