//! Values as text: plain, as JSON, in URLs, forms and cookies.

use brimline_bson::Value;
use brimline_formats::write::plain;

use crate::spec::Encoding;

/// Appends a value.
pub fn append(value: &Value<'_>, encoding: Encoding, out: &mut Vec<u8>) {
    let start = out.len();
    if encoding == Encoding::Json {
        plain::append_json(value, out);
    } else {
        plain::append_text(value, out);
    }
    match encoding {
        Encoding::Text | Encoding::Json => {}
        Encoding::Url => escape(start, out, is_unreserved),
        Encoding::Form => {
            escape(start, out, |byte| is_form_character(byte) || byte == b' ');
            out[start..].iter_mut().filter(|byte| **byte == b' ').for_each(|byte| *byte = b'+');
        }
        Encoding::Cookie => escape(start, out, is_cookie_octet),
    }
}

/// Percent-encodes what `out` has from `start` on and can't stand in a target (RFC 3986), and leaves what has a meaning there.
pub fn escape_target(start: usize, out: &mut Vec<u8>) {
    escape(start, out, |byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte));
}

/// Percent-encodes what `out` has from `start` on and `is_plain` doesn't take. In place, so that nothing is allocated.
fn escape(start: usize, out: &mut Vec<u8>, is_plain: impl Fn(u8) -> bool) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let special = out[start..].iter().filter(|&&byte| !is_plain(byte)).count();
    if special == 0 {
        return;
    }
    let mut from = out.len();
    let mut to = from + 2 * special;
    out.resize(to, 0);
    while to > from {
        from -= 1;
        let byte = out[from];
        if is_plain(byte) {
            to -= 1;
            out[to] = byte;
        } else {
            to -= 3;
            let code = [b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
            out[to..to + 3].copy_from_slice(&code);
        }
    }
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn is_form_character(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'*' | b'-' | b'.' | b'_')
}

fn is_cookie_octet(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'"' | b',' | b';' | b'\\' | b'%')
}
