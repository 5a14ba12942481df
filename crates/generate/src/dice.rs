//! Chance without floating point.
//!
//! The generator is its own source of randomness, splitmix64 (Steele, Lea and Flood 2014), in place
//! of a crate: a log must be the same bytes for the same seed in ten years and on every machine, and
//! neither a crate's next version nor a platform's `ln` and `pow` may change it. It is no good for
//! secrets, and the keys of a generated log are none: the seed gives them all.

/// A source of chance: the same seed, the same throws.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// The next 64 bits.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number less than `n`, all alike; 0 when `n` is.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// An index of a collection of `len`.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    /// Whether something happens that happens so often in a thousand times.
    pub(crate) fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    /// One of the items; there must be one.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.index(items.len())]
    }

    /// A rank less than `n`, where a rank twice as far down comes half as often: Zipf's law with
    /// exponent 1, in steps of powers of two.
    pub(crate) fn skewed(&mut self, n: u64) -> u64 {
        let octaves = u64::from(u64::BITS - n.leading_zeros());
        loop {
            let octave = 1 << self.below(octaves);
            let rank = octave + self.below(octave);
            if rank <= n || n == 0 {
                return rank - 1;
            }
        }
    }

    /// A duration below `most`, each doubling as likely as the one before: minutes as often as days.
    pub(crate) fn span(&mut self, most: u64) -> u64 {
        self.skewed(most)
    }

    /// 32 bytes.
    pub(crate) fn bytes(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for part in bytes.chunks_exact_mut(8) {
            part.copy_from_slice(&self.next().to_le_bytes());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_throws_are_those_of_splitmix64() {
        let mut dice = Dice::new(1_234_567);
        assert_eq!(dice.next(), 6_457_827_717_110_365_317);
        assert_eq!(dice.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn ranks_are_skewed_and_in_range() {
        let mut dice = Dice::new(1);
        let mut seen = [0u32; 100];
        for _ in 0..100_000 {
            seen[dice.skewed(100) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| n > 0), "every rank comes: {seen:?}");
        assert!(seen[0] > 10 * seen[20], "the first comes often: {seen:?}");
        assert_eq!((dice.skewed(0), dice.skewed(1), dice.below(0)), (0, 0, 0));
    }
}
