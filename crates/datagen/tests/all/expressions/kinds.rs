//! Each kind of expression makes what it says.

use std::sync::Arc;

use brimline_datagen::Documents;
use brimline_datagen::expression::ExpressionSpec;
use bson::{Bson, doc};
use serde_json::json;

use super::{Fixture, NOW, SEED, calculate, constant, field, int, named, orders};

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

/// The world may be shared by threads.
#[test]
fn a_world_is_shared() {
    fn shared<T: Send + Sync>(_: &Arc<T>) {}
    shared(&Arc::new(Fixture::new(&[]).world));
}
