//! What the store holds: records of the sequence, and views under the names that events sign.

use super::codec::Record;
use serde::{Deserialize, Serialize};
use wats_event::Hex32;
use wats_model::fixed::Fixed;
use wats_model::ids::Millis;
use wats_model::views::{Counts, NetworkLabel, Status};

/// A place in the local sequence, from 1: the order in which this store took records in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Seq(pub u64);

/// A record of the local sequence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SequenceRecord {
    /// An event.
    Event {
        /// When this node received it, or a wats export says that another did.
        received_at: Millis,
        /// Its id.
        id: Hex32,
        /// Its JSON text on one line; in stores of old it may be a record of section 1.2 that holds it.
        text: String,
    },
    /// A copy of a held event that was received earlier (section 1.2).
    Copy {
        /// When.
        received_at: Millis,
        /// The event.
        id: Hex32,
    },
    /// The node holds a blob, or no longer does (section 1.2).
    Blob {
        /// Since when.
        received_at: Millis,
        /// The blob.
        blob: Hex32,
        /// Whether it is there.
        present: bool,
    },
}

impl SequenceRecord {
    /// When it was received.
    pub fn received_at(&self) -> Millis {
        match self {
            SequenceRecord::Event { received_at, .. }
            | SequenceRecord::Copy { received_at, .. }
            | SequenceRecord::Blob { received_at, .. } => *received_at,
        }
    }
}

/// Where a held event is, and the smallest `received_at` of its copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventLocation {
    /// Its place in the sequence.
    pub seq: Seq,
    /// When it was received.
    pub received_at: Millis,
}

/// A key that an event was seen of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyStats {
    /// The smallest `received_at` among its events (section 1.3).
    pub first: Millis,
    /// How many of its events are held.
    pub events: u64,
    /// Its latest announce (section 1.3): what a vouch for it reacts to.
    pub announce: Option<(Millis, Hex32)>,
}

/// The last word on a blob (section 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlobPresence {
    /// Since when.
    pub received_at: Millis,
    /// Whether it is there.
    pub present: bool,
}

impl BlobPresence {
    /// This as the last word after another: the largest `received_at`, and on a tie absence
    /// (section 1.2). None where it says nothing new.
    pub fn after(self, before: Option<BlobPresence>) -> Option<BlobPresence> {
        let rank = |at: BlobPresence| (at.received_at, !at.present);
        before.is_none_or(|before| rank(self) > rank(before)).then_some(self)
    }
}

/// A group of section 3, named by what makes it one: the smallest key of it may change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Group {
    /// A key alone.
    Alone(Hex32),
    /// The reader's own profiles.
    Profiles,
    /// Keys that declare one owner.
    Owner(String),
}

/// The view of a post (section 6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostRecord {
    /// Its author.
    pub author: Hex32,
    /// Its status.
    pub status: Status,
    /// Its score: for ordering and for the reader's own eyes, never for agents.
    pub score: Fixed,
    /// Its counts.
    pub counts: Counts,
    /// How many copies the network should hold of it (section 8).
    pub replicas: u8,
    /// The line that says why, where there is something to say.
    pub why: Option<String>,
}

/// The view of a key (sections 3 and 5): for the reader's own eyes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorRecord {
    /// `trust(k)`
    pub trust: Fixed,
    /// `floor(k)`
    pub floor: Fixed,
    /// `weight(k)`
    pub weight: Fixed,
    /// `reputation(k)`
    pub reputation: Fixed,
    /// `voice(k)`
    pub voice: Fixed,
    /// `group(k)`
    pub group: Group,
    /// `class(k)`
    pub class: Group,
    /// `origins(k)`
    pub origins: Vec<Group>,
}

/// A knowledge entry (section 7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryRecord {
    /// The held roots that it covers.
    pub threads: Vec<Hex32>,
}

/// What is shown for the root of a thread (section 7): the canonical answer, or the covering digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownRecord {
    /// The event to show.
    pub event: Hex32,
}

/// The rank of a blob (section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankRecord {
    /// Never evicted.
    pub pinned: bool,
    /// Score, used and `created_at` of its best holder; none without holders.
    pub rank: Option<(Fixed, bool, Millis)>,
    /// Whether the node holds it.
    pub held: bool,
    /// How many copies the network should hold of it: the most of its holders.
    pub replicas: u8,
    /// Whether a holder is confirmed.
    pub confirmed: bool,
}

/// A blob that the node would fetch (section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WantRecord {
    /// How many copies the network should hold of it.
    pub replicas: u8,
}

/// What posts and entries are under.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Under {
    /// A tag.
    Tag(String),
    /// A thread, by its root.
    Thread(Hex32),
    /// The first letter of a title, as a code point; 0 where it has none.
    Initial(u32),
    /// A month, from January of 1970 on.
    Month(u32),
    /// A day, from the first of January of 1970 on.
    Day(u32),
}

/// How many posts and entries are under something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupRecord {
    /// Under what.
    pub under: Under,
    /// Posts of each status, in the order of [`Status`].
    pub posts: [u32; 4],
    /// Knowledge entries.
    pub entries: u32,
}

/// An entry under something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedRecord {
    /// The event.
    pub entry: Hex32,
    /// Whether it is a digest.
    pub digest: bool,
}

/// The label of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelRecord {
    /// The label.
    pub label: NetworkLabel,
    /// The key that a vouch would help most, where one can be named: for the owner's eyes alone.
    pub suggested: Option<Hex32>,
}

/// The tick that the views are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TickMark {
    /// Its number since the node was started.
    pub tick: u64,
    /// The time it was evaluated at.
    pub now: Millis,
    /// The last record of the sequence that it took in.
    pub through: Seq,
}

macro_rules! records {
    ($($record:ty: $what:literal, $version:literal;)*) => {
        $(impl Record for $record {
            const WHAT: &'static str = $what;
            const VERSION: u8 = $version;
        })*
    };
}

records! {
    SequenceRecord: "a record of the sequence", 1;
    EventLocation: "the place of an event", 1;
    KeyStats: "a key", 1;
    BlobPresence: "a blob", 1;
    PostRecord: "the view of a post", 1;
    AuthorRecord: "the view of a key", 1;
    EntryRecord: "a knowledge entry", 1;
    ShownRecord: "what is shown for a thread", 1;
    RankRecord: "the rank of a blob", 2;
    WantRecord: "a blob that is wanted", 1;
    GroupRecord: "a group to browse", 1;
    ListedRecord: "an entry to browse", 1;
    LabelRecord: "the label of a network", 1;
    TickMark: "the tick of the views", 1;
}

/// A key of the store for something that belongs to a network: names of networks hold no zero byte.
pub(super) fn scoped(network: &str, name: &Hex32) -> Vec<u8> {
    let mut key = Vec::with_capacity(network.len() + 33);
    key.extend_from_slice(network.as_bytes());
    key.push(0);
    key.extend_from_slice(&name.0);
    key
}

/// Takes a key made by [`scoped`] apart, with the bytes that follow the name.
pub(super) fn unscoped(key: &[u8]) -> Option<(&str, Hex32, &[u8])> {
    let end = key.iter().position(|&b| b == 0)?;
    let network = std::str::from_utf8(&key[..end]).ok()?;
    let (name, rest) = key[end + 1..].split_first_chunk::<32>()?;
    Some((network, Hex32(*name), rest))
}
