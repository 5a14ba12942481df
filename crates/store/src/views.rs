//! Writing views: one batch for a tick, and the tick with them.

use super::codec::{Record, encode};
use super::eviction_order::order;
use super::records::{
    AuthorRecord, EntryRecord, LabelRecord, PostRecord, RankRecord, ShownRecord, TickMark, WantRecord,
    scoped, unscoped,
};
use super::{Family, KEY_TICKED, Store, StoreError};
use rocksdb::WriteBatch;
use std::collections::BTreeMap;
use wats_event::Hex32;

/// What may be shown for the root of a thread (section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Its canonical answer.
    Canonical = 0,
    /// The digest that covers it.
    Digest = 1,
}

/// What a tick makes of the views. For each name the last addition counts, and a removal only where
/// there is no addition: the changes of a tick may come in any order.
#[derive(Debug, Default)]
pub struct ViewBatch(BTreeMap<(Family, Vec<u8>), Option<Vec<u8>>>);

impl ViewBatch {
    /// A post's view appears or goes.
    ///
    /// # Errors
    /// When it is over the limit of a record.
    pub fn post(&mut self, network: &str, id: Hex32, post: Option<&PostRecord>) -> Result<(), StoreError> {
        self.set(Family::Posts, scoped(network, &id), post)
    }

    /// A key's view appears or goes.
    ///
    /// # Errors
    /// When it is over the limit of a record.
    pub fn author(
        &mut self,
        network: &str,
        key: Hex32,
        author: Option<&AuthorRecord>,
    ) -> Result<(), StoreError> {
        self.set(Family::Authors, scoped(network, &key), author)
    }

    /// An entry appears or goes.
    ///
    /// # Errors
    /// When it is over the limit of a record.
    pub fn entry(
        &mut self,
        network: &str,
        id: Hex32,
        digest: bool,
        entry: Option<&EntryRecord>,
    ) -> Result<(), StoreError> {
        let mut key = scoped(network, &id);
        key.push(u8::from(digest));
        self.set(Family::Entries, key, entry)
    }

    /// What is shown for a root appears or goes.
    ///
    /// # Errors
    /// When it is over the limit of a record.
    pub fn shown(
        &mut self,
        network: &str,
        root: Hex32,
        what: Shown,
        event: Option<Hex32>,
    ) -> Result<(), StoreError> {
        let mut key = scoped(network, &root);
        key.push(what as u8);
        self.set(Family::Threads, key, event.map(|event| ShownRecord { event }).as_ref())
    }

    /// A network's label appears or goes.
    ///
    /// # Errors
    /// When it is over the limit of a record.
    pub fn label(&mut self, network: &str, label: Option<&LabelRecord>) -> Result<(), StoreError> {
        self.set(Family::Labels, network.as_bytes().to_vec(), label)
    }

    /// A blob's view appears or goes, and with it its place in the order of eviction, and in the lists of
    /// what the node would fetch and what it could drop.
    ///
    /// # Errors
    /// When it is over the limit of a record.
    pub fn rank(&mut self, blob: Hex32, rank: &RankRecord, here: bool) -> Result<(), StoreError> {
        self.set(Family::Ranks, blob.0.to_vec(), here.then_some(rank))?;
        let nothing = here.then(Vec::new);
        if rank.held && !rank.pinned {
            self.put(Family::Order, order(blob, rank.rank), nothing.clone());
            if rank.replicas == 0 {
                self.put(Family::Spares, blob.0.to_vec(), nothing);
            }
        } else if !rank.held && rank.confirmed {
            let want = WantRecord { replicas: rank.replicas };
            self.set(Family::Wants, blob.0.to_vec(), here.then_some(&want))?;
        }
        Ok(())
    }

    /// With what a later tick makes of the views: of each name the later word counts.
    pub fn then(&mut self, later: ViewBatch) {
        self.0.extend(later.0);
    }

    /// The roots, with their networks, for which something else is shown, or nothing.
    pub fn roots(&self) -> impl Iterator<Item = (&str, Hex32)> {
        let threads = self.0.keys().filter(|(family, _)| *family == Family::Threads);
        threads.filter_map(|(_, key)| unscoped(key)).map(|(network, root, _)| (network, root))
    }

    /// How many names it touches.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn set<R: Record>(
        &mut self,
        family: Family,
        key: Vec<u8>,
        record: Option<&R>,
    ) -> Result<(), StoreError> {
        self.put(family, key, record.map(encode).transpose()?);
        Ok(())
    }

    fn put(&mut self, family: Family, key: Vec<u8>, value: Option<Vec<u8>>) {
        let slot = self.0.entry((family, key)).or_default();
        if value.is_some() {
            *slot = value;
        }
    }
}

/// How the views of a store differ from what they should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Views that are as they should be.
    pub same: u64,
    /// Views that should be there.
    pub missing: u64,
    /// Views that should not be there.
    pub extra: u64,
    /// Views that say something else.
    pub different: u64,
}

impl Compared {
    /// Whether nothing differs.
    pub fn is_equal(&self) -> bool {
        self.missing + self.extra + self.different == 0
    }
}

impl Store {
    /// Writes the views of a tick, and the tick, in one batch: readers see all of it or nothing. It is
    /// not synced: what a crash loses of it follows from the sequence.
    ///
    /// # Errors
    /// When the store fails.
    pub fn publish(&self, views: &ViewBatch, ticked: TickMark) -> Result<(), StoreError> {
        let mut batch = WriteBatch::default();
        for ((family, key), value) in &views.0 {
            match value {
                Some(value) => batch.put_cf(self.family(*family), key, value),
                None => batch.delete_cf(self.family(*family), key),
            }
        }
        batch.put(KEY_TICKED, encode(&ticked)?);
        Ok(self.db.write(batch)?)
    }

    /// Compares all views with what they should be, `all`; what corrects them.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn compare(&self, all: ViewBatch) -> Result<(Compared, ViewBatch), StoreError> {
        let mut compared = Compared::default();
        let mut correct = ViewBatch::default();
        let mut wanted = all.0;
        let reader = self.read();
        for family in Family::VIEWS {
            let mut stored = reader.raw(family);
            stored.seek_to_first();
            while let (Some(key), Some(value)) = (stored.key(), stored.value()) {
                let name = (family, key.to_vec());
                match wanted.remove(&name).flatten() {
                    Some(want) if want == value => compared.same += 1,
                    Some(want) => {
                        compared.different += 1;
                        correct.0.insert(name, Some(want));
                    }
                    None => {
                        compared.extra += 1;
                        correct.0.insert(name, None);
                    }
                }
                stored.next();
            }
            stored.status()?;
        }
        compared.missing = wanted.len() as u64;
        correct.0.extend(wanted);
        Ok((compared, correct))
    }
}
