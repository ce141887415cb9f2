//! One record after the other.

/// Operation *i* takes record *i* modulo *n*.
#[derive(Clone, Debug)]
pub struct Sequential {
    n: u64,
}

impl Sequential {
    pub fn new(n: u64) -> Self {
        Self { n }
    }

    #[inline]
    pub fn draw(&self, index: u64) -> u64 {
        index % self.n
    }
}
