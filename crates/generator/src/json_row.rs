//! Owns a document as a line of Extended JSON.

use brimline_datagen::{Name, NameKind, Sink, UUID_SUBTYPE};
use brimline_formats::write::json;

/// Appends values, each with its name and a comma behind it; the last comma makes way for the bracket.
pub struct JsonRow<'a> {
    pub out: &'a mut Vec<u8>,
    pub canonical: bool,
}

impl JsonRow<'_> {
    /// Appends a whole document: the values that `put` puts.
    pub fn line(&mut self, put: impl FnOnce(&mut Self)) {
        self.out.push(b'{');
        put(self);
        self.close(b'}');
        self.out.push(b'\n');
    }

    /// Appends an array: the items that `put` puts.
    pub fn array_text(&mut self, put: impl FnOnce(&mut JsonRow<'_>)) {
        self.out.push(b'[');
        put(&mut JsonRow { out: self.out, canonical: self.canonical });
        self.close(b']');
    }

    #[inline]
    fn value(&mut self, name: Name<'_>, append: impl FnOnce(&mut Vec<u8>)) {
        self.name(name);
        append(self.out);
        self.out.push(b',');
    }

    #[inline]
    fn name(&mut self, name: Name<'_>) {
        match name.kind() {
            NameKind::Item => return,
            NameKind::Plain => {
                self.out.push(b'"');
                self.out.extend_from_slice(name.text());
                self.out.push(b'"');
            }
            NameKind::Awkward => json::append_string(name.text(), self.out),
        }
        self.out.push(b':');
    }

    fn close(&mut self, bracket: u8) {
        match self.out.last_mut() {
            Some(last) if *last == b',' => *last = bracket,
            _ => self.out.push(bracket),
        }
    }
}

impl Sink for JsonRow<'_> {
    type Items<'s>
        = JsonRow<'s>
    where
        Self: 's;

    fn int32(&mut self, name: Name<'_>, value: i32) {
        let canonical = self.canonical;
        self.value(name, |out| json::append_int32(value, canonical, out));
    }

    fn int64(&mut self, name: Name<'_>, value: i64) {
        let canonical = self.canonical;
        self.value(name, |out| json::append_int64(value, canonical, out));
    }

    fn double(&mut self, name: Name<'_>, value: f64) {
        let canonical = self.canonical;
        self.value(name, |out| json::append_double(value, canonical, out));
    }

    fn decimal128(&mut self, name: Name<'_>, value: [u8; 16]) {
        self.value(name, |out| json::append_decimal(value, out));
    }

    fn boolean(&mut self, name: Name<'_>, value: bool) {
        self.value(name, |out| json::append_boolean(value, out));
    }

    fn date_time(&mut self, name: Name<'_>, unix_ms: i64) {
        let canonical = self.canonical;
        self.value(name, |out| json::append_date_time(unix_ms, canonical, out));
    }

    fn null(&mut self, name: Name<'_>) {
        self.value(name, |out| out.extend_from_slice(b"null"));
    }

    fn string(&mut self, name: Name<'_>, append: impl FnOnce(&mut Vec<u8>)) {
        self.value(name, |out| {
            out.push(b'"');
            let start = out.len();
            append(out);
            json::escape_from(start, out);
            out.push(b'"');
        });
    }

    fn binary(&mut self, name: Name<'_>, length: u32, fill: impl FnOnce(&mut [u8])) {
        let mut bytes = vec![0; length as usize];
        fill(&mut bytes);
        self.value(name, |out| json::append_binary(&bytes, 0, out));
    }

    fn uuid(&mut self, name: Name<'_>, value: [u8; 16]) {
        self.value(name, |out| json::append_binary(&value, UUID_SUBTYPE, out));
    }

    fn object_id(&mut self, name: Name<'_>, value: [u8; 12]) {
        self.value(name, |out| json::append_object_id(value, out));
    }

    fn document(&mut self, name: Name<'_>, put: impl FnOnce(&mut Self)) {
        self.name(name);
        self.out.push(b'{');
        put(self);
        self.close(b'}');
        self.out.push(b',');
    }

    fn array(&mut self, name: Name<'_>, put: impl FnOnce(&mut JsonRow<'_>)) {
        self.name(name);
        self.array_text(put);
        self.out.push(b',');
    }
}
