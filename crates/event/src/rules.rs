//! Why an event is refused: the codes of section 1.1, and the networks a node carries.

use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// The size limit of an event's JSON text without white space around it: 256 KiB (section 1.1).
pub const MAX_BYTES: usize = 256 * 1024;
/// The size limit of the line of a record, likewise: the largest event has room in a record (section 1.1).
pub const MAX_RECORD_BYTES: usize = MAX_BYTES + 128;
/// The nesting limit, the event itself being 1 (section 1.1).
pub const MAX_DEPTH: usize = 32;
/// How far `created_at` may lie after `received_at`, in milliseconds (section 1.1).
pub const MAX_AHEAD: u64 = 10 * 60 * 1000;

/// The one reason an event is refused for, in the order in which they are checked (section 1.1).
///
/// A known id, `duplicate`, is not an error and not among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// An event over 256 KiB or nested deeper than 32, or the line of a record over 256 KiB and 128 bytes.
    TooLarge,
    /// Not an I-JSON object.
    BadJson,
    /// A member missing, of the wrong type, form or kind, or over a limit.
    BadField,
    /// Of a network that the node does not carry.
    WrongNetwork,
    /// A react's or digest's `data` is of the wrong form.
    BadData,
    /// The id is not the hash of the canonical bytes.
    BadId,
    /// Not signed by its author, under strict rules.
    BadSignature,
    /// Less work than the network requires.
    PowTooLow,
    /// Created more than ten minutes after it was received.
    Future,
}

impl Code {
    /// All codes, in the order in which they are checked.
    pub const ALL: [Code; 9] = [
        Code::TooLarge,
        Code::BadJson,
        Code::BadField,
        Code::WrongNetwork,
        Code::BadData,
        Code::BadId,
        Code::BadSignature,
        Code::PowTooLow,
        Code::Future,
    ];

    /// The code as the specification spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::TooLarge => "too_large",
            Code::BadJson => "bad_json",
            Code::BadField => "bad_field",
            Code::WrongNetwork => "wrong_network",
            Code::BadData => "bad_data",
            Code::BadId => "bad_id",
            Code::BadSignature => "bad_signature",
            Code::PowTooLow => "pow_too_low",
            Code::Future => "future",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A refused event: the code, and a reason for a person that names the member at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {reason}")]
pub struct Refusal {
    /// The code.
    pub code: Code,
    /// What is wrong, where.
    pub reason: Cow<'static, str>,
}

impl Refusal {
    /// A refusal under a code of section 1.1.
    pub fn new(code: Code, reason: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal { code, reason: reason.into() }
    }

    /// The same, as an error.
    ///
    /// # Errors
    /// Always.
    pub fn err<T>(code: Code, reason: impl Into<Cow<'static, str>>) -> Result<T, Refusal> {
        Err(Refusal::new(code, reason))
    }
}

/// What a node asks of events: which networks it carries, and the work each requires.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Required work in bits, by network; `None` carries every network and asks no work, which is
    /// what a reader without a configuration does.
    pub networks: Option<BTreeMap<String, u32>>,
}

impl Rules {
    /// Carries every network, asking no work.
    pub fn any() -> Rules {
        Rules::default()
    }

    /// The work that a network requires, in leading zero bits; `None` when it is not carried.
    pub fn pow_bits(&self, network: &str) -> Option<u32> {
        match &self.networks {
            None => Some(0),
            Some(networks) => networks.get(network).copied(),
        }
    }
}
