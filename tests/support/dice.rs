//! Choices that a seed decides, or the bytes of a fuzzer.
#![allow(dead_code, reason = "each test takes what it needs")]

/// SplitMix64: a few lines, and the same numbers everywhere.
pub(crate) struct Dice<'a> {
    /// Taken first.
    bytes: &'a [u8],
    state: u64,
}

impl<'a> Dice<'a> {
    /// Every number from the seed.
    pub(crate) fn new(seed: u64) -> Dice<'a> {
        Dice { bytes: &[], state: seed }
    }

    /// The bytes, as long as they last: a small change of them is a small change of what they decide.
    pub(crate) fn of(bytes: &'a [u8]) -> Dice<'a> {
        Dice { bytes, state: 0 }
    }

    pub(crate) fn roll(&mut self) -> u64 {
        if let Some((first, rest)) = self.bytes.split_first_chunk() {
            self.bytes = rest;
            return u64::from_le_bytes(*first);
        }
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 when that is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.roll() % n.max(1) as u64) as usize
    }

    /// Puts items into another order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
