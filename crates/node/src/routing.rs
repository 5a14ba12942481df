//! The order in which an ask reaches waiters: the keys it names, then those with the capabilities it asks for, and after
//! a head start everybody.
//!
//! A capability is a tag that begins with `cap:`. A key has those of its latest announce (section 1.3); an
//! ask with several asks for all of them. A head start is a courtesy among those who wait and nothing
//! more: who waits says by itself who it is, and an ask that is held back from it here is held by the
//! node, found by search and read by anybody.

use std::collections::BTreeSet;
use std::time::Duration;
use wats_event::Hex32;
use wats_event::stored_event::StoredEvent;
use wats_model::ids::Millis;
use wats_store::{Store, StoreError};

/// How tags of capabilities begin.
const CAPABILITY: &str = "cap:";

/// How an ask reaches somebody; those before others come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// By name; its own author, too, need not wait for it.
    Named,
    /// By what it can do.
    Capable,
    /// As everybody.
    Everybody,
}

/// Somebody who waits, as far as asks are routed to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// Its key, as it says.
    pub key: Option<Hex32>,
    /// What it can do: tags that begin with `cap:`.
    pub capabilities: BTreeSet<String>,
}

/// The capabilities among tags.
pub fn capabilities(tags: &[String]) -> impl Iterator<Item = &String> {
    tags.iter().filter(|tag| tag.len() > CAPABILITY.len() && tag.starts_with(CAPABILITY))
}

/// Whether an event goes to some before it goes to all.
pub fn is_routed(said: &StoredEvent) -> bool {
    said.kind == "ask" && (!said.to.is_empty() || capabilities(&said.tags).next().is_some())
}

/// When an ask that is routed is for everybody; none where it is already. What was received in the
/// future, as after a clock was set back, is held back from nobody.
pub fn release(said: &StoredEvent, received_at: Millis, head_start: Duration, now: Millis) -> Option<Millis> {
    let span = Millis(u64::try_from(head_start.as_millis()).unwrap_or(u64::MAX));
    let release = received_at.after(span);
    (received_at <= now && now < release && is_routed(said)).then_some(release)
}

impl Who {
    /// Somebody with this key and what its latest announce says it can do.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of(store: &Store, network: &str, key: Option<Hex32>) -> Result<Who, StoreError> {
        let seen = key.map(|key| store.key_seen(network, key)).transpose()?.flatten();
        let announce =
            seen.and_then(|seen| seen.announce).map(|(_, id)| store.event(id)).transpose()?.flatten();
        let said = announce.and_then(|place| StoredEvent::read(&place.text));
        let capabilities = said.iter().flat_map(|said| capabilities(&said.tags).cloned()).collect();
        Ok(Who { key, capabilities })
    }

    /// How an ask reaches it.
    pub fn reach(&self, said: &StoredEvent) -> Reach {
        let named = self.key.is_some_and(|key| said.author == key || said.to.contains(&key));
        let mut wanted = capabilities(&said.tags).peekable();
        let capable = wanted.peek().is_some() && wanted.all(|tag| self.capabilities.contains(tag));
        match (named, capable) {
            (true, _) => Reach::Named,
            (false, true) => Reach::Capable,
            (false, false) => Reach::Everybody,
        }
    }
}
