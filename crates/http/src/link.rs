//! One client of a server: a socket while there is one, the request under way, and what is kept from one request to the next.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use brimline_net::link::{
    self, Answer, Greeting, Looks, Lost, LostKind, Part, Refusal, RefusalKind, Request,
};
use brimline_net::stream::{Filled, SendState, Stream, StreamError};

use crate::cookies::Jar;
use crate::redirect::{Destination, resolve};
use crate::reply::{Asked, End, Reply, message, phrase};
use crate::request::{Redirected, Rendered, is_safe};
use crate::server::Server;
use crate::view::{Parts, view};

/// What of a reply lies in the socket's buffer before that is used again from its start, and how much is taken before others have
/// their turn.
const TAKEN_BYTES_MAX: usize = 64 * 1024;
const TURN_BYTES_MAX: usize = 1024 * 1024;
/// How a reply begins that tells of a connection that was idle for too long.
const TIMEOUT_REPLY: [&[u8]; 2] = [b"HTTP/1.1 408", b"HTTP/1.0 408"];
/// A buffer up to this size is never given back.
const BUFFER_BYTES_KEPT: usize = 256 * 1024;

pub(crate) struct Link {
    server: Arc<Server>,
    stream: Option<Stream>,
    is_connected: bool,
    /// The request, as it is sent; where its parts are.
    outgoing: Vec<u8>,
    rendered: Rendered,
    /// Room for a body while it is rendered, and for the request that follows a redirect.
    scratch: Vec<u8>,
    step: usize,
    looks: Looks,
    reply: Reply,
    jar: Jar,
    exchange: Exchange,
    /// Replies that this socket has brought: one that brought some may have been closed by the peer since.
    replies: u64,
    was_resent: bool,
    redirects_left: u32,
    /// How much of what has arrived was looked at.
    looked: usize,
    bytes: u64,
    first_arrived_unix_ns: Option<u64>,
    arrived_unix_ns: Option<u64>,
}

/// What a client waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exchange {
    /// Nothing: no request is under way.
    Idle,
    /// The reply to its request.
    Reply,
    /// That the request which follows a redirect is sent.
    FollowUp,
}

impl Link {
    pub(crate) fn new(server: Arc<Server>) -> Self {
        let jar = server.take_jar();
        Self {
            server,
            stream: None,
            is_connected: false,
            outgoing: Vec::new(),
            rendered: Rendered::default(),
            scratch: Vec::new(),
            step: 0,
            looks: Looks::default(),
            reply: Reply::default(),
            jar,
            exchange: Exchange::Idle,
            replies: 0,
            was_resent: false,
            redirects_left: 0,
            looked: 0,
            bytes: 0,
            first_arrived_unix_ns: None,
            arrived_unix_ns: None,
        }
    }

    fn method(&self) -> &[u8] {
        &self.outgoing[..self.rendered.target.start.saturating_sub(1)]
    }

    /// Makes ready for the reply to what is to be sent.
    fn expect_reply(&mut self) {
        let is_head = self.method() == b"HEAD";
        let keeps_body = self.looks.at_content || self.looks.at_text;
        self.reply.begin(Asked { is_head, keeps_body });
        self.looked = 0;
        if let Some(stream) = &mut self.stream {
            stream.request();
        }
    }

    /// Bytes, or the end, of a socket that has nothing to say. Many servers close a connection that is idle for long, some say so.
    fn receive_unasked(&mut self) -> Result<(), Lost> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let is_over = match stream.fill(usize::MAX) {
            Ok((Filled::Nothing, _)) => false,
            Ok((Filled::End, _)) | Err(_) => true,
            Ok((Filled::Bytes | Filled::Last, _)) => {
                if !is_timeout(stream.arrived()) {
                    return Err(Lost::bad("the server sent bytes that nobody asked for"));
                }
                true
            }
        };
        if is_over {
            self.stream = None;
        }
        Ok(())
    }

    /// Follows what a read brought; whether the reply is whole.
    fn take(&mut self, arrived_unix_ns: Option<u64>) -> Result<bool, Lost> {
        let Some(stream) = &mut self.stream else { return Ok(false) };
        if !self.reply.has_begun() {
            self.first_arrived_unix_ns = arrived_unix_ns;
        }
        self.arrived_unix_ns = arrived_unix_ns;
        let new = &stream.arrived()[self.looked..];
        let taken = self.reply.take(new).map_err(|error| Lost::bad(error.to_string()))?;
        self.bytes += taken as u64;
        self.looked += taken;
        let is_whole = self.reply.is_whole();
        let more = &new[taken..];
        if !more.is_empty() && !self.reply.head().closes {
            if !is_timeout(more) {
                return Err(Lost::bad("more arrived than the reply that was asked for"));
            }
            self.stream = None;
        } else if is_whole || self.looked >= TAKEN_BYTES_MAX {
            stream.take(self.looked);
            self.looked = 0;
        }
        Ok(is_whole)
    }

    /// The peer has closed while a reply was awaited.
    #[cold]
    fn peer_closed(&mut self) -> Result<Option<Answer>, Lost> {
        match self.reply.end() {
            End::Whole => Ok(self.finish()),
            End::Within => {
                Err(Lost::bad(format!("the server closed within its reply, after {} bytes", self.bytes)))
            }
            // It may have closed before the request came, and that has done nothing then.
            End::BeforeIt if self.replies > 0 && !self.was_resent && is_safe(self.method()) => {
                self.stream = None;
                self.was_resent = true;
                Ok(None)
            }
            End::BeforeIt => {
                let message = "the server closed the connection without a reply".to_owned();
                Err(Lost { kind: LostKind::Closed, message })
            }
        }
    }

    /// A whole reply: what it asks to keep is kept, where it leads is followed, else it is judged.
    fn finish(&mut self) -> Option<Answer> {
        let head = self.reply.head();
        let (status, sets_cookies, has_location) = (head.status, head.sets_cookies, head.has_location);
        if head.closes || !self.server.settings.keep_alive {
            self.stream = None;
        }
        self.replies += 1;
        if sets_cookies && self.server.settings.cookies {
            self.keep_cookies();
        }
        if has_location && self.redirects_left > 0 && self.follow(status) {
            return None;
        }
        self.exchange = Exchange::Idle;
        let leads_elsewhere = has_location && is_redirect(status);
        let accepts = self.server.requests.template(self.step).accepts(status);
        Some(Answer {
            refusal: if accepts { None } else { Some(Box::new(self.refusal(status))) },
            rows: 0,
            affected: 0,
            bytes: self.bytes,
            leads_elsewhere,
            first_arrived_unix_ns: self.first_arrived_unix_ns,
            arrived_unix_ns: self.arrived_unix_ns,
        })
    }

    #[cold]
    fn refusal(&self, status: u16) -> Refusal {
        let kind = match status {
            400..500 => RefusalKind::ClientStatus,
            500..600 => RefusalKind::ServerStatus,
            _ => RefusalKind::OtherStatus,
        };
        let (label, mut message) = (phrase(&self.reply), message(&self.reply));
        if let Some(location) = self.location().filter(|_| (300..400).contains(&status)) {
            message = format!("leads to {}", String::from_utf8_lossy(location));
        }
        Refusal { kind, code: i32::from(status), label, message }
    }

    fn location(&self) -> Option<&[u8]> {
        let mut location = None;
        self.reply.each_header(|name, value| {
            if name.eq_ignore_ascii_case("location") {
                location = Some(value);
            }
        });
        location
    }

    #[cold]
    fn keep_cookies(&mut self) {
        let now_unix_s = self.arrived_unix_ns.map_or_else(now_unix_s, |ns| (ns / 1_000_000_000) as i64);
        let surroundings = &self.server.surroundings;
        let target = &self.outgoing[self.rendered.target.clone()];
        let jar = &mut self.jar;
        self.reply.each_header(|name, value| {
            if name.eq_ignore_ascii_case("set-cookie") {
                jar.set(value, surroundings.authority(), target, surroundings.is_secure(), now_unix_s);
            }
        });
    }

    /// Renders the request that follows a redirect; whether there is one.
    #[cold]
    fn follow(&mut self, status: u16) -> bool {
        if !is_redirect(status) {
            return false;
        }
        let surroundings = &self.server.surroundings;
        let target = &self.outgoing[self.rendered.target.clone()];
        let Some(Destination::Here(target)) = self.location().map(|to| resolve(to, target, surroundings))
        else {
            return false;
        };
        let next = Redirected { status, target: &target, is_secure: surroundings.is_secure() };
        let mut request = std::mem::take(&mut self.scratch);
        request.clear();
        self.rendered = next.render(&self.outgoing, &self.rendered, self.cookies(), &mut request);
        self.scratch = std::mem::replace(&mut self.outgoing, request);
        self.redirects_left -= 1;
        self.was_resent = false;
        self.exchange = Exchange::FollowUp;
        self.expect_reply();
        true
    }

    fn cookies(&self) -> Option<&Jar> {
        (self.server.settings.cookies && !self.jar.is_empty()).then_some(&self.jar)
    }
}

impl link::Link for Link {
    fn socket(&self) -> Option<BorrowedFd<'_>> {
        self.stream.as_ref().map(AsFd::as_fd)
    }

    fn open(&mut self) -> io::Result<()> {
        self.stream = Some(self.server.open()?);
        self.is_connected = false;
        self.replies = 0;
        self.looked = 0;
        Ok(())
    }

    fn greet(&mut self) -> Result<Greeting, Lost> {
        let Some(stream) = &mut self.stream else {
            return Err(io::Error::from(io::ErrorKind::NotConnected).into());
        };
        if !self.is_connected {
            stream.finish_connect()?;
            self.is_connected = true;
        }
        if !stream.is_handshaking() {
            return Ok(Greeting::Ready);
        }
        // Nothing of the request: what is to be sent is the handshake's.
        if stream.send_instead(&[])? == SendState::Blocked {
            return Ok(Greeting::AwaitsRoom);
        }
        let (filled, _) = stream.fill(usize::MAX).map_err(|error| match error {
            // Such as a certificate that is not trusted, which the next try would meet as well.
            StreamError::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                Lost::refused(error.to_string())
            }
            error => error.into(),
        })?;
        match filled {
            Filled::Nothing if stream.is_handshaking() => Ok(Greeting::AwaitsReply),
            Filled::Nothing => Ok(Greeting::Ready),
            Filled::End => Err(StreamError::Closed.into()),
            Filled::Bytes | Filled::Last => Err(Lost::bad("the server sent bytes that nobody asked for")),
        }
    }

    fn render(&mut self, request: Request, values: &[u8], looks: Looks) -> Result<u64, String> {
        self.exchange = Exchange::Idle;
        self.outgoing.clear();
        if self.outgoing.capacity() > BUFFER_BYTES_KEPT {
            self.outgoing = Vec::new();
        }
        if request.part != Part::Main {
            return Err("HTTP has neither transactions nor loads".to_owned());
        }
        self.step = usize::from(request.step);
        self.looks = looks;
        if self.jar.has_ends() {
            self.jar.forget_ended(now_unix_s());
        }
        let Server { settings, requests, surroundings, .. } = &*self.server;
        let jar = (settings.cookies && !self.jar.is_empty()).then_some(&self.jar);
        let (scratch, out) = (&mut self.scratch, &mut self.outgoing);
        let rendered = requests.render(self.step, surroundings, values, jar, scratch, out);
        self.rendered = rendered.map_err(|misfit| misfit.message)?;
        self.bytes = 0;
        self.first_arrived_unix_ns = None;
        self.arrived_unix_ns = None;
        self.was_resent = false;
        self.redirects_left = self.server.settings.follow_redirects;
        self.exchange = Exchange::Reply;
        self.expect_reply();
        Ok(self.outgoing.len() as u64)
    }

    fn send(&mut self) -> Result<SendState, Lost> {
        if self.exchange == Exchange::FollowUp {
            self.exchange = Exchange::Reply;
        }
        let Some(stream) = &mut self.stream else {
            return Err(io::Error::from(io::ErrorKind::NotConnected).into());
        };
        match stream.send_instead(&self.outgoing) {
            Ok(state) => Ok(state),
            // The peer has gone, perhaps with a reply on its way, or long before. Receiving tells which.
            Err(StreamError::Io(error)) if is_peer_gone(&error) => Ok(SendState::Done),
            Err(error) => Err(error.into()),
        }
    }

    fn receive(&mut self) -> Result<Option<Answer>, Lost> {
        if self.exchange == Exchange::Idle {
            return self.receive_unasked().map(|()| None);
        }
        let before = self.bytes;
        while let Some(stream) = &mut self.stream {
            let (filled, arrived_unix_ns) = match stream.fill(usize::MAX) {
                Ok(filled) => filled,
                Err(StreamError::Io(error)) if is_peer_gone(&error) && !self.reply.has_begun() => {
                    return self.peer_closed();
                }
                Err(error) => return Err(error.into()),
            };
            match filled {
                Filled::Nothing => return Ok(None),
                Filled::End => return self.peer_closed(),
                Filled::Bytes | Filled::Last => {
                    if self.take(arrived_unix_ns)? {
                        return Ok(self.finish());
                    }
                }
            }
            // Over TLS all of it: what is decrypted already makes no socket readable.
            let is_turn_over = (self.bytes - before) as usize >= TURN_BYTES_MAX && !self.is_secure();
            if filled == Filled::Last || is_turn_over {
                return Ok(None);
            }
        }
        Ok(None)
    }

    fn has_more_to_send(&self) -> bool {
        self.exchange == Exchange::FollowUp
    }

    fn view(&mut self, out: &mut Vec<u8>) {
        let Looks { at_head, at_content, at_text } = self.looks;
        view(&self.reply, Parts { headers: at_head, json: at_content, text: at_text }, out);
    }
}

impl Link {
    fn is_secure(&self) -> bool {
        self.server.settings.tls
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.server.leave_jar(std::mem::take(&mut self.jar));
    }
}

/// Whether these are bytes of a reply that tells of an idle connection's end.
fn is_timeout(bytes: &[u8]) -> bool {
    TIMEOUT_REPLY.iter().any(|start| bytes.starts_with(start) || start.starts_with(bytes))
}

/// Whether a status sends a client to the reply's location (RFC 9110, 15.4).
fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

fn is_peer_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

#[expect(clippy::disallowed_methods, reason = "cookies end by the calendar; nothing is timed by it")]
fn now_unix_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() as i64)
}
