//! Length laws against their definitions.

use crate::statistics::{Z_MAX, chi_square_z, count, zipfian_probabilities};
use brimline_datagen::{LENGTH_MAX, LengthChooser, LengthSpec, OpRng};
use proptest::prelude::*;

fn counts(spec: &LengthSpec, cells: usize) -> Vec<u64> {
    let chooser = LengthChooser::new(spec).unwrap();
    count(cells, 200_000, |index| u64::from(chooser.draw(&mut OpRng::new(21, 0, index))))
}

#[test]
fn constant_is_constant() {
    for length in [0, 1, 100, LENGTH_MAX] {
        let chooser = LengthChooser::new(&LengthSpec::Constant { length }).unwrap();
        assert!((0..100).all(|index| chooser.draw(&mut OpRng::new(1, 0, index)) == length));
        assert_eq!(chooser.max(), length);
    }
}

#[test]
fn uniform_includes_both_ends() {
    let z = chi_square_z(&counts(&LengthSpec::Uniform { min: 3, max: 12 }, 13)[3..], &[0.1; 10]);
    assert!(z.abs() < Z_MAX, "{z}");
}

#[test]
fn zipfian_prefers_the_shortest() {
    let law = zipfian_probabilities(100, 0.99);
    let z = chi_square_z(&counts(&LengthSpec::Zipfian { min: 1, max: 100 }, 101)[1..], &law);
    assert!(z.abs() < Z_MAX, "{z}");
}

#[test]
fn histogram_follows_its_weights() {
    let weights = vec![(5, 1.0), (2, 0.0), (0, 2.5), (9, 0.5), (8, 0.0)];
    let spec = LengthSpec::Histogram { weights };
    let counts = counts(&spec, 10);
    assert_eq!(counts[2] + counts[8], 0, "a weight of 0 is never drawn");
    let z = chi_square_z(&[counts[5], counts[0], counts[9]], &[0.25, 0.625, 0.125]);
    assert!(z.abs() < Z_MAX, "{z}");
    assert_eq!(spec.max(), 9);
}

#[test]
fn a_longest_length_of_weight_zero_does_not_count() {
    assert_eq!(LengthSpec::Histogram { weights: vec![(7, 1.0), (1000, 0.0)] }.max(), 7);
}

#[test]
fn ranges_of_one_length_work() {
    for spec in [LengthSpec::Uniform { min: 7, max: 7 }, LengthSpec::Zipfian { min: 7, max: 7 }] {
        let chooser = LengthChooser::new(&spec).unwrap();
        assert!((0..100).all(|index| chooser.draw(&mut OpRng::new(1, 0, index)) == 7), "{spec:?}");
    }
}

fn assert_refused(spec: &LengthSpec, path: &str, reason: &str) {
    let error = LengthChooser::new(spec).unwrap_err();
    assert_eq!(error.path, path, "{error}");
    assert!(error.message.contains(reason), "{error}");
}

#[test]
fn impossible_lengths_are_refused_with_path_and_reason() {
    let too_long = LENGTH_MAX + 1;
    let histogram = |weights| LengthSpec::Histogram { weights };
    assert_refused(&LengthSpec::Constant { length: too_long }, "length", "at most 16777216, got 16777217");
    assert_refused(&LengthSpec::Uniform { min: 2, max: 1 }, "min", "at most max, which is 1, got 2");
    assert_refused(&LengthSpec::Zipfian { min: 2, max: 1 }, "min", "at most max, which is 1, got 2");
    assert_refused(&LengthSpec::Uniform { min: 0, max: too_long }, "max", "at most 16777216");
    assert_refused(&histogram(vec![]), "weights", "1 to 65536 entries, got 0");
    assert_refused(&histogram(vec![(1, 0.0)]), "weights", "positive, finite sum, got 0");
    assert_refused(&histogram(vec![(1, 1.0), (2, -1.0)]), "weights.1", "number from 0, got -1");
    assert_refused(&histogram(vec![(1, f64::NAN)]), "weights.0", "got NaN");
    assert_refused(&histogram(vec![(1, f64::MAX), (2, f64::MAX)]), "weights", "got inf");
    assert_refused(&histogram(vec![(too_long, 1.0)]), "weights.0", "at most 16777216");
    assert_refused(&histogram(vec![(1, 1.0); 65_537]), "weights", "1 to 65536 entries, got 65537");
}

#[test]
fn specifications_read_and_write_as_json() {
    let cases = [
        (LengthSpec::Constant { length: 100 }, r#"{"kind":"constant","length":100}"#),
        (LengthSpec::Uniform { min: 1, max: 5 }, r#"{"kind":"uniform","min":1,"max":5}"#),
        (LengthSpec::Zipfian { min: 1, max: 5 }, r#"{"kind":"zipfian","min":1,"max":5}"#),
        (
            LengthSpec::Histogram { weights: vec![(1, 0.5), (9, 2.0)] },
            r#"{"kind":"histogram","weights":[[1,0.5],[9,2.0]]}"#,
        ),
    ];
    for (spec, json) in cases {
        assert_eq!(serde_json::to_string(&spec).unwrap(), json);
        assert_eq!(serde_json::from_str::<LengthSpec>(json).unwrap(), spec);
    }
    for json in [
        r#"{"kind":"constant","length":1,"max":2}"#,
        r#"{"kind":"normal"}"#,
        r#"{"kind":"constant","length":-1}"#,
    ] {
        assert!(serde_json::from_str::<LengthSpec>(json).is_err(), "{json}");
    }
}

proptest! {
    #[test]
    fn lengths_stay_in_range(a in 0..=LENGTH_MAX, b in 0..=LENGTH_MAX, seed: u64) {
        let (min, max) = (a.min(b), a.max(b));
        let mut rng = OpRng::new(seed, 0, 0);
        for spec in [LengthSpec::Uniform { min, max }, LengthSpec::Zipfian { min, max }] {
            let chooser = LengthChooser::new(&spec).unwrap();
            prop_assert_eq!(chooser.max(), max);
            for _ in 0..20 {
                prop_assert!((min..=max).contains(&chooser.draw(&mut rng)));
            }
        }
    }

    #[test]
    fn histograms_draw_what_they_list(weights in proptest::collection::vec((0..=LENGTH_MAX, 0.0..1e6), 1..20), seed: u64) {
        prop_assume!(weights.iter().any(|&(_, weight)| weight > 0.0));
        let chooser = LengthChooser::new(&LengthSpec::Histogram { weights: weights.clone() }).unwrap();
        let mut rng = OpRng::new(seed, 0, 0);
        for _ in 0..20 {
            let length = chooser.draw(&mut rng);
            prop_assert!(weights.iter().any(|&(listed, weight)| listed == length && weight > 0.0));
        }
    }
}
