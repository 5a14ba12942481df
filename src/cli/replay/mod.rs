//! `wats replay`.

mod changes;
mod cluster;
mod document;
mod explain;
mod person;

use super::progress::Progress;
use super::{Outcome, complain, configuration};
use changes::Changes;
use explain::Wanted;
use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wats_config::MAX_WORKERS;
use wats_engine::engine::Engine;
use wats_engine::replay::{Bounds, Place, Replay, ReplayError, Tally};
use wats_event::log::{LogError, Options, Source, read};
use wats_model::ids::Millis;

/// Replay logs through the engine, and show what they amount to
///
/// Without a flag: tables for a person. Refused events are counted and are no failure; the exit code
/// is 1 when a log could not be read to its end, and what was valid before that still counts.
#[derive(Debug, clap::Args)]
#[command(after_long_help = format!("{CHANGES_HELP}\n\n{}", cluster::HELP))]
pub(super) struct Args {
    /// Logs: .jsonl, .jsonl.gz, .jsonl.zst, or - for standard input
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    /// Networks, own profiles and policy; without it, every network of the log and no profiles
    #[arg(long, value_name = "FILE", env = "WATS_CONFIG")]
    config: Option<PathBuf>,
    /// The evaluation time: milliseconds since 1970, or a date like 2026-01-31T12:00:00Z [default: the largest received_at]
    ///
    /// A record received later has not happened yet and is ignored, after the checks.
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    now: Option<Millis>,
    /// Print the document: now, networks, refused
    #[arg(long)]
    json: bool,
    /// Print what each tick changed, one JSON object a line (see below)
    #[arg(long)]
    changes: bool,
    /// Explain a post or a key: its id, or at least its first 8 hex digits; may be repeated
    ///
    /// With --json the explanations are the JSON, instead of the document.
    #[arg(long, value_name = "ID|KEY", value_parser = explain::wanted, conflicts_with = "processes")]
    explain: Vec<Wanted>,
    /// Threads of the dataflow; the answer is the same on any number
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..=MAX_WORKERS as i64))]
    workers: u16,
    /// Take every signature for valid: for a log that this node has checked before
    #[arg(long)]
    skip_signatures: bool,
    /// Records in a tick, at most [default: 1048576, or 1024 with --changes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    tick_records: Option<u32>,
    /// How far the clock moves within a tick, at most, like 1d, 12h, 90m, 30s or 500ms
    /// [default: 3660d, or 1d with --changes]
    #[arg(long, value_name = "SPAN", value_parser = super::span)]
    tick_span: Option<Millis>,
    #[command(flatten)]
    cluster: cluster::Args,
}

/// How `--changes` writes, at the end of `--help`.
const CHANGES_HELP: &str = "\
Changes:
  Each tick that changed something is a line, and then one line for each post, author,
  knowledge entry and label of a network that it changed:

    {\"tick\":7,\"now\":1767225600000,\"records\":[\"log.jsonl:41-52\",\"log.jsonl:54\"]}
    {\"tick\":7,\"network\":\"main\",\"post\":\"<id>\",\"before\":{...},\"after\":{...}}
    {\"tick\":7,\"network\":\"main\",\"author\":\"<key>\",\"before\":{...},\"after\":{...}}
    {\"tick\":7,\"network\":\"main\",\"entry\":\"<id>\",\"before\":null,\"after\":{...}}
    {\"tick\":7,\"network\":\"main\",\"network_label\":\"main\",\"before\":{...},\"after\":null}

  `records` are the lines that the tick took, neighbours in one range. `before` and `after` are
  the item as the document of --json holds it, null where it is absent. Applied in order, the
  lines give that document. Nothing else goes to standard output, but with --json the document,
  or with --explain the explanations: on the last line.";

pub(super) fn run(args: &Args) -> Outcome {
    let config = configuration(args.config.as_deref())?;
    let options = Options { skip_signatures: args.skip_signatures, ..Options::new(config.rules()) };
    let default = if args.changes { Bounds::FINE } else { Bounds::BULK };
    let bounds = Bounds {
        records: args.tick_records.map_or(default.records, |n| n as usize),
        span: args.tick_span.unwrap_or(default.span),
    };
    let workers = usize::from(args.workers);
    let cluster = args.cluster.cluster(workers)?;
    let mut replay = Replay::on(&config, args.now, bounds, |config| match &cluster {
        Some(cluster) => Engine::join(config, cluster),
        None => Engine::start(config, workers),
    })?;
    if args.changes {
        replay = replay.telling_changes();
    }
    let mut out = BufWriter::new(anstream::stdout());
    let mut changes = args.changes.then(|| Changes::new(&args.logs));
    let errors = replay_all(args, &options, &mut replay, &mut changes, &mut out)?;
    replay.engine.close()?;
    // Where nothing could be read there is nothing to show but why.
    let nothing = !errors.is_empty() && replay.tally == Tally::default() && replay.refused.is_empty();
    errors.iter().for_each(|e| complain(e));
    let shown = match nothing || !args.cluster.shows() {
        true => Ok(true),
        false => show(args, &replay, &mut out),
    };
    let shown = shown.and_then(|explained| Ok(out.flush().map(|()| explained)?));
    // Who stops reading early has still been given a log that could not be read to its end.
    let explained = match shown {
        Err(e) if super::is_broken_pipe(e.as_ref()) && !errors.is_empty() => false,
        other => other?,
    };
    Ok(if errors.is_empty() && explained { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Replays the logs; which of them could not be read to their ends.
fn replay_all(
    args: &Args,
    options: &Options,
    replay: &mut Replay,
    changes: &mut Option<Changes<'_>>,
    out: &mut impl Write,
) -> Result<Vec<LogError>, Box<dyn Error>> {
    let progress = Progress::new(&args.logs, "replayed");
    let mut errors: Vec<LogError> = Vec::new();
    for (at, path) in args.logs.iter().enumerate() {
        if let Err(e) = log(replay, at, path, options, changes, out, &progress)? {
            errors.push(e);
        }
    }
    let ticked = replay.end()?;
    progress.end();
    if let Some(changes) = changes {
        changes.write(out, &ticked, &replay.intake)?;
    }
    Ok(errors)
}

/// Replays one log; the inner result is whether it was read to its end.
fn log(
    replay: &mut Replay,
    at: usize,
    path: &Path,
    options: &Options,
    changes: &mut Option<Changes<'_>>,
    out: &mut impl Write,
    progress: &Progress,
) -> Result<Result<(), LogError>, Box<dyn Error>> {
    let source = match Source::open(path) {
        Ok(source) => source,
        Err(e) => return Ok(Err(e)),
    };
    let (taken, name) = (source.taken.clone(), source.name.clone());
    for line in read(source, options) {
        let checked = match line {
            Ok(checked) => checked,
            Err(e) => return Ok(Err(e)),
        };
        progress.line(&taken);
        let line = checked.line;
        let ticked = match replay.take(Place { log: at, line }, checked) {
            // What was valid before still counts.
            Err(ReplayError::Full(full)) => return Ok(Err(LogError::full(&name, line, &full))),
            other => other?,
        };
        if let (Some(changes), Some(ticked)) = (changes.as_mut(), ticked) {
            changes.write(out, &ticked, &replay.intake)?;
        }
    }
    progress.file(&taken);
    Ok(Ok(()))
}

/// Shows what was asked for; whether all that was to be explained was found.
fn show(args: &Args, replay: &Replay, out: &mut impl Write) -> Result<bool, Box<dyn Error>> {
    if !args.explain.is_empty() {
        return explain::show(replay, &args.explain, args.json || args.changes, out);
    }
    if args.json {
        document::write(replay, &args.logs, if args.changes { "" } else { "\n" }, out)?;
    } else if !args.changes {
        person::write(replay, out)?;
    }
    Ok(true)
}

/// The name of a log in messages and lines.
fn file_name(logs: &[PathBuf], place: Place) -> String {
    logs.get(place.log).map(|path| path.display().to_string()).unwrap_or_default()
}

/// A list of JSON values, as the member `name` of an object already begun.
fn list<T>(
    out: &mut impl Write,
    gap: &str,
    name: &str,
    items: &[T],
    json: impl Fn(&T) -> serde_json::Value,
) -> io::Result<()> {
    write!(out, ",{gap}\"{name}\":[")?;
    for (at, item) in items.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(out, "{comma}{gap}{}", json(item))?;
    }
    write!(out, "]")
}
