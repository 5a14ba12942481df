//! Explanations: why a post has its status, and where a key's trust, reputation and place come from.
//!
//! The workers of the engine are asked about the state behind the views, between ticks; what one
//! worker holds the others do not, and their answers are put together here, under the names that
//! events sign.

mod key;
mod post;
mod text;

pub use key::{Earned, Floor, Hop, KeyExplained, PartEarned, Trusted};
pub use post::{Argument, PostExplained, Signal, SignalsBy, Verdict};
pub use text::amount;

use crate::engine::{Engine, EngineError};
use crate::interner::{Interner, Named};
use crate::labels::LabelAdvice;
use crate::view_set::ViewSet;
use serde::Serialize;
use std::collections::BTreeMap;
use wats_event::Hex32;
use wats_model::ids::{EventId, GroupId, KeyId, Millis, NetworkId};

/// The least hex digits that may name an event or a key.
pub const MIN_DIGITS: usize = 8;

/// How many candidates an error lists.
const CANDIDATES: usize = 8;

/// Everything an explanation is drawn from, between two ticks.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Names, and what is held.
    pub intake: &'a Interner,
    /// The views.
    pub document: &'a ViewSet,
    /// The running dataflow.
    pub engine: &'a Engine,
    /// The time of the last tick.
    pub now: Millis,
}

/// An explanation.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Explained {
    /// Of a post.
    Post(Box<PostExplained>),
    /// Of a key.
    Key(Box<KeyExplained>),
}

impl std::fmt::Display for Explained {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Explained::Post(post) => post.fmt(f),
            Explained::Key(key) => key.fmt(f),
        }
    }
}

/// Why something cannot be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// The engine stopped.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Nothing has that name.
    #[error("{0}: no event or key of that name has been seen")]
    Unknown(String),
    /// Several things have names that start so.
    #[error("{digits}: could be {}", .candidates.join(" or "))]
    Ambiguous {
        /// What was given.
        digits: String,
        /// What it could be, with full names.
        candidates: Vec<String>,
    },
    /// An event without a status.
    #[error("{0}: is held, and is no ask, post or digest: it has no status")]
    NoPost(Hex32),
    /// An event that is not held.
    #[error("{0}: is named by other events, but not held")]
    NotHeld(Hex32),
    /// A key without held events.
    #[error("{0}: is a key of which no event is held")]
    NoEvents(Hex32),
}

impl Explained {
    /// The network that it is in, and the label of that.
    pub fn network_label(&mut self) -> (&str, &mut Option<LabelAdvice>) {
        match self {
            Explained::Post(post) => (&post.network, &mut post.network_label),
            Explained::Key(key) => (&key.network, &mut key.network_label),
        }
    }

    fn label(&self) -> Option<(&str, LabelAdvice)> {
        let (network, told) = match self {
            Explained::Post(post) => (&post.network, post.network_label),
            Explained::Key(key) => (&key.network, key.network_label),
        };
        Some((network, told?))
    }
}

/// Explanations as text, and the labels of their networks after them, each once.
pub fn text(explained: &[Explained]) -> String {
    let parts: Vec<String> = explained.iter().map(ToString::to_string).collect();
    let labels: BTreeMap<&str, LabelAdvice> = explained.iter().filter_map(Explained::label).collect();
    let mut text = parts.join("\n");
    for (network, told) in labels {
        text.push_str(&format!("{network} is {told}\n"));
    }
    text
}

/// Explains a post or a key, named by its hex digits or by the first of them; one that is in several
/// networks, in each.
///
/// # Errors
/// When nothing has that name, several things have, or it has nothing to explain.
pub fn explain(seen: Seen<'_>, digits: &str) -> Result<Vec<Explained>, ExplainError> {
    let found: Vec<(Hex32, Named)> =
        seen.intake.starting_with(digits).filter_map(|named| Some((name(seen, named)?, named))).collect();
    let Some(&(first, _)) = found.first() else {
        return Err(ExplainError::Unknown(digits.to_owned()));
    };
    if found.iter().any(|(name, _)| *name != first) {
        return Err(ambiguous(digits, &found));
    }
    let explained = found.iter().map(|(name, named)| match *named {
        Named::Key(key) => key::explain(seen, key)?
            .map(|key| Explained::Key(Box::new(key)))
            .ok_or(ExplainError::NoEvents(*name)),
        Named::Event(event) => post::explain(seen, event)?
            .map(|post| Explained::Post(Box::new(post)))
            .ok_or_else(|| match seen.intake.held(event) {
                Some(_) => ExplainError::NoPost(*name),
                None => ExplainError::NotHeld(*name),
            }),
    });
    let (good, bad): (Vec<_>, Vec<_>) = explained.partition(Result::is_ok);
    // What one network only names may be held in another.
    match (good.is_empty(), bad.into_iter().find_map(Result::err)) {
        (true, Some(e)) | (false, Some(e @ ExplainError::Engine(_))) => Err(e),
        _ => Ok(good.into_iter().flatten().collect()),
    }
}

fn name(seen: Seen<'_>, named: Named) -> Option<Hex32> {
    match named {
        Named::Key(key) => seen.intake.key_name(key),
        Named::Event(event) => seen.intake.event_name(event),
    }
}

fn ambiguous(digits: &str, found: &[(Hex32, Named)]) -> ExplainError {
    let mut candidates: Vec<String> = found
        .iter()
        .map(|(name, named)| match named {
            Named::Key(_) => format!("the key {name}"),
            Named::Event(_) => format!("the event {name}"),
        })
        .collect();
    candidates.sort_unstable();
    candidates.dedup();
    if candidates.len() > CANDIDATES {
        let more = candidates.len() - CANDIDATES;
        candidates.truncate(CANDIDATES);
        candidates.push(format!("{more} others"));
    }
    ExplainError::Ambiguous { digits: digits.to_owned(), candidates }
}

/// Names of what an explanation speaks of.
struct Naming<'a>(Seen<'a>);

impl Naming<'_> {
    fn key(&self, key: KeyId) -> Hex32 {
        self.0.intake.key_name(key).unwrap_or_default()
    }

    fn event(&self, event: EventId) -> Hex32 {
        self.0.intake.event_name(event).unwrap_or_default()
    }

    fn group(&self, group: GroupId) -> Hex32 {
        self.0.document.group_name(group, self.0.intake).unwrap_or_default()
    }

    fn groups(&self, groups: &[GroupId]) -> Vec<Hex32> {
        let mut names: Vec<Hex32> = groups.iter().map(|g| self.group(*g)).collect();
        names.sort_unstable();
        names
    }

    fn label(&self, network: Option<NetworkId>) -> Option<LabelAdvice> {
        self.0.document.label(network?, self.0.intake)
    }

    fn network(&self, network: Option<NetworkId>) -> String {
        network.and_then(|n| self.0.intake.network_name(n)).unwrap_or_default().to_owned()
    }
}
