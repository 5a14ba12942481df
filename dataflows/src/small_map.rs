//! A map for the many keys that hold two things and the few that hold a hundred thousand.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Entries beyond which a [`SmallMap`] hashes.
const SMALL: usize = 24;

/// Room for one more, and little else: of the many small vectors most never hold a second element,
/// and the usual growth starts with room for four.
pub fn make_room<T>(few: &mut Vec<T>) {
    if few.len() == few.capacity() {
        few.reserve_exact(few.len() / 2 + 1);
    }
}

/// A map that is a sorted vector while small and a hash map from then on.
#[derive(Clone, Debug)]
pub enum SmallMap<K, V> {
    /// Sorted by key.
    Few(Vec<(K, V)>),
    /// Too many to shift.
    Many(Box<FxHashMap<K, V>>),
}

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> Self {
        SmallMap::Few(Vec::new())
    }
}

impl<K: Ord + Hash + Copy, V> SmallMap<K, V> {
    /// How many entries.
    pub fn len(&self) -> usize {
        match self {
            SmallMap::Few(few) => few.len(),
            SmallMap::Many(many) => many.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at `key`.
    pub fn get(&self, key: &K) -> Option<&V> {
        match self {
            SmallMap::Few(few) => few.binary_search_by_key(key, |e| e.0).ok().map(|i| &few[i].1),
            SmallMap::Many(many) => many.get(key),
        }
    }

    /// The value at `key`, to be changed.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match self {
            SmallMap::Few(few) => few.binary_search_by_key(key, |e| e.0).ok().map(|i| &mut few[i].1),
            SmallMap::Many(many) => many.get_mut(key),
        }
    }

    /// The value at `key`, inserted as its default when missing.
    pub fn entry(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.entry_or(key, V::default)
    }

    /// Sets the value at `key`.
    pub fn insert(&mut self, key: K, value: V) {
        match self.get_mut(&key) {
            Some(there) => *there = value,
            None => {
                self.entry_or(key, || value);
            }
        }
    }

    fn entry_or(&mut self, key: K, missing: impl FnOnce() -> V) -> &mut V {
        if let SmallMap::Few(few) = self
            && few.len() >= SMALL
            && few.binary_search_by_key(&key, |e| e.0).is_err()
        {
            *self = SmallMap::Many(Box::new(std::mem::take(few).into_iter().collect()));
        }
        match self {
            SmallMap::Few(few) => {
                let at = few.binary_search_by_key(&key, |e| e.0).unwrap_or_else(|at| {
                    make_room(few);
                    few.insert(at, (key, missing()));
                    at
                });
                &mut few[at].1
            }
            SmallMap::Many(many) => many.entry(key).or_insert_with(missing),
        }
    }

    /// Takes the entry at `key` out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        match self {
            SmallMap::Few(few) => few.binary_search_by_key(key, |e| e.0).ok().map(|i| few.remove(i).1),
            SmallMap::Many(many) => many.remove(key),
        }
    }

    /// Takes all entries out, keeping the memory for a few.
    pub fn clear(&mut self) {
        match self {
            SmallMap::Few(few) => few.clear(),
            SmallMap::Many(_) => *self = SmallMap::default(),
        }
    }

    /// All entries, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let (few, many) = match self {
            SmallMap::Few(few) => (Some(few.iter().map(|(k, v)| (k, v))), None),
            SmallMap::Many(many) => (None, Some(many.iter())),
        };
        few.into_iter().flatten().chain(many.into_iter().flatten())
    }
}

impl<K: Ord + Hash + Copy> SmallMap<K, ()> {
    /// As a set: the key is in it, or not.
    pub fn keep(&mut self, key: K, here: bool) {
        if here {
            self.insert(key, ());
        } else {
            self.remove(&key);
        }
    }
}

impl<K: Ord + Hash + Copy> SmallMap<K, i64> {
    /// Adds to a count and forgets it at zero; returns the new count.
    pub fn add(&mut self, key: K, by: i64) -> i64 {
        let count = self.entry(key);
        *count += by;
        let count = *count;
        if count == 0 {
            self.remove(&key);
        }
        count
    }
}
