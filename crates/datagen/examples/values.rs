//! Makes values of own operations and nothing else, so that what one takes can be counted.
//!
//! `cargo run --release -p brimline-datagen --example values -- KIND COUNT`, of which the kinds are those of [`expression`].

#![expect(clippy::print_stdout, reason = "an example's output")]

use std::error::Error;
use std::hint::black_box;

use brimline_datagen::DocumentSpec;
use brimline_datagen::expression::{
    CollectionData, Draw, ElementName, ExpressionSpec, ObjectIdSpace, RunIdentity, SavedValues, TableSpec,
    World, WorldSpec,
};
use serde_json::json;

const ROWS: u64 = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(kind), Some(count)) = (arguments.next(), arguments.next()) else {
        return Err("give a kind and a count".into());
    };
    let count: u64 = count.parse()?;
    let customer: ExpressionSpec = serde_json::from_value(expression("key_of").ok_or("no key_of")?)?;
    let spec = serde_json::from_value(expression(&kind).ok_or("no such kind")?)?;
    let data = orders()?;
    let (columns, content) = (["sku".to_owned(), "price".to_owned()], rows());
    let world = World::new(&WorldSpec {
        seed: 1,
        collections: &[CollectionData { name: "orders", data: &data }],
        tables: &[TableSpec {
            name: "skus",
            columns: &columns,
            row_count: ROWS,
            is_random: true,
            content: content.into(),
        }],
        values: &[("customer", &customer)],
        saved_count: 0,
        object_ids: ObjectIdSpace::of(1, [&spec]),
    })?;
    let expression = world.prepare("here", &spec)?;
    println!("{} bytes", put(&world, &expression, count)?);
    Ok(())
}

/// Makes so many values; their bytes.
fn put(
    world: &World,
    expression: &brimline_datagen::expression::Expression,
    count: u64,
) -> Result<usize, Box<dyn Error>> {
    let (saved, run, name) = (SavedValues::default(), RunIdentity::new(0, [0; 8]), ElementName::new("a"));
    let mut out = Vec::new();
    let mut bytes = 0;
    for index in 0..count {
        let draw = Draw {
            index,
            worker: 0,
            now_unix_ms: 0,
            rows: &[0],
            new_records: &[0],
            newest: &[0],
            saved: &saved,
            run: &run,
        };
        out.clear();
        world.put(expression, &name, black_box(&draw), &mut out)?;
        bytes += black_box(&out).len();
    }
    Ok(bytes)
}

fn orders() -> Result<DocumentSpec, serde_json::Error> {
    serde_json::from_value(json!({
        "record_count": 100_000, "insert_start": 0, "field_count": 0, "field_length": {"kind": "constant", "length": 0},
        "field_name_prefix": "f", "key_prefix": "user", "insert_order": "hashed", "zero_padding": 1,
    }))
}

/// Rows of two columns.
fn rows() -> Vec<u8> {
    let row = |number: u64| {
        let mut row = Vec::new();
        let mut writer = brimline_bson::Writer::new(&mut row);
        let document = writer.begin_document();
        writer.string("sku", &format!("sku-{number:05}"));
        writer.double("price", number as f64);
        writer.end_document(document);
        row
    };
    (0..ROWS).flat_map(row).collect()
}

/// The values that are counted, by name.
fn expression(kind: &str) -> Option<serde_json::Value> {
    let generator = |spec| json!({"kind": "generator", "spec": spec});
    let customer = json!({"kind": "value", "index": 0});
    Some(match kind {
        "int" => generator(json!({"kind": "int", "min": 1, "max": 100})),
        "string" => generator(json!({
            "kind": "string", "length": {"kind": "constant", "length": 20},
            "alphabet": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        })),
        "key_of" => generator(json!({
            "kind": "key_of", "record_count": 100_000, "insert_start": 0, "key_prefix": "user", "insert_order": "hashed",
            "zero_padding": 1, "keys": {"kind": "zipfian", "theta": 0.99},
        })),
        "cell" => json!({"kind": "cell", "table": 0, "column": 1}),
        "name" => generator(json!({"kind": "fake", "what": "name", "language": "zh"})),
        // A filter by a named value, with a constant beside it.
        "filter" => json!({"kind": "document", "fields": [
            {"name": "customer", "value": customer},
            {"name": "open", "value": {"kind": "bson", "hex": "0801"}},
        ]}),
        "price" => json!({"kind": "calculate", "operator": "multiply", "of": [
            json!({"kind": "cell", "table": 0, "column": 1}), generator(json!({"kind": "int", "min": 1, "max": 9})),
        ]}),
        _ => return None,
    })
}
