//! Section 2.1: what time leaves of a signal.

use crate::network::Network;
use wats_model::fixed::{Fixed, ONE};
use wats_model::ids::Millis;

/// What is left of a signal now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strength {
    pub(crate) clock: Millis,
    pub(crate) decay: Fixed,
    pub(crate) value: Fixed,
    pub(crate) live: bool,
}

impl Strength {
    /// The strength now of a signal with this clock.
    pub(crate) fn new(net: &Network, base: Fixed, half_life: Millis, clock: Millis) -> Strength {
        let steps = net.now.since(clock).0.saturating_mul(16) / half_life.0.max(1);
        let decay = decay(steps);
        Strength { clock, decay, value: base.times(decay), live: steps <= net.policy.live_steps }
    }
}

/// `decay` after so many sixteenths of a half-life.
fn decay(steps: u64) -> Fixed {
    match steps {
        0..160 => Fixed(D[(steps % 16) as usize] >> (steps / 16)),
        _ => Fixed::ZERO,
    }
}

/// `D[i] = round(ONE * 2^(-i/16))`.
#[rustfmt::skip]
const D: [i64; 16] = [
    ONE.0, 957603281, 917004043, 878126080, 840896415, 805245166, 771105413, 738413073,
    707106781, 677127773, 648419777, 620928906, 594603558, 569394317, 545253866, 522136891,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds_roots_of_one_half() {
        for (i, &d) in D.iter().enumerate() {
            assert_eq!(d, (ONE.0 as f64 * (-(i as f64) / 16.0).exp2()).round() as i64);
        }
    }

    #[test]
    fn decay_halves_and_ends() {
        assert_eq!(decay(0), ONE);
        assert_eq!(decay(32), Fixed(250_000_000));
        assert_eq!(decay(33), Fixed(957_603_281 >> 2));
        assert_eq!(decay(159), Fixed(522_136_891 >> 9));
        assert_eq!(decay(160), Fixed::ZERO);
    }
}
