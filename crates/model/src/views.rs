//! What the dataflow puts out: the current answer for each post, key, knowledge entry and blob.

use crate::fixed::Fixed;
use crate::ids::{BlobId, EventId, GroupId, Initial, KeyId, Millis, NetworkId, TagId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a reader sees of a post-like event (section 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Status {
    /// A contradiction stands or is undecided, and is not outlived.
    Contested,
    /// Nothing yet: no judgement.
    Unverified,
    /// Supported once; no support is live.
    Stale,
    /// A live supporter.
    Confirmed,
}

/// How many voices said what about a post (section 6, `counts`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Counts {
    /// Voices that accept it: 0 or 1.
    pub accepts: u32,
    /// Voices that confirm it.
    pub confirmations: u32,
    /// Voices that used it.
    pub uses: u32,
    /// Voices whose contradiction stands or is undecided, and is not outlived.
    pub contradictions: u32,
    /// Classes that cite it.
    pub cites: u32,
    /// Classes that vote it up.
    pub votes_up: u32,
    /// Classes that vote it down.
    pub votes_down: u32,
}

/// Why a post has its status, in terms of the arguments that decided (section 6, `why`): the words
/// are put to it where the events' text is at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Why {
    /// Contested.
    Contradicted {
        /// Keys whose contradiction stands or is undecided, and is not outlived.
        keys: u32,
        /// Whether `argument` is a react with evidence.
        evidence: bool,
        /// The argument to quote: of those keys' arguments with the strongest label (IN before
        /// UNDEC), reacts with evidence first, the earliest by `Stamp`; or the own event that it rests
        /// on.
        argument: EventId,
        /// Arguments labelled IN that attack an argument of any contradiction of the post.
        rebuttals: u32,
        /// Whether a contradiction stands; otherwise all that count are undecided.
        stands: bool,
    },
    /// Confirmed although contradicted: the contradiction was rebutted.
    Rebutted {
        /// Whether an argument labelled IN that rebuts is a react with evidence.
        evidence: bool,
    },
}

/// The view of a post-like event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PostView {
    /// The post.
    pub post: EventId,
    /// Its author.
    pub author: KeyId,
    /// Its status.
    pub status: Status,
    /// Its score.
    pub score: Fixed,
    /// Its counts.
    pub counts: Counts,
    /// How many copies the network should hold of it (section 8).
    pub replicas: u8,
    /// Present when contested, or confirmed against a rebutted contradiction.
    pub why: Option<Why>,
}

/// The view of a key (sections 3 and 5).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AuthorView {
    /// The key.
    pub key: KeyId,
    /// `trust(k)`.
    pub trust: Fixed,
    /// `floor(k)`.
    pub floor: Fixed,
    /// `weight(k) = trust(k) + floor(k)`.
    pub weight: Fixed,
    /// `reputation(k)`, which may be negative.
    pub reputation: Fixed,
    /// `voice(k)`.
    pub voice: Fixed,
    /// `group(k)`.
    pub group: GroupId,
    /// `class(k)`.
    pub class: GroupId,
    /// `origins(k)`, sorted.
    pub origins: Arc<[GroupId]>,
}

/// A knowledge entry (section 7).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EntryView {
    /// The digest, or the canonical answer.
    pub entry: EventId,
    /// Whether it is a digest; otherwise a thread, through its canonical answer.
    pub digest: bool,
    /// The held roots it covers, sorted; for a thread its root.
    pub threads: Vec<EventId>,
}

/// The canonical answer of a thread (section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CanonicalView {
    /// The thread's root, an ask.
    pub thread: EventId,
    /// Its canonical answer.
    pub answer: EventId,
}

/// The digest shown for a root that entries cover (section 7, last sentence).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CoverView {
    /// The root.
    pub thread: EventId,
    /// The digest.
    pub digest: EventId,
}

/// The rank of a blob that is attached or held (section 8): evict in increasing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BlobView {
    /// The blob.
    pub blob: BlobId,
    /// Whether the node holds it.
    pub held: bool,
    /// Never evicted.
    pub pinned: bool,
    /// The largest over its holders of (`score`, used, `created_at`); none without holders, which
    /// ranks below all.
    pub rank: Option<(Fixed, bool, Millis)>,
    /// How many copies the network should hold of it: the most of its holders.
    pub replicas: u8,
    /// Whether a holder is confirmed.
    pub confirmed: bool,
}

/// What posts are under, to be browsed by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Facet {
    /// A tag.
    Tag(TagId),
    /// What begins a thread.
    Thread(EventId),
    /// The first letter of the title of that.
    Initial(NetworkId, Initial),
    /// A month of `created_at`: 0 is January of 1970.
    Month(NetworkId, u32),
    /// A day of it: 0 is the first of that month.
    Day(NetworkId, u32),
}

/// How many posts and entries are under something; where there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GroupView {
    /// Under what.
    pub facet: Facet,
    /// Posts of each status, in the order of [`Status`].
    pub posts: [u32; 4],
    /// Knowledge entries.
    pub entries: u32,
    /// Of a thread: whether the ask or post that begins it is held.
    pub begun: bool,
}

/// A knowledge entry under something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ListedView {
    /// Under what.
    pub under: Facet,
    /// Its score, rounded (`r` of section 3); the largest comes first.
    pub rank: Fixed,
    /// The day of its `created_at`; on a tie the latest comes first.
    pub day: u32,
    /// The entry.
    pub entry: EventId,
    /// Whether it is a digest.
    pub digest: bool,
}

/// What a reader should know of a whole network before it relies on any status there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NetworkLabel {
    /// `cold > 0` (section 3, *Cold start*): the reader trusts nobody yet, and strangers' old keys
    /// count a little.
    Cold,
    /// Not cold, but no key except own profiles has weight: what the reader relied on has decayed.
    Alone,
}

/// A network that has a label; a network without one has no such view.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NetworkView {
    /// The network.
    pub network: NetworkId,
    /// Its label.
    pub label: NetworkLabel,
    /// The keys with the most trust that no own profile vouches for, sorted: a vouch for one of them
    /// helps most. Trust comes from the reader alone, so no stranger can put a key here. Empty when
    /// no key has trust, or when more than [`MAX_SUGGESTED`] have equally much.
    pub suggested: Vec<KeyId>,
}

/// The most keys of equal trust that a [`NetworkView`] names.
pub const MAX_SUGGESTED: usize = 16;

/// Any of the views.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum View {
    /// A post.
    Post(PostView),
    /// A key.
    Author(AuthorView),
    /// A knowledge entry.
    Entry(EntryView),
    /// A thread's canonical answer.
    Canonical(CanonicalView),
    /// The digest shown for a root.
    Cover(CoverView),
    /// A blob.
    Blob(BlobView),
    /// Counts of what is under something.
    Group(GroupView),
    /// An entry under something.
    Listed(ListedView),
    /// A network's label.
    Network(NetworkView),
}

impl Status {
    /// Every status, from the least to the most.
    pub const ALL: [Status; 4] = [Status::Contested, Status::Unverified, Status::Stale, Status::Confirmed];

    /// The name of the status, as documents and queries have it.
    pub fn name(self) -> &'static str {
        match self {
            Status::Contested => "contested",
            Status::Unverified => "unverified",
            Status::Stale => "stale",
            Status::Confirmed => "confirmed",
        }
    }
}

/// The member of every answer that holds the label of a network.
pub const NETWORK_LABEL: &str = "network_label";

impl NetworkLabel {
    /// The name of the label, as documents have it.
    pub fn name(self) -> &'static str {
        match self {
            NetworkLabel::Cold => "cold",
            NetworkLabel::Alone => "alone",
        }
    }
}
