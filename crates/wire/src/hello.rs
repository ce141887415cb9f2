//! The handshake: the first request on every connection, and what its reply says about the server.
//!
//! Source: handshake specification,
//! <https://github.com/mongodb/specifications/blob/master/source/mongodb-handshake/handshake.md>. The command is `hello`,
//! which servers have had since 4.4.2; older servers refuse it with code 59.

use brimline_bson::{Element, ElementType, Reader, Value, Writer};
use thiserror::Error;

use crate::frame::MESSAGE_BYTES_MAX;
use crate::op_msg;
use crate::reply::{self, ReplyError};

/// Longest document of a server that does not say.
const DOCUMENT_BYTES_DEFAULT: usize = 16 * 1024 * 1024;
/// Most writes in one command of a server that does not say.
const WRITE_BATCH_DEFAULT: usize = 100_000;
/// Most names of one kind that are read of an answer; a replica set has at most 50 members.
const NAMES_MAX: usize = 64;

/// What a server says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Oldest wire protocol version it speaks.
    pub wire_version_min: i32,
    /// Newest wire protocol version it speaks: 9 is server version 4.4, 17 is 6.0, 25 is 8.0.
    pub wire_version_max: i32,
    /// Longest message it takes (`maxMessageSizeBytes`), at most [`MESSAGE_BYTES_MAX`].
    pub message_bytes_max: usize,
    /// Longest document it stores (`maxBsonObjectSize`), at most [`MESSAGE_BYTES_MAX`].
    pub document_bytes_max: usize,
    /// Most writes it takes in one command (`maxWriteBatchSize`).
    pub write_batch_max: usize,
    /// Name of its replica set.
    pub set_name: Option<String>,
    /// Whether it takes writes.
    pub is_writable_primary: bool,
    /// Whether it is a secondary of a replica set.
    pub is_secondary: bool,
    /// Whether it is a mongos, the router of a sharded cluster.
    pub is_mongos: bool,
    /// Which of the compressors that it was offered it takes.
    pub compressors: Vec<String>,
    /// What it says as a member of its replica set.
    pub member: Member,
    /// Which state of its set this is, as a document; `None` of a server before 4.4, which can't be waited for.
    pub topology_version: Option<Vec<u8>>,
}

/// What a member of a replica set says about itself and the set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Member {
    /// Its own address, as the set's configuration names it.
    pub me: Option<String>,
    /// Addresses of the members that hold data in sight of clients (`hosts` and `passives`), itself included.
    pub hosts: Vec<String>,
    /// Its tags.
    pub tags: Vec<(String, String)>,
    /// Whether it is hidden from clients.
    pub is_hidden: bool,
    /// Version of the set's configuration.
    pub set_version: Option<i64>,
    /// Number of the election that a primary has won, as an object id: later ones are greater.
    pub election_id: Option<[u8; 12]>,
    /// When the newest write that it holds was made, by the primary's wall clock.
    pub last_write_unix_ms: Option<i64>,
}

/// Why a handshake failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HelloError {
    /// The answer is no reply.
    #[error(transparent)]
    Reply(#[from] ReplyError),
    /// The server answered with an error.
    #[error("server refuses the handshake: {message} (code {code} {code_name})")]
    Refused {
        /// Error code.
        code: i32,
        /// Name of the error code, empty when the server gives none.
        code_name: String,
        /// Error message.
        message: String,
    },
}

/// Appends the handshake request to `out`. The client metadata show up in the server's log and `currentOp`.
pub fn request(out: &mut Vec<u8>, request_id: i32) {
    request_with(out, request_id, |_| {});
}

/// The same with what `more` writes, such as the begin of an authentication.
pub(crate) fn request_with(out: &mut Vec<u8>, request_id: i32, more: impl FnOnce(&mut Writer<'_>)) {
    op_msg::request(out, request_id, |writer| {
        writer.int32("hello", 1);
        let client = writer.begin_subdocument("client");
        let driver = writer.begin_subdocument("driver");
        writer.string("name", "brimline");
        writer.string("version", env!("CARGO_PKG_VERSION"));
        writer.end_document(driver);
        let os = writer.begin_subdocument("os");
        writer.string("type", std::env::consts::OS);
        writer.string("architecture", std::env::consts::ARCH);
        writer.end_document(os);
        writer.string("platform", "Rust");
        writer.end_document(client);
        more(writer);
        writer.string("$db", "admin");
    });
}

/// Appends the question again on a connection that is open. The server keeps the answer until it differs from what it said with
/// `topology_version`, `await_ms` long at most; without one it answers at once.
///
/// Source: server monitoring specification,
/// <https://github.com/mongodb/specifications/blob/master/source/server-discovery-and-monitoring/server-monitoring.md>.
pub fn request_change(out: &mut Vec<u8>, request_id: i32, topology_version: Option<&[u8]>, await_ms: i32) {
    op_msg::request(out, request_id, |writer| {
        writer.int32("hello", 1);
        if let Some(version) = topology_version {
            writer.encoded_document("topologyVersion", version);
            writer.int32("maxAwaitTimeMS", await_ms);
        }
        writer.string("$db", "admin");
    });
}

/// Reads the reply to [`request`].
///
/// # Errors
/// When the bytes are no reply, or when the server answered `ok: 0`.
pub fn parse(message: &[u8]) -> Result<Hello, HelloError> {
    let reply = reply::scan(message)?;
    if !reply.ok {
        return Err(HelloError::Refused {
            code: reply.code,
            code_name: reply::words(reply.code_name),
            message: reply::words(reply.message),
        });
    }
    let body = op_msg::parse(message).map_err(ReplyError::from)?.body;
    let mut hello = Hello::unsaid();
    let mut elements = Reader::new(body).map_err(ReplyError::from)?;
    while let Some(element) = elements.next_element().map_err(ReplyError::from)? {
        hello.take(element);
    }
    Ok(hello)
}

impl Hello {
    /// A server that says nothing about itself.
    fn unsaid() -> Self {
        Self {
            wire_version_min: 0,
            wire_version_max: 0,
            message_bytes_max: MESSAGE_BYTES_MAX,
            document_bytes_max: DOCUMENT_BYTES_DEFAULT,
            write_batch_max: WRITE_BATCH_DEFAULT,
            set_name: None,
            is_writable_primary: false,
            is_secondary: false,
            is_mongos: false,
            compressors: Vec::new(),
            member: Member::default(),
            topology_version: None,
        }
    }

    fn take(&mut self, Element { name, value }: Element<'_>) {
        match (name, value) {
            (b"minWireVersion", value) => self.wire_version_min = version(value),
            (b"maxWireVersion", value) => self.wire_version_max = version(value),
            (b"maxMessageSizeBytes", value) => {
                self.message_bytes_max = size(value, self.message_bytes_max).min(MESSAGE_BYTES_MAX);
            }
            (b"maxBsonObjectSize", value) => {
                self.document_bytes_max = size(value, self.document_bytes_max).min(MESSAGE_BYTES_MAX);
            }
            (b"maxWriteBatchSize", value) => self.write_batch_max = size(value, self.write_batch_max),
            (b"setName", Value::String(text)) => {
                self.set_name = Some(reply::words(text));
            }
            (b"isWritablePrimary", Value::Boolean(yes)) => self.is_writable_primary = yes,
            (b"secondary", Value::Boolean(yes)) => self.is_secondary = yes,
            (b"compression", Value::Array(names)) => {
                each_text(names, |_, name| self.compressors.push(name));
            }
            (b"msg", Value::String(text)) => self.is_mongos = text == b"isdbgrid",
            (b"topologyVersion", Value::Document(version)) => self.topology_version = Some(version.to_vec()),
            (name, value) => self.member.take(name, value),
        }
    }
}

impl Member {
    /// What can't be read counts as unsaid.
    fn take(&mut self, name: &[u8], value: Value<'_>) {
        match (name, value) {
            (b"me", Value::String(text)) => self.me = Some(reply::words(text)),
            (b"hosts" | b"passives", Value::Array(names)) => {
                each_text(names, |_, host| self.hosts.push(host));
            }
            (b"tags", Value::Document(tags)) => each_text(tags, |name, value| self.tags.push((name, value))),
            (b"hidden", Value::Boolean(yes)) => self.is_hidden = yes,
            (b"setVersion", value) => self.set_version = value.as_i64(),
            (b"electionId", Value::Other(ElementType::ObjectId, id)) => self.election_id = id.try_into().ok(),
            (b"lastWrite", Value::Document(last)) => {
                let date = Reader::new(last).and_then(|reader| reader.find("lastWriteDate"));
                if let Ok(Some(Value::DateTime(unix_ms))) = date {
                    self.last_write_unix_ms = Some(unix_ms);
                }
            }
            _ => {}
        }
    }
}

/// Hands out the texts of a document or an array with their names, as many as a server may have to say.
fn each_text(document: &[u8], mut take: impl FnMut(String, String)) {
    let Ok(mut elements) = Reader::new(document) else { return };
    for _ in 0..NAMES_MAX {
        let Ok(Some(Element { name, value })) = elements.next_element() else { return };
        if let Value::String(text) = value {
            take(reply::words(name), reply::words(text));
        }
    }
}

fn version(value: Value<'_>) -> i32 {
    value.as_i64().and_then(|version| i32::try_from(version).ok()).unwrap_or(0)
}

/// A positive size, or `unsaid` when it is none.
fn size(value: Value<'_>, unsaid: usize) -> usize {
    match value.as_i64().map(usize::try_from) {
        Some(Ok(size)) if size > 0 => size,
        _ => unsaid,
    }
}
