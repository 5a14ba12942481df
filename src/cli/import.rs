//! `wats import`

use super::home::HomeArgs;
use super::progress::Progress;
use super::{Outcome, complain};
use serde_json::{Value, json};
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wats_api::client::{Client, ClientError};
use wats_event::log::{Batch, Batches, Source};
use wats_event::{MAX_RECORD_BYTES, Rules};
use wats_model::clock::Clock;
use wats_store::import::{Imported, import};
use wats_store::{Sizes, Store};

/// Take logs into the running node, or into a store that no node runs on
///
/// Every record is checked. An import that was stopped may be begun again: what is held is not checked
/// twice. Of a wats export the dates are kept at which its node received each event.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
    /// Logs: files of records or events, one a line, plain, .gz or .zst; `-` is standard input
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<PathBuf>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// Lines with their numbers.
type Numbered = Vec<(u64, Vec<u8>)>;

/// Lines that are sent to a node at a time.
const LINES: usize = 2_000;

/// How long a node may take nothing in.
const PATIENCE: Duration = Duration::from_secs(600);
/// When it is asked again where it does not say, in seconds.
const SOON: u64 = 5;

pub(super) fn run(args: &Args) -> Outcome {
    let progress = Progress::new(&args.logs, "imported");
    let mut imported = Imported::default();
    let mut whole = true;
    let mut node = args.home.running()?;
    let mut store = None;
    for log in &args.logs {
        let taken = match Source::open(log) {
            Ok(source) => {
                // Not before there is something to take in: a name that is mistyped makes no store.
                if node.is_none() && store.is_none() {
                    store = Some(open(args)?);
                }
                let read = source.taken.clone();
                let line = || progress.line(&read);
                let done = match (&mut node, &store) {
                    (Some(node), _) => send(node, source, &mut imported, line),
                    (None, Some((store, rules))) => {
                        import(store, source, rules.clone(), Clock::Wall.now(), &mut imported, line)
                            .map_err(Into::into)
                    }
                    (None, None) => Ok(()),
                };
                progress.file(&read);
                done
            }
            Err(e) => Err(e.into()),
        };
        if let Err(e) = taken {
            complain(e.as_ref());
            whole = false;
        }
    }
    progress.end();
    show(args, &imported)?;
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn open(args: &Args) -> Result<(Arc<Store>, Rules), Box<dyn Error>> {
    let home = args.home.home()?;
    let config = args.home.configured(&home)?;
    let sizes = Sizes { cache: config.node.cache_bytes, writes: config.node.write_buffer_bytes };
    Ok((Arc::new(Store::open(&home.store(), sizes)?), config.rules()))
}

fn send(
    node: &mut Client,
    source: Source,
    imported: &mut Imported,
    mut line: impl FnMut(),
) -> Result<(), Box<dyn Error>> {
    let mut patience = Patience { since: Instant::now(), told: false };
    for batch in Batches::new(source, LINES) {
        let Batch { mut lines, over } = batch?;
        for number in over {
            imported.refuse(
                number,
                "too_large",
                &format!("the line of a record over {MAX_RECORD_BYTES} bytes"),
            );
        }
        (0..lines.len()).for_each(|_| line());
        // The time to read the log is not the node's.
        patience.since = Instant::now();
        while !lines.is_empty() {
            lines = send_some(node, lines, imported, &mut patience)?;
        }
    }
    Ok(())
}

/// Waiting for a node that takes nothing in: it loads, is busy, or its disk is full.
struct Patience {
    /// When it last took something in.
    since: Instant,
    /// Whether the user was told.
    told: bool,
}

impl Patience {
    /// Waits, unless that took too long already.
    fn wait(&mut self, seconds: u64, why: &str) -> Result<(), Box<dyn Error>> {
        if self.since.elapsed() >= PATIENCE {
            return Err(format!("the node took nothing in for {} s: {why}", PATIENCE.as_secs()).into());
        }
        if !self.told {
            self.told = true;
            writeln!(anstream::stderr(), "the import waits for the node: {why}")?;
        }
        std::thread::sleep(Duration::from_secs(seconds));
        Ok(())
    }
}

fn body_of(lines: &Numbered) -> Vec<u8> {
    let mut body = Vec::with_capacity(lines.iter().map(|(_, line)| line.len() + 1).sum());
    for (_, line) in lines {
        body.extend_from_slice(line);
        body.push(b'\n');
    }
    body
}

/// Sends lines; those to be sent again, after the time that the node asks for.
fn send_some(
    node: &mut Client,
    lines: Numbered,
    imported: &mut Imported,
    patience: &mut Patience,
) -> Result<Numbered, Box<dyn Error>> {
    let outcomes = match node.lines("/admin/import", body_of(&lines)) {
        Ok(outcomes) => outcomes,
        Err(ClientError::Refused { status: 503 | 507, detail, retry_after }) => {
            patience.wait(retry_after.unwrap_or(SOON), &detail)?;
            return Ok(lines);
        }
        Err(e) => return Err(e.into()),
    };
    if outcomes.len() < lines.len() {
        return Err(format!("the node answered {} of {} lines", outcomes.len(), lines.len()).into());
    }
    let sent = lines.len();
    let mut again = Vec::new();
    let (mut wait, mut why) = (0, String::new());
    for ((number, line), outcome) in lines.into_iter().zip(&outcomes) {
        let text = |name: &str| outcome[name].as_str().unwrap_or_default();
        match text("outcome") {
            "accepted" if outcome["id"].is_null() => imported.blobs += 1,
            "accepted" => {
                imported.new += 1;
                imported.dated += u64::from(is_dated(&line));
            }
            "duplicate" => imported.held += 1,
            "later" => {
                wait = wait.max(outcome["retry_after"].as_u64().unwrap_or(1));
                text("reason").clone_into(&mut why);
                again.push((number, line));
            }
            _ => imported.refuse(number, text("code"), text("reason")),
        }
    }
    if again.len() == sent {
        patience.wait(wait, &why)?;
    } else {
        patience.since = Instant::now();
        std::thread::sleep(Duration::from_secs(wait));
    }
    Ok(again)
}

/// Whether a record says when another node received its event.
fn is_dated(line: &[u8]) -> bool {
    wats_event::log::read_record(line, &Rules::any()).received_at.is_some()
}

fn show(args: &Args, imported: &Imported) -> std::io::Result<()> {
    let Imported { new, held, blobs, refused, dated } = imported;
    if *dated > 0 {
        let warning = format!(
            "{dated} records say when another node received them; these dates are taken on trust now, and with \
             them how long each key has been seen"
        );
        writeln!(anstream::stderr(), "warning: {warning}")?;
    }
    let mut out = anstream::stdout();
    if args.json {
        let refused: Vec<Value> = refused
            .iter()
            .map(|(code, (count, line, reason))| json!({ "code": code, "count": count, "line": line, "reason": reason }))
            .collect();
        let all = json!({ "new": new, "held": held, "blobs": blobs, "dated": dated, "refused": refused });
        return writeln!(out, "{all}");
    }
    writeln!(
        out,
        "{new} events new, {held} held already, {blobs} records of blobs, {} lines refused",
        imported.refusals()
    )?;
    for (code, (count, line, reason)) in refused {
        writeln!(out, "  {code}: {count}, the first on line {line}: {reason}")?;
    }
    Ok(())
}
