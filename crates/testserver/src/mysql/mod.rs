//! MySQL's protocol in front of a script: statements that read rows or change them are answered when they are due, with rows of
//! known content or with how many were changed; all others at once. Every login is let in, and nothing is kept.

mod packets;
mod statement;

use crate::clock::Clock;
use crate::counts::Counts;
use crate::model::{Fate, ServiceModel};
use crate::script::{Data, FaultKind, Script};
use crate::server::front::{Answer, Ending, Front, Unreadable};
use packets::{Packets, ServerError, message_bytes};
use statement::{Kind, Statement};

/// Commands of the protocol.
const QUIT: u8 = 0x01;
const INIT_DB: u8 = 0x02;
const QUERY: u8 = 0x03;
/// The default of both servers.
const ISOLATION: &[u8] = b"REPEATABLE-READ";
const PING: u8 = 0x0e;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const CLOSE: u8 = 0x19;
const RESET: u8 = 0x1a;
const RESET_CONNECTION: u8 = 0x1f;
/// Bytes of a row's text where the script's data has no documents.
const TEXT_BYTES: u32 = 64;

/// Answers statements.
#[derive(Debug)]
pub struct MysqlFront {
    counts: Counts,
    clock: Clock,
    model: ServiceModel,
    text: Vec<u8>,
}

/// A client, as far as its connection remembers it.
#[derive(Debug, Default)]
pub struct Client {
    is_in: bool,
    /// Its prepared statements; their numbers count from 1.
    statements: Vec<Statement>,
}

impl MysqlFront {
    /// An idle server. The script must be valid.
    pub fn new(script: &Script) -> Self {
        let counts = Counts { faults: vec![0; script.faults.len()], ..Counts::default() };
        let text_bytes = match script.data {
            Data::Synthetic { document_bytes } => document_bytes,
            Data::Stored => TEXT_BYTES,
        };
        Self {
            counts,
            clock: Clock::start(),
            model: ServiceModel::new(script),
            text: vec![b'x'; text_bytes as usize],
        }
    }

    /// Answers a statement, which is binary where it was prepared.
    fn execute(
        &mut self,
        statement: &Statement,
        arguments: Option<&[u8]>,
        arrival_ns: u64,
        packets: &mut Packets<'_>,
    ) -> Answer {
        *self.counts.commands.entry(statement.kind.name()).or_default() += 1;
        if !statement.kind.is_data() {
            if statement.kind == Kind::Isolation {
                packets.text(ISOLATION);
            } else {
                packets.ok(0);
            }
            return Answer { due_ns: arrival_ns, ending: Ending::Reply };
        }
        let admission = self.model.admit(arrival_ns);
        self.counts.requests += 1;
        let ending = match admission.fate {
            Fate::Served => {
                self.reply(statement, arguments, false, packets);
                Ending::Reply
            }
            Fate::Faulty { fault } => {
                self.counts.faults[fault] += 1;
                let kind = self.model.fault(fault).clone();
                self.play(&kind, statement, arguments, packets)
            }
        };
        Answer { due_ns: admission.done_ns, ending }
    }

    fn reply(
        &self,
        statement: &Statement,
        arguments: Option<&[u8]>,
        is_empty: bool,
        packets: &mut Packets<'_>,
    ) {
        if statement.kind == Kind::Select {
            let count = if is_empty { 0 } else { statement.row_count(arguments) };
            packets.rows(count, &self.text, arguments.is_some());
        } else {
            packets.ok(if is_empty { 0 } else { statement.changed });
        }
    }

    fn play(
        &self,
        fault: &FaultKind,
        statement: &Statement,
        arguments: Option<&[u8]>,
        packets: &mut Packets<'_>,
    ) -> Ending {
        let is_read = statement.kind == Kind::Select;
        match fault {
            FaultKind::Close => return Ending::Close,
            FaultKind::Silence => return Ending::Nothing,
            FaultKind::Garbage => packets.garbage(),
            FaultKind::WrongLength => packets.wrong_length(),
            FaultKind::Error { code, name, label } => {
                packets.error(&ServerError::new(*code, label.as_deref(), name));
            }
            FaultKind::WriteError { code, .. } if !is_read => {
                packets.error(&ServerError::new(*code, None, "a write that the script fails"));
            }
            FaultKind::NoDocument => {
                self.reply(statement, arguments, statement.kind != Kind::Insert, packets);
            }
            FaultKind::WriteError { .. } | FaultKind::WriteConcernError { .. } => {
                self.reply(statement, arguments, false, packets);
            }
        }
        Ending::Reply
    }
}

impl Front for MysqlFront {
    type Client = Client;

    fn counts(&self) -> &Counts {
        &self.counts
    }

    fn counts_mut(&mut self) -> &mut Counts {
        &mut self.counts
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn greet(&mut self, _: &mut Client, out: &mut Vec<u8>) {
        Packets::new(out, 0).hello();
    }

    fn message_bytes(_: &mut Client, bytes: &[u8]) -> Result<Option<usize>, Unreadable> {
        message_bytes(bytes)
    }

    fn answer(
        &mut self,
        client: &mut Client,
        message: &[u8],
        arrival_ns: u64,
        out: &mut Vec<u8>,
    ) -> Result<Answer, Unreadable> {
        let (payload, number) = packets::payload(message)?;
        let mut packets = Packets::new(out, number);
        let at_once = |ending| Ok(Answer { due_ns: arrival_ns, ending });
        if !client.is_in {
            client.is_in = true;
            packets.ok(0);
            return at_once(Ending::Reply);
        }
        let (&command, rest) = payload.split_first().ok_or(Unreadable)?;
        match command {
            QUIT => return at_once(Ending::Close),
            CLOSE => return at_once(Ending::Nothing),
            QUERY => {
                let statement = Statement::read(rest);
                return Ok(self.execute(&statement, None, arrival_ns, &mut packets));
            }
            EXECUTE => {
                let id = rest.first_chunk().map(|id| u32::from_le_bytes(*id) as usize);
                let statement = id.and_then(|id| client.statements.get(id.checked_sub(1)?));
                if let Some(statement) = statement {
                    return Ok(self.execute(statement, Some(rest), arrival_ns, &mut packets));
                }
                packets.error(&ServerError::new(1243, None, "Unknown prepared statement handler"));
            }
            PREPARE => {
                let statement = Statement::read(rest);
                *self.counts.commands.entry("prepare").or_default() += 1;
                client.statements.push(statement);
                packets.prepared(client.statements.len() as u32, &statement);
            }
            INIT_DB | PING | RESET | RESET_CONNECTION => packets.ok(0),
            _ => packets.error(&ServerError::new(1047, Some("08S01"), "Unknown command")),
        }
        at_once(Ending::Reply)
    }
}
