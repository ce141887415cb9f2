//! Random numbers that belong to one operation.

/// A counter-based generator: its numbers are a function of (seed, stream, index), so operation *i* is the same whichever
/// thread or machine performs it. Making one costs a few multiplications; nothing is kept between operations.
///
/// `stream` separates uses that share a seed, such as choosing operations and filling documents. The start is a nested
/// bijective hash (`MurmurHash3`'s 64-bit finaliser), so indexes of one stream never share a start; the numbers
/// themselves are wyrand's (Wang Yi, wyhash), a Weyl sequence through a folded 128-bit product.
#[derive(Clone, Debug)]
pub struct OpRng {
    state: u64,
}

const WEYL_INCREMENT: u64 = 0xA076_1D64_78BD_642F;
const FOLD_MASK: u64 = 0xE703_7ED1_A0B4_28DB;

/// One stream of one seed, hashed once for all its indexes.
#[derive(Clone, Copy, Debug)]
pub struct RngStream {
    start: u64,
}

impl RngStream {
    /// The numbers of `stream`. Streams from 2^63 on are this crate's own.
    #[inline]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self { start: mix(mix(seed) ^ stream) }
    }

    /// The numbers of `index`.
    #[inline]
    pub fn at(self, index: u64) -> OpRng {
        OpRng { state: mix(self.start ^ index) }
    }

    /// The numbers of one item of `index`; item 0 is the index itself.
    #[inline]
    pub fn at_item(self, index: u64, item: u32) -> OpRng {
        let OpRng { state } = self.at(index);
        OpRng { state: if item == 0 { state } else { mix(state ^ u64::from(item)) } }
    }
}

impl OpRng {
    /// The numbers of `index` in `stream`: [`RngStream::at`] for those who need few of them.
    #[inline]
    pub fn new(seed: u64, stream: u64, index: u64) -> Self {
        RngStream::new(seed, stream).at(index)
    }

    /// The next number, uniform over all 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(WEYL_INCREMENT);
        folded_product(self.state, self.state ^ FOLD_MASK)
    }

    /// The next number in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn next_f64(&mut self) -> f64 {
        const ULP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * ULP
    }

    /// The next number in `0..n`, without bias (Lemire, "Fast Random Integer Generation in an Interval", 2019).
    ///
    /// `n` must be at least 1.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0, "no number is below 0");
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            let biased = n.wrapping_neg() % n;
            while (product as u64) < biased {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }
}

/// High and low half of the 128-bit product, folded into one.
#[inline]
pub(crate) fn folded_product(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// A bijection of 64 bits in which every bit of the input changes about half of the output.
#[inline]
fn mix(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    x ^= x >> 33;
    x = x.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^ (x >> 33)
}
