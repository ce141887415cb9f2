//! Owns bytes that should be UTF-8.

/// Appends `bytes` to `out`, with U+FFFD in the place of each byte that is not UTF-8.
pub fn push_repaired(bytes: &[u8], out: &mut Vec<u8>) {
    for chunk in bytes.utf8_chunks() {
        out.extend_from_slice(chunk.valid().as_bytes());
        for _ in chunk.invalid() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
}

/// `bytes` as text, repaired as [`push_repaired`] does it.
pub fn repaired(bytes: &[u8]) -> String {
    let mut out = Vec::with_capacity(bytes.len());
    push_repaired(bytes, &mut out);
    String::from_utf8_lossy(&out).into_owned()
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
