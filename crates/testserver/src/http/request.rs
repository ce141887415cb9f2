//! A request as it was sent.

use std::mem::MaybeUninit;

use crate::server::front::{Ending, Unreadable};

/// Most headers, and most bytes of them.
const HEADERS_MAX: usize = 128;
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// Methods that are counted by name.
const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// A request.
pub struct Request<'a> {
    method: &'a str,
    /// Path and query.
    pub target: &'a [u8],
    /// Whether the client ends the connection after the reply.
    closes: bool,
    /// Its bytes, those of its body included, which may not all have come.
    pub bytes: usize,
}

impl<'a> Request<'a> {
    /// The request that `bytes` begin with; `None`: its headers are not complete.
    pub fn parse(bytes: &'a [u8]) -> Result<Option<Self>, Unreadable> {
        let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut []);
        let head_bytes = match request.parse_with_uninit_headers(bytes, &mut headers) {
            Ok(httparse::Status::Complete(head_bytes)) => head_bytes,
            Ok(httparse::Status::Partial) if bytes.len() <= HEAD_BYTES_MAX => return Ok(None),
            _ => return Err(Unreadable),
        };
        let mut closes = request.version == Some(0);
        let mut body_bytes = 0;
        for header in request.headers.iter() {
            if header.name.eq_ignore_ascii_case("content-length") {
                let length =
                    std::str::from_utf8(header.value).ok().and_then(|text| text.trim().parse::<u32>().ok());
                body_bytes = length.ok_or(Unreadable)? as usize;
            } else if header.name.eq_ignore_ascii_case("connection") {
                closes = header.value.eq_ignore_ascii_case(b"close")
                    || (closes && !header.value.eq_ignore_ascii_case(b"keep-alive"));
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                return Err(Unreadable);
            }
        }
        let (method, target) = (request.method.ok_or(Unreadable)?, request.path.ok_or(Unreadable)?);
        Ok(Some(Self { method, target: target.as_bytes(), closes, bytes: head_bytes + body_bytes }))
    }

    /// Its method, as far as it is counted by name.
    pub fn method_name(&self) -> &'static str {
        METHODS.into_iter().find(|name| *name == self.method).unwrap_or("other")
    }

    /// Whether its reply has no body.
    pub fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// How a reply to it ends.
    pub fn ending(&self) -> Ending {
        if self.closes { Ending::LastReply } else { Ending::Reply }
    }
}
