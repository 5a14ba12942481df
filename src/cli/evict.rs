//! `wats evict`

use super::home::HomeArgs;
use super::{LINES, Outcome};
use comfy_table::Table;
use std::io::Write;
use std::process::ExitCode;

/// Evict blobs of the running node, in increasing rank, down to the low-water mark
///
/// A node does this by itself when it nears its budget. Pinned blobs and events never go.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
    /// Down to so many bytes, instead of the low-water mark
    #[arg(long, value_name = "BYTES")]
    to: Option<u64>,
    /// Show the next N that would go, with the reason for each, and evict nothing
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "20", conflicts_with = "to")]
    dry_run: Option<usize>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Outcome {
    let mut node = args.home.client()?;
    let mut out = anstream::stdout();
    let Some(limit) = args.dry_run else {
        let passed = node.post("/admin/evict", &serde_json::json!({ "to": args.to }))?;
        match args.json {
            true => writeln!(out, "{passed}")?,
            false => writeln!(
                out,
                "{} blobs went, {} bytes; {} bytes are left",
                passed["blobs"], passed["bytes"], passed["left"]
            )?,
        }
        return Ok(ExitCode::SUCCESS);
    };
    let next = node.get(&format!("/admin/evict?limit={limit}"))?;
    if args.json {
        writeln!(out, "{next}")?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new();
    table.load_style(LINES);
    table.set_header(["blob", "bytes", "why it is next"]);
    for blob in next["blobs"].as_array().into_iter().flatten() {
        let text = |name: &str| blob[name].as_str().unwrap_or("?").to_owned();
        table.add_row([text("blob"), blob["size"].to_string(), text("reason")]);
    }
    match table.is_empty() {
        true => writeln!(out, "nothing would go: no blob is held that is not pinned")?,
        false => writeln!(out, "{table}")?,
    }
    Ok(ExitCode::SUCCESS)
}
