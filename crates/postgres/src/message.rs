//! Owns the frames: a letter, a length, and what the letter says.

/// Letter and length.
pub const HEADER_BYTES: usize = 5;
/// The length counts itself.
const LENGTH_BYTES: usize = 4;
/// Longest message, as a server's rows have it at most.
pub const MESSAGE_BYTES_MAX: usize = 1 << 30;

/// Letter and length of the body of the message that `bytes` begin with; `None`: its header is not there.
pub fn header(bytes: &[u8]) -> Option<(u8, Option<usize>)> {
    let [letter, length @ ..] = *bytes.first_chunk::<HEADER_BYTES>()?;
    let length = (u32::from_be_bytes(length) as usize).checked_sub(LENGTH_BYTES);
    Some((letter, length.filter(|&length| length <= MESSAGE_BYTES_MAX)))
}

/// Appends a message, whose body `fill` appends.
///
/// # Errors
/// Those of `fill`, and a message that is too long.
pub fn append<E: From<&'static str>>(
    letter: u8,
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    out.push(letter);
    append_body(out, fill)
}

/// Appends a message without a letter, as the first of a connection.
///
/// # Errors
/// As [`append`].
pub fn append_body<E: From<&'static str>>(
    out: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    fill(out)?;
    let length = out.len() - start;
    if length > MESSAGE_BYTES_MAX {
        return Err("a message of more than 1 GiB can't be sent".into());
    }
    out[start..start + LENGTH_BYTES].copy_from_slice(&(length as u32).to_be_bytes());
    Ok(())
}

/// Appends a message of texts, each ended by a NUL.
pub fn append_texts(letter: u8, texts: &[&[u8]], out: &mut Vec<u8>) {
    let body: usize = texts.iter().map(|text| text.len() + 1).sum();
    out.push(letter);
    out.extend_from_slice(&((body + LENGTH_BYTES) as u32).to_be_bytes());
    for text in texts {
        out.extend_from_slice(text);
        out.push(0);
    }
}

/// Appends a message without a body.
pub fn append_empty(letter: u8, out: &mut Vec<u8>) {
    append_texts(letter, &[], out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_byte_for_byte() {
        let mut out = Vec::new();
        append_texts(b'Q', &[b"BEGIN"], &mut out);
        append_empty(b'S', &mut out);
        append::<String>(b'd', &mut out, |out| {
            out.push(7);
            Ok(())
        })
        .unwrap();
        assert_eq!(out, b"Q\0\0\0\x0aBEGIN\0S\0\0\0\x04d\0\0\0\x05\x07");
        assert_eq!(header(&out), Some((b'Q', Some(6))));
        assert_eq!(header(b"Q\0\0\0"), None);
        for length in [b"\0\0\0\x03", b"\xff\xff\xff\xff", b"\x40\0\0\x05"] {
            assert_eq!(header(&[b"D".as_slice(), length].concat()), Some((b'D', None)), "{length:?}");
        }
    }
}
