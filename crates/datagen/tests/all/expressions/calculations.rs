//! What operators make of values, and of which they can't.

use super::{Fixture, NOW, calculate, constant, field, int, named};
use bson::Bson;
use serde_json::json;

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
        ("substring", vec![constant("abc"), constant(Bson::Null), constant(1)], Bson::Null),
        ("substring", vec![constant(Bson::Null), constant(0), constant(1)], Bson::Null),
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
        (
            calculate(
                "add",
                &[constant(Bson::Decimal128(bson::Decimal128::from_bytes([0; 16]))), constant(1)],
            ),
            "of.0: add takes numbers, not a decimal",
        ),
        (
            calculate("substring", &[constant("abc"), constant(-1), constant(1)]),
            "substring of a place that is none",
        ),
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
