//! `wats export`

use super::home::{Held, HomeArgs, digits, event};
use super::{FileError, Outcome, part_of, time};
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wats::client::{self, Client};
use wats::event::{Hex32, MAX_BYTES, Rules};
use wats::export::{Wanted, export, holds};
use wats::log::read_record;
use wats::store::{Store, StoreError};
use wats_dataflows::ids::Millis;

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
    /// Where to; compressed when the name ends in .zst [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file that is there
    #[arg(long, requires = "out")]
    force: bool,
}

/// What a record has around its event, in bytes, at most.
const AROUND: usize = 64;

pub(super) fn run(args: &Args) -> Outcome {
    if let Some(path) = args.out.as_ref().filter(|path| !args.force && path.symlink_metadata().is_ok()) {
        return Err(FileError::new(path, "is there already; --force replaces it").into());
    }
    // Before anything is made: what cannot be exported leaves nothing behind.
    let mut from = Source::open(args)?;
    let bare = match &args.out {
        Some(path) => to_file(&mut from, path)?,
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            let bare = from.write(&mut out)?;
            out.flush()?;
            bare
        }
    };
    if bare > 0 {
        let warning = format!(
            "{bare} events are so large that a record of them would be over the limit of a line: when they were \
             received is not in the log, and whoever reads it takes another time for that"
        );
        writeln!(anstream::stderr(), "warning: {warning}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A log that is cut off is not mistaken for a whole one: it gets its name when it is whole.
fn to_file(from: &mut Source, path: &Path) -> Result<u64, Box<dyn Error>> {
    let part = part_of(path);
    let file = File::create_new(&part).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => FileError::new(
            &part,
            "is there already, of an export that runs or was cut off, or of another matter",
        ),
        _ => FileError::new(&part, e),
    })?;
    let written = fill(from, file, path.extension().is_some_and(|e| e == "zst"));
    let named = written.and_then(|bare| match std::fs::rename(&part, path) {
        Ok(()) => Ok(bare),
        Err(e) => Err(FileError::new(path, e).into()),
    });
    if named.is_err() {
        // What is there is of no use to anybody.
        let _ = std::fs::remove_file(&part);
    }
    named
}

fn fill(from: &mut Source, file: File, packed: bool) -> Result<u64, Box<dyn Error>> {
    if packed {
        let mut packed = zstd::Encoder::new(BufWriter::new(file), 3)?;
        let bare = from.write(&mut packed)?;
        packed.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        return Ok(bare);
    }
    let mut plain = BufWriter::new(file);
    let bare = from.write(&mut plain)?;
    plain.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    Ok(bare)
}

/// What is exported, and where from.
enum Source {
    /// From the running node, at this path.
    Node(Client, String),
    /// From a store that no node runs on.
    Store(Store, Wanted),
}

impl Source {
    fn open(args: &Args) -> Result<Source, Box<dyn Error>> {
        let home = args.home.home()?;
        match args.home.held(&home)? {
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

    /// Writes the log; how many events stand bare in it.
    fn write(&mut self, out: &mut impl Write) -> Result<u64, Box<dyn Error>> {
        match self {
            Source::Node(node, path) => {
                let mut passing = Passing { out, line: Vec::new(), bare: 0 };
                node.copy(path, &mut passing)?;
                Ok(passing.bare)
            }
            Source::Store(store, wanted) => {
                let last = store.last()?;
                let line = |line: &str| writeln!(out, "{line}").map_err(Failed::Write);
                match export(store, wanted, last, line) {
                    Ok(exported) => Ok(exported.bare),
                    Err(Failed::Read(e)) => Err(e.into()),
                    Err(Failed::Write(e)) => Err(e.into()),
                }
            }
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

/// A log that passes, and how many events stand bare in it: a node does not say.
struct Passing<W> {
    out: W,
    line: Vec<u8>,
    bare: u64,
}

impl<W: Write> Write for Passing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        let mut rest = &bytes[..written];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            self.line.extend_from_slice(&rest[..end]);
            self.bare += u64::from(is_bare(&self.line));
            self.line.clear();
            rest = &rest[end + 1..];
        }
        self.line.extend_from_slice(rest);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Whether a line of an export is an event without a record around it: only for the largest is there no
/// room for one, so no other is looked at.
fn is_bare(line: &[u8]) -> bool {
    line.len() + AROUND > MAX_BYTES && read_record(line, &Rules::any()).received_at.is_none()
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
