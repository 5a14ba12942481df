//! Blobs by rank: the order of eviction, what the node would fetch, and what it could drop (section 8).

use super::codec::decode;
use super::eviction_order::{Ranked, Standing, rank_bytes, standing};
use super::read::Reader;
use super::records::{BlobPresence, RankRecord, WantRecord};
use super::{Family, Store, StoreError};
use rocksdb::{Direction, IteratorMode, ReadOptions};
use wats_event::Hex32;

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
