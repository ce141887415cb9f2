//! Few records take most of the operations.

use crate::OpRng;

/// First rank whose share is taken from the hat without a test.
const TAIL_START: f64 = (1_u64 << 20) as f64;

/// Rank *k* − 1 with probability *k*^-theta / Σ *i*^-theta, *k* = 1 … *n*, exactly, for any theta ≥ 0, with no table and no
/// sum over the ranks.
///
/// Rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6(3), 1996). The closed form that YCSB uses (Gray et al., SIGMOD 1994) is only exact for the
/// first two ranks: with theta 0.99 and 10^5 records it draws the third 19 % too often.
///
/// From rank 2^20 on the hat is taken for the law: they differ by less than 10^-11 there (10^-12 up to theta 3), and comparing
/// the two would lose more to rounding. Above 2^53 records neighbouring ranks of the far tail share a double; there only groups of ranks are exact.
#[derive(Clone, Debug)]
pub struct Zipfian {
    n: f64,
    theta: f64,
    /// 1 − theta.
    exponent: f64,
    /// 1 / (1 − theta); infinite and unused at theta 1.
    exponent_inverse: f64,
    /// Area under the density up to 3/2, where the first rank ends.
    area_first: f64,
    /// Area up to *n* + 1/2, where the last rank ends.
    area_all: f64,
    /// Rounding up by at most this is always accepted.
    squeeze: f64,
}

impl Zipfian {
    pub fn new(n: u64, theta: f64) -> Self {
        let mut zipfian = Self {
            n: n as f64,
            theta,
            exponent: 1.0 - theta,
            exponent_inverse: 1.0 / (1.0 - theta),
            area_first: 0.0,
            area_all: 0.0,
            squeeze: 0.0,
        };
        zipfian.area_first = zipfian.area(1.5);
        zipfian.area_all = zipfian.area(zipfian.n + 0.5);
        zipfian.squeeze = 2.0 - zipfian.area_inverse(zipfian.area(2.5) - zipfian.density(2.0));
        zipfian
    }

    #[inline]
    pub fn draw(&self, rng: &mut OpRng) -> u64 {
        // The first rank's share of the area is exactly its density, 1; later ranks round into theirs.
        let area_start = self.area_first - 1.0;
        loop {
            let area = self.area_all + rng.next_f64() * (area_start - self.area_all);
            if area <= self.area_first {
                return 0;
            }
            let x = self.area_inverse(area);
            // The cast rounds a positive number down as `floor` does, without a call into the C library.
            let k = ((x + 0.5) as i64 as f64).clamp(1.0, self.n);
            if k - x <= self.squeeze || k >= TAIL_START || area >= self.area(k + 0.5) - self.density(k) {
                return k as u64 - 1;
            }
        }
    }

    /// The hat *x*^-theta.
    fn density(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// Integral of the density from 1 to *x*; written so that it stays accurate as theta nears 1.
    fn area(&self, x: f64) -> f64 {
        let log = x.ln();
        if self.exponent == 0.0 { log } else { (self.exponent * log).exp_m1() * self.exponent_inverse }
    }

    /// The *x* up to which the integral is `area`.
    fn area_inverse(&self, area: f64) -> f64 {
        if self.exponent == 0.0 {
            return area.exp();
        }
        ((self.exponent * area).ln_1p() * self.exponent_inverse).exp()
    }
}
