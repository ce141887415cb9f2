//! Documents from templates: what the public BSON library reads is what the template says, and the same every time.

use crate::rich_templates::{key_of, rich_kinds};
use crate::statistics::{KS_MAX, Z_MAX, chi_square_z, kolmogorov_smirnov};
use brimline_datagen::{
    ChooserSpec, DocumentSpec, Documents, FieldSpec, InsertOrder, LengthSpec, NumberKind, Scalar, ValueSpec,
    Values,
};
use bson::Bson;

pub fn spec(fields: Vec<FieldSpec>) -> DocumentSpec {
    DocumentSpec {
        record_count: 1000,
        insert_start: 0,
        field_count: fields.len() as u32,
        field_length: LengthSpec::Constant { length: 0 },
        field_name_prefix: "field".into(),
        key_prefix: "row".into(),
        insert_order: InsertOrder::Ordered,
        zero_padding: 4,
        template: Some(fields),
        values: Values::Random,
    }
}

pub fn field(name: &str, value: ValueSpec) -> FieldSpec {
    FieldSpec { name: name.into(), value }
}

fn constant(length: u32) -> LengthSpec {
    LengthSpec::Constant { length }
}

pub fn text(text: &str) -> Scalar {
    Scalar::Text(text.into())
}

pub fn parsed(documents: &Documents, record: u64) -> bson::Document {
    let mut out = Vec::new();
    documents.append_document(record, &mut out);
    bson::Document::from_reader(out.as_slice()).unwrap()
}

/// The values of one field in the first documents.
pub fn values(value: ValueSpec, count: u64) -> Vec<Bson> {
    let documents = Documents::new(&spec(vec![field("a", value)]), 7).unwrap();
    (0..count).map(|record| parsed(&documents, record).remove("a").unwrap()).collect()
}

fn normal(mean: f64, standard_deviation: f64, number: NumberKind, decimals: Option<u32>) -> ValueSpec {
    ValueSpec::Normal { mean, standard_deviation, number, decimals }
}

#[test]
fn decimals_are_exact_and_read_as_they_are_written() {
    for (units, decimals, text) in [
        (0, 0, "0"),
        (-7, 0, "-7"),
        (1_050, 2, "10.50"),
        (-5, 2, "-0.05"),
        (i64::MIN, 15, "-9223.372036854775808"),
        (i64::MAX, 1, "922337203685477580.7"),
    ] {
        let spec = ValueSpec::Decimal { min: units, max: units, decimals };
        assert_eq!(values(spec.clone(), 1), [Bson::Decimal128(text.parse().unwrap())], "{text}");
        assert_eq!(values(ValueSpec::Text { parts: vec![spec] }, 1), [Bson::String(text.into())]);
    }
    let mut seen: Vec<String> = values(ValueSpec::Decimal { min: -2, max: 2, decimals: 1 }, 200)
        .iter()
        .map(ToString::to_string)
        .collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, ["-0.1", "-0.2", "0.0", "0.1", "0.2"]);
}

/// The distribution function of the normal law by a series (Marsaglia, "Evaluating the Normal Distribution", 2004).
fn normal_cdf(x: f64) -> f64 {
    let (mut sum, mut term, mut n) = (x, x, 1.0);
    while term.abs() > 1e-17 && n < 400.0 {
        n += 2.0;
        term *= x * x / n;
        sum += term;
    }
    0.5 + sum * (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt()
}

#[test]
fn normal_numbers_follow_their_law() {
    let drawn = values(normal(10.0, 2.0, NumberKind::Double, None), 50_000);
    let samples: Vec<f64> = drawn.iter().map(|value| value.as_f64().unwrap()).collect();
    let distance = kolmogorov_smirnov(samples, |value| normal_cdf((value - 10.0) / 2.0));
    assert!(distance < KS_MAX, "{distance}");
    let drawn = values(normal(-4.0, 3.0, NumberKind::Int, None), 20_000);
    let mean = drawn.iter().map(|value| f64::from(value.as_i32().unwrap())).sum::<f64>() / 20_000.0;
    assert!((mean + 4.0).abs() < 0.1, "{mean}");
    assert_eq!(values(normal(1e300, 1e300, NumberKind::Long, None), 9).len(), 9);
    assert_eq!(values(normal(1e20, 0.0, NumberKind::Long, None), 1), [Bson::Int64(i64::MAX)]);
    assert_eq!(values(normal(-1e20, 0.0, NumberKind::Int, None), 1), [Bson::Int32(i32::MIN)]);
    assert_eq!(values(normal(2.345, 0.0, NumberKind::Double, Some(1)), 1), [Bson::Double(2.3)]);
    for rounded in values(normal(0.0, 1.0, NumberKind::Double, Some(2)), 100) {
        let places = rounded.as_f64().unwrap() * 100.0;
        assert!((places - places.round()).abs() < 1e-6, "{places}");
    }
}

fn every_kind() -> Vec<FieldSpec> {
    vec![
        field("int", ValueSpec::Int { min: -5, max: 5 }),
        field("long", ValueSpec::Long { min: 1 << 40, max: 1 << 50 }),
        field("sequence", ValueSpec::Sequence { start: 100, step: -3 }),
        field("double", ValueSpec::Double { min: 1.0, max: 9.0, decimals: Some(2) }),
        field("boolean", ValueSpec::Boolean { true_share: 0.25 }),
        field("date", ValueSpec::Date { from_unix_ms: -1000, to_unix_ms: 1000 }),
        field("clock", ValueSpec::Clock { start_unix_ms: 1_700_000_000_000, every_ns: 2_500_000 }),
        field("string", ValueSpec::String { length: constant(12), alphabet: "abc".into() }),
        field("wide", ValueSpec::String { length: constant(30), alphabet: "订单é".into() }),
        field("binary", ValueSpec::Binary { length: LengthSpec::Uniform { min: 3, max: 9 } }),
        field(
            "text",
            ValueSpec::Text {
                parts: vec![
                    ValueSpec::Constant { value: text("web-") },
                    ValueSpec::String { length: constant(2), alphabet: "0123456789".into() },
                    ValueSpec::Constant { value: text(": ") },
                    ValueSpec::Sequence { start: 0, step: 1 },
                ],
            },
        ),
        field("constant", ValueSpec::Constant { value: Scalar::Integer(1 << 33) }),
        field(
            "choice",
            ValueSpec::Choice {
                values: vec![(text("INFO"), 3.0), (Scalar::Integer(4), 1.0), (Scalar::Null, 0.0)],
            },
        ),
        field(
            "document",
            ValueSpec::Document { fields: vec![field("inner", ValueSpec::Boolean { true_share: 1.0 })] },
        ),
        field(
            "array",
            ValueSpec::Array {
                length: LengthSpec::Uniform { min: 0, max: 12 },
                of: Box::new(ValueSpec::Int { min: 1, max: 1 }),
            },
        ),
    ]
}

#[test]
fn every_kind_is_the_type_that_it_says() {
    let documents = Documents::new(&spec(every_kind()), 1).unwrap();
    for record in 0..300 {
        let document = parsed(&documents, record);
        assert_eq!(document.get_str("_id").unwrap(), format!("row{record:04}"));
        assert!((-5..=5).contains(&document.get_i32("int").unwrap()));
        assert!((1 << 40..=1 << 50).contains(&document.get_i64("long").unwrap()));
        assert_eq!(document.get_i64("sequence").unwrap(), 100 - 3 * record as i64);
        let double = document.get_f64("double").unwrap();
        assert!((1.0..=9.0).contains(&double) && format!("{double}").len() <= 4, "{double}");
        document.get_bool("boolean").unwrap();
        assert!((-1000..=1000).contains(&document.get_datetime("date").unwrap().timestamp_millis()));
        let clock = document.get_datetime("clock").unwrap().timestamp_millis();
        assert_eq!(clock, 1_700_000_000_000 + record as i64 * 5 / 2);
        let string = document.get_str("string").unwrap();
        assert!(string.len() == 12 && string.chars().all(|character| "abc".contains(character)));
        assert_eq!(document.get_str("wide").unwrap().chars().count(), 30);
        assert!((3..=9).contains(&document.get_binary_generic("binary").unwrap().len()));
        let (host, number) = document.get_str("text").unwrap().split_once(": ").unwrap();
        assert!(
            host.starts_with("web-") && host.len() == 6 && number == record.to_string(),
            "{host} {number}"
        );
        assert_eq!(document.get_i64("constant").unwrap(), 1 << 33);
        assert!(matches!(document.get("choice").unwrap(), Bson::Int32(4) | Bson::String(_)));
        assert_eq!(document.get_document("document").unwrap(), &bson::doc! {"inner": true});
        assert!(document.get_array("array").unwrap().iter().all(|item| *item == Bson::Int32(1)));
    }
}

#[test]
fn documents_are_a_function_of_seed_and_record() {
    let bytes = |seed, record| {
        let mut out = Vec::new();
        Documents::new(&spec(every_kind()), seed).unwrap().append_document(record, &mut out);
        out
    };
    assert_eq!(bytes(1, 5), bytes(1, 5));
    assert_ne!(bytes(1, 5), bytes(2, 5));
    assert_ne!(bytes(1, 5)[20..], bytes(1, 6)[20..]);
}

/// The data of a seed is part of a run's identity: a change here makes old data sets incomparable.
#[test]
fn documents_never_change() {
    let documents = Documents::new(&spec(every_kind()), 42).unwrap();
    let mut bytes = Vec::new();
    for record in (0..200).chain([99_999_999]) {
        documents.append_document(record, &mut bytes);
    }
    let hash = bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    assert_eq!(hash, DOCUMENTS);
}

const DOCUMENTS: u64 = 6_256_786_064_846_820_339;

#[test]
fn characters_are_equally_often() {
    for alphabet in
        ["abc", "0123456789abcdef", "äöü", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"]
    {
        let characters: Vec<char> = alphabet.chars().collect();
        let mut counts = vec![0; characters.len()];
        for value in values(ValueSpec::String { length: constant(61), alphabet: alphabet.into() }, 3000) {
            for character in value.as_str().unwrap().chars() {
                counts[characters.iter().position(|&known| known == character).unwrap()] += 1;
            }
        }
        let shares = vec![1.0 / characters.len() as f64; characters.len()];
        let z = chi_square_z(&counts, &shares);
        assert!(z.abs() < Z_MAX, "{alphabet}: {z}");
    }
}

#[test]
fn strings_don_t_repeat_within_themselves() {
    let value = values(ValueSpec::String { length: constant(4000), alphabet: "0123456789abcdef".into() }, 1);
    let text = value[0].as_str().unwrap().as_bytes();
    let mut chunks: Vec<&[u8]> = text.chunks_exact(12).collect();
    chunks.sort_unstable();
    chunks.dedup();
    assert_eq!(chunks.len(), 4000 / 12);
}

#[test]
fn choices_follow_their_weights() {
    let weighted =
        vec![(text("a"), 6.0), (text("never"), 0.0), (text("b"), 3.0), (Scalar::Boolean(true), 1.0)];
    let mut counts = [0; 3];
    for value in values(ValueSpec::Choice { values: weighted }, 20_000) {
        let index = match value {
            Bson::String(text) => ["a", "b"].iter().position(|&known| known == text).unwrap(),
            Bson::Boolean(true) => 2,
            other => panic!("{other} can't be chosen"),
        };
        counts[index] += 1;
    }
    let z = chi_square_z(&counts, &[0.6, 0.3, 0.1]);
    assert!(z.abs() < Z_MAX, "{z}");
}

#[test]
fn numbers_fill_their_range() {
    let ints = values(ValueSpec::Int { min: i32::MIN, max: i32::MAX }, 1000);
    assert!(ints.iter().any(|value| value.as_i32().unwrap() < i32::MIN / 2));
    assert!(ints.iter().any(|value| value.as_i32().unwrap() > i32::MAX / 2));
    let longs = values(ValueSpec::Long { min: i64::MIN, max: i64::MAX }, 1000);
    assert!(longs.iter().any(|value| value.as_i64().unwrap() < i64::MIN / 2));
    assert!(longs.iter().any(|value| value.as_i64().unwrap() > i64::MAX / 2));
    let dice = values(ValueSpec::Int { min: 1, max: 6 }, 1000);
    assert!((1..=6).all(|number| dice.contains(&Bson::Int32(number))));
}

#[test]
fn updates_make_fresh_values_of_one_field() {
    let documents = Documents::new(&spec(every_kind()), 1).unwrap();
    assert_eq!((documents.field_name(7), documents.field_count()), ("string", 15));
    let update = |field, operation| {
        let mut out = Vec::new();
        documents.append_field(field, 0, operation, &mut out);
        out
    };
    assert_eq!(update(7, 3), update(7, 3));
    assert_ne!(update(7, 3), update(7, 4));
    assert!(update(7, 3).starts_with(b"\x02string\0\x0d\0\0\0"));
}

#[test]
fn the_estimate_is_near_the_mean_and_the_bound_above_all() {
    let documents = Documents::new(&spec(every_kind()), 3).unwrap();
    let sizes: Vec<usize> = (5000..7000)
        .map(|record| {
            let mut out = Vec::new();
            documents.append_document(record, &mut out);
            out.len()
        })
        .collect();
    let mean = sizes.iter().sum::<usize>() as f64 / sizes.len() as f64;
    assert!((documents.document_bytes_estimate() as f64 / mean - 1.0).abs() < 0.05);
}

#[test]
fn impossible_templates_are_refused_with_path_and_reason() {
    let string =
        |length, alphabet: &str| ValueSpec::String { length: constant(length), alphabet: alphabet.into() };
    let nested = |depth: usize| {
        (0..depth).fold(ValueSpec::Int { min: 0, max: 0 }, |inner, _| ValueSpec::Document {
            fields: vec![field("a", inner)],
        })
    };
    let cases = [
        (field("a.b", string(1, "a")), "template.a.b: a field's name must have no dot"),
        (field("", string(1, "a")), "template: a field's name must have no dot"),
        (field("_id", string(1, "a")), "template._id: there is a field of this name already"),
        (field("a", string(1, "")), "template.a.alphabet: must have 1 to 1024 characters, got 0"),
        (
            field("a", ValueSpec::Int { min: 2, max: 1 }),
            "template.a.min: must be at most max, which is 1, got 2",
        ),
        (
            field("a", ValueSpec::Double { min: f64::NAN, max: 1.0, decimals: None }),
            "template.a.min: and max must be finite",
        ),
        (field("a", ValueSpec::Choice { values: vec![] }), "template.a.values: must be 1 to 65536, got 0"),
        (
            field("a", ValueSpec::Choice { values: vec![(Scalar::Null, 0.0)] }),
            "template.a.values: must have weights with a positive, finite sum",
        ),
        (
            field("a", ValueSpec::Text { parts: vec![nested(1)] }),
            "template.a.parts.0: must be a number, string, text, boolean, key, fake, constant or choice",
        ),
        (field("a", key_of(0, ChooserSpec::Uniform)), "template.a.record_count: must be at least 1"),
        (field("a", key_of(1, ChooserSpec::Latest { theta: 1.0 })), "template.a.keys: can't be latest"),
        (
            field("a", key_of(1, ChooserSpec::Zipfian { theta: -1.0 })),
            "template.a.keys.theta: must be from 0 to 10",
        ),
        (
            field("a", ValueSpec::Point { min: [0.0, 0.0], max: [181.0, 0.0] }),
            "template.a.max: must be a longitude of -180 to 180",
        ),
        (
            field("a", ValueSpec::Point { min: [1.0, 0.0], max: [0.0, 0.0] }),
            "template.a.min: must be south-west of max",
        ),
        (
            field("a", ValueSpec::Decimal { min: 2, max: 1, decimals: 2 }),
            "template.a.min: must be at most max, which is 1, got 2",
        ),
        (
            field("a", ValueSpec::Decimal { min: 1, max: 1, decimals: 16 }),
            "template.a.decimals: must be at most 15",
        ),
        (
            field("a", normal(0.0, -1.0, NumberKind::Int, None)),
            "template.a.standard_deviation: must be from 0 to 1e300, got -1",
        ),
        (field("a", normal(f64::NAN, 1.0, NumberKind::Int, None)), "template.a.mean: must be at most 1e300"),
        (field("a", nested(17)), "must not be nested deeper than 16"),
        (
            field("a", ValueSpec::Array { length: constant(100), of: Box::new(string(200_000, "é")) }),
            "must give documents of at most 16777216 bytes, but they reach",
        ),
    ];
    for (field, message) in cases {
        let error = Documents::new(&spec(vec![field]), 1).unwrap_err().to_string();
        assert!(error.contains(message), "{error} is not {message}");
    }
    let twice = vec![field("a", string(1, "a")), field("a", string(1, "a"))];
    assert!(Documents::new(&spec(twice), 1).is_err());
    assert!(Documents::new(&DocumentSpec { field_count: 3, ..spec(every_kind()) }, 1).is_err());
}

#[test]
fn templates_read_and_write_as_json() {
    let rich = serde_json::to_string(&spec(rich_kinds())).unwrap();
    assert_eq!(serde_json::from_str::<DocumentSpec>(&rich).unwrap(), spec(rich_kinds()));
    for (spec, json) in [
        (
            normal(1.0, 2.0, NumberKind::Int, None),
            r#"{"kind":"normal","mean":1.0,"standard_deviation":2.0,"type":"int","decimals":null}"#,
        ),
        (
            ValueSpec::Decimal { min: -5, max: 7, decimals: 2 },
            r#"{"kind":"decimal","min":-5,"max":7,"decimals":2}"#,
        ),
    ] {
        assert_eq!(serde_json::to_string(&spec).unwrap(), json);
        assert_eq!(serde_json::from_str::<ValueSpec>(json).unwrap(), spec);
    }
    assert!(rich.contains(r#"{"kind":"fake","what":"name","language":"zh"}"#));
    assert!(serde_json::from_str::<ValueSpec>(r#"{"kind":"uuid","x":1}"#).is_err());
    let json = serde_json::to_string(&spec(every_kind())).unwrap();
    assert_eq!(serde_json::from_str::<DocumentSpec>(&json).unwrap(), spec(every_kind()));
    assert!(json.contains(
        r#"{"name":"choice","value":{"kind":"choice","values":[["INFO",3.0],[4,1.0],[null,0.0]]}}"#
    ));
    assert!(serde_json::from_str::<DocumentSpec>(&json.replace("true_share", "share")).is_err());
}
