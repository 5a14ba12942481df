//! What blobs take up, and who is charged: all of it in memory, made again at each start.
//!
//! A blob is charged to the key whose event named it first, as long as that key has room. What is charged
//! to no key shares one small pool, so that a flood of uploads that nobody names displaces itself alone.

use super::Storage;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use wats_event::Hex32;
use wats_model::ids::Millis;

/// Evicted blobs that are remembered.
const REMEMBERED: usize = 64;
/// How much room an upload takes at a time.
const STEP: u64 = 1 << 20;

/// Why a blob went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// It had the lowest rank when the budget was reached.
    Budget,
    /// No key was charged for it, and others like it came.
    Unattached,
    /// Its file was not what its name says.
    Damaged,
    /// Its file was gone.
    Missing,
}

impl Why {
    /// All of them.
    pub const ALL: [Why; 4] = [Why::Budget, Why::Unattached, Why::Damaged, Why::Missing];

    /// How it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Why::Budget => "budget",
            Why::Unattached => "unattached",
            Why::Damaged => "damaged",
            Why::Missing => "missing",
        }
    }
}

/// A blob that went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// The blob.
    pub blob: Hex32,
    /// Its length in bytes.
    pub size: u64,
    /// When.
    pub at: Millis,
    /// Why.
    pub why: Why,
    /// What stood behind it, in words for the owner.
    pub reason: String,
}

/// What there is no room in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Short {
    /// The budget: so many bytes are too many.
    Budget(u64),
    /// The pool of what is charged to no key: so many bytes are too many.
    Unattached(u64),
}

/// A held blob.
#[derive(Clone, Copy, Debug)]
struct Kept {
    size: u64,
    since: Millis,
    /// The key that is charged; none where it is of the pool.
    key: Option<u32>,
}

/// A key that named blobs.
#[derive(Debug, Default)]
struct Key {
    most: u64,
    used: u64,
}

/// What blobs take up.
#[derive(Debug)]
pub struct Accounts {
    storage: Storage,
    kept: HashMap<Hex32, Kept>,
    used: u64,
    reserved: u64,
    unattached: u64,
    pool: BTreeSet<(Millis, Hex32)>,
    /// Who named a blob first.
    named: HashMap<Hex32, u32>,
    ids: HashMap<Hex32, u32>,
    keys: Vec<Key>,
    own: HashSet<Hex32>,
    gone: VecDeque<Gone>,
}

/// Sums, for monitoring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Blobs held.
    pub blobs: u64,
    /// Their bytes.
    pub used: u64,
    /// Bytes of uploads that are not finished.
    pub reserved: u64,
    /// Bytes that are charged to no key, of blobs and of uploads.
    pub unattached: u64,
}

impl Accounts {
    /// Accounts without any blob.
    pub fn new(storage: &Storage) -> Accounts {
        Accounts {
            storage: storage.clone(),
            kept: HashMap::new(),
            used: 0,
            reserved: 0,
            unattached: 0,
            pool: BTreeSet::new(),
            named: HashMap::new(),
            ids: HashMap::new(),
            keys: Vec::new(),
            own: HashSet::new(),
            gone: VecDeque::new(),
        }
    }

    /// The keys that have no limit.
    pub fn own(&mut self, keys: impl IntoIterator<Item = Hex32>) {
        self.own.extend(keys);
    }

    /// Whether a blob is held, and its length.
    pub fn size(&self, blob: Hex32) -> Option<u64> {
        self.kept.get(&blob).map(|kept| kept.size)
    }

    /// Sums.
    pub fn sums(&self) -> Sums {
        let (used, reserved, unattached) = (self.used, self.reserved, self.unattached);
        Sums { blobs: self.kept.len() as u64, used, reserved, unattached }
    }

    /// Bytes above a mark, were so many more to come.
    pub fn above(&self, mark: u64, more: u64) -> u64 {
        (self.used + self.reserved).saturating_add(more).saturating_sub(mark)
    }

    /// What a key may be charged for: ten times as much with weight, and without limit when it is an own
    /// profile.
    fn most(&self, key: Hex32, weighty: bool) -> u64 {
        match (self.own.contains(&key), weighty) {
            (true, _) => u64::MAX,
            (false, true) => self.storage.key_bytes.saturating_mul(10),
            (false, false) => self.storage.key_bytes,
        }
    }

    /// Keys have weight now, or have none. Those with more room are charged for what they named first.
    pub fn weigh(&mut self, keys: impl IntoIterator<Item = (Hex32, bool)>) {
        let mut more = false;
        for (key, weighty) in keys {
            if let Some(id) = self.ids.get(&key).copied() {
                let most = self.most(key, weighty);
                let before = std::mem::replace(&mut self.keys[id as usize].most, most);
                more |= most > before;
            }
        }
        if more {
            for (since, blob) in self.pool.clone() {
                if let Some(size) = self.size(blob).filter(|size| self.payer(blob, *size, None).is_some()) {
                    self.keep(blob, size, since);
                }
            }
        }
    }

    /// An event of a key names blobs: the first to name one is charged for it.
    pub fn names(&mut self, key: Hex32, weighty: bool, blobs: &[Hex32]) {
        if blobs.is_empty() {
            return;
        }
        let next = self.keys.len() as u32;
        let id = *self.ids.entry(key).or_insert(next);
        if id == next {
            self.keys.push(Key::default());
        }
        self.keys[id as usize].most = self.most(key, weighty);
        for &blob in blobs {
            if *self.named.entry(blob).or_insert(id) != id {
                continue;
            }
            if let Some(kept) = self.kept.get(&blob).copied().filter(|kept| kept.key.is_none())
                && self.has_room(id, kept.size)
            {
                self.forget(blob);
                self.keep(blob, kept.size, kept.since);
            }
        }
    }

    fn has_room(&self, key: u32, size: u64) -> bool {
        let Key { most, used } = self.keys[key as usize];
        used.saturating_add(size) <= most
    }

    /// Who is charged for so much of a blob, of which a key may be charged for some already.
    fn payer(&self, blob: Hex32, size: u64, charged: Option<(u32, u64)>) -> Option<u32> {
        let key = self.named.get(&blob).copied()?;
        let already = charged.filter(|(by, _)| *by == key).map_or(0, |(_, bytes)| bytes);
        self.has_room(key, size.saturating_sub(already)).then_some(key)
    }

    /// A blob is held from now on.
    pub fn keep(&mut self, blob: Hex32, size: u64, since: Millis) {
        self.forget(blob);
        let key = self.payer(blob, size, None);
        self.kept.insert(blob, Kept { size, since, key });
        self.used += size;
        self.charge(key, size);
        if key.is_none() {
            self.pool.insert((since, blob));
        }
    }

    /// A blob is held no longer.
    pub fn forget(&mut self, blob: Hex32) {
        if let Some(Kept { size, since, key }) = self.kept.remove(&blob) {
            self.used -= size;
            self.credit(key, size);
            self.pool.remove(&(since, blob));
        }
    }

    fn charge(&mut self, key: Option<u32>, size: u64) {
        match key {
            Some(key) => self.keys[key as usize].used += size,
            None => self.unattached += size,
        }
    }

    fn credit(&mut self, key: Option<u32>, size: u64) {
        match key {
            Some(key) => self.keys[key as usize].used -= size,
            None => self.unattached -= size,
        }
    }

    /// Blobs of the pool that came before a time, the oldest first; at most `most`.
    pub fn oldest_unattached(&self, before: Millis, most: usize) -> Vec<(Hex32, u64)> {
        let old = self.pool.iter().take_while(|(since, _)| *since <= before).take(most);
        old.filter_map(|(_, blob)| Some((*blob, self.size(*blob)?))).collect()
    }

    /// Remembers why a blob went.
    pub fn gone(&mut self, gone: Gone) {
        if self.gone.len() >= REMEMBERED {
            self.gone.pop_front();
        }
        self.gone.push_back(gone);
    }

    /// The blobs that went lately, the latest last.
    pub fn lately(&self) -> impl Iterator<Item = &Gone> {
        self.gone.iter()
    }

    /// Whether so much more of a blob would fit.
    ///
    /// The owner's own has room beside what others fill the pool with: its event comes right after it.
    fn fits(&self, key: Option<u32>, more: u64, is_owner: bool) -> Result<(), Short> {
        match self.above(self.storage.high_water, more) {
            0 => {}
            above => return Err(Short::Budget(above)),
        }
        let above = self.unattached.saturating_add(more).saturating_sub(self.storage.unattached_bytes);
        match above {
            above if above > 0 && key.is_none() && !is_owner => Err(Short::Unattached(above)),
            _ => Ok(()),
        }
    }
}

/// Room that an upload has taken; it is given back when this goes.
#[derive(Debug)]
pub struct Reserved {
    accounts: Arc<Mutex<Accounts>>,
    blob: Hex32,
    key: Option<u32>,
    bytes: u64,
    is_owner: bool,
}

impl Reserved {
    pub(super) fn new(accounts: Arc<Mutex<Accounts>>, blob: Hex32, is_owner: bool) -> Reserved {
        Reserved { accounts, blob, key: None, bytes: 0, is_owner }
    }

    /// The key that is charged for it so far, and for how much.
    fn charged(&self) -> Option<(u32, u64)> {
        Some((self.key?, self.bytes))
    }

    /// Whether all of `size` bytes would fit now; nothing is taken.
    ///
    /// # Errors
    /// What there is no room in.
    pub fn would_fit(&self, size: u64) -> Result<(), Short> {
        let accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let key = accounts.payer(self.blob, size, self.charged());
        accounts.fits(key, size - size.min(self.bytes), self.is_owner)
    }

    /// Takes room for what has come, `bytes` of `size`, a little ahead.
    ///
    /// # Errors
    /// What there is no room in; what was taken is kept.
    pub fn grow(&mut self, bytes: u64, size: u64) -> Result<(), Short> {
        if bytes <= self.bytes {
            return Ok(());
        }
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let want = bytes.next_multiple_of(STEP).min(size).max(bytes);
        let key = accounts.payer(self.blob, size, self.charged());
        let more = want - self.bytes;
        accounts.fits(key, if key == self.key { more } else { want }, self.is_owner)?;
        accounts.credit(self.key, self.bytes);
        accounts.charge(key, want);
        accounts.reserved += more;
        (self.key, self.bytes) = (key, want);
        Ok(())
    }

    /// The upload is finished: what it took is the blob's.
    pub fn keep(mut self, size: u64, since: Millis) {
        let accounts = self.accounts.clone();
        let mut accounts = accounts.lock().unwrap_or_else(PoisonError::into_inner);
        self.give_back(&mut accounts);
        accounts.keep(self.blob, size, since);
    }

    fn give_back(&mut self, accounts: &mut Accounts) {
        let bytes = std::mem::take(&mut self.bytes);
        accounts.reserved -= bytes;
        accounts.credit(self.key, bytes);
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let accounts = self.accounts.clone();
        let mut accounts = accounts.lock().unwrap_or_else(PoisonError::into_inner);
        self.give_back(&mut accounts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn storage() -> Storage {
        Storage {
            high_water: 100 << 20,
            key_bytes: 10 << 20,
            unattached_bytes: 20 << 20,
            ..Storage::default()
        }
    }

    fn blob(n: u8) -> Hex32 {
        Hex32([n; 32])
    }

    #[test]
    fn the_first_to_name_a_blob_is_charged_up_to_its_limit() {
        let mut accounts = Accounts::new(&storage());
        accounts.own([blob(200)]);
        for n in 0..4 {
            accounts.keep(blob(n), 6 << 20, Millis(n.into()));
        }
        assert_eq!(accounts.sums().unattached, 24 << 20);
        accounts.names(blob(100), false, &[blob(0), blob(1), blob(2)]);
        assert_eq!(accounts.sums().unattached, 18 << 20, "it has room for one");
        accounts.names(blob(101), false, &[blob(1)]);
        assert_eq!(accounts.sums().unattached, 18 << 20, "another named it first");
        accounts.weigh([(blob(100), true), (blob(102), true)]);
        assert_eq!(accounts.sums().unattached, 6 << 20, "with weight there is room for ten times as much");
        accounts.names(blob(200), false, &[blob(3)]);
        assert_eq!(accounts.sums().unattached, 0);
        (0..4).for_each(|n| accounts.forget(blob(n)));
        assert_eq!(accounts.sums(), Sums::default());
        assert!(accounts.keys.iter().all(|key| key.used == 0) && accounts.pool.is_empty());
    }

    #[test]
    fn room_is_taken_as_bytes_come_and_given_back() {
        let accounts = Arc::new(Mutex::new(Accounts::new(&storage())));
        let sums = || accounts.lock().unwrap().sums();
        let mut one = Reserved::new(accounts.clone(), blob(1), false);
        assert_eq!(one.would_fit(30 << 20), Err(Short::Unattached(10 << 20)));
        assert_eq!(one.would_fit(200 << 20), Err(Short::Budget(100 << 20)));
        one.grow(1, 15 << 20).unwrap();
        assert_eq!(sums(), Sums { reserved: 1 << 20, unattached: 1 << 20, ..Sums::default() });
        one.grow(15 << 20, 15 << 20).unwrap();
        let mut two = Reserved::new(accounts.clone(), blob(2), false);
        assert_eq!(two.grow(6 << 20, 6 << 20), Err(Short::Unattached(1 << 20)));
        accounts.lock().unwrap().names(blob(9), false, &[blob(2)]);
        two.grow(6 << 20, 6 << 20).unwrap();
        one.keep(15 << 20, Millis(1));
        drop(two);
        assert_eq!(sums(), Sums { blobs: 1, used: 15 << 20, unattached: 15 << 20, reserved: 0 });
    }
}
