//! Field values: printable bytes without meaning.

use crate::OpRng;

/// Keeps 6 random bits of each byte: 64 symbols.
const SYMBOL_MASK: u64 = 0x3F3F_3F3F_3F3F_3F3F;
/// Moves each byte to the first printable symbol, the space.
const SYMBOL_FIRST: u64 = 0x2020_2020_2020_2020;
const CHUNK_BYTES: usize = size_of::<u64>();
/// Chunks that are made together; the loop over them is unrolled.
const GROUP_CHUNKS: usize = 2;
const GROUP_BYTES: usize = GROUP_CHUNKS * CHUNK_BYTES;
const BLOCK_GROUPS: usize = 8;
const BLOCK_BYTES: usize = BLOCK_GROUPS * GROUP_BYTES;

/// Hands `length` bytes to `sink` in blocks, each uniform over the 64 symbols from space to underscore: 6 bits of entropy per byte, so that
/// compression can't save more than a quarter. Eight bytes are made at a time, and a block is copied at once.
#[inline]
pub fn append(length: usize, rng: &mut OpRng, mut sink: impl FnMut(&[u8])) {
    let mut block = [[[0; CHUNK_BYTES]; GROUP_CHUNKS]; BLOCK_GROUPS];
    let mut left = length;
    while left > 0 {
        let bytes = left.min(BLOCK_BYTES);
        for group in &mut block[..bytes.div_ceil(GROUP_BYTES)] {
            group.fill_with(|| symbols(rng));
        }
        sink(&block.as_flattened().as_flattened()[..bytes]);
        left -= bytes;
    }
}

#[inline]
fn symbols(rng: &mut OpRng) -> [u8; CHUNK_BYTES] {
    ((rng.next_u64() & SYMBOL_MASK) + SYMBOL_FIRST).to_le_bytes()
}
