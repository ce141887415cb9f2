//! The shuffle loses nothing and scatters evenly.

use crate::statistics::{Z_MAX, chi_square_z, count};
use brimline_datagen::Permutation;
use proptest::prelude::*;

fn assert_bijective(n: u64, seed: u64) {
    let permutation = Permutation::new(n, seed);
    let mut hit = vec![false; n as usize];
    for value in 0..n {
        let image = permutation.apply(value) as usize;
        assert!(!std::mem::replace(&mut hit[image], true), "n {n}, seed {seed}: {image} is hit twice");
    }
}

#[test]
fn every_small_range_is_permuted() {
    for n in 1..=600 {
        assert_bijective(n, n);
    }
}

#[test]
fn larger_ranges_are_permuted() {
    for n in [1023, 1024, 1025, 4095, 4097, 10_007, 65_535, 65_536, 65_537, 100_000, 262_145] {
        assert_bijective(n, 1);
        assert_bijective(n, u64::MAX);
    }
}

#[test]
fn seeds_give_different_shuffles() {
    let images = |seed| (0..100).map(|value| Permutation::new(1000, seed).apply(value)).collect::<Vec<_>>();
    assert_eq!(images(1), images(1));
    assert_ne!(images(1), images(2));
}

/// The first tenth of the ranks falls evenly on the blocks of the range, at ranges just below and above a power of two.
#[test]
fn hot_ranks_are_scattered_evenly() {
    for n in [100_000, 131_072, 131_073] {
        let permutation = Permutation::new(n, 3);
        let hot = n / 10;
        let counts = count(100, hot, |rank| permutation.apply(rank) * 100 / n);
        // Blocks are drawn from without replacement, so counts vary a little less than χ² expects.
        let z = chi_square_z(&counts, &[0.01; 100]);
        assert!(z.abs() < Z_MAX, "{n}: {z}");
    }
}

/// Over many seeds each record is equally likely to be the hottest.
#[test]
fn the_hottest_record_is_any_record() {
    for n in [2, 12, 17, 100, 1000] {
        let counts = count(n, 50_000, |seed| Permutation::new(n as u64, seed).apply(0));
        let z = chi_square_z(&counts, &vec![1.0 / n as f64; n]);
        assert!(z.abs() < Z_MAX, "{n}: {z}");
    }
}

proptest! {
    #[test]
    fn images_stay_in_range_and_apart(n in 2..=u64::MAX, seed: u64, a: u64, b: u64) {
        let permutation = Permutation::new(n, seed);
        let (a, b) = (a % n, b % n);
        prop_assert!(permutation.apply(a) < n);
        prop_assert_eq!(a == b, permutation.apply(a) == permutation.apply(b));
    }
}
