//! The head of a reply: status, where the body ends, and what becomes of the connection (RFC 9112, 6.3 and 9.3).

use std::mem::MaybeUninit;

use httparse::{Header, ParserConfig, Response, Status};

use super::BadReply;

/// Most bytes of status line and headers.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Most headers.
const HEADERS_MAX: usize = 256;

/// What a head says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Status.
    pub status: u16,
    /// Whether the server ends the connection after the reply.
    pub closes: bool,
    /// How the body is coded.
    pub coding: Coding,
    /// Whether a header sets cookies.
    pub sets_cookies: bool,
    /// Whether a header says where to go instead.
    pub has_location: bool,
    pub(super) extent: Extent,
}

/// How a body is coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coding {
    /// Not at all.
    #[default]
    Identity,
    /// By gzip.
    Gzip,
    /// By zlib, or by deflate alone, as some servers read the name.
    Deflate,
    /// In a way that isn't known here.
    Unknown,
}

/// Where a body ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extent {
    /// After so many bytes.
    Length(u64),
    /// With its last chunk.
    Chunks,
    /// With the connection.
    #[default]
    UntilClose,
}

impl Head {
    /// Reads a whole head.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, BadReply> {
        let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let response = parse(bytes, &mut headers)?;
        let status = response.code.unwrap_or_default();
        if status < 100 {
            return Err(BadReply::new(format!("there is no status {status}")));
        }
        let mut head = Self { status, closes: response.version == Some(0), ..Self::default() };
        let mut length = None;
        let mut is_chunked = false;
        for Header { name, value } in response.headers.iter() {
            // By length first: most headers mean nothing here.
            match name.len() {
                8 if name.eq_ignore_ascii_case("location") => head.has_location = true,
                10 if name.eq_ignore_ascii_case("connection") => head.follow_connection(value),
                10 if name.eq_ignore_ascii_case("set-cookie") => head.sets_cookies = true,
                14 if name.eq_ignore_ascii_case("content-length") => {
                    length = Some(content_length(value, length)?);
                }
                16 if name.eq_ignore_ascii_case("content-encoding") => {
                    head.coding = Coding::of(value, head.coding);
                }
                17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                    if !value.trim_ascii().eq_ignore_ascii_case(b"chunked") || is_chunked {
                        return Err(BadReply::new("the body is transferred in a way that isn't known"));
                    }
                    is_chunked = true;
                }
                _ => {}
            }
        }
        head.extent = match length {
            // Chunks go before a length; a server that says both may be misread by others, so the connection ends.
            _ if is_chunked => {
                head.closes |= length.is_some();
                Extent::Chunks
            }
            Some(length) => Extent::Length(length),
            None => Extent::UntilClose,
        };
        Ok(head)
    }

    fn follow_connection(&mut self, value: &[u8]) {
        for option in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
            if option.eq_ignore_ascii_case(b"close") {
                self.closes = true;
                return;
            }
            if option.eq_ignore_ascii_case(b"keep-alive") {
                self.closes = false;
            }
        }
    }
}

impl Coding {
    fn of(value: &[u8], before: Self) -> Self {
        let value = value.trim_ascii();
        let is = |name: &[u8]| value.eq_ignore_ascii_case(name);
        match before {
            Self::Identity if is(b"gzip") || is(b"x-gzip") => Self::Gzip,
            Self::Identity if is(b"deflate") => Self::Deflate,
            before if is(b"identity") || value.is_empty() => before,
            _ => Self::Unknown,
        }
    }
}

/// A length, or the same one several times.
fn content_length(value: &[u8], before: Option<u64>) -> Result<u64, BadReply> {
    let bad = || BadReply::new("the reply's Content-Length is no number");
    let mut length = before;
    for text in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
        let digit = |sum: Option<u64>, byte: &u8| {
            let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
            sum?.checked_mul(10)?.checked_add(digit)
        };
        let next = text.iter().fold((!text.is_empty()).then_some(0), digit).ok_or_else(bad)?;
        if length.is_some_and(|length| length != next) {
            return Err(BadReply::new("the reply has two different Content-Lengths"));
        }
        length = Some(next);
    }
    length.ok_or_else(bad)
}

fn parse<'h, 'b>(
    bytes: &'b [u8],
    headers: &'h mut [MaybeUninit<Header<'b>>],
) -> Result<Response<'h, 'b>, BadReply> {
    let mut response = Response::new(&mut []);
    let parsed = ParserConfig::default().parse_response_with_uninit_headers(&mut response, bytes, headers);
    match parsed {
        Ok(Status::Complete(_)) => Ok(response),
        Ok(Status::Partial) => Err(BadReply::new("the headers end too early")),
        Err(httparse::Error::TooManyHeaders) => {
            Err(BadReply::new(format!("there are more than {HEADERS_MAX} headers")))
        }
        Err(httparse::Error::Version) => Err(BadReply::new("what the server sends is not HTTP/1.1")),
        Err(error) => Err(BadReply::new(format!("the headers can't be read: {error}"))),
    }
}

/// Goes through the headers of a whole head.
pub(super) fn each_header<'b>(bytes: &'b [u8], mut see: impl FnMut(&'b str, &'b [u8])) {
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    // It was read once already.
    if let Ok(response) = parse(bytes, &mut headers) {
        response.headers.iter().for_each(|header| see(header.name, header.value));
    }
}

/// Where the head ends: after its first empty line. `searched` bytes have been looked at before.
pub(super) fn head_end(bytes: &[u8], searched: usize) -> Option<usize> {
    // Empty lines in front of the status line are none of its own.
    let start = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
    // The end may have begun before.
    let from = searched.saturating_sub(3).max(start);
    let mut lines = memchr::memchr_iter(b'\n', &bytes[from..]).map(|at| from + at + 1);
    lines.find_map(|at| match bytes[at..] {
        [b'\n', ..] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    })
}
