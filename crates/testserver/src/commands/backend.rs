//! The server behind the sockets: script, model, store and counts.

use brimline_bson::Writer;
use brimline_wire::frame::{FrameError, HEADER_BYTES, Header, MESSAGE_BYTES_MAX, OP_MSG};
use brimline_wire::op_msg::{self, MORE_TO_COME, MessageError};

use super::cursors::Cursors;
use super::legacy;
use super::server_info::{build_info, command_line_options, host_info};
use super::{Command, CommandError, Request};
use crate::clock::Clock;
use crate::counts::Counts;
use crate::model::{Fate, ServiceModel};
use crate::script::{Data, FaultKind, Script};
use crate::server::front::{Answer, Ending, Front, Unreadable};
use crate::store::Store;

/// Bytes of a garbage reply after its header.
const GARBAGE_BYTES: usize = 64;

/// Answers commands.
#[derive(Debug)]
pub struct Backend {
    /// What was seen.
    pub counts: Counts,
    /// Clock of arrivals and answers.
    pub clock: Clock,
    script: Script,
    model: ServiceModel,
    pub(super) store: Store,
    pub(super) cursors: Cursors,
    /// The one document of [`Data::Synthetic`], else empty.
    pub(super) synthetic_document: Vec<u8>,
    /// Documents inserted into synthetic collections.
    pub(super) synthetic_documents: u64,
    pub(super) ids_made: u64,
    replies: i32,
}

impl Backend {
    /// An idle server with an empty store. The script must be valid.
    pub fn new(script: Script) -> Self {
        let mut backend = Self {
            counts: Counts::default(),
            clock: Clock::start(),
            model: ServiceModel::new(&script),
            store: Store::default(),
            cursors: Cursors::default(),
            synthetic_document: Vec::new(),
            synthetic_documents: 0,
            ids_made: 0,
            replies: 0,
            script: Script::default(),
        };
        backend.set_script(script);
        backend
    }

    /// Begins another script; the store stays.
    pub(super) fn set_script(&mut self, script: Script) {
        self.model = ServiceModel::new(&script);
        self.counts.requests = 0;
        self.counts.faults = vec![0; script.faults.len()];
        self.synthetic_document = match script.data {
            Data::Stored => Vec::new(),
            Data::Synthetic { document_bytes } => synthetic_document(document_bytes as usize),
        };
        self.script = script;
    }

    /// Whether the collection holds every key and keeps nothing.
    pub(super) fn is_synthetic(&self, namespace: &str) -> bool {
        self.script.data != Data::Stored && self.is_scripted(namespace)
    }

    fn is_scripted(&self, namespace: &str) -> bool {
        self.script.namespace.as_deref().is_none_or(|scripted| scripted == namespace)
    }

    /// Fails when the message is no `OP_MSG` and no legacy handshake.
    fn answer_message(
        &mut self,
        message: &[u8],
        arrival_ns: u64,
        out: &mut Vec<u8>,
    ) -> Result<Answer, MessageError> {
        let header = Header::decode(message)?;
        self.replies = self.replies.wrapping_add(1);
        let reply = Reply { request_id: self.replies, response_to: header.request_id };
        if header.opcode == legacy::OP_QUERY {
            return self.answer_legacy(message, reply, arrival_ns, out);
        }
        let message = op_msg::parse(message)?;
        let request = Request::of_message(message);
        self.counts.received(request.as_ref().ok().map(|request| request.command));
        let start = out.len();
        let mut answer = match request {
            Ok(request) => self.play(&request, reply, arrival_ns, out),
            Err(error) => {
                reply.write(out, |_| Err(error));
                Answer { due_ns: arrival_ns, ending: Ending::Reply }
            }
        };
        if message.flags & MORE_TO_COME != 0 && answer.ending == Ending::Reply {
            out.truncate(start);
            answer.ending = Ending::Nothing;
        }
        Ok(answer)
    }

    fn answer_legacy(
        &mut self,
        message: &[u8],
        reply: Reply,
        arrival_ns: u64,
        out: &mut Vec<u8>,
    ) -> Result<Answer, MessageError> {
        let Some((database, query)) = legacy::parse(message) else {
            return Err(MessageError::Opcode(legacy::OP_QUERY));
        };
        let command = Request::of_body(query, database).map(|request| request.command);
        self.counts.received(command.as_ref().ok().copied());
        legacy::reply(out, reply.request_id, reply.response_to, |writer| match command {
            Ok(command @ (Command::Hello | Command::LegacyHello)) => {
                self.hello(command, writer);
                writer.double("ok", 1.0);
            }
            _ => CommandError::new(352, "UnsupportedOpQueryCommand", "only a handshake may be an OP_QUERY")
                .write(writer),
        });
        Ok(Answer { due_ns: arrival_ns, ending: Ending::Reply })
    }

    /// Answers as the script demands, if it applies to the request.
    fn play(&mut self, request: &Request<'_>, reply: Reply, arrival_ns: u64, out: &mut Vec<u8>) -> Answer {
        if !request.command.is_data() || !self.is_scripted(&request.namespace) {
            self.reply(request, None, reply, out);
            return Answer { due_ns: arrival_ns, ending: Ending::Reply };
        }
        let admission = self.model.admit(arrival_ns);
        self.counts.requests += 1;
        let ending = match admission.fate {
            Fate::Served => {
                self.reply(request, None, reply, out);
                Ending::Reply
            }
            Fate::Faulty { fault } => {
                let kind = self.model.fault(fault).clone();
                self.counts.faults[fault] += u64::from(concerns(&kind, request.command));
                self.reply_with_fault(request, &kind, reply, out)
            }
        };
        Answer { due_ns: admission.done_ns, ending }
    }

    fn reply_with_fault(
        &mut self,
        request: &Request<'_>,
        fault: &FaultKind,
        reply: Reply,
        out: &mut Vec<u8>,
    ) -> Ending {
        match fault {
            FaultKind::Error { code, name, label } => {
                let error =
                    CommandError { label: label.clone(), ..CommandError::new(*code, name, "scripted error") };
                reply.write(out, |_| Err(error));
            }
            FaultKind::WriteError { .. } | FaultKind::WriteConcernError { .. } | FaultKind::NoDocument => {
                self.reply(request, Some(fault), reply, out);
            }
            FaultKind::Close => return Ending::Close,
            FaultKind::Silence => return Ending::Nothing,
            FaultKind::Garbage => {
                out.extend_from_slice(&reply.header(HEADER_BYTES + GARBAGE_BYTES));
                out.extend_from_slice(&[0xff; GARBAGE_BYTES]);
            }
            FaultKind::WrongLength => out.extend_from_slice(&reply.header(MESSAGE_BYTES_MAX + 1)),
        }
        Ending::Reply
    }

    /// Executes the request and appends its reply.
    fn reply(&mut self, request: &Request<'_>, fault: Option<&FaultKind>, reply: Reply, out: &mut Vec<u8>) {
        reply.write(out, |writer| {
            self.execute(request, fault, writer)?;
            writer.double("ok", 1.0);
            Ok(())
        });
    }

    fn execute(
        &mut self,
        request: &Request<'_>,
        fault: Option<&FaultKind>,
        writer: &mut Writer<'_>,
    ) -> Result<(), CommandError> {
        match request.command {
            Command::Find => {
                self.counts.opcounters.query += 1;
                self.find(request, fault, writer)?;
            }
            Command::GetMore => {
                self.counts.opcounters.getmore += 1;
                self.get_more(request, fault, writer)?;
            }
            Command::Insert => self.insert(request, fault, writer)?,
            Command::Update => self.update(request, fault, writer)?,
            Command::Delete => self.delete(request, fault, writer)?,
            Command::Aggregate => self.aggregate(request, writer)?,
            Command::Count => self.count(request, writer)?,
            Command::KillCursors => self.kill_cursors(request, writer)?,
            Command::Create => self.create(request)?,
            Command::CreateIndexes => self.create_indexes(request, writer)?,
            Command::Drop => self.drop(request, writer)?,
            Command::DropDatabase => self.drop_database(request, writer),
            Command::ListCollections => self.list_collections(request, writer)?,
            Command::ListDatabases => self.list_databases(writer),
            Command::ListIndexes => self.list_indexes(request, writer)?,
            Command::Hello | Command::LegacyHello => self.hello(request.command, writer),
            Command::ServerStatus => self.server_status(writer),
            Command::SetScript => self.set_script_command(request)?,
            Command::BuildInfo => build_info(writer),
            Command::HostInfo => host_info(writer),
            Command::GetCmdLineOpts => command_line_options(writer),
            Command::GetParameter => writer.boolean("scripted", true),
            Command::Ping | Command::EndSessions => {}
        }
        Ok(())
    }
}

impl Front for Backend {
    type Client = ();

    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn counts_mut(&mut self) -> &mut Counts {
        &mut self.counts
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    #[inline]
    fn message_bytes((): &mut (), bytes: &[u8]) -> Result<Option<usize>, Unreadable> {
        match Header::decode(bytes) {
            Ok(header) => Ok(Some(header.message_bytes).filter(|&whole| whole <= bytes.len())),
            Err(FrameError::Truncated) => Ok(None),
            Err(_) => Err(Unreadable),
        }
    }

    #[inline]
    fn answer(
        &mut self,
        (): &mut (),
        message: &[u8],
        arrival_ns: u64,
        out: &mut Vec<u8>,
    ) -> Result<Answer, Unreadable> {
        self.answer_message(message, arrival_ns, out).map_err(|_| Unreadable)
    }
}

/// Whether the fault changes anything for such a command.
fn concerns(fault: &FaultKind, command: Command) -> bool {
    let is_read = matches!(command, Command::Find | Command::GetMore);
    match fault {
        FaultKind::WriteError { .. } | FaultKind::WriteConcernError { .. } => !is_read,
        FaultKind::NoDocument => command != Command::Insert,
        _ => true,
    }
}

/// Numbers of a reply.
#[derive(Clone, Copy)]
struct Reply {
    request_id: i32,
    response_to: i32,
}

impl Reply {
    /// Appends a whole reply; if `elements` fails, one that says why.
    fn write(self, out: &mut Vec<u8>, elements: impl FnOnce(&mut Writer<'_>) -> Result<(), CommandError>) {
        let start = out.len();
        let mut result = Ok(());
        op_msg::reply(out, self.request_id, self.response_to, |writer| {
            result = elements(writer);
        });
        if let Err(error) = result {
            out.truncate(start);
            op_msg::reply(out, self.request_id, self.response_to, |writer| {
                error.write(writer);
            });
        }
    }

    fn header(self, message_bytes: usize) -> [u8; HEADER_BYTES] {
        let Self { request_id, response_to } = self;
        Header { message_bytes, request_id, response_to, opcode: OP_MSG }.encode()
    }
}

/// A document of exactly `bytes` bytes.
fn synthetic_document(bytes: usize) -> Vec<u8> {
    let mut document = Vec::with_capacity(bytes);
    let mut writer = Writer::new(&mut document);
    let open = writer.begin_document();
    writer.string("_id", "user0");
    let value_bytes = bytes - writer.position() - b"\x05field0\0".len() - 5 - 1;
    writer.binary("field0", &vec![b'x'; value_bytes]);
    writer.end_document(open);
    document
}
