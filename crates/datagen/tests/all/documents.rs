//! Keys and documents: equal to YCSB's where YCSB fixes them, readable by the public BSON library, and reproducible.

use crate::statistics::{Z_MAX, chi_square_z};
use brimline_bson::Writer;
use brimline_datagen::{
    DOCUMENT_BYTES_MAX, DocumentSpec, Documents, InsertOrder, LengthSpec, RECORD_INDEX_MAX, Values,
};
use bson::Bson;
use proptest::prelude::*;

fn spec() -> DocumentSpec {
    DocumentSpec {
        record_count: 1000,
        insert_start: 0,
        field_count: 10,
        field_length: LengthSpec::Constant { length: 100 },
        field_name_prefix: "field".into(),
        key_prefix: "user".into(),
        insert_order: InsertOrder::Hashed,
        zero_padding: 1,
        template: None,
        values: Values::Random,
    }
}

fn documents(spec: &DocumentSpec) -> Documents {
    Documents::new(spec, 1).unwrap()
}

fn key(spec: &DocumentSpec, record: u64) -> String {
    let mut out = Vec::new();
    documents(spec).write_key(record, &mut out);
    String::from_utf8(out).unwrap()
}

fn document(documents: &Documents, record: u64) -> Vec<u8> {
    let mut out = Vec::new();
    documents.append_document(record, &mut out);
    out
}

fn parse(bytes: &[u8]) -> bson::Document {
    bson::Document::from_reader(bytes).unwrap()
}

/// Keys that a real YCSB 0.17 stored for these records.
#[test]
fn hashed_keys_are_ycsbs() {
    let stored = [
        (0, "user6284781860667377211"),
        (1, "user8517097267634966620"),
        (3, "user4052466453699787802"),
        (21, "user176056457733445328"),
        (42, "user55488592825689361"),
    ];
    for (record, expected) in stored {
        assert_eq!(key(&spec(), record), expected);
    }
}

#[test]
fn hashed_keys_take_all_eight_octets() {
    assert_eq!(key(&spec(), 0x0102_0304_0506_0708), EIGHT_OCTETS_KEY);
}

#[test]
fn ordered_keys_are_the_index() {
    let ordered = DocumentSpec { insert_order: InsertOrder::Ordered, ..spec() };
    for (record, expected) in [(0, "user0"), (9, "user9"), (10, "user10"), (1_000_005, "user1000005")] {
        assert_eq!(key(&ordered, record), expected);
    }
    assert_eq!(key(&ordered, RECORD_INDEX_MAX), "user9223372036854775807");
}

#[test]
fn keys_are_padded_with_zeros_and_never_cut() {
    let padded = |zero_padding| DocumentSpec { insert_order: InsertOrder::Ordered, zero_padding, ..spec() };
    assert_eq!(key(&padded(0), 7), "user7");
    assert_eq!(key(&padded(5), 7), "user00007");
    assert_eq!(key(&padded(2), 12_345), "user12345");
    let hashed = DocumentSpec { zero_padding: 21, ..spec() };
    assert_eq!(key(&hashed, 42), "user000055488592825689361");
}

#[test]
fn key_prefix_may_be_empty_or_any_text() {
    let with_prefix = |prefix: &str| DocumentSpec {
        insert_order: InsertOrder::Ordered,
        key_prefix: prefix.into(),
        ..spec()
    };
    assert_eq!(key(&with_prefix(""), 3), "3");
    assert_eq!(key(&with_prefix("订单-"), 3), "订单-3");
    assert_eq!(parse(&document(&documents(&with_prefix("订单-")), 3)).get_str("_id").unwrap(), "订单-3");
}

#[test]
fn documents_have_ycsbs_shape() {
    let parsed = parse(&document(&documents(&spec()), 0));
    let names: Vec<&str> = parsed.keys().map(String::as_str).collect();
    let fields: Vec<String> = (0..10).map(|field| format!("field{field}")).collect();
    assert_eq!(names[0], "_id");
    assert_eq!(names[1..], fields);
    assert_eq!(parsed.get_str("_id").unwrap(), "user6284781860667377211");
    for name in names.iter().skip(1) {
        let Some(Bson::Binary(binary)) = parsed.get(name) else { panic!("{name} is no binary") };
        assert_eq!(u8::from(binary.subtype), 0);
        assert_eq!(binary.bytes.len(), 100);
    }
}

#[test]
fn documents_are_a_function_of_seed_and_record() {
    let one = documents(&spec());
    assert_eq!(document(&one, 5), document(&documents(&spec()), 5));
    assert_ne!(document(&one, 5)[40..], document(&one, 6)[40..]);
    assert_ne!(document(&one, 5), document(&Documents::new(&spec(), 2).unwrap(), 5));
}

#[test]
fn a_document_is_appended_after_what_is_there() {
    let documents = documents(&spec());
    let mut out = document(&documents, 0);
    documents.append_document(1, &mut out);
    assert_eq!(out, [document(&documents, 0), document(&documents, 1)].concat());
}

/// The data of a seed is part of a run's identity: a change here makes old data sets incomparable.
#[test]
fn first_document_never_changes() {
    let small = DocumentSpec { field_count: 2, field_length: LengthSpec::Constant { length: 11 }, ..spec() };
    let expected = [
        b"\x56\0\0\0\x02_id\0\x18\0\0\0user6284781860667377211\0".as_slice(),
        b"\x05field0\0\x0b\0\0\0\0",
        FIRST_VALUES[0],
        b"\x05field1\0\x0b\0\0\0\0",
        FIRST_VALUES[1],
        b"\0",
    ]
    .concat();
    assert_eq!(document(&documents(&small), 0), expected);
}

#[test]
fn updated_fields_never_change() {
    let small = DocumentSpec { field_length: LengthSpec::Constant { length: 11 }, ..spec() };
    let mut out = Vec::new();
    documents(&small).append_field(9, 0, 77, &mut out);
    assert_eq!(out, [b"\x05field9\0\x0b\0\0\0\0".as_slice(), UPDATED_VALUE].concat());
}

#[test]
fn updated_fields_are_a_function_of_seed_operation_and_field() {
    let documents = documents(&spec());
    let value = |documents: &Documents, field, operation| {
        let mut out = Vec::new();
        documents.append_field(field, 0, operation, &mut out);
        out.split_off("\x05field0\0".len())
    };
    let reference = value(&documents, 3, 8);
    assert_eq!(value(&documents, 3, 8), reference);
    let other_seed = Documents::new(&spec(), 2).unwrap();
    for other in [value(&documents, 4, 8), value(&documents, 3, 9), value(&other_seed, 3, 8)] {
        assert_ne!(other, reference);
    }
    assert!(
        !document(&documents, 8).windows(100).any(|window| window == &reference[5..]),
        "a value is loaded again"
    );
}

#[test]
fn keys_are_appended_as_elements_of_any_name() {
    let mut out = Vec::new();
    let documents = documents(&spec());
    let open = Writer::new(&mut out).begin_document();
    documents.append_key(&documents.key_element("$gte"), 0, &mut out);
    Writer::new(&mut out).end_document(open);
    assert_eq!(parse(&out), bson::doc! {"$gte": "user6284781860667377211"});
}

#[test]
fn values_are_64_printable_symbols_equally_often() {
    let documents = documents(&DocumentSpec { field_count: 1, ..spec() });
    let mut counts = [0; 64];
    for record in 0..5000 {
        let parsed = parse(&document(&documents, record));
        for &byte in parsed.get_binary_generic("field0").unwrap() {
            counts[usize::from(byte) - 0x20] += 1;
        }
    }
    let z = chi_square_z(&counts, &[1.0 / 64.0; 64]);
    assert!(z.abs() < Z_MAX, "{z}");
}

/// Around the sizes at which values are made and copied.
#[test]
fn values_have_any_length_and_no_repeats() {
    for length in [0, 1, 7, 8, 9, 15, 16, 17, 127, 128, 129, 1000, 5000] {
        let spec = DocumentSpec { field_length: LengthSpec::Constant { length }, field_count: 1, ..spec() };
        let parsed = parse(&document(&documents(&spec), 1));
        let value = parsed.get_binary_generic("field0").unwrap();
        assert_eq!(value.len(), length as usize);
        let mut chunks: Vec<&[u8]> = value.chunks_exact(8).collect();
        chunks.sort_unstable();
        chunks.dedup();
        assert_eq!(chunks.len(), length as usize / 8, "a chunk is used twice");
    }
}

#[test]
fn documents_without_fields_are_keys() {
    let bare = documents(&DocumentSpec { field_count: 0, ..spec() });
    assert_eq!(parse(&document(&bare, 0)), bson::doc! {"_id": "user6284781860667377211"});
    assert_eq!(bare.field_count(), 0);
}

#[test]
fn empty_values_are_kept() {
    let empty = DocumentSpec { field_length: LengthSpec::Constant { length: 0 }, ..spec() };
    let parsed = parse(&document(&documents(&empty), 0));
    assert_eq!(parsed.len(), 11);
    assert!(parsed.get_binary_generic("field9").unwrap().is_empty());
}

#[test]
fn the_estimate_is_the_mean_size() {
    let laws = [
        LengthSpec::Constant { length: 100 },
        LengthSpec::Uniform { min: 0, max: 1000 },
        LengthSpec::Zipfian { min: 1, max: 1000 },
        LengthSpec::Histogram { weights: vec![(10, 9.0), (500, 1.0)] },
    ];
    for field_length in laws {
        let documents = documents(&DocumentSpec { field_length, ..spec() });
        let total: usize = (0..2000).map(|record| document(&documents, record).len()).sum();
        let mean = total as f64 / 2000.0;
        let estimate = documents.document_bytes_estimate() as f64;
        assert!((estimate / mean - 1.0).abs() < 0.05, "{mean} {estimate}");
    }
}

#[test]
fn names_are_kept() {
    let named = documents(&DocumentSpec { field_name_prefix: "f".into(), ..spec() });
    assert_eq!((named.field_name(0), named.field_name(9), named.field_count()), ("f0", "f9", 10));
}

#[test]
fn impossible_data_is_refused_with_path_and_reason() {
    let bytes = |length| LengthSpec::Constant { length };
    let cases = [
        (
            DocumentSpec { record_count: RECORD_INDEX_MAX, insert_start: 1, ..spec() },
            "record_count: plus insert_start must be at most 9223372036854775807, got 9223372036854775807 + 1",
        ),
        (
            DocumentSpec { record_count: u64::MAX, insert_start: u64::MAX, ..spec() },
            "record_count: plus insert_start must be at most 9223372036854775807, \
             got 18446744073709551615 + 18446744073709551615",
        ),
        (
            DocumentSpec { field_length: LengthSpec::Uniform { min: 5, max: 2 }, ..spec() },
            "field_length.min: must be at most max, which is 2, got 5",
        ),
        (
            DocumentSpec { field_name_prefix: "a.b".into(), ..spec() },
            "field_name_prefix: must have no dot, no NUL and no leading dollar sign, got \"a.b\"",
        ),
        (
            DocumentSpec { field_name_prefix: "$a".into(), ..spec() },
            "field_name_prefix: must have no dot, no NUL and no leading dollar sign, got \"$a\"",
        ),
        (
            DocumentSpec { field_name_prefix: "a\0".into(), ..spec() },
            "field_name_prefix: must have no dot, no NUL and no leading dollar sign, got \"a\\0\"",
        ),
        (DocumentSpec { zero_padding: 256, ..spec() }, "zero_padding: must be at most 255, got 256"),
        (
            DocumentSpec { field_length: bytes(2_000_000), ..spec() },
            "field_count: must give documents of at most 16777216 bytes, but they reach 20000179",
        ),
        (
            DocumentSpec { field_count: u32::MAX, field_length: bytes(0), ..spec() },
            "field_count: must give documents of at most 16777216 bytes, but they reach 94489280529",
        ),
    ];
    for (spec, message) in cases {
        assert_eq!(Documents::new(&spec, 1).unwrap_err().to_string(), message);
    }
}

#[test]
fn the_largest_data_that_is_accepted_works() {
    let far =
        DocumentSpec { insert_start: RECORD_INDEX_MAX - 1, record_count: 1, zero_padding: 255, ..spec() };
    assert_eq!(key(&far, RECORD_INDEX_MAX - 1).len(), 4 + 255);
    let large = DocumentSpec { field_length: LengthSpec::Constant { length: 1_677_700 }, ..spec() };
    let bytes = document(&documents(&large), 0).len() as u64;
    assert!(bytes <= DOCUMENT_BYTES_MAX && bytes > DOCUMENT_BYTES_MAX - 1000, "{bytes}");
}

#[test]
fn specifications_read_and_write_as_json() {
    let json = r#"{"record_count":1000,"insert_start":0,"field_count":10,"field_length":{"kind":"constant","length":100},"field_name_prefix":"field","key_prefix":"user","insert_order":"hashed","zero_padding":1}"#;
    assert_eq!(serde_json::to_string(&spec()).unwrap(), json);
    assert_eq!(serde_json::from_str::<DocumentSpec>(json).unwrap(), spec());
    assert!(serde_json::from_str::<DocumentSpec>(&json.replace("zero_padding", "zero_pading")).is_err());
    assert!(serde_json::from_str::<DocumentSpec>(&json.replace("hashed", "random")).is_err());
}

proptest! {
    #[test]
    fn documents_are_bson_within_their_bound(
        record in 0..=RECORD_INDEX_MAX, seed: u64, field_count in 0..20_u32, max in 0..300_u32, zero_padding in 0..=255_u32,
        key_prefix in ".{0,20}", ordered: bool,
    ) {
        let insert_order = if ordered { InsertOrder::Ordered } else { InsertOrder::Hashed };
        let spec = DocumentSpec {
            field_count, field_length: LengthSpec::Uniform { min: 0, max }, zero_padding, key_prefix, insert_order, ..spec()
        };
        let documents = Documents::new(&spec, seed).unwrap();
        let parsed = parse(&document(&documents, record));
        prop_assert_eq!(parsed.len(), field_count as usize + 1);
        prop_assert_eq!(parsed.get_str("_id").unwrap(), key(&spec, record));
        for field in 0..field_count {
            prop_assert!(parsed.get_binary_generic(documents.field_name(field)).unwrap().len() <= max as usize);
        }
    }
}

/// From an independent implementation.
const EIGHT_OCTETS_KEY: &str = "user895447315735140821";
const FIRST_VALUES: [&[u8]; 2] = [b"EK&=M44F&</", b"TX[RN5W=_AJ"];
const UPDATED_VALUE: &[u8] = b"/<Z>Q+>;<_0";

/// Keys and documents of many records, of every law of lengths, in one number: FNV-1a over all their bytes.
#[test]
fn keys_and_documents_never_change() {
    let uniform = LengthSpec::Uniform { min: 0, max: 300 };
    let histogram = LengthSpec::Histogram { weights: vec![(1, 3.0), (16, 2.0), (129, 1.0)] };
    let specs = [
        spec(),
        DocumentSpec { field_length: LengthSpec::Constant { length: 128 }, ..spec() },
        DocumentSpec { field_length: uniform, insert_order: InsertOrder::Ordered, ..spec() },
        DocumentSpec { field_length: LengthSpec::Zipfian { min: 1, max: 90 }, zero_padding: 25, ..spec() },
        DocumentSpec { field_length: histogram, key_prefix: String::new(), ..spec() },
    ];
    let hashes = specs.map(|spec| {
        let documents = Documents::new(&spec, 42).unwrap();
        let mut bytes = Vec::new();
        for record in (0..200).chain([99_999_999, 100_000_000, RECORD_INDEX_MAX]) {
            documents.write_key(record, &mut bytes);
            documents.append_document(record, &mut bytes);
        }
        bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        })
    });
    assert_eq!(hashes, KEYS_AND_DOCUMENTS);
}

const KEYS_AND_DOCUMENTS: [u64; 5] = [
    13_649_586_122_031_335_930,
    7_086_346_940_416_771_379,
    12_961_087_535_636_051_296,
    13_411_716_277_204_531_436,
    6_474_627_193_730_325_977,
];
