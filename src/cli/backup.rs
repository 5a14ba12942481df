//! `wats backup`

use super::home::{Held, HomeArgs};
use super::{FileError, Outcome};
use std::error::Error;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use wats_config::Config;
use wats_config::home::Home;
use wats_files::{new_private_file, private_directory};

/// Copy a node's directory, while it runs or not: its store as of now, its configuration and keys
///
/// The copy is a node's directory itself. On the same file system it costs next to nothing.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
    /// Where to; nothing may be there
    #[arg(value_name = "DIRECTORY")]
    to: PathBuf,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Outcome {
    let home = args.home.home()?;
    let to = std::path::absolute(&args.to)?;
    if to.exists() {
        return Err(FileError::new(&to, "is there already; a backup goes where nothing is").into());
    }
    let config = args.home.configured(&home)?;
    // Not before there is something to copy.
    let held = args.home.held(&home)?;
    private_directory(&to).map_err(|e| FileError::new(&to, e))?;
    let copied = copy(args, &home, &config, held, &Home::new(&to));
    if copied.is_err() {
        // Half a copy would be taken for a backup.
        let _ = std::fs::remove_dir_all(&to);
    }
    copied?;
    let mut out = anstream::stdout();
    match args.json {
        true => writeln!(out, "{}", serde_json::json!({ "directory": to }))?,
        false => writeln!(out, "{}: a copy; `wats node --dir` runs on it", to.display())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn copy(args: &Args, home: &Home, config: &Config, held: Held, copy: &Home) -> Result<(), Box<dyn Error>> {
    match held {
        Held::Node(mut node) => {
            let document = serde_json::json!({ "directory": copy.store() });
            node.post("/admin/checkpoint", &document)?;
        }
        Held::Store(store) => store.checkpoint(&copy.store())?,
    }
    let file = args.home.config_file(home);
    if file.exists() {
        one(&file, &copy.config_file())?;
    }
    if home.profiles().exists() {
        let (from, to) = (home.profiles(), copy.profiles());
        private_directory(&to).map_err(|e| FileError::new(&to, e))?;
        let keys = std::fs::read_dir(&from).map_err(|e| FileError::new(&from, e))?;
        for key in keys.flatten() {
            one(&key.path(), &to.join(key.file_name()))?;
        }
    }
    token(home, config, copy)
}

/// The token, where it lies in the directory: one from elsewhere is no part of it.
fn token(home: &Home, config: &Config, copy: &Home) -> Result<(), Box<dyn Error>> {
    let within = |file: &&PathBuf| {
        file.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    };
    let Some(file) = config.node.token_file.as_ref().filter(within) else {
        return Ok(());
    };
    let (from, to) = (home.path().join(file), copy.path().join(file));
    if !from.exists() || to.exists() {
        return Ok(());
    }
    if let Some(directory) = to.parent() {
        private_directory(directory).map_err(|e| FileError::new(directory, e))?;
    }
    Ok(one(&from, &to)?)
}

/// A small file that only the owner may read.
fn one(from: &Path, to: &Path) -> Result<(), FileError> {
    let content = std::fs::read(from).map_err(|e| FileError::new(from, e))?;
    new_private_file(to, &content).map_err(|e| FileError::new(to, e))
}
