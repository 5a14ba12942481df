//! Blobs: every file against its hash, and what the sequence says is held against the files.

use super::{Finding, Mode, State, finding};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use wats_event::Hex32;
use wats_model::ids::Millis;
use wats_node::NodeError;
use wats_store::blobs::Found;
use wats_store::{Appender, Store, StoreError};

/// What is wrong, by what would put it right.
#[derive(Debug, Default)]
struct Wrong {
    whole: u64,
    damaged: Vec<Hex32>,
    unsaid: Vec<Hex32>,
    missing: Vec<Hex32>,
    left_over: u64,
    strays: u64,
}

/// Reads every file whole, and compares what there is with the records.
///
/// # Errors
/// When the store or the disk fails.
pub fn blobs(store: &Arc<Store>, now: Millis, mode: Mode) -> Result<Vec<Finding>, NodeError> {
    let wrong = examine(store).map_err(|e| failed(store, e))??;
    if mode == Mode::Repair {
        repair(store, &wrong, now)?;
    }
    let mut found = Vec::new();
    let mut tell = |count: u64, state: State, what: &str| {
        if count > 0 {
            found.push(finding("blobs", state, format!("{count} {what}")));
        }
    };
    let (put_right, of) = (mode.repaired(), |blobs: &[Hex32]| blobs.len() as u64);
    tell(of(&wrong.damaged), put_right, "files are not what their names say, and are not held any longer");
    tell(of(&wrong.missing), put_right, "blobs have no file, and are not held any longer");
    tell(of(&wrong.unsaid), put_right, "files have no record, and are taken in");
    tell(wrong.left_over, put_right, "unfinished uploads are left over");
    tell(wrong.strays, State::Notice, "files are none of a blob; nobody reads them");
    if found.is_empty() {
        found.push(finding("blobs", State::Good, format!("{} blobs, each what its name says", wrong.whole)));
    }
    Ok(found)
}

fn failed(store: &Store, cause: io::Error) -> NodeError {
    StoreError::File { file: store.blob_files().directory().to_owned(), cause }.into()
}

fn examine(store: &Store) -> io::Result<Result<Wrong, StoreError>> {
    let files = store.blob_files();
    let mut said = BTreeSet::new();
    for word in store.blob_words() {
        match word {
            Ok((blob, at)) if at.present => drop(said.insert(blob)),
            Ok(_) => {}
            Err(e) => return Ok(Err(e)),
        }
    }
    let mut all = Vec::new();
    let mut wrong = Wrong { left_over: files.unfinished()?.len() as u64, ..Wrong::default() };
    files.all(|found| match found {
        Found::Blob(blob, _) => all.push(blob),
        Found::Stray(_) => wrong.strays += 1,
    })?;
    for blob in all {
        let known = said.remove(&blob);
        match files.is_whole(blob)? {
            false => wrong.damaged.push(blob),
            true if known => wrong.whole += 1,
            true => wrong.unsaid.push(blob),
        }
    }
    wrong.missing = said.into_iter().collect();
    Ok(Ok(wrong))
}

/// First the records, then the files: a crash in between leaves what the next start sees to.
fn repair(store: &Arc<Store>, wrong: &Wrong, now: Millis) -> Result<(), NodeError> {
    let files = store.blob_files();
    let mut appender = Appender::new(store.clone())?;
    let gone = wrong.damaged.iter().chain(&wrong.missing).map(|blob| (*blob, false));
    for (blob, present) in gone.chain(wrong.unsaid.iter().map(|blob| (*blob, true))) {
        let at = appender.own_word(blob, present, now)?;
        if present || store.blob(blob)?.is_some() {
            appender.blob(blob, present, at)?;
        }
    }
    appender.commit()?;
    for &blob in &wrong.damaged {
        files.remove(blob).map_err(|e| failed(store, e))?;
    }
    let unfinished = files.unfinished().map_err(|e| failed(store, e))?;
    unfinished.into_iter().try_for_each(std::fs::remove_file).map_err(|e| failed(store, e))
}
