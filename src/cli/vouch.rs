//! `wats vouch` and `wats unvouch`

use super::Outcome;
use super::home::HomeArgs;
use super::speak::network;
use std::io::Write;
use std::process::ExitCode;
use wats::event::{Draft, Hex32};
use wats::node::Clock;

/// Vouch for a key, or take it back: trust flows from you to those you vouch for
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    home: HomeArgs,
    /// The key
    #[arg(value_name = "KEY")]
    key: Hex32,
    /// In this network [default: the one that is configured]
    #[arg(long, value_name = "NAME")]
    network: Option<String>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// Signs and sends the react on the key's latest announce (section 1.3).
pub(super) fn run(args: &Args, label: &str) -> Outcome {
    let home = args.home.home()?;
    let config = args.home.configured(&home)?;
    let network = network(&config, args.network.as_deref())?;
    let secret = home.profile(&config, &network.id)?;
    if secret.public() == args.key {
        return Err("a key cannot vouch for itself".into());
    }
    let mut node = args.home.client()?;
    let announce = node.get(&format!("/admin/announce/{}/{}", network.id, args.key))?;
    let unsigned = serde_json::json!({
        "net": network.id, "kind": "react", "parent": announce["announce"], "data": { "label": label },
    });
    let unsigned = unsigned.to_string();
    let draft = Draft::read(unsigned.as_bytes())?.created_by_default(Clock::Wall.now());
    let event = match network.pow_bits {
        0 => draft.sign(&secret)?,
        bits => draft.mine(&secret, u16::try_from(bits).unwrap_or(u16::MAX))?,
    };
    let outcome = node.event(&event)?;
    let mut out = anstream::stdout();
    match args.json {
        true => writeln!(out, "{outcome}")?,
        false => writeln!(
            out,
            "{label}: {} of {} in {}",
            outcome["id"].as_str().unwrap_or("?"),
            args.key,
            network.id
        )?,
    }
    Ok(ExitCode::SUCCESS)
}
