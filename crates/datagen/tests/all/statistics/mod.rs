//! Goodness of fit. Seeds are fixed, so a result is the same on every run; bounds are wide enough (about 1 in 30 000) that
//! a correct law doesn't fail by an unlucky seed.

#![allow(dead_code, reason = "every test file uses its own part")]

/// Bound of |z|: a correct law exceeds it once in 16 000 seeds, a law that is wrong by a few percent always does.
pub const Z_MAX: f64 = 4.0;
/// Bound of √n · D: a correct law exceeds it once in 13 000 seeds.
pub const KS_MAX: f64 = 2.2;
/// Cells that expect less are merged with their right neighbours; few, large cells make the test sharper in the tail.
const EXPECTED_MIN: f64 = 100.0;

/// χ² of `counts` against `probabilities`, as a standard normal z (Wilson and Hilferty 1931). Far above zero: another law.
/// Far below: too regular to be random.
pub fn chi_square_z(counts: &[u64], probabilities: &[f64]) -> f64 {
    assert_eq!(counts.len(), probabilities.len());
    let total: u64 = counts.iter().sum();
    let cells = merge_small_cells(counts, probabilities, total as f64);
    assert!(cells.len() > 1, "one cell proves nothing");
    let statistic: f64 = cells.iter().map(|(seen, expected)| (seen - expected).powi(2) / expected).sum();
    let spread = 2.0 / (9.0 * (cells.len() - 1) as f64);
    ((statistic / (cells.len() - 1) as f64).cbrt() - (1.0 - spread)) / spread.sqrt()
}

fn merge_small_cells(counts: &[u64], probabilities: &[f64], total: f64) -> Vec<(f64, f64)> {
    let mut cells: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (&count, probability) in counts.iter().zip(probabilities) {
        open = (open.0 + count as f64, open.1 + probability * total);
        if open.1 >= EXPECTED_MIN {
            cells.push(std::mem::take(&mut open));
        }
    }
    if let Some(last) = cells.last_mut() {
        *last = (last.0 + open.0, last.1 + open.1);
    }
    cells
}

/// √n times the Kolmogorov–Smirnov distance of `samples` from the distribution function `cdf`.
pub fn kolmogorov_smirnov(mut samples: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let n = samples.len() as f64;
    let distance = |(index, &sample): (usize, &f64)| {
        let probability = cdf(sample);
        (probability - index as f64 / n).abs().max((probability - (index + 1) as f64 / n).abs())
    };
    samples.iter().enumerate().map(distance).fold(0.0, f64::max) * n.sqrt()
}

/// How often each of `0..cells` comes out of `draws` calls.
pub fn count(cells: usize, draws: u64, mut draw: impl FnMut(u64) -> u64) -> Vec<u64> {
    let mut counts = vec![0; cells];
    for index in 0..draws {
        counts[draw(index) as usize] += 1;
    }
    counts
}

/// Probabilities of the ranks 1 … *n* under the zipfian law.
pub fn zipfian_probabilities(n: usize, theta: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=n).map(|k| (k as f64).powf(-theta)).collect();
    let sum: f64 = weights.iter().rev().sum();
    weights.iter().map(|weight| weight / sum).collect()
}
