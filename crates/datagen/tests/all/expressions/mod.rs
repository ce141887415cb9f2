//! Expressions: each kind against the public BSON library, the same in every run, and refused with path and reason where nothing can be
//! made of them.

mod calculations;
mod hostile;
mod kinds;
mod laws;
mod lists;

use brimline_datagen::expression::{
    CollectionData, Draw, ElementName, Expression, ExpressionSpec, Misfit, ObjectIdSpace, RunIdentity,
    SavedValues, TableSpec, World, WorldSpec,
};
use brimline_datagen::{DocumentSpec, SpecError};
use bson::{Bson, doc};
use serde_json::{Value as Json, json};

const RECORDS: u64 = 1_000;
const SEED: u64 = 7;
const NOW: i64 = 1_709_123_696_789;

/// A collection of orders, a table of articles, and values that have a name.
struct Fixture {
    world: World,
    saved: SavedValues,
    run: RunIdentity,
}

fn orders() -> DocumentSpec {
    serde_json::from_value(json!({
        "record_count": RECORDS, "insert_start": 100, "field_count": 1,
        "field_length": {"kind": "constant", "length": 0}, "field_name_prefix": "f", "key_prefix": "o",
        "insert_order": "ordered", "zero_padding": 6,
        "template": [{"name": "total", "value": {"kind": "int", "min": 1, "max": 9}}],
    }))
    .unwrap()
}

fn articles() -> Vec<u8> {
    let rows =
        [doc! {"sku": "a", "price": 2.5}, doc! {"sku": "b", "price": 4}, doc! {"sku": "c", "at": {"x": [7]}}];
    rows.iter().flat_map(|row| row.to_vec().unwrap()).collect()
}

fn world(
    values: &[(&str, Json)],
    is_random: bool,
    content: Vec<u8>,
    row_count: u64,
) -> Result<World, SpecError> {
    let specs: Vec<(&str, ExpressionSpec)> =
        values.iter().map(|(name, value)| (*name, serde_json::from_value(value.clone()).unwrap())).collect();
    let values: Vec<(&str, &ExpressionSpec)> = specs.iter().map(|(name, spec)| (*name, spec)).collect();
    let columns = ["sku", "price", "at"].map(String::from);
    World::new(&WorldSpec {
        seed: SEED,
        collections: &[CollectionData { name: "orders", data: &orders() }],
        tables: &[TableSpec {
            name: "articles",
            columns: &columns,
            row_count,
            is_random,
            content: content.into(),
        }],
        values: &values,
        saved_count: 2,
        object_ids: ObjectIdSpace::of(2, values.iter().map(|(_, spec)| *spec)),
    })
}

impl Fixture {
    fn new(values: &[(&str, Json)]) -> Self {
        let mut saved = SavedValues::new(2);
        saved.set(0, 0x02, b"\x04\0\0\0Rom\0");
        Self {
            world: world(values, false, articles(), 3).unwrap(),
            saved,
            run: RunIdentity::new(0x6600_0000, *b"\x01\x02345678"),
        }
    }

    fn prepare(&self, spec: Json) -> Result<Expression, SpecError> {
        self.world.prepare("here", &serde_json::from_value(spec).unwrap())
    }

    fn put(&self, expression: &Expression, index: u64) -> Result<Vec<u8>, Misfit> {
        let mut out = Vec::new();
        let draw = Draw {
            index,
            worker: 5,
            now_unix_ms: NOW,
            rows: &[index],
            new_records: &[1_100 + index],
            newest: &[1_099],
            saved: &self.saved,
            run: &self.run,
        };
        self.world.put(expression, &ElementName::new("a"), &draw, &mut out)?;
        Ok(out)
    }

    fn at(&self, spec: Json, index: u64) -> Bson {
        let expression = self.prepare(spec).unwrap();
        element(&self.put(&expression, index).unwrap())
    }

    fn value(&self, spec: Json) -> Bson {
        self.at(spec, 3)
    }

    fn refused(&self, spec: Json) -> String {
        self.prepare(spec).unwrap_err().to_string()
    }

    fn misfit(&self, spec: Json) -> String {
        self.put(&self.prepare(spec).unwrap(), 3).unwrap_err().to_string()
    }
}

/// The value of one element called `a`.
fn element(bytes: &[u8]) -> Bson {
    let document = [&(bytes.len() as u32 + 5).to_le_bytes(), bytes, &[0]].concat();
    let mut document = bson::Document::from_reader(document.as_slice()).unwrap();
    assert_eq!(document.len(), 1);
    document.remove("a").unwrap()
}

/// A constant as a plan says it.
fn constant(value: impl Into<Bson>) -> Json {
    let document = doc! {"": value.into()}.to_vec().unwrap();
    let hex = [&document[4..5], &document[6..document.len() - 1]].concat();
    serde_json::to_value(ExpressionSpec::Bson { hex }).unwrap()
}

fn calculate(operator: &str, of: &[Json]) -> Json {
    json!({"kind": "calculate", "operator": operator, "of": of})
}

fn int(min: i32, max: i32) -> Json {
    json!({"kind": "generator", "spec": {"kind": "int", "min": min, "max": max}})
}

fn named(index: u32) -> Json {
    json!({"kind": "value", "index": index})
}

fn field(index: u32, path: &[&str]) -> Json {
    json!({"kind": "value", "index": index, "path": path})
}
