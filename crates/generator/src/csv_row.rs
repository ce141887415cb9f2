//! Owns a document as a line of CSV. Its values come in the order of the columns, both being that of the data spec.

use brimline_datagen::{Name, Sink};
use brimline_formats::write::{csv, json};

use crate::json_row::JsonRow;

/// Appends cells, each with a comma behind it; the last comma makes way for the line's end.
pub struct CsvRow<'a> {
    pub out: &'a mut Vec<u8>,
}

impl CsvRow<'_> {
    /// Appends a whole line: the values that `put` puts, at least one.
    pub fn line(&mut self, put: impl FnOnce(&mut Self)) {
        put(self);
        if let Some(last) = self.out.last_mut() {
            *last = b'\n';
        }
    }

    #[inline]
    fn cell(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        append(self.out);
        self.out.push(b',');
    }

    #[inline]
    fn quoted_cell(&mut self, append: impl FnOnce(&mut Vec<u8>)) {
        self.cell(|out| {
            let start = out.len();
            append(out);
            csv::quote_from(start, out);
        });
    }
}

impl Sink for CsvRow<'_> {
    /// The items of an array are one cell.
    type Items<'s>
        = JsonRow<'s>
    where
        Self: 's;

    fn int32(&mut self, _: Name<'_>, value: i32) {
        self.cell(|out| csv::append_integer(i64::from(value), out));
    }

    fn int64(&mut self, _: Name<'_>, value: i64) {
        self.cell(|out| csv::append_integer(value, out));
    }

    fn double(&mut self, _: Name<'_>, value: f64) {
        self.cell(|out| csv::append_double(value, out));
    }

    fn decimal128(&mut self, _: Name<'_>, value: [u8; 16]) {
        self.cell(|out| csv::append_decimal(value, out));
    }

    fn boolean(&mut self, _: Name<'_>, value: bool) {
        self.cell(|out| json::append_boolean(value, out));
    }

    fn date_time(&mut self, _: Name<'_>, unix_ms: i64) {
        self.cell(|out| csv::append_date_time(unix_ms, out));
    }

    fn null(&mut self, _: Name<'_>) {
        self.cell(|_| ());
    }

    fn string(&mut self, _: Name<'_>, append: impl FnOnce(&mut Vec<u8>)) {
        self.quoted_cell(append);
    }

    fn binary(&mut self, _: Name<'_>, length: u32, fill: impl FnOnce(&mut [u8])) {
        let mut bytes = vec![0; length as usize];
        fill(&mut bytes);
        self.cell(|out| csv::append_base64(&bytes, out));
    }

    fn uuid(&mut self, _: Name<'_>, value: [u8; 16]) {
        self.cell(|out| csv::append_base64(&value, out));
    }

    fn object_id(&mut self, _: Name<'_>, value: [u8; 12]) {
        self.cell(|out| csv::append_object_id(value, out));
    }

    /// The values of a document are cells of their own; an empty one is a cell itself, as it is a column.
    fn document(&mut self, _: Name<'_>, put: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        put(self);
        if self.out.len() == start {
            self.cell(|out| out.extend_from_slice(b"{}"));
        }
    }

    fn array(&mut self, _: Name<'_>, put: impl FnOnce(&mut JsonRow<'_>)) {
        self.quoted_cell(|out| JsonRow { out, canonical: false }.array_text(put));
    }
}
