//! Items put together by a dense number: a target, an author.

use std::ops::Range;

/// Items in increasing order of their number, and where each number's items lie.
pub(crate) struct Grouped<T> {
    /// All items, in order.
    pub(crate) items: Vec<T>,
    start: Vec<u32>,
}

impl<T> Grouped<T> {
    /// Groups `items` by `number`, which is below `numbers`; those of one number stay in order.
    pub(crate) fn new(numbers: usize, mut items: Vec<T>, number: impl Fn(&T) -> usize) -> Self {
        items.sort_by_key(&number);
        let mut start = vec![0; numbers + 1];
        for item in &items {
            start[number(item) + 1] += 1;
        }
        for n in 0..numbers {
            start[n + 1] += start[n];
        }
        Grouped { items, start }
    }

    /// Where the items of `number` lie.
    pub(crate) fn range(&self, number: usize) -> Range<usize> {
        self.start[number] as usize..self.start[number + 1] as usize
    }

    /// The items of `number`.
    pub(crate) fn of(&self, number: usize) -> &[T] {
        &self.items[self.range(number)]
    }
}
