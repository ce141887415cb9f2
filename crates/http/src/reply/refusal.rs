//! What a failure is called, and what its reply says of it.

use super::{Coding, Reply};
use crate::view::decoded;

/// Most characters of a message.
const MESSAGE_CHARACTERS_MAX: usize = 200;
/// Most characters of a phrase that the server has made up.
const PHRASE_CHARACTERS_MAX: usize = 40;

/// `404 Not Found`: the registered phrase, so that one status has one name; else the server's.
pub fn phrase(reply: &Reply) -> String {
    let status = reply.head.status;
    let head = reply.head_bytes.trim_ascii_start();
    let phrase = match registered(status) {
        Some(phrase) => phrase.to_owned(),
        None => printable(&head[..line_end(head)], PHRASE_CHARACTERS_MAX)
            .splitn(3, ' ')
            .nth(2)
            .unwrap_or_default()
            .to_owned(),
    };
    if phrase.is_empty() { status.to_string() } else { format!("{status} {phrase}") }
}

/// The beginning of the body, as far as it is text.
pub fn message(reply: &Reply) -> String {
    if reply.head.coding == Coding::Identity {
        return printable(&reply.body, MESSAGE_CHARACTERS_MAX);
    }
    // Of a body that was cut, what can be decoded is its beginning.
    let mut text = Vec::new();
    decoded(&reply.body, reply.head.coding, 4 * MESSAGE_CHARACTERS_MAX, &mut text);
    printable(&text, MESSAGE_CHARACTERS_MAX)
}

fn line_end(bytes: &[u8]) -> usize {
    memchr::memchr2(b'\r', b'\n', bytes).unwrap_or(bytes.len())
}

/// Text in one line: white space is one space, and what can't be printed is left out.
fn printable(bytes: &[u8], characters_max: usize) -> String {
    let mut text = String::new();
    let mut room = characters_max;
    // A character is at most four bytes; white space may be more, and then the text is shorter.
    let bytes = &bytes[..bytes.len().min(8 * characters_max)];
    for character in String::from_utf8_lossy(bytes).chars() {
        let is_space = character.is_whitespace();
        if room == 0 || (is_space && (text.is_empty() || text.ends_with(' '))) {
            continue;
        }
        if is_space || !(character.is_control() || character == char::REPLACEMENT_CHARACTER) {
            text.push(if is_space { ' ' } else { character });
            room -= 1;
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// The phrases of the registry (RFC 9110, 15; RFC 6585; RFC 4918).
fn registered(status: u16) -> Option<&'static str> {
    Some(match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        305 => "Use Proxy",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        423 => "Locked",
        424 => "Failed Dependency",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        507 => "Insufficient Storage",
        508 => "Loop Detected",
        511 => "Network Authentication Required",
        _ => return None,
    })
}
