//! Owns the frames that engine and runner exchange: a length, a kind, and what belongs to the kind, all little-endian. The page
//! docs/reference/runners.md describes them for whoever writes a runner.

use std::ops::Range;

use brimline_bson::{Writer, split_document};
use brimline_wire::op_msg::{self, MessageError};

/// Version of the frames, which a runner names when it is ready.
pub const VERSION: i64 = 1;
/// Longest frame that is believed: a reply has one server's reply in it, and that has 48 MB at most.
const FRAME_BYTES_MAX: usize = 64 << 20;
const LENGTH_BYTES: usize = 4;

/// Kinds of frames to a runner.
pub mod to_runner {
    /// What opens the server, and how: a document.
    pub const OPEN: u8 = 1;
    /// A command.
    pub const COMMAND: u8 = 2;
    /// What its clock says is asked for.
    pub const CLOCK: u8 = 3;
    /// What it has used is asked for.
    pub const USE: u8 = 4;
    /// It is to close its connections and end.
    pub const CLOSE: u8 = 5;
}

/// Kinds of frames from a runner.
mod from_runner {
    pub const READY: u8 = 1;
    pub const REPLY: u8 = 2;
    pub const CLOCK: u8 = 3;
    pub const USE: u8 = 4;
    pub const FAILED: u8 = 5;
}

/// Flag of a command: documents of its reply are wanted.
const WANTS_DOCUMENTS: u8 = 1;

/// What became of a command, as a runner says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The server has answered; the document is what it said.
    Answered,
    /// The connection broke, or none could be made.
    Lost,
    /// The driver gave up waiting for the server.
    TimedOut,
    /// The driver gave up waiting for a connection of its pool: nothing was sent.
    NoConnection,
    /// The driver refuses the command, or its answer.
    Refused,
}

/// How a command is handed over.
#[derive(Clone, Copy, Debug)]
pub struct Handed {
    /// The place that it is sent to.
    pub place: u32,
    /// The number that it is sent under.
    pub number: u32,
    /// When it is due, on the runner's clock; 0: at once.
    pub due_ns: u64,
    /// Whether documents of its reply are wanted.
    pub wants_documents: bool,
}

/// The reply to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The place that it was sent to.
    pub place: u32,
    /// The number that it was sent under.
    pub number: u32,
    /// What became of it.
    pub outcome: Outcome,
    /// When the driver was called, on the runner's clock.
    pub sent_ns: u64,
    /// When the driver was done, on the runner's clock.
    pub done_ns: u64,
    /// Documents that its cursor brought.
    pub documents: u32,
    /// Bytes of these documents, as far as the driver tells.
    pub bytes: u64,
    /// Where the server's reply is among what arrived: a BSON document.
    pub body: Range<usize>,
}

/// What a runner says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// It takes commands; a document with what it is.
    Ready(Range<usize>),
    /// A command is done.
    Reply(Reply),
    /// What its clock said, with the number of the question.
    Clock {
        /// The question's number.
        number: u32,
        /// The time.
        now_ns: u64,
    },
    /// What it has used since its process started: a document.
    Use(Range<usize>),
    /// It can't go on; a document with the reason.
    Failed(Range<usize>),
}

/// Appends a frame of `kind` whose content `fill` appends.
pub fn append(out: &mut Vec<u8>, kind: u8, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    out.push(kind);
    fill(out);
    let length = (out.len() - start - LENGTH_BYTES) as u32;
    out[start..start + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
}

/// Appends a command, `message` being an `OP_MSG`: what it has as sequences of documents becomes arrays.
///
/// # Errors
/// When it is no such message.
pub fn append_command(out: &mut Vec<u8>, handed: Handed, message: &[u8]) -> Result<(), MessageError> {
    let message = op_msg::parse(message)?;
    append(out, to_runner::COMMAND, |out| {
        out.extend_from_slice(&handed.place.to_le_bytes());
        out.extend_from_slice(&handed.number.to_le_bytes());
        out.extend_from_slice(&handed.due_ns.to_le_bytes());
        out.push(if handed.wants_documents { WANTS_DOCUMENTS } else { 0 });
        let mut writer = Writer::new(out);
        let body = writer.begin_document();
        // Without its length and its end.
        writer.encoded_elements(&message.body[LENGTH_BYTES..message.body.len() - 1]);
        for sequence in message.sequences() {
            let array = writer.begin_array(&String::from_utf8_lossy(sequence.name));
            for (number, document) in sequence.documents().map_while(Result::ok).enumerate() {
                writer.encoded_document(&number.to_string(), document);
            }
            writer.end_document(array);
        }
        writer.end_document(body);
    });
    Ok(())
}

/// The first frame of `arrived`, and how many bytes it has; `None`: more must come.
///
/// # Errors
/// In words, when it is none.
pub fn first(arrived: &[u8]) -> Result<Option<(Frame, usize)>, String> {
    let Some(length) = arrived.first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
    let length = u32::from_le_bytes(*length) as usize;
    if !(1..=FRAME_BYTES_MAX).contains(&length) {
        return Err(format!("a frame of {length} bytes"));
    }
    let Some(content) = arrived.get(LENGTH_BYTES..LENGTH_BYTES + length) else { return Ok(None) };
    let mut cursor = Cursor { bytes: content, at: 0 };
    let kind = cursor.take::<1>()?[0];
    let frame = match kind {
        from_runner::READY => Frame::Ready(cursor.document()?),
        from_runner::REPLY => Frame::Reply(Reply {
            place: cursor.u32()?,
            number: cursor.u32()?,
            outcome: outcome(cursor.take::<1>()?[0])?,
            sent_ns: cursor.u64()?,
            done_ns: cursor.u64()?,
            documents: cursor.u32()?,
            bytes: cursor.u64()?,
            body: cursor.document()?,
        }),
        from_runner::CLOCK => Frame::Clock { number: cursor.u32()?, now_ns: cursor.u64()? },
        from_runner::USE => Frame::Use(cursor.document()?),
        from_runner::FAILED => Frame::Failed(cursor.document()?),
        other => return Err(format!("a frame of the unknown kind {other}")),
    };
    if cursor.at != content.len() {
        return Err(format!("a frame of the kind {kind} with {} bytes too many", content.len() - cursor.at));
    }
    Ok(Some((frame, LENGTH_BYTES + length)))
}

fn outcome(byte: u8) -> Result<Outcome, String> {
    const ALL: [Outcome; 5] =
        [Outcome::Answered, Outcome::Lost, Outcome::TimedOut, Outcome::NoConnection, Outcome::Refused];
    ALL.get(usize::from(byte)).copied().ok_or_else(|| format!("a reply with the unknown outcome {byte}"))
}

/// Reads the content of one frame; ranges count from the frame's start.
struct Cursor<'c> {
    bytes: &'c [u8],
    at: usize,
}

impl Cursor<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let found = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>());
        self.at += N;
        found.copied().ok_or_else(|| "a frame that ends too soon".to_owned())
    }

    fn u32(&mut self) -> Result<u32, String> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, String> {
        self.take().map(u64::from_le_bytes)
    }

    fn document(&mut self) -> Result<Range<usize>, String> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let (document, _) =
            split_document(rest).map_err(|error| format!("a frame without a document: {error}"))?;
        let start = self.at + LENGTH_BYTES;
        self.at += document.len();
        Ok(start..start + document.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(out: &mut Vec<u8>) {
        let mut writer = Writer::new(out);
        let body = writer.begin_document();
        writer.int32("ok", 1);
        writer.end_document(body);
    }

    fn reply(outcome: u8) -> Vec<u8> {
        let mut out = Vec::new();
        append(&mut out, from_runner::REPLY, |out| {
            out.extend_from_slice(&7_u32.to_le_bytes());
            out.extend_from_slice(&9_u32.to_le_bytes());
            out.push(outcome);
            out.extend_from_slice(&100_u64.to_le_bytes());
            out.extend_from_slice(&250_u64.to_le_bytes());
            out.extend_from_slice(&3_u32.to_le_bytes());
            out.extend_from_slice(&64_u64.to_le_bytes());
            document(out);
        });
        out
    }

    #[test]
    fn a_reply_is_read_as_it_was_written() {
        let bytes = reply(2);
        let Some((Frame::Reply(read), length)) = first(&bytes).unwrap() else { panic!("no reply") };
        assert_eq!((read.place, read.number, read.outcome), (7, 9, Outcome::TimedOut));
        assert_eq!((read.sent_ns, read.done_ns, read.documents, read.bytes), (100, 250, 3, 64));
        assert_eq!(length, bytes.len());
        let mut expected = Vec::new();
        document(&mut expected);
        assert_eq!(bytes[read.body], expected);
    }

    #[test]
    fn a_frame_that_is_cut_anywhere_awaits_the_rest() {
        let bytes = reply(0);
        for end in 0..bytes.len() {
            assert_eq!(first(&bytes[..end]), Ok(None), "cut at {end}");
        }
    }

    #[test]
    fn what_is_no_frame_is_told_in_words() {
        let wrong = |bytes: &[u8]| first(bytes).unwrap_err();
        assert!(wrong(b"Exception in thread").contains("bytes"));
        assert!(wrong(&[0, 0, 0, 0]).contains("0 bytes"));
        assert!(wrong(&[1, 0, 0, 0, 77]).contains("unknown kind 77"));
        assert!(wrong(&[3, 0, 0, 0, 3, 1, 2]).contains("too soon"));
        assert!(wrong(&reply(9)).contains("unknown outcome 9"));
        let mut long = reply(0);
        long.push(0);
        let length = (long.len() - LENGTH_BYTES) as u32;
        long[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
        assert!(wrong(&long).contains("1 bytes too many"));
    }

    proptest::proptest! {
        /// Whatever arrives is a frame, less than one, or told.
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            if let Ok(Some((_, length))) = first(&bytes) {
                assert!(length <= bytes.len());
            }
        }
    }

    #[test]
    fn the_documents_of_an_insert_become_an_array() {
        let mut message = Vec::new();
        op_msg::request(&mut message, 1, |writer| writer.string("insert", "c"));
        // A sequence of two documents behind the body.
        let mut documents = Vec::new();
        document(&mut documents);
        document(&mut documents);
        let name = b"documents\0";
        message.push(1);
        message.extend_from_slice(&((LENGTH_BYTES + name.len() + documents.len()) as u32).to_le_bytes());
        message.extend_from_slice(name);
        message.extend_from_slice(&documents);
        let length = message.len() as u32;
        message[..4].copy_from_slice(&length.to_le_bytes());
        let mut out = Vec::new();
        let handed = Handed { place: 1, number: 2, due_ns: 3, wants_documents: true };
        append_command(&mut out, handed, &message).unwrap();
        assert_eq!(out[LENGTH_BYTES], to_runner::COMMAND);
        assert_eq!(out[LENGTH_BYTES + 17], WANTS_DOCUMENTS);
        let body = brimline_bson::find(&out[LENGTH_BYTES + 18..], &["documents", "1", "ok"]);
        assert_eq!(body.and_then(brimline_bson::RawElement::integer), Some(1));
    }
}
