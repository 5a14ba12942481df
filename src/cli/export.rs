//! `wats export`

use super::home::HomeArgs;
use super::{Outcome, time};
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wats::event::Hex32;
use wats::export::{Wanted, export};
use wats::store::{Sizes, Store, StoreError};
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
    /// The thread of this root, with the reacts on it
    #[arg(long, value_name = "ID")]
    thread: Option<Hex32>,
    /// Where to; compressed when the name ends in .zst [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Outcome {
    let Some(path) = &args.out else {
        let mut out = BufWriter::new(io::stdout().lock());
        write(args, &mut out)?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    };
    // A log that is cut off is not mistaken for a whole one: it gets its name when it is whole.
    let part = path.with_extension("part");
    let file = File::create(&part).map_err(|e| super::FileError::new(&part, e))?;
    if path.extension().is_some_and(|e| e == "zst") {
        let mut packed = zstd::Encoder::new(BufWriter::new(file), 3)?;
        write(args, &mut packed)?;
        packed.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    } else {
        let mut plain = BufWriter::new(file);
        write(args, &mut plain)?;
        plain.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    }
    std::fs::rename(&part, path).map_err(|e| super::FileError::new(path, e))?;
    Ok(ExitCode::SUCCESS)
}

fn write(args: &Args, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    if let Some(mut node) = args.home.running()? {
        node.copy(&query(args), out)?;
        return Ok(());
    }
    let home = args.home.home()?;
    let store = home.store();
    if !Path::new(&store).exists() {
        return Err(super::FileError::new(&store, "there is no store").into());
    }
    let store = Store::open(&store, Sizes::default())?;
    let wanted =
        Wanted { network: args.network.clone(), since: args.since, until: args.until, thread: args.thread };
    let last = store.last()?;
    export(&store, &wanted, last, |line| writeln!(out, "{line}").map_err(Failed::Write)).map_err(
        |e| match e {
            Failed::Read(e) => Box::<dyn Error>::from(e),
            Failed::Write(e) => e.into(),
        },
    )?;
    Ok(())
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

fn query(args: &Args) -> String {
    let mut query = Vec::new();
    query.extend(args.network.as_ref().map(|network| format!("network={network}")));
    query.extend(args.since.map(|at| format!("since={}", at.0)));
    query.extend(args.until.map(|at| format!("until={}", at.0)));
    query.extend(args.thread.map(|root| format!("thread={root}")));
    format!("/admin/export?{}", query.join("&"))
}
