//! Rendered templates against the same commands encoded by the official `bson` crate, byte for byte.

use crate::common::{message, message_of, sequence};
use brimline_bson::Writer;
use brimline_wire::op_msg::{self, MORE_TO_COME};
use brimline_wire::template::{SLOT_COUNT_MAX, TemplateBuilder};
use bson::{Bson, Document, doc};
use proptest::collection::vec;
use proptest::prelude::*;

#[test]
fn a_find_equals_the_official_encoding() {
    let find = TemplateBuilder::new()
        .fixed(|writer| writer.string("find", "usertable"))
        .begin_subdocument("filter")
        .slot()
        .end()
        .fixed(|writer| {
            writer.int32("limit", 1);
            writer.boolean("singleBatch", true);
            writer.string("$db", "ycsb");
        })
        .finish(0);
    let mut out = Vec::new();
    for (request_id, key) in [(1, "user1"), (i32::MAX, "user6284781860667377211"), (-5, "")] {
        let expected = message(
            request_id,
            0,
            0,
            &doc! { "find": "usertable", "filter": { "_id": key }, "limit": 1, "singleBatch": true, "$db": "ycsb" },
        );
        out.clear();
        find.render(request_id, &mut out, |_, writer| writer.string("_id", key));
        assert_eq!(out, expected);
    }
}

#[test]
fn slots_in_nested_documents_and_arrays_patch_every_length_around_them() {
    let update = TemplateBuilder::new()
        .fixed(|writer| writer.string("update", "c"))
        .begin_array("updates")
        .begin_subdocument("0")
        .begin_subdocument("q")
        .slot()
        .end()
        .begin_subdocument("u")
        .begin_subdocument("$set")
        .slot()
        .end()
        .end()
        .fixed(|writer| writer.boolean("upsert", false))
        .end()
        .end()
        .begin_subdocument("writeConcern")
        .fixed(|writer| writer.int32("w", 1))
        .end()
        .slot()
        .finish(MORE_TO_COME);
    let mut out = b"an earlier message".to_vec();
    update.render(9, &mut out, |slot, writer| match slot {
        0 => writer.string("_id", "user1"),
        1 => {
            writer.binary("field0", b"value");
            writer.int64("count", 7);
        }
        _ => writer.string("$db", "ycsb"),
    });
    let field =
        Bson::Binary(bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: b"value".to_vec() });
    let statement = doc! {
        "q": { "_id": "user1" }, "u": { "$set": { "field0": field, "count": 7i64 } }, "upsert": false,
    };
    let command = doc! { "update": "c", "updates": [statement], "writeConcern": { "w": 1 }, "$db": "ycsb" };
    assert_eq!(out, [b"an earlier message".as_slice(), &message(9, 0, MORE_TO_COME, &command)].concat());
}

#[test]
fn an_insert_carries_its_documents_as_a_sequence() {
    let insert = TemplateBuilder::new()
        .fixed(|writer| {
            writer.string("insert", "c");
            writer.boolean("ordered", true);
            writer.string("$db", "ycsb");
        })
        .finish(0);
    let documents = [doc! { "_id": 1 }, doc! { "_id": 2, "text": "two" }];
    let mut out = Vec::new();
    insert.render_with_documents(
        3,
        &mut out,
        |_, _| unreachable!("there is no slot"),
        "documents",
        |out| {
            for document in &documents {
                out.extend_from_slice(&document.to_vec().unwrap());
            }
        },
    );
    let body = doc! { "insert": "c", "ordered": true, "$db": "ycsb" }.to_vec().unwrap();
    let sections = [vec![0], body.clone(), sequence("documents", &documents)].concat();
    assert_eq!(out, message_of(3, 0, 0, &sections));

    let parsed = op_msg::parse(&out).unwrap();
    assert_eq!(parsed.body, body);
    let sequences: Vec<_> = parsed.sequences().collect();
    assert_eq!(sequences.len(), 1);
    assert_eq!(sequences[0].name, b"documents");
    let read: Result<Vec<_>, _> = sequences[0].documents().collect();
    assert_eq!(read.unwrap(), documents.map(|document| document.to_vec().unwrap()));
}

#[test]
fn a_one_off_request_equals_the_official_encoding() {
    let mut out = Vec::new();
    op_msg::request(&mut out, 4, |writer| {
        writer.int32("ping", 1);
        writer.string("$db", "admin");
    });
    op_msg::reply(&mut out, 5, 4, |writer| writer.double("ok", 1.0));
    let ping = message(4, 0, 0, &doc! { "ping": 1, "$db": "admin" });
    assert_eq!(out, [ping, message(5, 4, 0, &doc! { "ok": 1.0 })].concat());
}

#[test]
#[should_panic(expected = "open document")]
fn a_template_with_an_open_document_is_refused() {
    TemplateBuilder::new().begin_subdocument("filter").finish(0);
}

#[test]
#[should_panic(expected = "at most")]
fn more_slots_than_a_template_has_are_refused() {
    let mut builder = TemplateBuilder::new();
    for _ in 0..=SLOT_COUNT_MAX {
        builder.slot();
    }
}

#[test]
fn as_many_slots_as_a_template_has_equal_the_official_encoding() {
    let value = |slot: usize| i64::try_from(slot).unwrap() << 33;
    let (mut builder, mut expected) = (TemplateBuilder::new(), Document::new());
    for slot in 0..SLOT_COUNT_MAX {
        let name = format!("d{slot}");
        builder.begin_subdocument(&name).slot().end();
        expected.insert(name, doc! { "value": value(slot) });
    }
    let mut out = Vec::new();
    builder.finish(0).render(5, &mut out, |slot, writer| writer.int64("value", value(slot)));
    assert_eq!(out, message(5, 0, 0, &expected));
}

/// A part of a body: fixed elements, what a slot is filled with, or a document of parts.
#[derive(Clone, Debug)]
enum Part {
    Fixed(i64),
    Slot(Vec<String>),
    Document(Vec<Part>),
}

fn slot_count(parts: &[Part]) -> usize {
    let slots_of = |part: &Part| match part {
        Part::Fixed(_) => 0,
        Part::Slot(_) => 1,
        Part::Document(parts) => slot_count(parts),
    };
    parts.iter().map(slots_of).sum()
}

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let leaf =
        prop_oneof![any::<i64>().prop_map(Part::Fixed), vec("[a-z]{0,300}", 0..3).prop_map(Part::Slot)];
    let part = leaf.prop_recursive(5, 12, 4, |inner| vec(inner, 0..4).prop_map(Part::Document));
    vec(part, 0..5).prop_filter("more slots than a template has", |parts| slot_count(parts) <= SLOT_COUNT_MAX)
}

/// Builds the template, the slots' values and the official document side by side.
fn build(
    parts: &[Part],
    builder: &mut TemplateBuilder,
    slots: &mut Vec<Vec<String>>,
    document: &mut Document,
) {
    for part in parts {
        let name = format!("e{}", document.len());
        match part {
            Part::Fixed(value) => {
                builder.fixed(|writer| writer.int64(&name, *value));
                document.insert(name, *value);
            }
            Part::Slot(values) => {
                builder.slot();
                for (index, value) in values.iter().enumerate() {
                    document.insert(format!("s{}.{index}", slots.len()), value);
                }
                slots.push(values.clone());
            }
            Part::Document(parts) => {
                builder.begin_subdocument(&name);
                let mut inner = Document::new();
                build(parts, builder, slots, &mut inner);
                builder.end();
                document.insert(name, inner);
            }
        }
    }
}

fn fill(slot: usize, values: &[String], writer: &mut Writer<'_>) {
    for (index, value) in values.iter().enumerate() {
        writer.string(&format!("s{slot}.{index}"), value);
    }
}

proptest! {
    #[test]
    fn any_template_equals_the_official_encoding(parts in parts()) {
        let (mut builder, mut slots, mut document) = (TemplateBuilder::new(), Vec::new(), Document::new());
        build(&parts, &mut builder, &mut slots, &mut document);
        let mut out = Vec::new();
        builder.finish(0).render(77, &mut out, |slot, writer| fill(slot, &slots[slot], writer));
        prop_assert_eq!(out, message(77, 0, 0, &document));
    }
}
