//! Frames to the engine and from it, as docs/reference/runners.md describes them.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

use mongodb::bson::{Bson, Document, doc};
use rustix::time::{ClockId, clock_gettime};

/// Kinds of frames that come.
pub const OPEN: u8 = 1;
pub const COMMAND: u8 = 2;
pub const CLOCK: u8 = 3;
pub const USE: u8 = 4;
/// Kinds of frames that go.
pub const READY: u8 = 1;
const REPLY: u8 = 2;
const CLOCK_IS: u8 = 3;
pub const USED: u8 = 4;
pub const FAILED: u8 = 5;

const FRAME_BYTES_MAX: u32 = 64 << 20;
const WANTS_DOCUMENTS: u8 = 1;

/// What became of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Outcome {
    Answered = 0,
    Lost = 1,
    TimedOut = 2,
    Refused = 4,
}

/// The server's reply or what stands for it, and how many documents came.
pub struct Done {
    pub outcome: Outcome,
    pub body: Document,
    pub documents: usize,
}

impl Done {
    /// A command that the server did not answer, and why.
    pub fn failed(outcome: Outcome, message: impl Into<String>) -> Self {
        Self { outcome, body: doc! { "message": message.into(), "label": "error" }, documents: 0 }
    }
}

/// What the system's monotonic clock says, which is one for all processes.
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Frames to the engine, each whole, whichever task it comes from.
pub struct Frames(Mutex<File>);

impl Frames {
    pub fn new() -> io::Result<Self> {
        Ok(Self(Mutex::new(io::stdout().as_fd().try_clone_to_owned()?.into())))
    }

    fn write(&self, kind: u8, content: &[&[u8]]) {
        let length: usize = 1 + content.iter().map(|part| part.len()).sum::<usize>();
        let mut frame = Vec::with_capacity(4 + length);
        frame.extend_from_slice(&(length as u32).to_le_bytes());
        frame.push(kind);
        for part in content {
            frame.extend_from_slice(part);
        }
        let mut out = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // An engine that is gone shows by the end of its frames.
        drop(out.write_all(&frame));
    }

    pub fn send(&self, kind: u8, document: &Document) {
        self.write(kind, &[&encoded(document)]);
    }

    pub fn clock(&self, question: &[u8]) {
        self.write(CLOCK_IS, &[question, &now_ns().to_le_bytes()]);
    }

    pub fn reply(&self, command: &Command, done: &Done, sent_ns: u64, done_ns: u64) {
        self.write(
            REPLY,
            &[
                &command.place.to_le_bytes(),
                &command.number.to_le_bytes(),
                &[done.outcome as u8],
                &sent_ns.to_le_bytes(),
                &done_ns.to_le_bytes(),
                &(done.documents as u32).to_le_bytes(),
                &0_u64.to_le_bytes(),
                &encoded(&done.body),
            ],
        );
    }
}

fn encoded(document: &Document) -> Vec<u8> {
    let otherwise = |error: mongodb::bson::error::Error| doc! { "message": error.to_string() }.to_vec();
    document.to_vec().or_else(otherwise).unwrap_or_default()
}

/// The next frame: its kind and its content; nothing when the engine is gone.
pub fn next(from: &mut impl Read) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 4];
    from.read_exact(&mut head).ok()?;
    let length = u32::from_le_bytes(head);
    if length == 0 || length > FRAME_BYTES_MAX {
        return None;
    }
    let mut content = vec![0; length as usize];
    from.read_exact(&mut content).ok()?;
    let kind = content.remove(0);
    Some((kind, content))
}

/// A command as it came, and what it says of its transaction.
pub struct Command {
    pub place: u32,
    number: u32,
    pub due_ns: u64,
    pub wants_document: bool,
    /// Its fields; those of its session are taken out.
    pub body: Result<Document, String>,
    pub begins: bool,
    pub is_inside: bool,
}

impl Command {
    /// `None` of what is too short for one.
    pub fn read(content: &[u8]) -> Option<Self> {
        let (place, rest) = content.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let (due_ns, rest) = rest.split_first_chunk()?;
        let (&flags, rest) = rest.split_first()?;
        let mut body = Document::from_reader(rest).map_err(|error| error.to_string());
        let (mut begins, mut is_inside) = (false, false);
        if let Ok(body) = &mut body {
            begins = body.remove("startTransaction") == Some(Bson::Boolean(true));
            is_inside = body.remove("autocommit").is_some();
            body.remove("lsid");
            body.remove("txnNumber");
        }
        Some(Self {
            place: u32::from_le_bytes(*place),
            number: u32::from_le_bytes(*number),
            due_ns: u64::from_le_bytes(*due_ns),
            wants_document: flags & WANTS_DOCUMENTS != 0,
            body,
            begins,
            is_inside,
        })
    }

    /// How many documents it is to insert, and whether the first that fails is the last that is tried.
    pub fn documents(&self) -> (usize, bool) {
        let body = self.body.as_ref().ok();
        let documents = body.and_then(|body| body.get_array("documents").ok());
        let is_ordered = body.and_then(|body| body.get_bool("ordered").ok()).unwrap_or(true);
        (documents.map_or(0, Vec::len), is_ordered)
    }
}
