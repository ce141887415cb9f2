//! Rows that are read again as mongoimport reads them are the documents that were written.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use brimline_datagen::{
    ChooserSpec, DocumentSpec, Documents, FakeKind, FieldSpec, InsertOrder, Language, LengthSpec, NumberKind,
    Scalar, ValueSpec, Values,
};
use brimline_formats::{Columns, Documents as Converted, FormatOptions, ParseGrace, open};
use brimline_generator::{Ended, Format, Generation, Header, Job, Limit};

const ROWS: u64 = 20_000;

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.0);
    }
}

fn field(name: &str, value: ValueSpec) -> FieldSpec {
    FieldSpec { name: name.into(), value }
}

/// Every kind of value that a cell can hold, with characters that have to be quoted or escaped.
fn data(more: Vec<FieldSpec>) -> DocumentSpec {
    let text = |text: &str| Scalar::Text(text.into());
    let awkward = ["plain", "a,b", "say \"so\"", "two\nlines", " space ", "订单", "null", "12", ""];
    let mut fields = vec![
        field("int", ValueSpec::Int { min: i32::MIN, max: i32::MAX }),
        field("long", ValueSpec::Long { min: i64::MIN, max: i64::MAX }),
        field("double", ValueSpec::Double { min: -1e9, max: 1e9, decimals: None }),
        field("price", ValueSpec::Double { min: 0.0, max: 100.0, decimals: Some(2) }),
        field("decimal", ValueSpec::Decimal { min: -1_050, max: 99_999, decimals: 2 }),
        field(
            "normal",
            ValueSpec::Normal {
                mean: 5.0,
                standard_deviation: 2.0,
                number: NumberKind::Double,
                decimals: Some(2),
            },
        ),
        field("flag", ValueSpec::Boolean { true_share: 0.5 }),
        field("date", ValueSpec::Date { from_unix_ms: 0, to_unix_ms: 2_000_000_000_000 }),
        field("clock", ValueSpec::Clock { start_unix_ms: 1_700_000_000_000, every_ns: 1_500_000_000 }),
        field(
            "name",
            ValueSpec::String {
                length: LengthSpec::Uniform { min: 1, max: 40 },
                alphabet: "ab,\"é \\".into(),
            },
        ),
        field("choice", ValueSpec::Choice { values: awkward.iter().map(|each| (text(each), 1.0)).collect() }),
        field(
            "inner",
            ValueSpec::Document {
                fields: vec![
                    field("a", ValueSpec::Int { min: 0, max: 9 }),
                    field("b", ValueSpec::Binary { length: LengthSpec::Uniform { min: 0, max: 9 } }),
                ],
            },
        ),
        field(
            "key",
            ValueSpec::KeyOf {
                record_count: 100,
                insert_start: 0,
                key_prefix: "c,".into(),
                insert_order: InsertOrder::Hashed,
                zero_padding: 1,
                keys: ChooserSpec::Zipfian { theta: 0.99 },
            },
        ),
        field("address", ValueSpec::Fake { what: FakeKind::Address, language: Language::En }),
        field("person", ValueSpec::Fake { what: FakeKind::Name, language: Language::Zh }),
        field("last", ValueSpec::Sequence { start: 0, step: 1 }),
    ];
    fields.extend(more);
    DocumentSpec {
        record_count: ROWS,
        insert_start: 0,
        field_count: fields.len() as u32,
        field_length: LengthSpec::Constant { length: 0 },
        field_name_prefix: "field".into(),
        key_prefix: "row".into(),
        insert_order: InsertOrder::Hashed,
        zero_padding: 1,
        template: Some(fields),
        values: Values::Random,
    }
}

/// What JSON and BSON hold, and cells only as text.
fn more() -> Vec<FieldSpec> {
    let items = ValueSpec::Document { fields: vec![field("sku", ValueSpec::Long { min: 0, max: 9 })] };
    vec![
        field(
            "items",
            ValueSpec::Array { length: LengthSpec::Uniform { min: 0, max: 3 }, of: Box::new(items) },
        ),
        field("at", ValueSpec::Point { min: [-180.0, -90.0], max: [180.0, 90.0] }),
        field("uuid", ValueSpec::Uuid),
        field("id", ValueSpec::ObjectId),
    ]
}

fn expected(data: &DocumentSpec) -> Vec<u8> {
    let documents = Documents::new(data, 3).unwrap();
    let mut bytes = Vec::new();
    (0..ROWS).for_each(|record| documents.append_document(record, &mut bytes));
    bytes
}

fn read_back(path: &Path, options: &FormatOptions) -> Vec<u8> {
    let mut input = open(options, Box::new(File::open(path).unwrap())).unwrap();
    let mut converted = Converted::default();
    let mut bytes = Vec::new();
    while let Some(stretch) = input.splitter.next_stretch(Vec::new()).unwrap() {
        input.convert.convert(&stretch, &mut converted);
        assert!(converted.rejected.is_empty() && converted.stop.is_none(), "{:?}", converted.stop);
        bytes.append(&mut converted.bytes);
        converted = Converted::default();
    }
    bytes
}

fn check(name: &str, format: Format, data: &DocumentSpec, options: &FormatOptions) {
    let path = std::env::temp_dir().join(format!("brimline-round-trip-{}-{name}", std::process::id()));
    let scratch = Scratch(path);
    let job = Job {
        seed: 3,
        data: data.clone(),
        format,
        limit: Limit::Rows { count: ROWS },
        threads: 2,
        path: Some(scratch.0.clone()),
        overwrite: true,
    };
    assert_eq!(Generation::start(job).unwrap().join().ended, Ended::Completed);
    assert!(read_back(&scratch.0, options) == expected(data), "{name}: the same documents, byte for byte");
}

fn options(format: brimline_formats::Format) -> FormatOptions {
    FormatOptions {
        format,
        columns: None,
        columns_have_types: false,
        parse_grace: ParseGrace::Stop,
        ignore_blanks: false,
        use_array_index_fields: false,
        json_array: false,
        legacy: false,
        generated_ids: None,
    }
}

#[test]
fn csv_with_types_is_read_as_the_documents() {
    let reading = FormatOptions {
        columns: Some(Columns::Headerline),
        columns_have_types: true,
        ..options(brimline_formats::Format::Csv)
    };
    check("csv", Format::Csv { header: Header::Types }, &data(Vec::new()), &reading);
}

#[test]
fn canonical_json_is_read_as_the_documents() {
    let reading = options(brimline_formats::Format::Json);
    check("json", Format::Json { canonical: true }, &data(more()), &reading);
}

#[test]
fn a_dump_is_read_as_the_documents() {
    check("bson", Format::Bson {}, &data(more()), &options(brimline_formats::Format::Bson));
}
