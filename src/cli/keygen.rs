//! `wats keygen`

use super::{FileError, Outcome};
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use wats_event::Secret;

/// Make a secret key, write it to a file, and print its public key
///
/// The file is readable by its owner alone. A file that exists is never overwritten.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where to write the secret key
    #[arg(value_name = "FILE", env = "WATS_KEY", default_value = "wats.key")]
    key: PathBuf,
    /// Print a JSON object instead of a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|e| format!("no randomness for a key: {e}"))?;
    let secret = Secret::from_seed(seed);
    write(args, &secret)?;
    let public = secret.public();
    let mut out = anstream::stdout();
    if args.json {
        let answer = serde_json::json!({ "public": public, "file": args.key.to_string_lossy() });
        writeln!(out, "{answer}")?;
    } else {
        writeln!(out, "{public}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(args: &Args, secret: &Secret) -> Result<(), FileError> {
    let failed = |e: std::io::Error| match e.kind() {
        ErrorKind::AlreadyExists => {
            FileError::new(&args.key, "exists, and keys are not overwritten; name another file")
        }
        _ => FileError::new(&args.key, format_args!("the key cannot be written: {e}")),
    };
    wats_files::new_private_file(&args.key, secret.to_key_file().as_bytes()).map_err(failed)
}
