//! A log into a store, while no node runs on it: every check, on every processor, and one sync for
//! many records.
//!
//! It may be stopped and begun again: what is held is told from what is new, and its signatures are
//! not checked twice.

use crate::{AppendOutcome, Appender, Store, StoreError};
use std::collections::BTreeMap;
use std::sync::Arc;
use wats_event::log::{Checked, Known, LogError, Options, Record, Source, event_text, read};
use wats_event::{Code, Refusal, Rules, admit};
use wats_model::ids::Millis;

/// Records of one sync, at most.
const GROUP: u64 = 10_000;
/// Bytes of their text, about: a group is held in memory, and records may be large.
const GROUP_BYTES: usize = 8 << 20;

/// What became of the lines of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Events that are held now and were not.
    pub new: u64,
    /// Events that were held.
    pub held: u64,
    /// Records of blobs.
    pub blobs: u64,
    /// Refused lines: how many with each code, and the first of them with its reason.
    pub refused: BTreeMap<String, (u64, u64, String)>,
    /// Events of which the log says when another node received them, where that counts from now on: of new
    /// ones, and of held ones that were received later here.
    pub dated: u64,
}

impl Imported {
    /// Counts a refused line.
    pub fn refuse(&mut self, line: u64, code: &str, reason: &str) {
        let of = self.refused.entry(code.to_owned()).or_insert_with(|| (0, line, reason.to_owned()));
        of.0 += 1;
    }

    /// How many lines were refused.
    pub fn refusals(&self) -> u64 {
        self.refused.values().map(|(count, ..)| count).sum()
    }
}

/// Why an import ended before the end of its log.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The log.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Takes a log in; `now` is when bare events are received, and the latest that anything was received.
///
/// # Errors
/// When the log cannot be read on, or the store fails. What came before is held.
pub fn import(
    store: &Arc<Store>,
    source: Source,
    rules: Rules,
    now: Millis,
    imported: &mut Imported,
    mut progress: impl FnMut(),
) -> Result<(), ImportError> {
    let mut appender = Appender::new(store.clone())?;
    let known = store.clone();
    // A store that cannot be read now says so when the event is added.
    let known = Known(Arc::new(move |id| known.held(id).is_ok_and(|held| held.is_some())));
    let options = Options { keep_text: true, known: Some(known), ..Options::new(rules) };
    let mut bytes = 0;
    for checked in read(source, &options) {
        let checked = match checked {
            Ok(checked) => checked,
            Err(e) => {
                appender.commit()?;
                return Err(e.into());
            }
        };
        bytes += checked.text.as_deref().map_or(0, str::len);
        one(&mut appender, checked, &options.rules, now, imported)?;
        if appender.pending() >= GROUP || bytes >= GROUP_BYTES {
            appender.commit()?;
            bytes = 0;
        }
        progress();
    }
    appender.commit()?;
    Ok(())
}

fn one(
    appender: &mut Appender,
    checked: Checked,
    rules: &Rules,
    now: Millis,
    imported: &mut Imported,
) -> Result<(), StoreError> {
    let Checked { line, bare, received_at, text, outcome, .. } = checked;
    // A bare event says nothing of when it was received, and nothing was received in the future.
    let received_at = if bare { now } else { received_at.min(now) };
    let judged = outcome.and_then(|record| match &record {
        Record::Event(event) => admit(event, received_at, rules).map(|()| record),
        Record::Blob { .. } => Ok(record),
    });
    let Refusal { code, reason } = match judged {
        Ok(Record::Blob { blob, present }) => {
            imported.blobs += 1;
            // What a log says of another node's disk is so here when it is so here.
            let present = present && appender.has_blob(blob);
            return appender.blob(blob, present, received_at).map(drop);
        }
        Ok(Record::Event(event)) => match text {
            Some(text) => {
                let own = if bare { None } else { event_text(&text) };
                match appender.event(&event, received_at, own.unwrap_or(&text))? {
                    AppendOutcome::New(_) => {
                        imported.new += 1;
                        imported.dated += u64::from(!bare);
                    }
                    AppendOutcome::Earlier(_) => {
                        imported.held += 1;
                        imported.dated += u64::from(!bare);
                    }
                    AppendOutcome::Known(_) => imported.held += 1,
                }
                return Ok(());
            }
            None => Refusal { code: Code::BadJson, reason: "not UTF-8".into() },
        },
        Err(refusal) => refusal,
    };
    imported.refuse(line, code.as_str(), &reason);
    Ok(())
}
