//! `wats replay --json`: the document that the vectors hold, and more.

use super::{file_name, list};
use serde_json::json;
use std::io::{self, Write};
use std::path::PathBuf;
use wats_engine::replay::{Place, Refused, Replay};
use wats_event::Code;

/// Writes the document; `gap` stands between its items.
pub(super) fn write(replay: &Replay, logs: &[PathBuf], gap: &str, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{{\"now\":{},{gap}\"networks\":", replay.now().0)?;
    replay.document.write_networks(out, &replay.intake, gap)?;
    list(out, gap, "refused", &replay.refused.lines, |(place, code): &(Place, Code)| {
        let mut item = json!({ "line": place.line, "code": code.as_str() });
        if logs.len() > 1 {
            item["file"] = file_name(logs, *place).into();
        }
        item
    })?;
    list(out, gap, "reasons", &replay.refused.reasons, |refused: &Refused| {
        let reason = refused.refusal.reason.as_ref();
        json!({ "file": file_name(logs, refused.place), "line": refused.place.line, "reason": reason })
    })?;
    let tally = &replay.tally;
    let records = json!({
        "events": tally.events,
        "copies": tally.copies,
        "blobs": tally.blobs,
        "later": tally.later,
        "refused": replay.refused.count(),
    });
    writeln!(out, ",{gap}\"records\":{records}}}")
}
