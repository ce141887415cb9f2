//! Owns the way from options and an input to the two steps of reading.

use std::io::Read;
use std::sync::Arc;

use crate::bson_dump::{BsonBoundaries, BsonDump};
use crate::delimited::{CsvBoundaries, Dialect, Table, TsvBoundaries, read_header};
use crate::input::Input;
use crate::json::{ArrayBoundaries, DocumentBoundaries, Json};
use crate::splitting::RecordSplitter;
use crate::{Convert, Format, FormatOptions, InputError, Position, Splitter};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The two steps of reading one input.
pub struct Opened {
    /// Finds the records.
    pub splitter: Box<dyn Splitter>,
    /// Converts them.
    pub convert: Arc<dyn Convert>,
}

/// Prepares reading `source` from its beginning. Reads the header line where the options say that there is one.
///
/// # Errors
/// When the options contradict each other, or the header can't be used.
pub fn open(options: &FormatOptions, source: Box<dyn Read + Send>) -> Result<Opened, InputError> {
    let mut input = Input::new(source);
    match options.format {
        Format::Bson => Ok(Opened {
            splitter: Box::new(RecordSplitter::new(
                input,
                Vec::new(),
                Position::START,
                BsonBoundaries::default(),
            )),
            convert: Arc::new(BsonDump::new(options)),
        }),
        Format::Csv => {
            let (carried, position) = begin_text(&mut input)?;
            open_table(options, Dialect::Csv, CsvBoundaries::default(), input, carried, position)
        }
        Format::Tsv => {
            let (carried, position) = begin_text(&mut input)?;
            open_table(options, Dialect::Tsv, TsvBoundaries, input, carried, position)
        }
        Format::Json => open_json(options, input),
    }
}

fn open_table(
    options: &FormatOptions,
    dialect: Dialect,
    boundaries: impl crate::splitting::Boundaries + 'static,
    mut input: Input,
    carried: Vec<u8>,
    position: Position,
) -> Result<Opened, InputError> {
    let header = read_header(options, dialect, &mut input, carried, position)?;
    Ok(Opened {
        splitter: Box::new(RecordSplitter::new(input, header.carried, header.position, boundaries)),
        convert: Arc::new(Table::new(dialect, header.columns, options)),
    })
}

fn open_json(options: &FormatOptions, mut input: Input) -> Result<Opened, InputError> {
    let (mut carried, mut position) = begin_text(&mut input)?;
    if !options.json_array {
        let boundaries = DocumentBoundaries::new(options.legacy);
        return Ok(Opened {
            splitter: Box::new(RecordSplitter::new(input, carried, position, boundaries)),
            convert: Arc::new(Json::new(options, None)),
        });
    }
    open_array(&mut input, &mut carried, &mut position)?;
    let boundaries = ArrayBoundaries::new(options.legacy);
    Ok(Opened {
        splitter: Box::new(RecordSplitter::new(input, carried, position, boundaries)),
        convert: Arc::new(Json::new(options, Some(position))),
    })
}

/// Takes white space and the bracket that opens an array off the front of `carried`, which is filled as far as needed.
fn open_array(input: &mut Input, carried: &mut Vec<u8>, position: &mut Position) -> Result<(), InputError> {
    loop {
        let space = carried.len() - carried.trim_ascii_start().len();
        position.line += carried[..space].iter().filter(|&&byte| byte == b'\n').count() as u64;
        position.offset += space as u64;
        carried.drain(..space);
        let reason = match carried.first() {
            Some(b'[') => {
                carried.remove(0);
                position.offset += 1;
                return Ok(());
            }
            None if !input.has_ended() => {
                input.read(carried, 4096, *position)?;
                continue;
            }
            None => "the input is empty, there is no array".to_owned(),
            Some(_) => "the input is no array: it doesn't begin with [".to_owned(),
        };
        return Err(InputError { line: position.line, offset: position.offset, reason });
    }
}

/// Reads the first bytes of a text and passes over a byte order mark.
fn begin_text(input: &mut Input) -> Result<(Vec<u8>, Position), InputError> {
    let mut carried = Vec::new();
    input.read(&mut carried, BYTE_ORDER_MARK.len(), Position::START)?;
    if carried == BYTE_ORDER_MARK {
        return Ok((Vec::new(), Position { offset: BYTE_ORDER_MARK.len() as u64, line: 1 }));
    }
    if carried.starts_with(b"\xff\xfe") || carried.starts_with(b"\xfe\xff") {
        let reason = "the input is UTF-16; convert it to UTF-8".to_owned();
        return Err(InputError { line: 1, offset: 0, reason });
    }
    Ok((carried, Position::START))
}
