//! Owns a reply as a document: `{rows: [its first row], affected: …, n: …}`.

use brimline_bson::{ElementType, Writer};
use brimline_formats::value;

/// Appends the view of a reply of `n` rows; `first` writes the first one, where that was kept.
pub fn append_view(out: &mut Vec<u8>, affected: u64, n: u64, first: Option<impl FnOnce(&mut Row<'_>)>) {
    let mut writer = Writer::new(out);
    let view = writer.begin_document();
    let rows = writer.begin_array("rows");
    if let Some(first) = first {
        let document = writer.begin_subdocument("0");
        first(&mut Row { out: writer.buffer() });
        writer.end_document(document);
    }
    writer.end_document(rows);
    writer.int64("affected", affected as i64);
    writer.int64("n", n as i64);
    writer.end_document(view);
}

/// A row being written, column by column.
pub struct Row<'a> {
    out: &'a mut Vec<u8>,
}

impl Row<'_> {
    /// A null.
    pub fn null(&mut self, name: &[u8]) {
        self.column(ElementType::Null, name);
    }

    /// A boolean.
    pub fn boolean(&mut self, name: &[u8], value: bool) {
        self.column(ElementType::Boolean, name);
        self.out.push(u8::from(value));
    }

    /// An integer of a column of 32 bits.
    pub fn int32(&mut self, name: &[u8], value: i32) {
        self.column(ElementType::Int32, name);
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    /// An integer of a column of 64 bits.
    pub fn int64(&mut self, name: &[u8], value: i64) {
        self.column(ElementType::Int64, name);
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    /// A double.
    pub fn double(&mut self, name: &[u8], value: f64) {
        self.column(ElementType::Double, name);
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    /// Milliseconds since 1970.
    pub fn date_time(&mut self, name: &[u8], unix_ms: i64) {
        self.column(ElementType::DateTime, name);
        self.out.extend_from_slice(&unix_ms.to_le_bytes());
    }

    /// Text; what is not UTF-8 is replaced.
    pub fn text(&mut self, name: &[u8], text: &[u8]) {
        self.column(ElementType::String, name);
        let text = String::from_utf8_lossy(text);
        self.out.extend_from_slice(&(text.len() as u32 + 1).to_le_bytes());
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(0);
    }

    /// Bytes.
    pub fn binary(&mut self, name: &[u8], bytes: &[u8]) {
        self.column(ElementType::Binary, name);
        self.out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        self.out.push(0);
        self.out.extend_from_slice(bytes);
    }

    /// The decimal that `text` is: a decimal128, a double where it has more digits than that holds.
    pub fn decimal(&mut self, name: &[u8], text: &[u8]) {
        if let Some(bytes) = value::decimal(text) {
            self.column(ElementType::Decimal128, name);
            self.out.extend_from_slice(&bytes);
        } else {
            self.parsed(name, text, Self::double);
        }
    }

    /// The date that `text` is; text where it is none that a BSON date holds.
    pub fn date(&mut self, name: &[u8], text: &[u8]) {
        match value::date(text) {
            Some(unix_ms) => self.date_time(name, unix_ms),
            None => self.text(name, text),
        }
    }

    /// What `json` is; text where it is none.
    pub fn json(&mut self, name: &[u8], json: &[u8]) {
        let at = self.out.len();
        self.column(ElementType::Null, name);
        if let Some(element_type) = value::push_json(json, self.out) {
            self.out[at] = element_type as u8;
        } else {
            self.out.truncate(at);
            self.text(name, json);
        }
    }

    /// What `text` is when it is parsed; text where it can't be.
    pub fn parsed<T: std::str::FromStr>(
        &mut self,
        name: &[u8],
        text: &[u8],
        write: impl FnOnce(&mut Self, &[u8], T),
    ) {
        match std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()) {
            Some(value) => write(self, name, value),
            None => self.text(name, text),
        }
    }

    /// Type and name; a name ends at its first NUL.
    fn column(&mut self, element_type: ElementType, name: &[u8]) {
        self.out.push(element_type as u8);
        let name = String::from_utf8_lossy(name);
        let end = name.find('\0').unwrap_or(name.len());
        self.out.extend_from_slice(&name.as_bytes()[..end]);
        self.out.push(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_document() {
        let mut out = Vec::new();
        let first = |row: &mut Row<'_>| {
            row.int32(b"i", 5);
            row.int64(b"l", 6);
            row.boolean(b"b", true);
            row.null(b"none");
            row.text(b"t\xff\0x", b"a\xff");
            row.decimal(b"d", b"1.50");
            row.decimal(b"long", b"1234567890123456789012345678901234567890.5");
            row.date(b"at", b"1970-01-01 00:00:01");
            row.date(b"never", b"infinity");
            row.json(b"j", b"{\"a\":[1]}");
            row.json(b"jn", b"null");
            row.json(b"bad", b"{");
            row.binary(b"x", b"\x01");
            row.parsed(b"f", b"2.5", Row::double);
            row.parsed::<f64>(b"nf", b"x", Row::double);
        };
        append_view(&mut out, 3, 7, Some(first));
        let document = bson::Document::from_reader(out.as_slice()).unwrap();
        let decimal: bson::Decimal128 = "1.50".parse().unwrap();
        let bytes = bson::Binary { subtype: bson::spec::BinarySubtype::Generic, bytes: vec![1] };
        let row = bson::doc! {
            "i": 5, "l": 6_i64, "b": true, "none": null, "t\u{fffd}": "a\u{fffd}", "d": decimal,
            "long": 1_234_567_890_123_456_789_012_345_678_901_234_567_890.5_f64,
            "at": bson::DateTime::from_millis(1_000), "never": "infinity", "j": {"a": [1]}, "jn": null, "bad": "{",
            "x": bytes, "f": 2.5, "nf": "x",
        };
        assert_eq!(document, bson::doc! { "rows": [row], "affected": 3_i64, "n": 7_i64 });
    }

    #[test]
    fn a_reply_without_rows_has_none() {
        let mut out = Vec::new();
        append_view(&mut out, 1, 0, None::<fn(&mut Row<'_>)>);
        let document = bson::Document::from_reader(out.as_slice()).unwrap();
        assert_eq!(document, bson::doc! { "rows": [], "affected": 1_i64, "n": 0_i64 });
    }
}
