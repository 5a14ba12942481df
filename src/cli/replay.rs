//! `wats replay`.

use super::{Outcome, complain, config};
use serde_json::{Value, json};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wats::log::{LogError, Options, Source, read};
use wats::replay::{Bounds, Place, Refused, Replay, Ticked};
use wats_dataflows::ids::Millis;

/// Replay logs through the engine, and show what they amount to
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Logs: .jsonl, .jsonl.gz, .jsonl.zst, or - for standard input
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    /// Networks, own profiles and policy; without it, every network of the log and no profiles
    #[arg(long, value_name = "FILE", env = "WATS_CONFIG")]
    config: Option<PathBuf>,
    /// The evaluation time: milliseconds or an RFC 3339 date [default: the largest received_at]
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    now: Option<Millis>,
    /// Print the document: networks, refused, now
    #[arg(long)]
    json: bool,
    /// Threads of the dataflow
    #[arg(long, value_name = "N", default_value_t = 1)]
    workers: usize,
    /// Take every signature for valid: for a log that this node has checked before
    #[arg(long)]
    skip_signatures: bool,
    /// Records in a tick, at most
    #[arg(long, value_name = "N", default_value_t = Bounds::default().records)]
    tick_records: usize,
}

pub(super) fn run(args: &Args) -> Outcome {
    let config = config(args.config.as_deref())?;
    let options = Options { skip_signatures: args.skip_signatures, ..Options::new(config.rules()) };
    let bounds = Bounds { records: args.tick_records.max(1), ..Bounds::default() };
    let mut replay = Replay::start(&config, args.now, args.workers, bounds)?;
    let mut errors: Vec<LogError> = Vec::new();
    for (at, path) in args.logs.iter().enumerate() {
        if let Err(e) = log(&mut replay, at, path, &options)? {
            errors.push(e);
        }
    }
    replay.end()?;
    if args.json {
        document(&replay, &args.logs)?;
    }
    errors.iter().for_each(|e| complain(e));
    Ok(if errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Replays one log; the inner result is whether it was read to its end.
fn log(
    replay: &mut Replay,
    at: usize,
    path: &Path,
    options: &Options,
) -> Result<Result<(), LogError>, Box<dyn std::error::Error>> {
    let source = match Source::open(path) {
        Ok(source) => source,
        Err(e) => return Ok(Err(e)),
    };
    for line in read(source, options) {
        match line {
            Ok(checked) => {
                let _: Option<Ticked> = replay.take(Place { log: at, line: checked.line }, checked)?;
            }
            Err(e) => return Ok(Err(e)),
        }
    }
    Ok(Ok(()))
}

fn document(replay: &Replay, logs: &[PathBuf]) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    write!(out, "{{\"now\":{},\n\"networks\":", replay.now().0)?;
    replay.document.write_networks(&mut out, &replay.intake, |_| None)?;
    let file = |refused: &Refused| logs[refused.place.log].display().to_string();
    list(&mut out, "refused", &replay.refused, |refused| {
        let mut item = json!({ "line": refused.place.line, "code": refused.refusal.code.as_str() });
        if logs.len() > 1 {
            item["file"] = file(refused).into();
        }
        item
    })?;
    list(&mut out, "reasons", &replay.refused, |refused| {
        let reason = refused.refusal.reason.as_ref();
        json!({ "file": file(refused), "line": refused.place.line, "reason": reason })
    })?;
    writeln!(out, "}}")?;
    out.flush()
}

fn list<T>(out: &mut impl Write, name: &str, items: &[T], json: impl Fn(&T) -> Value) -> io::Result<()> {
    write!(out, ",\n\"{name}\":[")?;
    for (at, item) in items.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(out, "{comma}\n{}", json(item))?;
    }
    write!(out, "]")
}
