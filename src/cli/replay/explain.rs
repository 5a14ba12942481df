//! `wats replay --explain`.

use super::complain;
use serde_json::json;
use std::error::Error;
use std::io::Write;
use wats_engine::explain::{ExplainError, MIN_DIGITS, Seen, explain, text};
use wats_engine::replay::Replay;

/// The hex digits of a name, or the first of them.
#[derive(Clone, Debug)]
pub(super) struct Wanted(String);

/// Reads the name of a post or key, or its start.
pub(super) fn wanted(name: &str) -> Result<Wanted, String> {
    let digits = name.to_ascii_lowercase();
    if !(MIN_DIGITS..=64).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Err(format!("not {MIN_DIGITS} to 64 hex digits"));
    }
    Ok(Wanted(digits))
}

/// Writes the explanations, as text or on one line of JSON; whether everything wanted was found.
pub(super) fn show(
    replay: &Replay,
    wanted: &[Wanted],
    as_json: bool,
    out: &mut impl Write,
) -> Result<bool, Box<dyn Error>> {
    let mut explained = Vec::new();
    let mut missing: Vec<ExplainError> = Vec::new();
    let seen = Seen {
        intake: &replay.intake,
        document: &replay.document,
        engine: &replay.engine,
        now: replay.now(),
    };
    for Wanted(digits) in wanted {
        match explain(seen, digits) {
            Ok(found) => explained.extend(found),
            Err(ExplainError::Engine(e)) => return Err(e.into()),
            Err(e) => missing.push(e),
        }
    }
    if as_json {
        writeln!(out, "{}", json!({ "now": replay.now().0, "explained": explained }))?;
    } else {
        write!(out, "{}", text(&explained))?;
    }
    out.flush()?;
    missing.iter().for_each(|e| complain(e));
    Ok(missing.is_empty())
}
