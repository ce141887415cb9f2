//! Values are made without asking for memory: whatever an expression is, appending it to a buffer that has room allocates nothing.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use brimline_datagen::expression::{
    CollectionData, Draw, ElementName, ExpressionSpec, ObjectIdSpace, RunIdentity, SavedValues, TableSpec,
    World, WorldSpec,
};
use brimline_datagen::{DocumentSpec, FakeKind};
use serde_json::{Value as Json, json};

thread_local! {
    /// Of this thread alone: the test harness has a thread of its own, which asks for memory whenever it likes.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
}

/// The system's allocator, and how often it was asked for memory.
struct Counting;

// SAFETY: every call is the system allocator's; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SAVED: [u8; 8] = *b"\x04\0\0\0Rom\0";

fn generator(spec: &Json) -> Json {
    json!({"kind": "generator", "spec": spec})
}

fn constant(hex: &str) -> Json {
    json!({"kind": "bson", "hex": hex})
}

fn calculate(operator: &str, of: &[Json]) -> Json {
    json!({"kind": "calculate", "operator": operator, "of": of})
}

/// Every kind of generator.
fn generators() -> Vec<Json> {
    let twenty = json!({"kind": "constant", "length": 20});
    let key_of = json!({"kind": "key_of", "record_count": 1_000, "insert_start": 0, "key_prefix": "c",
        "insert_order": "hashed", "zero_padding": 1, "keys": {"kind": "zipfian", "theta": 0.99}});
    let int = json!({"kind": "int", "min": 0, "max": 9});
    let mut all = vec![
        int.clone(),
        json!({"kind": "long", "min": 0, "max": 9}),
        json!({"kind": "sequence", "start": 0, "step": 1}),
        json!({"kind": "double", "min": 0.0, "max": 9.0, "decimals": 2}),
        json!({"kind": "boolean", "true_share": 0.5}),
        json!({"kind": "date", "from_unix_ms": 0, "to_unix_ms": 9}),
        json!({"kind": "clock", "start_unix_ms": 0, "every_ns": 9}),
        json!({"kind": "string", "length": {"kind": "zipfian", "min": 1, "max": 40}, "alphabet": "ab订单"}),
        json!({"kind": "binary", "length": twenty}),
        json!({"kind": "text", "parts": [int, {"kind": "double", "min": 0.0, "max": 1.0, "decimals": null}, key_of]}),
        json!({"kind": "choice", "values": [["a", 1.0], [4, 2.0], [null, 1.0]]}),
        key_of,
        json!({"kind": "point", "min": [0.0, 0.0], "max": [1.0, 1.0]}),
        json!({"kind": "uuid"}),
        json!({"kind": "object_id"}),
        json!({"kind": "array", "length": twenty, "of": {"kind": "document", "fields": [{"name": "a", "value": int}]}}),
    ];
    for language in ["en", "zh"] {
        all.extend(FakeKind::ALL.map(|what| json!({"kind": "fake", "what": what, "language": language})));
    }
    all
}

/// Every kind of expression.
fn expressions() -> Vec<Json> {
    let (saved, value) = (
        json!({"kind": "saved", "slot": 0}),
        |path: &[&str]| json!({"kind": "value", "index": 0, "path": path}),
    );
    let three = constant("1003000000");
    let now = json!({"kind": "now"});
    let int = generator(&json!({"kind": "int", "min": 1, "max": 9}));
    let mut all = vec![
        three.clone(),
        json!({"kind": "document", "fields": [{"name": "a", "value": three}, {"name": "b", "value": int}]}),
        json!({"kind": "list", "items": [int, saved]}),
        value(&[]),
        value(&["at", "coordinates", "1"]),
        saved.clone(),
        json!({"kind": "row", "table": 0}),
        json!({"kind": "cell", "table": 0, "column": 0}),
        json!({"kind": "new_key", "collection": 0}),
        json!({"kind": "new_record", "collection": 0}),
        json!({"kind": "latest_key", "collection": 0, "theta": 0.99}),
        now.clone(),
        json!({"kind": "run"}),
        json!({"kind": "worker"}),
        json!({"kind": "number"}),
        json!({"kind": "object_id", "place": 1}),
        json!({"kind": "one_of", "values": [[int, 1.0], [saved, 1.0]]}),
        json!({"kind": "repeated", "count": 5, "of": {"kind": "list", "items": [int, value(&[])]}}),
        calculate(
            "concat",
            &[
                int.clone(),
                saved.clone(),
                now.clone(),
                generator(&json!({"kind": "double", "min": 0.0, "max": 1.0, "decimals": null})),
            ],
        ),
        calculate("substring", &[saved.clone(), three.clone(), int.clone()]),
        calculate("text", &[json!({"kind": "object_id", "place": 0})]),
        calculate("date_add", &[now.clone(), int.clone()]),
        calculate("date_trunc", &[now, constant("02050000007765656b00")]),
        calculate(
            "round",
            &[generator(&json!({"kind": "double", "min": 0.0, "max": 1.0, "decimals": null})), three.clone()],
        ),
    ];
    for operator in ["add", "subtract", "multiply", "divide", "modulo", "min", "max"] {
        all.push(calculate(operator, &[int.clone(), three.clone()]));
    }
    for operator in ["lower", "upper"] {
        all.push(calculate(operator, std::slice::from_ref(&saved)));
    }
    for operator in ["int", "long", "double"] {
        all.push(calculate(operator, &[calculate("text", std::slice::from_ref(&int))]));
    }
    all.extend(generators().iter().map(generator));
    all
}

#[test]
fn no_value_allocates() {
    let data: DocumentSpec = serde_json::from_value(json!({
        "record_count": 1_000, "insert_start": 0, "field_count": 1, "field_length": {"kind": "constant", "length": 0},
        "field_name_prefix": "f", "key_prefix": "o", "insert_order": "hashed", "zero_padding": 1,
        "template": [{"name": "name", "value": {"kind": "fake", "what": "name", "language": "zh"}}],
    }))
    .unwrap();
    let person: ExpressionSpec = serde_json::from_value(json!({"kind": "document", "fields": [
        {"name": "at", "value": generator(&json!({"kind": "point", "min": [0.0, 0.0], "max": [1.0, 1.0]}))},
    ]}))
    .unwrap();
    let columns = ["sku".to_owned()];
    let row = b"\x12\0\0\0\x02sku\0\x04\0\0\0abc\0\0".as_slice();
    let world = World::new(&WorldSpec {
        seed: 1,
        collections: &[CollectionData { name: "orders", data: &data }],
        tables: &[TableSpec {
            name: "skus",
            columns: &columns,
            row_count: 1,
            is_random: true,
            content: row.into(),
        }],
        values: &[("person", &person)],
        saved_count: 1,
        object_ids: ObjectIdSpace::of(1, []),
    })
    .unwrap();
    let mut saved = SavedValues::new(1);
    saved.set(0, 0x02, &SAVED);
    let run = RunIdentity::new(0, [0; 8]);
    let name = ElementName::new("a");
    let mut out = Vec::with_capacity(1 << 16);
    for spec in expressions() {
        let expression = world.prepare("here", &serde_json::from_value(spec.clone()).unwrap()).unwrap();
        let before = ALLOCATIONS.get();
        for index in 0..500 {
            // As an operation does: what its reply brought is kept, then a value made of it.
            saved.clear();
            saved.set(0, 0x02, &SAVED);
            let draw = Draw {
                index,
                worker: 1,
                now_unix_ms: 1_700_000_000_000,
                rows: &[index],
                new_records: &[1_000 + index],
                newest: &[999],
                saved: &saved,
                run: &run,
            };
            out.clear();
            world.put(&expression, &name, &draw, &mut out).unwrap();
        }
        let allocations = ALLOCATIONS.get() - before;
        assert_eq!(allocations, 0, "{spec}");
    }
    assert!(ALLOCATIONS.get() > 0, "the counter must count");
}
