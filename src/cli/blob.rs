//! `wats attach` and `wats blob`: files that events name.

use super::home::HomeArgs;
use super::{FileError, LINES, Outcome, complain, part_of};
use comfy_table::Table;
use serde_json::{Value, json};
use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wats_api::client::{Client, blob_path};
use wats_event::Hex32;

/// Give files to the running node, and print the hash of each: an event names a blob by it
#[derive(Debug, clap::Args)]
pub(super) struct AttachArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// The files
    #[arg(value_name = "FILE", required = true, value_hint = clap::ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// Print a JSON object for each: an attachment, as events have it
    #[arg(long)]
    json: bool,
}

/// Blobs of the running node
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Read a blob
    Get(GetArgs),
    /// List blobs: those that the node holds, would fetch, or could drop
    Ls(LsArgs),
    /// Read blobs, and say of each whether it is what its name says; the node drops what is not
    Verify(VerifyArgs),
}

#[derive(Debug, clap::Args)]
struct GetArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Its hash
    blob: Hex32,
    /// Where to write it [default: standard output]
    #[arg(long, short, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct LsArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Those of confirmed posts that the node does not hold
    #[arg(long, conflicts_with = "spares")]
    wants: bool,
    /// Those that it holds, and of which the network needs no copy
    #[arg(long)]
    spares: bool,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    limit: usize,
    /// Print a JSON object for each
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct VerifyArgs {
    #[command(flatten)]
    home: HomeArgs,
    /// Which [default: all that the node holds]
    #[arg(value_name = "BLOB")]
    blobs: Vec<Hex32>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// `wats attach`
pub(super) fn attach(args: &AttachArgs) -> Outcome {
    let mut node = args.home.client()?;
    let mut out = anstream::stdout();
    let mut whole = true;
    for file in &args.files {
        match node.upload(file) {
            Ok((blob, size)) if args.json => {
                let name = file.file_name().and_then(|name| name.to_str()).unwrap_or("file");
                writeln!(out, "{}", json!({ "blob": blob, "size": size, "name": name }))?;
            }
            Ok((blob, _)) => writeln!(out, "{blob}  {}", file.display())?,
            Err(e) => {
                complain(&FileError::new(file, e));
                whole = false;
            }
        }
    }
    Ok(if whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// `wats blob`
pub(super) fn run(args: &Args) -> Outcome {
    match &args.what {
        What::Get(args) => get(args),
        What::Ls(args) => list(args),
        What::Verify(args) => verify(args),
    }
}

/// What is written is hashed on the way.
struct Hashed<W> {
    out: W,
    hasher: blake3::Hasher,
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Reads a blob, all of it, and compares what came with its name.
fn read(node: &mut Client, blob: Hex32, out: impl Write) -> Result<u64, Box<dyn Error>> {
    let mut hashed = Hashed { out, hasher: blake3::Hasher::new() };
    let size = node.copy(&blob_path(blob), &mut hashed)?;
    hashed.flush()?;
    match hashed.hasher.finalize().as_bytes() == &blob.0 {
        true => Ok(size),
        false => Err("what came is not what the name says".into()),
    }
}

fn get(args: &GetArgs) -> Outcome {
    let mut node = args.home.client()?;
    match &args.out {
        None => drop(read(&mut node, args.blob, io::stdout().lock())?),
        Some(path) => to_file(&mut node, args.blob, path)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The file gets its name when all of it is there.
fn to_file(node: &mut Client, blob: Hex32, path: &Path) -> Result<(), Box<dyn Error>> {
    let written = part_of(path);
    let file = File::create(&written).map_err(|e| FileError::new(&written, e))?;
    let done = read(node, blob, &file);
    let done = done.and_then(|_| Ok(std::fs::rename(&written, path).map_err(|e| FileError::new(path, e))?));
    if done.is_err() {
        // What is there is of no use to anybody.
        let _ = std::fs::remove_file(&written);
    }
    done
}

/// Pages of a list, until it ends or `most` are there.
fn pages(
    node: &mut Client,
    list: &str,
    most: usize,
    mut each: impl FnMut(&Value) -> Result<bool, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let (mut after, mut left) = (String::new(), most);
    while left > 0 {
        let page = node.get(&format!("{list}?limit=1000{after}"))?;
        for blob in page["blobs"].as_array().into_iter().flatten() {
            if left > 0 && each(blob)? {
                left -= 1;
            }
        }
        match page["after"].as_str() {
            Some(hash) => after = format!("&after={hash}"),
            None => break,
        }
    }
    Ok(())
}

fn list(args: &LsArgs) -> Outcome {
    let mut node = args.home.client()?;
    let path = match (args.wants, args.spares) {
        (true, _) => "/v1/blobs/wants",
        (_, true) => "/v1/blobs/spares",
        _ => "/admin/blobs",
    };
    let mut out = anstream::stdout();
    let mut table = Table::new();
    table.load_style(LINES);
    table.set_header(["blob", "bytes", "copies", ""]);
    pages(&mut node, path, args.limit, |blob| {
        if blob["held"] == false {
            return Ok(false);
        }
        if args.json {
            writeln!(out, "{blob}")?;
            return Ok(true);
        }
        let size = blob["size"].as_u64().map_or_else(String::new, |size| size.to_string());
        let pinned = if blob["pinned"] == true { "pinned" } else { blob["reason"].as_str().unwrap_or("") };
        table.add_row([blob["blob"].as_str().unwrap_or("?"), &size, &blob["replicas"].to_string(), pinned]);
        Ok(true)
    })?;
    if !args.json && !table.is_empty() {
        writeln!(out, "{table}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn verify(args: &VerifyArgs) -> Outcome {
    let mut node = args.home.client()?;
    let mut blobs = args.blobs.clone();
    if blobs.is_empty() {
        pages(&mut node, "/admin/blobs", usize::MAX, |blob| {
            let held = blob["held"] != false;
            blobs.extend(blob["blob"].as_str().and_then(Hex32::parse).filter(|_| held));
            Ok(held)
        })?;
    }
    let (mut out, mut bad) = (anstream::stdout(), Vec::new());
    for blob in &blobs {
        if let Err(e) = read(&mut node, *blob, io::sink()) {
            if !args.json {
                writeln!(out, "{blob}: {e}")?;
            }
            bad.push(json!({ "blob": blob, "error": e.to_string() }));
        }
    }
    match args.json {
        true => writeln!(out, "{}", json!({ "read": blobs.len(), "bad": bad }))?,
        false => writeln!(out, "{} blobs read, {} of them not as they should be", blobs.len(), bad.len())?,
    }
    Ok(if bad.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
