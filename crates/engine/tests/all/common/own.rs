//! Operations of the person's own as a plan says them.

#![allow(clippy::needless_pass_by_value, reason = "parts of JSON are put together")]

use serde_json::json;

/// A shop: looks, orders of three steps, and a report with a load of its own.
pub fn work() -> serde_json::Value {
    json!({
        "kind": "operations",
        "collections": [{"name": "orders", "database": "shop", "collection": "orders", "data": {
            "record_count": 1000, "insert_start": 0, "field_count": 1, "field_length": {"kind": "constant", "length": 20},
            "field_name_prefix": "field", "key_prefix": "order", "insert_order": "ordered", "zero_padding": 8}}],
        "values": [
            {"name": "number", "value": {"kind": "generator", "spec": {"kind": "int", "min": 1, "max": 100}}},
            {"name": "twice", "value": {"kind": "calculate", "operator": "multiply", "of":
                [{"kind": "value", "index": 0}, {"kind": "bson", "hex": "1002000000"}]}}],
        "saved": ["city"],
        "operations": [
            {"name": "look", "weight": 0.75, "steps": [step("find orders", "find", "read", "query", json!([
                field("find", text("orders")),
                field("filter", document(json!([field("number", json!({"kind": "value", "index": 1}))]))),
                field("limit", json!({"kind": "bson", "hex": "1014000000"}))]))]},
            {"name": "order", "weight": 0.25, "steps": [
                step("find customers", "find", "read", "query", json!([field("find", text("customers"))])),
                step("insert orders", "insert", "write", "insert", json!([
                    field("insert", text("orders")),
                    field("documents", json!({"kind": "list", "items": [{"kind": "new_record", "collection": 0}]}))])),
                step("update stock", "update", "write", "update", json!([
                    field("update", text("stock")),
                    field("updates", json!({"kind": "list", "items": [document(json!([
                        field("q", document(json!([field("_id", json!({"kind": "saved", "slot": 0}))]))),
                        field("u", document(json!([field("at", json!({"kind": "now"}))])))]))]}))]))]},
            {"name": "report", "weight": 0.0, "steps": [step("aggregate orders", "aggregate", "read", "command", json!([
                field("aggregate", text("orders")), field("pipeline", json!({"kind": "list", "items": []})),
                field("cursor", document(json!([])))]))]}],
        "loads": [{"operations": [2], "pacer": {"kind": "constant", "rate_ops_per_s": 100.0}, "connections": 1}]
    })
}

pub fn field(name: &str, value: serde_json::Value) -> serde_json::Value {
    json!({"name": name, "value": value})
}

pub fn document(fields: serde_json::Value) -> serde_json::Value {
    json!({"kind": "document", "fields": fields})
}

/// A text as the constant that a plan has.
pub fn text(words: &str) -> serde_json::Value {
    let mut bytes = vec![2];
    bytes.extend_from_slice(&(words.len() as u32 + 1).to_le_bytes());
    bytes.extend_from_slice(words.as_bytes());
    bytes.push(0);
    let hex = bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    json!({"kind": "bson", "hex": hex})
}

pub fn step(
    name: &str,
    command: &str,
    access: &str,
    counter: &str,
    body: serde_json::Value,
) -> serde_json::Value {
    json!({"name": name, "command": command, "database": "shop", "access": access, "counter": counter, "statements": 1,
           "body": document(body), "cursor": access == "read"})
}
