//! A seeded shuffle of `0..n` without a table.

use crate::rng::{OpRng, folded_product};
use crate::stream;

const ROUND_COUNT: usize = 6;

/// A bijection of `0..n`: an unbalanced Feistel network over the smallest power of two that holds `n`, with cycle walking
/// (Black and Rogaway, "Ciphers with Arbitrary Finite Domains", 2002): results outside the range are sent through again,
/// less than once on average.
///
/// It scatters popularity ranks over the records, so that hot records aren't neighbours, and no two ranks ever share a
/// record, as they do when a rank is hashed modulo `n`. Six rounds make every record equally likely to be the hottest; below
/// some ten records a few are up to a tenth likelier.
#[derive(Clone, Debug)]
pub struct Permutation {
    n: u64,
    left_mask: u64,
    right_mask: u64,
    right_bits: u32,
    round_keys: [RoundKey; ROUND_COUNT],
}

/// A round function of its own for each round; with a fixed multiplier small ranges are permuted unevenly.
#[derive(Clone, Copy, Debug)]
struct RoundKey {
    mask: u64,
    multiplier: u64,
}

impl Permutation {
    /// The shuffle of `0..n` that belongs to `seed`. `n` must be at least 1.
    pub fn new(n: u64, seed: u64) -> Self {
        debug_assert!(n > 0, "nothing to permute");
        let bits = u64::BITS - n.saturating_sub(1).leading_zeros();
        let left_bits = bits / 2;
        let right_bits = bits - left_bits;
        let mut rng = OpRng::new(seed, stream::PERMUTATION, 0);
        Self {
            n,
            left_mask: (1 << left_bits) - 1,
            right_mask: (1 << right_bits) - 1,
            right_bits,
            round_keys: std::array::from_fn(|_| RoundKey {
                mask: rng.next_u64(),
                multiplier: rng.next_u64() | 1,
            }),
        }
    }

    /// Where `value` goes; `value` must be below `n`.
    #[inline]
    pub fn apply(&self, value: u64) -> u64 {
        debug_assert!(value < self.n, "{value} is not in 0..{}", self.n);
        let mut value = value;
        loop {
            value = self.feistel(value);
            if value < self.n {
                return value;
            }
        }
    }

    #[inline]
    fn feistel(&self, value: u64) -> u64 {
        let mut left = value >> self.right_bits;
        let mut right = value & self.right_mask;
        for keys in self.round_keys.chunks_exact(2) {
            left ^= keys[0].round(right) & self.left_mask;
            right ^= keys[1].round(left) & self.right_mask;
        }
        left << self.right_bits | right
    }
}

impl RoundKey {
    #[inline]
    fn round(self, half: u64) -> u64 {
        folded_product(half ^ self.mask, self.multiplier)
    }
}
