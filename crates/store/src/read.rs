//! Reading: the sequence in its order, and one state of the views at a time.

use super::codec::{Record, decode};
use super::records::{
    AuthorRecord, BlobPresence, EntryRecord, EventLocation, KeyStats, LabelRecord, PostRecord, RankRecord,
    Seq, SequenceRecord, ShownRecord, TickMark, scoped, unscoped,
};
use super::views::Shown;
use super::{Family, KEY_TICKED, Store, StoreError};
use rocksdb::{DBRawIterator, Direction, IteratorMode, ReadOptions, Snapshot};
use wats_event::Hex32;

/// An event, as the sequence holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it is, and when it was received.
    pub held: EventLocation,
    /// Its JSON text, or a record that holds it.
    pub text: String,
}

impl Store {
    /// The last place of the sequence; 0 when it is empty.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn last(&self) -> Result<Seq, StoreError> {
        match self.db.iterator_cf(self.family(Family::Sequence), IteratorMode::End).next() {
            None => Ok(Seq(0)),
            Some(item) => seq(&item?.0),
        }
    }

    /// The records of the sequence after a place, in order.
    pub fn records(&self, after: Seq) -> Records<'_> {
        let mut options = ReadOptions::default();
        // A pass over everything must not push out what readers need.
        options.fill_cache(false);
        options.set_readahead_size(2 << 20);
        let from = (after.0 + 1).to_be_bytes();
        let mode = IteratorMode::From(&from, Direction::Forward);
        Records(self.db.iterator_cf_opt(self.family(Family::Sequence), options, mode))
    }

    /// The records of the sequence up to a place, but for those that cannot be read.
    pub fn readable(&self, last: Seq) -> Readable<'_> {
        Readable { store: self, records: self.records(Seq(0)), at: Seq(0), last, lost: 0 }
    }

    /// The last place that is known of: of the sequence, or, where its end cannot be read, that was acknowledged.
    pub fn last_known(&self) -> Seq {
        let acknowledged = self.acknowledged.read().unwrap_or_default();
        self.last().map_or(acknowledged, |last| last.max(acknowledged))
    }

    /// The record at a place of the sequence.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn logged(&self, seq: Seq) -> Result<Option<SequenceRecord>, StoreError> {
        self.record(Family::Sequence, &seq.0.to_be_bytes())
    }

    /// Where a held event is.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn held(&self, id: Hex32) -> Result<Option<EventLocation>, StoreError> {
        self.record(Family::Events, &id.0)
    }

    /// A held event.
    ///
    /// # Errors
    /// When the store cannot be read, or contradicts itself.
    pub fn event(&self, id: Hex32) -> Result<Option<Place>, StoreError> {
        let Some(held) = self.held(id)? else {
            return Ok(None);
        };
        Ok(Some(Place { held, text: self.record_at(held.seq)? }))
    }

    /// The held events whose ids start with these hex digits; at most `most`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn starting_with(&self, digits: &str, most: usize) -> Result<Vec<Hex32>, StoreError> {
        let first = Hex32::parse(&format!("{digits:0<64}"));
        let Some(first) = first else {
            return Ok(Vec::new());
        };
        let mode = IteratorMode::From(&first.0, Direction::Forward);
        let mut found = Vec::new();
        for item in self.db.iterator_cf(self.family(Family::Events), mode).take(most) {
            let (key, _) = item?;
            let id = key.as_ref().try_into().map(Hex32);
            let id = id.map_err(|_| StoreError::Damaged("a key of events is no id".into()))?;
            if !id.starts_with(digits) {
                break;
            }
            found.push(id);
        }
        Ok(found)
    }

    /// The text of the event at a place.
    pub(super) fn record_at(&self, seq: Seq) -> Result<String, StoreError> {
        match self.record(Family::Sequence, &seq.0.to_be_bytes())? {
            Some(SequenceRecord::Event { text, .. }) => Ok(text),
            _ => Err(StoreError::Damaged(format!("no event is at place {} of the sequence", seq.0))),
        }
    }

    /// The last word on a blob.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn blob(&self, blob: Hex32) -> Result<Option<BlobPresence>, StoreError> {
        self.record(Family::Blobs, &blob.0)
    }

    /// When a key was first seen in a network.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn key_seen(&self, network: &str, key: Hex32) -> Result<Option<KeyStats>, StoreError> {
        self.record(Family::Keys, &scoped(network, &key))
    }

    /// The replies that name a root, in the order of the sequence, after a place; at most `most`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn replies(
        &self,
        network: &str,
        root: Hex32,
        after: Seq,
        most: usize,
    ) -> Result<Vec<(Seq, Hex32)>, StoreError> {
        let prefix = scoped(network, &root);
        let from = [&prefix[..], &(after.0 + 1).to_be_bytes()].concat();
        self.related(Family::Replies, &prefix, IteratorMode::From(&from, Direction::Forward), most)
    }

    /// The reacts on an event, the latest in the sequence first; at most `most`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn reacts(&self, network: &str, target: Hex32, most: usize) -> Result<Vec<(Seq, Hex32)>, StoreError> {
        let prefix = scoped(network, &target);
        let from = [&prefix[..], &u64::MAX.to_be_bytes()].concat();
        self.related(Family::Reacts, &prefix, IteratorMode::From(&from, Direction::Reverse), most)
    }

    fn related(
        &self,
        family: Family,
        prefix: &[u8],
        mode: IteratorMode<'_>,
        most: usize,
    ) -> Result<Vec<(Seq, Hex32)>, StoreError> {
        let mut found = Vec::new();
        for item in self.db.iterator_cf(self.family(family), mode) {
            let (key, bytes) = item?;
            let Some(place) = key.strip_prefix(prefix).filter(|_| found.len() < most) else {
                break;
            };
            let record: ShownRecord = decode(&bytes).map_err(|cause| at(family, &key, cause))?;
            found.push((seq(place)?, record.event));
        }
        Ok(found)
    }

    fn record<R: Record>(&self, family: Family, key: &[u8]) -> Result<Option<R>, StoreError> {
        let bytes = self.db.get_pinned_cf(self.family(family), key)?;
        bytes.map(|bytes| decode(&bytes).map_err(|cause| at(family, key, cause))).transpose()
    }

    /// The views, all of one tick, as they are now.
    pub fn read(&self) -> Reader<'_> {
        Reader { store: self, snapshot: self.db.snapshot() }
    }
}

fn at(family: Family, key: &[u8], cause: super::CodecError) -> StoreError {
    let key: String = key.iter().map(|b| format!("{b:02x}")).collect();
    StoreError::Record { at: format!("{} {key}", family.name()), cause }
}

pub(super) fn seq(key: &[u8]) -> Result<Seq, StoreError> {
    let bytes =
        key.try_into().map_err(|_| StoreError::Damaged("a place of the sequence is not a number".into()))?;
    Ok(Seq(u64::from_be_bytes(bytes)))
}

/// Records of the sequence.
pub struct Records<'s>(rocksdb::DBIterator<'s>);

impl std::fmt::Debug for Records<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Records")
    }
}

impl Iterator for Records<'_> {
    type Item = Result<(Seq, SequenceRecord), StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(match self.0.next()? {
            Err(e) => Err(e.into()),
            Ok((key, bytes)) => seq(&key).and_then(|seq| {
                let logged = decode(&bytes).map_err(|cause| at(Family::Sequence, &key, cause))?;
                Ok((seq, logged))
            }),
        })
    }
}

/// Records of the sequence, but for those that cannot be read.
pub struct Readable<'s> {
    store: &'s Store,
    records: Records<'s>,
    at: Seq,
    last: Seq,
    lost: u64,
}

impl Readable<'_> {
    /// Places that were passed over so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

impl std::fmt::Debug for Readable<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Readable").field("at", &self.at).field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl Iterator for Readable<'_> {
    type Item = (Seq, SequenceRecord);

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.last {
            match self.records.next()? {
                Ok((seq, logged)) => {
                    self.at = seq;
                    return Some((seq, logged)).filter(|_| seq <= self.last);
                }
                Err(_) => {
                    // The iterator has ended at the damage: one place after the other, until one is behind it.
                    self.at.0 += 1;
                    self.lost += 1;
                    self.records = self.store.records(self.at);
                }
            }
        }
        None
    }
}

/// One state of the store: what it says is all of one tick.
pub struct Reader<'s> {
    pub(super) store: &'s Store,
    pub(super) snapshot: Snapshot<'s>,
}

impl std::fmt::Debug for Reader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reader")
    }
}

impl Reader<'_> {
    /// The tick that the views are of.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn ticked(&self) -> Result<TickMark, StoreError> {
        Ok(self.record(Family::Meta, KEY_TICKED)?.unwrap_or_default())
    }

    /// The view of a post.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn post(&self, network: &str, id: Hex32) -> Result<Option<PostRecord>, StoreError> {
        self.record(Family::Posts, &scoped(network, &id))
    }

    /// The views of many posts, in the order of their ids as given: for each it costs a fraction of
    /// [`Reader::post`].
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn posts_of(&self, network: &str, ids: &[Hex32]) -> Result<Vec<Option<PostRecord>>, StoreError> {
        let mut keys: Vec<(Vec<u8>, usize)> =
            ids.iter().enumerate().map(|(n, id)| (scoped(network, id), n)).collect();
        keys.sort_unstable();
        let mut options = ReadOptions::default();
        options.set_snapshot(&self.snapshot);
        let family = self.store.family(Family::Posts);
        let sorted = keys.iter().map(|(key, _)| key);
        let found = self.store.db.batched_multi_get_cf_opt(family, sorted, true, &options);
        let mut records = vec![None; ids.len()];
        for ((key, n), bytes) in keys.iter().zip(found) {
            if let Some(bytes) = bytes? {
                records[*n] = Some(decode(&bytes).map_err(|cause| at(Family::Posts, key, cause))?);
            }
        }
        Ok(records)
    }

    /// The view of a key.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn author(&self, network: &str, key: Hex32) -> Result<Option<AuthorRecord>, StoreError> {
        self.record(Family::Authors, &scoped(network, &key))
    }

    /// The entry of that event: as a digest, or as a thread's canonical answer.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn entry(&self, network: &str, id: Hex32, digest: bool) -> Result<Option<EntryRecord>, StoreError> {
        let mut key = scoped(network, &id);
        key.push(u8::from(digest));
        self.record(Family::Entries, &key)
    }

    /// What is shown for a root.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn shown(&self, network: &str, root: Hex32, what: Shown) -> Result<Option<Hex32>, StoreError> {
        let mut key = scoped(network, &root);
        key.push(what as u8);
        Ok(self.record::<ShownRecord>(Family::Threads, &key)?.map(|shown| shown.event))
    }

    /// The label of a network, if it has one.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn label(&self, network: &str) -> Result<Option<LabelRecord>, StoreError> {
        self.record(Family::Labels, network.as_bytes())
    }

    /// The rank of a blob.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn rank(&self, blob: Hex32) -> Result<Option<RankRecord>, StoreError> {
        self.record(Family::Ranks, &blob.0)
    }

    /// All keys of a network, with their views.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn authors(&self, network: &str) -> Result<Vec<(Hex32, AuthorRecord)>, StoreError> {
        let found = self.scan(Family::Authors, network)?;
        Ok(found.into_iter().map(|(key, _, author)| (key, author)).collect())
    }

    /// All posts of a network, with their views.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn posts(&self, network: &str) -> Result<Vec<(Hex32, PostRecord)>, StoreError> {
        let found = self.scan(Family::Posts, network)?;
        Ok(found.into_iter().map(|(id, _, post)| (id, post)).collect())
    }

    /// All entries of a network: the event, whether it is a digest, and what it covers.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn entries(&self, network: &str) -> Result<Vec<(Hex32, bool, EntryRecord)>, StoreError> {
        let found = self.scan(Family::Entries, network)?;
        Ok(found.into_iter().map(|(id, rest, entry)| (id, rest == [1], entry)).collect())
    }

    fn scan<R: Record>(&self, family: Family, network: &str) -> Result<Vec<(Hex32, Vec<u8>, R)>, StoreError> {
        let mut prefix = network.as_bytes().to_vec();
        prefix.push(0);
        let mode = IteratorMode::From(&prefix, Direction::Forward);
        let mut found = Vec::new();
        for item in self.snapshot.iterator_cf(self.store.family(family), mode) {
            let (key, bytes) = item?;
            if !key.starts_with(&prefix) {
                break;
            }
            let (_, name, rest) =
                unscoped(&key).ok_or_else(|| StoreError::Damaged(format!("a key of {}", family.name())))?;
            found.push((name, rest.to_vec(), decode(&bytes).map_err(|cause| at(family, &key, cause))?));
        }
        Ok(found)
    }

    pub(super) fn record<R: Record>(&self, family: Family, key: &[u8]) -> Result<Option<R>, StoreError> {
        let bytes = self.snapshot.get_pinned_cf(self.store.family(family), key)?;
        bytes.map(|bytes| decode(&bytes).map_err(|cause| at(family, key, cause))).transpose()
    }

    /// The records of a family from a key on.
    pub(super) fn from<R: Record>(
        &self,
        family: Family,
        key: &[u8],
    ) -> impl Iterator<Item = Result<(Box<[u8]>, R), StoreError>> + '_ {
        let mode = IteratorMode::From(key, Direction::Forward);
        self.snapshot.iterator_cf(self.store.family(family), mode).map(move |item| {
            let (key, bytes) = item?;
            let record = decode(&bytes).map_err(|cause| at(family, &key, cause))?;
            Ok((key, record))
        })
    }

    /// A cursor over a family of views, for comparing all of it.
    pub(super) fn raw(&self, family: Family) -> DBRawIterator<'_> {
        let mut options = ReadOptions::default();
        options.fill_cache(false);
        self.snapshot.raw_iterator_cf_opt(self.store.family(family), options)
    }
}
