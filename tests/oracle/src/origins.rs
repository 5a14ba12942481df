//! Section 3, *Origins* and *Class*: whose trust it is that a key carries.

use crate::grouped::Grouped;
use crate::keys::{Backing, Group};
use crate::network::Key;

/// What three rounds from the anchors outward leave at each key.
pub(crate) struct Spread {
    /// `distance(k)`; [`INFINITE`] when no round reaches k.
    pub(crate) distance: Vec<u8>,
    /// `origins(k)`, sorted.
    pub(crate) origins: Vec<Vec<Group>>,
    /// `class(k)`.
    pub(crate) class: Vec<Group>,
    /// `sponsors(k)`, sorted.
    pub(crate) sponsors: Vec<Vec<Group>>,
    /// Whether k is an anchor, broadly backed, or has no origins.
    pub(crate) speaks_for_itself: Vec<bool>,
}

/// The distance of a key without origins.
const INFINITE: u8 = u8::MAX;

/// Spreads groups and classes from the anchors along the backings. Sets of `broad` members or more
/// collapse to the key's own group.
pub(crate) fn spread(broad: usize, anchors: &[bool], group: &[Group], backing: &Grouped<Backing>) -> Spread {
    let all = 0..group.len();
    let of_anchors = |k: Key| {
        if anchors[k] { vec![group[k]] } else { Vec::new() }
    };
    let mut origins: Vec<Vec<Group>> = all.clone().map(of_anchors).collect();
    let mut distance: Vec<u8> = anchors.iter().map(|&a| if a { 0 } else { INFINITE }).collect();
    let mut class: Vec<Option<Group>> = all.clone().map(|k| anchors[k].then_some(group[k])).collect();
    let mut broadly_backed = vec![false; group.len()];

    for round in 1..=3 {
        let mut next_origins = origins.clone();
        let mut next_class = class.clone();
        for k in all.clone().filter(|&k| !anchors[k]) {
            let backers = || backing.of(k).iter().map(|b| b.from);
            let union = union(backers().map(|b| origins[b].as_slice()), broad);
            broadly_backed[k] = union.is_none();
            next_origins[k] = union.unwrap_or_else(|| vec![group[k]]);
            if !next_origins[k].is_empty() && distance[k] == INFINITE {
                distance[k] = round;
            }
            next_class[k] = only(backers().filter_map(|b| class[b]), group[k]);
        }
        (origins, class) = (next_origins, next_class);
    }

    let speaks_for_itself: Vec<bool> =
        all.clone().map(|k| anchors[k] || broadly_backed[k] || origins[k].is_empty()).collect();
    let class: Vec<Group> =
        all.clone().map(|k| class[k].filter(|_| !speaks_for_itself[k]).unwrap_or(group[k])).collect();
    let sponsors = |k: Key| {
        if anchors[k] || origins[k].is_empty() {
            return vec![group[k]];
        }
        let backers = backing.of(k).iter().map(|b| b.from).filter(|&b| !origins[b].is_empty());
        let classes = union(backers.map(|b| std::slice::from_ref(&class[b])), broad);
        classes.unwrap_or_else(|| vec![group[k]])
    };
    let sponsors = all.map(sponsors).collect();
    Spread { distance, origins, class, sponsors, speaks_for_itself }
}

/// The union of the sets, sorted; none when it has `broad` members or more.
fn union<'g>(sets: impl Iterator<Item = &'g [Group]>, broad: usize) -> Option<Vec<Group>> {
    let mut union: Vec<Group> = Vec::new();
    for &group in sets.flatten() {
        if let Err(place) = union.binary_search(&group) {
            union.insert(place, group);
            if union.len() >= broad {
                return None;
            }
        }
    }
    Some(union)
}

/// Of the backers' values: undefined without any; else, apart from the key's own group, the only
/// one, or the key's own group when none or several are left.
fn only(values: impl Iterator<Item = Group>, own: Group) -> Option<Group> {
    let mut left = None;
    let mut any = false;
    for value in values {
        any = true;
        if value != own {
            match left {
                Some(other) if other != value => return Some(own),
                _ => left = Some(value),
            }
        }
    }
    any.then_some(left.unwrap_or(own))
}
