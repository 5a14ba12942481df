//! `wats doctor`

use super::home::{HomeArgs, sweep};
use super::{FileError, Outcome, complain};
use anstyle::{AnsiColor, Style};
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use wats::doctor::{Finding, Mode, State, copy_place, permissions, store};
use wats_config::Config;
use wats_config::home::Home;
use wats_model::clock::Clock;
use wats_store::{Sizes, Store, StoreError};

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
    sweep(&home);
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
        // Where this process is says nothing to the node.
        let copy = std::path::absolute(copy_place(home))?;
        let found = node
            .post("/admin/checkpoint", &serde_json::json!({ "directory": copy }))
            .map(|_| of_store(&copy, config, mode));
        // Half a copy goes too.
        let removed = std::fs::remove_dir_all(&copy);
        if let (Ok(_), Err(e)) = (&found, removed) {
            complain(&FileError::new(&copy, e));
        }
        return Ok(found?);
    }
    if !home.store().exists() {
        let detail = format!("{}: there is no store yet; `wats node` makes one", home.store().display());
        return Ok(vec![Finding { check: "store", state: State::Notice, detail }]);
    }
    Ok(of_store(&home.store(), config, mode))
}

/// What is found of a store, also that it does not open, or cannot be read on.
fn of_store(directory: &Path, config: &Config, mode: Mode) -> Vec<Finding> {
    let opened = Store::open(directory, Sizes::default()).map_err(|e| match e {
        // Its own message names the doctor.
        StoreError::Damaged(what) => format!("the store is damaged: {what}; or restore a backup"),
        other => other.to_string(),
    });
    let found =
        opened.and_then(|opened| store(opened, config, Clock::Wall.now(), mode).map_err(|e| e.to_string()));
    found.unwrap_or_else(|detail| vec![Finding { check: "store", state: State::Bad, detail }])
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
