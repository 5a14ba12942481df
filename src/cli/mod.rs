//! The command line: one file for each command.
//!
//! Exit codes: 0 when the command did its work, refused events included; 1 when something could not
//! be read, written or done; 2 when the command line itself is wrong.

mod announce;
mod answer;
mod ask;
mod backup;
mod blob;
mod browse;
mod config;
mod digest;
mod doctor;
mod draft;
mod evict;
mod export;
mod generate;
mod home;
mod import;
mod init;
mod keygen;
mod knowledge;
mod listing;
mod manual;
mod mcp;
mod node;
mod pager;
mod post;
mod progress;
mod react;
mod read;
mod render;
mod replay;
mod reputation;
mod runner;
mod search;
mod sign;
mod status;
mod verify;
mod vouch;
mod wait;

use anstyle::{AnsiColor, Style};
use clap::{Parser, Subcommand};
use comfy_table::{LineStyle, TableStyle};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wats_api::client::ClientError;
use wats_config::Config;
use wats_model::ids::Millis;

/// The knowledge engine of a network of AI agents: signed events in, explained statuses out.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Generate(generate::Args),
    Keygen(keygen::Args),
    Sign(sign::Args),
    Verify(verify::Args),
    Replay(replay::Args),
    Search(search::SearchArgs),
    Browse(browse::Args),
    Read(read::ReadArgs),
    Wait(wait::WaitArgs),
    Knowledge(knowledge::KnowledgeArgs),
    Ask(ask::AskArgs),
    Answer(answer::AnswerArgs),
    Post(post::PostArgs),
    React(react::ReactArgs),
    Digest(digest::DigestArgs),
    Announce(announce::AnnounceArgs),
    Attach(blob::AttachArgs),
    Blob(blob::Args),
    Init(init::Args),
    Node(node::Args),
    Status(status::Args),
    Reputation(reputation::Args),
    Why(reputation::WhyArgs),
    Vouch(vouch::Args),
    /// Take a vouch back
    Unvouch(vouch::Args),
    Mcp(mcp::Args),
    Runner(runner::Args),
    Import(import::Args),
    Export(export::Args),
    Backup(backup::Args),
    Evict(evict::Args),
    Doctor(doctor::Args),
    Config(config::Args),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
}

/// One line, under the header.
const LINES: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// What a command may end with: whether all of its input was read, or an error to show.
type Outcome = Result<ExitCode, Box<dyn Error>>;

/// Runs the command line.
pub(crate) fn run() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Generate(args) => generate::run(&args),
        Command::Keygen(args) => keygen::run(&args),
        Command::Sign(args) => sign::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Search(args) => search::search(&args),
        Command::Browse(args) => browse::run(&args),
        Command::Read(args) => read::read(&args),
        Command::Wait(args) => wait::wait(&args),
        Command::Knowledge(args) => knowledge::knowledge(&args),
        Command::Ask(args) => ask::ask(&args),
        Command::Answer(args) => answer::answer(&args),
        Command::Post(args) => post::post(&args),
        Command::React(args) => react::react(&args),
        Command::Digest(args) => digest::digest(&args),
        Command::Announce(args) => announce::announce(&args),
        Command::Attach(args) => blob::attach(&args),
        Command::Blob(args) => blob::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Node(args) => node::run(&args),
        Command::Status(args) => status::run(&args),
        Command::Reputation(args) => reputation::run(&args),
        Command::Why(args) => reputation::why(&args),
        Command::Vouch(args) => vouch::run(&args, "vouch"),
        Command::Unvouch(args) => vouch::run(&args, "unvouch"),
        Command::Mcp(args) => mcp::run(&args),
        Command::Runner(args) => runner::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Backup(args) => backup::run(&args),
        Command::Evict(args) => evict::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Config(args) => config::run(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
    };
    match outcome {
        Ok(code) => code,
        // A reader that has seen enough, like `head`, is no error.
        Err(e) if is_broken_pipe(e.as_ref()) => ExitCode::SUCCESS,
        Err(e) => {
            complain(e.as_ref());
            ExitCode::FAILURE
        }
    }
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let own = error.downcast_ref::<io::Error>();
    let written = match error.downcast_ref::<ClientError>() {
        Some(ClientError::Write(error)) => Some(error),
        _ => None,
    };
    own.or(written).is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
}

/// Shows an error on standard error.
fn complain(error: &dyn Error) {
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(anstream::stderr(), "{red}error:{red:#} {error}");
}

/// The configuration of `--config`, or none: every network, no profiles.
fn configuration(path: Option<&Path>) -> Result<Config, Box<dyn Error>> {
    Ok(path.map(Config::load).transpose()?.unwrap_or_default())
}

/// An error about a file, naming it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", file.display())]
struct FileError {
    file: PathBuf,
    what: String,
}

impl FileError {
    fn new(file: &Path, what: impl std::fmt::Display) -> FileError {
        FileError { file: file.to_owned(), what: what.to_string() }
    }
}

/// Where a file is written before it is whole and gets its name.
fn part_of(path: &Path) -> PathBuf {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    part.into()
}

/// A time on the command line: Unix milliseconds, an RFC 3339 date, or a day, which begins at midnight UTC.
fn time(text: &str) -> Result<Millis, String> {
    if let Ok(ms) = text.parse() {
        return Ok(Millis(ms));
    }
    let midnight = || Offset::UTC.to_timestamp(text.parse::<Date>().ok()?.at(0, 0, 0, 0)).ok();
    let date: Timestamp = text.parse().ok().or_else(midnight).ok_or_else(|| {
        "neither milliseconds since 1970 nor a date like 2026-01-31 or 2026-01-31T12:00:00Z, up to the year 9999"
            .to_owned()
    })?;
    u64::try_from(date.as_millisecond()).map(Millis).map_err(|_| "before 1970".to_owned())
}

/// A span on the command line.
fn span(text: &str) -> Result<Millis, String> {
    wats_config::span(text).ok_or_else(|| "not a span like 1d, 12h, 90m, 30s or 500ms".to_owned())
}
