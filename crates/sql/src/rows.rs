//! Owns rows as SQL has them: lists of values and documents of a load, behind `VALUES`.

use brimline_bson::{Element, Reader, Value};
use brimline_formats::write::{append_date, has_plain_year, plain};

use crate::settings::{Bulk, Column, ColumnType};

/// How a protocol writes a value into a statement.
pub trait Literals {
    /// Appends `value` as a literal.
    ///
    /// # Errors
    /// When it has none.
    fn append(&self, value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), String>;

    /// Appends text as a literal: `fill` appends the text itself.
    fn append_text(&self, out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>));

    /// The quote of names.
    const NAME_QUOTE: u8;
}

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A value.
    Value(Value<'a>),
    /// The same as JSON.
    Json(Value<'a>),
}

/// Appends a name in quotes.
pub fn append_name(name: &str, quote: u8, out: &mut Vec<u8>) {
    out.push(quote);
    for &byte in name.as_bytes() {
        if byte == quote {
            out.push(byte);
        }
        out.push(byte);
    }
    out.push(quote);
}

/// Appends `table (column, …)` of a load.
pub fn append_table(bulk: &Bulk, quote: u8, out: &mut Vec<u8>) {
    append_name(&bulk.table, quote, out);
    out.extend_from_slice(b" (");
    for (index, column) in bulk.columns.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        append_name(&column.name, quote, out);
    }
    out.push(b')');
}

/// Appends an INSERT of a load's documents, a BSON array; how many there are.
///
/// # Errors
/// When the documents are none, or a value has no literal.
pub fn append_insert(
    bulk: &Bulk,
    documents: &[u8],
    literals: &impl Literals,
    out: &mut Vec<u8>,
) -> Result<u64, String> {
    out.extend_from_slice(b"INSERT INTO ");
    append_table(bulk, quote_of(literals), out);
    out.extend_from_slice(b" VALUES ");
    append_all(documents, out, |document, out| {
        let Value::Document(document) = document else {
            return Err("a row of a load is no document".to_owned());
        };
        for (index, column) in bulk.columns.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            match cell(document, column) {
                Cell::Value(value) => literals.append(&value, out)?,
                Cell::Json(value) => literals.append_text(out, |out| plain::append_json(&value, out)),
            }
        }
        Ok(())
    })
}

fn quote_of<L: Literals>(_: &L) -> u8 {
    L::NAME_QUOTE
}

/// Appends `rows`, a BSON array of arrays, as `(…),(…)`; how many there are.
///
/// # Errors
/// When they are none, or a value has no literal.
pub fn append_rows(rows: &[u8], literals: &impl Literals, out: &mut Vec<u8>) -> Result<u64, String> {
    append_all(rows, out, |row, out| {
        let Value::Array(values) = row else { return Err("a row is no list".to_owned()) };
        let mut is_first = true;
        each(values, |value| {
            if !is_first {
                out.push(b',');
            }
            is_first = false;
            literals.append(&value, out)
        })?;
        if is_first { Err("a row is empty".to_owned()) } else { Ok(()) }
    })
}

fn append_all(
    array: &[u8],
    out: &mut Vec<u8>,
    mut append: impl FnMut(Value<'_>, &mut Vec<u8>) -> Result<(), String>,
) -> Result<u64, String> {
    let mut count = 0;
    each(array, |value| {
        out.extend_from_slice(if count == 0 { b"(" } else { b",(" });
        count += 1;
        append(value, out)?;
        out.push(b')');
        Ok(())
    })?;
    if count == 0 { Err("there are no rows".to_owned()) } else { Ok(count) }
}

/// Calls `visit` with each value of a BSON array.
///
/// # Errors
/// When the bytes are none, or `visit` refuses.
pub fn each<'a>(
    array: &'a [u8],
    mut visit: impl FnMut(Value<'a>) -> Result<(), String>,
) -> Result<(), String> {
    let unreadable = |error: brimline_bson::ReadError| error.to_string();
    let mut elements = Reader::new(array).map_err(unreadable)?;
    while let Some(Element { value, .. }) = elements.next_element().map_err(unreadable)? {
        visit(value)?;
    }
    Ok(())
}

/// What a document has for `column`; null where it has nothing.
pub fn cell<'a>(document: &'a [u8], column: &Column) -> Cell<'a> {
    let Some(path) = &column.path else { return Cell::Json(Value::Document(document)) };
    let mut value = Value::Document(document);
    for name in path {
        let (Value::Document(inner) | Value::Array(inner)) = value else { return Cell::Value(Value::Null) };
        let found = Reader::new(inner).and_then(|reader| reader.find(name));
        let Ok(Some(found)) = found else { return Cell::Value(Value::Null) };
        value = found;
    }
    match (column.column_type, value) {
        (ColumnType::Json, Value::Null) => Cell::Value(Value::Null),
        (ColumnType::Json, value) => Cell::Json(value),
        // YCSB's fields are bytes that are text.
        (ColumnType::Text, Value::Binary(bytes, _)) => Cell::Value(Value::String(bytes)),
        (_, value) => Cell::Value(value),
    }
}

/// Appends text in single quotes, those within doubled, and backslashes too where they escape. `fill` appends the text itself.
pub fn append_quoted(backslash_escapes: bool, out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'\'');
    let start = out.len();
    fill(out);
    let is_special = |byte: u8| byte == b'\'' || backslash_escapes && byte == b'\\';
    let specials = out[start..].iter().filter(|&&byte| is_special(byte)).count();
    if specials > 0 {
        // From behind, so that no second buffer is needed.
        let mut from = out.len();
        out.resize(from + specials, 0);
        let mut to = out.len();
        while to > from {
            from -= 1;
            to -= 1;
            let byte = out[from];
            out[to] = byte;
            if is_special(byte) {
                to -= 1;
                out[to] = byte;
            }
        }
    }
    out.push(b'\'');
}

/// Appends `2024-01-31 12:00:00.123`, in UTC; what has no year of four digits as its milliseconds.
pub fn append_date_time(unix_ms: i64, out: &mut Vec<u8>) {
    const T: usize = 10;
    if !has_plain_year(unix_ms) {
        return brimline_formats::write::append_integer(unix_ms, out);
    }
    let start = out.len();
    append_date(unix_ms, true, out);
    out[start + T] = b' ';
    out.pop();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::settings::Form;

    struct Plain;

    impl Literals for Plain {
        const NAME_QUOTE: u8 = b'"';

        fn append(&self, value: &Value<'_>, out: &mut Vec<u8>) -> Result<(), String> {
            match value {
                Value::Null => out.extend_from_slice(b"NULL"),
                Value::String(text) => self.append_text(out, |out| out.extend_from_slice(text)),
                value => plain::append_text(value, out),
            }
            Ok(())
        }

        fn append_text(&self, out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
            append_quoted(true, out, fill);
        }
    }

    fn array(values: bson::Bson) -> Vec<u8> {
        let bytes = bson::doc! { "v": values }.to_vec().unwrap();
        let Some(Value::Array(array)) = Reader::new(&bytes).unwrap().find("v").unwrap() else { panic!() };
        array.to_vec()
    }

    fn column(name: &str, path: Option<&str>, column_type: ColumnType) -> Column {
        let path = path.map(|path| path.split('.').map(str::to_owned).collect());
        Column { name: name.to_owned(), path, column_type }
    }

    #[test]
    fn documents_become_rows() {
        let columns = vec![
            column("id", Some("_id"), ColumnType::Bigint),
            column("ci\"ty", Some("a.city"), ColumnType::Text),
            column("tags", Some("tags"), ColumnType::Json),
            column("all", None, ColumnType::Json),
        ];
        let bulk = Bulk { table: "t".to_owned(), columns, form: Form::Rows };
        let documents =
            array(bson::bson!([{"_id": 1, "a": {"city": "O'Hare\\"}, "tags": ["x"]}, {"_id": 2, "a": 5}]));
        let mut out = Vec::new();
        assert_eq!(append_insert(&bulk, &documents, &Plain, &mut out), Ok(2));
        let expected = r#"INSERT INTO "t" ("id","ci""ty","tags","all") VALUES (1,'O''Hare\\','["x"]','{"_id":1,"a":{"city":"O''Hare\\\\"},"tags":["x"]}'),(2,NULL,NULL,'{"_id":2,"a":5}')"#;
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn bytes_in_a_column_of_text_are_its_text() {
        let columns = vec![
            column("field0", Some("field0"), ColumnType::Text),
            column("raw", Some("field0"), ColumnType::Bytes),
        ];
        let bulk = Bulk { table: "usertable".to_owned(), columns, form: Form::Rows };
        let field = bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: b"it's".to_vec() };
        let mut out = Vec::new();
        let documents = array(bson::bson!([{ "field0": field }]));
        assert_eq!(append_insert(&bulk, &documents, &Plain, &mut out), Ok(1));
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"INSERT INTO "usertable" ("field0","raw") VALUES ('it''s',aXQncw==)"#
        );
    }

    #[test]
    fn rows_are_lists_of_lists() {
        let mut out = Vec::new();
        assert_eq!(append_rows(&array(bson::bson!([[1, "a"], [null, "b"]])), &Plain, &mut out), Ok(2));
        assert_eq!(out, b"(1,'a'),(NULL,'b')");
        for rows in [bson::bson!([]), bson::bson!([1]), bson::bson!([[]])] {
            assert!(append_rows(&array(rows), &Plain, &mut Vec::new()).is_err());
        }
    }

    #[test]
    fn dates_are_those_of_sql() {
        let mut out = Vec::new();
        append_date_time(1, &mut out);
        assert_eq!(out, b"1970-01-01 00:00:00.001");
    }

    proptest! {
        #[test]
        fn quoted_text_is_read_back(text in "[a'\\\\é\\x00]{0,30}", backslash_escapes: bool) {
            let mut out = b"before".to_vec();
            append_quoted(backslash_escapes, &mut out, |out| out.extend_from_slice(text.as_bytes()));
            let quoted = String::from_utf8(out).unwrap();
            let inner = quoted.strip_prefix("before'").and_then(|rest| rest.strip_suffix('\'')).unwrap();
            let mut read = inner.replace("''", "'");
            if backslash_escapes {
                read = read.replace("\\\\", "\\");
            }
            prop_assert_eq!(read, text);
        }
    }
}
