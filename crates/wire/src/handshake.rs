//! Owns what comes before the first command of a connection: connecting, `hello`, and authentication. It never blocks: the
//! caller waits for the socket and calls [`Handshake::advance`] again.
//!
//! Sources: the drivers' handshake and authentication specifications. The first message of the authentication goes out with
//! `hello` (`speculativeAuthenticate`), which saves a round trip.

use std::io;
use std::sync::Arc;

use brimline_bson::{Reader, Value, Writer};
use thiserror::Error;

use crate::access::{self, Access, Login};
use crate::compression::Offer;
use crate::connection::{Connection, ConnectionError, SendState};
use crate::hello::{self, Hello, HelloError};
use crate::op_msg;
use crate::reply::{self, ReplyError};
use crate::scram::{Conversation, Mechanism, ScramError};

/// Error codes with which a server refuses a login for good: `BadValue`, `UserNotFound`, `Unauthorized`,
/// `AuthenticationFailed`, `MechanismUnavailable`, and Atlas's own. Others, as of a server that shuts down, may be gone with the next try.
const REFUSED_CODES: [i32; 6] = [2, 11, 13, 18, 334, 8_000];
/// The database of users that the server knows by other means.
const EXTERNAL: &str = "$external";

/// A connection being made.
#[derive(Debug)]
pub struct Handshake {
    access: Arc<Access>,
    stage: Stage,
    is_sending: bool,
    request_id: i32,
    hello: Option<Hello>,
    conversation: Option<Conversation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Connecting,
    Greeting,
    /// The first message of SCRAM is out.
    Starting,
    /// The proof is out.
    Proving,
    /// The empty message that a server wants which doesn't skip it.
    Closing,
    /// The certificate is offered.
    Certifying,
}

/// How far a handshake is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Call again when the socket is writable.
    AwaitsRoom,
    /// Call again when the socket is readable.
    AwaitsReply,
    /// The connection takes commands.
    Done(Box<Hello>),
}

/// Why a connection can't be made.
#[derive(Debug, Error)]
pub enum HandshakeError {
    /// The connection.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// The server's first answer.
    #[error(transparent)]
    Hello(#[from] HelloError),
    /// An answer that can't be read.
    #[error(transparent)]
    Reply(#[from] ReplyError),
    /// An answer to another request.
    #[error("the server answered another request")]
    Foreign,
    /// The server says no.
    #[error("the server refuses the authentication: {message} (code {code} {code_name})")]
    Refused {
        /// Error code.
        code: i32,
        /// Its name, empty when the server gives none.
        code_name: String,
        /// Error message.
        message: String,
    },
    /// The server has none of the compressors that were offered.
    #[error("the server compresses with none of: {0}")]
    NoCompressor(String),
    /// The server can't be believed, or the password can't be used.
    #[error(transparent)]
    Scram(#[from] ScramError),
}

impl HandshakeError {
    /// Whether another try would end the same way and might lock an account.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Refused { code, .. } => REFUSED_CODES.contains(code),
            Self::Scram(_) | Self::NoCompressor(_) => true,
            _ => false,
        }
    }
}

impl From<io::Error> for HandshakeError {
    fn from(error: io::Error) -> Self {
        Self::Connection(error.into())
    }
}

/// What a server says in a step of SASL.
struct Sasl<'a> {
    conversation_id: i32,
    is_done: bool,
    payload: &'a [u8],
}

impl Handshake {
    /// For a connection that was just opened.
    pub(crate) fn new(access: Arc<Access>) -> Self {
        Self {
            access,
            stage: Stage::Connecting,
            is_sending: false,
            request_id: 0,
            hello: None,
            conversation: None,
        }
    }

    /// Does what the socket allows.
    ///
    /// # Errors
    /// When the connection can't be made; it must then be dropped. A login that the server refuses is remembered, and no further
    /// connection sends it.
    pub fn advance(&mut self, connection: &mut Connection) -> Result<Step, HandshakeError> {
        let outcome = self.follow(connection).and_then(|step| self.agree(step, connection));
        match &outcome {
            Ok(Step::Done(_)) if self.access.login().is_some() => self.access.accepted(),
            Err(error) if error.is_final() => self.access.refused(error.to_string()),
            _ => {}
        }
        outcome
    }

    /// Once the server is open, both sides compress as they have said.
    fn agree(&self, step: Step, connection: &mut Connection) -> Result<Step, HandshakeError> {
        let offer = self.access.compression();
        if let Step::Done(hello) = &step
            && !offer.compressors.is_empty()
        {
            let codec = offer.best(&hello.compressors);
            connection.compress(codec.ok_or_else(|| HandshakeError::NoCompressor(offer.names()))?);
        }
        Ok(step)
    }

    fn follow(&mut self, connection: &mut Connection) -> Result<Step, HandshakeError> {
        if self.stage == Stage::Connecting {
            connection.finish_connect()?;
            self.greet(connection)?;
            return self.send(connection, Stage::Greeting);
        }
        if self.is_sending {
            return self.send(connection, self.stage);
        }
        // Copied, because the next request is rendered while the answer is read; this happens once per connection.
        let Some(message) = connection.receive()?.map(|received| received.message.to_vec()) else {
            return Ok(Step::AwaitsReply);
        };
        match self.stage {
            Stage::Connecting => Ok(Step::AwaitsRoom),
            Stage::Greeting => self.welcome(connection, &message),
            Stage::Starting => {
                let body = self.answered(&message)?;
                self.prove(connection, &sasl(body)?)
            }
            Stage::Proving => {
                let body = self.answered(&message)?;
                self.conclude(connection, &sasl(body)?)
            }
            Stage::Closing | Stage::Certifying => {
                self.answered(&message)?;
                self.done()
            }
        }
    }

    fn send(&mut self, connection: &mut Connection, stage: Stage) -> Result<Step, HandshakeError> {
        self.stage = stage;
        self.is_sending = connection.send()? == SendState::Blocked;
        Ok(if self.is_sending { Step::AwaitsRoom } else { Step::AwaitsReply })
    }

    fn greet(&mut self, connection: &mut Connection) -> Result<(), HandshakeError> {
        let access = Arc::clone(&self.access);
        if let Some(Login::Password { username, mechanism, .. }) = access.login() {
            self.conversation = Some(access::begin(mechanism.unwrap_or(Mechanism::Sha256), username)?);
        }
        let conversation = self.conversation.as_ref();
        hello::request_with(connection.request(), self.request_id, |writer| {
            write_offer(writer, access.compression());
            match access.login() {
                None => {}
                Some(Login::Password { username, source, mechanism, .. }) => {
                    if mechanism.is_none() {
                        writer.string("saslSupportedMechs", &format!("{source}.{}", username.as_str()));
                    }
                    let first = writer.begin_subdocument("speculativeAuthenticate");
                    if let Some(conversation) = conversation {
                        write_start(writer, conversation);
                    }
                    writer.string("db", source);
                    writer.end_document(first);
                }
                Some(Login::Certificate { username }) => {
                    let first = writer.begin_subdocument("speculativeAuthenticate");
                    write_certificate(writer, username.as_deref());
                    writer.string("db", EXTERNAL);
                    writer.end_document(first);
                }
            }
        });
        Ok(())
    }

    fn welcome(&mut self, connection: &mut Connection, message: &[u8]) -> Result<Step, HandshakeError> {
        self.hello = Some(hello::parse(message)?);
        let body = op_msg::parse(message).map_err(ReplyError::from)?.body;
        let first = Reader::new(body)
            .and_then(|reader| reader.find("speculativeAuthenticate"))
            .map_err(ReplyError::from)?;
        let access = Arc::clone(&self.access);
        match (access.login(), first) {
            (None, _) | (Some(Login::Certificate { .. }), Some(Value::Document(_))) => self.done(),
            (Some(Login::Password { .. }), Some(Value::Document(first))) => {
                self.prove(connection, &sasl(first)?)
            }
            (Some(Login::Password { username, source, mechanism, .. }), _) => {
                // The server has nothing to say to the guess: the user may have keys of the other mechanism only.
                let mechanism = mechanism.unwrap_or_else(|| best_mechanism(body));
                let conversation = access::begin(mechanism, username)?;
                let out = connection.request();
                self.request_id += 1;
                op_msg::request(out, self.request_id, |writer| {
                    write_start(writer, &conversation);
                    writer.string("$db", source);
                });
                self.conversation = Some(conversation);
                self.send(connection, Stage::Starting)
            }
            (Some(Login::Certificate { username }), _) => {
                self.request_id += 1;
                op_msg::request(connection.request(), self.request_id, |writer| {
                    write_certificate(writer, username.as_deref());
                    writer.string("$db", EXTERNAL);
                });
                self.send(connection, Stage::Certifying)
            }
        }
    }

    fn prove(&mut self, connection: &mut Connection, sasl: &Sasl<'_>) -> Result<Step, HandshakeError> {
        let conversation = self.conversation.as_mut().ok_or(ScramError::Unreadable)?;
        let challenge = conversation.challenge(sasl.payload)?;
        let keys = self.access.keys(conversation.mechanism(), &challenge)?;
        let proof = conversation.proof(&challenge, &keys);
        self.go_on(connection, sasl.conversation_id, &proof, Stage::Proving)
    }

    fn conclude(&mut self, connection: &mut Connection, sasl: &Sasl<'_>) -> Result<Step, HandshakeError> {
        self.conversation.as_ref().ok_or(ScramError::Unreadable)?.verify(sasl.payload)?;
        if sasl.is_done {
            return self.done();
        }
        self.go_on(connection, sasl.conversation_id, b"", Stage::Closing)
    }

    fn go_on(
        &mut self,
        connection: &mut Connection,
        conversation_id: i32,
        payload: &[u8],
        stage: Stage,
    ) -> Result<Step, HandshakeError> {
        let source = match self.access.login() {
            Some(Login::Password { source, .. }) => source.as_str(),
            _ => EXTERNAL,
        };
        self.request_id += 1;
        op_msg::request(connection.request(), self.request_id, |writer| {
            writer.int32("saslContinue", 1);
            writer.int32("conversationId", conversation_id);
            writer.binary("payload", payload);
            writer.string("$db", source);
        });
        self.send(connection, stage)
    }

    fn done(&mut self) -> Result<Step, HandshakeError> {
        self.hello.take().map(|hello| Step::Done(Box::new(hello))).ok_or(HandshakeError::Foreign)
    }

    /// The body of the answer to the last request, when that was accepted.
    fn answered<'m>(&self, message: &'m [u8]) -> Result<&'m [u8], HandshakeError> {
        let reply = reply::scan(message)?;
        if reply.response_to != self.request_id {
            return Err(HandshakeError::Foreign);
        }
        if !reply.ok {
            return Err(HandshakeError::Refused {
                code: reply.code,
                code_name: reply::words(reply.code_name),
                message: reply::words(reply.message),
            });
        }
        Ok(op_msg::parse(message).map_err(ReplyError::from)?.body)
    }
}

fn write_offer(writer: &mut Writer<'_>, offer: &Offer) {
    if offer.compressors.is_empty() {
        return;
    }
    let names = writer.begin_array("compression");
    for (index, compressor) in offer.compressors.iter().enumerate() {
        writer.string(&index.to_string(), compressor.name());
    }
    writer.end_document(names);
}

fn write_start(writer: &mut Writer<'_>, conversation: &Conversation) {
    writer.int32("saslStart", 1);
    writer.string("mechanism", conversation.mechanism().name());
    writer.binary("payload", &conversation.first_message());
    let options = writer.begin_subdocument("options");
    writer.boolean("skipEmptyExchange", true);
    writer.end_document(options);
}

fn write_certificate(writer: &mut Writer<'_>, username: Option<&str>) {
    writer.int32("authenticate", 1);
    writer.string("mechanism", "MONGODB-X509");
    if let Some(username) = username {
        writer.string("user", username);
    }
}

/// SCRAM-SHA-256 unless the server says that the user has keys, and none for it.
fn best_mechanism(hello: &[u8]) -> Mechanism {
    let found = Reader::new(hello).and_then(|reader| reader.find("saslSupportedMechs"));
    let Ok(Some(Value::Array(names))) = found else {
        return Mechanism::Sha256;
    };
    let is_named = |mechanism: Mechanism| {
        let Ok(mut elements) = Reader::new(names) else { return false };
        while let Ok(Some(element)) = elements.next_element() {
            if element.value == Value::String(mechanism.name().as_bytes()) {
                return true;
            }
        }
        false
    };
    if is_named(Mechanism::Sha1) && !is_named(Mechanism::Sha256) {
        Mechanism::Sha1
    } else {
        Mechanism::Sha256
    }
}

fn sasl(body: &[u8]) -> Result<Sasl<'_>, HandshakeError> {
    let mut found = Sasl { conversation_id: 1, is_done: false, payload: b"" };
    let mut elements = Reader::new(body).map_err(ReplyError::from)?;
    while let Some(element) = elements.next_element().map_err(ReplyError::from)? {
        match (element.name, element.value) {
            (b"conversationId", Value::Int32(id)) => found.conversation_id = id,
            (b"done", Value::Boolean(is_done)) => found.is_done = is_done,
            (b"payload", Value::Binary(payload, _)) => found.payload = payload,
            _ => {}
        }
    }
    Ok(found)
}
