//! Owns a connection to an SQL database: what comes before its first request, requests as they go out, and replies as they come. What
//! differs between protocols is a part of it, the [`Codec`], which knows bytes and has no input or output of its own.

use std::io;
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use brimline_net::link::{self, Answer, Greeting, Looks, Lost, LostKind, Refusal, Request};
use brimline_net::protocol::{Protocol, Secrets, StepError};
use brimline_net::stream::{Filled, SendState, Stream, StreamError};

use crate::settings::Settings;
use crate::statement::{Requests, StatementSpec, StatementStep};
use crate::target::Target;

/// Longest piece of what a server says while no request is under way: before a client is in, and unasked.
pub const UNASKED_BYTES_MAX: usize = 64 * 1024;
/// Reads in a row of one reply: other connections have their turn while a reply has no end.
const READS_MAX: u32 = 32;

/// A protocol, for one connection.
pub trait Codec: Default {
    /// What every connection sends before the plan's settings.
    const SETTINGS: &'static [&'static str] = &[];
    /// Whether a server may tell something at any time, behind a reply as well.
    const MAY_TELL: bool;

    /// Whether the settings can be met.
    ///
    /// # Errors
    /// When they can't, why.
    fn check(_settings: &Settings) -> Result<(), String> {
        Ok(())
    }

    /// Appends what the client says first, where it is the first to speak.
    ///
    /// # Errors
    /// When a login can't be said in this protocol.
    fn connected(&mut self, target: &Target, out: &mut Vec<u8>) -> Result<(), Lost>;

    /// The same once TLS is agreed upon.
    ///
    /// # Errors
    /// As [`Self::connected`].
    fn secured(&mut self, target: &Target, out: &mut Vec<u8>) -> Result<(), Lost>;

    /// Follows what the server says before the client is in, and appends the answer.
    ///
    /// # Errors
    /// When the server lets nobody in, or speaks another protocol.
    fn log_in(
        &mut self,
        target: &Target,
        arrived: &[u8],
        is_secure: bool,
        out: &mut Vec<u8>,
    ) -> Result<Login, Lost>;

    /// Appends a statement that is sent as text.
    ///
    /// # Errors
    /// When it can't be.
    fn append_text(&self, text: &str, out: &mut Vec<u8>) -> Result<(), String>;

    /// Appends what has the statement with this number prepared.
    ///
    /// # Errors
    /// When it can't be.
    fn append_prepare(&self, number: usize, text: &str, out: &mut Vec<u8>) -> Result<(), String>;

    /// Makes ready for the reply to one of these.
    fn await_first(&mut self, is_prepare: bool);

    /// How many values a statement takes, whose preparation was answered just now.
    fn prepared(&mut self) -> usize;

    /// Appends a request, and makes ready for its reply.
    ///
    /// # Errors
    /// When a value can't stand in its slot.
    fn render(
        &mut self,
        target: &Target,
        request: Request,
        values: &[u8],
        looks: Looks,
        out: &mut Vec<u8>,
    ) -> Result<(), String>;

    /// Follows a reply by `arrived`, which stands behind what was taken before.
    ///
    /// # Errors
    /// When that is no reply.
    fn feed(&mut self, arrived: &[u8]) -> Result<Fed, Lost>;

    /// Follows what the server says although nothing was asked.
    ///
    /// # Errors
    /// When it says why it closes, or what nothing called for.
    fn feed_unasked(&mut self, arrived: &[u8]) -> Result<Fed, Lost>;

    /// Why the server did not do what was asked for, once.
    fn take_refusal(&mut self) -> Option<Box<Refusal>>;

    /// How an error is named: by its number, or its SQLSTATE.
    fn name_of(refusal: &Refusal) -> String;

    /// How many rows the reply has, and how many were changed.
    fn counts(&self) -> (u64, u64);

    /// Appends the reply as a BSON document.
    fn view(&self, out: &mut Vec<u8>);
}

/// How far what arrived was followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fed {
    /// How many of the bytes are done with.
    pub taken: usize,
    /// How many bytes it needs at least behind these.
    pub needs: usize,
    /// Whether the reply is whole.
    pub is_done: bool,
}

/// How far a login is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// So many bytes have to be there.
    Needs(usize),
    /// So many are done with, and it goes on once the answer is sent.
    GoesOn(usize),
    /// The same, and TLS begins then.
    Secures(usize),
    /// The same, and the client is in.
    In(usize),
}

/// A server, and what its connections send, in the protocol `C`.
pub struct Connector<C>(Arc<Target>, PhantomData<fn() -> C>);

impl<C: Codec> Connector<C> {
    /// What the server has said of itself, such as `10.11.6-MariaDB` or `15.4`; `None` before the first connection.
    pub fn server(&self) -> Option<String> {
        self.0.server()
    }
}

impl<C: Codec + 'static> Protocol for Connector<C> {
    type Settings = Settings;
    type Request = StatementSpec;
    type Requests = Requests;

    fn compile(steps: &[StatementStep]) -> Result<Requests, StepError> {
        Requests::new(steps)
    }

    fn takes_loads(settings: &Settings) -> bool {
        settings.bulk.is_some()
    }

    fn new(settings: Settings, secrets: Secrets, requests: Requests) -> Result<Self, String> {
        C::check(&settings)?;
        Target::new(settings, secrets, requests).map(|target| Self(target, PhantomData))
    }
}

impl<C: Codec + 'static> link::Connector for Connector<C> {
    fn name(&self) -> &str {
        &self.0.settings.address
    }

    fn address(&self) -> SocketAddr {
        self.0.address()
    }

    fn connect(&self) -> io::Result<Box<dyn link::Link>> {
        self.0.may_connect()?;
        Ok(Box::new(Link::<C>::new(Arc::clone(&self.0))?))
    }
}

/// One connection.
struct Link<C> {
    target: Arc<Target>,
    stream: Stream,
    stage: Stage,
    is_sending: bool,
    codec: C,
    /// Whether a reply is awaited.
    is_asked: bool,
    bytes: u64,
    first_arrived_unix_ns: Option<u64>,
}

/// What is awaited.
#[derive(Clone, Copy)]
enum Stage {
    Connecting,
    /// That TLS begins, once all is sent.
    Securing,
    Login,
    /// Replies to what every connection sends first; this many were judged.
    Preparing(usize),
    Ready,
}

impl<C: Codec> Link<C> {
    /// Starts connecting.
    fn new(target: Arc<Target>) -> io::Result<Self> {
        let stream = Stream::open(target.address())?;
        Ok(Self {
            target,
            stream,
            stage: Stage::Connecting,
            is_sending: false,
            codec: C::default(),
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
                    self.speak(C::connected)?
                }
                Stage::Securing => {
                    self.stream.secure(self.target.session()?);
                    self.speak(C::secured)?
                }
                Stage::Login => self.log_in()?,
                Stage::Preparing(judged) => self.prepare(judged)?,
            };
            if !goes_on {
                return Ok(Greeting::AwaitsReply);
            }
        }
    }

    /// Says what opens a login.
    fn speak(
        &mut self,
        say: impl FnOnce(&mut C, &Target, &mut Vec<u8>) -> Result<(), Lost>,
    ) -> Result<bool, Lost> {
        let out = self.stream.next_request();
        say(&mut self.codec, &self.target, out)?;
        self.is_sending = !out.is_empty();
        self.stage = Stage::Login;
        Ok(true)
    }

    /// Reads once; false: there is nothing for now.
    fn fill(&mut self, needs: usize) -> Result<bool, Lost> {
        match self.stream.fill(needs)?.0 {
            Filled::Bytes | Filled::Last => Ok(true),
            Filled::Nothing => Ok(false),
            Filled::End => Err(StreamError::ended(self.stream.arrived().len()).into()),
        }
    }

    /// Follows what the server says before the client is in; false: it is not there yet.
    fn log_in(&mut self) -> Result<bool, Lost> {
        // A few times for each connection, so that it may be copied.
        let mut answer = Vec::new();
        let is_secure = self.stream.is_secure();
        let step = self.codec.log_in(&self.target, self.stream.arrived(), is_secure, &mut answer)?;
        let (taken, stage) = match step {
            Login::Needs(bytes) => return self.fill(bytes),
            Login::GoesOn(taken) => (taken, Stage::Login),
            Login::Secures(taken) => (taken, Stage::Securing),
            Login::In(taken) => (taken, Stage::Preparing(0)),
        };
        self.stream.take(taken);
        self.stage = stage;
        let out = self.stream.next_request();
        out.extend_from_slice(&answer);
        self.is_sending = !out.is_empty();
        if matches!(stage, Stage::Preparing(_)) {
            self.begin()?;
        }
        Ok(true)
    }

    /// How many settings every connection sends.
    fn settings(&self) -> usize {
        C::SETTINGS.len() + self.target.settings.setup.len()
    }

    /// What every connection sends first, as one burst: its settings, and all statements to be prepared.
    fn begin(&mut self) -> Result<(), Lost> {
        let out = self.stream.next_request();
        let settings = C::SETTINGS.iter().copied();
        for text in settings.chain(self.target.settings.setup.iter().map(String::as_str)) {
            self.codec.append_text(text, out).map_err(Lost::refused)?;
        }
        for (number, prepared) in self.target.requests.prepared().iter().enumerate() {
            self.codec.append_prepare(number, &prepared.text, out).map_err(Lost::refused)?;
        }
        self.is_sending = !out.is_empty();
        self.stage = if self.is_sending { Stage::Preparing(0) } else { Stage::Ready };
        self.codec.await_first(self.settings() == 0);
        Ok(())
    }

    /// Judges the replies to the burst; false: they are not all there yet.
    fn prepare(&mut self, mut judged: usize) -> Result<bool, Lost> {
        let target = Arc::clone(&self.target);
        let (settings, prepared) = (self.settings(), target.requests.prepared());
        loop {
            let fed = self.codec.feed(self.stream.arrived())?;
            self.stream.take(fed.taken);
            if !fed.is_done {
                if self.fill(fed.needs)? {
                    continue;
                }
                self.stage = Stage::Preparing(judged);
                return Ok(false);
            }
            let step = judged.checked_sub(settings).map(|index| &prepared[index]);
            if let Some(refusal) = self.codec.take_refusal() {
                let what = match (step, judged.checked_sub(C::SETTINGS.len())) {
                    (Some(step), _) => format!("step {}", step.step),
                    (None, Some(index)) => target.settings.setup[index].clone(),
                    (None, None) => C::SETTINGS[judged].to_owned(),
                };
                let (message, name) = (&refusal.message, C::name_of(&refusal));
                return Err(Lost::refused(format!("{what} is refused by the server: {message} ({name})")));
            }
            if let Some(step) = step {
                let (takes, given) = (self.codec.prepared(), step.parameters);
                if takes != given {
                    return Err(Lost::refused(format!(
                        "step {}: the statement takes {takes} values, and the step gives it {given}",
                        step.step
                    )));
                }
            }
            judged += 1;
            self.codec.await_first(judged >= settings);
            if judged == settings + prepared.len() {
                self.stage = Stage::Ready;
                return Ok(true);
            }
        }
    }

    /// What the server sends although nothing was asked.
    fn unasked(&mut self) -> Result<(), Lost> {
        loop {
            let fed = self.codec.feed_unasked(self.stream.arrived())?;
            self.stream.take(fed.taken);
            if fed.taken == 0 && !self.fill(fed.needs)? {
                return Ok(());
            }
        }
    }

    /// Why a connection is lost: a server that ends a session may say so before it closes.
    #[cold]
    fn ended(&mut self, error: StreamError) -> Lost {
        match self.codec.take_refusal() {
            None => error.into(),
            Some(refusal) => {
                let message = format!("{} ({})", refusal.message, C::name_of(&refusal));
                Lost { kind: LostKind::Closed, message }
            }
        }
    }
}

impl<C: Codec> link::Link for Link<C> {
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
        // What a server only tells may come at any time, and half of it may be there.
        let is_empty = self.stream.arrived().is_empty();
        let out = if is_empty { self.stream.request() } else { self.stream.next_request() };
        self.codec.render(&self.target, request, values, looks, out)?;
        (self.is_asked, self.bytes, self.first_arrived_unix_ns) = (true, 0, None);
        Ok(out.len() as u64)
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
            let Fed { taken, needs, is_done } = self.codec.feed(self.stream.arrived())?;
            self.stream.take(taken);
            self.bytes += taken as u64;
            if is_done {
                if !C::MAY_TELL && !self.stream.arrived().is_empty() {
                    return Err(Lost::bad("bytes arrived behind the reply"));
                }
                self.is_asked = false;
                let (rows, affected) = self.codec.counts();
                return Ok(Some(Answer {
                    refusal: self.codec.take_refusal(),
                    rows,
                    affected,
                    bytes: self.bytes,
                    leads_elsewhere: false,
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
        self.codec.view(out);
    }
}
