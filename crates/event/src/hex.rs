//! 32-byte names: event ids, author keys and blob hashes, written as 64 lower-case hex digits.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A 32-byte name: an event id, a key or a blob (section 1).
///
/// Its only written form is 64 lower-case hex digits; upper case is another text, and refused.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex32(pub [u8; 32]);

impl Hex32 {
    /// Reads the 64 lower-case hex digits, and nothing else.
    pub fn parse(text: &str) -> Option<Hex32> {
        decode(text).map(Hex32)
    }

    /// Whether its digits start with these, of which all must be lower-case hex.
    pub fn starts_with(&self, digits: &str) -> bool {
        let digit = |at: usize| DIGITS[usize::from(self.0[at / 2] >> (4 * (1 - at % 2)) & 15)];
        digits.len() <= 64 && digits.bytes().enumerate().all(|(at, want)| digit(at) == want)
    }

    /// The leading zero bits: of an event id, its work (section 1).
    pub fn leading_zeros(&self) -> u16 {
        let mut bits = 0;
        for byte in self.0 {
            bits += byte.leading_zeros() as u16;
            if byte != 0 {
                break;
            }
        }
        bits
    }

    /// The first half, which orders events of equal `created_at`.
    pub fn first_half(&self) -> [u8; 16] {
        let mut half = [0; 16];
        half.copy_from_slice(&self.0[..16]);
        half
    }
}

impl fmt::Display for Hex32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0; 64];
        encode_into(&self.0, &mut text);
        f.pad(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for Hex32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Digits where people read, bytes where they do not.
impl Serialize for Hex32 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.collect_str(self),
            false => self.0.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Hex32 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Hex32, D::Error> {
        if !deserializer.is_human_readable() {
            return <[u8; 32]>::deserialize(deserializer).map(Hex32);
        }
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A text that is not 64 lower-case hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not 64 lower-case hex digits")]
pub struct NotHex32;

impl FromStr for Hex32 {
    type Err = NotHex32;
    fn from_str(text: &str) -> Result<Hex32, NotHex32> {
        Hex32::parse(text).ok_or(NotHex32)
    }
}

/// Reads exactly `2 * N` lower-case hex digits.
pub fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    let mut wrong = 0;
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let (high, low) = (VALUE[usize::from(pair[0])], VALUE[usize::from(pair[1])]);
        wrong |= high | low;
        *byte = (high << 4) | (low & 0x0f);
    }
    (wrong < 16).then_some(bytes)
}

/// Writes `bytes` as lower-case hex digits.
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
        text
    })
}

fn encode_into(bytes: &[u8; 32], text: &mut [u8; 64]) {
    for (byte, pair) in bytes.iter().zip(text.chunks_exact_mut(2)) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 15)];
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The value of each hex digit; 0x80 for every other byte, so that one test finds them all.
const VALUE: [u8; 256] = {
    let mut table = [0x80; 256];
    let mut i = 0;
    while i < 16 {
        table[DIGITS[i] as usize] = i as u8;
        i += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_64_lower_case_digits_are_a_name() {
        let text = "00ff".repeat(16);
        let name = Hex32::parse(&text).expect("64 digits");
        assert_eq!(name.to_string(), text);
        assert_eq!(encode(&name.0), text);
        for wrong in [
            text.to_uppercase(),
            text[..63].to_owned(),
            format!("{text}0"),
            format!("{}g", &text[..63]),
            format!("{}é", &text[..62]),
            String::new(),
        ] {
            assert_eq!(Hex32::parse(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn work_is_the_leading_zero_bits() {
        let mut bytes = [0; 32];
        assert_eq!(Hex32(bytes).leading_zeros(), 256);
        bytes[1] = 0x10;
        assert_eq!(Hex32(bytes).leading_zeros(), 11);
        bytes[0] = 0x80;
        assert_eq!(Hex32(bytes).leading_zeros(), 0);
    }
}
