//! Owns bytes that should be UTF-8.

/// Appends `bytes` to `out`, with U+FFFD in the place of each byte that is not UTF-8. Says whether there was one.
pub fn push_repaired(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let mut found = false;
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        for _ in chunk.invalid() {
            out.extend_from_slice("\u{fffd}".as_bytes());
            found = true;
        }
    }
    found
}

/// `bytes` as text, repaired as [`push_repaired`] does it, and whether anything was.
pub fn repaired(bytes: &[u8]) -> (String, bool) {
    let mut out = Vec::with_capacity(bytes.len());
    let found = push_repaired(bytes, &mut out);
    (String::from_utf8_lossy(&out).into_owned(), found)
}

/// The first `length_max` bytes of `bytes`, less the character that they would cut in two, so that text stays text.
pub fn beginning(bytes: &[u8], length_max: usize) -> &[u8] {
    let Some(cut) = bytes.get(..length_max).filter(|cut| cut.len() < bytes.len()) else { return bytes };
    match std::str::from_utf8(cut) {
        Err(error) if error.error_len().is_none() => &cut[..error.valid_up_to()],
        _ => cut,
    }
}

/// `bytes` as an error shows them: repaired and not longer than 80 characters.
pub fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
    let mut shown: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    if text.chars().count() > 80 || bytes.len() > 400 {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_ends_between_two_characters() {
        let text = "aé€🂡".as_bytes();
        let lengths = (0..=text.len()).map(|length| beginning(text, length).len());
        assert_eq!(lengths.collect::<Vec<_>>(), [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10]);
    }

    #[test]
    fn what_is_no_text_is_cut_where_it_was_to_be_cut() {
        assert_eq!(beginning(b"a\xff\xc3\xa9", 3), b"a\xff\xc3");
        assert_eq!(beginning(b"a\xc3", 2), b"a\xc3", "nothing was cut");
    }
}
