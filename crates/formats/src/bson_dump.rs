//! Owns reading BSON dumps: documents back to back, as mongodump writes them.

use brimline_bson::Reader;

use crate::splitting::Boundaries;
use crate::{Convert, Documents, FormatOptions, GeneratedIds, InputError, Oddity, Position, Stretch};

/// Length of the empty document.
const DOCUMENT_BYTES_MIN: u64 = 5;

/// Documents say how long they are.
#[derive(Default)]
pub struct BsonBoundaries {
    /// How much of the document that is passed over is still to come.
    left: u64,
}

impl Boundaries for BsonBoundaries {
    fn whole(&mut self, bytes: &[u8]) -> usize {
        let mut whole = 0;
        loop {
            let rest = &bytes[whole..];
            match declared_length(rest) {
                Some(length) if length < DOCUMENT_BYTES_MIN => return bytes.len(),
                Some(length) if length <= rest.len() as u64 => whole += length as usize,
                Some(length) => {
                    self.left = length - rest.len() as u64;
                    return whole;
                }
                None => return whole,
            }
        }
    }

    fn is_sound(&self, _bytes: &[u8]) -> bool {
        true
    }

    fn end_in(&mut self, more: &[u8]) -> Option<usize> {
        if self.left <= more.len() as u64 {
            return Some(self.left as usize);
        }
        self.left -= more.len() as u64;
        None
    }

    fn missing_end(&self) -> Option<&'static str> {
        Some("the last document is cut off")
    }

    fn lines(&self, bytes: &[u8]) -> u64 {
        let mut rest = bytes;
        let mut documents = 0;
        while let Some(length) = declared_length(rest) {
            documents += 1;
            rest = rest.get(length.max(DOCUMENT_BYTES_MIN) as usize..).unwrap_or_default();
        }
        documents
    }
}

/// The length field that `bytes` begin with; a negative one reads as 0, as impossible as that is.
fn declared_length(bytes: &[u8]) -> Option<u64> {
    let head = bytes.first_chunk::<4>()?;
    Some(u64::try_from(i32::from_le_bytes(*head)).unwrap_or(0))
}

/// Takes documents as they are.
pub struct BsonDump {
    ids: Option<GeneratedIds>,
}

impl BsonDump {
    /// Converts as `options` say.
    pub fn new(options: &FormatOptions) -> Self {
        Self { ids: options.generated_ids }
    }
}

impl Convert for BsonDump {
    fn convert(&self, stretch: &Stretch, into: &mut Documents) {
        if into.reject_too_long(stretch, 0) {
            return;
        }
        let mut at = stretch.start;
        let mut rest = stretch.bytes.as_slice();
        while !rest.is_empty() {
            match checked_document(rest) {
                Ok((document, has_own_id)) => {
                    let start = into.bytes.len();
                    into.bytes.extend_from_slice(document);
                    into.finish_document(start, at, has_own_id, self.ids, document, Oddity::default());
                    rest = &rest[document.len()..];
                    at = Position { offset: at.offset + document.len() as u64, line: at.line + 1 };
                }
                Err(error) => {
                    into.stop = Some(InputError {
                        line: at.line,
                        offset: at.offset,
                        reason: format!("not a BSON document: {error}"),
                    });
                    return;
                }
            }
        }
    }
}

/// The document that `bytes` begin with, and whether it has an `_id`. Its elements are walked, sub-documents are not.
fn checked_document(bytes: &[u8]) -> Result<(&[u8], bool), brimline_bson::ReadError> {
    let (document, _) = brimline_bson::split_document(bytes)?;
    let mut elements = Reader::new(document)?;
    let mut has_own_id = false;
    while let Some(element) = elements.next_raw()? {
        has_own_id |= element.name == b"_id";
    }
    Ok((document, has_own_id))
}
