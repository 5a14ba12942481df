//! `wats doctor`

use super::Outcome;
use super::home::HomeArgs;
use anstyle::{AnsiColor, Style};
use std::error::Error;
use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use wats::config::Config;
use wats::doctor::{Finding, Mode, State, copy_place, permissions, store};
use wats::home::Home;
use wats::node::Clock;
use wats::store::{Sizes, Store};

/// Examine a node: permissions, disk, clock, every record and blob, and every view against a recompute
///
/// Of a running node a copy of the store is examined, which costs the memory of a second node; repairs
/// of the store need it stopped.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
    /// Put right what can be made again
    #[arg(long)]
    repair: bool,
    /// Say what --repair would do, and do nothing
    #[arg(long, conflicts_with = "repair")]
    dry_run: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Outcome {
    let home = args.home.home()?;
    let config = args.home.configured(&home)?;
    let mode = if args.repair { Mode::Repair } else { Mode::Look };
    let mut found = permissions(&home, &config, mode);
    found.extend(examine(args, &home, &config, mode)?);
    let mut out = anstream::stdout();
    if args.json {
        writeln!(out, "{}", serde_json::json!({ "findings": found }))?;
    } else {
        found.iter().try_for_each(|finding| show(finding, args.dry_run, &mut out))?;
    }
    let well = found.iter().all(|f| matches!(f.state, State::Good | State::Repaired | State::Notice));
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn examine(args: &Args, home: &Home, config: &Config, mode: Mode) -> Result<Vec<Finding>, Box<dyn Error>> {
    if let Some(mut node) = args.home.running()? {
        if mode == Mode::Repair {
            return Err("a node runs on this store: stop it first, then repair".into());
        }
        let copy = copy_place(home);
        node.post("/admin/checkpoint", &serde_json::json!({ "directory": copy }))?;
        let found = Store::open(&copy, Sizes::default())
            .map_err(Into::into)
            .and_then(|copied| store(&Arc::new(copied), config, Clock::Wall.now(), mode));
        std::fs::remove_dir_all(&copy)?;
        return Ok(found?);
    }
    if !home.store().exists() {
        return Err(
            super::FileError::new(&home.store(), "there is no store yet; `wats node` makes one").into()
        );
    }
    let opened = Arc::new(Store::open(&home.store(), Sizes::default())?);
    Ok(store(&opened, config, Clock::Wall.now(), mode)?)
}

fn show(finding: &Finding, dry: bool, out: &mut impl Write) -> std::io::Result<()> {
    let (word, colour) = match finding.state {
        State::Good => ("good", AnsiColor::Green),
        State::Repaired => ("repaired", AnsiColor::Green),
        State::Repairable if dry => ("would repair", AnsiColor::Yellow),
        State::Repairable => ("repairable, with --repair", AnsiColor::Yellow),
        State::Notice => ("notice", AnsiColor::Yellow),
        State::Bad => ("bad", AnsiColor::Red),
    };
    let style = Style::new().fg_color(Some(colour.into()));
    writeln!(out, "{:<12} {style}{word}{style:#}: {}", finding.check, finding.detail)
}
