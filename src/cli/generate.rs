//! `wats generate`

use super::{FileError, Outcome};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use wats_files::new_private_file;
use wats_generate::{Attack, Generator, Plan};
use wats_model::ids::Millis;

/// Make up a log: signed, skewed as real ones are, the same bytes for the same arguments
///
/// Records go to standard output, or to a file that is compressed when its name ends in .gz or
/// .zst.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// How many events; with --attack, how often it strikes, in its own unit [default: 2000, or
    /// the attack's]
    #[arg(long, value_name = "N")]
    events: Option<u64>,
    /// What everything follows from: the same seed, the same log
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// How many keys write [default: one for 50 events]
    #[arg(long, value_name = "A", value_parser = clap::value_parser!(u64).range(16..=4_000_000))]
    authors: Option<u64>,
    /// How many asks, posts and digests there are at most [default: one for 5 events]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u64).range(1..=4_000_000_000))]
    posts: Option<u64>,
    /// The network of all events
    #[arg(long, value_name = "ID", default_value = "main", value_parser = network)]
    network: String,
    /// How many days the log covers, from January 2024
    #[arg(long, value_name = "DAYS", default_value_t = 730,
          value_parser = clap::value_parser!(u64).range(1..=36_525))]
    days: u64,
    /// Let its last record be of then instead: milliseconds since 1970, or a date like 2026-01-31T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = super::time)]
    until: Option<Millis>,
    /// Let an adversary loose on a short ordinary log; --list-attacks shows which there are
    #[arg(long, value_name = "NAME", conflicts_with_all = ["authors", "posts"])]
    attack: Option<Attack>,
    /// Show the attacks
    #[arg(long)]
    list_attacks: bool,
    /// Do not sign: each signature is zeros, and only --skip-signatures reads the log
    #[arg(long)]
    unsigned: bool,
    /// Where to write the log
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Where to write the configuration that names the reader of the log
    #[arg(long, value_name = "FILE")]
    write_config: Option<PathBuf>,
    /// Where to write the reader's secret key, which follows from the seed, to speak in the log's network
    #[arg(long, value_name = "FILE")]
    write_key: Option<PathBuf>,
}

impl Args {
    fn plan(&self) -> Plan {
        let usual = Plan::default();
        let plan = Plan {
            events: self.events.unwrap_or(match self.attack {
                Some(attack) => attack.size(),
                None => usual.events,
            }),
            seed: self.seed,
            authors: self.authors,
            posts: self.posts,
            network: self.network.clone(),
            days: self.days,
            signed: !self.unsigned,
            attack: self.attack,
            ..usual
        };
        let Some(until) = self.until else {
            return plan;
        };
        // How long it lasts is left to chance, the same chance for every start: one that is not signed tells.
        let whole = Generator::new(&Plan { signed: false, ..plan.clone() });
        let last = whole.map(|record| record.received_at.0).max().unwrap_or_default();
        Plan { start: Millis((plan.start.0 + until.0).saturating_sub(last)), ..plan }
    }
}

pub(super) fn run(args: &Args) -> Outcome {
    if args.list_attacks {
        return list_attacks();
    }
    let plan = args.plan();
    if let Some(file) = &args.write_config {
        std::fs::write(file, plan.config()).map_err(|e| cannot_write(file, &e))?;
    }
    if let Some(file) = &args.write_key {
        let key = plan.reader_key().to_key_file();
        new_private_file(file, key.as_bytes()).map_err(|e| cannot_write(file, &e))?;
    }
    match &args.out {
        None => log(&plan, &mut io::stdout().lock())?,
        Some(file) => write_file(file, &plan).map_err(|e| cannot_write(file, &e))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list_attacks() -> Outcome {
    let mut out = anstream::stdout();
    for attack in Attack::ALL {
        let (name, size, unit) = (attack.name(), attack.size(), attack.unit());
        writeln!(out, "{name:20} {size:>7} {unit:14} {}", attack.about())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn cannot_write(file: &Path, e: &io::Error) -> FileError {
    FileError::new(file, format_args!("cannot be written: {e}"))
}

fn network(id: &str) -> Result<String, &'static str> {
    match wats_event::fields::is_network(id) {
        true => Ok(id.to_owned()),
        false => Err("must be 1 to 64 of a-z, 0-9, `.`, `_` and `-`"),
    }
}

fn write_file(path: &Path, plan: &Plan) -> io::Result<()> {
    let file = File::create(path)?;
    match path.extension().and_then(|e| e.to_str()) {
        Some("gz") => {
            let mut out = flate2::write::GzEncoder::new(file, flate2::Compression::default());
            log(plan, &mut out)?;
            out.finish()?.flush()
        }
        Some("zst") => {
            let mut out = zstd::stream::write::Encoder::new(file, COMPRESSION)?;
            log(plan, &mut out)?;
            out.finish()?.flush()
        }
        _ => log(plan, &mut { file }),
    }
}

/// The level for .zst: signatures do not compress, and higher levels gain little on the rest.
const COMPRESSION: i32 = 9;

fn log(plan: &Plan, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 18, out);
    let mut line = Vec::new();
    for record in Generator::new(plan) {
        line.clear();
        record.write(&mut line);
        out.write_all(&line)?;
    }
    out.flush()
}
