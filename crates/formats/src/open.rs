//! Owns the way from options and an input to the two steps of reading.

use std::io::Read;
use std::sync::Arc;

use crate::bson_dump::{BsonBoundaries, BsonDump};
use crate::compression;
use crate::delimited::{CsvBoundaries, Dialect, Table, TsvBoundaries, read_header};
use crate::foreign;
use crate::input::Input;
use crate::json::{ArrayBoundaries, DocumentBoundaries, Json};
use crate::splitting::{Boundaries, RecordSplitter, STRETCH_BYTES};
use crate::{Convert, Format, FormatOptions, InputError, NamesNotUtf8, Position, Splitter};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The two steps of reading one input.
pub struct Opened {
    /// Finds the records.
    pub splitter: Box<dyn Splitter>,
    /// Converts them.
    pub convert: Arc<dyn Convert>,
    /// What of the header line, which the splitter has passed, is not UTF-8.
    pub names_not_utf8: Option<NamesNotUtf8>,
}

impl Opened {
    fn new(splitter: impl Splitter + 'static, convert: impl Convert + 'static) -> Self {
        Self { splitter: Box::new(splitter), convert: Arc::new(convert), names_not_utf8: None }
    }
}

/// Prepares reading `source` from its beginning. Reads the header line where the options say that there is one.
///
/// # Errors
/// When the options contradict each other, or the header can't be used.
pub fn open(options: &FormatOptions, source: Box<dyn Read + Send>) -> Result<Opened, InputError> {
    open_in(STRETCH_BYTES, options, source)
}

/// The same in stretches of about `stretch_bytes`.
///
/// # Errors
/// As those of [`open`].
pub fn open_in(
    stretch_bytes: usize,
    options: &FormatOptions,
    source: Box<dyn Read + Send>,
) -> Result<Opened, InputError> {
    let mut input = Input::new(source);
    match options.format {
        Format::Bson => {
            let carried = begin(&mut input, Format::Bson)?;
            let boundaries = BsonBoundaries::default();
            let splitter = RecordSplitter::new(input, carried, Position::START, boundaries, stretch_bytes);
            Ok(Opened::new(splitter, BsonDump::new(options)))
        }
        Format::Csv => open_table(stretch_bytes, options, Dialect::Csv, CsvBoundaries::default(), input),
        Format::Tsv => open_table(stretch_bytes, options, Dialect::Tsv, TsvBoundaries, input),
        Format::Json if options.json_array => open_array(stretch_bytes, options, input),
        Format::Json => {
            let (carried, position) = begin_text(&mut input, Format::Json)?;
            let boundaries = DocumentBoundaries::new(options.legacy);
            let splitter = RecordSplitter::new(input, carried, position, boundaries, stretch_bytes);
            Ok(Opened::new(splitter, Json::new(options, None)))
        }
    }
}

fn open_table(
    stretch_bytes: usize,
    options: &FormatOptions,
    dialect: Dialect,
    boundaries: impl Boundaries + 'static,
    mut input: Input,
) -> Result<Opened, InputError> {
    let (carried, position) = begin_text(&mut input, options.format)?;
    let header = read_header(options, dialect, &mut input, carried, position)?;
    let splitter = RecordSplitter::new(input, header.carried, header.position, boundaries, stretch_bytes);
    let table = Table::new(dialect, header.columns, options);
    Ok(Opened { names_not_utf8: header.not_utf8, ..Opened::new(splitter, table) })
}

fn open_array(stretch_bytes: usize, options: &FormatOptions, mut input: Input) -> Result<Opened, InputError> {
    let (mut carried, mut position) = begin_text(&mut input, options.format)?;
    take_opening_bracket(&mut input, &mut carried, &mut position)?;
    let boundaries = ArrayBoundaries::new(options.legacy);
    let splitter = RecordSplitter::new(input, carried, position, boundaries, stretch_bytes);
    Ok(Opened::new(splitter, Json::new(options, Some(position))))
}

/// Takes white space and the bracket that opens an array off the front of `carried`, which is filled as far as needed.
fn take_opening_bracket(
    input: &mut Input,
    carried: &mut Vec<u8>,
    position: &mut Position,
) -> Result<(), InputError> {
    loop {
        let space = carried.len() - carried.trim_ascii_start().len();
        position.line += memchr::memchr_iter(b'\n', &carried[..space]).count() as u64;
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

/// As many as a byte order mark takes: what is behind it is left to be read with the records.
const BEGINNING_BYTES: usize = 3;

/// Reads the first bytes, and refuses what is compressed, or no text where the format is one.
fn begin(input: &mut Input, format: Format) -> Result<Vec<u8>, InputError> {
    let head = input.peek(compression::HEAD_BYTES)?;
    let compressed = compression::reason(head, format).map(str::to_owned);
    if let Some(reason) = compressed.or_else(|| foreign::reason(head, format)) {
        return Err(InputError { line: 1, offset: 0, reason });
    }
    let mut carried = Vec::new();
    input.read(&mut carried, BEGINNING_BYTES, Position::START)?;
    Ok(carried)
}

/// Reads the first bytes of a text and passes over a byte order mark.
fn begin_text(input: &mut Input, format: Format) -> Result<(Vec<u8>, Position), InputError> {
    let mut carried = begin(input, format)?;
    if carried.starts_with(BYTE_ORDER_MARK) {
        carried.drain(..BYTE_ORDER_MARK.len());
        return Ok((carried, Position { offset: BYTE_ORDER_MARK.len() as u64, line: 1 }));
    }
    Ok((carried, Position::START))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;
    use crate::{Columns, Documents, ParseGrace, Stretch};

    fn options(format: Format) -> FormatOptions {
        let is_table = matches!(format, Format::Csv | Format::Tsv);
        FormatOptions {
            format,
            columns: is_table.then(|| Columns::Fields("a,b,c.d".to_owned())),
            columns_have_types: false,
            parse_grace: ParseGrace::Stop,
            ignore_blanks: false,
            use_array_index_fields: false,
            json_array: false,
            legacy: false,
            generated_ids: None,
        }
    }

    /// Documents, where each record begins, and how reading ended.
    type Outcome = (Vec<Vec<u8>>, Vec<(u64, u64)>, u64, Option<InputError>);

    /// Converts a stretch into `outcome`; whether reading goes on.
    fn take(opened: &Opened, stretch: &Stretch, outcome: &mut Outcome) -> bool {
        let mut documents = Documents::default();
        opened.convert.convert(stretch, &mut documents);
        outcome.0.extend(documents.iter().map(<[u8]>::to_vec));
        outcome.1.extend(documents.rows.iter().map(|row| (row.line, row.offset)));
        outcome.2 += documents.nulls;
        outcome.3 = documents.stop;
        outcome.3.is_none()
    }

    /// Reads `text`; begins anew at the end of every stretch where `resume`.
    fn read(stretch_bytes: usize, options: &FormatOptions, text: &str, resume: bool) -> Outcome {
        let open = || open_in(stretch_bytes, options, Box::new(Cursor::new(text.as_bytes().to_vec())));
        let mut outcome: Outcome = Default::default();
        let mut opened = match open() {
            Ok(opened) => opened,
            Err(error) => return (Vec::new(), Vec::new(), 0, Some(error)),
        };
        while let Some(stretch) = opened.splitter.next_stretch(Vec::new()).expect("memory can be read") {
            if !take(&opened, &stretch, &mut outcome) {
                break;
            }
            if resume {
                opened = open().expect("it could be opened before");
                opened.splitter.skip_to(stretch.end).expect("the stretch was read before");
            }
        }
        outcome
    }

    /// Reads `text` in parts, each by itself: divided where stretches of about `part_bytes` end.
    fn read_parts(stretch_bytes: usize, part_bytes: usize, options: &FormatOptions, text: &str) -> Outcome {
        let open = |bytes| open_in(bytes, options, Box::new(Cursor::new(text.as_bytes().to_vec())));
        let mut outcome: Outcome = Default::default();
        let mut borders = Vec::new();
        match open(part_bytes) {
            Ok(mut opened) => {
                while let Ok(Some(stretch)) = opened.splitter.next_stretch(Vec::new()) {
                    borders.push(stretch.end);
                }
            }
            Err(error) => return (Vec::new(), Vec::new(), 0, Some(error)),
        }
        borders.pop();
        let begins = std::iter::once(None).chain(borders.iter().copied().map(Some));
        let ends = borders.iter().copied().map(Some).chain(std::iter::once(None));
        for (begin, end) in begins.zip(ends) {
            let mut opened = open(stretch_bytes).expect("it could be opened before");
            if let Some(begin) = begin {
                opened.splitter.skip_to(begin).expect("it was read before");
            }
            while let Some(mut stretch) =
                opened.splitter.next_stretch(Vec::new()).expect("memory can be read")
            {
                if let Some(end) = end {
                    if stretch.start.offset >= end.offset {
                        break;
                    }
                    stretch.end_at(end);
                }
                if !take(&opened, &stretch, &mut outcome) {
                    return outcome;
                }
            }
        }
        outcome
    }

    /// Text of pieces that are awkward to cut between.
    fn pieces(pieces: &'static [&'static str]) -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(pieces), 0..60).prop_map(|pieces| pieces.concat())
    }

    fn check(options: &FormatOptions, text: &str, stretch_bytes: usize) -> Result<(), TestCaseError> {
        let whole = read(1 << 20, options, text, false);
        let ways = [
            read(stretch_bytes, options, text, false),
            read(stretch_bytes, options, text, true),
            read_parts(stretch_bytes, 3 * stretch_bytes, options, text),
            read_parts(3 * stretch_bytes, stretch_bytes, options, text),
        ];
        for cut in ways {
            prop_assert_eq!(&cut.0, &whole.0, "documents");
            prop_assert_eq!(&cut.1, &whole.1, "lines and offsets");
            prop_assert_eq!(cut.2, whole.2, "nulls");
            prop_assert_eq!(
                cut.3.as_ref().map(|error| (error.line, error.offset)),
                whole.3.as_ref().map(|error| (error.line, error.offset))
            );
        }
        Ok(())
    }

    const CELLS: &[&str] = &[
        "1,two,3.5\n",
        "\"a,\nb\",c\n",
        "ü,\"ß\nß\"\r\n",
        "\"say \"\"hi\"\"\",x\r\n",
        "\n",
        "a",
        ",",
        "\"",
        "\n\"",
        " ",
        "\r\n",
        "\t",
        "1",
    ];
    const VALUES: &[&str] = &[
        "{\"a\":1}\n",
        "{\"c\":[1,\n{}]}\n",
        "{\"a\":{\"b\":[{},{}]}}",
        "{\"a\":\"}\\\"{\"}",
        "{\"ü\":\"ß}\"}\n",
        "\n",
        " ",
        ",",
        ",\n",
        "null ",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "{\"b\":\n[1,\n2]\n}\n",
    ];
    const ELEMENTS: &[&str] = &[
        "{\"a\":1},",
        "{\"a\":{\"b\":[{},{}]}} ,\n",
        "{\"a\":\"]}\\\"\"},",
        "null,",
        " ",
        "\n",
        "{}",
        "{},",
        "]",
        ",",
        "[",
        "1,",
    ];

    #[test]
    fn an_array_that_is_never_closed_is_found_wherever_it_is_cut() {
        let options = FormatOptions { json_array: true, ..options(Format::Json) };
        for stretch_bytes in 1..40 {
            let (documents, _, _, stop) = read(stretch_bytes, &options, "[{\"a\":1},\n{\"a\":2}", false);
            assert_eq!(documents.len(), 2);
            assert!(stop.is_some_and(|stop| stop.reason.contains("never closed")), "{stretch_bytes}");
        }
    }

    proptest! {
        #[test]
        fn csv_is_read_the_same_wherever_it_is_cut(text in pieces(CELLS), stretch_bytes in 1usize..40) {
            check(&options(Format::Csv), &text, stretch_bytes)?;
        }

        #[test]
        fn tsv_is_read_the_same_wherever_it_is_cut(text in pieces(CELLS), stretch_bytes in 1usize..40) {
            check(&options(Format::Tsv), &text, stretch_bytes)?;
        }

        #[test]
        fn documents_are_read_the_same_wherever_they_are_cut(text in pieces(VALUES), stretch_bytes in 1usize..40) {
            check(&options(Format::Json), &text, stretch_bytes)?;
        }

        #[test]
        fn arrays_are_read_the_same_wherever_they_are_cut(text in pieces(ELEMENTS), stretch_bytes in 1usize..40) {
            let options = FormatOptions { json_array: true, ..options(Format::Json) };
            check(&options, &format!("[{text}"), stretch_bytes)?;
            check(&options, &format!("[{text}{{}}]"), stretch_bytes)?;
        }
    }
}
