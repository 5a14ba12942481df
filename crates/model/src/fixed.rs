//! Fixed-point numbers: `ONE = 1_000_000_000`, products in 128 bits, division rounding down.

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

/// A quantity in fixed point: trust, weight, value, score. Only scores and reputations go below zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fixed(pub i64);

/// One, in fixed point.
pub const ONE: Fixed = Fixed(1_000_000_000);

impl Fixed {
    /// Nothing.
    pub const ZERO: Fixed = Fixed(0);

    /// `self * by / ONE`, for non-negative factors.
    pub fn times(self, by: Fixed) -> Fixed {
        self.scale(by.0, ONE.0)
    }

    /// `self * numerator / denominator`, the product in 128 bits, rounding down; all non-negative.
    pub fn scale(self, numerator: i64, denominator: i64) -> Fixed {
        debug_assert!(self.0 >= 0 && numerator >= 0 && denominator > 0);
        // Nearly all products fit into 64 bits, in which dividing costs a tenth.
        if let Some(product) = self.0.checked_mul(numerator) {
            return Fixed(product / denominator);
        }
        let product = i128::from(self.0) * i128::from(numerator);
        Fixed(narrow(product / i128::from(denominator)))
    }

    /// `sat(x) = x * ONE / (x + ONE)` (section 5): half at one, never one.
    pub fn saturated(self) -> Fixed {
        self.scale(ONE.0, self.0.saturating_add(ONE.0))
    }

    /// The numbers that `r` takes to this one, which it gives: from the first up to, but without, the
    /// second. Not negative.
    fn rounds_from(self) -> (i64, i64) {
        let x = self.0;
        debug_assert!(x >= 0 && self.rounded() == self);
        if x < 16 {
            return (x, x + 1);
        }
        let s = x.ilog2() - 3;
        // Below a power of two the steps are half as long; below 16 there are none.
        let below = if x & (x - 1) == 0 && x != 16 { s - 1 } else { s };
        let half = |s: u32| (1 << s) >> 1;
        (if x == 16 { 16 } else { x - half(below) }, x + half(s))
    }

    /// `r(x)` (section 3): the four most significant bits, rounded half up; `-r(-x)` below zero.
    pub fn rounded(self) -> Fixed {
        let x = self.0.unsigned_abs();
        if x < 16 {
            return self;
        }
        let s = (64 - x.leading_zeros()) - 4;
        let rounded = ((x + (1 << (s - 1))) >> s) << s;
        Fixed(i64::try_from(rounded).unwrap_or(i64::MAX) * self.0.signum())
    }
}

/// `r(w * ONE / total)` (section 3, *Edges*), given what it was for another `total` or `w`.
///
/// Rounded shares seldom change: whether one does is told by two products, without a division.
pub fn share(w: i64, total: i128, before: Fixed) -> Fixed {
    debug_assert!(w >= 0 && total >= i128::from(w));
    if total == 0 {
        return Fixed::ZERO;
    }
    let whole = i128::from(w) * i128::from(ONE.0);
    let (from, to) = before.rounds_from();
    if i128::from(from) * total <= whole && whole < i128::from(to) * total {
        return before;
    }
    Fixed(narrow(whole / total)).rounded()
}

/// Back to 64 bits; a sum that leaves them stays at the largest number instead of wrapping.
pub fn narrow(wide: i128) -> i64 {
    i64::try_from(wide).unwrap_or(if wide > 0 { i64::MAX } else { i64::MIN })
}

impl Add for Fixed {
    type Output = Fixed;
    fn add(self, other: Fixed) -> Fixed {
        Fixed(self.0.saturating_add(other.0))
    }
}

impl Sub for Fixed {
    type Output = Fixed;
    fn sub(self, other: Fixed) -> Fixed {
        Fixed(self.0.saturating_sub(other.0))
    }
}

impl Neg for Fixed {
    type Output = Fixed;
    fn neg(self) -> Fixed {
        Fixed(-self.0)
    }
}

impl AddAssign for Fixed {
    fn add_assign(&mut self, other: Fixed) {
        *self = *self + other;
    }
}

impl SubAssign for Fixed {
    fn sub_assign(&mut self, other: Fixed) {
        *self = *self - other;
    }
}

impl Sum for Fixed {
    fn sum<I: Iterator<Item = Fixed>>(iter: I) -> Fixed {
        iter.fold(Fixed::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_four_bits_half_up() {
        for (x, r) in [(0, 0), (15, 15), (16, 16), (17, 18), (31, 32), (1_000_000_000, 1_006_632_960)] {
            assert_eq!(Fixed(x).rounded(), Fixed(r), "r({x})");
            assert_eq!(Fixed(-x).rounded(), Fixed(-r), "r(-{x})");
        }
    }

    #[test]
    fn rounding_does_not_overflow() {
        assert_eq!(Fixed(i64::MAX).rounded(), Fixed(i64::MAX));
        assert_eq!(Fixed(i64::MIN).rounded(), Fixed(-i64::MAX));
    }

    #[test]
    fn a_number_is_rounded_from_the_numbers_that_r_takes_to_it() {
        for x in (0..70_000).chain(999_000_000..999_001_000) {
            let (from, to) = Fixed(x).rounded().rounds_from();
            assert!((from..to).contains(&x), "{x}");
            assert!(from == 0 || Fixed(from - 1).rounded() < Fixed(x).rounded(), "{x}");
            assert!(Fixed(to).rounded() > Fixed(x).rounded(), "{x}");
        }
    }

    #[test]
    fn a_share_is_what_a_division_gives() {
        let mut before = Fixed::ZERO;
        for total in 1..2_000i64 {
            for w in [0, 1, 2, total / 3, total - 1, total] {
                let plain = Fixed(w * ONE.0 / total).rounded();
                before = share(w, i128::from(total), before);
                assert_eq!(before, plain, "{w} of {total}");
            }
        }
    }

    #[test]
    fn saturation_is_half_at_one() {
        assert_eq!(ONE.saturated(), Fixed(500_000_000));
        assert_eq!(Fixed::ZERO.saturated(), Fixed::ZERO);
    }
}
