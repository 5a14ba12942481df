//! Where a node's directory is, for the commands that need it.

use clap::ValueHint;
use std::path::PathBuf;
use wats::client::{Client, ClientError, Node};
use wats::config::Config;
use wats::home::{Home, HomeError};

/// The node's directory
#[derive(Clone, Debug, clap::Args)]
pub(super) struct HomeArgs {
    /// The node's directory [default: the user's data directory, and `wats` in it]
    #[arg(long, value_name = "DIR", env = "WATS_DIR", value_hint = ValueHint::DirPath)]
    dir: Option<PathBuf>,
    /// The configuration [default: wats.toml in the node's directory]
    #[arg(long, value_name = "FILE", env = "WATS_CONFIG", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
}

impl HomeArgs {
    /// The directory.
    pub fn home(&self) -> Result<Home, String> {
        let given = self.dir.clone().map(Home::new);
        given
            .or_else(Home::usual)
            .ok_or_else(|| "name the node's directory: --dir DIR, or WATS_DIR".to_owned())
    }

    /// The configuration: of the file that is named, or of the one in the directory.
    pub fn configured(&self, home: &Home) -> Result<Config, HomeError> {
        match &self.config {
            Some(file) => Ok(Config::load(file)?),
            None => home.config(),
        }
    }

    /// The running node, by its socket.
    pub fn client(&self) -> Result<Client, Box<dyn std::error::Error>> {
        Ok(Client::connect(Node::Socket(self.home()?.socket()))?)
    }

    /// The running node, if one runs.
    pub fn running(&self) -> Result<Option<Client>, Box<dyn std::error::Error>> {
        match Client::connect(Node::Socket(self.home()?.socket())) {
            Ok(client) => Ok(Some(client)),
            Err(ClientError::Connect { .. }) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }
}
