//! `wats backup`

use super::home::HomeArgs;
use super::{FileError, Outcome};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wats::files::{new_private_file, private_directory};
use wats::home::Home;
use wats::store::{Sizes, Store};

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
    private_directory(&to).map_err(|e| FileError::new(&to, e))?;
    let copy = Home::new(&to);
    match args.home.running()? {
        Some(mut node) => {
            let document = serde_json::json!({ "directory": copy.store() });
            node.post("/admin/checkpoint", &document)?;
        }
        None if home.store().exists() => {
            Store::open(&home.store(), Sizes::default())?.checkpoint(&copy.store())?;
        }
        None => return Err(FileError::new(&home.store(), "there is no store").into()),
    }
    copy_files(&home, &copy)?;
    let mut out = anstream::stdout();
    match args.json {
        true => writeln!(out, "{}", serde_json::json!({ "directory": to }))?,
        false => writeln!(out, "{}: a copy; `wats node --dir` runs on it", to.display())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The configuration and the keys: small files that only the owner may read.
fn copy_files(home: &Home, copy: &Home) -> Result<(), FileError> {
    let one = |from: &Path, to: &Path| {
        let content = std::fs::read(from).map_err(|e| FileError::new(from, e))?;
        new_private_file(to, &content).map_err(|e| FileError::new(to, e))
    };
    if home.config_file().exists() {
        one(&home.config_file(), &copy.config_file())?;
    }
    if home.profiles().exists() {
        let profiles = copy.profiles();
        private_directory(&profiles).map_err(|e| FileError::new(&profiles, e))?;
        let keys = std::fs::read_dir(home.profiles()).map_err(|e| FileError::new(&home.profiles(), e))?;
        for key in keys.flatten() {
            one(&key.path(), &profiles.join(key.file_name()))?;
        }
    }
    Ok(())
}
