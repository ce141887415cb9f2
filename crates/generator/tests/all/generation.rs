//! What is written: every row that was asked for, in order, whole, and the same on any number of threads.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use brimline_datagen::{
    DocumentSpec, Documents, FieldSpec, InsertOrder, LengthSpec, Scalar, ValueSpec, Values,
};
use brimline_generator::{Ended, Format, Generation, Header, Job, Limit, Outcome, sample_bytes_per_row};

/// A file that is removed with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("brimline-generator-{}-{name}", std::process::id()));
        _ = fs::remove_file(&path);
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        _ = fs::remove_file(&self.0);
    }
}

fn field(name: &str, value: ValueSpec) -> FieldSpec {
    FieldSpec { name: name.into(), value }
}

fn data() -> DocumentSpec {
    let fields = vec![
        field("id", ValueSpec::Sequence { start: 1, step: 1 }),
        field("time", ValueSpec::Clock { start_unix_ms: 0, every_ns: 1_000_000_000 }),
        field(
            "name",
            ValueSpec::String { length: LengthSpec::Uniform { min: 1, max: 90 }, alphabet: "ab".into() },
        ),
        field("level", ValueSpec::Choice { values: vec![(Scalar::Text("WARN, a".into()), 1.0)] }),
        field(
            "inner",
            ValueSpec::Document { fields: vec![field("flag", ValueSpec::Boolean { true_share: 1.0 })] },
        ),
    ];
    DocumentSpec {
        record_count: 1,
        insert_start: 0,
        field_count: fields.len() as u32,
        field_length: LengthSpec::Constant { length: 0 },
        field_name_prefix: "field".into(),
        key_prefix: "row".into(),
        insert_order: InsertOrder::Ordered,
        zero_padding: 1,
        template: Some(fields),
        values: Values::Random,
    }
}

fn job(format: Format, limit: Limit, path: &Path) -> Job {
    Job { seed: 1, data: data(), format, limit, threads: 2, path: Some(path.into()), overwrite: true }
}

fn run(job: &Job) -> Outcome {
    Generation::start(job.clone()).unwrap().join()
}

const CSV: Format = Format::Csv { header: Header::Names };

fn rows(count: u64) -> Limit {
    Limit::Rows { count }
}

#[test]
fn rows_are_the_documents_in_order_on_any_number_of_threads() {
    let scratch = Scratch::new("order");
    let mut texts = Vec::new();
    for threads in [1, 2, 5] {
        let job = Job { threads, ..job(CSV, rows(30_000), &scratch.0) };
        let outcome = run(&job);
        let text = fs::read_to_string(&scratch.0).unwrap();
        assert_eq!((outcome.ended, outcome.rows), (Ended::Completed, 30_000));
        assert_eq!(outcome.bytes, text.len() as u64);
        texts.push(text);
    }
    assert!(texts.iter().all(|text| *text == texts[0]));
    assert!(texts[0].len() > 1_500_000, "several stretches per thread");
    let mut lines = texts[0].lines();
    assert_eq!(lines.next(), Some("_id,id,time,name,level,inner.flag"));
    for (index, line) in lines.enumerate() {
        assert!(line.starts_with(&format!("row{index},{},1970-01-01T", index + 1)), "{index}: {line}");
        assert!(line.ends_with(",\"WARN, a\",true"), "{line}");
    }
}

#[test]
fn a_dump_is_what_a_load_inserts() {
    let scratch = Scratch::new("dump");
    let mut job = job(Format::Bson {}, rows(20_000), &scratch.0);
    job.data.insert_start = 500;
    let outcome = run(&job);
    let documents = Documents::new(&data(), 1).unwrap();
    let mut expected = Vec::new();
    (500..20_500).for_each(|record| documents.append_document(record, &mut expected));
    assert!(fs::read(&scratch.0).unwrap() == expected, "the same bytes");
    assert_eq!(outcome.rows, 20_000);
}

#[test]
fn every_json_line_is_a_document() {
    let scratch = Scratch::new("json");
    run(&job(Format::Json { canonical: true }, rows(5000), &scratch.0));
    let text = fs::read_to_string(&scratch.0).unwrap();
    assert_eq!(text.lines().count(), 5000);
    for (index, line) in text.lines().enumerate() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["id"]["$numberLong"], (index + 1).to_string());
    }
}

#[test]
fn headers_may_have_types_or_be_left_out() {
    let scratch = Scratch::new("header");
    run(&job(Format::Csv { header: Header::Types }, rows(1), &scratch.0));
    let text = fs::read_to_string(&scratch.0).unwrap();
    let types = "_id.string(),id.int64(),time.date(2006-01-02T15:04:05.000Z),name.string(),level.string(),\
                 inner.flag.boolean()";
    assert_eq!(text.lines().next(), Some(types));
    run(&job(Format::Csv { header: Header::None }, rows(2), &scratch.0));
    assert!(fs::read_to_string(&scratch.0).unwrap().starts_with("row0,1,"));
}

/// Of a point the parts are columns, as of any document.
#[test]
fn points_and_ids_are_cells_as_mongoexport_writes_them() {
    let scratch = Scratch::new("cells");
    let fields = vec![
        field("at", ValueSpec::Point { min: [1.0, 2.0], max: [1.0, 2.0] }),
        field("uuid", ValueSpec::Uuid),
        field("id", ValueSpec::ObjectId),
    ];
    let data = DocumentSpec { field_count: 3, template: Some(fields), ..data() };
    run(&Job { data: data.clone(), ..job(Format::Csv { header: Header::Types }, rows(1), &scratch.0) });
    let text = fs::read_to_string(&scratch.0).unwrap();
    let (header, row) = text.trim_end().split_once('\n').unwrap();
    assert_eq!(header, "_id.string(),at.type.string(),at.coordinates.auto(),uuid.binary(base64),id.string()");
    let (head, ids) = row.split_at(row.find("]\",").unwrap() + 3);
    assert_eq!(head, "row0,Point,\"[1.0,2.0]\",");
    let (uuid, id) = ids.split_once(',').unwrap();
    assert!(uuid.len() == 24 && uuid.ends_with("=="), "{uuid}");
    assert!(id.starts_with("ObjectId(") && id.len() == 34, "{id}");
    run(&Job { data, ..job(Format::Json { canonical: false }, rows(1), &scratch.0) });
    let line: serde_json::Value = serde_json::from_slice(&fs::read(&scratch.0).unwrap()).unwrap();
    assert_eq!(line["at"], serde_json::json!({"type": "Point", "coordinates": [1.0, 2.0]}));
    assert_eq!(line["uuid"]["$binary"], serde_json::json!({"base64": uuid, "subType": "04"}));
    assert_eq!(format!("ObjectId({})", line["id"]["$oid"].as_str().unwrap()), id);
}

/// To the row: one more would be too large, and what is there is what a longer output begins with.
#[test]
fn a_size_is_met_to_the_row() {
    let scratch = Scratch::new("size");
    run(&job(CSV, rows(40_000), &scratch.0));
    let whole = fs::read(&scratch.0).unwrap();
    let line_ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').map(|at| at + 1).collect();
    for size in [0, 30, 34, 200, 600_000, 1_048_577, line_ends[20_000] as u64, line_ends[20_000] as u64 - 1] {
        let outcome = run(&job(CSV, Limit::Bytes { count: size }, &scratch.0));
        let expected = line_ends.iter().rev().find(|&&end| end as u64 <= size).copied().unwrap_or(0);
        assert_eq!(outcome.ended, Ended::Completed);
        assert_eq!(outcome.bytes, expected as u64, "{size}");
        assert!(fs::read(&scratch.0).unwrap() == whole[..expected], "{size}");
        let lines = line_ends.iter().filter(|&&end| end <= expected).count();
        assert_eq!(outcome.rows, (lines as u64).saturating_sub(1), "{size}");
    }
}

#[test]
fn no_rows_are_a_header() {
    let scratch = Scratch::new("none");
    assert_eq!(run(&job(CSV, rows(0), &scratch.0)).rows, 0);
    assert_eq!(fs::read_to_string(&scratch.0).unwrap().lines().count(), 1);
}

#[test]
fn a_file_is_replaced_only_when_asked() {
    let scratch = Scratch::new("exists");
    fs::write(&scratch.0, "precious").unwrap();
    let outcome = run(&Job { overwrite: false, ..job(CSV, rows(1), &scratch.0) });
    assert!(matches!(outcome.ended, Ended::Failed { os_error: Some(17), .. }), "{outcome:?}");
    assert_eq!(fs::read_to_string(&scratch.0).unwrap(), "precious");
}

/// `/dev/full` takes nothing: as a full disk.
#[test]
fn a_full_disk_is_an_error() {
    let outcome = run(&job(CSV, rows(100_000), Path::new("/dev/full")));
    assert!(matches!(outcome.ended, Ended::Failed { os_error: Some(28), .. }), "{outcome:?}");
    assert_eq!(outcome.rows, 0);
}

#[test]
fn a_generation_that_is_stopped_leaves_whole_rows() {
    let scratch = Scratch::new("stop");
    let generation = Generation::start(job(CSV, Limit::Bytes { count: 400_000_000 }, &scratch.0)).unwrap();
    while generation.poll(Duration::from_millis(1)).rows == 0 {}
    generation.stop();
    let outcome = generation.join();
    assert!(generation.poll(Duration::ZERO).is_finished);
    let text = fs::read_to_string(&scratch.0).unwrap();
    assert_eq!((outcome.ended, outcome.bytes), (Ended::Stopped, text.len() as u64));
    assert!(text.ends_with('\n') && text.lines().count() as u64 == outcome.rows + 1 && outcome.rows > 0);
}

#[test]
fn the_sample_is_the_mean_size_of_a_row() {
    let scratch = Scratch::new("sample");
    for format in [CSV, Format::Bson {}, Format::Json { canonical: false }] {
        let job = job(format, rows(10_000), &scratch.0);
        let mean = run(&job).bytes as f64 / 10_000.0;
        assert!((sample_bytes_per_row(&job).unwrap() / mean - 1.0).abs() < 0.05);
    }
}

#[test]
fn impossible_jobs_are_refused() {
    let good = job(CSV, rows(1), Path::new("unused"));
    let mut bad_data = data();
    bad_data.field_count = 9;
    let cases = [
        (Job { threads: 0, ..good.clone() }, "threads: must be 1 to 256, got 0"),
        (
            Job { limit: rows(u64::MAX), ..good.clone() },
            "limit.count: rows reach past record 9223372036854775807",
        ),
        (
            Job { data: bad_data, ..good },
            "data.field_count: must be the number of the template's fields, which is 5",
        ),
    ];
    for (job, message) in cases {
        assert_eq!(Generation::start(job).err().unwrap().to_string(), message);
    }
}
