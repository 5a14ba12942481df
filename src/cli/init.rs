//! `wats init`

use super::home::HomeArgs;
use super::{FileError, Outcome};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use wats_config::{Config, Network, print};
use wats_event::Secret;
use wats_files::{new_private_file, private_directory};

/// Make a node's directory: a configuration, and a key of your own in a network
///
/// What is there already is left as it is.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
    /// The network to join
    #[arg(long, value_name = "NAME", default_value = "main")]
    network: String,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Outcome {
    let home = args.home.home()?;
    let file = args.home.config_file(&home);
    if file.exists() {
        return Err(FileError::new(&file, "is there already; edit it, or name another directory").into());
    }
    if !wats_event::fields::is_network(&args.network) {
        return Err(format!(
            "`{}` is no name of a network: 1 to 64 of a-z, 0-9, `.`, `_` and `-`",
            args.network
        )
        .into());
    }
    let failed = |path: &std::path::Path| {
        let path = path.to_owned();
        move |e: std::io::Error| FileError::new(&path, e)
    };
    // What is wrong with --set is said before anything is made.
    let mut config = args.home.overridden(Config::default())?;
    private_directory(home.path()).map_err(failed(home.path()))?;
    let profiles = home.profiles();
    private_directory(&profiles).map_err(failed(&profiles))?;
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|e| format!("no randomness for a key: {e}"))?;
    let secret = Secret::from_seed(seed);
    let key = profiles.join(format!("{}.key", args.network));
    new_private_file(&key, secret.to_key_file().as_bytes()).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => FileError::new(&key, "is there already, and keys are not overwritten"),
        _ => FileError::new(&key, e),
    })?;
    let network = Network {
        id: args.network.clone(),
        profiles: vec![secret.public()],
        distrusted: Vec::new(),
        pow_bits: 0,
    };
    config.networks = Some(vec![network]);
    new_private_file(&file, print(&config).as_bytes()).map_err(|e| {
        // No configuration names it, and it would be in the way of the next attempt.
        let _ = std::fs::remove_file(&key);
        failed(&file)(e)
    })?;
    let mut out = anstream::stdout();
    if args.json {
        let answer = serde_json::json!({
            "directory": home.path().display().to_string(),
            "network": args.network,
            "profile": secret.public(),
        });
        writeln!(out, "{answer}")?;
    } else {
        writeln!(
            out,
            "{}: a node of `{}`, whose reader is {}",
            home.path().display(),
            args.network,
            secret.public()
        )?;
        writeln!(out, "`wats node` starts it.")?;
    }
    Ok(ExitCode::SUCCESS)
}
