//! `OP_MSG`: one body document and any number of document sequences in one message.

use brimline_bson::{ReadError, Writer, split_document};
use thiserror::Error;

use crate::frame::{FrameError, HEADER_BYTES, Header, OP_MSG};

/// Flag: the message ends with a CRC-32C of 4 bytes.
pub const CHECKSUM_PRESENT: u32 = 1 << 0;
/// Flag: another message follows without being asked for; in a request, no reply is wanted.
pub const MORE_TO_COME: u32 = 1 << 1;
/// Flag of a request: the server may answer with more than one message.
pub const EXHAUST_ALLOWED: u32 = 1 << 16;

/// Header and flags: where the sections of a message begin.
pub(crate) const SECTIONS_OFFSET: usize = HEADER_BYTES + 4;
/// Kind of the section that holds the body document.
pub(crate) const KIND_BODY: u8 = 0;
/// Kind of a section that holds a document sequence.
pub(crate) const KIND_SEQUENCE: u8 = 1;

const CHECKSUM_BYTES: usize = 4;
/// A receiver must refuse flags among these bits that it does not know.
const REQUIRED_FLAGS: u32 = 0xffff;

/// A message whose sections were checked: they fill it exactly, and exactly one is a body.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// Header.
    pub header: Header,
    /// Flags.
    pub flags: u32,
    /// The body document, length field included; its elements are unchecked.
    pub body: &'a [u8],
    sections: &'a [u8],
}

/// A kind-1 section: documents that stand for an array of the body.
#[derive(Clone, Copy, Debug)]
pub struct Sequence<'a> {
    /// Name of the array, such as `documents` of an insert.
    pub name: &'a [u8],
    documents: &'a [u8],
}

/// Why bytes are no `OP_MSG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MessageError {
    /// The header.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The header declares another length than the message has.
    #[error("message of {actual} bytes declares {declared}")]
    Length {
        /// What the header says.
        declared: usize,
        /// What there is.
        actual: usize,
    },
    /// Another kind of message.
    #[error("message has opcode {0}, not OP_MSG")]
    Opcode(i32),
    /// A required flag that is not known.
    #[error("message has unknown flags 0x{0:08x}")]
    Flags(u32),
    /// A section that reaches past the message, or bytes too few to be one.
    #[error("message section reaches past its message")]
    Truncated,
    /// A kind of section that is not known.
    #[error("message has a section of unknown kind {0}")]
    SectionKind(u8),
    /// No body, or more than one.
    #[error("message has no body or more than one")]
    Body,
    /// A document.
    #[error(transparent)]
    Document(#[from] ReadError),
}

/// Appends a whole request to `out`; `elements` writes the elements of its body, the command's name first.
pub fn request(out: &mut Vec<u8>, request_id: i32, elements: impl FnOnce(&mut Writer<'_>)) {
    message(out, request_id, 0, elements);
}

/// Appends a whole reply to the request numbered `response_to`.
pub fn reply(out: &mut Vec<u8>, request_id: i32, response_to: i32, elements: impl FnOnce(&mut Writer<'_>)) {
    message(out, request_id, response_to, elements);
}

fn message(out: &mut Vec<u8>, request_id: i32, response_to: i32, elements: impl FnOnce(&mut Writer<'_>)) {
    let start = out.len();
    out.extend_from_slice(&[0; SECTIONS_OFFSET]);
    out.push(KIND_BODY);
    let mut writer = Writer::new(out);
    let body = writer.begin_document();
    elements(&mut writer);
    writer.end_document(body);
    let header = Header { message_bytes: out.len() - start, request_id, response_to, opcode: OP_MSG };
    out[start..start + HEADER_BYTES].copy_from_slice(&header.encode());
}

/// Reads a whole message and checks how it is divided into sections. Documents are checked as far as their length.
///
/// # Errors
/// When `bytes` are not exactly one `OP_MSG`.
#[inline]
pub fn parse(bytes: &[u8]) -> Result<Message<'_>, MessageError> {
    let header = Header::decode(bytes)?;
    if header.message_bytes != bytes.len() {
        return Err(MessageError::Length { declared: header.message_bytes, actual: bytes.len() });
    }
    if header.opcode != OP_MSG {
        return Err(MessageError::Opcode(header.opcode));
    }
    let (flags, sections) = split_u32(&bytes[HEADER_BYTES..])?;
    if flags & REQUIRED_FLAGS & !(CHECKSUM_PRESENT | MORE_TO_COME) != 0 {
        return Err(MessageError::Flags(flags));
    }
    // The checksum is optional for the receiver too; TCP has one of its own.
    let checksum_bytes = if flags & CHECKSUM_PRESENT == 0 { 0 } else { CHECKSUM_BYTES };
    let sections_end = sections.len().checked_sub(checksum_bytes).ok_or(MessageError::Truncated)?;
    let sections = &sections[..sections_end];
    Ok(Message { header, flags, body: find_body(sections)?, sections })
}

/// The only body among `sections`, which in a reply is the only section.
#[inline]
fn find_body(sections: &[u8]) -> Result<&[u8], MessageError> {
    if let [KIND_BODY, body @ ..] = sections
        && let Ok((body, [])) = split_document(body)
    {
        return Ok(body);
    }
    find_body_among(sections)
}

/// Walks all sections.
#[inline(never)]
fn find_body_among(mut sections: &[u8]) -> Result<&[u8], MessageError> {
    let mut body = None;
    while !sections.is_empty() {
        let (section, rest) = split_section(sections)?;
        if let Section::Body(document) = section
            && body.replace(document).is_some()
        {
            return Err(MessageError::Body);
        }
        sections = rest;
    }
    body.ok_or(MessageError::Body)
}

impl<'a> Message<'a> {
    /// The document sequences, in the order they were sent.
    pub fn sequences(&self) -> impl Iterator<Item = Sequence<'a>> + use<'a> {
        let mut sections = self.sections;
        std::iter::from_fn(move || {
            // parse() has walked the same sections, so that an error can only be their end.
            while let Ok((section, rest)) = split_section(sections) {
                sections = rest;
                if let Section::Sequence(sequence) = section {
                    return Some(sequence);
                }
            }
            None
        })
    }
}

impl<'a> Sequence<'a> {
    /// The documents, each with its length field; the iterator ends after an error.
    pub fn documents(&self) -> impl Iterator<Item = Result<&'a [u8], ReadError>> + use<'a> {
        let mut rest = self.documents;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let split = split_document(rest);
            rest = split.map_or(&[], |(_, after)| after);
            Some(split.map(|(document, _)| document))
        })
    }
}

enum Section<'a> {
    Body(&'a [u8]),
    Sequence(Sequence<'a>),
}

#[inline]
fn split_section(bytes: &[u8]) -> Result<(Section<'_>, &[u8]), MessageError> {
    let (&kind, bytes) = bytes.split_first().ok_or(MessageError::Truncated)?;
    match kind {
        KIND_BODY => {
            let (document, rest) = split_document(bytes)?;
            Ok((Section::Body(document), rest))
        }
        KIND_SEQUENCE => {
            let (sequence, rest) = split_sequence(bytes)?;
            Ok((Section::Sequence(sequence), rest))
        }
        _ => Err(MessageError::SectionKind(kind)),
    }
}

/// The length of a sequence counts its own 4 bytes.
fn split_sequence(bytes: &[u8]) -> Result<(Sequence<'_>, &[u8]), MessageError> {
    let (length, _) = split_u32(bytes)?;
    let (section, rest) = bytes.split_at_checked(length as usize).ok_or(MessageError::Truncated)?;
    let content = section.get(size_of::<u32>()..).ok_or(MessageError::Truncated)?;
    let name_end = content.iter().position(|&byte| byte == 0).ok_or(MessageError::Truncated)?;
    Ok((Sequence { name: &content[..name_end], documents: &content[name_end + 1..] }, rest))
}

#[inline]
fn split_u32(bytes: &[u8]) -> Result<(u32, &[u8]), MessageError> {
    let (head, rest) = bytes.split_first_chunk::<4>().ok_or(MessageError::Truncated)?;
    Ok((u32::from_le_bytes(*head), rest))
}
