//! The map of what is known, in the orders in which it is read: each page is a range of keys.

use super::codec::Record;
use super::records::{GroupRecord, ListedRecord, Under};
use super::{Family, Reader, StoreError, ViewBatch};
use wats_event::Hex32;
use wats_model::fixed::Fixed;

/// In what order groups stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Tags, those with the most entries first, then those with the most posts.
    Tags = b'g' as isize,
    /// Tags by their bytes.
    TagNames = b'n' as isize,
    /// Threads, those with the most entries first, then those with the most posts.
    Threads = b'r' as isize,
    /// Threads by title.
    Titles = b't' as isize,
    /// First letters of titles.
    Initials = b'i' as isize,
    /// Months, the latest first.
    Months = b'm' as isize,
    /// Days, the latest first.
    Days = b'd' as isize,
}

/// The keys of a network in some order.
pub(super) fn start(network: &str, order: u8) -> Vec<u8> {
    [network.as_bytes(), &[0, order]].concat()
}

/// The largest first.
fn falling(number: u32) -> [u8; 4] {
    (!number).to_be_bytes()
}

impl Under {
    /// Its place among others of its kind where they have no other order.
    fn place(&self) -> (Order, Vec<u8>) {
        match self {
            Under::Tag(tag) => (Order::TagNames, tag.as_bytes().to_vec()),
            Under::Thread(root) => (Order::Threads, root.0.to_vec()),
            Under::Initial(c) => (Order::Initials, c.to_be_bytes().to_vec()),
            Under::Month(month) => (Order::Months, falling(*month).to_vec()),
            Under::Day(day) => (Order::Days, falling(*day).to_vec()),
        }
    }

    /// The key of its group; none for a thread, which is found by its size or its title.
    pub(super) fn key(&self, network: &str) -> Option<Vec<u8>> {
        let (order, place) = self.place();
        (order != Order::Threads).then(|| [start(network, order as u8), place].concat())
    }

    /// The keys of its entries.
    pub(super) fn entries(&self, network: &str) -> Vec<u8> {
        let (order, place) = self.place();
        let mut key = start(network, order as u8);
        if order == Order::TagNames {
            // Tags have no fixed length, and at most 64 bytes.
            key.push(place.len() as u8);
        }
        key.extend(place);
        key
    }
}

impl GroupRecord {
    fn size(&self) -> Vec<u8> {
        let posts = self.posts.iter().fold(0, |sum: u32, n| sum.saturating_add(*n));
        [falling(self.entries), falling(posts)].concat()
    }

    /// Its keys: one for each order that it stands in.
    fn keys(&self, network: &str, title: Option<&str>) -> Vec<Vec<u8>> {
        let key = |order: Order, place: &[&[u8]]| [start(network, order as u8), place.concat()].concat();
        match &self.under {
            Under::Tag(tag) => {
                vec![
                    key(Order::Tags, &[&self.size(), tag.as_bytes()]),
                    key(Order::TagNames, &[tag.as_bytes()]),
                ]
            }
            Under::Thread(root) => {
                let mut keys = vec![key(Order::Threads, &[&self.size(), &root.0])];
                keys.extend(title.map(|title| key(Order::Titles, &[title.as_bytes(), &[0], &root.0])));
                keys
            }
            other => other.key(network).into_iter().collect(),
        }
    }
}

impl ListedRecord {
    /// Its place among others: the largest rank first, then the latest day.
    fn place(self, rank: Fixed, day: u32) -> Vec<u8> {
        let rank = (!rank.0.max(0).unsigned_abs()).to_be_bytes();
        [&rank[..], &falling(day), &self.entry.0, &[u8::from(self.digest)]].concat()
    }
}

impl ViewBatch {
    /// A group appears or goes; `title` is that of a thread, folded.
    ///
    /// # Errors
    /// When it is over the limit of a record.
    pub fn group(
        &mut self,
        network: &str,
        group: &GroupRecord,
        title: Option<&str>,
        here: bool,
    ) -> Result<(), StoreError> {
        let keys = group.keys(network, title);
        keys.into_iter().try_for_each(|key| self.set(Family::Groups, key, here.then_some(group)))
    }

    /// An entry under something appears or goes, of this rank and this day.
    ///
    /// # Errors
    /// When it is over the limit of a record.
    pub fn listed(
        &mut self,
        network: &str,
        under: &Under,
        (rank, day): (Fixed, u32),
        (entry, digest): (Hex32, bool),
        here: bool,
    ) -> Result<(), StoreError> {
        let record = ListedRecord { entry, digest };
        let key = [under.entries(network), record.place(rank, day)].concat();
        self.set(Family::Listed, key, here.then_some(&record))
    }
}

/// Part of a page: each record with its place, after which the next page begins.
pub type Page<R> = Vec<(Vec<u8>, R)>;

impl Reader<'_> {
    /// Groups in an order, from the first place that is not before `from`, and after `after`, as long as
    /// their places are `within`; at most `most`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn groups(
        &self,
        network: &str,
        order: Order,
        from: &[u8],
        within: impl Fn(&[u8]) -> bool,
        after: Option<&[u8]>,
        most: usize,
    ) -> Result<Page<GroupRecord>, StoreError> {
        self.range(Family::Groups, start(network, order as u8), from, within, after, most)
    }

    /// The group of something other than a thread.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn group(&self, network: &str, under: &Under) -> Result<Option<GroupRecord>, StoreError> {
        under.key(network).map_or(Ok(None), |key| self.record(Family::Groups, &key))
    }

    /// The entries under something, those relied on most first, after one of this score and this day; at
    /// most `most`.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn listed(
        &self,
        network: &str,
        under: &Under,
        after: Option<(Fixed, u32, ListedRecord)>,
        most: usize,
    ) -> Result<Vec<ListedRecord>, StoreError> {
        let after = after.map(|(score, day, entry)| entry.place(score.max(Fixed::ZERO).rounded(), day));
        let page =
            self.range(Family::Listed, under.entries(network), &[], |_| true, after.as_deref(), most)?;
        Ok(page.into_iter().map(|(_, entry)| entry).collect())
    }

    fn range<R: Record>(
        &self,
        family: Family,
        start: Vec<u8>,
        from: &[u8],
        within: impl Fn(&[u8]) -> bool,
        after: Option<&[u8]>,
        most: usize,
    ) -> Result<Page<R>, StoreError> {
        let first = after.filter(|after| *after >= from);
        let mut page = Vec::new();
        for item in self.from(family, &[&start, first.unwrap_or(from)].concat()) {
            let (key, record) = item?;
            let Some(place) = key.strip_prefix(&start[..]).filter(|place| within(place)) else {
                break;
            };
            if first == Some(place) {
                continue;
            }
            if page.len() >= most {
                break;
            }
            page.push((place.to_vec(), record));
        }
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sizes, Store, TickMark};

    fn tagged(tag: &str, confirmed: u32, entries: u32) -> GroupRecord {
        GroupRecord { under: Under::Tag(tag.into()), posts: [0, 1, 0, confirmed], entries }
    }

    #[test]
    fn groups_are_read_page_by_page_in_their_order_and_within_their_network() {
        let directory = std::env::temp_dir().join(format!("wats-groups-{}", std::process::id()));
        let store = Store::open(&directory, Sizes::default()).unwrap();
        let all = [tagged("a", 0, 0), tagged("ab", 5, 2), tagged("b\0c", 9, 1), tagged("b", 9, 1)];
        let mut batch = ViewBatch::default();
        for network in ["main", "main2"] {
            all.iter().for_each(|group| batch.group(network, group, None, true).unwrap());
        }
        store.publish(&batch, TickMark::default()).unwrap();
        // A count that grows moves its group.
        let mut batch = ViewBatch::default();
        batch.group("main", &all[0], None, false).unwrap();
        batch.group("main", &tagged("a", 0, 7), None, true).unwrap();
        store.publish(&batch, TickMark::default()).unwrap();
        let reader = store.read();
        let mut got = Vec::new();
        let mut after: Option<Vec<u8>> = None;
        loop {
            let page = reader.groups("main", Order::Tags, &[], |_| true, after.as_deref(), 3).unwrap();
            got.extend(page.iter().map(|(_, group)| group.clone()));
            match page.last() {
                Some((place, _)) => after = Some(place.clone()),
                None => break,
            }
        }
        assert_eq!(got, [tagged("a", 0, 7), all[1].clone(), all[3].clone(), all[2].clone()]);
        assert_eq!(reader.group("main", &Under::Tag("b".into())).unwrap(), Some(all[3].clone()));
        assert_eq!(reader.group("main", &Under::Tag("c".into())).unwrap(), None);
        drop(reader);
        drop(store);
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn entries_under_something_are_those_relied_on_most_first() {
        let directory = std::env::temp_dir().join(format!("wats-listed-{}", std::process::id()));
        let store = Store::open(&directory, Sizes::default()).unwrap();
        let mut batch = ViewBatch::default();
        let under = Under::Tag("rust".into());
        for (id, rank, day) in [(1, 5, 3), (2, 9, 1), (3, 5, 4), (4, -1, 9)] {
            batch.listed("main", &under, (Fixed(rank), day), (Hex32([id; 32]), id % 2 == 0), true).unwrap();
        }
        for other in [Under::Tag("rustc".into()), Under::Tag("rus".into()), Under::Thread(Hex32([9; 32]))] {
            batch.listed("main", &other, (Fixed(7), 1), (Hex32([8; 32]), false), true).unwrap();
        }
        store.publish(&batch, TickMark::default()).unwrap();
        let reader = store.read();
        let ids = |page: &[ListedRecord]| page.iter().map(|l| l.entry.0[0]).collect::<Vec<_>>();
        let first = reader.listed("main", &under, None, 2).unwrap();
        assert_eq!(ids(&first), [2, 3]);
        let after = Some((Fixed(5), 4, first[1]));
        assert_eq!(ids(&reader.listed("main", &under, after, 9).unwrap()), [1, 4]);
        drop(reader);
        drop(store);
        std::fs::remove_dir_all(directory).unwrap();
    }
}
