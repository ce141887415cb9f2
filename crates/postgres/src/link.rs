//! Owns a connection: what comes before its first request, requests as bytes, and replies.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use brimline_net::link::{self, Answer, Greeting, Looks, Lost, LostKind, Part, Request};
use brimline_net::stream::{Filled, SendState, Stream, StreamError};
use brimline_sql::rows::{Literals, append_insert, append_rows, append_table};
use brimline_sql::settings::Form as BulkForm;
use brimline_sql::statement::Chosen;
use brimline_sql::target::Target;
use brimline_sql::view::append_view;

use crate::error::ServerError;
use crate::login::{Login, Step, append_startup, append_tls_request};
use crate::message::{HEADER_BYTES, append, append_empty, append_texts, header};
use crate::reply::{Fed, Reply};
use crate::row;
use crate::text::{SessionLiterals, append_lines, append_parameters};

const ROLLBACK: &[u8] = b"ROLLBACK";
/// Longest message before a client is in.
const LOGIN_BYTES_MAX: usize = 64 * 1024;
/// Reads in a row of one reply: other connections have their turn while a reply has no end.
const READS_MAX: u32 = 32;

/// One connection.
pub struct Link {
    target: Arc<Target>,
    stream: Stream,
    stage: Stage,
    is_sending: bool,
    login: Login,
    reply: Reply,
    /// Whether a reply is awaited.
    is_asked: bool,
    bytes: u64,
    first_arrived_unix_ns: Option<u64>,
}

/// What is awaited.
#[derive(Clone, Copy)]
enum Stage {
    Connecting,
    /// Whether the server has TLS.
    Securing,
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
            login: Login::default(),
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
            let goes_on = match self.stage {
                Stage::Ready => return Ok(Greeting::Ready),
                Stage::Connecting => {
                    self.stream.finish_connect()?;
                    self.open_up()?;
                    true
                }
                Stage::Securing => self.secure()?,
                Stage::Login => self.log_in()?,
                Stage::Preparing(judged) => self.prepare(judged)?,
            };
            if !goes_on {
                return Ok(Greeting::AwaitsReply);
            }
        }
    }

    fn open_up(&mut self) -> Result<(), Lost> {
        if !self.target.settings.tls {
            return self.start();
        }
        append_tls_request(self.stream.request());
        self.is_sending = true;
        self.stage = Stage::Securing;
        Ok(())
    }

    fn start(&mut self) -> Result<(), Lost> {
        append_startup(&self.target, self.stream.request()).map_err(Lost::refused)?;
        self.is_sending = true;
        self.stage = Stage::Login;
        Ok(())
    }

    /// Follows the one byte that says whether the server has TLS; false: it is not there yet.
    fn secure(&mut self) -> Result<bool, Lost> {
        match *self.stream.arrived() {
            [] => self.fill(1),
            [b'S'] => {
                let session = self.target.session()?;
                self.stream.take(1);
                self.stream.secure(session);
                self.start().map(|()| true)
            }
            // What comes behind it in clear would be taken for the server's later words.
            [b'S', ..] => Err(Lost::bad("bytes arrived behind the server's consent to TLS")),
            [b'N', ..] => Err(Lost::refused("connections are to be secured, and the server has no TLS")),
            _ => Err(Lost::refused("what the server says of TLS is not PostgreSQL's protocol")),
        }
    }

    /// Reads once; false: there is nothing for now.
    fn fill(&mut self, needs: usize) -> Result<bool, Lost> {
        match self.stream.fill(needs)?.0 {
            Filled::Bytes | Filled::Last => Ok(true),
            Filled::Nothing => Ok(false),
            Filled::End => Err(StreamError::ended(self.stream.arrived().len()).into()),
        }
    }

    /// Follows the next message before the client is in; false: it is not there yet.
    fn log_in(&mut self) -> Result<bool, Lost> {
        let target = Arc::clone(&self.target);
        let arrived = self.stream.arrived();
        let Some((letter, length)) = header(arrived) else { return self.fill(HEADER_BYTES) };
        let foreign = || Lost::refused("what the server says first is not PostgreSQL's protocol");
        let end = HEADER_BYTES + length.filter(|&length| length <= LOGIN_BYTES_MAX).ok_or_else(foreign)?;
        let Some(body) = arrived.get(HEADER_BYTES..end) else { return self.fill(end) };
        match letter {
            b'E' => return Err(ServerError::read(body)?.lost()),
            b'R' => match self.login.follow(body, &target, self.stream.is_secure())? {
                Step::Wait => {}
                Step::Send(answer) => {
                    append::<String>(b'p', self.stream.request(), |out| {
                        out.extend_from_slice(&answer);
                        Ok(())
                    })
                    .map_err(Lost::refused)?;
                    self.is_sending = true;
                    return Ok(true);
                }
            },
            b'S' => self.reply.session.note(body),
            b'Z' => {
                target.announced(&self.reply.session.version);
                self.stream.take(end);
                self.begin();
                return Ok(true);
            }
            // The number under which a statement could be cancelled, and what is only told.
            b'K' | b'N' | b'v' | b'A' => {}
            _ => return Err(foreign()),
        }
        self.stream.take(end);
        Ok(true)
    }

    /// What every connection sends first, as one burst: the plan's settings, and all statements to be prepared.
    fn begin(&mut self) {
        let target = Arc::clone(&self.target);
        // What the server only tells may stand behind its consent, and half of it may be there.
        let out = self.stream.next_request();
        for text in &target.settings.setup {
            append_texts(b'Q', &[text.as_bytes()], out);
        }
        for (number, prepared) in target.requests.prepared().iter().enumerate() {
            let name = number.to_string();
            // Behind both stands how many types of values are given: none, which are two bytes and look like two empty texts.
            append_texts(b'P', &[name.as_bytes(), prepared.text.as_bytes(), b"", b""], out);
            append_describe(b'S', name.as_bytes(), out);
            append_empty(b'S', out);
        }
        self.is_sending = !out.is_empty();
        self.reply.begin(false, false);
        self.stage = if out.is_empty() { Stage::Ready } else { Stage::Preparing(0) };
    }

    /// Judges the replies to the burst; false: they are not all there yet.
    fn prepare(&mut self, mut judged: usize) -> Result<bool, Lost> {
        let target = Arc::clone(&self.target);
        let settings = &target.settings.setup;
        let prepared = target.requests.prepared();
        loop {
            let fed = self.reply.feed(self.stream.arrived())?;
            self.stream.take(fed.taken);
            if !fed.is_done {
                if self.fill(fed.needs)? {
                    continue;
                }
                self.stage = Stage::Preparing(judged);
                return Ok(false);
            }
            let of_prepared = judged.checked_sub(settings.len()).map(|index| &prepared[index]);
            if let Some(refusal) = self.reply.refusal.take() {
                let what = of_prepared
                    .map_or_else(|| settings[judged].clone(), |step| format!("step {}", step.step));
                let (label, message) = (refusal.label, refusal.message);
                return Err(Lost::refused(format!("{what} is refused by the server: {message} ({label})")));
            }
            if let Some(step) = of_prepared
                && usize::from(self.reply.parameters) != step.parameters
            {
                let (takes, given) = (self.reply.parameters, step.parameters);
                return Err(Lost::refused(format!(
                    "step {}: the statement takes {takes} values, and the step gives it {given}",
                    step.step
                )));
            }
            judged += 1;
            self.reply.begin(false, false);
            if judged == settings.len() + prepared.len() {
                self.stage = Stage::Ready;
                return Ok(true);
            }
        }
    }

    /// Why a connection is lost: a server that ends a session says so before it closes.
    fn ended(&mut self, error: StreamError) -> Lost {
        match self.reply.refusal.take() {
            None => error.into(),
            Some(refusal) => {
                let message = format!("{} ({})", refusal.message, refusal.label);
                Lost { kind: LostKind::Closed, message }
            }
        }
    }

    /// What the server sends although nothing was asked: what it only tells, or why it closes.
    fn unasked(&mut self) -> Result<(), Lost> {
        loop {
            let arrived = self.stream.arrived();
            let mut needs = HEADER_BYTES;
            if let Some((letter, length)) = header(arrived) {
                let length = length.filter(|&length| length <= LOGIN_BYTES_MAX);
                needs += length.ok_or_else(|| Lost::bad("a message of an impossible length"))?;
                if let Some(body) = arrived.get(HEADER_BYTES..needs) {
                    match letter {
                        b'E' => {
                            let message = ServerError::read(body)?.words();
                            return Err(Lost { kind: LostKind::Closed, message });
                        }
                        b'S' => self.reply.session.note(body),
                        b'N' | b'A' => {}
                        _ => return Err(Lost::bad("bytes arrived that nothing called for")),
                    }
                    self.stream.take(needs);
                    continue;
                }
            }
            if !self.fill(needs)? {
                return Ok(());
            }
        }
    }
}

/// Appends a statement as one text.
fn append_query(
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), String>,
) -> Result<(), String> {
    append(b'Q', out, |out| {
        let start = out.len();
        fill(out)?;
        // The server would read the text up to there, and find another statement.
        if memchr::memchr(0, &out[start..]).is_some() {
            return Err("text that holds a NUL can't stand in a statement of PostgreSQL".to_owned());
        }
        out.push(0);
        Ok(())
    })
}

/// Appends what asks how a statement's or portal's rows are.
fn append_describe(kind: u8, name: &[u8], out: &mut Vec<u8>) {
    out.push(b'D');
    out.extend_from_slice(&(name.len() as u32 + 6).to_be_bytes());
    out.push(kind);
    out.extend_from_slice(name);
    out.push(0);
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
        let literals = SessionLiterals { backslash_escapes: self.reply.session.backslash_escapes };
        let target = &self.target;
        // What a server only tells may come at any time, and half of it may be there.
        let is_empty = self.stream.arrived().is_empty();
        let out = if is_empty { self.stream.request() } else { self.stream.next_request() };
        let mut takes_copy = false;
        match request.part {
            Part::Rollback => append_texts(b'Q', &[ROLLBACK], out),
            Part::Bulk => {
                let bulk = target.settings.bulk.as_ref().ok_or("the plan does not say what rows are")?;
                if bulk.form == BulkForm::Rows {
                    append_query(out, |out| append_insert(bulk, values, &literals, out).map(|_| ()))?;
                } else {
                    takes_copy = true;
                    append_query(out, |out| {
                        out.extend_from_slice(b"COPY ");
                        append_table(bulk, SessionLiterals::NAME_QUOTE, out);
                        out.extend_from_slice(b" FROM STDIN");
                        Ok(())
                    })?;
                    append(b'd', out, |out| append_lines(bulk, values, out))?;
                    append_empty(b'c', out);
                }
            }
            Part::Main => match target.requests.choose(request.step, values)? {
                Chosen::Text(text) => append_texts(b'Q', &[text.as_bytes()], out),
                Chosen::Rows(text, rows) => append_query(out, |out| {
                    out.extend_from_slice(text.as_bytes());
                    out.push(b' ');
                    append_rows(rows, &literals, out).map(|_| ())
                })?,
                Chosen::Prepared(statement, values) => {
                    let count = target.requests.prepared()[statement].parameters;
                    append(b'B', out, |out| {
                        // The portal without a name, the statement, and text throughout.
                        out.push(0);
                        brimline_formats::write::append_integer(statement as i64, out);
                        out.extend_from_slice(&[0, 0, 0]);
                        append_parameters(count, values, out)?;
                        out.extend_from_slice(&[0, 0]);
                        Ok::<_, String>(())
                    })?;
                    if looks.at_content {
                        append_describe(b'P', b"", out);
                    }
                    // All rows.
                    out.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0");
                    append_empty(b'S', out);
                }
            },
        }
        let bytes = out.len() as u64;
        self.reply.begin(looks.at_content, takes_copy);
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
            let (filled, at_unix_ns) = match self.stream.fill(needs) {
                Ok(filled) => filled,
                Err(error) => return Err(self.ended(error)),
            };
            match filled {
                Filled::Bytes => {}
                Filled::Last => is_drained = true,
                Filled::Nothing => return Ok(None),
                Filled::End => {
                    let arrived = self.bytes as usize + self.stream.arrived().len();
                    return Err(self.ended(StreamError::ended(arrived)));
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
        let first = reply
            .has_first()
            .then_some(|row: &mut brimline_sql::view::Row<'_>| row::write(&reply.columns, &reply.first, row));
        append_view(out, reply.affected, reply.rows, first);
    }
}
