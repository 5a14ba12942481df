//! What the dataflow is fed: one fact for each held event, with names interned, evidence judged and
//! text reduced to "blank or not"; the blobs the node holds; and the time.

use crate::ids::{BlobId, EventId, Initial, KeyId, Millis, NetworkId, OwnerId, Stamp, TagId};
use serde::{Deserialize, Serialize};

/// A held event (section 1), valid and with the smallest `received_at` of its copies.
///
/// When an earlier copy arrives, the fact with the old `received_at` is retracted and the new one
/// added; apart from that, events are never taken back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventFact {
    /// The event.
    pub id: EventId,
    /// Its `created_at` and the start of its id: its place in the order "latest".
    pub stamp: Stamp,
    /// When this node first received it.
    pub received_at: Millis,
    /// The network it belongs to.
    pub network: NetworkId,
    /// Its author.
    pub author: KeyId,
    /// Its work: leading zero bits of its id.
    pub work: u16,
    /// What it says.
    pub body: Body,
}

impl EventFact {
    /// `te(e) = min(created_at, received_at)` (section 1.2).
    pub fn te(&self) -> Millis {
        self.stamp.created_at.min(self.received_at)
    }
}

/// What an event says, by kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Body {
    /// An ask, a post or a digest: *post-like*.
    Post(Post),
    /// A react.
    React(React),
    /// An announce, with its declared owner: a non-empty string of at most 256 bytes.
    Announce {
        /// `data.owner`, where it is of that form.
        owner: Option<OwnerId>,
    },
    /// Another extension: held and relayed, and a possible parent, otherwise ignored.
    Other {
        /// Where it stands, when it has a parent.
        reply: Option<Reply>,
    },
}

/// The kinds of post-like events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PostKind {
    /// `ask`.
    Ask,
    /// `post`.
    Post,
    /// `x.wearetheswarm.digest`.
    Digest,
}

/// A parent and the thread that the event claims; both are present or neither is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Reply {
    /// What it replies to.
    pub parent: EventId,
    /// The root of the thread it says it is in.
    pub thread: EventId,
}

/// A post-like event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Post {
    /// Which kind.
    pub kind: PostKind,
    /// Where it stands, when it has a parent.
    pub reply: Option<Reply>,
    /// Its citations, in their order, as written (repeats possible).
    pub refs: Box<[EventId]>,
    /// Whether its text is missing or *blank* (only Unicode White_Space).
    pub blank: bool,
    /// The blobs it attaches.
    pub blobs: Box<[BlobId]>,
    /// `data.supersedes`, on a digest.
    pub supersedes: Option<EventId>,
    /// Its tags, sorted, none twice.
    pub tags: Box<[TagId]>,
    /// Where its title is sorted, when it has one.
    pub initial: Option<Initial>,
}

/// A react.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct React {
    /// Its `parent`: what it reacts to.
    pub target: EventId,
    /// `data.value`: -1, 0 or 1, as written (`used` with evidence is read as 1 by the dataflow).
    pub value: Option<i8>,
    /// `data.accept`.
    pub accept: Option<bool>,
    /// `data.used`.
    pub used: Option<bool>,
    /// `data.still_valid` is `true`.
    pub still_valid: bool,
    /// `data.label`: `Some(true)` for `"vouch"`, `Some(false)` for `"unvouch"`.
    pub vouch: Option<bool>,
    /// What `data.evidence` amounts to.
    pub evidence: Evidence,
    /// Its citations, in their order, as written.
    pub refs: Box<[EventId]>,
    /// The blobs it attaches.
    pub blobs: Box<[BlobId]>,
}

/// What a react's `data.evidence` amounts to (section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Evidence {
    /// Missing or empty.
    None,
    /// Non-empty.
    Text,
    /// Non-empty and an object whose `blob` is one of the react's own attachments: *artifact*
    /// evidence while the node holds that blob, text otherwise.
    Blob(BlobId),
}

impl Evidence {
    /// Whether there is any.
    pub fn given(self) -> bool {
        self != Evidence::None
    }
}
