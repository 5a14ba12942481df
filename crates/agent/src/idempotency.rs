//! Idempotency cache: the same draft of a profile within 24 hours yields the same signed event.
//!
//! An event has a time, so a draft that is signed twice gives two events, and two reacts or two posts. A retry after a
//! lost answer must not do that. The cache keeps each signed event by its draft. A file lock guards it against other
//! processes.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use wats_event::Hex32;
use wats_files::{new_private_file, private_directory};
use wats_model::ids::Millis;

/// For how long the same words are the same event.
pub const KEPT: Millis = Millis(24 * 3_600_000);
/// The longest entry, in bytes: an event, and what is put around it.
const MAX_ENTRY: u64 = 1 << 20;
/// Old entries are cleared away at every so manyth.
const CLEARED: u8 = 32;

/// Why nothing can be kept.
#[derive(Debug, thiserror::Error)]
#[error("{}: {cause}; what is said cannot be kept until it was sent", file.display())]
pub struct OutboxError {
    /// The file.
    file: PathBuf,
    /// Why.
    cause: io::Error,
}

/// A directory of what was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbox(PathBuf);

/// What was said in a place.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    /// The hash of the draft.
    draft: Hex32,
    at: Millis,
    /// The signed event.
    event: String,
}

impl Outbox {
    /// An outbox in a directory, which is made when something is said.
    pub fn new(directory: PathBuf) -> Outbox {
        Outbox(directory)
    }

    /// The signed event of a draft: the one that was signed for it within [`KEPT`], by a clock that may have
    /// been set back, or a new one. What is
    /// said in the same place takes the place of what was, so that a word that was taken back can be said
    /// anew. A draft has the network and the kind, but no time.
    ///
    /// # Errors
    /// When the directory cannot be used, or `sign` fails.
    pub fn say<E: From<OutboxError>>(
        &self,
        author: Hex32,
        draft: &Value,
        clock: impl FnOnce() -> Millis,
        sign: impl FnOnce(Millis) -> Result<String, E>,
    ) -> Result<String, E> {
        let _held = self.lock()?;
        // Only now: another process may have said it while this one waited.
        let now = clock();
        let said = hash(&[&author.0, draft.to_string().as_bytes()]);
        let file = self.0.join(place(author, draft).to_string());
        if let Some(entry) = self.read(&file)
            && entry.draft == said
            && now.0.abs_diff(entry.at.0) < KEPT.0
        {
            return Ok(entry.event);
        }
        let event = sign(now)?;
        let entry = Entry { draft: said, at: now, event: event.clone() };
        self.write(&file, &entry)?;
        if said.0[0].is_multiple_of(CLEARED) {
            self.clear(now);
        }
        Ok(event)
    }

    fn lock(&self) -> Result<File, OutboxError> {
        let path = self.0.join("lock");
        let failed = |cause| OutboxError { file: path.clone(), cause };
        private_directory(&self.0).map_err(failed)?;
        let mut options = OpenOptions::new();
        let file =
            options.write(true).create(true).truncate(false).mode(0o600).open(&path).map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(file)
    }

    /// An entry; one that cannot be read is as good as none.
    fn read(&self, file: &Path) -> Option<Entry> {
        let fits = fs::metadata(file).is_ok_and(|m| m.len() <= MAX_ENTRY);
        fits.then(|| fs::read(file).ok()).flatten().and_then(|text| serde_json::from_slice(&text).ok())
    }

    /// On the disk before it is sent: a process that dies in between sends the same event again.
    fn write(&self, file: &Path, entry: &Entry) -> Result<(), OutboxError> {
        let failed = |cause| OutboxError { file: file.to_owned(), cause };
        let beside = self.0.join("new");
        let text = serde_json::to_vec(entry).map_err(|e| failed(e.into()))?;
        // Left by one who died.
        let _ = fs::remove_file(&beside);
        new_private_file(&beside, &text).map_err(failed)?;
        fs::rename(&beside, file).and_then(|()| File::open(&self.0)?.sync_all()).map_err(failed)
    }

    /// Entries that are too old go.
    fn clear(&self, now: Millis) {
        for file in fs::read_dir(&self.0).into_iter().flatten().flatten() {
            let path = file.path();
            if self.read(&path).is_some_and(|entry| now.0.saturating_sub(entry.at.0) >= KEPT.0) {
                // What cannot be removed is tried again.
                let _ = fs::remove_file(&path);
            }
        }
    }
}

/// Where a draft is kept: what a key says of an event by a react is one place, as the latest counts;
/// everything else is a place of its own.
fn place(author: Hex32, draft: &Value) -> Hex32 {
    match draft["kind"].as_str() {
        Some("react") => {
            let text = |name: &str| draft[name].as_str().unwrap_or_default().to_owned();
            hash(&[&author.0, b"react", text("net").as_bytes(), text("parent").as_bytes()])
        }
        _ => hash(&[&author.0, draft.to_string().as_bytes()]),
    }
}

fn hash(parts: &[&[u8]]) -> Hex32 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    Hex32(*hasher.finalize().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::cell::Cell;

    fn outbox(name: &str) -> Outbox {
        let directory = std::env::temp_dir().join(format!("wats-outbox-{name}-{}", std::process::id()));
        // Left over from a run that died, or not there.
        let _ = fs::remove_dir_all(&directory);
        Outbox::new(directory)
    }

    /// Says a draft; which signature it got.
    fn say(outbox: &Outbox, signed: &Cell<u32>, draft: &Value, now: u64) -> String {
        let sign = |_| {
            signed.set(signed.get() + 1);
            Ok::<_, OutboxError>(format!("event {}", signed.get()))
        };
        outbox.say(Hex32([1; 32]), draft, || Millis(now), sign).expect("a directory")
    }

    #[test]
    fn the_same_words_are_the_same_event_for_a_day() {
        let (outbox, signed) = (outbox("day"), Cell::new(0));
        let post = json!({ "kind": "post", "text": "a" });
        assert_eq!(say(&outbox, &signed, &post, 0), "event 1");
        assert_eq!(say(&outbox.clone(), &signed, &post, KEPT.0 - 1), "event 1");
        assert_eq!(say(&outbox, &signed, &json!({ "kind": "post", "text": "b" }), 5), "event 2");
        assert_eq!(say(&outbox, &signed, &post, KEPT.0), "event 3");
        assert_eq!(say(&outbox, &signed, &post, 7), "event 3", "a clock that was set back");
        outbox.clear(Millis(3 * KEPT.0));
        let left = fs::read_dir(&outbox.0).unwrap().count();
        assert_eq!(left, 1, "the lock");
        fs::remove_dir_all(&outbox.0).unwrap();
    }

    #[test]
    fn a_word_that_was_taken_back_can_be_said_anew() {
        let (outbox, signed) = (outbox("back"), Cell::new(0));
        let vote = |value: i8| json!({ "kind": "react", "parent": "x", "data": { "value": value } });
        let said = [1, 1, -1, -1, 1].map(|value| say(&outbox, &signed, &vote(value), 0));
        assert_eq!(said, ["event 1", "event 1", "event 2", "event 2", "event 3"]);
        fs::remove_dir_all(&outbox.0).unwrap();
    }

    #[test]
    fn damage_is_as_good_as_nothing() {
        let (outbox, signed) = (outbox("damage"), Cell::new(0));
        let post = json!({ "kind": "post", "text": "a" });
        say(&outbox, &signed, &post, 0);
        let file = outbox.0.join(place(Hex32([1; 32]), &post).to_string());
        fs::write(&file, b"{").unwrap();
        assert_eq!(say(&outbox, &signed, &post, 1), "event 2");
        fs::remove_dir_all(&outbox.0).unwrap();
    }
}
