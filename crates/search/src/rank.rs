//! The order of results (decision record, 3.2 and 5.2), as pure functions.
//!
//! Results come sorted by relevance. They fall into *bands* of comparable relevance: a band ends where the
//! relevance drops below 0.8 of the band's first. Within a band knowledge entries come first, then what is
//! confirmed, then unverified and stale, then contested; those alike by score, then newest first, then by
//! id, so that the order is total.
//!
//! A digest comes before the thread it covers without a rule of its own: a thread that a digest covers is
//! no entry (section 7), so its answer is at best confirmed, and stands below every entry.

use std::cmp::Ordering;
use wats_event::Hex32;
use wats_model::fixed::Fixed;
use wats_model::ids::Millis;
use wats_model::views::Status;

/// A band ends where the relevance drops below this part of its first.
pub const BAND: f32 = 0.8;

/// A result, with what decides its place. It never leaves this module's callers: the score is for ordering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
    /// The event.
    pub id: Hex32,
    /// Its BM25 score for the query.
    pub relevance: f32,
    /// Whether it is a knowledge entry.
    pub knowledge: bool,
    /// Its status.
    pub status: Status,
    /// Its score.
    pub score: Fixed,
    /// The author's claim of when.
    pub created_at: Millis,
}

/// Whether a relevance is comparable to that of the first of a band.
pub fn in_band(first: f32, relevance: f32) -> bool {
    relevance >= first * BAND
}

/// The order by relevance that bands are cut from: the most relevant first, then newest, then by id.
pub fn by_relevance(a: (f32, Millis, Hex32), b: (f32, Millis, Hex32)) -> Ordering {
    b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)).then(b.2.cmp(&a.2))
}

/// The order within a band.
pub fn within_band(a: &Ranked, b: &Ranked) -> Ordering {
    let place = |of: &Ranked| match (of.knowledge, of.status) {
        (true, _) => 0,
        (false, Status::Confirmed) => 1,
        (false, Status::Unverified | Status::Stale) => 2,
        (false, Status::Contested) => 3,
    };
    let newest = || b.created_at.cmp(&a.created_at).then(b.id.cmp(&a.id));
    place(a).cmp(&place(b)).then(b.score.cmp(&a.score)).then_with(newest)
}

/// Puts a whole result set in order.
pub fn rank(results: &mut [Ranked]) {
    let key = |of: &Ranked| (of.relevance, of.created_at, of.id);
    results.sort_unstable_by(|a, b| by_relevance(key(a), key(b)));
    let mut rest = results;
    while let Some(first) = rest.first().map(|first| first.relevance) {
        let len = rest.iter().take_while(|of| in_band(first, of.relevance)).count().max(1);
        let (band, others) = rest.split_at_mut(len);
        band.sort_unstable_by(within_band);
        rest = others;
    }
}

/// How good a status is, for `min_status`: contested < unverified < stale < confirmed.
pub fn at_least(status: Status, min: Status) -> bool {
    status >= min
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn result() -> impl Strategy<Value = Ranked> {
        let status = prop_oneof![
            Just(Status::Contested),
            Just(Status::Unverified),
            Just(Status::Stale),
            Just(Status::Confirmed),
        ];
        (0u8..40, 0u8..12, any::<bool>(), status, -2i64..3, 0u64..3).prop_map(
            |(id, relevance, knowledge, status, score, created_at)| Ranked {
                id: Hex32([id; 32]),
                relevance: 0.5 + f32::from(relevance) / 8.0,
                knowledge: knowledge && status == Status::Confirmed,
                status,
                score: Fixed(score),
                created_at: Millis(created_at),
            },
        )
    }

    /// The whole set sorted the slow way: the next is always found by looking at all that are left.
    fn slowly(mut left: Vec<Ranked>) -> Vec<Ranked> {
        let mut sorted = Vec::new();
        while let Some(first) = left.iter().map(|of| of.relevance).max_by(f32::total_cmp) {
            let (mut band, others): (Vec<Ranked>, Vec<Ranked>) =
                left.into_iter().partition(|of| of.relevance >= first * BAND);
            left = others;
            while !band.is_empty() {
                let best = (0..band.len())
                    .find(|&a| (0..band.len()).all(|b| a == b || within_band(&band[a], &band[b]).is_le()));
                sorted.push(band.swap_remove(best.expect("an order that is total has a first")));
            }
        }
        sorted
    }

    proptest! {
        #[test]
        fn the_order_is_total_and_that_of_a_slow_sort(results in proptest::collection::vec(result(), 0..40)) {
            let mut seen = std::collections::BTreeSet::new();
            let results: Vec<Ranked> = results.into_iter().filter(|of| seen.insert(of.id)).collect();
            let mut ranked = results.clone();
            rank(&mut ranked);
            prop_assert_eq!(&ranked, &slowly(results.clone()));
            for a in &results {
                for b in &results {
                    prop_assert_eq!(within_band(a, b), within_band(b, a).reverse());
                    prop_assert_eq!(within_band(a, b).is_eq(), a.id == b.id);
                }
            }
        }
    }
}
