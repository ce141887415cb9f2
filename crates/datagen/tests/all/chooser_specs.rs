//! Choosers as a plan names them: JSON and bounds.

use brimline_datagen::{ChooserSpec, SpecError};

#[test]
fn specifications_read_and_write_as_json() {
    let cases = [
        (ChooserSpec::Uniform, r#"{"kind":"uniform"}"#),
        (ChooserSpec::Zipfian { theta: 0.99 }, r#"{"kind":"zipfian","theta":0.99}"#),
        (ChooserSpec::Latest { theta: 0.5 }, r#"{"kind":"latest","theta":0.5}"#),
        (
            ChooserSpec::Hotspot { data_fraction: 0.2, operation_fraction: 0.8 },
            r#"{"kind":"hotspot","data_fraction":0.2,"operation_fraction":0.8}"#,
        ),
        (
            ChooserSpec::Exponential { percentile: 95.0, fraction: 0.5 },
            r#"{"kind":"exponential","percentile":95.0,"fraction":0.5}"#,
        ),
        (ChooserSpec::Sequential, r#"{"kind":"sequential"}"#),
    ];
    for (spec, json) in cases {
        assert_eq!(serde_json::to_string(&spec).unwrap(), json);
        assert_eq!(serde_json::from_str::<ChooserSpec>(json).unwrap(), spec);
    }
}

#[test]
fn unknown_missing_and_wrong_keys_are_refused() {
    let cases = [
        r#"{"kind":"uniform","theta":0.99}"#,
        r#"{"kind":"sequential","theta":0.99}"#,
        r#"{"kind":"zipfian","theta":0.99,"skew":1}"#,
        r#"{"kind":"zipfian"}"#,
        r#"{"kind":"zipf","theta":0.99}"#,
        r#"{"theta":0.99}"#,
    ];
    for json in cases {
        assert!(serde_json::from_str::<ChooserSpec>(json).is_err(), "{json}");
    }
}

#[test]
fn parameters_out_of_bounds_are_refused_with_path_and_reason() {
    let hotspot =
        |data_fraction, operation_fraction| ChooserSpec::Hotspot { data_fraction, operation_fraction };
    let exponential = |percentile, fraction| ChooserSpec::Exponential { percentile, fraction };
    let cases = [
        (ChooserSpec::Zipfian { theta: -0.1 }, "theta: must be from 0 to 10, got -0.1"),
        (ChooserSpec::Zipfian { theta: f64::NAN }, "theta: must be from 0 to 10, got NaN"),
        (ChooserSpec::Latest { theta: 10.5 }, "theta: must be from 0 to 10, got 10.5"),
        (hotspot(0.0, 0.8), "data_fraction: must be above 0 and at most 1, got 0"),
        (hotspot(1.1, 0.8), "data_fraction: must be above 0 and at most 1, got 1.1"),
        (hotspot(f64::NAN, 0.8), "data_fraction: must be above 0 and at most 1, got NaN"),
        (hotspot(0.2, -0.1), "operation_fraction: must be from 0 to 1, got -0.1"),
        (hotspot(0.2, 1.1), "operation_fraction: must be from 0 to 1, got 1.1"),
        (exponential(0.0, 0.5), "percentile: must be above 0 and below 100, got 0"),
        (exponential(100.0, 0.5), "percentile: must be above 0 and below 100, got 100"),
        (exponential(95.0, 0.0), "fraction: must be above 0 and at most 1, got 0"),
        (exponential(95.0, f64::INFINITY), "fraction: must be above 0 and at most 1, got inf"),
    ];
    for (spec, message) in cases {
        assert_eq!(spec.validate().unwrap_err().to_string(), message);
    }
}

#[test]
fn bounds_themselves_are_accepted() {
    let cases = [
        ChooserSpec::Zipfian { theta: 0.0 },
        ChooserSpec::Latest { theta: 10.0 },
        ChooserSpec::Hotspot { data_fraction: 1.0, operation_fraction: 0.0 },
        ChooserSpec::Hotspot { data_fraction: 1e-300, operation_fraction: 1.0 },
        ChooserSpec::Exponential { percentile: 99.999, fraction: 1.0 },
    ];
    for spec in cases {
        assert_eq!(spec.validate(), Ok(()), "{spec:?}");
    }
}

#[test]
fn an_error_tells_its_place_in_a_larger_specification() {
    let error = SpecError::new("theta", "is wrong").within("keys").within("work");
    assert_eq!(error.to_string(), "work.keys.theta: is wrong");
}
