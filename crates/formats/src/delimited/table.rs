//! Owns turning rows into documents.

use std::sync::Arc;

use brimline_bson::ElementType;

use super::Dialect;
use super::column_type::push_auto;
use super::columns::{Column, key};
use super::rows::{Cell, Cells, RowEnd, push_unescaped};
use crate::values::text;
use crate::{
    Convert, Documents, FormatOptions, GeneratedIds, InputError, Misfit, Oddity, ParseGrace, Position,
    Rejection, Stretch,
};

/// A table: how its rows become documents.
pub struct Table {
    dialect: Dialect,
    /// In the order of the document.
    columns: Vec<Column>,
    /// Their names.
    names: Vec<Arc<str>>,
    parse_grace: ParseGrace,
    ignore_blanks: bool,
    ids: Option<GeneratedIds>,
}

/// Why a row becomes no document.
enum RowError {
    /// And none after it.
    Stop(String),
    Reject(String),
}

/// What the rows of a stretch share.
struct Scratch {
    cells: Cells,
    /// Sub-documents and arrays that are open, outermost first.
    open: Vec<OpenGroup>,
    /// The text of a cell that isn't its bytes.
    text: Vec<u8>,
    /// Whether all of the stretch is UTF-8.
    is_utf8: bool,
    /// Cells of the row in which bytes were replaced.
    not_utf8: u32,
    /// Columns of the row whose cells don't fit their type.
    misfits: Vec<usize>,
}

/// A sub-document or array that is being written.
struct OpenGroup {
    /// Where its element begins, type byte first.
    element: usize,
    /// Where its length field is.
    length: usize,
    /// How many elements it has.
    elements: u32,
    /// Its index in the array around it.
    array_index: Option<u32>,
}

impl Table {
    /// A table with these columns.
    pub fn new(dialect: Dialect, columns: Vec<Column>, options: &FormatOptions) -> Self {
        Self {
            dialect,
            names: columns.iter().map(|column| column.name.as_str().into()).collect(),
            columns,
            parse_grace: options.parse_grace,
            ignore_blanks: options.ignore_blanks,
            ids: options.generated_ids,
        }
    }

    /// Appends the document of the row in `scratch`, closing NUL and length included. Says whether it has an `_id`.
    fn push_document(&self, row: &[u8], scratch: &mut Scratch, out: &mut Vec<u8>) -> Result<bool, RowError> {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        scratch.open.clear();
        let mut has_own_id = false;
        for (index, column) in self.columns.iter().enumerate() {
            for group in &column.opens {
                scratch.begin(&group.key, group.array_index, out);
            }
            if let Some(&cell) = scratch.cells.list.get(column.cell)
                && !(self.ignore_blanks && cell.start == cell.end)
            {
                has_own_id |= self.push_cell((index, column), row, cell, scratch, out)? && column.is_id;
            }
            for _ in 0..column.closes {
                scratch.end(out)?;
            }
        }
        if scratch.cells.list.len() > self.columns.len() {
            self.push_extra_cells(row, scratch, out)?;
        }
        end_document(out, start);
        Ok(has_own_id)
    }

    /// Appends the element of a cell. Says whether there is one.
    #[inline]
    fn push_cell(
        &self,
        (index, column): (usize, &Column),
        row: &[u8],
        cell: Cell,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Result<bool, RowError> {
        let element = out.len();
        out.extend_from_slice(&column.key);
        let Scratch { text, open, is_utf8, not_utf8, misfits, .. } = scratch;
        let (text, is_repaired) = cell_text(row, cell, *is_utf8, text);
        let element_type = match column.cell_type.push_value(text, out) {
            Some(element_type) => element_type,
            None => match self.parse_grace {
                ParseGrace::AutoCast => {
                    misfits.push(index);
                    push_auto(text, out)
                }
                ParseGrace::SkipField => {
                    misfits.push(index);
                    out.truncate(element);
                    return Ok(false);
                }
                ParseGrace::SkipRow => return Err(RowError::Reject(misfit(column, text))),
                ParseGrace::Stop => {
                    let reason = misfit(column, text);
                    return Err(RowError::Stop(format!("{reason}; {GRACES}")));
                }
            },
        };
        out[element] = element_type as u8;
        *not_utf8 += u32::from(is_repaired);
        if let Some(group) = open.last_mut() {
            group.add(column.array_index)?;
        }
        Ok(true)
    }

    /// Appends the cells that have no column, as `field2`, `field3` and so on.
    #[cold]
    fn push_extra_cells(&self, row: &[u8], scratch: &mut Scratch, out: &mut Vec<u8>) -> Result<(), RowError> {
        for index in self.columns.len()..scratch.cells.list.len() {
            let cell = scratch.cells.list[index];
            if self.ignore_blanks && cell.start == cell.end {
                continue;
            }
            let name = format!("field{index}");
            if self.columns.iter().any(|column| column.name == name) {
                let reason =
                    format!("cell {} has no column, and \"{name}\" is the name of another", index + 1);
                return Err(RowError::Stop(reason));
            }
            let element = out.len();
            out.extend_from_slice(&key(ElementType::Null, &name));
            let (text, is_repaired) = cell_text(row, cell, scratch.is_utf8, &mut scratch.text);
            out[element] = push_auto(text, out) as u8;
            scratch.not_utf8 += u32::from(is_repaired);
        }
        Ok(())
    }
}

impl Convert for Table {
    fn convert(&self, stretch: &Stretch, into: &mut Documents) {
        if into.reject_too_long(stretch, 0) {
            return;
        }
        let mut scratch = Scratch {
            cells: Cells::default(),
            open: Vec::new(),
            text: Vec::new(),
            is_utf8: std::str::from_utf8(&stretch.bytes).is_ok(),
            not_utf8: 0,
            misfits: Vec::new(),
        };
        into.bytes.reserve(stretch.bytes.len() + stretch.bytes.len() / 2);
        let mut at = stretch.start;
        let mut rest = stretch.bytes.as_slice();
        while !rest.is_empty() {
            let stop = |reason| Some(InputError { line: at.line, offset: at.offset, reason });
            match scratch.cells.read_row(self.dialect, rest) {
                RowEnd::Blank => {}
                RowEnd::Malformed(malformed) => {
                    into.stop = stop(malformed.reason().to_owned());
                    return;
                }
                RowEnd::Row => {
                    let row = &rest[..scratch.cells.length];
                    let start = into.bytes.len();
                    let index = into.rows.len();
                    scratch.not_utf8 = 0;
                    scratch.misfits.clear();
                    match self.push_document(row, &mut scratch, &mut into.bytes) {
                        Ok(has_own_id) => {
                            let oddity = Oddity {
                                row: 0,
                                not_utf8: scratch.not_utf8,
                                is_ragged: scratch.cells.list.len() != self.columns.len(),
                            };
                            into.finish_document(start, at, has_own_id, self.ids, row, oddity);
                            if into.rows.len() > index {
                                let columns =
                                    scratch.misfits.iter().map(|&column| self.names[column].clone());
                                into.misfits
                                    .extend(columns.map(|column| Misfit { row: index as u32, column }));
                            }
                        }
                        Err(RowError::Reject(reason)) => {
                            into.bytes.truncate(start);
                            into.reject(at, Rejection::SkipRow, reason, row);
                        }
                        Err(RowError::Stop(reason)) => {
                            into.bytes.truncate(start);
                            into.stop = stop(reason);
                            return;
                        }
                    }
                }
            }
            rest = &rest[scratch.cells.length..];
            at = Position {
                offset: at.offset + scratch.cells.length as u64,
                line: at.line + scratch.cells.lines,
            };
        }
    }
}

impl Scratch {
    /// Opens a sub-document or array.
    fn begin(&mut self, key: &[u8], array_index: Option<u32>, out: &mut Vec<u8>) {
        let element = out.len();
        out.extend_from_slice(key);
        self.open.push(OpenGroup { element, length: out.len(), elements: 0, array_index });
        out.extend_from_slice(&[0; 4]);
    }

    /// Closes the innermost one; it vanishes when it is empty.
    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), RowError> {
        let Some(group) = self.open.pop() else { return Ok(()) };
        if group.elements == 0 {
            out.truncate(group.element);
            return Ok(());
        }
        end_document(out, group.length);
        match self.open.last_mut() {
            Some(outer) => outer.add(group.array_index),
            None => Ok(()),
        }
    }
}

impl OpenGroup {
    /// Counts an element; one of an array must be the next.
    #[inline]
    fn add(&mut self, array_index: Option<u32>) -> Result<(), RowError> {
        if let Some(index) = array_index
            && index != self.elements
        {
            let reason = format!("an array has an element {index}, but only {} before it", self.elements);
            return Err(RowError::Stop(reason));
        }
        self.elements += 1;
        Ok(())
    }
}

/// The text of a cell: its bytes, or `buffer` where it has to be written anew. Says whether bytes were replaced in it.
#[inline]
fn cell_text<'a>(row: &'a [u8], cell: Cell, is_utf8: bool, buffer: &'a mut Vec<u8>) -> (&'a [u8], bool) {
    let bytes = &row[cell.start..cell.end];
    if cell.escaped || !is_utf8 { rewritten(bytes, cell.escaped, is_utf8, buffer) } else { (bytes, false) }
}

#[inline(never)] // so that the way without it stays short
fn rewritten<'a>(bytes: &[u8], escaped: bool, is_utf8: bool, buffer: &'a mut Vec<u8>) -> (&'a [u8], bool) {
    buffer.clear();
    if escaped {
        push_unescaped(bytes, buffer);
    } else {
        buffer.extend_from_slice(bytes);
    }
    let mut is_repaired = false;
    if !is_utf8 {
        let unescaped = std::mem::take(buffer);
        is_repaired = text::push_repaired(&unescaped, buffer);
    }
    (buffer, is_repaired)
}

#[cold]
fn misfit(column: &Column, text: &[u8]) -> String {
    let type_name = column.cell_type.name();
    format!("column \"{}\": \"{}\" is no {type_name}", column.name.escape_debug(), text::shown(text))
}

/// What else can become of a value that does not fit.
const GRACES: &str = "--parseGrace says what else may become of it: autoCast, skipField or skipRow";

/// Closes the document whose length field is at `start`.
#[inline]
fn end_document(out: &mut Vec<u8>, start: usize) {
    out.push(0);
    let length = (out.len() - start) as u32;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}
