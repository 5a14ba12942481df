//! The one place where stored records become bytes: bincode 2 behind a byte that tells the version.
//!
//! A record of a later version than this program knows is refused by name; one that does not decode
//! is damaged. Nothing else in wats knows how records are encoded.

use bincode::config::{Configuration, Limit, standard};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The largest record, in bytes: an event's text, and room for what is beside it.
const MAX_RECORD: usize = 1 << 20;

/// A record that the store holds.
pub(super) trait Record: Serialize + DeserializeOwned {
    /// What it is, for messages.
    const WHAT: &'static str;
    /// The version that is written.
    const VERSION: u8;
}

/// Why stored bytes cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// They are of a later version.
    #[error("{what} of version {found}, and this wats knows up to {known}: use the newer wats")]
    Newer {
        /// What it is.
        what: &'static str,
        /// Its version.
        found: u8,
        /// The latest version known.
        known: u8,
    },
    /// They are damaged.
    #[error("{what} does not decode: {why}")]
    Damaged {
        /// What it is.
        what: &'static str,
        /// What is wrong.
        why: String,
    },
}

fn config() -> Configuration<bincode::config::LittleEndian, bincode::config::Varint, Limit<MAX_RECORD>> {
    standard().with_limit::<MAX_RECORD>()
}

/// A record as bytes.
///
/// # Errors
/// When it is over the limit.
pub(super) fn encode<R: Record>(record: &R) -> Result<Vec<u8>, CodecError> {
    let mut bytes = vec![R::VERSION];
    bincode::serde::encode_into_std_write(record, &mut bytes, config())
        .map_err(|e| CodecError::Damaged { what: R::WHAT, why: e.to_string() })?;
    Ok(bytes)
}

/// A record from its bytes, every one of them.
///
/// # Errors
/// When they are of a later version, or damaged.
pub(super) fn decode<R: Record>(bytes: &[u8]) -> Result<R, CodecError> {
    let damaged = |why: String| CodecError::Damaged { what: R::WHAT, why };
    let (version, rest) = bytes.split_first().ok_or_else(|| damaged("it is empty".into()))?;
    if *version > R::VERSION {
        return Err(CodecError::Newer { what: R::WHAT, found: *version, known: R::VERSION });
    }
    let (record, read) =
        bincode::serde::decode_from_slice(rest, config()).map_err(|e| damaged(e.to_string()))?;
    match read == rest.len() {
        true => Ok(record),
        false => Err(damaged(format!("{} bytes follow it", rest.len() - read))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Sample(u64, Option<String>);

    impl Record for Sample {
        const WHAT: &'static str = "a sample";
        const VERSION: u8 = 2;
    }

    #[test]
    fn a_record_comes_back() {
        let sample = Sample(7, Some("words".into()));
        assert_eq!(decode::<Sample>(&encode(&sample).unwrap()), Ok(sample));
    }

    #[test]
    fn later_versions_and_damage_are_told_apart() {
        let mut bytes = encode(&Sample(7, None)).unwrap();
        bytes.push(0);
        assert!(matches!(decode::<Sample>(&bytes), Err(CodecError::Damaged { .. })));
        bytes[0] = 3;
        assert!(matches!(decode::<Sample>(&bytes), Err(CodecError::Newer { found: 3, known: 2, .. })));
        assert!(matches!(decode::<Sample>(&[]), Err(CodecError::Damaged { .. })));
        assert!(matches!(decode::<Sample>(&[2, 255, 255]), Err(CodecError::Damaged { .. })));
    }
}
