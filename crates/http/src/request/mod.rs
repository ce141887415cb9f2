//! Requests: compiled once from what a plan says, then rendered with the values of each operation.

mod encode;
mod redirected;
mod slots;

use std::ops::Range;

use brimline_net::protocol::StepError;
use thiserror::Error;

pub(crate) use self::encode::escape_target;
pub use self::redirected::Redirected;
use self::slots::Slots;
use crate::authority::split_port;
use crate::cookies::Jar;
use crate::spec::{Encoding, HeaderSpec, Piece, RequestSpec, Settings};

/// What a client says of itself, unless a request says otherwise.
const USER_AGENT: &str = concat!("brimline/", env!("CARGO_PKG_VERSION"));
/// Methods that change nothing (RFC 9110, 9.2.1), so that a request may be sent twice.
const SAFE_METHODS: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];
/// Methods whose requests say that they have no body, because one is expected.
const METHODS_WITH_BODY: [&str; 3] = ["POST", "PUT", "PATCH"];
const COOKIE: &[u8] = b"Cookie: ";
/// What follows from the connection and the body, and is no one else's to say.
const OWN_HEADERS: [&str; 4] = ["connection", "content-length", "transfer-encoding", "upgrade"];

/// A value that can't stand where a request has it. Such a request isn't sent.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Misfit {
    /// Why.
    pub message: String,
}

impl Misfit {
    /// Because of `message`.
    #[cold]
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// The requests of all steps.
#[derive(Debug)]
pub struct Requests {
    templates: Vec<Template>,
}

/// One request, ready to be filled in.
#[derive(Debug)]
pub struct Template {
    method: String,
    target: Vec<Part>,
    /// Names of its own headers, in lower case.
    names: Vec<String>,
    /// Its own headers but that of cookies, with their line ends.
    lines: Vec<Line>,
    /// Its own cookies.
    cookie: Option<Vec<Part>>,
    body: Option<Vec<Part>>,
    status: Vec<[u16; 2]>,
}

/// Header lines. Those without values are one.
#[derive(Debug)]
struct Line {
    has_values: bool,
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    Slot(u32, Encoding),
}

/// What stands around the values of the requests to one server: one for each template.
#[derive(Debug)]
pub struct Surroundings {
    authority: String,
    is_secure: bool,
    /// From the version in the request line to the last header that all requests have.
    heads: Vec<Vec<u8>>,
}

/// Where the parts of a rendered request are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The target.
    pub target: Range<usize>,
    /// The cookies that it has by itself.
    pub own_cookies: Range<usize>,
    /// The body, at the end.
    pub body: Range<usize>,
}

impl Requests {
    /// Looks through the requests of all steps.
    ///
    /// # Errors
    /// The first that can't be one.
    pub fn new<'s>(specs: impl IntoIterator<Item = &'s RequestSpec>) -> Result<Self, StepError> {
        let template = |(step, spec)| Template::new(spec).map_err(|message| StepError { step, message });
        Ok(Self { templates: specs.into_iter().enumerate().map(template).collect::<Result<_, _>>()? })
    }

    /// The request of a step.
    pub fn template(&self, step: usize) -> &Template {
        &self.templates[step]
    }

    /// What their headers say to one server; `headers` are sent with each, such as an authorization.
    ///
    /// # Errors
    /// When a header can't be one; what it says is not told.
    pub fn surroundings<V: AsRef<str>>(
        &self,
        settings: &Settings,
        headers: &[(String, V)],
    ) -> Result<Surroundings, String> {
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_ref())).collect();
        for (name, value) in &headers {
            if !is_token(name) || require_header_value(value.as_bytes()).is_err() {
                return Err(format!(
                    "the header {name:?} can't be sent: it has a line end or another bad character"
                ));
            }
        }
        require_authority(&settings.authority)?;
        let heads = self.templates.iter().map(|template| template.head(settings, &headers)).collect();
        Ok(Surroundings { authority: settings.authority.clone(), is_secure: settings.tls, heads })
    }

    /// Renders the request of a step into `out`, which is empty, with `values`, a BSON array of its slots. `scratch` is only memory.
    ///
    /// # Errors
    /// When a value can't stand where it should.
    pub fn render(
        &self,
        step: usize,
        surroundings: &Surroundings,
        values: &[u8],
        jar: Option<&Jar>,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<Rendered, Misfit> {
        let template = &self.templates[step];
        let mut slots = Slots::new(values);
        out.extend_from_slice(template.method.as_bytes());
        out.push(b' ');
        let start = out.len();
        slots.append(&template.target, out)?;
        escape_target(start, out);
        surroundings.make_local(start, out)?;
        let target = start..out.len();
        out.extend_from_slice(&surroundings.heads[step]);
        for line in &template.lines {
            let start = out.len();
            slots.append(&line.parts, out)?;
            if line.has_values {
                require_header_value(&out[start..])?;
                out.extend_from_slice(b"\r\n");
            }
        }
        let own_cookies = template.append_own_cookies(&mut slots, out)?;
        let own_cookies = append_kept_cookies(jar, &target, surroundings.is_secure, own_cookies, out);
        let Some(body) = &template.body else {
            let says_so = METHODS_WITH_BODY.contains(&template.method.as_str());
            out.extend_from_slice(if says_so { b"Content-Length: 0\r\n\r\n" } else { b"\r\n" });
            return Ok(Rendered { target, own_cookies, body: out.len()..out.len() });
        };
        scratch.clear();
        slots.append(body, scratch)?;
        append_length(scratch.len(), out);
        let start = out.len();
        out.extend_from_slice(scratch);
        Ok(Rendered { target, own_cookies, body: start..out.len() })
    }
}

/// Goes on with the header of cookies, which so far has `own` ones, with those that the server has set for `target`. No cookies, no
/// header. Returns where its own are.
fn append_kept_cookies(
    jar: Option<&Jar>,
    target: &Range<usize>,
    is_secure: bool,
    own: Range<usize>,
    out: &mut Vec<u8>,
) -> Range<usize> {
    if let Some(jar) = jar {
        jar.append(target.clone(), is_secure, own.start, out);
    }
    if out.len() > own.start {
        out.extend_from_slice(b"\r\n");
        return own;
    }
    out.truncate(own.start - COOKIE.len());
    out.len()..out.len()
}

/// Appends the last header, and the line that ends the headers.
fn append_length(length: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(b"Content-Length: ");
    brimline_formats::write::append_integer(length as i64, out);
    out.extend_from_slice(b"\r\n\r\n");
}

fn require_header_value(line: &[u8]) -> Result<(), Misfit> {
    // What would end the line, or be read differently by different servers.
    let is_bad = |&byte: &u8| (byte < b' ' && byte != b'\t') || byte == 0x7f;
    if line.iter().any(is_bad) {
        return Err(Misfit::new("a header's value has a line end or another control character"));
    }
    Ok(())
}

impl Template {
    fn new(spec: &RequestSpec) -> Result<Self, String> {
        if !is_token(&spec.method) || spec.method == "CONNECT" {
            return Err(format!("{:?} is no method of a request", spec.method));
        }
        let mut template = Self {
            method: spec.method.clone(),
            target: target(&spec.target)?,
            names: Vec::new(),
            lines: Vec::new(),
            cookie: None,
            body: spec.body.as_deref().map(parts),
            status: spec.status.clone(),
        };
        for header in &spec.headers {
            template.add_header(header)?;
        }
        Ok(template)
    }

    fn add_header(&mut self, HeaderSpec { name, value }: &HeaderSpec) -> Result<(), String> {
        if !is_token(name) {
            return Err(format!("{name:?} is no name of a header"));
        }
        let lower = name.to_ascii_lowercase();
        if OWN_HEADERS.contains(&lower.as_str()) {
            return Err(format!("the header {lower} follows from the connection and the body"));
        }
        let texts = value.iter().filter_map(|piece| match piece {
            Piece::Text { text } => Some(text),
            Piece::Slot { .. } => None,
        });
        if texts.map(String::as_bytes).any(|text| require_header_value(text).is_err()) {
            return Err(format!("the header {lower} has a line end or another control character"));
        }
        let value = parts(value);
        if lower == "cookie" {
            if self.cookie.replace(value).is_some() {
                return Err("cookies are one header".to_owned());
            }
        } else {
            self.add_line(name, value);
        }
        self.names.push(lower);
        Ok(())
    }

    fn add_line(&mut self, name: &str, mut value: Vec<Part>) {
        let head = format!("{name}: ").into_bytes();
        if value.iter().any(|part| matches!(part, Part::Slot(..))) {
            value.insert(0, Part::Text(head));
            self.lines.push(Line { has_values: true, parts: value });
            return;
        }
        let texts = value.iter().flat_map(|part| match part {
            Part::Text(text) => text.as_slice(),
            Part::Slot(..) => &[],
        });
        let line = head.iter().chain(texts).chain(b"\r\n").copied().collect::<Vec<u8>>();
        match self.lines.last_mut() {
            Some(Line { has_values: false, parts }) => parts.push(Part::Text(line)),
            _ => self.lines.push(Line { has_values: false, parts: vec![Part::Text(line)] }),
        }
    }

    /// The headers that all requests to a server have, but for those that this one has its own of.
    fn head(&self, settings: &Settings, headers: &[(&str, &str)]) -> Vec<u8> {
        let connection = if settings.keep_alive { "keep-alive" } else { "close" };
        let usual = [
            ("Host", settings.authority.as_str()),
            ("User-Agent", USER_AGENT),
            ("Accept", "*/*"),
            ("Accept-Encoding", "gzip"),
            ("Connection", connection),
        ];
        let given = headers.iter().copied();
        let is_given = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        let is_own = |name: &str| self.names.iter().any(|own| own.eq_ignore_ascii_case(name));
        let usual = usual.into_iter().filter(|(name, _)| !is_given(name));
        let mut head = b" HTTP/1.1\r\n".to_vec();
        for (name, value) in usual.chain(given).filter(|(name, _)| !is_own(name)) {
            head.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        head
    }

    /// Begins the one header of cookies with those of the request, and says where they are.
    fn append_own_cookies(&self, slots: &mut Slots<'_>, out: &mut Vec<u8>) -> Result<Range<usize>, Misfit> {
        out.extend_from_slice(COOKIE);
        let start = out.len();
        if let Some(cookie) = &self.cookie {
            slots.append(cookie, out)?;
            require_header_value(&out[start..])?;
        }
        Ok(start..out.len())
    }

    /// Whether a reply of this status is no failure.
    pub fn accepts(&self, status: u16) -> bool {
        self.status.iter().any(|&[from, to]| (from..=to).contains(&status))
    }
}

impl Surroundings {
    /// What `Host` says.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Whether the server is spoken to over TLS.
    pub fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// What follows the authority of a URL, if that is the server's own.
    pub(crate) fn local_part<'u>(&self, url: &'u str) -> Option<&'u str> {
        let (scheme, default_port) = if self.is_secure { ("https:", "443") } else { ("http:", "80") };
        let rest = match url.get(..scheme.len()) {
            Some(start) if start.eq_ignore_ascii_case(scheme) => &url[scheme.len()..],
            _ => url,
        };
        let rest = rest.strip_prefix("//")?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, local) = rest.split_at(end);
        let (ours, theirs) = (split_port(&self.authority, default_port), split_port(authority, default_port));
        (ours.0.eq_ignore_ascii_case(theirs.0) && ours.1 == theirs.1).then_some(local)
    }

    /// Makes a path of a target that is a whole URL of this server, as replies have them. The target is `out` from `start` on.
    fn make_local(&self, start: usize, out: &mut Vec<u8>) -> Result<(), Misfit> {
        match out.get(start) {
            Some(b'/') => return Ok(()),
            Some(b'*') if out.len() == start + 1 => return Ok(()),
            _ => {}
        }
        let whole = std::str::from_utf8(&out[start..]).ok();
        let Some(local) = whole.and_then(|url| self.local_part(url)) else {
            return Err(Misfit::new("a target is neither a path nor a URL of the server"));
        };
        let length = local.len();
        out.drain(start..out.len() - length);
        if out.get(start) != Some(&b'/') {
            out.insert(start, b'/');
        }
        Ok(())
    }
}

fn require_authority(authority: &str) -> Result<(), String> {
    let is_authority = |byte: u8| byte.is_ascii_graphic() && !b"/?#@\\\"<>".contains(&byte);
    if authority.is_empty() || !authority.bytes().all(is_authority) {
        return Err(format!("{authority:?} is no host of a request"));
    }
    Ok(())
}

/// Whether a method changes nothing, so that its request may be sent twice.
pub(crate) fn is_safe(method: &[u8]) -> bool {
    SAFE_METHODS.iter().any(|safe| safe.as_bytes() == method)
}

fn is_token(text: &str) -> bool {
    let is_token_character = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_token_character)
}

fn parts(pieces: &[Piece]) -> Vec<Part> {
    let part = |piece: &Piece| match piece {
        Piece::Text { text } => Part::Text(text.clone().into_bytes()),
        Piece::Slot { slot, encoding } => Part::Slot(*slot, *encoding),
    };
    pieces.iter().map(part).collect()
}

fn target(pieces: &[Piece]) -> Result<Vec<Part>, String> {
    let begins_well = match pieces.first() {
        Some(Piece::Text { text }) => text.starts_with('/') || (text == "*" && pieces.len() == 1),
        Some(Piece::Slot { .. }) => true,
        None => false,
    };
    if !begins_well {
        return Err("a target begins with /".to_owned());
    }
    let mut parts = parts(pieces);
    for part in &mut parts {
        match part {
            Part::Text(text) if text.contains(&b'#') => {
                return Err("what follows # in a URL is not sent to a server".to_owned());
            }
            Part::Text(text) => escape_target(0, text),
            Part::Slot(..) => {}
        }
    }
    Ok(parts)
}
