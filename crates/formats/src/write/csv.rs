//! Owns CSV (RFC 4180) with the values as mongoexport writes them: nothing for null, text for numbers and dates, relaxed
//! Extended JSON for arrays.

use brimline_bson::{ElementType, Reader, Value};

use super::json::{append_array, append_base64, append_document, append_hex};
use super::text::{append_date, append_double, append_integer, has_plain_year};
use super::{RecordWriter, WriteError};

/// Writes lines with the values of given columns. A dot in a column's name leads into a document.
#[derive(Clone, Debug)]
pub struct CsvWriter {
    columns: Vec<Box<str>>,
    /// The same as documents are nested: neighbours with the same first name are one.
    tree: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    name: Box<[u8]>,
    /// Empty for a column.
    inner: Vec<Node>,
}

impl CsvWriter {
    /// Writes these columns.
    pub fn new<'a>(columns: impl IntoIterator<Item = &'a str>) -> Self {
        let columns: Vec<Box<str>> = columns.into_iter().map(Into::into).collect();
        let paths: Vec<Vec<&str>> = columns.iter().map(|column| column.split('.').collect()).collect();
        Self { tree: nodes(&paths, 0), columns }
    }

    /// Appends a line with `cells` as they are, quoted where that is needed: the header.
    pub fn append_header<'a>(cells: impl IntoIterator<Item = &'a str>, out: &mut Vec<u8>) {
        for (index, cell) in cells.into_iter().enumerate() {
            separate(index, out);
            append_quoted(cell.as_bytes(), out);
        }
        out.push(b'\n');
    }

    /// Appends the line of `document`.
    ///
    /// # Errors
    /// As [`RecordWriter::append`].
    pub fn append(&self, document: &[u8], out: &mut Vec<u8>) -> Result<(), WriteError> {
        let start = out.len();
        // Documents of one kind have their fields in one order; what differs is looked up field by field.
        if !append_in_order(&self.tree, document, out, &mut 0)? {
            out.truncate(start);
            for (index, column) in self.columns.iter().enumerate() {
                separate(index, out);
                if let Some(value) = find(document, column)? {
                    append_cell(value, out)?;
                }
            }
        }
        out.push(b'\n');
        Ok(())
    }
}

impl From<CsvWriter> for RecordWriter {
    fn from(writer: CsvWriter) -> Self {
        Self::Csv(writer)
    }
}

fn nodes(paths: &[Vec<&str>], depth: usize) -> Vec<Node> {
    let same =
        |a: &Vec<&str>, b: &Vec<&str>| a[depth] == b[depth] && a.len() > depth + 1 && b.len() > depth + 1;
    let node = |group: &[Vec<&str>]| Node {
        name: group[0][depth].as_bytes().into(),
        inner: if group[0].len() > depth + 1 { nodes(group, depth + 1) } else { Vec::new() },
    };
    paths.chunk_by(same).map(node).collect()
}

/// Appends the cells of `nodes` as long as the document has exactly these fields first, in this order; else false.
fn append_in_order(
    nodes: &[Node],
    document: &[u8],
    out: &mut Vec<u8>,
    cells: &mut usize,
) -> Result<bool, WriteError> {
    let mut elements = Reader::new(document)?;
    for node in nodes {
        let Some(element) = elements.next_element()?.filter(|element| *element.name == *node.name) else {
            return Ok(false);
        };
        match element.value {
            value if node.inner.is_empty() => {
                separate(*cells, out);
                append_cell(value, out)?;
                *cells += 1;
            }
            Value::Document(inner) => {
                if !append_in_order(&node.inner, inner, out, cells)? {
                    return Ok(false);
                }
            }
            _ => return Ok(false),
        }
    }
    Ok(true)
}

fn find<'a>(document: &'a [u8], path: &str) -> Result<Option<Value<'a>>, WriteError> {
    let reader = Reader::new(document)?;
    let Some((first, rest)) = path.split_once('.') else {
        return Ok(reader.find(path)?);
    };
    match reader.find(first)? {
        Some(Value::Document(inner)) => find(inner, rest),
        _ => Ok(None),
    }
}

fn separate(index: usize, out: &mut Vec<u8>) {
    if index > 0 {
        out.push(b',');
    }
}

fn append_cell(value: Value<'_>, out: &mut Vec<u8>) -> Result<(), WriteError> {
    match value {
        Value::Double(value) if value.is_finite() => append_double(value, false, out),
        Value::Double(value) if value.is_nan() => out.extend_from_slice(b"NaN"),
        Value::Double(value) => out.extend_from_slice(if value > 0.0 { b"+Inf" } else { b"-Inf" }),
        Value::String(text) => {
            let text = std::str::from_utf8(text).map_err(|_| WriteError::NotUtf8)?;
            append_quoted(text.as_bytes(), out);
        }
        Value::Document(document) => append_quoted_json(out, |out| append_document(document, false, out))?,
        Value::Array(array) => append_quoted_json(out, |out| append_array(array, false, out))?,
        Value::Binary(bytes, _) => append_base64(bytes, out),
        Value::Boolean(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Value::DateTime(unix_ms) if has_plain_year(unix_ms) => append_date(unix_ms, true, out),
        Value::DateTime(unix_ms) => append_integer(unix_ms, out),
        Value::Null => {}
        Value::Int32(value) => append_integer(i64::from(value), out),
        Value::Int64(value) => append_integer(value, out),
        Value::Other(ElementType::ObjectId, bytes) => {
            out.extend_from_slice(b"ObjectId(");
            append_hex(bytes, out);
            out.push(b')');
        }
        Value::Other(element_type, _) => return Err(WriteError::Untextual(element_type)),
    }
    Ok(())
}

fn append_quoted_json(
    out: &mut Vec<u8>,
    append: impl FnOnce(&mut Vec<u8>) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    let mut json = Vec::new();
    append(&mut json)?;
    append_quoted(&json, out);
    Ok(())
}

/// Appends text, in quotes where it would not be read back as it is.
fn append_quoted(text: &[u8], out: &mut Vec<u8>) {
    // Without a branch in the loop it looks at many bytes at once.
    let is_special = |byte: u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    let has_special = text.iter().fold(false, |found, &byte| found | is_special(byte));
    let has_space_at_an_end = matches!(text, [b' ' | b'\t', ..] | [.., b' ' | b'\t']);
    if !has_special && !has_space_at_an_end {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for &byte in text {
        if byte == b'"' {
            out.push(b'"');
        }
        out.push(byte);
    }
    out.push(b'"');
}
