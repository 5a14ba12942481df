//! What search knows of an event: read from its JSON text, which the store has checked.

use crate::query::Kind;
use wats_event::Hex32;
use wats_event::fields::Kind as EventKind;
use wats_event::stored_event::StoredEvent;
use wats_model::ids::Millis;

/// A post-like event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its network.
    pub network: String,
    /// What it is.
    pub kind: Kind,
    /// Its author.
    pub author: Hex32,
    /// The root of its thread: itself, where it replies to nothing.
    pub thread: Hex32,
    /// The author's claim of when.
    pub created_at: Millis,
    /// Its title.
    pub title: String,
    /// Its text.
    pub text: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// What it cites.
    pub refs: Vec<Hex32>,
    /// Whether it is a direct reply to the root of its thread.
    pub answers: bool,
}

impl Document {
    /// Reads a stored event: its JSON text, or a record that holds it. None where it is not post-like.
    pub fn read(stored: &str) -> Option<Document> {
        let said = StoredEvent::read(stored)?;
        let answers = said.parent.is_some() && said.parent == said.thread;
        let kind = match EventKind::parse(&said.kind)? {
            EventKind::Ask => Kind::Ask,
            EventKind::Post if answers => Kind::Answer,
            EventKind::Post => Kind::Post,
            EventKind::Digest => Kind::Digest,
            EventKind::React | EventKind::Announce | EventKind::Other => return None,
        };
        Some(Document {
            kind,
            author: said.author,
            thread: said.root(),
            created_at: said.created_at,
            network: said.net,
            title: said.title.unwrap_or_default(),
            text: said.text.unwrap_or_default(),
            tags: said.tags,
            refs: said.refs,
            answers,
        })
    }
}
