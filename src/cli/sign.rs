//! `wats sign`

use super::{FileError, Outcome};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use wats_event::{Draft, MAX_BYTES, Secret};
use wats_model::clock::Clock;

/// Sign an event: the unsigned JSON object on standard input, the signed one on standard output
///
/// `v`, `author` and `created_at` are filled where they are missing; `id` and `sig` are set.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The secret key, as `wats keygen` wrote it
    #[arg(long, value_name = "FILE", env = "WATS_KEY", default_value = "wats.key")]
    key: PathBuf,
    /// Look for a `nonce` that gives the id so many leading zero bits
    #[arg(long, value_name = "BITS", value_parser = clap::value_parser!(u16).range(0..=64))]
    pow: Option<u16>,
}

/// The longest key file, in bytes.
const MAX_KEY: u64 = 4096;

pub(super) fn run(args: &Args) -> Outcome {
    let failed = |what: String| FileError::new(&args.key, what);
    let text = wats_config::read_capped(&args.key, MAX_KEY)
        .map_err(|e| failed(format!("the key cannot be read: {e}; `wats keygen` makes one")))?;
    let secret = Secret::from_key_file(&text).map_err(|e| failed(e.to_string()))?;

    let mut unsigned = Vec::new();
    // One byte more than an event may have tells that it has too many.
    std::io::stdin().take(MAX_BYTES as u64 + 1).read_to_end(&mut unsigned)?;
    let draft = Draft::read(&unsigned)?.created_by_default(Clock::Wall.now());
    let signed = match args.pow {
        Some(bits) => draft.mine(&secret, bits)?,
        None => draft.sign(&secret)?,
    };
    writeln!(anstream::stdout(), "{signed}")?;
    Ok(ExitCode::SUCCESS)
}
