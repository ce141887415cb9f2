//! What is drawn follows its law, and is drawn anew where it should be.

use super::{Fixture, RECORDS, articles, constant, element, field, int, named, world};
use crate::statistics::{Z_MAX, chi_square_z};
use brimline_datagen::expression::{
    Draw, ElementName, ExpressionSpec, ObjectIdSpace, RunIdentity, SavedValues, World, WorldSpec,
};
use bson::Bson;
use serde_json::json;

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
