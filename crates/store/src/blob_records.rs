//! Blobs by rank: the order of eviction, what the node would fetch, and what it could drop (section 8).

use super::codec::decode;
use super::read::Reader;
use super::records::{BlobPresence, RankRecord, WantRecord};
use super::{Family, Store, StoreError};
use rocksdb::{Direction, IteratorMode, ReadOptions};
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

fn rank_bytes(rank: Ranked) -> [u8; RANK] {
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
fn standing(key: &[u8]) -> Option<Standing> {
    let (rank, name) = key.split_first_chunk::<RANK>()?;
    let blob = Hex32(name.try_into().ok()?);
    let number = |bytes: &[u8]| bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
    let of = |rank: &[u8]| {
        (Fixed((number(&rank[1..9]) ^ 1 << 63) as i64), rank[9] == 1, Millis(number(&rank[10..])))
    };
    Some(Standing { blob, rank: (rank[0] == 1).then(|| of(rank)), key: key.to_vec() })
}

fn hash(key: &[u8], family: Family) -> Result<Hex32, StoreError> {
    let name = key.try_into().map(Hex32);
    name.map_err(|_| StoreError::Damaged(format!("a key of {} is no hash", family.name())))
}

impl Reader<'_> {
    /// The held blobs that are not pinned, in the order in which they would go (section 8): at most
    /// `most` after a place, and of a rank below `below` where one is given.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn first_to_go(
        &self,
        after: Option<&[u8]>,
        below: Option<Ranked>,
        most: usize,
    ) -> Result<Vec<Standing>, StoreError> {
        let mut options = ReadOptions::default();
        if let Some(below) = below {
            options.set_iterate_upper_bound(rank_bytes(below).to_vec());
        }
        let from = after.map(|key| [key, &[0]].concat()).unwrap_or_default();
        let mode = IteratorMode::From(&from, Direction::Forward);
        let family = self.store.family(Family::Order);
        let found = self.snapshot.iterator_cf_opt(family, options, mode).take(most).map(|item| {
            let (key, _) = item?;
            standing(&key).ok_or_else(|| StoreError::Damaged("a key of order is no rank".into()))
        });
        found.collect()
    }

    /// Blobs of confirmed posts that the node does not hold, with how many copies there should be: at
    /// most `most` after a hash.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn wants(&self, after: Option<Hex32>, most: usize) -> Result<Vec<(Hex32, u8)>, StoreError> {
        let want = |bytes: &[u8]| decode::<WantRecord>(bytes).map(|want| want.replicas);
        self.each_of(Family::Wants, after, most, |bytes| Ok(want(bytes)?))
    }

    /// Held blobs that are not pinned and of which the network needs no copy: at most `most` after a hash.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn spares(&self, after: Option<Hex32>, most: usize) -> Result<Vec<Hex32>, StoreError> {
        let found = self.each_of(Family::Spares, after, most, |_| Ok(()))?;
        Ok(found.into_iter().map(|(blob, ())| blob).collect())
    }

    fn each_of<T>(
        &self,
        family: Family,
        after: Option<Hex32>,
        most: usize,
        read: impl Fn(&[u8]) -> Result<T, StoreError>,
    ) -> Result<Vec<(Hex32, T)>, StoreError> {
        let from = after.map(|blob| [&blob.0[..], &[0]].concat()).unwrap_or_default();
        let mode = IteratorMode::From(&from, Direction::Forward);
        let found = self.snapshot.iterator_cf(self.store.family(family), mode).take(most);
        found
            .map(|item| {
                item.map_err(Into::into).and_then(|(key, value)| Ok((hash(&key, family)?, read(&value)?)))
            })
            .collect()
    }

    /// The views of blobs: at most `most` after a hash.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn ranks(&self, after: Option<Hex32>, most: usize) -> Result<Vec<(Hex32, RankRecord)>, StoreError> {
        self.each_of(Family::Ranks, after, most, |bytes| Ok(decode(bytes)?))
    }
}

impl Store {
    /// The last word on each blob.
    pub fn blob_words(&self) -> impl Iterator<Item = Result<(Hex32, BlobPresence), StoreError>> {
        let words = self.db.iterator_cf(self.family(Family::Blobs), IteratorMode::Start);
        words.map(|item| {
            item.map_err(Into::into)
                .and_then(|(key, value)| Ok((hash(&key, Family::Blobs)?, decode(&value)?)))
        })
    }
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
