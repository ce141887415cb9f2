//! Owns a row as its columns describe it, into the view of a reply.

use brimline_sql::view::Row;

use crate::fields::Fields;

/// Types by their numbers (`pg_type`).
mod types {
    pub const BOOL: u32 = 16;
    pub const BYTEA: u32 = 17;
    pub const INT8: u32 = 20;
    pub const INT2: u32 = 21;
    pub const INT4: u32 = 23;
    pub const OID: u32 = 26;
    pub const JSON: u32 = 114;
    pub const FLOAT4: u32 = 700;
    pub const FLOAT8: u32 = 701;
    pub const DATE: u32 = 1082;
    pub const TIMESTAMP: u32 = 1114;
    pub const TIMESTAMPTZ: u32 = 1184;
    pub const NUMERIC: u32 = 1700;
    pub const JSONB: u32 = 3802;
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    name: Vec<u8>,
    oid: u32,
    is_text: bool,
}

/// Reads the description of a row; `None` when it is cut.
pub fn read_columns(body: &[u8], columns: &mut Vec<Column>) -> Option<()> {
    let mut fields = Fields(body);
    for _ in 0..fields.u16()? {
        let name = fields.text()?.to_vec();
        // Table and number of the column.
        fields.bytes(6)?;
        let oid = fields.u32()?;
        // Size and modifier.
        fields.bytes(6)?;
        columns.push(Column { name, oid, is_text: fields.u16()? == 0 });
    }
    fields.0.is_empty().then_some(())
}

/// Writes a row; ends where it is cut.
pub fn write(columns: &[Column], body: &[u8], out: &mut Row<'_>) {
    let mut fields = Fields(body);
    let Some(count) = fields.u16() else { return };
    for column in columns.iter().take(usize::from(count)) {
        match fields.u32().map(u32::cast_signed) {
            Some(-1) => out.null(&column.name),
            Some(length) => {
                let length = usize::try_from(length).ok();
                let Some(text) = length.and_then(|length| fields.bytes(length)) else { return };
                column.write(text, out);
            }
            None => return,
        }
    }
}

impl Column {
    fn write(&self, text: &[u8], out: &mut Row<'_>) {
        let name = &self.name;
        match self.oid {
            _ if !self.is_text => out.binary(name, text),
            types::BOOL => out.boolean(name, text == b"t"),
            types::INT2 | types::INT4 => out.parsed(name, text, Row::int32),
            types::INT8 | types::OID => out.parsed(name, text, Row::int64),
            types::FLOAT4 | types::FLOAT8 => out.parsed(name, text, Row::double),
            types::NUMERIC => out.decimal(name, text),
            types::DATE | types::TIMESTAMP | types::TIMESTAMPTZ => out.date(name, text),
            types::JSON | types::JSONB => out.json(name, text),
            types::BYTEA => match bytes(text) {
                Some(bytes) => out.binary(name, &bytes),
                None => out.text(name, text),
            },
            _ => out.text(name, text),
        }
    }
}

/// The bytes that `\x…` writes.
fn bytes(text: &[u8]) -> Option<Vec<u8>> {
    let (pairs, []) = text.strip_prefix(b"\\x")?.as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    pairs.iter().map(|&[high, low]| Some((digit(high)? << 4 | digit(low)?) as u8)).collect()
}

#[cfg(test)]
mod tests {
    use brimline_sql::view::append_view;

    use super::*;

    #[test]
    fn values_have_the_types_of_their_columns() {
        let row: [(&str, u32, Option<&[u8]>); 13] = [
            ("bool", types::BOOL, Some(b"t")),
            ("int", types::INT4, Some(b"-2")),
            ("long", types::INT8, Some(b"-3")),
            ("double", types::FLOAT8, Some(b"0.25")),
            ("infinite", types::FLOAT8, Some(b"-Infinity")),
            ("decimal", types::NUMERIC, Some(b"1.50")),
            ("text", 25, Some("é".as_bytes())),
            ("bytes", types::BYTEA, Some(b"\\x00ff")),
            ("json", types::JSONB, Some(b"{\"a\": [1]}")),
            ("at", types::TIMESTAMPTZ, Some(b"2024-02-29 12:00:00.125+00")),
            ("day", types::DATE, Some(b"2024-02-29")),
            ("never", types::TIMESTAMP, Some(b"infinity")),
            ("null", types::INT4, None),
        ];
        let mut columns = Vec::new();
        let mut body = (row.len() as u16).to_be_bytes().to_vec();
        for (name, oid, text) in row {
            columns.push(Column { name: name.into(), oid, is_text: true });
            let length = text.map_or(-1, |text| text.len() as i32);
            body.extend_from_slice(&length.to_be_bytes());
            body.extend_from_slice(text.unwrap_or_default());
        }
        let mut out = Vec::new();
        append_view(&mut out, 0, 1, Some(|row: &mut Row<'_>| write(&columns, &body, row)));
        let view = bson::Document::from_reader(out.as_slice()).unwrap();
        let date = |text: &str| bson::DateTime::parse_rfc3339_str(text).unwrap();
        let expected = bson::doc! {
            "bool": true, "int": -2, "long": -3_i64, "double": 0.25, "infinite": f64::NEG_INFINITY,
            "decimal": "1.50".parse::<bson::Decimal128>().unwrap(), "text": "é",
            "bytes": bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: vec![0, 255] },
            "json": {"a": [1]}, "at": date("2024-02-29T12:00:00.125Z"), "day": date("2024-02-29T00:00:00Z"),
            "never": "infinity", "null": null,
        };
        assert_eq!(view.get_array("rows").unwrap()[0].as_document().unwrap(), &expected);
    }
}
