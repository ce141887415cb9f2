//! Field values: printable bytes without meaning.

use crate::OpRng;

/// Keeps 6 random bits of each byte: 64 symbols.
const SYMBOL_MASK: u64 = 0x3F3F_3F3F_3F3F_3F3F;
/// Moves each byte to the first printable symbol, the space.
const SYMBOL_FIRST: u64 = 0x2020_2020_2020_2020;
const WORD_BYTES: usize = size_of::<u64>();
/// Words that are made together, and drawn together at the end of a value too.
const GROUP_WORDS: usize = 2;
const GROUP_BYTES: usize = GROUP_WORDS * WORD_BYTES;

/// Fills `value` with bytes that are uniform over the 64 symbols from space to underscore: 6 bits of entropy per byte, so that
/// compression can't save more than a quarter. Eight bytes are made at a time.
#[inline]
pub fn fill(value: &mut [u8], rng: &mut OpRng) {
    let (groups, rest) = value.as_chunks_mut::<GROUP_BYTES>();
    for bytes in groups {
        *bytes = group(rng);
    }
    if !rest.is_empty() {
        rest.copy_from_slice(&group(rng)[..rest.len()]);
    }
}

#[inline]
fn group(rng: &mut OpRng) -> [u8; GROUP_BYTES] {
    let mut words = [[0; WORD_BYTES]; GROUP_WORDS];
    words.fill_with(|| ((rng.next_u64() & SYMBOL_MASK) + SYMBOL_FIRST).to_le_bytes());
    let mut bytes = [0; GROUP_BYTES];
    bytes.copy_from_slice(words.as_flattened());
    bytes
}
