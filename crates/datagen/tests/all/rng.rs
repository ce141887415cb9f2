//! The generator's numbers: uniform along an operation, across operations, and independent of seed and stream.

use crate::statistics::{KS_MAX, Z_MAX, chi_square_z, count, kolmogorov_smirnov};
use brimline_datagen::OpRng;
use proptest::prelude::*;

const DRAWS: u64 = 200_000;

#[test]
fn numbers_are_a_function_of_seed_stream_and_index() {
    let first = |seed, stream, index| OpRng::new(seed, stream, index).next_u64();
    assert_eq!(first(1, 2, 3), first(1, 2, 3));
    let others = [first(2, 2, 3), first(1, 3, 3), first(1, 2, 4), first(2, 1, 3), first(1, 3, 2)];
    assert!(others.iter().all(|&other| other != first(1, 2, 3)), "{others:?}");
}

#[test]
fn first_numbers_never_change() {
    let mut rng = OpRng::new(1, 2, 3);
    let numbers: [u64; 4] = std::array::from_fn(|_| rng.next_u64());
    assert_eq!(numbers, RNG_SNAPSHOT);
}

#[test]
fn numbers_of_one_operation_are_uniform() {
    let mut rng = OpRng::new(1, 0, 0);
    let samples = (0..DRAWS).map(|_| rng.next_f64()).collect();
    assert!(kolmogorov_smirnov(samples, |x| x) < KS_MAX);
}

#[test]
fn first_numbers_are_uniform_across_indexes_streams_and_seeds() {
    let uses: [fn(u64) -> OpRng; 4] = [
        |i| OpRng::new(0, 0, i),
        |i| OpRng::new(0, i, 0),
        |i| OpRng::new(i, 0, 0),
        |i| OpRng::new(7, 1 << 63, i << 40),
    ];
    for (number, new) in uses.into_iter().enumerate() {
        let samples = (0..DRAWS).map(|i| new(i).next_f64()).collect();
        let distance = kolmogorov_smirnov(samples, |x| x);
        assert!(distance < KS_MAX, "use {number}: {distance}");
    }
}

/// Neighbours in time, in index and in stream: each pair falls evenly on a 64 × 64 board.
#[test]
fn neighbouring_numbers_are_independent() {
    let pairs: [fn(u64) -> (f64, f64); 3] = [
        |i| {
            let mut rng = OpRng::new(3, 0, i);
            (rng.next_f64(), rng.next_f64())
        },
        |i| (OpRng::new(3, 0, i).next_f64(), OpRng::new(3, 0, i + 1).next_f64()),
        |i| (OpRng::new(3, 0, i).next_f64(), OpRng::new(3, 1, i).next_f64()),
    ];
    for (number, pair) in pairs.into_iter().enumerate() {
        let counts = count(64 * 64, DRAWS, |i| {
            let (a, b) = pair(i);
            (a * 64.0) as u64 * 64 + (b * 64.0) as u64
        });
        let z = chi_square_z(&counts, &vec![1.0 / 4096.0; 4096]);
        assert!(z.abs() < Z_MAX, "pair {number}: {z}");
    }
}

#[test]
fn below_is_uniform_for_small_and_awkward_bounds() {
    for n in [2, 3, 7, 1000] {
        let counts = count(n, DRAWS, |i| OpRng::new(5, 0, i).below(n as u64));
        let z = chi_square_z(&counts, &vec![1.0 / n as f64; n]);
        assert!(z.abs() < Z_MAX, "{n}: {z}");
    }
}

/// At 3 · 2^62 a plain multiplication hits every third number twice as often as the others.
#[test]
fn below_has_no_bias_at_large_bounds() {
    let n = 3 << 62;
    let counts = count(3, DRAWS, |i| OpRng::new(6, 0, i).below(n) % 3);
    let z = chi_square_z(&counts, &[1.0 / 3.0; 3]);
    assert!(z.abs() < Z_MAX, "{z}");
}

proptest! {
    #[test]
    fn numbers_stay_in_bounds(seed: u64, stream: u64, index: u64, n in 1..=u64::MAX) {
        let mut rng = OpRng::new(seed, stream, index);
        prop_assert!(rng.below(n) < n);
        prop_assert_eq!(rng.below(1), 0);
        prop_assert!((0.0..1.0).contains(&rng.next_f64()));
    }
}

const RNG_SNAPSHOT: [u64; 4] = [
    11_988_754_902_662_204_520,
    7_435_192_193_645_719_743,
    15_403_546_702_385_710_943,
    316_518_687_621_005_563,
];
