//! Expressions: each kind against the public BSON library, the same in every run, and refused with path and reason where nothing can be
//! made of them.

use std::sync::Arc;

use brimline_datagen::expression::{
    CollectionData, Draw, ElementName, Expression, ExpressionSpec, Misfit, ObjectIdSpace, RunIdentity,
    SavedValues, TableSpec, World, WorldSpec,
};
use brimline_datagen::{DocumentSpec, Documents, OpRng, SpecError};
use bson::{Bson, doc};
use serde_json::{Value as Json, json};

use crate::statistics::{Z_MAX, chi_square_z};

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

#[test]
fn constants_documents_and_lists_are_what_they_say() {
    let fixture = Fixture::new(&[]);
    for value in [
        Bson::Null,
        Bson::Int32(-1),
        Bson::String("x".into()),
        doc! {"a": [1, {"b": 2}]}.into(),
        Bson::MaxKey,
    ] {
        assert_eq!(fixture.value(constant(value.clone())), value);
    }
    let document = json!({"kind": "document", "fields": [
        {"name": "kept", "value": constant(1)},
        {"name": "drawn", "value": int(4, 4)},
        {"name": "list", "value": {"kind": "list", "items": [constant("x"), int(5, 5)]}},
        {"name": "all", "value": {"kind": "list", "items": [constant(1), constant(2)]}},
    ]});
    assert!(!fixture.prepare(document.clone()).unwrap().is_constant());
    assert_eq!(fixture.value(document), doc! {"kept": 1, "drawn": 4, "list": ["x", 5], "all": [1, 2]}.into());
    let fixed = json!({"kind": "document", "fields": [{"name": "list", "value": {"kind": "list", "items": [constant(1)]}}]});
    assert!(fixture.prepare(fixed.clone()).unwrap().is_constant());
    assert_eq!(fixture.value(fixed), doc! {"list": [1]}.into());
}

#[test]
fn what_an_operation_brings_is_taken_as_it_is() {
    let fixture = Fixture::new(&[]);
    assert_eq!(fixture.value(json!({"kind": "now"})), Bson::DateTime(bson::DateTime::from_millis(NOW)));
    assert_eq!(fixture.value(json!({"kind": "run"})), Bson::String("660000000102333435363738".into()));
    assert_eq!(fixture.value(json!({"kind": "worker"})), Bson::Int32(5));
    assert_eq!(fixture.value(json!({"kind": "number"})), Bson::Int64(3));
    assert_eq!(fixture.value(json!({"kind": "saved", "slot": 0, "path": []})), Bson::String("Rom".into()));
    assert_eq!(fixture.value(json!({"kind": "saved", "slot": 1, "path": []})), Bson::Null);
    assert_eq!(fixture.value(json!({"kind": "saved", "slot": 0, "path": ["x"]})), Bson::Null);
    assert_eq!(fixture.value(json!({"kind": "new_key", "collection": 0})), Bson::String("o001103".into()));
    let expected = {
        let mut out = Vec::new();
        Documents::new(&orders(), SEED).unwrap().append_document(1_103, &mut out);
        bson::Document::from_reader(out.as_slice()).unwrap()
    };
    assert_eq!(fixture.value(json!({"kind": "new_record", "collection": 0})), expected.into());
}

#[test]
fn rows_follow_the_operation_and_cells_the_row() {
    let fixture = Fixture::new(&[("article", json!({"kind": "row", "table": 0}))]);
    let cell = |column: u32, index| fixture.at(json!({"kind": "cell", "table": 0, "column": column}), index);
    assert_eq!((cell(0, 0), cell(0, 1)), (Bson::String("a".into()), Bson::String("b".into())));
    assert_eq!((cell(1, 3), cell(1, 4), cell(1, 5)), (Bson::Double(2.5), Bson::Int32(4), Bson::Null));
    assert_eq!(fixture.at(json!({"kind": "row", "table": 0}), 1), doc! {"sku": "b", "price": 4}.into());
    assert_eq!(fixture.at(field(0, &["sku"]), 2), Bson::String("c".into()));
    assert_eq!(fixture.at(field(0, &["at", "x", "0"]), 2), Bson::Int32(7));
    assert_eq!(fixture.at(field(0, &["at", "x", "0"]), 1), Bson::Null);
}

#[test]
fn a_named_value_is_the_same_wherever_it_is_named() {
    let person = json!({"kind": "document", "fields": [
        {"name": "name", "value": {"kind": "generator", "spec": {"kind": "fake", "what": "name", "language": "zh"}}},
        {"name": "ages", "value": {"kind": "list", "items": [int(0, 1_000_000), int(0, 1_000_000)]}},
    ]});
    let fixture = Fixture::new(&[("number", int(0, i32::MAX)), ("person", person), ("again", named(1))]);
    for index in 0..50 {
        let whole = fixture.at(named(1), index);
        let document = whole.as_document().unwrap();
        assert_eq!(fixture.at(named(2), index), whole);
        assert_eq!(&fixture.at(field(1, &["name"]), index), document.get("name").unwrap());
        assert_eq!(&fixture.at(field(2, &["ages", "01"]), index), &document.get_array("ages").unwrap()[1]);
        assert_eq!(&fixture.at(field(2, &["ages", "1"]), index), &document.get_array("ages").unwrap()[1]);
        assert_eq!(fixture.at(named(0), index), fixture.at(named(0), index));
        assert_ne!(
            document.get_array("ages").unwrap()[0],
            document.get_array("ages").unwrap()[1],
            "places differ"
        );
        assert_ne!(fixture.at(named(0), index), fixture.at(named(0), index + 1));
    }
    // By its name, not by its place: another value before it changes nothing.
    let more = Fixture::new(&[("first", int(0, 9)), ("number", int(0, i32::MAX))]);
    assert_eq!(more.at(named(1), 3), fixture.at(named(0), 3));
}

#[test]
fn parts_of_generated_documents_are_parts_of_the_whole() {
    let point =
        json!({"kind": "generator", "spec": {"kind": "point", "min": [10.0, 20.0], "max": [11.0, 21.0]}});
    let fixture =
        Fixture::new(&[("place", point), ("order", json!({"kind": "new_record", "collection": 0}))]);
    let whole = fixture.value(named(0));
    let longitude = whole.as_document().unwrap().get_array("coordinates").unwrap()[0].clone();
    assert_eq!(fixture.value(field(0, &["coordinates", "0"])), longitude);
    assert_eq!(fixture.value(field(1, &["_id"])), Bson::String("o001103".into()));
    assert_eq!(fixture.value(field(1, &["nothing"])), Bson::Null);
    let sum = calculate("add", &[field(0, &["coordinates", "0"]), constant(1)]);
    assert_eq!(fixture.value(sum), Bson::Double(longitude.as_f64().unwrap() + 1.0));
}

#[test]
fn repeated_values_are_drawn_anew() {
    let fixture =
        Fixture::new(&[("number", int(0, i32::MAX)), ("article", json!({"kind": "row", "table": 0}))]);
    let document = json!({"kind": "document", "fields": [
        {"name": "number", "value": named(0)},
        {"name": "same", "value": named(0)},
        {"name": "key", "value": {"kind": "new_key", "collection": 0}},
        {"name": "id", "value": {"kind": "object_id", "place": 0}},
        {"name": "sku", "value": field(1, &["sku"])},
        {"name": "sequence", "value": {"kind": "generator", "spec": {"kind": "sequence", "start": 0, "step": 1}}},
    ]});
    let many = fixture.prepare(json!({"kind": "repeated", "count": 12, "of": document})).unwrap();
    assert_eq!(many.uses().items, 12);
    assert!(many.uses().new_records.contains(&0) && many.uses().tables.contains(&0));
    let Bson::Array(documents) = element(&fixture.put(&many, 1).unwrap()) else { panic!("an array") };
    assert_eq!(documents.len(), 12);
    let outside = fixture.at(named(0), 1);
    let mut numbers = vec![&outside];
    for (place, document) in documents.iter().enumerate() {
        let document = document.as_document().unwrap();
        assert_eq!(document.get("number"), document.get("same"));
        numbers.push(document.get("number").unwrap());
        assert_eq!(document.get_str("key").unwrap(), format!("o{:06}", 1_101 + place));
        assert_eq!(document.get_str("sku").unwrap(), ["b", "c", "a"][place % 3]);
        assert_eq!(document.get_i64("sequence").unwrap(), 12 + place as i64);
    }
    assert!((0..13).all(|at| (0..at).all(|before| numbers[before] != numbers[at])));
    assert!(fixture.refused(json!({"kind": "repeated", "count": 2, "of": {"kind": "repeated", "count": 2, "of": named(0)}}))
        .contains("must not be within another"));
}

#[test]
fn object_ids_of_a_run_are_all_different_and_lie_together() {
    let id = |place: u32| json!({"kind": "object_id", "place": place});
    let many = json!({"kind": "repeated", "count": 3, "of": id(1)});
    let specs: Vec<ExpressionSpec> =
        [id(0), many, id(2)].into_iter().map(|spec| serde_json::from_value(spec).unwrap()).collect();
    let space = ObjectIdSpace::of(2, &specs);
    assert!(space.operation_count_max() > 1_000_000_000);
    let world = World::new(&WorldSpec {
        seed: 1,
        collections: &[],
        tables: &[],
        values: &[],
        saved_count: 0,
        object_ids: space,
    })
    .unwrap();
    let (saved, run) = (SavedValues::default(), RunIdentity::new(0x6600_0000, *b"ab345678"));
    let mut seen = std::collections::HashSet::new();
    let mut found = 0;
    for load in 0..2_u64 {
        for index in 0..100 {
            for spec in &specs {
                let expression = world.prepare("ids", spec).unwrap();
                let draw = Draw {
                    index: load << 48 | index,
                    worker: 0,
                    now_unix_ms: 0,
                    rows: &[],
                    new_records: &[],
                    newest: &[],
                    saved: &saved,
                    run: &run,
                };
                let mut out = Vec::new();
                world.put(&expression, &ElementName::new("a"), &draw, &mut out).unwrap();
                let ids = match element(&out) {
                    Bson::Array(ids) => ids,
                    id => vec![id],
                };
                for id in ids {
                    let id = id.as_object_id().unwrap().bytes();
                    assert_eq!(&id[..6], b"\x66\0\0\0ab");
                    seen.insert(id);
                    found += 1;
                }
            }
        }
    }
    assert_eq!((found, seen.len()), (1_000, 1_000));
}

#[test]
fn choices_and_keys_follow_their_laws() {
    let fixture = Fixture::new(&[]);
    let mut counts = [0; 3];
    let one_of = json!({"kind": "one_of", "values": [[constant(0), 6.0], [int(9, 9), 0.0], [int(1, 1), 3.0], [constant(2), 1.0]]});
    let one_of = fixture.prepare(one_of).unwrap();
    let keys = json!({"kind": "generator", "spec": {"kind": "key_of", "record_count": 4, "insert_start": 10,
        "key_prefix": "k", "insert_order": "ordered", "zero_padding": 1, "keys": {"kind": "zipfian", "theta": 1.0}}});
    let keys = fixture.prepare(keys).unwrap();
    let latest = fixture.prepare(json!({"kind": "latest_key", "collection": 0, "theta": 1.0})).unwrap();
    let (mut records, mut newest) = ([0_u64; 4], 0_u64);
    for index in 0..20_000 {
        counts[element(&fixture.put(&one_of, index).unwrap()).as_i32().unwrap() as usize] += 1;
        let key = element(&fixture.put(&keys, index).unwrap());
        records[key.as_str().unwrap().strip_prefix('k').unwrap().parse::<usize>().unwrap() - 10] += 1;
        let key = element(&fixture.put(&latest, index).unwrap());
        newest += u64::from(key.as_str().unwrap() == "o001099");
    }
    let z = chi_square_z(&counts, &[0.6, 0.3, 0.1]);
    assert!(z.abs() < Z_MAX, "{z}");
    records.sort_unstable_by(|a, b| b.cmp(a));
    let harmonic = 1.0 + 1.0 / 2.0 + 1.0 / 3.0 + 1.0 / 4.0;
    let z = chi_square_z(&records, &[1.0 / harmonic, 0.5 / harmonic, 1.0 / 3.0 / harmonic, 0.25 / harmonic]);
    assert!(z.abs() < Z_MAX, "{records:?} {z}");
    let share = 1.0 / (1..=RECORDS).map(|rank| 1.0 / rank as f64).sum::<f64>();
    let z = chi_square_z(&[newest, 20_000 - newest], &[share, 1.0 - share]);
    assert!(z.abs() < Z_MAX, "{newest} {z}");
}

#[test]
fn random_rows_are_equally_often_and_drawn_by_the_world() {
    let world = world(&[], true, articles(), 3).unwrap();
    let fixture = Fixture { world, ..Fixture::new(&[]) };
    let cell = fixture.prepare(json!({"kind": "cell", "table": 0, "column": 0})).unwrap();
    let mut counts = [0; 3];
    for index in 0..10_000 {
        let sku = element(&fixture.put(&cell, index).unwrap());
        counts[["a", "b", "c"].iter().position(|&known| known == sku.as_str().unwrap()).unwrap()] += 1;
    }
    let z = chi_square_z(&counts, &[1.0 / 3.0; 3]);
    assert!(z.abs() < Z_MAX, "{z}");
}

#[test]
fn numbers_keep_mongodb_s_types() {
    let fixture = Fixture::new(&[("amount", int(3, 3))]);
    let wide = 1_i64 << 40;
    for (operator, of, expected) in [
        ("add", vec![named(0), constant(4)], Bson::Int32(7)),
        ("add", vec![constant(i32::MAX), constant(1)], Bson::Int64(1 << 31)),
        ("add", vec![named(0), constant(wide)], Bson::Int64(wide + 3)),
        ("add", vec![constant(i64::MAX), named(0)], Bson::Double(i64::MAX as f64 + 3.0)),
        ("add", vec![named(0), constant(0.5), constant(1)], Bson::Double(4.5)),
        ("add", vec![named(0), constant(Bson::Null)], Bson::Null),
        ("subtract", vec![constant(1), named(0)], Bson::Int32(-2)),
        ("multiply", vec![named(0), constant(9.5)], Bson::Double(28.5)),
        ("multiply", vec![constant(i32::MIN), constant(i32::MIN)], Bson::Int64(1 << 62)),
        ("divide", vec![named(0), constant(2)], Bson::Double(1.5)),
        ("modulo", vec![constant(-7), named(0)], Bson::Int32(-1)),
        ("modulo", vec![constant(7.5), named(0)], Bson::Double(1.5)),
        ("modulo", vec![constant(i64::MIN), constant(-1)], Bson::Int64(0)),
        ("min", vec![named(0), constant(2.5), constant(wide)], Bson::Double(2.5)),
        ("max", vec![named(0), constant(2.5)], Bson::Int32(3)),
        ("round", vec![constant(2.5)], Bson::Double(2.0)),
        ("round", vec![constant(19.987), constant(2)], Bson::Double(19.99)),
        ("round", vec![constant(1_250), constant(-2)], Bson::Int32(1_200)),
        ("round", vec![constant(i32::MAX), constant(-9)], Bson::Int32(2_000_000_000)),
        ("int", vec![constant("12")], Bson::Int32(12)),
        ("int", vec![constant(-3.9)], Bson::Int32(-3)),
        ("long", vec![named(0)], Bson::Int64(3)),
        ("long", vec![json!({"kind": "now"})], Bson::Int64(NOW)),
        ("double", vec![constant("1e3")], Bson::Double(1000.0)),
    ] {
        assert_eq!(fixture.value(calculate(operator, &of)), expected, "{operator} {of:?}");
    }
}

#[test]
fn texts_and_dates_are_made_within_the_buffer() {
    let fixture = Fixture::new(&[("amount", int(3, 3)), ("city", json!({"kind": "saved", "slot": 0}))]);
    let date = |unix_ms| Bson::DateTime(bson::DateTime::from_millis(unix_ms));
    for (operator, of, expected) in [
        ("concat", vec![constant("n-"), named(0), constant("-"), named(1)], Bson::String("n-3-Rom".into())),
        ("concat", vec![constant("x"), constant(Bson::Null)], Bson::Null),
        (
            "concat",
            vec![calculate("lower", &[named(1)]), constant(0.5), constant(true)],
            Bson::String("rom0.5true".into()),
        ),
        ("upper", vec![named(1)], Bson::String("ROM".into())),
        ("substring", vec![constant("武汉市民"), constant(1), constant(2)], Bson::String("汉市".into())),
        ("substring", vec![constant("abc"), constant(2), constant(i64::MAX)], Bson::String("c".into())),
        ("substring", vec![constant("abc"), constant(9), constant(1)], Bson::String(String::new())),
        ("text", vec![json!({"kind": "now"})], Bson::String("2024-02-28T12:34:56.789Z".into())),
        ("text", vec![named(0)], Bson::String("3".into())),
        ("date_add", vec![json!({"kind": "now"}), constant(-604_800_000_i64)], date(NOW - 604_800_000)),
        ("date_trunc", vec![json!({"kind": "now"}), constant("day")], date(1_709_078_400_000)),
        ("min", vec![json!({"kind": "now"}), constant(date(5))], date(5)),
    ] {
        assert_eq!(fixture.value(calculate(operator, &of)), expected, "{operator} {of:?}");
    }
}

#[test]
fn what_can_t_be_calculated_is_refused_before_a_run_where_it_is_known() {
    let fixture = Fixture::new(&[("name", json!({"kind": "run"})), ("amount", int(0, 0))]);
    for (spec, message) in [
        (calculate("add", &[constant(1), named(0)]), "of.1: add takes numbers, not text"),
        (calculate("lower", &[constant(1)]), "of.0: lower takes text, not an int"),
        (calculate("date_add", &[constant(1), constant(1)]), "of.0: date_add takes a date, not an int"),
        (
            calculate("date_trunc", &[json!({"kind": "now"}), named(0)]),
            "of.1: date_trunc takes second, minute",
        ),
        (calculate("date_trunc", &[json!({"kind": "now"}), constant("fortnight")]), "as a constant"),
        (calculate("divide", &[constant(1), constant(0)]), "of: divide of a division by zero"),
        (calculate("divide", &[constant(1)]), "of: divide takes 2, got 1"),
        (
            json!({"kind": "document", "fields": [{"name": "a", "value": calculate("upper", &[constant(1)])}]}),
            "a.of.0: upper",
        ),
        (named(2), "index: must be that of an earlier value, got 2"),
        (field(0, &["x"]), "path: the value is text and has no x"),
        (json!({"kind": "saved", "slot": 2, "path": []}), "slot: must be below 2, got 2"),
        (json!({"kind": "row", "table": 1}), "table: must be below 1, got 1"),
        (json!({"kind": "cell", "table": 0, "column": 3}), "column: is no column of a table"),
        (json!({"kind": "new_key", "collection": 1}), "collection: must be below 1, got 1"),
        (
            json!({"kind": "latest_key", "collection": 0, "theta": 11.0}),
            "theta: must be from 0 to 10, got 11",
        ),
        (json!({"kind": "one_of", "values": []}), "values: must be 1 to 65536, got 0"),
        (
            json!({"kind": "one_of", "values": [[constant(1), 0.0]]}),
            "values: must have weights with a positive",
        ),
        (json!({"kind": "bson", "hex": "02ff"}), "hex: must be the type and the value of one BSON element"),
        (json!({"kind": "bson", "hex": "1001000000aa"}), "hex: must be the type and the value"),
        (json!({"kind": "repeated", "count": 0, "of": constant(1)}), "count: must be 1 to 100000, got 0"),
        (int(2, 1), "spec.min: must be at most max"),
    ] {
        let refused = fixture.refused(spec);
        assert!(refused.contains(message), "{refused} is not {message}");
    }
    let nested = (0..32).fold(constant(1), |of, _| json!({"kind": "list", "items": [of]}));
    assert!(fixture.refused(nested).contains("must not be nested deeper than 32"));
}

#[test]
fn what_a_reply_brought_is_refused_when_it_is_used() {
    let fixture = Fixture::new(&[("city", json!({"kind": "saved", "slot": 0})), ("zero", int(0, 0))]);
    assert_eq!(fixture.misfit(calculate("add", &[constant(1), named(0)])), "add of text");
    assert_eq!(fixture.misfit(calculate("int", &[named(0)])), "int of text");
    assert_eq!(fixture.misfit(calculate("modulo", &[constant(1), named(1)])), "modulo of a division by zero");
    assert_eq!(fixture.misfit(calculate("date_add", &[named(0), constant(1)])), "date_add of text");
    let number =
        json!({"kind": "one_of", "values": [[constant("x"), 0.0], [named(1), 1.0], [named(0), 1e-9]]});
    assert_eq!(fixture.misfit(calculate("lower", &[number])), "lower of an int");
    let nothing = json!({"kind": "saved", "slot": 1});
    assert_eq!(fixture.value(calculate("multiply", &[nothing, constant(2)])), Bson::Null);
}

#[test]
fn values_that_refer_to_values_over_and_over_are_refused() {
    let refused = |value: &dyn Fn(u32) -> Json| {
        let names: Vec<String> = (0..1_000).map(|number| format!("v{number}")).collect();
        let values: Vec<(&str, Json)> =
            (0..).zip(&names).map(|(number, name)| (name.as_str(), value(number))).collect();
        world(&values, false, articles(), 3).unwrap_err().to_string()
    };
    let first = json!({"kind": "document", "fields": [{"name": "x", "value": int(0, 1)}]});
    let document = |value| json!({"kind": "document", "fields": [{"name": "x", "value": value}]});
    let twice: &dyn Fn(u32) -> Json = &|number| match number {
        0 => int(0, 1),
        _ => calculate("add", &[named(number - 1), named(number - 1)]),
    };
    let chain: &dyn Fn(u32) -> Json = &|number| match number {
        0 => first.clone(),
        _ => document(field(number - 1, &["x"])),
    };
    let parts: &dyn Fn(u32) -> Json = &|number| match number {
        0 => first.clone(),
        _ => document(calculate("add", &[field(number - 1, &["x"]), field(number - 1, &["x"])])),
    };
    let lists: &dyn Fn(u32) -> Json = &|number| match number {
        0 => first.clone(),
        _ => document(json!({"kind": "list", "items": [field(number - 1, &["x"])]})),
    };
    for value in [twice, chain, parts, lists] {
        assert!(refused(value).contains("values refer to values too often"));
    }
}

/// Whatever bytes there are for rows, they are refused, or every value of them is a value.
#[test]
fn hostile_rows_are_an_error_and_never_a_panic() {
    let good = articles();
    assert!(
        world(&[], false, good.clone(), 2)
            .unwrap_err()
            .to_string()
            .contains("tables.0.row_count: must be that of")
    );
    assert!(world(&[], false, Vec::new(), 0).is_err());
    let unknown_type = [&good[..], b"\x0c\0\0\0\x20a\0\x01\0\0\0\0"].concat();
    let refused = world(&[], false, unknown_type, 4).unwrap_err().to_string();
    assert_eq!(refused, "tables.0.content: row 3: unknown BSON type 0x20");
    for at in 0..good.len() {
        for byte in [0, 1, 0x7f, 0xff, good[at] ^ 1] {
            let mut bad = good.clone();
            bad[at] = byte;
            let Ok(world) = world(&[], false, bad, 3) else { continue };
            let fixture = Fixture { world, ..Fixture::new(&[]) };
            let of = fixture.prepare(json!({"kind": "cell", "table": 0, "column": 1})).unwrap();
            let deep = json!({"kind": "row", "table": 0});
            let sum = fixture
                .prepare(calculate("concat", &[json!({"kind": "cell", "table": 0, "column": 0})]))
                .unwrap();
            let row = fixture.prepare(deep).unwrap();
            for index in 0..3 {
                _ = fixture.put(&of, index);
                _ = fixture.put(&sum, index);
                _ = fixture.put(&row, index);
            }
        }
        assert!(world(&[], false, good[..at].to_vec(), 3).is_err());
    }
}

#[test]
fn specs_read_and_write_as_json() {
    let spec = json!({"kind": "one_of", "values": [
        [{"kind": "cell", "table": 0, "column": 1}, 1.0],
        [{"kind": "object_id", "place": 4}, 2.0],
        [constant("x"), 1.0],
    ]});
    let read: ExpressionSpec = serde_json::from_value(spec.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), spec);
    for bad in [
        json!({"kind": "now", "x": 1}),
        json!({"kind": "what"}),
        json!({"kind": "bson", "hex": "0"}),
        json!({"kind": "bson", "hex": "zz"}),
    ] {
        assert!(serde_json::from_value::<ExpressionSpec>(bad).is_err());
    }
}

/// An expression of any kind, whose parts are of any kind too.
fn any(rng: &mut OpRng, depth: u32) -> Json {
    let leaves = 15;
    let compounds = if depth == 0 { 0 } else { 6 };
    let part = |rng: &mut OpRng| any(rng, depth.saturating_sub(1));
    match rng.below(leaves + compounds) {
        0 => constant(rng.next_u64() as i32 >> (rng.below(32) as u32)),
        1 => constant(rng.next_u64() as i64 >> (rng.below(64) as u32)),
        2 => constant(f64::from_bits(rng.next_u64())),
        3 => constant(["", "12", "-0.5", "武汉", "day", "month"][rng.below(6) as usize]),
        4 => constant(
            [Bson::Null, Bson::MinKey, doc! {"x": [1, "y"]}.into(), Bson::Boolean(true)]
                [rng.below(4) as usize]
                .clone(),
        ),
        5 => named(rng.below(3) as u32),
        6 => field(2, &["x"]),
        7 => json!({"kind": "saved", "slot": rng.below(2), "path": []}),
        8 => json!({"kind": "cell", "table": 0, "column": rng.below(3)}),
        9 => json!({"kind": "new_record", "collection": 0}),
        10 => json!({"kind": "now"}),
        11 => json!({"kind": "object_id", "place": 0}),
        12 => json!({"kind": "latest_key", "collection": 0, "theta": 0.5}),
        13 => int(-5, 5),
        14 => json!({"kind": "generator", "spec": {"kind": "fake", "what": "address", "language": "zh"}}),
        15 => {
            json!({"kind": "document", "fields": [{"name": "x", "value": part(rng)}, {"name": "y", "value": part(rng)}]})
        }
        16 => json!({"kind": "list", "items": [part(rng), part(rng)]}),
        17 => json!({"kind": "one_of", "values": [[part(rng), 1.0], [part(rng), 2.0]]}),
        18 => json!({"kind": "repeated", "count": 1 + rng.below(3), "of": part(rng)}),
        _ => {
            let operators = [
                ("add", 2),
                ("subtract", 2),
                ("multiply", 2),
                ("divide", 2),
                ("modulo", 2),
                ("min", 2),
                ("max", 2),
                ("round", 2),
                ("concat", 2),
                ("lower", 1),
                ("upper", 1),
                ("substring", 3),
                ("text", 1),
                ("int", 1),
                ("long", 1),
                ("double", 1),
                ("date_add", 2),
                ("date_trunc", 2),
            ];
            let (operator, count) = operators[rng.below(operators.len() as u64) as usize];
            calculate(operator, &(0..count).map(|_| part(rng)).collect::<Vec<_>>())
        }
    }
}

/// Whatever is put together: it is refused beforehand, or it is a misfit, or BSON within its bound, and the same once more.
#[test]
fn any_expression_is_refused_or_makes_bson() {
    let document = json!({"kind": "document", "fields": [{"name": "x", "value": int(0, 9)}]});
    let fixture = Fixture::new(&[
        ("number", int(0, 9)),
        ("row", json!({"kind": "row", "table": 0})),
        ("both", document),
    ]);
    let mut counts = [0; 3];
    for seed in 0..20_000 {
        let spec = any(&mut OpRng::new(9, 1, seed), 3);
        let Ok(expression) = fixture.prepare(spec.clone()) else {
            counts[0] += 1;
            continue;
        };
        match fixture.put(&expression, seed) {
            Err(_) => counts[1] += 1,
            Ok(bytes) => {
                let value = element(&bytes);
                assert_eq!(fixture.put(&expression, seed).unwrap(), bytes, "{spec}");
                let is_bounded = expression.uses().saved.is_empty();
                assert!(!is_bounded || bytes.len() as u64 <= 3 + expression.bytes_max(), "{spec} {value}");
                counts[2] += 1;
            }
        }
    }
    assert!(counts.iter().all(|&count| count > 100), "each happens: {counts:?}");
}

/// The world may be shared by threads.
#[test]
fn a_world_is_shared() {
    fn shared<T: Send + Sync>(_: &Arc<T>) {}
    shared(&Arc::new(Fixture::new(&[]).world));
}
