//! The bytes of replies.

use std::io::Write;

use super::request::Request;

/// Data of one chunk.
const CHUNK_BYTES: usize = 8 * 1024;
/// Bytes of a garbage reply.
const GARBAGE_BYTES: usize = 64;

/// How a body is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// With its length in front.
    Whole,
    /// In chunks.
    Chunks,
    /// Not at all, only its length.
    None,
}

impl Body {
    /// Of the reply to `request`, in chunks where that is wanted.
    pub fn of(request: &Request<'_>, chunked: bool) -> Self {
        match (request.is_head(), chunked) {
            (true, _) => Self::None,
            (false, true) => Self::Chunks,
            (false, false) => Self::Whole,
        }
    }
}

/// Writes the body of the reply to a request, filled up to `body_bytes`, in place of what `body` held.
pub fn write_body(request: u64, body_bytes: Option<u32>, body: &mut Vec<u8>) {
    body.clear();
    // Writing to a Vec can't fail.
    let _ = write!(body, "{{\"ok\":true,\"request\":{request}");
    if let Some(body_bytes) = body_bytes {
        body.extend_from_slice(b",\"filler\":\"");
        body.resize(body_bytes as usize - b"\"}".len(), b'x');
        body.push(b'"');
    }
    body.push(b'}');
}

/// Appends a reply.
pub fn append(status: u16, form: Body, body: &[u8], out: &mut Vec<u8>) {
    let _ = write!(out, "HTTP/1.1 {status} {}\r\n", phrase(status));
    if matches!(status, 204 | 304) {
        return out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"Content-Type: application/json\r\n");
    if form == Body::Chunks {
        out.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
        for chunk in body.chunks(CHUNK_BYTES) {
            let _ = write!(out, "{:x}\r\n", chunk.len());
            out.extend_from_slice(chunk);
            out.extend_from_slice(b"\r\n");
        }
        return out.extend_from_slice(b"0\r\n\r\n");
    }
    let _ = write!(out, "Content-Length: {}\r\n\r\n", body.len());
    if form == Body::Whole {
        out.extend_from_slice(body);
    }
}

/// Appends bytes that are no reply.
pub fn append_garbage(out: &mut Vec<u8>) {
    out.extend_from_slice(&[0xff; GARBAGE_BYTES]);
}

/// Appends a reply whose body would be longer than any number of 64 bits says.
pub fn append_impossible_length(out: &mut Vec<u8>) {
    out.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n");
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        304 => "Not Modified",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Scripted",
    }
}
