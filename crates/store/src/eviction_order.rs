//! The order of eviction (section 8) as keys of the store: bytes that sort as ranks do.

use wats_event::Hex32;
use wats_model::fixed::Fixed;
use wats_model::ids::Millis;

/// A rank of section 8: (`score`, used, `created_at`); none without holders, below all.
pub type Ranked = Option<(Fixed, bool, Millis)>;

/// A blob's place in the order of eviction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The blob.
    pub blob: Hex32,
    /// Its rank.
    pub rank: Ranked,
    /// The place itself, to go on after it.
    pub key: Vec<u8>,
}

/// Bytes of a rank in a key.
const RANK: usize = 1 + 8 + 1 + 8;

/// The key of a blob in the order of eviction: its rank as bytes that sort as ranks do, then its hash.
pub(super) fn order(blob: Hex32, rank: Ranked) -> Vec<u8> {
    let mut key = rank_bytes(rank).to_vec();
    key.extend_from_slice(&blob.0);
    key
}

pub(super) fn rank_bytes(rank: Ranked) -> [u8; RANK] {
    let mut bytes = [0; RANK];
    if let Some((score, used, created_at)) = rank {
        bytes[0] = 1;
        // With the sign's bit turned, negative numbers sort before others.
        bytes[1..9].copy_from_slice(&(score.0 as u64 ^ 1 << 63).to_be_bytes());
        bytes[9] = u8::from(used);
        bytes[10..].copy_from_slice(&created_at.0.to_be_bytes());
    }
    bytes
}

/// Takes a key made by [`order`] apart.
pub(super) fn standing(key: &[u8]) -> Option<Standing> {
    let (rank, name) = key.split_first_chunk::<RANK>()?;
    let blob = Hex32(name.try_into().ok()?);
    let number = |bytes: &[u8]| bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
    let of = |rank: &[u8]| {
        (Fixed((number(&rank[1..9]) ^ 1 << 63) as i64), rank[9] == 1, Millis(number(&rank[10..])))
    };
    Some(Standing { blob, rank: (rank[0] == 1).then(|| of(rank)), key: key.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_as_ranks_do_and_come_back() {
        let blob = Hex32([7; 32]);
        let of = |score, used, at| Some((Fixed(score), used, Millis(at)));
        let ranks = [
            None,
            of(i64::MIN, true, 9),
            of(-1, true, 9),
            of(0, false, 0),
            of(0, false, 9),
            of(0, true, 0),
            of(1, false, 0),
            of(i64::MAX, false, 0),
        ];
        let keys: Vec<_> = ranks.iter().map(|rank| order(blob, *rank)).collect();
        assert!(keys.is_sorted() && ranks.is_sorted());
        for (key, rank) in keys.iter().zip(ranks) {
            assert_eq!(standing(key), Some(Standing { blob, rank, key: key.clone() }));
        }
        assert_eq!(standing(&[1; 20]), None);
    }
}
