//! Whatever a plan or a table holds, it is an error and never a panic.

use brimline_datagen::OpRng;

use super::{Fixture, articles, calculate, constant, element, field, int, named, world};
use bson::{Bson, doc};
use serde_json::{Value as Json, json};

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
    // Each value is prepared as often as it is referred to: with a first one that costs little this would take 20 s.
    let dear = json!({"kind": "repeated", "count": 100_000, "of": int(0, 1)});
    let parts: &dyn Fn(u32) -> Json = &|number| match number {
        0 => document(calculate("element", &[dear.clone(), constant(0)])),
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

/// Documents of an insert may be larger together than one may be.
#[test]
fn what_no_document_can_hold_is_refused() {
    let fixture = Fixture::new(&[]);
    let binary = |length: u32| json!({"kind": "generator", "spec": {"kind": "binary", "length": {"kind": "constant", "length": length}}});
    let document = |length| {
        json!({"kind": "document", "fields": [
            {"name": "a", "value": binary(length)}, {"name": "b", "value": binary(length)},
        ]})
    };
    assert_eq!(fixture.refused(binary(1 << 24)), ": reaches 16777221 bytes, more than MongoDB's 16777216");
    let many = json!({"kind": "list", "items": [document(1 << 22), document(1 << 22), document(1 << 23)]});
    assert_eq!(fixture.refused(many), "items.2: reaches 16777237 bytes, more than MongoDB's 16777216");
    let many = json!({"kind": "repeated", "count": 5, "of": document(1 << 22)});
    assert!(fixture.prepare(many).unwrap().bytes_max() > 5 << 23);
}

/// What a reply brings is a value by its type and length, and whatever else a server likes.
#[test]
fn hostile_replies_are_never_a_panic() {
    let mut fixture = Fixture::new(&[]);
    let saved = json!({"kind": "saved", "slot": 0});
    let mut expressions: Vec<Json> =
        ["add", "min", "concat", "divide", "modulo", "date_add", "element", "join"]
            .into_iter()
            .map(|operator| calculate(operator, &[saved.clone(), saved.clone()]))
            .collect();
    for operator in ["lower", "text", "int", "long", "double", "round", "abs", "trim"] {
        expressions.push(calculate(operator, std::slice::from_ref(&saved)));
    }
    expressions.push(calculate("substring", &[saved.clone(), constant(1), constant(2)]));
    expressions.push(calculate("ngrams", &[saved.clone(), constant(1), constant(2)]));
    expressions.push(calculate("between", &[saved.clone(), saved.clone(), constant(0.5)]));
    expressions.push(calculate("date_part", &[saved.clone(), constant("day_of_year")]));
    expressions.push(json!({"kind": "several", "count": saved, "count_max": 9, "key": saved, "of": saved}));
    let element = json!({"kind": "item", "level": 0, "path": ["a"]});
    expressions
        .push(json!({"kind": "map", "over": saved, "of": {"kind": "list", "items": [element, saved]}}));
    expressions.push(json!({"kind": "saved", "slot": 0, "path": ["a", "0"]}));
    expressions.push(json!({"kind": "list", "items": [saved]}));
    let expressions: Vec<_> = expressions.into_iter().map(|spec| fixture.prepare(spec).unwrap()).collect();
    let mut rng = OpRng::new(3, 1, 0);
    for round in 0..20_000_u64 {
        let mut bytes: Vec<u8> = (0..rng.below(24)).map(|_| rng.next_u64() as u8).collect();
        if let Some(length) = bytes.first_chunk_mut::<4>() {
            *length = (rng.below(30) as u32).to_le_bytes();
        }
        let type_byte = if round % 8 == 0 { rng.next_u64() as u8 } else { 1 + rng.below(0x13) as u8 };
        fixture.saved.set(0, type_byte, &bytes);
        for expression in &expressions {
            _ = fixture.put(expression, round);
        }
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
