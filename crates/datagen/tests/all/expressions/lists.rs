//! Lists whose items are drawn anew, lists of lists' elements, and what is made of lists.

use super::{Fixture, NOW, articles, calculate, constant, field, int, named, world};
use bson::{Bson, doc};
use serde_json::{Value as Json, json};

#[expect(clippy::needless_pass_by_value, reason = "its callers make the values in place")]
fn several(count: Json, count_max: u32, of: Json) -> Json {
    json!({"kind": "several", "count": count, "count_max": count_max, "of": of})
}

#[expect(clippy::needless_pass_by_value, reason = "its callers make the values in place")]
fn fields(count: Json, count_max: u32, key: Json, of: Json) -> Json {
    json!({"kind": "several", "count": count, "count_max": count_max, "of": of, "key": key})
}

fn list(items: &[Bson]) -> Json {
    constant(Bson::Array(items.to_vec()))
}

fn numbers(value: &Bson) -> Vec<i64> {
    let number = |each: &Bson| each.as_i64().or(each.as_i32().map(i64::from)).unwrap();
    value.as_array().unwrap().iter().map(number).collect()
}

#[test]
fn items_are_drawn_anew_and_named_values_are_not() {
    let fixture = Fixture::new(&[
        ("number", int(0, i32::MAX)),
        ("article", json!({"kind": "row", "table": 0})),
        ("id", json!({"kind": "object_id", "place": 0})),
    ]);
    let item = json!({"kind": "document", "fields": [
        {"name": "drawn", "value": int(0, i32::MAX)},
        {"name": "named", "value": named(0)},
        {"name": "sku", "value": field(1, &["sku"])},
        {"name": "id", "value": named(2)},
    ]});
    let items = several(constant(5), 9, item);
    let Bson::Array(made) = fixture.value(items.clone()) else { panic!("a list") };
    assert_eq!(made.len(), 5);
    let (number, id) = (fixture.value(named(0)), fixture.value(named(2)));
    let mut drawn: Vec<i32> = Vec::new();
    for item in &made {
        let item = item.as_document().unwrap();
        assert_eq!((item.get("named").unwrap(), item.get("id").unwrap()), (&number, &id));
        assert_eq!(item.get_str("sku").unwrap(), "a");
        assert!(!drawn.contains(&item.get_i32("drawn").unwrap()));
        drawn.push(item.get_i32("drawn").unwrap());
    }
    assert_ne!(fixture.at(items.clone(), 4), Bson::Array(made), "another operation, other items");
    // Within the documents of an insert each has items of its own, whose named values are that document's.
    let documents = json!({"kind": "repeated", "count": 3, "of": items});
    let Bson::Array(documents) = fixture.value(documents) else { panic!("a list") };
    let mut seen: Vec<Bson> = Vec::new();
    for document in &documents {
        let items: Vec<_> =
            document.as_array().unwrap().iter().map(|item| item.as_document().unwrap()).collect();
        let one_for_all = |name| items.iter().all(|item| item.get(name) == items[0].get(name));
        assert!(one_for_all("named") && one_for_all("sku") && one_for_all("id"));
        seen.extend(items.iter().map(|item| item.get("drawn").unwrap().clone()));
        seen.extend([items[0].get("named").unwrap().clone(), items[0].get("id").unwrap().clone()]);
    }
    assert!((0..seen.len()).all(|at| !seen[..at].contains(&seen[at])));
}

#[test]
fn lists_within_lists_draw_each_value_once() {
    let fixture = Fixture::new(&[]);
    let inner = several(constant(3), 5, int(0, i32::MAX));
    let nested = several(constant(4), 4, inner);
    let expression = fixture.prepare(nested.clone()).unwrap();
    assert_eq!(expression.uses().several, 20);
    let all: Vec<i64> = fixture.value(nested).as_array().unwrap().iter().flat_map(numbers).collect();
    assert_eq!(all.len(), 12);
    assert!((0..12).all(|at| !all[..at].contains(&all[at])));
    let deep = (0..4).fold(int(0, 1), |of, _| several(constant(2), 1_000, of));
    assert!(fixture.refused(deep).contains("values refer to values too often"));
}

#[test]
fn counts_vary_within_their_bound() {
    let fixture = Fixture::new(&[("count", int(0, 3))]);
    let mut lengths = [0; 4];
    for index in 0..400 {
        let length = numbers(&fixture.at(several(named(0), 3, int(1, 1)), index)).len();
        assert_eq!(fixture.at(named(0), index), Bson::Int32(length as i32));
        lengths[length] += 1;
    }
    assert!(lengths.iter().all(|&count| count > 60), "{lengths:?}");
    assert_eq!(fixture.value(several(constant(Bson::Null), 3, int(1, 1))), Bson::Null);
    assert_eq!(fixture.misfit(several(constant(4), 3, int(1, 1))), "repeat of a count out of bounds");
    assert_eq!(fixture.misfit(several(constant(-1), 3, int(1, 1))), "repeat of a count out of bounds");
    for (spec, refused) in [
        (several(constant("x"), 3, int(1, 1)), "count: must be a number, not text"),
        (several(constant(1), 0, int(1, 1)), "count_max: must be 1 to 1000, got 0"),
        (several(constant(1), 1_001, int(1, 1)), "count_max: must be 1 to 1000, got 1001"),
        (fields(constant(1), 3, int(1, 1), int(1, 1)), "key: must be text, not an int"),
        (
            several(constant(1), 3, json!({"kind": "new_key", "collection": 0})),
            "of: must not take new records",
        ),
        (several(constant(1), 3, json!({"kind": "cell", "table": 0, "column": 0})), "rows in turn"),
        (json!({"kind": "item", "level": 0, "path": []}), "level: must be below 0, got 0"),
        (json!({"kind": "map", "over": constant(1), "of": constant(1)}), "over: must be a list, not an int"),
    ] {
        let said = fixture.refused(spec);
        assert!(said.contains(refused), "{said} is not {refused}");
    }
    let random = world(&[], true, articles(), 3).unwrap();
    let fixture = Fixture { world: random, ..Fixture::new(&[]) };
    let skus = fixture.value(several(constant(40), 40, json!({"kind": "cell", "table": 0, "column": 0})));
    assert!(
        ["a", "b", "c"].iter().all(|sku| skus.as_array().unwrap().contains(&Bson::String((*sku).into())))
    );
}

#[test]
fn documents_of_drawn_keys_have_each_once() {
    let fixture = Fixture::new(&[]);
    let key = calculate("concat", &[constant("k"), int(0, 4)]);
    for index in 0..100 {
        let made = fixture.at(fields(constant(9), 9, key.clone(), int(0, 9)), index);
        let made = made.as_document().unwrap();
        assert!((1..=5).contains(&made.len()));
        for (name, value) in made {
            assert!(name.starts_with('k') && name.len() == 2);
            assert!((0..=9).contains(&value.as_i32().unwrap()));
        }
    }
    assert_eq!(fixture.value(fields(constant(3), 3, constant("x"), constant("y"))), doc! {"x": "y"}.into());
    assert_eq!(
        fixture.misfit(fields(constant(1), 1, constant("a\0b"), constant(1))),
        "repeat of a key with a NUL"
    );
    assert_eq!(fixture.misfit(fields(constant(1), 1, constant(Bson::Null), constant(1))), "repeat of null");
}

#[test]
fn a_map_makes_a_value_of_each_element() {
    let fixture = Fixture::new(&[
        ("lines", list(&[doc! {"sku": "a", "count": 2}.into(), doc! {"sku": "b", "count": 3}.into()])),
        ("factor", int(10, 10)),
    ]);
    let item = |level: u32, path: &[&str]| json!({"kind": "item", "level": level, "path": path});
    let made = fixture.value(json!({"kind": "map", "over": named(0), "of": {"kind": "document", "fields": [
        {"name": "sku", "value": item(0, &["sku"])},
        {"name": "total", "value": calculate("multiply", &[item(0, &["count"]), named(1)])},
        {"name": "none", "value": item(0, &["x"])},
    ]}}));
    let expected = [
        doc! {"sku": "a", "total": 20, "none": Bson::Null}.into(),
        doc! {"sku": "b", "total": 30, "none": Bson::Null}.into(),
    ];
    assert_eq!(made, Bson::Array(expected.to_vec()));
    let rows =
        list(&[Bson::Array(vec![1.into(), 2.into()]), Bson::Array(vec![]), Bson::Array(vec![3.into()])]);
    let inner = json!({"kind": "map", "over": item(0, &[]), "of": {"kind": "list", "items": [
        item(0, &[]), item(1, &["0"]),
    ]}});
    let nested = fixture.value(json!({"kind": "map", "over": rows, "of": inner}));
    let pair = |a: i32, b: i32| Bson::Array(vec![a.into(), b.into()]);
    assert_eq!(
        nested,
        Bson::Array(vec![
            Bson::Array(vec![pair(1, 1), pair(2, 1)]),
            Bson::Array(vec![]),
            Bson::Array(vec![pair(3, 3)])
        ])
    );
    let drawn = numbers(&fixture.value(json!({"kind": "map", "over": named(0), "of": int(0, i32::MAX)})));
    assert_ne!(drawn[0], drawn[1], "what stands in it is drawn anew");
    let city = json!({"kind": "saved", "slot": 0});
    assert_eq!(fixture.misfit(json!({"kind": "map", "over": city, "of": item(0, &[])})), "map of text");
    let nothing = json!({"kind": "saved", "slot": 1});
    assert_eq!(fixture.value(json!({"kind": "map", "over": nothing, "of": item(0, &[])})), Bson::Null);
    let long = list(&vec![Bson::Int32(1); 1_001]);
    let said = fixture.misfit(json!({"kind": "map", "over": long, "of": item(0, &[])}));
    assert_eq!(said, "map of a list of more than 1000 elements");
}

#[test]
fn elements_are_picked_by_their_place() {
    let id = bson::oid::ObjectId::from_bytes([200, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    let bytes = Bson::Binary(bson::Binary { subtype: bson::spec::BinarySubtype::Uuid, bytes: vec![9; 16] });
    let fixture = Fixture::new(&[
        ("at", int(1, 1)),
        ("list", json!({"kind": "list", "items": [int(4, 4), int(5, 5)]})),
    ]);
    let letters = list(&["a".into(), "b".into(), "c".into()]);
    for (of, at, found) in [
        (letters.clone(), constant(0), Bson::String("a".into())),
        (letters.clone(), named(0), Bson::String("b".into())),
        (letters.clone(), constant(-1), Bson::String("c".into())),
        (letters.clone(), constant(3), Bson::Null),
        (letters.clone(), constant(-4), Bson::Null),
        (letters, constant(Bson::Null), Bson::Null),
        (named(1), named(0), Bson::Int32(5)),
        (named(1), constant(-2), Bson::Int32(4)),
        (named(1), constant(2), Bson::Null),
        (constant(Bson::ObjectId(id)), constant(0), Bson::Int32(200)),
        (constant(bytes), constant(15), Bson::Int32(9)),
        (json!({"kind": "saved", "slot": 1}), constant(0), Bson::Null),
    ] {
        assert_eq!(fixture.value(calculate("element", &[of.clone(), at.clone()])), found, "{of} {at}");
    }
    let city = json!({"kind": "saved", "slot": 0});
    assert_eq!(fixture.misfit(calculate("element", &[city, constant(0)])), "element of text");
    let said = fixture.refused(calculate("element", &[constant("x"), constant(0)]));
    assert!(said.contains("of.0: element takes a list, binary or an object id, not text"), "{said}");
}

#[test]
fn texts_are_joined_trimmed_and_cut_into_parts() {
    let fixture = Fixture::new(&[("city", json!({"kind": "saved", "slot": 0})), ("three", int(3, 3))]);
    let text = |text: &str| Bson::String(text.into());
    let texts = |texts: &[&str]| Bson::Array(texts.iter().map(|each| text(each)).collect());
    let mixed = json!({"kind": "list", "items": [named(0), named(1), constant(true), constant(0.5)]});
    for (operator, of, expected) in [
        ("join", vec![mixed, constant(", ")], text("Rom, 3, true, 0.5")),
        ("join", vec![list(&[]), constant("-")], text("")),
        ("join", vec![list(&["a".into(), Bson::Null]), constant("-")], Bson::Null),
        ("join", vec![json!({"kind": "saved", "slot": 1}), constant("-")], Bson::Null),
        ("trim", vec![constant(" \t武汉 市\u{3000}\n")], text("武汉 市")),
        ("trim", vec![constant("  ")], text("")),
        ("trim", vec![named(0)], text("Rom")),
        ("ngrams", vec![constant("Rom"), constant(2), constant(9)], texts(&["Ro", "om", "Rom"])),
        ("ngrams", vec![named(0), constant(1), constant(2)], texts(&["R", "o", "m", "Ro", "om"])),
        ("ngrams", vec![constant("ab 武汉市"), constant(2), constant(2)], texts(&["ab", "武汉", "汉市"])),
        ("ngrams", vec![constant("ab"), constant(3), constant(9)], texts(&[])),
        ("ngrams", vec![constant(Bson::Null), constant(3), constant(9)], Bson::Null),
    ] {
        assert_eq!(fixture.value(calculate(operator, &of)), expected, "{operator} {of:?}");
    }
    let nested = json!({"kind": "list", "items": [constant(doc! {}), named(0)]});
    assert_eq!(fixture.misfit(calculate("join", &[nested, constant("-")])), "join of a document");
    let said = fixture.refused(calculate("ngrams", &[constant("abc"), constant(0), constant(2)]));
    assert_eq!(said, "of: ngrams of a length that is none");
    let long = calculate("ngrams", &[constant("x".repeat(3_000)), constant(1), constant(3_000)]);
    assert_eq!(fixture.refused(long), "of: ngrams of parts of more than 1 MiB");
}

#[test]
fn numbers_and_dates_lie_between_two_others() {
    let fixture = Fixture::new(&[("low", int(3, 3)), ("high", int(6, 6))]);
    let between = |low: Json, high: Json, share: f64| calculate("between", &[low, high, constant(share)]);
    let date = |unix_ms: i64| Bson::DateTime(bson::DateTime::from_millis(unix_ms));
    for (low, high, share, found) in [
        (named(0), named(1), 0.0, Bson::Int32(3)),
        (named(0), named(1), 0.25, Bson::Int32(4)),
        (named(0), named(1), 0.999, Bson::Int32(6)),
        (named(0), constant(i64::MAX), 0.0, Bson::Int64(3)),
        (constant(i64::MIN), constant(i64::MAX), 0.5, Bson::Int64(0)),
        (named(0), constant(4.0), 0.5, Bson::Double(3.5)),
        (json!({"kind": "now"}), constant(date(NOW + 9)), 0.5, date(NOW + 5)),
        (constant(Bson::Null), named(0), 0.5, Bson::Null),
    ] {
        assert_eq!(fixture.value(between(low.clone(), high.clone(), share)), found, "{low} {high} {share}");
    }
    assert_eq!(
        fixture.misfit(between(named(1), named(0), 0.5)),
        "between of a range that ends before it begins"
    );
    assert_eq!(
        fixture.misfit(between(named(1), json!({"kind": "now"}), 0.5)),
        "between of numbers and dates"
    );
    for (of, found) in [
        (named(0), Bson::Int32(3)),
        (constant(-3), Bson::Int32(3)),
        (constant(i32::MIN), Bson::Int64(1 << 31)),
        (constant(i64::MIN), Bson::Double((1_u64 << 63) as f64)),
        (constant(-0.5), Bson::Double(0.5)),
        (constant(Bson::Null), Bson::Null),
    ] {
        assert_eq!(fixture.value(calculate("abs", std::slice::from_ref(&of))), found, "{of}");
    }
}

#[test]
fn dates_are_moved_and_taken_apart_by_the_calendar() {
    let fixture = Fixture::new(&[("two", int(2, 2))]);
    let now = json!({"kind": "now"});
    let date = |unix_ms| Bson::DateTime(bson::DateTime::from_millis(unix_ms));
    for (operator, of, expected) in [
        // 2024-02-28T12:34:56.789Z
        (
            "date_add",
            vec![now.clone(), named(0), constant("month")],
            date(NOW + 61 * 86_400_000 - 86_400_000),
        ),
        ("date_add", vec![now.clone(), constant(-1), constant("day")], date(NOW - 86_400_000)),
        ("date_add", vec![now.clone(), constant(Bson::Null), constant("day")], Bson::Null),
        ("date_ceil", vec![now.clone(), constant("day")], date(1_709_164_800_000)),
        ("date_ceil", vec![constant(date(1_709_164_800_000)), constant("day")], date(1_709_164_800_000)),
        ("date_part", vec![now.clone(), constant("minute")], Bson::Int32(34)),
        ("date_part", vec![constant(Bson::Null), constant("minute")], Bson::Null),
    ] {
        assert_eq!(fixture.value(calculate(operator, &of)), expected, "{operator} {of:?}");
    }
    for (operator, word, refused) in [
        ("date_ceil", "fortnight", "of.1: date_ceil takes second, minute"),
        ("date_part", "fortnight", "of.1: date_part takes year, quarter"),
    ] {
        let said = fixture.refused(calculate(operator, &[now.clone(), constant(word)]));
        assert!(said.contains(refused) && said.ends_with("as a constant"), "{said}");
    }
    let said = fixture.refused(calculate("date_add", &[now, constant(1), constant("fortnight")]));
    assert!(said.starts_with("of.2: date_add takes second"), "{said}");
}
