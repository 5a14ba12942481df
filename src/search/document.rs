//! What search knows of an event: read from its JSON text, which the store has checked.

use crate::event::fields::Kind as EventKind;
use crate::event::json::{self, Json, Members};
use crate::event::{Hex32, MAX_DEPTH};
use crate::search::query::Kind;
use wats_dataflows::ids::Millis;

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
    pub fn read(id: Hex32, stored: &str) -> Option<Document> {
        let Ok(Json::Object(members)) = json::parse(stored.as_bytes(), MAX_DEPTH + 1) else {
            return None;
        };
        match (members.get("received_at"), members.get("event")) {
            (Some(_), Some(Json::Object(event))) => Document::of(id, event),
            _ => Document::of(id, &members),
        }
    }

    fn of(id: Hex32, event: &Members<'_>) -> Option<Document> {
        let text = |name| event.get(name).and_then(Json::as_str);
        let hex = |name| text(name).and_then(Hex32::parse);
        let (parent, thread) = (hex("parent"), hex("thread"));
        let answers = parent.is_some() && parent == thread;
        let kind = match EventKind::parse(text("kind")?)? {
            EventKind::Ask => Kind::Ask,
            EventKind::Post if answers => Kind::Answer,
            EventKind::Post => Kind::Post,
            EventKind::Digest => Kind::Digest,
            EventKind::React | EventKind::Announce | EventKind::Other => return None,
        };
        Some(Document {
            network: text("net")?.to_owned(),
            kind,
            author: hex("author")?,
            thread: thread.unwrap_or(id),
            created_at: Millis(event.get("created_at")?.as_integer()?.try_into().ok()?),
            title: text("title").unwrap_or_default().to_owned(),
            text: text("text").unwrap_or_default().to_owned(),
            tags: strings(event, "tags").map(str::to_owned).collect(),
            refs: strings(event, "refs").filter_map(Hex32::parse).collect(),
            answers,
        })
    }
}

fn strings<'e>(event: &'e Members<'_>, name: &str) -> impl Iterator<Item = &'e str> {
    let items = match event.get(name) {
        Some(Json::Array(items)) => items.as_slice(),
        _ => &[],
    };
    items.iter().filter_map(Json::as_str)
}
