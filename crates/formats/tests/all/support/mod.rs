//! What several tests use: reading an input to its end.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::io::Cursor;

use brimline_formats::{
    Documents, Format, FormatOptions, InputError, NamesNotUtf8, ParseGrace, Rejected, Row, open,
};

/// Options with nothing but a format.
pub fn options(format: Format) -> FormatOptions {
    FormatOptions {
        format,
        columns: None,
        columns_have_types: false,
        parse_grace: ParseGrace::Stop,
        ignore_blanks: false,
        use_array_index_fields: false,
        json_array: false,
        legacy: false,
        generated_ids: None,
    }
}

/// Everything that became of an input.
#[derive(Debug, Default)]
pub struct Read {
    pub raw: Vec<Vec<u8>>,
    pub rows: Vec<Row>,
    pub rejected: Vec<Rejected>,
    pub nulls: u64,
    /// Cells or strings that are not UTF-8, and the line of the first record with one.
    pub not_utf8: (u32, Option<u64>),
    pub names_not_utf8: Option<NamesNotUtf8>,
    /// Lines of rows with more or fewer cells than there are columns.
    pub ragged: Vec<u64>,
    pub stop: Option<InputError>,
    pub stretches: usize,
}

impl Read {
    pub fn documents(&self) -> Vec<bson::Document> {
        self.raw
            .iter()
            .map(|bytes| bson::Document::from_reader(bytes.as_slice()).expect("valid BSON"))
            .collect()
    }
}

/// Reads `bytes` to their end or to the first error.
pub fn read_all(options: &FormatOptions, bytes: Vec<u8>) -> Read {
    let mut read = Read::default();
    let mut opened = match open(options, Box::new(Cursor::new(bytes))) {
        Ok(opened) => opened,
        Err(error) => return Read { stop: Some(error), ..read },
    };
    read.names_not_utf8 = opened.names_not_utf8;
    let mut documents = Documents::default();
    while read.stop.is_none() {
        match opened.splitter.next_stretch(Vec::new()) {
            Ok(Some(stretch)) => {
                documents.clear();
                opened.convert.convert(&stretch, &mut documents);
                read.stretches += 1;
                read.raw.extend(documents.iter().map(<[u8]>::to_vec));
                for each in &documents.oddities {
                    let line = documents.rows[each.row as usize].line;
                    read.not_utf8.0 += each.not_utf8;
                    if each.not_utf8 > 0 {
                        read.not_utf8.1.get_or_insert(line);
                    }
                    read.ragged.extend(each.is_ragged.then_some(line));
                }
                read.rows.append(&mut documents.rows);
                read.rejected.append(&mut documents.rejected);
                read.nulls += documents.nulls;
                read.stop = documents.stop.take();
            }
            Ok(None) => break,
            Err(error) => read.stop = Some(error),
        }
    }
    read
}
