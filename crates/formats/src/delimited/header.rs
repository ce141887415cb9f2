//! Owns where the names of the columns come from.

use super::Dialect;
use super::column_type::{ColumnType, split_fields, split_typed_name};
use super::columns::{Column, columns};
use super::rows::{Cells, RowEnd, push_unescaped};
use crate::input::Input;
use crate::values::text;
use crate::{Columns, FormatOptions, InputError, NamesNotUtf8, Position, RECORD_BYTES_MAX};

/// How much is read to find the header line in.
const HEADER_BYTES: usize = 64 * 1024;

/// The columns of an input, and where its rows begin.
pub struct Header {
    pub columns: Vec<Column>,
    /// Bytes that were read past the header.
    pub carried: Vec<u8>,
    pub position: Position,
    pub not_utf8: Option<NamesNotUtf8>,
}

/// Finds out the columns; reads the header line where the names are there. `carried` are bytes already read, at `position`.
pub fn read_header(
    options: &FormatOptions,
    dialect: Dialect,
    input: &mut Input,
    mut carried: Vec<u8>,
    mut position: Position,
) -> Result<Header, InputError> {
    let at = position;
    let error = |reason| InputError { line: at.line, offset: at.offset, reason };
    let mut not_utf8 = None;
    let names = match &options.columns {
        None => {
            let reason =
                "the columns have no names: give fields, a field file or say that there is a header line";
            return Err(error(reason.to_owned()));
        }
        Some(Columns::Fields(list)) => split_fields(list),
        Some(Columns::FieldFile(text)) => text.lines().map(str::to_owned).collect(),
        Some(Columns::Headerline) => header_line(dialect, input, &mut carried, &mut position, &mut not_utf8)?,
    };
    let typed = |name: String| {
        if options.columns_have_types {
            split_typed_name(&name).map(|(name, column_type)| (name.to_owned(), column_type))
        } else {
            Ok((name, ColumnType::Auto))
        }
    };
    let names: Result<Vec<_>, _> = names.into_iter().map(typed).collect();
    let columns = names.and_then(|names| columns(names, options.use_array_index_fields)).map_err(error)?;
    Ok(Header { columns, carried, position, not_utf8 })
}

/// Takes the first row off the front of `carried`, which is filled as far as needed; counts the names that are not UTF-8.
fn header_line(
    dialect: Dialect,
    input: &mut Input,
    carried: &mut Vec<u8>,
    position: &mut Position,
    not_utf8: &mut Option<NamesNotUtf8>,
) -> Result<Vec<String>, InputError> {
    let mut cells = Cells::default();
    let mut texts = 0;
    loop {
        let bytes = carried.as_slice();
        let end = if bytes.is_empty() { RowEnd::Blank } else { cells.read_row(dialect, bytes) };
        let is_whole = match end {
            RowEnd::Row => bytes.get(cells.length.wrapping_sub(1)) == Some(&b'\n') || input.has_ended(),
            RowEnd::Blank => !bytes.is_empty(),
            RowEnd::Malformed(_) => input.has_ended() || bytes.len() > RECORD_BYTES_MAX,
        };
        if !is_whole {
            if input.has_ended() {
                let reason = "the input is empty, there is no header line".to_owned();
                return Err(InputError { line: position.line, offset: position.offset, reason });
            }
            let length = carried.len().max(HEADER_BYTES);
            input.read(carried, length, *position)?;
            continue;
        }
        if is_json(bytes) {
            let reason = "the header line is JSON: give --type json".to_owned();
            return Err(InputError { line: position.line, offset: position.offset, reason });
        }
        if let RowEnd::Malformed(malformed) = end {
            let reason = format!("the header line has {}", malformed.reason());
            return Err(InputError { line: position.line, offset: position.offset, reason });
        }
        let names = cells.list.iter().map(|cell| {
            let bytes = &bytes[cell.start..cell.end];
            let mut unescaped = Vec::new();
            if cell.escaped {
                push_unescaped(bytes, &mut unescaped);
            } else {
                unescaped.extend_from_slice(bytes);
            }
            let (name, is_repaired) = text::repaired(&unescaped);
            texts += u32::from(is_repaired);
            name
        });
        let names: Vec<String> = names.collect();
        *not_utf8 = (texts > 0).then_some(NamesNotUtf8 { texts, at: *position });
        carried.drain(..cells.length);
        *position =
            Position { offset: position.offset + cells.length as u64, line: position.line + cells.lines };
        if end == RowEnd::Row {
            return Ok(names);
        }
    }
}

/// Whether the line in front is a document, or the beginning of one, and no line of names.
fn is_json(bytes: &[u8]) -> bool {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let text = line.trim_ascii();
    matches!(text, b"{" | b"[" | b"[{")
        || ([b"{\"".as_slice(), b"{ \"", b"[{"].iter().any(|begin| text.starts_with(begin))
            && text.last().is_some_and(|last| b"}],{".contains(last)))
}
