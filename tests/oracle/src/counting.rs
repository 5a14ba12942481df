//! Section 3, *Counting*: how many voices a crowd has, and how much weight.

use crate::keys::{Group, Keys};
use crate::network::Key;
use wats_model::fixed::Fixed;

/// The four sets that a crowd is counted by: groups, classes, origins, sponsors.
pub(crate) struct Sets<'a>(pub(crate) &'a Keys);

impl Sets<'_> {
    /// `voices(K)`.
    pub(crate) fn voices(&self, crowd: &[Key]) -> usize {
        self.smallest(crowd, &[])
    }

    /// `independent(K, B)`: voices that owe B nothing.
    pub(crate) fn independent(&self, crowd: &[Key], b: Key) -> usize {
        self.smallest(crowd, &[self.0.group[b], self.0.class[b]])
    }

    /// The number of different `class(k)`.
    pub(crate) fn classes(&self, crowd: &[Key]) -> usize {
        different(crowd.iter().map(|&k| self.0.class[k]), &[])
    }

    fn smallest(&self, crowd: &[Key], without: &[Group]) -> usize {
        let keys = self.0;
        let origins = |k: Key| match keys.speaks_for_itself[k] {
            true => std::slice::from_ref(&keys.group[k]),
            false => keys.origins[k].as_slice(),
        };
        let groups = different(crowd.iter().map(|&k| keys.group[k]), without);
        let classes = different(crowd.iter().map(|&k| keys.class[k]), without);
        let origins = different(crowd.iter().flat_map(|&k| origins(k)).copied(), without);
        let sponsors = different(crowd.iter().flat_map(|&k| &keys.sponsors[k]).copied(), without);
        groups.min(classes).min(origins).min(sponsors)
    }
}

/// How many different groups there are, other than those of `without`.
fn different(groups: impl Iterator<Item = Group>, without: &[Group]) -> usize {
    let mut groups: Vec<_> = groups.filter(|g| !without.contains(g)).collect();
    groups.sort_unstable();
    groups.dedup();
    groups.len()
}

/// One number for each part of a partition; most parts have none. Reused from crowd to crowd, so
/// that a crowd costs no more than its size.
pub(crate) struct Parts {
    number: Vec<Option<Fixed>>,
    touched: Vec<Group>,
}

impl Parts {
    pub(crate) fn new(groups: usize) -> Parts {
        Parts { number: vec![None; groups], touched: Vec::new() }
    }

    /// The part's number becomes `v` if that is larger, or the first.
    pub(crate) fn raise(&mut self, part: Group, v: Fixed) {
        let number = self.at(part);
        *number = (*number).max(Some(v));
    }

    /// Adds `v` to the part's number.
    pub(crate) fn add(&mut self, part: Group, v: Fixed) {
        let number = self.at(part);
        *number = Some(number.unwrap_or_default() + v);
    }

    /// The part's number.
    pub(crate) fn get(&self, part: Group) -> Fixed {
        self.number[part].unwrap_or_default()
    }

    /// Takes all numbers out.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = (Group, Fixed)> {
        let number = &mut self.number;
        self.touched.drain(..).map(|part| (part, number[part].take().unwrap_or_default()))
    }

    fn at(&mut self, part: Group) -> &mut Option<Fixed> {
        if self.number[part].is_none() {
            self.touched.push(part);
        }
        &mut self.number[part]
    }
}

/// `tally(K, v)`: the smaller of two sums, over groups and over classes, of the largest v in each.
pub(crate) struct Tally<'a> {
    keys: &'a Keys,
    by_group: Parts,
    by_class: Parts,
}

impl<'a> Tally<'a> {
    pub(crate) fn new(keys: &'a Keys) -> Tally<'a> {
        let parts = || Parts::new(keys.groups.len());
        Tally { keys, by_group: parts(), by_class: parts() }
    }

    /// Counts `v` of `k` in.
    pub(crate) fn count(&mut self, k: Key, v: Fixed) {
        self.by_group.raise(self.keys.group[k], v);
        self.by_class.raise(self.keys.class[k], v);
    }

    /// The tally of what was counted in since the last one.
    pub(crate) fn take(&mut self) -> Fixed {
        let by_group: Fixed = self.by_group.drain().map(|(_, v)| v).sum();
        let by_class: Fixed = self.by_class.drain().map(|(_, v)| v).sum();
        by_group.min(by_class)
    }
}
