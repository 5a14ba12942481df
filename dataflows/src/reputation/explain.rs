//! Section 5, explained: the parts of a key's reputation.

use super::{Esteem, Part, Reputation, Side, accused};
use wats_model::fixed::Fixed;
use wats_model::ids::KeyId;

/// Where a key's reputation comes from (section 5).
#[derive(Clone, Debug)]
pub struct Explanation {
    /// What it adds up to.
    pub esteem: Esteem,
    /// The parts of both partitions that give or take something.
    pub parts: Vec<PartWorth>,
    /// `earned(a)`.
    pub earned: Fixed,
    /// `lost(a)`.
    pub lost: Fixed,
    /// The sums over groups: earned and lost by what others say of its posts.
    pub by_groups: [Fixed; 2],
    /// The same sums over classes.
    pub by_classes: [Fixed; 2],
    /// `z`, the value of its standing contradictions that count, and what these earn it.
    pub upheld: [Fixed; 2],
    /// `u`, the value of its rebutted contradictions, and what these cost it.
    pub rebutted: [Fixed; 2],
}

/// What one part of the keys gives an author, or takes.
#[derive(Clone, Copy, Debug)]
pub struct PartWorth {
    /// For or against.
    pub side: Side,
    /// The part, c.
    pub part: Part,
    /// `top(c)`.
    pub top: Fixed,
    /// `x` or `y`: the sum over posts of the largest value.
    pub value: Fixed,
    /// `top(c) * sat(x) / ONE`.
    pub worth: Fixed,
}

impl Reputation {
    /// What a key earned and lost, by the parts of both partitions.
    pub fn explain(&self, key: KeyId) -> Option<Explanation> {
        let author = self.authors.get(&key)?;
        let parts = author.cells.iter().map(|((side, part), cell)| PartWorth {
            side: *side,
            part: *part,
            top: cell.top(&self.givers),
            value: Fixed(cell.values),
            worth: Fixed(cell.worth(&self.givers)),
        });
        let esteem = author.shown.clone()?;
        let weight = esteem.standing.weight();
        let [earned, lost] = author.merits(weight);
        let accusations = |value: i64| [Fixed(value), accused(weight, value)];
        Some(Explanation {
            esteem,
            parts: parts.collect(),
            earned,
            lost,
            by_groups: [Fixed(author.worth[0]), Fixed(author.worth[2])],
            by_classes: [Fixed(author.worth[1]), Fixed(author.worth[3])],
            upheld: accusations(author.upheld),
            rebutted: accusations(author.rebutted),
        })
    }
}
