//! Strings of random characters of an alphabet.

use crate::OpRng;

/// A number of 64 bits is drawn once for several characters; this many bits of it stay unused, so that no character is
/// likelier than another by more than one part in 2^16.
const SPARE_BITS: u32 = 16;

/// The pairs of so many characters take 8 KiB.
const PAIRED_CHARACTERS_MAX: usize = 64;
const EIGHT: usize = 8;

/// Characters that strings are made of.
#[derive(Clone, Debug)]
pub(crate) struct Characters {
    /// Each of one byte, or else `wide`.
    ascii: Box<[u8]>,
    /// Two at a time in the order of their digits; none of a large alphabet, which wouldn't fit a processor's nearest cache.
    pairs: Box<[[u8; 2]]>,
    wide: Box<[char]>,
    /// Characters made of one random number.
    per_draw: usize,
}

impl Characters {
    /// Prepares the characters of `alphabet`, at least one.
    pub(super) fn new(alphabet: &str) -> Self {
        let wide: Box<[char]> = alphabet.chars().collect();
        let ascii: Box<[u8]> = if alphabet.is_ascii() { alphabet.as_bytes().into() } else { Box::default() };
        let bits_per_character = usize::BITS - (wide.len() - 1).leading_zeros();
        let per_draw = (u64::BITS - SPARE_BITS) / bits_per_character.max(1);
        Self { pairs: pairs(&ascii), ascii, wide, per_draw: per_draw as usize }
    }

    /// Appends `length` characters.
    pub(super) fn append(&self, length: u32, rng: &mut OpRng, out: &mut Vec<u8>) {
        if self.ascii.is_empty() {
            return self.append_wide(length, rng, out);
        }
        let start = out.len();
        out.resize(start + length as usize, 0);
        let text = &mut out[start..];
        if self.pairs.is_empty() {
            self.fill_singly(text, rng);
        } else if self.per_draw == EIGHT {
            self.fill_eights(text, rng);
        } else {
            for text in text.chunks_mut(self.per_draw) {
                self.fill_in_pairs(text, rng.next_u64());
            }
        }
    }

    fn fill_singly(&self, text: &mut [u8], rng: &mut OpRng) {
        for characters in text.chunks_mut(self.per_draw) {
            let mut fraction = rng.next_u64();
            for character in characters {
                *character = self.ascii[next_digit(&mut fraction, self.ascii.len())];
            }
        }
    }

    /// As [`Self::fill_singly`] of alphabets of 33 to 64 characters, the usual ones, whose loop has a known length.
    fn fill_eights(&self, text: &mut [u8], rng: &mut OpRng) {
        let (eights, rest) = text.as_chunks_mut::<EIGHT>();
        for text in eights {
            self.fill_in_pairs(text, rng.next_u64());
        }
        if !rest.is_empty() {
            self.fill_in_pairs(rest, rng.next_u64());
        }
    }

    /// Two digits to `base` are one digit to its square.
    #[inline]
    fn fill_in_pairs(&self, text: &mut [u8], mut fraction: u64) {
        let (pairs, rest) = text.as_chunks_mut();
        for pair in pairs {
            *pair = self.pairs[next_digit(&mut fraction, self.pairs.len())];
        }
        if let [last] = rest {
            *last = self.ascii[next_digit(&mut fraction, self.ascii.len())];
        }
    }

    fn append_wide(&self, length: u32, rng: &mut OpRng, out: &mut Vec<u8>) {
        let mut left = length as usize;
        while left > 0 {
            let count = left.min(self.per_draw);
            let mut fraction = rng.next_u64();
            for _ in 0..count {
                let character = self.wide[next_digit(&mut fraction, self.wide.len())];
                out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            left -= count;
        }
    }
}

fn pairs(ascii: &[u8]) -> Box<[[u8; 2]]> {
    if ascii.len() > PAIRED_CHARACTERS_MAX {
        return Box::default();
    }
    ascii.iter().flat_map(|&first| ascii.iter().map(move |&second| [first, second])).collect()
}

/// The first digit to `base` of a fraction of 2^64; the rest is left in it.
#[inline]
fn next_digit(fraction: &mut u64, base: usize) -> usize {
    let product = u128::from(*fraction) * base as u128;
    *fraction = product as u64;
    (product >> 64) as usize
}
