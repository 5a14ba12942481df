//! `wats vouch` and `wats unvouch`

use super::Outcome;
use super::draft::sign_and_send;
use super::home::InNetwork;
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;
use wats_event::Hex32;

/// Vouch for a key, or take it back: trust flows from you to those you vouch for
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    to: InNetwork,
    /// The key, whole: anybody can make another with the same first digits
    #[arg(value_name = "KEY")]
    key: Hex32,
}

/// Signs and sends the react on the key's latest announce (section 1.3).
pub(super) fn run(args: &Args, label: &str) -> Outcome {
    let (outcome, network) = sign_and_send(&args.to, |node, reader, network| {
        if reader == args.key {
            return Err("a key cannot vouch for itself".into());
        }
        let announce = node.get(&format!("/admin/announce/{network}/{}", args.key))?;
        Ok(json!({ "kind": "react", "parent": announce["announce"], "data": { "label": label } }))
    })?;
    let mut out = anstream::stdout();
    match args.to.json {
        true => writeln!(out, "{outcome}")?,
        false => {
            writeln!(out, "{label}: {} of {} in {network}", outcome["id"].as_str().unwrap_or("?"), args.key)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
