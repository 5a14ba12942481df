//! `wats export`

use super::home::{Held, HomeArgs, digits, event};
use super::{FileError, Outcome, part_of, time};
use flate2::write::GzEncoder;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wats_api::client::{self, Client};
use wats_event::Hex32;
use wats_model::ids::Millis;
use wats_store::export::{Wanted, export, holds, rescue};
use wats_store::{Store, StoreError};

/// Write a log of what the node holds: of everything, of a network, of a span of time, of a thread
///
/// The log can be imported and replayed. It is taken from the running node, or from a store that no node
/// runs on.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
    /// Of this network alone
    #[arg(long, value_name = "NAME")]
    network: Option<String>,
    /// Received at this time or later: milliseconds since 1970, or a date like 2026-01-31 or
    /// 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<Millis>,
    /// Received before this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<Millis>,
    /// The thread of this root, with the reacts on it: its id, or the first 8 or more digits
    #[arg(long, value_name = "ID", value_parser = digits)]
    thread: Option<String>,
    /// Of a damaged store that no node runs on: write what can be read, and say how much cannot
    #[arg(long, conflicts_with_all = ["network", "since", "until", "thread"])]
    damaged: bool,
    /// Where to; compressed when the name ends in .zst or .gz; `-` is standard output [default: -]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file that is there
    #[arg(long, requires = "out")]
    force: bool,
}

pub(super) fn run(args: &Args) -> Outcome {
    if let Some(path) = args.out.as_ref().filter(|path| !args.force && path.symlink_metadata().is_ok()) {
        return Err(FileError::new(path, "is there already; --force replaces it").into());
    }
    // Before anything is made: what cannot be exported leaves nothing behind.
    let mut from = Source::open(args)?;
    let lost = match args.out.as_ref().filter(|path| path.as_os_str() != "-") {
        Some(path) => to_file(&mut from, path)?,
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            let lost = from.write(&mut out)?;
            out.flush()?;
            lost
        }
    };
    warn_of(lost)?;
    Ok(ExitCode::SUCCESS)
}

/// What is not in the log.
fn warn_of(lost: u64) -> io::Result<()> {
    if lost > 0 {
        let what = format!("{lost} places of the sequence cannot be read, and what was there is lost");
        writeln!(anstream::stderr(), "warning: {what}")?;
    }
    Ok(())
}

/// A log that is cut off is not mistaken for a whole one: it gets its name when it is whole. Gives how many places
/// are lost.
fn to_file(from: &mut Source, path: &Path) -> Result<u64, Box<dyn Error>> {
    let part = part_of(path);
    let file = File::create_new(&part).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => FileError::new(
            &part,
            "is there already, of an export that runs or was cut off, or of another matter",
        ),
        _ => FileError::new(&part, e),
    })?;
    let filled = fill(from, file, path.extension().and_then(|extension| extension.to_str()));
    let named = filled.and_then(|lost| match std::fs::rename(&part, path) {
        Ok(()) => Ok(lost),
        Err(e) => Err(FileError::new(path, e).into()),
    });
    if named.is_err() {
        // What is there is of no use to anybody.
        let _ = std::fs::remove_file(&part);
    }
    named
}

/// As the ending of the name says.
fn fill(from: &mut Source, file: File, ending: Option<&str>) -> Result<u64, Box<dyn Error>> {
    let plain = BufWriter::new(file);
    let (lost, plain) = match ending {
        Some("zst") => {
            let mut packed = zstd::Encoder::new(plain, 3)?;
            (from.write(&mut packed)?, packed.finish()?)
        }
        Some("gz") => {
            let mut packed = GzEncoder::new(plain, flate2::Compression::default());
            (from.write(&mut packed)?, packed.finish()?)
        }
        _ => {
            let mut plain = plain;
            (from.write(&mut plain)?, plain)
        }
    };
    plain.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    Ok(lost)
}

/// What is exported, and where from.
enum Source {
    /// From the running node, at this path.
    Node(Client, String),
    /// From a store that no node runs on.
    Store(Store, Wanted),
    /// From such a store that is damaged.
    Damaged(Store),
}

impl Source {
    fn open(args: &Args) -> Result<Source, Box<dyn Error>> {
        let home = args.home.home()?;
        match args.home.held(&home)? {
            Held::Node(_) if args.damaged => Err("a node runs on this store, which is not damaged".into()),
            Held::Store(store) if args.damaged => Ok(Source::Damaged(store)),
            Held::Node(mut node) => {
                let root = args.thread.as_ref().map(|digits| event(&mut node, digits)).transpose()?;
                Ok(Source::Node(node, query(args, root)))
            }
            Held::Store(store) => {
                let thread = args.thread.as_ref().map(|digits| root(&store, digits)).transpose()?;
                if let Some(network) = &args.network {
                    let config = args.home.configured(&home)?;
                    let named = config.networks.iter().flatten().any(|of| of.id == *network);
                    if !named && !holds(&store, network)? {
                        return Err(
                            format!("`{network}` is not configured, and nothing of it is held").into()
                        );
                    }
                }
                let network = args.network.clone();
                Ok(Source::Store(store, Wanted { network, since: args.since, until: args.until, thread }))
            }
        }
    }

    /// Writes the log; how many places of the sequence could not be read.
    fn write(&mut self, out: &mut impl Write) -> Result<u64, Box<dyn Error>> {
        match self {
            Source::Node(node, path) => {
                node.copy(path, out)?;
                Ok(0)
            }
            Source::Store(store, wanted) => {
                let last = store.last()?;
                let line = |line: &str| writeln!(out, "{line}").map_err(Failed::Write);
                match export(store, wanted, last, line) {
                    Ok(exported) => Ok(exported.lost),
                    Err(Failed::Read(e)) => Err(e.into()),
                    Err(Failed::Write(e)) => Err(e.into()),
                }
            }
            Source::Damaged(store) => Ok(rescue(store, |line| writeln!(out, "{line}"))?.lost),
        }
    }
}

/// The held event that is named by [`digits`].
fn root(store: &Store, digits: &str) -> Result<Hex32, Box<dyn Error>> {
    match *store.starting_with(digits, 2)? {
        [] => Err(format!("no event whose id starts with {digits} is held").into()),
        [id] => Ok(id),
        [..] => Err(format!("several ids start with {digits}: give more digits").into()),
    }
}

enum Failed {
    Read(StoreError),
    Write(io::Error),
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Failed {
        Failed::Read(error)
    }
}

fn query(args: &Args, root: Option<Hex32>) -> String {
    let query = [
        ("network", args.network.clone()),
        ("since", args.since.map(|at| at.0.to_string())),
        ("until", args.until.map(|at| at.0.to_string())),
        ("thread", root.map(|root| root.to_string())),
    ];
    client::path("/admin/export", &query)
}
