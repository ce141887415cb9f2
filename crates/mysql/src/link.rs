//! Owns a connection: what comes before its first request, requests as bytes, and replies.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use brimline_net::link::{self, Answer, Greeting, Looks, Lost, LostKind, Part, Request};
use brimline_net::stream::{Filled, SendState, Stream, StreamError};
use brimline_sql::rows::{append_insert, append_rows};
use brimline_sql::statement::Chosen;
use brimline_sql::target::Target;
use brimline_sql::view::{Row, append_view};

use crate::error::{ERROR, ServerError};
use crate::literals::SessionLiterals;
use crate::login::{self, Hello, Plugin, Step, capabilities};
use crate::packet::{self, HEADER_BYTES, header};
use crate::parameters::append_execute;
use crate::reply::{Agreed, Fed, Form, NO_BACKSLASH_ESCAPES, Reply};
use crate::row;

const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;
/// What every connection sends first: dates are those of UTC, as BSON's are.
const CLOCK: &str = "SET time_zone = '+00:00'";
const ROLLBACK: &str = "ROLLBACK";
/// Longest packet before a client is in.
const LOGIN_BYTES_MAX: usize = 64 * 1024;
/// Reads in a row of one reply: other connections have their turn while a reply has no end.
const READS_MAX: u32 = 32;

/// One connection.
pub struct Link {
    target: Arc<Target>,
    stream: Stream,
    stage: Stage,
    is_sending: bool,
    plugin: Plugin,
    /// Numbers of the prepared statements, in the order of the plan's.
    statements: Vec<u32>,
    reply: Reply,
    /// Whether a reply is awaited.
    is_asked: bool,
    bytes: u64,
    first_arrived_unix_ns: Option<u64>,
}

/// What is awaited.
enum Stage {
    Connecting,
    Hello,
    /// That the request for TLS is sent.
    Securing(Box<Hello>),
    /// Of the login.
    Login,
    /// Replies to what every connection sends first; this many were judged.
    Preparing(usize),
    Ready,
}

impl Link {
    /// Starts connecting.
    pub fn new(target: Arc<Target>) -> io::Result<Self> {
        let stream = Stream::open(target.address())?;
        Ok(Self {
            target,
            stream,
            stage: Stage::Connecting,
            is_sending: false,
            plugin: Plugin::Native,
            statements: Vec::new(),
            reply: Reply::default(),
            is_asked: false,
            bytes: 0,
            first_arrived_unix_ns: None,
        })
    }

    fn advance(&mut self) -> Result<Greeting, Lost> {
        loop {
            if self.is_sending {
                if self.stream.send()? == SendState::Blocked {
                    return Ok(Greeting::AwaitsRoom);
                }
                self.is_sending = false;
            }
            match std::mem::replace(&mut self.stage, Stage::Ready) {
                Stage::Ready => return Ok(Greeting::Ready),
                Stage::Connecting => {
                    self.stream.finish_connect()?;
                    self.stage = Stage::Hello;
                }
                Stage::Securing(hello) => {
                    let session = self.target.session()?;
                    self.stream.secure(session);
                    self.log_in(&hello, 2)?;
                }
                Stage::Preparing(judged) => {
                    self.stage = Stage::Preparing(judged);
                    if !self.prepare(judged)? {
                        return Ok(Greeting::AwaitsReply);
                    }
                }
                stage => {
                    let Some((payload, number)) = self.packet()? else {
                        self.stage = stage;
                        return Ok(Greeting::AwaitsReply);
                    };
                    match stage {
                        Stage::Hello => self.welcome(&payload)?,
                        _ => self.follow(&payload, number)?,
                    }
                }
            }
        }
    }

    /// The next packet before the client is in, copied: that happens a few times for each connection.
    fn packet(&mut self) -> Result<Option<(Vec<u8>, u8)>, Lost> {
        loop {
            let mut needs = HEADER_BYTES;
            if let Some((length, number)) = header(self.stream.arrived()) {
                needs += length;
                if length > LOGIN_BYTES_MAX {
                    return Err(Lost::bad("what the server says first is not MySQL's protocol"));
                }
                if let Some(payload) = self.stream.arrived().get(HEADER_BYTES..needs) {
                    let payload = payload.to_vec();
                    self.stream.take(needs);
                    return Ok(Some((payload, number)));
                }
            }
            match self.stream.fill(needs)?.0 {
                Filled::Bytes | Filled::Last => {}
                Filled::Nothing => return Ok(None),
                Filled::End => return Err(StreamError::ended(self.stream.arrived().len()).into()),
            }
        }
    }

    fn welcome(&mut self, payload: &[u8]) -> Result<(), Lost> {
        let hello = Hello::read(payload)?;
        self.target.announced(&hello.version);
        if !self.target.settings.tls {
            return self.log_in(&hello, 1);
        }
        if hello.capabilities & capabilities::SSL == 0 {
            return Err(Lost::refused("connections are to be secured, and the server has no TLS"));
        }
        let agreed = hello.agreed(!self.target.settings.database.is_empty(), true);
        self.send_packet(1, |out| {
            hello.append_head(agreed, out);
            Ok(())
        })?;
        self.stage = Stage::Securing(Box::new(hello));
        Ok(())
    }

    fn log_in(&mut self, hello: &Hello, number: u8) -> Result<(), Lost> {
        let target = Arc::clone(&self.target);
        let database = target.settings.database.as_str();
        let agreed = hello.agreed(!database.is_empty(), target.settings.tls);
        self.reply = Reply::new(Agreed {
            ends_with_ok: agreed & capabilities::DEPRECATE_EOF != 0,
            has_formats: hello.extended_agreed() != 0,
        });
        let mut plugin = Plugin::Native;
        self.send_packet(number, |out| {
            plugin =
                hello.append_login(agreed, &target.secrets.username, password(&target), database, out)?;
            Ok(())
        })?;
        self.plugin = plugin;
        self.stage = Stage::Login;
        Ok(())
    }

    fn follow(&mut self, payload: &[u8], number: u8) -> Result<(), Lost> {
        let target = Arc::clone(&self.target);
        match login::follow(payload, &mut self.plugin, password(&target), self.stream.is_secure())? {
            Step::Done => self.begin(),
            Step::Wait => {
                self.stage = Stage::Login;
                Ok(())
            }
            Step::Send(proof) => {
                self.send_packet(number.wrapping_add(1), |out| {
                    out.extend_from_slice(&proof);
                    Ok(())
                })?;
                self.stage = Stage::Login;
                Ok(())
            }
        }
    }

    fn send_packet(
        &mut self,
        number: u8,
        fill: impl FnOnce(&mut Vec<u8>) -> Result<(), Lost>,
    ) -> Result<(), Lost> {
        let mut outcome = Ok(());
        // A packet of a login is short, and its filling says itself what is wrong.
        let _ = packet::append(number, self.stream.request(), |out| {
            outcome = fill(out);
            Ok(())
        });
        self.is_sending = true;
        outcome
    }

    /// What every connection sends first, as one burst: the clock, the plan's settings, and all statements to be prepared.
    fn begin(&mut self) -> Result<(), Lost> {
        let target = Arc::clone(&self.target);
        let out = self.stream.request();
        let settings = std::iter::once(CLOCK).chain(target.settings.setup.iter().map(String::as_str));
        let prepared = target.requests.prepared().iter().map(|prepared| (PREPARE, prepared.text.as_str()));
        for (command, text) in settings.map(|text| (QUERY, text)).chain(prepared) {
            append_command(command, text, out).map_err(Lost::refused)?;
        }
        self.is_sending = true;
        self.stage = Stage::Preparing(0);
        self.reply.begin(Form::Text, 1, false);
        Ok(())
    }

    /// Judges the replies to the burst; whether that was the last.
    fn prepare(&mut self, mut judged: usize) -> Result<bool, Lost> {
        let target = Arc::clone(&self.target);
        let settings = &target.settings.setup;
        let prepared = target.requests.prepared();
        loop {
            let fed = self.reply.feed(self.stream.arrived())?;
            self.stream.take(fed.taken);
            if !fed.is_done {
                match self.stream.fill(fed.needs)?.0 {
                    Filled::Bytes | Filled::Last => continue,
                    Filled::Nothing => {
                        self.stage = Stage::Preparing(judged);
                        return Ok(false);
                    }
                    Filled::End => return Err(StreamError::ended(0).into()),
                }
            }
            // The clock comes first.
            let of_prepared = judged.checked_sub(1 + settings.len());
            if let Some(refusal) = self.reply.refusal.take() {
                let what = match of_prepared {
                    Some(index) => format!("step {}", prepared[index].step),
                    None if judged == 0 => CLOCK.to_owned(),
                    None => settings[judged - 1].clone(),
                };
                let (code, message) = (refusal.code, refusal.message);
                return Err(Lost::refused(format!("{what} is refused by the server: {message} ({code})")));
            }
            if let Some(index) = of_prepared {
                let (id, parameters) = self.reply.prepared;
                let step = &prepared[index];
                if usize::from(parameters) != step.parameters {
                    let given = step.parameters;
                    return Err(Lost::refused(format!(
                        "step {}: the statement takes {parameters} values, and the step gives it {given}",
                        step.step
                    )));
                }
                self.statements.push(id);
            }
            judged += 1;
            let left = (1 + settings.len() + prepared.len()).checked_sub(judged);
            let form = if judged > settings.len() { Form::Prepared } else { Form::Text };
            self.reply.begin(form, 1, false);
            if left == Some(0) {
                self.stage = Stage::Ready;
                return Ok(true);
            }
        }
    }

    fn literals(&self) -> SessionLiterals {
        SessionLiterals { backslash_escapes: self.reply.status & NO_BACKSLASH_ESCAPES == 0 }
    }

    /// What the server sends although nothing was asked: why it closes.
    fn unasked(&mut self) -> Result<(), Lost> {
        loop {
            let arrived = self.stream.arrived();
            let mut needs = HEADER_BYTES;
            if let Some((length, _)) = header(arrived) {
                needs += length.min(LOGIN_BYTES_MAX);
                match arrived.get(HEADER_BYTES..needs) {
                    Some(payload @ [ERROR, ..]) => {
                        let message = ServerError::read(payload)?.words();
                        return Err(Lost { kind: LostKind::Closed, message });
                    }
                    Some(_) => return Err(Lost::bad("bytes arrived that nothing called for")),
                    None => {}
                }
            }
            match self.stream.fill(needs)?.0 {
                Filled::Bytes | Filled::Last => {}
                Filled::Nothing => return Ok(()),
                Filled::End => return Err(StreamError::ended(self.stream.arrived().len()).into()),
            }
        }
    }
}

fn password(target: &Target) -> &str {
    target.secrets.password.as_ref().map_or("", |password| password.as_str())
}

/// Appends a command of text; the number of the first packet of its reply.
fn append_command(command: u8, text: &str, out: &mut Vec<u8>) -> Result<u8, String> {
    packet::append(0, out, |out| {
        out.push(command);
        out.extend_from_slice(text.as_bytes());
        Ok(())
    })
}

impl link::Link for Link {
    fn socket(&self) -> Option<BorrowedFd<'_>> {
        Some(self.stream.as_fd())
    }

    fn open(&mut self) -> io::Result<()> {
        self.target.may_connect()?;
        *self = Self::new(Arc::clone(&self.target))?;
        Ok(())
    }

    fn greet(&mut self) -> Result<Greeting, Lost> {
        self.advance().map_err(|lost| self.target.note(lost))
    }

    fn render(&mut self, request: Request, values: &[u8], looks: Looks) -> Result<u64, String> {
        let literals = self.literals();
        let target = &self.target;
        let out = self.stream.request();
        let mut form = Form::Text;
        let number = match request.part {
            Part::Rollback => append_command(QUERY, ROLLBACK, out)?,
            Part::Bulk => {
                let bulk = target.settings.bulk.as_ref().ok_or("the plan does not say what rows are")?;
                packet::append(0, out, |out| {
                    out.push(QUERY);
                    append_insert(bulk, values, &literals, out).map(|_| ())
                })?
            }
            Part::Main => match target.requests.choose(request.step, values)? {
                Chosen::Text(text) => append_command(QUERY, text, out)?,
                Chosen::Rows(text, rows) => packet::append(0, out, |out| {
                    out.push(QUERY);
                    out.extend_from_slice(text.as_bytes());
                    out.push(b' ');
                    append_rows(rows, &literals, out).map(|_| ())
                })?,
                Chosen::Prepared(statement, values) => {
                    form = Form::Binary;
                    let id = self.statements.get(statement).ok_or("the statement is not prepared")?;
                    let count = target.requests.prepared()[statement].parameters;
                    packet::append(0, out, |out| append_execute(*id, count, values, out))?
                }
            },
        };
        let bytes = out.len() as u64;
        self.reply.begin(form, number, looks.at_content);
        (self.is_asked, self.bytes, self.first_arrived_unix_ns) = (true, 0, None);
        Ok(bytes)
    }

    fn send(&mut self) -> Result<SendState, Lost> {
        Ok(self.stream.send()?)
    }

    fn receive(&mut self) -> Result<Option<Answer>, Lost> {
        if !self.is_asked {
            return self.unasked().map(|()| None);
        }
        let mut is_drained = false;
        let mut arrived_unix_ns = None;
        for reads in 0.. {
            let Fed { taken, needs, is_done } = self.reply.feed(self.stream.arrived())?;
            self.stream.take(taken);
            self.bytes += taken as u64;
            if is_done {
                if !self.stream.arrived().is_empty() {
                    return Err(Lost::bad("bytes arrived behind the reply"));
                }
                self.is_asked = false;
                return Ok(Some(Answer {
                    refusal: self.reply.refusal.take(),
                    rows: self.reply.rows,
                    affected: self.reply.affected,
                    bytes: self.bytes,
                    first_arrived_unix_ns: self.first_arrived_unix_ns,
                    arrived_unix_ns,
                }));
            }
            // What TLS has decrypted would not make the socket readable again.
            if is_drained || reads == READS_MAX && !self.stream.is_secure() {
                break;
            }
            let (filled, at_unix_ns) = self.stream.fill(needs)?;
            match filled {
                Filled::Bytes => {}
                Filled::Last => is_drained = true,
                Filled::Nothing => return Ok(None),
                Filled::End => {
                    let arrived = self.bytes as usize + self.stream.arrived().len();
                    return Err(StreamError::ended(arrived).into());
                }
            }
            arrived_unix_ns = at_unix_ns;
            if self.bytes == 0 && self.first_arrived_unix_ns.is_none() {
                self.first_arrived_unix_ns = at_unix_ns;
            }
        }
        Ok(None)
    }

    fn view(&mut self, out: &mut Vec<u8>) {
        let reply = &self.reply;
        let first = reply.has_first().then_some(|row: &mut Row<'_>| {
            if reply.is_binary() {
                row::write_binary(&reply.columns, &reply.first, row);
            } else {
                row::write_text(&reply.columns, &reply.first, row);
            }
        });
        append_view(out, reply.affected, reply.rows, first);
    }
}
