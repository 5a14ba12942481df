//! `wats replay --changes`: what each tick changed, one JSON object a line.

use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;
use wats_engine::interner::Interner;
use wats_engine::replay::{Place, Ticked};

/// Writes the lines.
pub(super) struct Changes<'a> {
    logs: &'a [PathBuf],
}

impl<'a> Changes<'a> {
    pub(super) fn new(logs: &'a [PathBuf]) -> Changes<'a> {
        Changes { logs }
    }

    /// Writes what a tick did, when it changed something.
    pub(super) fn write(&self, out: &mut impl Write, ticked: &Ticked, intake: &Interner) -> io::Result<()> {
        if ticked.changed.is_empty() {
            return Ok(());
        }
        let records: Vec<String> =
            ranges(&ticked.records).map(|(place, last)| self.range(place, last)).collect();
        let (tick, now) = (ticked.number, ticked.now.0);
        writeln!(out, "{{\"tick\":{tick},\"now\":{now},\"records\":{}}}", json!(records))?;
        for changed in &ticked.changed {
            let network = Value::from(intake.network_name(changed.network));
            let kind = changed.kind.as_str();
            let id = changed.id.map_or_else(|| network.clone(), |id| Value::from(id.to_string()));
            let or_null = |side: &Option<Value>| side.as_ref().map_or("null".to_owned(), Value::to_string);
            let (before, after) = (or_null(&changed.before), or_null(&changed.after));
            writeln!(
                out,
                "{{\"tick\":{tick},\"network\":{network},\"{kind}\":{id},\"before\":{before},\"after\":{after}}}"
            )?;
        }
        Ok(())
    }

    fn range(&self, first: Place, last: u64) -> String {
        let file = super::file_name(self.logs, first);
        match first.line == last {
            true => format!("{file}:{last}"),
            false => format!("{file}:{}-{last}", first.line),
        }
    }
}

/// Neighbouring lines of one log in one: the first, and the number of the last.
fn ranges(places: &[Place]) -> impl Iterator<Item = (Place, u64)> {
    let neighbours = |a: &Place, b: &Place| a.log == b.log && a.line + 1 == b.line;
    places.chunk_by(neighbours).filter_map(|run| Some((*run.first()?, run.last()?.line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_range() {
        let place = |log, line| Place { log, line };
        let places = [place(0, 3), place(0, 4), place(0, 6), place(1, 7)];
        let got: Vec<_> = ranges(&places).collect();
        assert_eq!(got, [(place(0, 3), 4), (place(0, 6), 6), (place(1, 7), 7)]);
    }
}
