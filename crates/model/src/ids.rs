//! Compact names: 32-byte keys, event ids, blobs and owners are interned to integers before they
//! become facts, so that arrangements hold four bytes where the network signs thirty-two.
//!
//! The integers say only "same" or "different". Where the specification orders by id, the order
//! comes from [`Stamp`]; group names, "its smallest key", are resolved where the bytes are.

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub struct $name(pub $inner);
    };
}

id! {
    /// A network, by its place in the configuration (section 1: nothing crosses networks).
    NetworkId(u16)
}
id! {
    /// An author key within one network: the same Ed25519 key in two networks is two `KeyId`s, so
    /// that nothing joined on keys can cross.
    KeyId(u32)
}
id! {
    /// An event id within one network, whether the event is held or only named by another: an id
    /// named from two networks is two `EventId`s, so that nothing joined on ids can cross.
    EventId(u32)
}
id! {
    /// A blob, by its BLAKE3 hash; the same in every network.
    BlobId(u32)
}
id! {
    /// A declared owner (`data.owner`) within one network.
    OwnerId(u32)
}

id! {
    /// A tag within one network.
    TagId(u32)
}
id! {
    /// The letter or digit that a title is sorted under: a code point, or 0 where it has neither.
    Initial(u32)
}

/// A point in time or a span, in Unix milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Millis(pub u64);

impl Millis {
    /// One day.
    pub const DAY: Millis = Millis(86_400_000);
    /// One hour.
    pub const HOUR: Millis = Millis(3_600_000);

    /// A span of whole days.
    pub const fn days(n: u64) -> Millis {
        Millis(n * Millis::DAY.0)
    }

    /// The span since `earlier`, zero when `earlier` is later.
    pub fn since(self, earlier: Millis) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }

    /// This time moved later by `span`.
    pub fn after(self, span: Millis) -> Millis {
        Millis(self.0.saturating_add(span.0))
    }
}

/// The order that "latest" means (section 1.3): by `created_at`, then by id.
///
/// `tie` holds the first half of the event id. Two ids that share it would be a 128-bit near
/// collision of BLAKE3; they would still be two events, of which either may count as the later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// The author's claim, `created_at`.
    pub created_at: Millis,
    /// The first 16 bytes of the event id.
    pub tie: [u8; 16],
}

/// A group of keys (section 3, *Groups*), named by what makes it one.
///
/// The specification names a group by its smallest key. That name changes when a smaller key joins,
/// this one does not; the outer layer, which holds the keys' bytes, translates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum GroupId {
    /// All own profiles of a network, and the keys that declare an owner one of them declares.
    Profiles(NetworkId),
    /// The keys that declare this owner.
    Owner(OwnerId),
    /// A key that declares none.
    Alone(KeyId),
}

/// There are more names than the engine has integers for: 65,536 networks, or 2^32 of anything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdSpaceExhausted(pub &'static str);

impl std::fmt::Display for IdSpaceExhausted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "more {} than this node can hold; restrict the networks in a configuration file", self.0)
    }
}

impl std::error::Error for IdSpaceExhausted {}
