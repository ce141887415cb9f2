//! Replies: bytes go in as they come, cut anywhere, and are looked at once. Of the head everything is kept until the next reply,
//! of the body what is asked for.

mod chunks;
mod head;
mod refusal;

use thiserror::Error;

use self::chunks::Chunks;
pub use self::head::{Coding, Head};
use self::head::{Extent, HEAD_BYTES_MAX, each_header, head_end};
pub use self::refusal::{message, phrase};

/// Most of a body that is kept to be looked into. What comes after it is counted.
pub const KEPT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// What is kept of the body of a failure, for its message.
const FAILURE_BYTES_MAX: usize = 4 * 1024;
/// Most replies in front of the one that counts (1xx).
const INTERIM_REPLIES_MAX: u32 = 64;
/// A buffer up to this size is never given back; a larger one is, once replies need less than a quarter of it.
const BUFFER_BYTES_KEPT: usize = 256 * 1024;

/// A reply that is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct BadReply(pub String);

impl BadReply {
    #[cold]
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// What must be known of a request to read its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Whether it was `HEAD`, so that there is no body, whatever the headers say.
    pub is_head: bool,
    /// Whether the body is looked into.
    pub keeps_body: bool,
}

/// The reply to one request after the other.
#[derive(Debug, Default)]
pub struct Reply {
    asked: Option<Asked>,
    phase: Phase,
    /// The bytes of the head that have come, with the line that ends it.
    head_bytes: Vec<u8>,
    /// How much of it was searched for its end.
    searched: usize,
    head: Head,
    interim_replies: u32,
    body: Vec<u8>,
    body_bytes: u64,
    kept_bytes_max: usize,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Head,
    /// So many more bytes.
    Length(u64),
    Chunks(Chunks),
    UntilClose,
    Whole,
}

/// How a peer's end of the connection leaves a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// No byte of it had come.
    BeforeIt,
    /// Its end was the reply's.
    Whole,
    /// It is cut.
    Within,
}

impl Reply {
    /// Makes ready for the reply to a request.
    pub fn begin(&mut self, asked: Asked) {
        give_back(&mut self.body);
        self.asked = Some(asked);
        self.phase = Phase::Head;
        self.head_bytes.clear();
        self.searched = 0;
        self.interim_replies = 0;
        self.body.clear();
        self.body_bytes = 0;
    }

    /// Takes bytes that have arrived, and says how many of them belong to the reply: all, until it is whole.
    ///
    /// # Errors
    /// When they are no reply; the connection must then be dropped.
    pub fn take(&mut self, bytes: &[u8]) -> Result<usize, BadReply> {
        let mut taken = 0;
        while matches!(self.phase, Phase::Head) {
            let (of_head, is_whole) = self.take_head(&bytes[taken..])?;
            taken += of_head;
            if !is_whole {
                return Ok(taken);
            }
        }
        Ok(taken + self.take_body(&bytes[taken..])?)
    }

    /// Whether the reply is whole.
    pub fn is_whole(&self) -> bool {
        matches!(self.phase, Phase::Whole)
    }

    /// Whether any byte of it has come.
    pub fn has_begun(&self) -> bool {
        !(matches!(self.phase, Phase::Head) && self.head_bytes.is_empty() && self.interim_replies == 0)
    }

    /// The peer has closed the connection.
    pub fn end(&mut self) -> End {
        match self.phase {
            Phase::Whole => End::Whole,
            Phase::UntilClose => {
                self.phase = Phase::Whole;
                End::Whole
            }
            _ if self.has_begun() => End::Within,
            _ => End::BeforeIt,
        }
    }

    /// What the head says, once it has come.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Bytes of the body, as they came.
    pub fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// What was kept of the body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Whether all of the body was kept.
    pub fn has_whole_body(&self) -> bool {
        self.body.len() as u64 == self.body_bytes
    }

    /// Goes through the headers, in order.
    pub fn each_header<'h>(&'h self, see: impl FnMut(&'h str, &'h [u8])) {
        each_header(&self.head_bytes, see);
    }

    /// Takes bytes of a head: how many, and whether it is whole.
    fn take_head(&mut self, bytes: &[u8]) -> Result<(usize, bool), BadReply> {
        let before = self.head_bytes.len();
        // Not all of it: the body may be large.
        let room = (HEAD_BYTES_MAX + 1).saturating_sub(before).min(bytes.len());
        // Mostly the head is in the first bytes, and what follows it needn't be copied.
        let end = if before == 0 {
            head_end(&bytes[..room], 0)
        } else {
            self.head_bytes.extend_from_slice(&bytes[..room]);
            head_end(&self.head_bytes, self.searched)
        };
        let Some(end) = end else {
            if before == 0 {
                self.head_bytes.extend_from_slice(&bytes[..room]);
            }
            self.searched = self.head_bytes.len();
            if self.head_bytes.len() > HEAD_BYTES_MAX {
                return Err(BadReply::new(format!("the headers are longer than {HEAD_BYTES_MAX} bytes")));
            }
            self.refuse_what_is_no_http()?;
            return Ok((room, false));
        };
        if before == 0 {
            self.head_bytes.extend_from_slice(&bytes[..end]);
        }
        self.head_bytes.truncate(end);
        self.judge_head()?;
        Ok((end - before, true))
    }

    /// A peer that speaks something else may never send the line that ends a head.
    fn refuse_what_is_no_http(&self) -> Result<(), BadReply> {
        const START: &[u8] = b"HTTP/1.";
        let came = &self.head_bytes[..self.head_bytes.len().min(START.len())];
        // Empty lines may come first.
        if came.starts_with(b"\r") || came.starts_with(b"\n") || START.starts_with(came) {
            return Ok(());
        }
        Err(BadReply::new("what the server sends is not HTTP/1.1"))
    }

    fn judge_head(&mut self) -> Result<(), BadReply> {
        let asked = self.asked.ok_or_else(|| BadReply::new("a reply came that nobody asked for"))?;
        self.head = Head::parse(&self.head_bytes)?;
        let status = self.head.status;
        if (100..200).contains(&status) {
            self.interim_replies += 1;
            if status == 101 || self.interim_replies > INTERIM_REPLIES_MAX {
                return Err(BadReply::new(format!(
                    "the server answers with status {status} what asked for none"
                )));
            }
            self.head_bytes.clear();
            self.searched = 0;
            return Ok(());
        }
        let has_no_body = asked.is_head || status == 204 || status == 304;
        self.phase = match self.head.extent {
            _ if has_no_body => Phase::Whole,
            Extent::Length(0) => Phase::Whole,
            Extent::Length(length) => Phase::Length(length),
            Extent::Chunks => Phase::Chunks(Chunks::default()),
            Extent::UntilClose => {
                self.head.closes = true;
                Phase::UntilClose
            }
        };
        self.kept_bytes_max = match () {
            () if asked.keeps_body => KEPT_BYTES_MAX,
            () if status >= 300 => FAILURE_BYTES_MAX,
            () => 0,
        };
        Ok(())
    }

    fn take_body(&mut self, bytes: &[u8]) -> Result<usize, BadReply> {
        match &mut self.phase {
            Phase::Head | Phase::Whole => Ok(0),
            Phase::Length(left) => {
                let taken = bytes.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= taken as u64;
                if *left == 0 {
                    self.phase = Phase::Whole;
                }
                self.keep(&bytes[..taken]);
                Ok(taken)
            }
            Phase::UntilClose => {
                self.keep(bytes);
                Ok(bytes.len())
            }
            Phase::Chunks(_) => self.take_chunks(bytes),
        }
    }

    fn take_chunks(&mut self, bytes: &[u8]) -> Result<usize, BadReply> {
        let mut taken = 0;
        while let Phase::Chunks(chunks) = &mut self.phase {
            let step = chunks.take(&bytes[taken..])?;
            if chunks.are_over() {
                self.phase = Phase::Whole;
            }
            self.keep(&bytes[taken..][step.data.clone()]);
            taken += step.taken;
            if step.taken == 0 || taken == bytes.len() {
                break;
            }
        }
        Ok(taken)
    }

    fn keep(&mut self, data: &[u8]) {
        let room = self.kept_bytes_max.saturating_sub(self.body.len());
        // Once something was left out, nothing more is taken: what is kept is a beginning.
        if room > 0 && self.has_whole_body() {
            self.body.extend_from_slice(&data[..data.len().min(room)]);
        }
        self.body_bytes = self.body_bytes.saturating_add(data.len() as u64);
    }
}

fn give_back(buffer: &mut Vec<u8>) {
    let capacity = buffer.capacity();
    if capacity > BUFFER_BYTES_KEPT && buffer.len() < capacity / 4 {
        *buffer = Vec::new();
    }
}
