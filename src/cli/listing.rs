//! What the commands that read have in common: the node, pages and cursors.

use super::Outcome;
use super::home::{InNetwork, network};
use super::pager::Paging;
use super::render::DIM;
use serde_json::Value;
use std::error::Error;
use std::fmt;
use std::io::Write;
use std::process::ExitCode;
use wats_api::client::Client;

/// The running node, and the network to ask it about.
pub(super) fn node(from: &InNetwork) -> Result<(Client, String), Box<dyn Error>> {
    let home = from.home.home()?;
    let config = from.home.configured(&home)?;
    let network = match (&from.network, &config.networks) {
        // A node without a configured network carries all of them.
        (Some(name), None) => name.clone(),
        (name, _) => network(&config, name.as_deref())?.id.clone(),
    };
    Ok((from.home.client()?, network))
}

/// Prints what was found as it is, or as a person reads it.
pub(super) fn show(
    json: bool,
    paging: Paging,
    found: &Value,
    person: impl FnOnce(&mut String) -> fmt::Result,
) -> Outcome {
    if json {
        let mut out = anstream::stdout();
        writeln!(out, "{found}")?;
        out.flush()?;
    } else {
        let mut text = String::new();
        person(&mut text)?;
        paging.show(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How to see what follows.
pub(super) fn go_on(out: &mut String, flag: &str, from: &Value) -> fmt::Result {
    if let Some(from) = from.as_str() {
        out.push_str(&format!("{DIM}to go on: {flag} {from}{DIM:#}\n"));
    }
    Ok(())
}

/// The statuses, the best last.
pub(super) const STATUSES: [&str; 4] = ["contested", "unverified", "stale", "confirmed"];
