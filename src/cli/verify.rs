//! `wats verify`

use super::{Outcome, complain, configuration};
use anstyle::{AnsiColor, Style};
use serde_json::json;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use wats_event::log::{Checked, LogError, Options, Record, Source, read};
use wats_event::{Code, Hex32, Refusal};

/// Check every record of logs: counts, and each refused line with its code and reason
///
/// Refused events are reported and are no failure; the exit code is 1 when a log could not be read
/// to its end.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Logs: .jsonl, .jsonl.gz, .jsonl.zst, or - for standard input
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    /// The networks to accept, and the work they require; without it, every network and none
    #[arg(long, value_name = "FILE", env = "WATS_CONFIG")]
    config: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What the logs held.
#[derive(Default)]
struct Counts {
    events: u64,
    duplicates: u64,
    blobs: u64,
    refused: BTreeMap<Code, u64>,
    held: HashSet<Hex32>,
}

impl Counts {
    fn add(&mut self, record: &Record) {
        match record {
            Record::Event(event) if self.held.insert(event.id) => self.events += 1,
            Record::Event(_) => self.duplicates += 1,
            Record::Blob { .. } => self.blobs += 1,
        }
    }

    fn all_refused(&self) -> u64 {
        self.refused.values().sum()
    }

    fn records(&self) -> u64 {
        self.events + self.duplicates + self.blobs + self.all_refused()
    }
}

pub(super) fn run(args: &Args) -> Outcome {
    let options = Options::new(configuration(args.config.as_deref())?.rules());
    let mut report = Report::new(args.json);
    report.start()?;
    let mut counts = Counts::default();
    let mut errors = Vec::new();
    for path in &args.logs {
        if let Err(e) = log(path, &options, &mut counts, &mut report)? {
            errors.push(e);
        }
    }
    report.end(&counts, &errors)?;
    for error in &errors {
        complain(error);
    }
    Ok(if errors.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Reads one log; the inner result is whether it was read to its end.
fn log(
    path: &std::path::Path,
    options: &Options,
    counts: &mut Counts,
    report: &mut Report,
) -> io::Result<Result<(), LogError>> {
    let source = match Source::open(path) {
        Ok(source) => source,
        Err(e) => return Ok(Err(e)),
    };
    let name = source.name.clone();
    for line in read(source, options) {
        match line {
            Ok(Checked { outcome: Ok(record), .. }) => counts.add(&record),
            Ok(Checked { outcome: Err(refusal), line, .. }) => {
                *counts.refused.entry(refusal.code).or_default() += 1;
                report.refusal(&name, line, &refusal)?;
            }
            Err(e) => return Ok(Err(e)),
        }
    }
    Ok(Ok(()))
}

/// Writes refusals as they come: a log may have millions.
struct Report {
    json: bool,
    first: bool,
    out: BufWriter<anstream::Stdout>,
}

impl Report {
    fn new(json: bool) -> Report {
        Report { json, first: true, out: BufWriter::new(anstream::stdout()) }
    }

    fn start(&mut self) -> io::Result<()> {
        match self.json {
            true => write!(self.out, "{{\"refused\":["),
            false => Ok(()),
        }
    }

    fn refusal(&mut self, file: &str, line: u64, refusal: &Refusal) -> io::Result<()> {
        let Refusal { code, reason } = refusal;
        if self.json {
            let comma = if self.first { "" } else { "," };
            self.first = false;
            let item = json!({ "file": file, "line": line, "code": code, "reason": reason });
            return write!(self.out, "{comma}\n{item}");
        }
        let yellow = Style::new().fg_color(Some(AnsiColor::Yellow.into()));
        writeln!(self.out, "{file}:{line}: {yellow}{code}{yellow:#}: {reason}")
    }

    fn end(&mut self, counts: &Counts, errors: &[LogError]) -> io::Result<()> {
        match self.json {
            true => self.json_end(counts, errors)?,
            false => self.table(counts)?,
        }
        self.out.flush()
    }

    fn json_end(&mut self, counts: &Counts, errors: &[LogError]) -> io::Result<()> {
        let by_code: BTreeMap<&str, u64> =
            counts.refused.iter().map(|(code, n)| (code.as_str(), *n)).collect();
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let counts = json!({
            "records": counts.records(),
            "valid": counts.events,
            "duplicate": counts.duplicates,
            "blobs": counts.blobs,
            "by_code": by_code,
        });
        let errors = json!(errors);
        writeln!(self.out, "],\n\"counts\":{counts},\n\"errors\":{errors}}}")
    }

    fn table(&mut self, counts: &Counts) -> io::Result<()> {
        let bold = Style::new().bold();
        let mut row = |name: &str, n: u64| writeln!(self.out, "{n:>12}  {name}");
        row("valid events", counts.events)?;
        if counts.duplicates > 0 {
            row("copies of events already counted", counts.duplicates)?;
        }
        if counts.blobs > 0 {
            row("records of blobs", counts.blobs)?;
        }
        for (code, n) in &counts.refused {
            row(&format!("refused: {code}"), *n)?;
        }
        writeln!(self.out, "{bold}{:>12}  records{bold:#}", counts.records())
    }
}
