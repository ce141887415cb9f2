//! Owns a row as its columns define it, as text or binary, into the view of a reply.

use std::io::Write;

use brimline_sql::view::Row;

use crate::fields::Fields;

/// Number of the character set of bytes.
const BINARY: u16 = 63;
const UNSIGNED: u16 = 0x20;
const NULL: u8 = 0xfb;
/// Which attribute of a definition names its format.
const FORMAT: u8 = 1;

/// Types of columns.
mod types {
    pub const DECIMAL: u8 = 0;
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
    pub const BIT: u8 = 16;
    pub const JSON: u8 = 245;
    pub const NEW_DECIMAL: u8 = 246;
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    name: Vec<u8>,
    kind: u8,
    character_set: u16,
    is_unsigned: bool,
    is_json: bool,
}

impl Column {
    /// Reads a definition, which names a format where `has_formats`; `None` when it is cut.
    pub fn read(payload: &[u8], has_formats: bool) -> Option<Self> {
        let mut fields = Fields(payload);
        // Catalogue, database, table, table of origin.
        for _ in 0..4 {
            fields.text()?;
        }
        let name = fields.text()?.to_vec();
        fields.text()?;
        let is_json = has_formats && {
            let mut attributes = Fields(fields.text()?);
            let mut is_json = false;
            while let Some(kind) = attributes.u8() {
                let text = attributes.text()?;
                is_json |= kind == FORMAT && text == b"json";
            }
            is_json
        };
        fields.integer()?;
        let (character_set, _, kind, flags) = (fields.u16()?, fields.u32()?, fields.u8()?, fields.u16()?);
        let is_json = is_json || kind == types::JSON;
        Some(Self { name, kind, character_set, is_unsigned: flags & UNSIGNED != 0, is_json })
    }
}

/// Writes a row whose values are text; ends where the row is cut.
pub fn write_text(columns: &[Column], row: &[u8], out: &mut Row<'_>) {
    let mut fields = Fields(row);
    for column in columns {
        if fields.0.first() == Some(&NULL) {
            fields.0 = &fields.0[1..];
            out.null(&column.name);
            continue;
        }
        let Some(text) = fields.text() else { return };
        column.write_text(text, out);
    }
}

/// Writes a row whose values are binary; ends where the row is cut.
pub fn write_binary(columns: &[Column], row: &[u8], out: &mut Row<'_>) {
    // Two bits before the first column's are not used.
    const OFFSET: usize = 2;
    let mut fields = Fields(row);
    let nulls = fields.u8().and_then(|_| fields.bytes((columns.len() + OFFSET).div_ceil(8)));
    let Some(nulls) = nulls else { return };
    for (index, column) in columns.iter().enumerate() {
        let bit = index + OFFSET;
        if nulls[bit / 8] >> (bit % 8) & 1 == 1 {
            out.null(&column.name);
        } else if column.write_binary(&mut fields, out).is_none() {
            return;
        }
    }
}

impl Column {
    fn write_text(&self, text: &[u8], out: &mut Row<'_>) {
        let name = &self.name;
        match self.kind {
            _ if self.is_json => out.json(name, text),
            types::TINY | types::SHORT | types::INT24 | types::YEAR => out.parsed(name, text, Row::int32),
            types::LONG if !self.is_unsigned => out.parsed(name, text, Row::int32),
            types::LONG => out.parsed(name, text, Row::int64),
            types::LONGLONG if std::str::from_utf8(text).is_ok_and(|text| text.parse::<i64>().is_ok()) => {
                out.parsed(name, text, Row::int64);
            }
            types::FLOAT | types::DOUBLE => out.parsed(name, text, Row::double),
            types::DECIMAL | types::NEW_DECIMAL | types::LONGLONG => out.decimal(name, text),
            types::DATE | types::DATETIME | types::TIMESTAMP => out.date(name, text),
            types::NULL => out.null(name),
            types::TIME => out.text(name, text),
            types::BIT => out.binary(name, text),
            _ if self.character_set == BINARY => out.binary(name, text),
            _ => out.text(name, text),
        }
    }

    fn write_binary(&self, fields: &mut Fields<'_>, out: &mut Row<'_>) -> Option<()> {
        let name = &self.name;
        match (self.kind, self.is_unsigned) {
            (types::TINY, false) => out.int32(name, i32::from(fields.u8()?.cast_signed())),
            (types::TINY, true) => out.int32(name, i32::from(fields.u8()?)),
            (types::SHORT, false) => out.int32(name, i32::from(fields.u16()?.cast_signed())),
            (types::SHORT | types::YEAR, _) => out.int32(name, i32::from(fields.u16()?)),
            (types::LONG, true) => out.int64(name, i64::from(fields.u32()?)),
            (types::LONG | types::INT24, _) => out.int32(name, fields.u32()?.cast_signed()),
            (types::LONGLONG, false) => out.int64(name, fields.u64()?.cast_signed()),
            (types::LONGLONG, true) => self.write_text(fields.u64()?.to_string().as_bytes(), out),
            // The shortest decimal of a float is what was written, not the double next to it.
            (types::FLOAT, _) => {
                let value = f32::from_le_bytes(fields.array()?);
                out.parsed(name, value.to_string().as_bytes(), Row::double);
            }
            (types::DOUBLE, _) => out.double(name, f64::from_le_bytes(fields.array()?)),
            (types::DATE | types::DATETIME | types::TIMESTAMP, _) => {
                let text = date(fields, self.kind == types::DATE)?;
                out.date(name, &text);
            }
            (types::TIME, _) => out.text(name, &time(fields)?),
            (types::NULL, _) => out.null(name),
            _ => self.write_text(fields.text()?, out),
        }
        Some(())
    }
}

/// A binary date as text.
fn date(fields: &mut Fields<'_>, is_day: bool) -> Option<Vec<u8>> {
    let length = usize::from(fields.u8()?);
    let mut fields = Fields(fields.bytes(length)?);
    let (year, month, day) = (fields.u16().unwrap_or(0), fields.u8().unwrap_or(0), fields.u8().unwrap_or(0));
    let mut text = Vec::new();
    // Writing to a Vec can't fail.
    _ = write!(text, "{year:04}-{month:02}-{day:02}");
    if !is_day {
        let [hour, minute, second] = fields.array().unwrap_or_default();
        let micros = fields.u32().unwrap_or(0);
        _ = write!(text, " {hour:02}:{minute:02}:{second:02}.{micros:06}");
    }
    Some(text)
}

/// A binary span of time as text.
fn time(fields: &mut Fields<'_>) -> Option<Vec<u8>> {
    let length = usize::from(fields.u8()?);
    let mut fields = Fields(fields.bytes(length)?);
    let sign = if fields.u8() == Some(1) { "-" } else { "" };
    let days = u64::from(fields.u32().unwrap_or(0));
    let [hours, minutes, seconds] = fields.array().unwrap_or_default();
    let mut text = Vec::new();
    _ = write!(text, "{sign}{:02}:{minutes:02}:{seconds:02}", days * 24 + u64::from(hours));
    if let Some(micros) = fields.u32() {
        _ = write!(text, ".{micros:06}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use brimline_sql::view::append_view;

    use super::*;
    use crate::fields::append_text;

    fn column(name: &str, kind: u8, character_set: u16, is_unsigned: bool) -> Column {
        Column { name: name.into(), kind, character_set, is_unsigned, is_json: kind == types::JSON }
    }

    fn columns() -> Vec<Column> {
        const TEXT: u8 = 253;
        const BLOB: u8 = 252;
        vec![
            column("tiny", types::TINY, 63, false),
            column("short", types::SHORT, 63, true),
            column("int", types::LONG, 63, false),
            column("unsigned", types::LONG, 63, true),
            column("long", types::LONGLONG, 63, false),
            column("huge", types::LONGLONG, 63, true),
            column("float", types::FLOAT, 63, false),
            column("double", types::DOUBLE, 63, false),
            column("decimal", types::NEW_DECIMAL, 63, false),
            column("text", TEXT, 45, false),
            column("bytes", BLOB, BINARY, false),
            column("json", types::JSON, 45, false),
            column("at", types::DATETIME, 63, false),
            column("day", types::DATE, 63, false),
            column("never", types::DATETIME, 63, false),
            column("span", types::TIME, 63, false),
            column("null", TEXT, 45, false),
        ]
    }

    fn expected() -> bson::Document {
        let decimal = |text: &str| text.parse::<bson::Decimal128>().unwrap();
        let date = |text: &str| bson::DateTime::parse_rfc3339_str(text).unwrap();
        bson::doc! {
            "tiny": -1, "short": 65_535, "int": -2, "unsigned": 4_294_967_295_i64, "long": -3_i64,
            "huge": decimal("18446744073709551615"), "float": 0.1, "double": 0.25, "decimal": decimal("1.50"), "text": "é",
            "bytes": bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: vec![0, 255] },
            "json": {"a": [1]}, "at": date("2024-02-29T12:00:00.125Z"), "day": date("2024-02-29T00:00:00Z"),
            "never": "0000-00-00 00:00:00.000000", "span": "-26:30:00.500000", "null": null,
        }
    }

    fn view(write: impl FnOnce(&mut Row<'_>)) -> bson::Document {
        let mut out = Vec::new();
        append_view(&mut out, 0, 1, Some(write));
        let view = bson::Document::from_reader(out.as_slice()).unwrap();
        view.get_array("rows").unwrap()[0].as_document().unwrap().clone()
    }

    #[test]
    fn a_row_is_the_same_as_text_and_binary() {
        let texts: [&[u8]; 16] = [
            b"-1",
            b"65535",
            b"-2",
            b"4294967295",
            b"-3",
            b"18446744073709551615",
            b"0.1",
            b"0.25",
            b"1.50",
            "é".as_bytes(),
            b"\x00\xff",
            b"{\"a\":[1]}",
            b"2024-02-29 12:00:00.125",
            b"2024-02-29",
            b"0000-00-00 00:00:00.000000",
            b"-26:30:00.500000",
        ];
        let mut text = Vec::new();
        for each in texts {
            append_text(each, &mut text);
        }
        text.push(NULL);
        assert_eq!(view(|row| write_text(&columns(), &text, row)), expected());

        // The last of 17 columns is null; two bits before the first are not used.
        let mut binary = vec![0, 0, 0, 0b100];
        binary.extend_from_slice(&(-1_i8).to_le_bytes());
        binary.extend_from_slice(&u16::MAX.to_le_bytes());
        binary.extend_from_slice(&(-2_i32).to_le_bytes());
        binary.extend_from_slice(&u32::MAX.to_le_bytes());
        binary.extend_from_slice(&(-3_i64).to_le_bytes());
        binary.extend_from_slice(&u64::MAX.to_le_bytes());
        binary.extend_from_slice(&0.1_f32.to_le_bytes());
        binary.extend_from_slice(&0.25_f64.to_le_bytes());
        for each in &texts[8..12] {
            append_text(each, &mut binary);
        }
        binary.extend_from_slice(&[11, 0xe8, 0x07, 2, 29, 12, 0, 0, 0x48, 0xe8, 0x01, 0]);
        binary.extend_from_slice(&[4, 0xe8, 0x07, 2, 29, 0]);
        binary.extend_from_slice(&[12, 1, 1, 0, 0, 0, 2, 30, 0, 0x20, 0xa1, 0x07, 0]);
        assert_eq!(view(|row| write_binary(&columns(), &binary, row)), expected());
    }
}
