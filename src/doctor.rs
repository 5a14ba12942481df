//! A store and the files around it, examined: what is wrong, and what would put it right.
//!
//! The sequence is the truth and can only be read; everything that follows from it can be made again.

mod blobs;

pub use blobs::blobs;

use serde::Serialize;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use wats_config::Config;
use wats_config::Limits;
use wats_config::home::Home;
use wats_event::log::read_stored;
use wats_event::{Hex32, Rules};
use wats_model::clock::Clock;
use wats_model::ids::Millis;
use wats_node::{Driver, NodeError, NodeState, load};
use wats_store::{Appender, BlobPresence, Checked, Part, Seq, SequenceRecord, Store, StoreError};

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was checked.
    pub check: &'static str,
    /// How it is.
    pub state: State,
    /// In words, with what to do.
    pub detail: String,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// As it should be.
    Good,
    /// It was not, and is now.
    Repaired,
    /// It would be put right by `--repair`.
    Repairable,
    /// Worth knowing.
    Notice,
    /// It is not, and an operator must act.
    Bad,
}

/// What the doctor may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Look.
    Look,
    /// Put right what can be made again.
    Repair,
}

impl Mode {
    fn repaired(self) -> State {
        match self {
            Mode::Look => State::Repairable,
            Mode::Repair => State::Repaired,
        }
    }
}

fn finding(check: &'static str, state: State, detail: impl Into<String>) -> Finding {
    Finding { check, state, detail: detail.into() }
}

/// Who may read what in a node's directory.
pub fn permissions(home: &Home, config: &Config, mode: Mode) -> Vec<Finding> {
    let check = "permissions";
    let mut secret = vec![home.path().to_owned(), home.profiles(), home.store()];
    secret.extend(config.node.token_file.iter().map(|file| home.path().join(file)));
    if let Ok(keys) = std::fs::read_dir(home.profiles()) {
        secret.extend(keys.filter_map(|key| Some(key.ok()?.path())));
    }
    let mut found = Vec::new();
    for path in secret.iter().filter(|path| path.exists()) {
        match wats_files::is_open_to_others(path) {
            Ok(false) => {}
            Ok(true) => {
                let closed = if mode == Mode::Repair { close(path) } else { Ok(()) };
                let state = if closed.is_ok() { mode.repaired() } else { State::Bad };
                found.push(finding(
                    check,
                    state,
                    format!("{}: others than its owner may open it", path.display()),
                ));
            }
            Err(e) => found.push(finding(check, State::Bad, format!("{}: {e}", path.display()))),
        }
    }
    if found.is_empty() {
        found.push(finding(check, State::Good, "only the owner may read keys, tokens and the store"));
    }
    found
}

fn close(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = if path.is_dir() { 0o700 } else { 0o600 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

/// How much room the disk has.
pub fn disk(path: &Path, limits: &Limits) -> Finding {
    let check = "disk";
    match wats_node::free_disk(path) {
        None => finding(check, State::Bad, "the free space cannot be told"),
        Some(free) if free < limits.min_free_disk => {
            let least = limits.min_free_disk;
            finding(
                check,
                State::Bad,
                format!("{free} bytes are free, and the node takes nothing in below {least}"),
            )
        }
        Some(free) => finding(check, State::Good, format!("{free} bytes are free")),
    }
}

/// Whether the clock agrees with what the store has seen.
///
/// # Errors
/// When the store cannot be read.
pub fn clock(store: &Store, now: Millis) -> Result<Finding, StoreError> {
    let check = "clock";
    let shown = store.read().ticked()?.now;
    Ok(match shown.since(now).0 {
        0 => finding(check, State::Good, "the views are not ahead of the clock"),
        ahead => {
            let detail = format!(
                "the views are {ahead} ms ahead of the clock: it was set back, or was wrong; time stands still \
                 for the node until the clock has caught up"
            );
            finding(check, State::Notice, detail)
        }
    })
}

/// Every block of every file against its checksum. What is damaged and follows from the sequence is thrown
/// away when it may be repaired: [`sequence`] makes places again, and a node its views when it starts.
///
/// # Errors
/// When the store fails.
pub fn blocks(store: &mut Store, mode: Mode) -> Result<Vec<Finding>, StoreError> {
    let check = "files";
    let Checked { records, damaged } = store.check_files();
    let is_damaged = |part| damaged.iter().any(|(damaged, _)| *damaged == part);
    let is_lost = is_damaged(Part::Sequence);
    let mut found = Vec::new();
    for (part, what) in &damaged {
        let (state, from) = match part {
            Part::Sequence => (State::Bad, "cannot be made again: restore a backup"),
            _ if is_lost => (State::Bad, "follows from the sequence, which is damaged itself"),
            _ => (mode.repaired(), "is made again from the sequence"),
        };
        found.push(finding(check, state, format!("{what}; this {from}")));
    }
    if mode == Mode::Repair && !is_lost {
        for part in [Part::Places, Part::Views].into_iter().filter(|part| is_damaged(*part)) {
            store.throw_away(part)?;
        }
    }
    if found.is_empty() {
        let detail = format!("{records} records, every block as it was written");
        found.push(finding(check, State::Good, detail));
    }
    Ok(found)
}

/// Every record of the sequence, and all that follows from it directly: places, first dates, blobs.
///
/// # Errors
/// When the store cannot be read.
pub fn sequence(store: &Arc<Store>, mode: Mode) -> Result<Vec<Finding>, StoreError> {
    let check = "sequence";
    let mut wrong = u64::from(store.is_rebuilding()?);
    let mut events = 0u64;
    let mut damaged = Vec::new();
    let mut blobs: HashMap<Hex32, BlobPresence> = HashMap::new();
    for item in store.records(Seq(0)) {
        let (seq, logged) = match item {
            Ok(item) => item,
            Err(e) => {
                damaged.push(e.to_string());
                break;
            }
        };
        match logged {
            SequenceRecord::Event { id, text, .. } => {
                events += 1;
                match read_stored(&text, id, &Rules::any()) {
                    Ok(Some((event, _))) if event.id == id => {
                        wrong += u64::from(!agrees(store.held(id), |held| held.seq == seq));
                        wrong += u64::from(!agrees(store.key_seen(&event.net, event.author), |_| true));
                    }
                    Ok(None) => wrong += u64::from(!agrees(store.held(id), |held| held.seq == seq)),
                    _ => damaged.push(format!("record {}: it is not the event {id}", seq.0)),
                }
            }
            SequenceRecord::Copy { received_at, id } => {
                wrong += u64::from(!agrees(store.held(id), |held| held.received_at <= received_at));
            }
            SequenceRecord::Blob { blob, received_at, present } => {
                let said = BlobPresence { received_at, present };
                if let Some(last) = said.after(blobs.get(&blob).copied()) {
                    blobs.insert(blob, last);
                }
            }
        }
    }
    for (blob, at) in blobs {
        wrong += u64::from(!agrees(store.blob(blob), |said| said == at));
    }
    // From a damaged sequence nothing can be made again, and what there is must not be thrown away.
    let whole = damaged.is_empty();
    let mut found: Vec<Finding> =
        damaged.into_iter().take(10).map(|what| finding(check, State::Bad, what)).collect();
    if wrong > 0 {
        if mode == Mode::Repair && whole {
            Appender::rebuild(store.clone())?;
        }
        let state = if whole { mode.repaired() } else { State::Bad };
        found.push(finding(check, state, format!("{wrong} places, keys or blobs do not follow from it")));
    }
    if found.is_empty() {
        found.push(finding(
            check,
            State::Good,
            format!("{events} events, each with the id of its bytes, at its place"),
        ));
    }
    Ok(found)
}

/// Whether a record can be read, is there, and is as it must be.
fn agrees<T>(record: Result<Option<T>, StoreError>, is: impl FnOnce(T) -> bool) -> bool {
    record.is_ok_and(|record| record.is_some_and(is))
}

/// Every view against a recompute of all, as of the tick that the views are of.
///
/// # Errors
/// When the store is damaged, or the engine cannot be run.
pub fn views(store: &Arc<Store>, config: &Config, mode: Mode) -> Result<Finding, NodeError> {
    let ticked = store.read().ticked()?;
    if ticked.tick == 0 {
        return Ok(finding("views", State::Good, "none yet: a node makes them when it starts"));
    }
    let clock = Clock::set_to(ticked.now);
    let core = Arc::new(NodeState::new(store.clone(), config.rules(), config.limits.clone(), clock));
    let mut driver = Driver::new(core.clone(), config, config.node.workers)?;
    let Some(loaded) = load(&core, &mut driver, wats_node::Until::Views(ticked))? else {
        return Ok(finding("views", State::Notice, "not compared"));
    };
    let views = loaded.views;
    if views.is_equal() {
        return Ok(finding("views", State::Good, format!("{} views, each equal to a recompute", views.same)));
    }
    if mode == Mode::Repair {
        store.publish(&loaded.correct, ticked)?;
    }
    let detail = format!(
        "{} are missing, {} should not be there, {} differ, {} are equal to a recompute",
        views.missing, views.extra, views.different, views.same
    );
    Ok(finding("views", mode.repaired(), detail))
}

/// Everything about a store that no node runs on.
///
/// # Errors
/// When the store cannot be read on.
pub fn store(mut store: Store, config: &Config, now: Millis, mode: Mode) -> Result<Vec<Finding>, NodeError> {
    let mut found = vec![disk(store.directory(), &config.limits), clock(&store, now)?];
    found.extend(blocks(&mut store, mode)?);
    let store = Arc::new(store);
    found.extend(sequence(&store, mode)?);
    // The rest is read through what is damaged, or would be compared with what is.
    let stands = |f: &Finding| match f.check {
        "files" => matches!(f.state, State::Good | State::Repaired),
        "sequence" => f.state != State::Bad,
        _ => true,
    };
    if store.is_rebuilding()? || !found.iter().all(stands) {
        found.push(finding("views", State::Notice, "not compared, nor blobs, because of the damage above"));
        return Ok(found);
    }
    found.extend(blobs(&store, now, mode)?);
    if found.iter().all(|f| f.state != State::Bad || f.check == "disk") {
        found.push(views(&store, config, mode)?);
    } else {
        found.push(finding("views", State::Notice, "not compared, because blobs could not be examined"));
    }
    Ok(found)
}

/// A place for a copy of a running node's store, in its own directory so that it costs hard links.
pub fn copy_place(home: &Home) -> PathBuf {
    home.path().join(format!("doctor-{}", std::process::id()))
}
