//! What a reply says, found in one pass over its bytes without allocating: whether the command worked, which errors and
//! labels there are, how many documents came back or were changed.
//!
//! A failed operation is a value here: `ok: 0`, `writeErrors` and `writeConcernError` are parts of a [`Reply`]. Only bytes
//! that are no reply at all are a [`ReplyError`].

use brimline_bson::{Element, ReadError, Reader, Value};
use thiserror::Error;

use crate::op_msg::{self, MORE_TO_COME, MessageError};

/// Bytes kept of a text of the server's.
const WORDS_BYTES_MAX: usize = 1_000;

/// A scanned reply. Texts are bytes as the server sent them and may be no UTF-8; what is missing is 0 or empty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reply<'a> {
    /// The server's number of this message.
    pub request_id: i32,
    /// The request it answers; the caller compares it with the request it sent.
    pub response_to: i32,
    /// Whether the command as a whole worked. Writes may have failed all the same: see `write_errors`.
    pub ok: bool,
    /// Error code of the command.
    pub code: i32,
    /// Name of the error code (`codeName`).
    pub code_name: &'a [u8],
    /// Error message (`errmsg`).
    pub message: &'a [u8],
    /// Error labels.
    pub labels: Labels,
    /// How many writes of the command failed.
    pub write_errors: u32,
    /// The first of them.
    pub first_write_error: Option<WriteError<'a>>,
    /// All of them as the server sent them, for [`each_write_error`](Self::each_write_error).
    write_error_list: &'a [u8],
    /// The write was done, but not acknowledged as asked for.
    pub write_concern_error: Option<WriteConcernError<'a>>,
    /// Documents in `firstBatch` or `nextBatch`, values of a `distinct`, 1 where a `findAndModify` has found one.
    pub documents: u32,
    /// The cursor, 0 when it is exhausted or there is none.
    pub cursor_id: i64,
    /// Documents matched, inserted or deleted.
    pub n: i64,
    /// Documents changed by an update.
    pub n_modified: i64,
    /// Documents inserted by an update.
    pub upserted: u32,
}

impl<'a> Reply<'a> {
    /// Hands every element of `writeErrors` to `take`, in the server's order.
    ///
    /// # Errors
    /// When an element is no BSON; those before it have been handed out.
    pub fn each_write_error(&self, mut take: impl FnMut(WriteError<'a>)) -> Result<(), ReplyError> {
        if self.write_errors == 0 {
            return Ok(());
        }
        let mut elements = Reader::new(self.write_error_list)?;
        while let Some(element) = elements.next_element()? {
            // What is no document counts as an error of which nothing is known.
            take(match element.value {
                Value::Document(error) => scan_write_error(error)?,
                _ => WriteError::default(),
            });
        }
        Ok(())
    }
}

/// An element of `writeErrors`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteError<'a> {
    /// Which statement of the command failed.
    pub index: i32,
    /// Error code.
    pub code: i32,
    /// Error message (`errmsg`).
    pub message: &'a [u8],
}

/// The `writeConcernError` of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteConcernError<'a> {
    /// Error code.
    pub code: i32,
    /// Name of the error code (`codeName`).
    pub code_name: &'a [u8],
    /// Error message (`errmsg`).
    pub message: &'a [u8],
}

/// The set of known error labels in a reply. Labels that are not known are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Labels(u8);

impl Labels {
    /// The transaction may be run again as a whole.
    pub const TRANSIENT_TRANSACTION_ERROR: Self = Self(1 << 0);
    /// The commit may be sent again.
    pub const UNKNOWN_TRANSACTION_COMMIT_RESULT: Self = Self(1 << 1);
    /// The write may be sent again under the same transaction number.
    pub const RETRYABLE_WRITE_ERROR: Self = Self(1 << 2);
    /// No attempt of the write has changed anything.
    pub const NO_WRITES_PERFORMED: Self = Self(1 << 3);
    /// The change stream may be resumed.
    pub const RESUMABLE_CHANGE_STREAM_ERROR: Self = Self(1 << 4);
    /// The server refused because it is overloaded.
    pub const SYSTEM_OVERLOADED_ERROR: Self = Self(1 << 5);
    /// The command may be sent again, whatever it is.
    pub const RETRYABLE_ERROR: Self = Self(1 << 6);

    const NAMES: [(Self, &'static str); 7] = [
        (Self::TRANSIENT_TRANSACTION_ERROR, "TransientTransactionError"),
        (Self::UNKNOWN_TRANSACTION_COMMIT_RESULT, "UnknownTransactionCommitResult"),
        (Self::RETRYABLE_WRITE_ERROR, "RetryableWriteError"),
        (Self::NO_WRITES_PERFORMED, "NoWritesPerformed"),
        (Self::RESUMABLE_CHANGE_STREAM_ERROR, "ResumableChangeStreamError"),
        (Self::SYSTEM_OVERLOADED_ERROR, "SystemOverloadedError"),
        (Self::RETRYABLE_ERROR, "RetryableError"),
    ];

    /// Whether every label of `labels` is in this set.
    pub const fn contains(self, labels: Self) -> bool {
        self.0 & labels.0 == labels.0
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The labels as the server writes them.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().filter(move |&(label, _)| self.contains(label)).map(|(_, name)| name)
    }

    fn insert_named(&mut self, text: &[u8]) {
        if let Some(&(label, _)) = Self::NAMES.iter().find(|(_, name)| name.as_bytes() == text) {
            self.0 |= label.0;
        }
    }
}

/// Why bytes are no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReplyError {
    /// The message.
    #[error(transparent)]
    Message(#[from] MessageError),
    /// The body, or a document in it.
    #[error(transparent)]
    Document(#[from] ReadError),
    /// The body has no numeric `ok`.
    #[error("reply has no ok field")]
    NoOk,
    /// The server announces messages that were not asked for, so that replies and requests would fall apart.
    #[error("reply announces another message that was not asked for")]
    MoreToCome,
}

/// Reads a whole message as a reply. Allocates nothing, and descends only into the fields it knows.
///
/// # Errors
/// When the bytes are no `OP_MSG`, no BSON as far as they are read, or lack `ok`.
#[expect(clippy::inline_always, reason = "out of line it costs every operation some dozens of instructions")]
#[inline(always)]
pub fn scan(message: &[u8]) -> Result<Reply<'_>, ReplyError> {
    let message = op_msg::parse(message)?;
    if message.flags & MORE_TO_COME != 0 {
        return Err(ReplyError::MoreToCome);
    }
    let mut reply = Reply {
        request_id: message.header.request_id,
        response_to: message.header.response_to,
        ok: false,
        code: 0,
        code_name: b"",
        message: b"",
        labels: Labels::default(),
        write_errors: 0,
        first_write_error: None,
        write_error_list: b"",
        write_concern_error: None,
        documents: 0,
        cursor_id: 0,
        n: 0,
        n_modified: 0,
        upserted: 0,
    };
    // Into a reply in its place, because one that is handed back is copied.
    scan_body(&mut reply, message.body)?;
    Ok(reply)
}

/// The first document in the batch of a find's reply; none where there is none or the bytes are no reply.
pub fn first_document(message: &[u8]) -> Option<&[u8]> {
    let body = op_msg::parse(message).ok()?.body;
    let Value::Document(cursor) = Reader::new(body).ok()?.find("cursor").ok()?? else { return None };
    let Value::Array(batch) = Reader::new(cursor).ok()?.find("firstBatch").ok()?? else { return None };
    Reader::new(batch).ok()?.next_raw().ok()??.document()
}

fn scan_body<'a>(reply: &mut Reply<'a>, body: &'a [u8]) -> Result<(), ReplyError> {
    let mut ok = None;
    let mut body = Reader::new(body)?;
    while let Some(element) = body.next_raw()? {
        let name = element.name;
        // A chain of comparisons, because `match` would compare these names byte by byte.
        if name == b"ok" {
            ok = element.number();
        } else if name == b"cursor" {
            element.document().map_or(Ok(()), |cursor| scan_cursor(reply, cursor))?;
        } else if name == b"n" {
            reply.n = element.integer().unwrap_or(0);
        } else if name == b"nModified" {
            reply.n_modified = element.integer().unwrap_or(0);
        } else {
            scan_rare(reply, name, element.value())?;
        }
    }
    reply.ok = ok.ok_or(ReplyError::NoOk)? > 0.0;
    Ok(())
}

/// What an ordinary reply of a working server lacks.
#[inline(never)]
fn scan_rare<'a>(reply: &mut Reply<'a>, name: &[u8], value: Value<'a>) -> Result<(), ReadError> {
    match (name, value) {
        (b"code", value) => reply.code = integer_32(value),
        (b"codeName", Value::String(text)) => reply.code_name = text,
        (b"errmsg", Value::String(text)) => reply.message = text,
        (b"errorLabels", Value::Array(labels)) => scan_labels(&mut reply.labels, labels)?,
        (b"writeErrors", Value::Array(errors)) => scan_write_errors(reply, errors)?,
        (b"upserted", Value::Array(upserted)) => reply.upserted = count_elements(upserted)?,
        (b"values", Value::Array(values)) => reply.documents = count_elements(values)?,
        (b"value", Value::Document(_)) => reply.documents = 1,
        (b"lastErrorObject", Value::Document(outcome)) => scan_find_and_modify(reply, outcome)?,
        (b"writeConcernError", Value::Document(error)) => {
            reply.write_concern_error = Some(scan_write_concern_error(error)?);
        }
        _ => {}
    }
    Ok(())
}

/// What a `findAndModify` did.
fn scan_find_and_modify(reply: &mut Reply<'_>, outcome: &[u8]) -> Result<(), ReadError> {
    let mut elements = Reader::new(outcome)?;
    while let Some(Element { name, value }) = elements.next_element()? {
        match (name, value) {
            (b"n", value) => reply.n = value.as_i64().unwrap_or(0),
            (b"updatedExisting", Value::Boolean(true)) => reply.n_modified = 1,
            (b"upserted", _) => reply.upserted = 1,
            _ => {}
        }
    }
    Ok(())
}

fn scan_cursor(reply: &mut Reply<'_>, cursor: &[u8]) -> Result<(), ReadError> {
    let mut elements = Reader::new(cursor)?;
    while let Some(element) = elements.next_raw()? {
        let name = element.name;
        if name == b"firstBatch" || name == b"nextBatch" {
            reply.documents = element.array().map_or(Ok(0), count_elements)?;
        } else if name == b"id" {
            reply.cursor_id = element.integer().unwrap_or(0);
        }
    }
    Ok(())
}

fn scan_labels(labels: &mut Labels, array: &[u8]) -> Result<(), ReadError> {
    let mut elements = Reader::new(array)?;
    while let Some(element) = elements.next_element()? {
        if let Value::String(text) = element.value {
            labels.insert_named(text);
        }
    }
    Ok(())
}

fn scan_write_errors<'a>(reply: &mut Reply<'a>, array: &'a [u8]) -> Result<(), ReadError> {
    reply.write_errors = count_elements(array)?;
    reply.write_error_list = array;
    if let Some(Element { value: Value::Document(first), .. }) = Reader::new(array)?.next_element()? {
        reply.first_write_error = Some(scan_write_error(first)?);
    }
    Ok(())
}

fn scan_write_error(document: &[u8]) -> Result<WriteError<'_>, ReadError> {
    let mut error = WriteError::default();
    let mut elements = Reader::new(document)?;
    while let Some(Element { name, value }) = elements.next_element()? {
        match (name, value) {
            (b"index", value) => error.index = integer_32(value),
            (b"code", value) => error.code = integer_32(value),
            (b"errmsg", Value::String(text)) => error.message = text,
            _ => {}
        }
    }
    Ok(error)
}

fn scan_write_concern_error(document: &[u8]) -> Result<WriteConcernError<'_>, ReadError> {
    let mut error = WriteConcernError::default();
    let mut elements = Reader::new(document)?;
    while let Some(Element { name, value }) = elements.next_element()? {
        match (name, value) {
            (b"code", value) => error.code = integer_32(value),
            (b"codeName", Value::String(text)) => error.code_name = text,
            (b"errmsg", Value::String(text)) => error.message = text,
            _ => {}
        }
    }
    Ok(error)
}

fn count_elements(array: &[u8]) -> Result<u32, ReadError> {
    let mut elements = Reader::new(array)?;
    let mut count = 0;
    while elements.next_raw()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// A text of the server's for people to read: as much of it as they would. The rest of a long one is left out.
pub fn words(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(WORDS_BYTES_MAX)]).into_owned()
}

/// A value that should be an integer of 32 bits; any other counts as missing.
fn integer_32(value: Value<'_>) -> i32 {
    value.as_i64().and_then(|integer| i32::try_from(integer).ok()).unwrap_or(0)
}
