//! Owns the way from options and an input to the two steps of reading.

use std::io::Read;
use std::sync::Arc;

use crate::bson_dump::{BsonBoundaries, BsonDump};
use crate::input::Input;
use crate::splitting::RecordSplitter;
use crate::{Convert, Format, FormatOptions, InputError, Position, Splitter};

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
    let input = Input::new(source);
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
        format => Err(InputError { line: 1, offset: 0, reason: format!("{format:?} can't be read yet") }),
    }
}
