//! Every popularity law against its definition.

use crate::statistics::{KS_MAX, Z_MAX, chi_square_z, count, kolmogorov_smirnov, zipfian_probabilities};
use brimline_datagen::{ChooserSpec, KeyChooser, OpRng, Permutation};
use proptest::prelude::*;

const SEED: u64 = 11;
const YCSB_FRACTION: f64 = 0.857_142_857_1;

fn chooser(spec: &ChooserSpec, n: u64) -> KeyChooser {
    KeyChooser::new(spec, n, SEED).unwrap()
}

fn draw(chooser: &KeyChooser, index: u64) -> u64 {
    chooser.draw(&mut OpRng::new(SEED, 1, index), index)
}

/// How often each rank is drawn, the scatter undone.
fn rank_counts(spec: &ChooserSpec, n: u64, draws: u64) -> Vec<u64> {
    let chooser = chooser(spec, n);
    let by_record = count(n as usize, draws, |index| draw(&chooser, index));
    if chooser.is_latest() {
        return by_record;
    }
    let scatter = Permutation::new(n, SEED);
    (0..n).map(|rank| by_record[scatter.apply(rank) as usize]).collect()
}

#[test]
fn uniform_is_uniform() {
    for n in [2, 10, 1000] {
        let chooser = chooser(&ChooserSpec::Uniform, n);
        let counts = count(n as usize, 200_000, |index| draw(&chooser, index));
        let z = chi_square_z(&counts, &vec![1.0 / n as f64; n as usize]);
        assert!(z.abs() < Z_MAX, "{n}: {z}");
    }
    let chooser = chooser(&ChooserSpec::Uniform, u64::MAX);
    let samples = (0..100_000).map(|index| draw(&chooser, index) as f64).collect();
    assert!(kolmogorov_smirnov(samples, |x| x / u64::MAX as f64) < KS_MAX);
}

#[test]
fn zipfian_and_latest_follow_the_law_for_every_theta() {
    for n in [2, 3, 10, 1000, 100_000] {
        for theta in [0.0, 0.5, 0.99, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 1.2, 2.0, 3.0] {
            let law = zipfian_probabilities(n, theta);
            for spec in [ChooserSpec::Zipfian { theta }, ChooserSpec::Latest { theta }] {
                let z = chi_square_z(&rank_counts(&spec, n as u64, 200_000), &law);
                assert!(z.abs() < Z_MAX, "{spec:?}, {n}: {z}");
            }
        }
    }
}

/// Groups of ranks that double in size, over more ranks than any table could hold.
#[test]
fn zipfian_follows_the_law_over_huge_counts() {
    for (n, theta) in [(1 << 40, 0.5), (1 << 40, 0.99), (1 << 40, 1.0), (u64::MAX, 0.99), (u64::MAX, 1.3)] {
        let groups = n.ilog2() as usize + 1;
        let chooser = chooser(&ChooserSpec::Latest { theta }, n);
        let counts = count(groups, 300_000, |index| u64::from((draw(&chooser, index) + 1).ilog2()));
        let end = |group: usize| {
            if group + 1 == groups { n as f64 + 1.0 } else { (group as f64 + 1.0).exp2() }
        };
        let weights: Vec<f64> =
            (0..groups).map(|group| power_sum((group as f64).exp2(), end(group), theta)).collect();
        let sum: f64 = weights.iter().sum();
        let law: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
        let z = chi_square_z(&counts, &law);
        assert!(z.abs() < Z_MAX, "{n}, {theta}: {z}");
    }
}

/// Σ k^-theta for k = from … to − 1, by Euler and Maclaurin where the terms are many.
fn power_sum(from: f64, to: f64, theta: f64) -> f64 {
    if to <= 1024.0 {
        return (from as u64..to as u64).map(|k| (k as f64).powf(-theta)).sum();
    }
    let f = |x: f64| x.powf(-theta);
    let slope = |x: f64| -theta * x.powf(-theta - 1.0);
    let integral = if (theta - 1.0).abs() < f64::EPSILON {
        (to / from).ln()
    } else {
        (to.powf(1.0 - theta) - from.powf(1.0 - theta)) / (1.0 - theta)
    };
    integral + (f(from) - f(to)) / 2.0 + (slope(to) - slope(from)) / 12.0
}

/// The first three ranks at theta 0.99 and 10^5 records, where approximations show: exactly 7.83 %, 3.94 % and 2.64 %.
#[test]
fn the_first_zipfian_ranks_have_their_exact_shares() {
    let law = zipfian_probabilities(100_000, 0.99);
    assert!((law[2] - 0.0264).abs() < 5e-5, "{}", law[2]);
    let draws = 1_000_000;
    let exact = rank_counts(&ChooserSpec::Zipfian { theta: 0.99 }, 100_000, draws);
    for rank in 0..3 {
        assert!(share_z(exact[rank], draws, law[rank]).abs() < Z_MAX, "rank {}", rank + 1);
    }
    assert!(chi_square_z(&exact, &law).abs() < Z_MAX);
}

/// The tests above see an approximation as close as the one YCSB uses.
#[test]
fn the_approximation_of_gray_would_fail() {
    let law = zipfian_probabilities(100_000, 0.99);
    let draws = 1_000_000;
    let gray = count(100_000, draws, |index| gray_rank(OpRng::new(SEED, 1, index).next_f64(), 100_000, 0.99));
    assert!((gray[2] as f64 / draws as f64 - 0.0314).abs() < 5e-4, "{}", gray[2]);
    assert!(share_z(gray[2], draws, law[2]) > 20.0);
    assert!(chi_square_z(&gray, &law) > 2.0 * Z_MAX);
}

fn share_z(seen: u64, draws: u64, probability: f64) -> f64 {
    let n = draws as f64;
    (seen as f64 - n * probability) / (n * probability * (1.0 - probability)).sqrt()
}

/// Rank − 1 by the closed form of Gray et al., SIGMOD 1994.
fn gray_rank(u: f64, n: u64, theta: f64) -> u64 {
    // ζ(10^5, 0.99), as the sum of the law's weights.
    let zeta = 12.778_338_062_551_171;
    let zeta_two = 1.0 + 0.5_f64.powf(theta);
    match u * zeta {
        scaled if scaled < 1.0 => 0,
        scaled if scaled < zeta_two => 1,
        _ => {
            let eta = (1.0 - (2.0 / n as f64).powf(1.0 - theta)) / (1.0 - zeta_two / zeta);
            (n as f64 * (eta * u - eta + 1.0).powf(1.0 / (1.0 - theta))) as u64
        }
    }
}

#[test]
fn hotspot_splits_operations_as_told() {
    for (n, data_fraction, operation_fraction) in
        [(10, 0.2, 0.8), (1000, 0.01, 0.5), (1000, 0.2, 0.1), (7, 0.5, 0.9)]
    {
        let spec = ChooserSpec::Hotspot { data_fraction, operation_fraction };
        let hot = (n as f64 * data_fraction).round() as usize;
        let in_hot = operation_fraction / hot as f64;
        let in_cold = (1.0 - operation_fraction) / (n - hot) as f64;
        let law: Vec<f64> = (0..n).map(|rank| if rank < hot { in_hot } else { in_cold }).collect();
        let z = chi_square_z(&rank_counts(&spec, n as u64, 200_000), &law);
        assert!(z.abs() < Z_MAX, "{spec:?}, {n}: {z}");
    }
}

#[test]
fn hotspot_works_at_its_edges() {
    let drawn = |data_fraction, operation_fraction| {
        let spec = ChooserSpec::Hotspot { data_fraction, operation_fraction };
        rank_counts(&spec, 10, 10_000).iter().map(|&count| count > 0).collect::<Vec<_>>()
    };
    let ranks = |hot, cold| [vec![hot; 2], vec![cold; 8]].concat();
    assert_eq!(drawn(0.2, 1.0), ranks(true, false), "everything goes to the hot set");
    assert_eq!(drawn(0.2, 0.0), ranks(false, true), "nothing goes to the hot set");
    assert_eq!(drawn(1.0, 0.0), ranks(true, true), "every record is hot");
    assert_eq!(drawn(1e-9, 1.0), [vec![true], vec![false; 9]].concat(), "a hot set has at least one record");
}

#[test]
fn exponential_follows_the_truncated_law() {
    for n in [10_u64, 1000, 20_000] {
        for (percentile, fraction) in [(95.0, YCSB_FRACTION), (90.0, 0.1), (50.0, 1.0), (1e-6, 1.0)] {
            let spec = ChooserSpec::Exponential { percentile, fraction };
            let survival = exponential_survival(n as f64, percentile, fraction);
            let reach = 1.0 - survival(n as f64);
            let law: Vec<f64> =
                (0..n).map(|rank| (survival(rank as f64) - survival(rank as f64 + 1.0)) / reach).collect();
            let z = chi_square_z(&rank_counts(&spec, n, 200_000), &law);
            assert!(z.abs() < Z_MAX, "{spec:?}, {n}: {z}");
        }
    }
}

/// With many records the ranks are nearly continuous.
#[test]
fn exponential_fits_its_distribution_function() {
    let n = 1_000_000;
    let spec = ChooserSpec::Exponential { percentile: 95.0, fraction: YCSB_FRACTION };
    let survival = exponential_survival(n as f64, 95.0, YCSB_FRACTION);
    let chooser = chooser(&spec, n);
    let mut rank_of = std::collections::HashMap::new();
    let scatter = Permutation::new(n, SEED);
    let records: Vec<u64> = (0..50_000).map(|index| draw(&chooser, index)).collect();
    for &record in &records {
        rank_of.insert(record, 0.0);
    }
    for rank in 0..n {
        rank_of.entry(scatter.apply(rank)).and_modify(|found| *found = rank as f64 + 0.5);
    }
    let samples: Vec<f64> = records.iter().map(|record| rank_of[record]).collect();
    let cdf = |x| (1.0 - survival(x)) / (1.0 - survival(n as f64));
    assert!(kolmogorov_smirnov(samples, cdf) < KS_MAX);
}

/// P(X ≥ x) of YCSB's exponential before truncation.
fn exponential_survival(n: f64, percentile: f64, fraction: f64) -> impl Fn(f64) -> f64 {
    let rate = -(1.0 - percentile / 100.0).ln() / (n * fraction);
    move |x| (-rate * x).exp()
}

#[test]
fn sequential_takes_records_in_turn() {
    let chooser = chooser(&ChooserSpec::Sequential, 3);
    let records: Vec<u64> = (0..7).map(|index| draw(&chooser, index)).collect();
    assert_eq!(records, [0, 1, 2, 0, 1, 2, 0]);
    assert_eq!(draw(&chooser, u64::MAX), u64::MAX % 3);
}

#[test]
fn only_latest_counts_back_from_the_newest() {
    for spec in every_law() {
        let is_latest = matches!(spec, ChooserSpec::Latest { .. });
        assert_eq!(chooser(&spec, 10).is_latest(), is_latest, "{spec:?}");
    }
}

#[test]
fn one_record_is_always_chosen() {
    for spec in every_law() {
        let chooser = chooser(&spec, 1);
        assert!((0..1000).all(|index| draw(&chooser, index) == 0), "{spec:?}");
    }
}

#[test]
fn no_record_is_an_error() {
    for spec in every_law() {
        let error = KeyChooser::new(&spec, 0, SEED).unwrap_err();
        assert_eq!(error.path, "record_count", "{spec:?}");
    }
}

fn every_law() -> [ChooserSpec; 6] {
    [
        ChooserSpec::Uniform,
        ChooserSpec::Zipfian { theta: 0.99 },
        ChooserSpec::Latest { theta: 0.99 },
        ChooserSpec::Hotspot { data_fraction: 0.2, operation_fraction: 0.8 },
        ChooserSpec::Exponential { percentile: 95.0, fraction: YCSB_FRACTION },
        ChooserSpec::Sequential,
    ]
}

/// The operations of a seed are part of a run's identity: a change here makes old records incomparable.
#[test]
fn first_draws_never_change() {
    for (spec, expected) in every_law().iter().zip(DRAW_SNAPSHOTS) {
        let chooser = chooser(spec, 1000);
        let records: Vec<u64> = (0..20).map(|index| draw(&chooser, index)).collect();
        assert_eq!(records, expected, "{spec:?}");
    }
}

fn any_law() -> impl Strategy<Value = ChooserSpec> {
    let theta = prop_oneof![0.0..=10.0, Just(0.0), Just(1.0), Just(10.0), 0.999_999..1.000_001];
    let share = prop_oneof![f64::MIN_POSITIVE..=1.0, Just(1.0), Just(f64::MIN_POSITIVE)];
    prop_oneof![
        Just(ChooserSpec::Uniform),
        Just(ChooserSpec::Sequential),
        theta.clone().prop_map(|theta| ChooserSpec::Zipfian { theta }),
        theta.prop_map(|theta| ChooserSpec::Latest { theta }),
        (share.clone(), 0.0..=1.0).prop_map(|(data_fraction, operation_fraction)| ChooserSpec::Hotspot {
            data_fraction,
            operation_fraction
        }),
        (f64::MIN_POSITIVE..100.0, share)
            .prop_map(|(percentile, fraction)| ChooserSpec::Exponential { percentile, fraction }),
    ]
}

proptest! {
    #[test]
    fn draws_stay_in_range(spec in any_law(), bits in 0..64_u32, low: u64, seed: u64, index: u64) {
        let n = (low >> bits).max(1);
        let chooser = KeyChooser::new(&spec, n, seed).unwrap();
        let mut rng = OpRng::new(seed, 1, index);
        for _ in 0..20 {
            prop_assert!(chooser.draw(&mut rng, index) < n);
        }
    }
}

const DRAW_SNAPSHOTS: [[u64; 20]; 6] = [
    [68, 99, 870, 440, 212, 29, 346, 432, 138, 846, 570, 939, 422, 335, 612, 384, 784, 73, 591, 74],
    [571, 828, 637, 513, 344, 777, 556, 950, 394, 173, 278, 835, 766, 947, 327, 790, 692, 829, 501, 584],
    [610, 486, 37, 38, 212, 804, 78, 41, 365, 1, 14, 0, 44, 85, 10, 59, 2, 587, 12, 582],
    [977, 574, 543, 158, 447, 379, 630, 277, 494, 487, 250, 896, 546, 736, 293, 913, 61, 36, 790, 884],
    [372, 459, 81, 546, 201, 884, 554, 944, 950, 988, 375, 120, 144, 509, 502, 379, 744, 515, 718, 515],
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19],
];
