//! Prints what one draw and one document cost on this machine, in nanoseconds.
//!
//! `cargo run --release -p brimline-datagen --example speed`

#![expect(clippy::print_stdout, reason = "an example's output")]
#![expect(clippy::disallowed_methods, reason = "an example that measures time reads the clock")]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use brimline_datagen::{
    ChooserSpec, DocumentSpec, Documents, InsertOrder, KeyChooser, LengthSpec, OpRng, Values,
};

const CALLS: u64 = 2_000_000;
const REPEATS: usize = 5;
const RECORD_COUNT: u64 = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    measure("generator and one number", |index| OpRng::new(1, 2, index).next_u64());
    for (name, spec) in choosers() {
        let chooser = KeyChooser::new(&spec, RECORD_COUNT, 1)?;
        measure(name, |index| chooser.draw(&mut OpRng::new(1, 2, index), index));
    }
    measure_documents()
}

fn choosers() -> [(&'static str, ChooserSpec); 6] {
    [
        ("uniform", ChooserSpec::Uniform),
        ("zipfian", ChooserSpec::Zipfian { theta: 0.99 }),
        ("latest", ChooserSpec::Latest { theta: 0.99 }),
        ("hotspot", ChooserSpec::Hotspot { data_fraction: 0.2, operation_fraction: 0.8 }),
        ("exponential", ChooserSpec::Exponential { percentile: 95.0, fraction: 0.857_142_857_1 }),
        ("sequential", ChooserSpec::Sequential),
    ]
}

fn measure_documents() -> Result<(), Box<dyn Error>> {
    let spec = DocumentSpec {
        record_count: RECORD_COUNT,
        insert_start: 0,
        field_count: 10,
        field_length: LengthSpec::Constant { length: 100 },
        field_name_prefix: "field".into(),
        key_prefix: "user".into(),
        insert_order: InsertOrder::Hashed,
        zero_padding: 1,
        template: None,
        values: Values::Random,
    };
    let documents = Documents::new(&spec, 1)?;
    let mut out = Vec::new();
    measure("key text", |record| {
        out.clear();
        documents.write_key(record, &mut out);
        out.len() as u64
    });
    measure("document of 1 KB", |record| {
        out.clear();
        documents.append_document(record, &mut out);
        out.len() as u64
    });
    Ok(())
}

/// The best of a few repeats: what the code costs when nothing else disturbs it.
fn measure(name: &str, mut call: impl FnMut(u64) -> u64) {
    let mut best_ns = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = Instant::now();
        for index in 0..CALLS {
            black_box(call(index));
        }
        best_ns = best_ns.min(start.elapsed().as_nanos() as f64 / CALLS as f64);
    }
    println!("{name:<26} {best_ns:6.1} ns");
}
