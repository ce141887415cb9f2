//! Owns commands to a runner whose driver is an SQL database's: a statement, and its values or rows.

use brimline_bson::{Element, ElementType, Reader, Value, Writer};
use brimline_formats::write::{has_plain_year, plain};
use brimline_net::link::{Part, Request};
use brimline_sql::settings::Settings;
use brimline_sql::statement::{Chosen, Requests};
use brimline_wire::op_msg;

/// What ends the transaction of a step that failed.
const ROLLBACK: &str = "ROLLBACK";

/// An SQL database behind a driver: where it is, and the statements of the plan.
#[derive(Clone, Debug)]
pub struct Statements {
    /// The scheme of its address.
    pub scheme: String,
    /// Where it is, and what each connection sends first.
    pub settings: Settings,
    /// The statements of the plan's steps.
    pub requests: Requests,
    /// Most connections of the driver's pool.
    pub max_pool_size: u32,
}

impl Statements {
    /// Appends the message of `request`: `{statement, values}` of what is prepared, `{statement, rows}` of rows behind `VALUES`, and
    /// `{statement}` of what is sent as it is.
    ///
    /// # Errors
    /// When a value can't stand in its slot.
    pub fn append(&self, request: Request, values: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        match request.part {
            Part::Bulk => Err("a load goes without a driver".to_owned()),
            Part::Rollback => {
                append_rollback(out);
                Ok(())
            }
            Part::Main => match self.requests.choose(request.step, values)? {
                Chosen::Text(text) => {
                    append_plain(text, out);
                    Ok(())
                }
                Chosen::Prepared(number, values) => {
                    let text = &self.requests.prepared()[number].text;
                    append_with(text, out, |writer| append_values("values", values, writer))
                }
                Chosen::Rows(text, rows) => append_with(text, out, |writer| {
                    let array = writer.begin_array("rows");
                    let mut rows = reader(rows)?;
                    while let Some(Element { name, value }) = next(&mut rows)? {
                        let Value::Array(row) = value else { return Err("a row is no list".to_owned()) };
                        append_values(&String::from_utf8_lossy(name), reader(row)?, writer)?;
                    }
                    writer.end_document(array);
                    Ok(())
                }),
            },
        }
    }
}

/// Appends the message that ends a transaction, whether there is one or not.
pub fn append_rollback(out: &mut Vec<u8>) {
    append_plain(ROLLBACK, out);
}

fn append_plain(text: &str, out: &mut Vec<u8>) {
    op_msg::request(out, 0, |writer| writer.string("statement", text));
}

fn append_with(
    text: &str,
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Writer<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let mut outcome = Ok(());
    op_msg::request(out, 0, |writer| {
        writer.string("statement", text);
        outcome = fill(writer);
    });
    outcome
}

/// Appends an array of values as a driver is given them: what no driver has a type for is text, as brimline's own client sends it.
fn append_values(name: &str, mut values: Reader<'_>, writer: &mut Writer<'_>) -> Result<(), String> {
    let array = writer.begin_array(name);
    let mut place = 0;
    while let Some(Element { value, .. }) = next(&mut values)? {
        let name = place.to_string();
        place += 1;
        match value {
            Value::Boolean(value) => writer.boolean(&name, value),
            Value::Int32(value) => writer.int32(&name, value),
            Value::Int64(value) => writer.int64(&name, value),
            Value::Double(value) => writer.double(&name, value),
            Value::Binary(bytes, _) => writer.binary(&name, bytes),
            Value::DateTime(unix_ms) if has_plain_year(unix_ms) => writer.date_time(&name, unix_ms),
            Value::Other(
                ElementType::ObjectId | ElementType::Decimal128 | ElementType::Symbol | ElementType::Code,
                _,
            )
            | Value::String(_)
            | Value::DateTime(_)
            | Value::Document(_)
            | Value::Array(_) => {
                let mut text = Vec::new();
                plain::append_text(&value, &mut text);
                let text = String::from_utf8_lossy(&text);
                // A decimal is its digits, which a driver sends as a number.
                if matches!(value, Value::Other(ElementType::Decimal128, _)) {
                    let decimal = writer.begin_subdocument(&name);
                    writer.string("decimal", &text);
                    writer.end_document(decimal);
                } else {
                    writer.string(&name, &text);
                }
            }
            Value::Null | Value::Other(..) => writer.null(&name),
        }
    }
    writer.end_document(array);
    Ok(())
}

fn reader(bytes: &[u8]) -> Result<Reader<'_>, String> {
    Reader::new(bytes).map_err(|error| error.to_string())
}

fn next<'a>(reader: &mut Reader<'a>) -> Result<Option<Element<'a>>, String> {
    reader.next_element().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use brimline_net::protocol::Step;
    use brimline_sql::statement::{Mode, StatementSpec};
    use brimline_wire::op_msg::parse;

    use super::*;

    fn statements(steps: &[(&str, Mode, usize)]) -> Statements {
        let steps: Vec<_> = steps
            .iter()
            .map(|&(text, mode, slots)| Step {
                name: "s".to_owned(),
                request: StatementSpec { text: Some(text.to_owned()), texts: Vec::new(), mode },
                slots,
            })
            .collect();
        Statements {
            scheme: "mysql".to_owned(),
            settings: serde_json::from_str(r#"{"address": "h:1"}"#).unwrap(),
            requests: Requests::new(&steps).unwrap(),
            max_pool_size: 1,
        }
    }

    fn sent(of: &Statements, step: u16, part: Part, fill: impl FnOnce(&mut Writer<'_>)) -> serde_json::Value {
        let mut values = Vec::new();
        let mut writer = Writer::new(&mut values);
        let array = writer.begin_document();
        fill(&mut writer);
        writer.end_document(array);
        let mut out = Vec::new();
        of.append(Request { step, part }, &values, &mut out).unwrap();
        let mut json = Vec::new();
        plain::append_json(&Value::Document(parse(&out).unwrap().body), &mut json);
        serde_json::from_slice(&json).unwrap()
    }

    #[test]
    fn a_command_is_a_statement_with_what_its_slots_hold() {
        let of = statements(&[
            ("SELECT ?", Mode::Prepared, 5),
            ("BEGIN", Mode::Text, 0),
            ("INSERT INTO t VALUES", Mode::Rows, 1),
        ]);
        let prepared = sent(&of, 0, Part::Main, |writer| {
            writer.string("0", "北京");
            writer.int64("1", 7);
            writer.null("2");
            let document = writer.begin_subdocument("3");
            writer.int32("a", 1);
            writer.end_document(document);
            writer.object_id("4", [0xAB; 12]);
        });
        let id = "ab".repeat(12);
        let expected =
            serde_json::json!({"statement": "SELECT ?", "values": ["北京", 7, null, "{\"a\":1}", id]});
        assert_eq!(prepared, expected);
        assert_eq!(sent(&of, 1, Part::Main, |_| ()), serde_json::json!({"statement": "BEGIN"}));
        assert_eq!(sent(&of, 0, Part::Rollback, |_| ()), serde_json::json!({"statement": "ROLLBACK"}));
        let rows = sent(&of, 2, Part::Main, |writer| {
            let rows = writer.begin_array("0");
            for name in ["0", "1"] {
                let row = writer.begin_array(name);
                writer.boolean("0", true);
                writer.end_document(row);
            }
            writer.end_document(rows);
        });
        assert_eq!(rows, serde_json::json!({"statement": "INSERT INTO t VALUES", "rows": [[true], [true]]}));
    }

    #[test]
    fn what_is_no_statement_of_the_plan_is_refused() {
        let of = statements(&[("BEGIN", Mode::Text, 0)]);
        let empty = b"\x05\0\0\0\0";
        let tried = |step, part| of.append(Request { step, part }, empty, &mut Vec::new());
        assert!(tried(1, Part::Main).unwrap_err().contains("no such step"));
        assert!(tried(0, Part::Bulk).unwrap_err().contains("without a driver"));
    }
}
