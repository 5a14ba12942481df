//! `wats config`

use super::Outcome;
use super::home::HomeArgs;
use std::io::Write;
use std::process::ExitCode;

/// Check the configuration, or print all of it
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
    /// Print every key with what it means and what it is, as a file that reads back
    #[arg(long)]
    print: bool,
}

pub(super) fn run(args: &Args) -> Outcome {
    let home = args.home.home()?;
    let config = args.home.configured(&home)?;
    let mut out = anstream::stdout();
    match args.print {
        true => out.write_all(wats_config::print(&config).as_bytes())?,
        false => writeln!(out, "{}: no error", home.config_file().display())?,
    }
    Ok(ExitCode::SUCCESS)
}
