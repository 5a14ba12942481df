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
        let product = i128::from(self.0) * i128::from(numerator);
        Fixed(narrow(product / i128::from(denominator)))
    }

    /// `sat(x) = x * ONE / (x + ONE)` (section 5): half at one, never one.
    pub fn saturated(self) -> Fixed {
        self.scale(ONE.0, self.0.saturating_add(ONE.0))
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

/// Back to 64 bits; a sum that leaves them stays at the largest number instead of wrapping.
pub(crate) fn narrow(wide: i128) -> i64 {
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
    fn saturation_is_half_at_one() {
        assert_eq!(ONE.saturated(), Fixed(500_000_000));
        assert_eq!(Fixed::ZERO.saturated(), Fixed::ZERO);
    }
}
