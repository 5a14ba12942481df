//! `wats completions` and `wats man`

use super::{Cli, FileError, Outcome};
use clap::CommandFactory;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: clap_complete::Shell,
}

/// Write the manual pages, one for each command
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// The directory to write them to
    #[arg(value_name = "DIRECTORY")]
    to: PathBuf,
}

pub(super) fn completions(args: &CompletionsArgs) -> Outcome {
    // The generator panics where its output is closed.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "wats", &mut text);
    std::io::stdout().lock().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn man(args: &ManArgs) -> Outcome {
    std::fs::create_dir_all(&args.to).map_err(|e| FileError::new(&args.to, e))?;
    clap_mangen::generate_to(Cli::command(), &args.to).map_err(|e| FileError::new(&args.to, e))?;
    Ok(ExitCode::SUCCESS)
}
