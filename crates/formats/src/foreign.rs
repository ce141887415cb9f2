//! Owns telling by its first bytes that an input stands for something else, or is no text though its format is one. A table of
//! such bytes would have a header all the same, and rows.

use crate::encoding;
use crate::{DOCUMENT_BYTES_MAX, Format};

/// Bytes that text hardly has: below this many of them it may still be text.
const CONTROLS_MIN: usize = 4;
/// Text has no control characters in more than one byte of so many.
const BYTES_PER_CONTROL: usize = 10;
/// Where files that are no text say what they are.
const MAGIC_BYTES: usize = 8;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Beginnings of files that are no tables and no documents, and that no text has.
const BEGINNINGS: [(&[u8], &str); 38] = [
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"%!PS", "a PostScript document"),
    (b"\xc5\xd0\xd3\xc6", "a PostScript document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office document: save it as CSV"),
    (b"{\\rtf", "an RTF document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\0", "a program"),
    (b"#!/", "a script"),
    (b"SQLite format 3\0", "an SQLite database: export it as CSV or JSON"),
    (b"Obj\x01", "an Avro file: convert it to CSV or JSON"),
    (b"ARROW1\0\0", "an Arrow file: convert it to CSV or JSON"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file: convert it to CSV or JSON"),
    (b"\x93NUMPY", "a NumPy file: convert it to CSV or JSON"),
    (b"MATLAB 5.0 MAT-file", "a MATLAB file: convert it to CSV or JSON"),
    (b"-----BEGIN ", "an encrypted message, or a key"),
    (b"Salted__", "encrypted by openssl: decrypt it first"),
    (b"U2FsdGVkX1", "encrypted by openssl: decrypt it first"),
    (b"age-encryption.org/v1", "encrypted by age: decrypt it first"),
    (b"-- MySQL dump", "a dump as SQL: export it as CSV or JSON"),
    (b"-- MariaDB dump", "a dump as SQL: export it as CSV or JSON"),
    (b"/*!999999\\- enable the sandbox mode */", "a dump as SQL: export it as CSV or JSON"),
    (b"--\n-- PostgreSQL database", "a dump as SQL: export it as CSV or JSON"),
    (b"--\r\n-- PostgreSQL database", "a dump as SQL: export it as CSV or JSON"),
    (b"SET statement_timeout = ", "a dump as SQL: export it as CSV or JSON"),
    (b"PRAGMA foreign_keys=OFF;", "a dump as SQL: export it as CSV or JSON"),
    (b"BEGIN TRANSACTION;", "a dump as SQL: export it as CSV or JSON"),
    (b"/*!40101 SET ", "a dump as SQL: export it as CSV or JSON"),
    (b"PGDMP", "a dump of PostgreSQL: export it as CSV or JSON"),
    (b"<<<<<<< ", "a file of Git with an open conflict: resolve it first"),
    (b"diff --git a/", "a patch of Git: apply it to the file that it changes"),
    (b"!<arch>\n", "an archive of ar"),
    (b"HTTP/1.", "an answer of HTTP with its headers: save its body alone"),
    (b"HTTP/2 ", "an answer of HTTP with its headers: save its body alone"),
    (b"MIME-Version: ", "a message: save what is in it"),
];
/// The same, of which text may begin like it: it has control characters close behind.
const WORDS: [(&[u8], &str); 14] = [
    (b"ORC", "an ORC file: convert it to CSV or JSON"),
    (b"PAR1", "a Parquet file: convert it to CSV or JSON"),
    (b"RIFF", "a RIFF file, such as WebP or WAV"),
    (b"BM", "a BMP image"),
    (b"II*", "a TIFF image"),
    (b"MM", "a TIFF image"),
    (b"8BPS", "a Photoshop image"),
    (b"ID3", "an MP3 file"),
    (b"OggS", "an Ogg file"),
    (b"fLaC", "a FLAC file"),
    (b"MThd", "a MIDI file"),
    (b"CDF", "a NetCDF file: convert it to CSV or JSON"),
    (b"RDX", "a file of R: export it as CSV or JSON"),
    (b"wOF", "a font"),
];
/// What the first line of a pointer of Git LFS names, of every release of it and of what it was called before.
const LFS: [&[u8]; 3] =
    [b"://git-lfs.github.com/spec/", b"://hawser.github.com/spec/", b"://git-media.io/v/"];
const GIT_MEDIA: [&[u8]; 2] = [b"# git-media\n", b"[git-media]\n"];
/// What a pointer of git-annex begins with: a file's content, or, where links can't be made, the place that a link would name.
const ANNEX: [&[u8]; 3] = [b"/annex/objects/", b".git/annex/objects/", b"../"];
const ANNEX_PLACE: &[u8] = b"/annex/objects/";
/// Names of HTML's elements that a page, or a piece of one, begins with.
const ELEMENTS: &str = " a abbr address article aside b base big blockquote body br button canvas center code col dd div dl dt em \
    fieldset figure font footer form frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe img input label li link main map \
    meta nav noscript object ol p pre script section select small span strong style svg table tbody td template textarea tfoot \
    th thead title tr tt u ul video ";

/// What an input is that begins with `head`; `None` when it may be of the format.
pub fn reason(head: &[u8], format: Format) -> Option<String> {
    if let Some(pointer) = pointer(head) {
        return Some(format!("the input is a pointer of {pointer} fetches it"));
    }
    if format == Format::Bson {
        return None;
    }
    if let Some(encoding) = encoding::of(head) {
        return Some(encoding.reason());
    }
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head);
    let begins = |(beginning, _): &&(&[u8], &str)| text.starts_with(beginning);
    let is_magic = |each: &&(&[u8], &str)| begins(each) && has_controls(&text[each.0.len()..]);
    if let Some((_, what)) = BEGINNINGS.iter().find(begins).or_else(|| WORDS.iter().find(is_magic)) {
        return Some(format!("the input is {what}"));
    }
    if is_markup(text.trim_ascii_start()) {
        return Some("the input is a page of HTML or XML".to_owned());
    }
    if is_bson(head) {
        return Some("the input is BSON, not text: give --type bson".to_owned());
    }
    is_binary(head).then(|| "the input is no text".to_owned())
}

/// What an input is a pointer of, and with which command the file itself is had.
fn pointer(head: &[u8]) -> Option<&'static str> {
    let text = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
    let holds = |line: &[u8], part: &[u8]| memchr::memmem::find(line, part).is_some();
    let is_lfs = |line: &[u8]| line.starts_with(b"version http") && LFS.iter().any(|name| holds(line, name));
    let mut lines = text.split(|&byte| byte == b'\n');
    let first = lines.next().unwrap_or_default();
    // Names of extensions may stand in front of the version.
    let has_extensions = first.starts_with(b"ext-") && lines.any(is_lfs);
    if is_lfs(first) || has_extensions || GIT_MEDIA.iter().any(|name| text.starts_with(name)) {
        return Some("Git LFS, not the file itself: git lfs pull");
    }
    let is_annex = ANNEX.iter().any(|begin| first.starts_with(begin)) && holds(first, ANNEX_PLACE);
    is_annex.then_some("git-annex, not the file itself: git annex get")
}

/// Whether it begins as HTML or XML. Names of columns may stand in angle brackets too (`<DATE>,<CLOSE>`): behind such a name comes
/// a separator or the end of a line.
fn is_markup(text: &[u8]) -> bool {
    let Some(rest) = text.strip_prefix(b"<") else { return false };
    if matches!(rest.first(), Some(b'!' | b'?')) {
        return true;
    }
    let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b':' | b'-' | b'_');
    let length = rest.iter().take_while(is_of_name).count();
    let name = String::from_utf8_lossy(&rest[..length]).to_ascii_lowercase();
    let is_element = ELEMENTS.contains(&format!(" {name} "));
    match (length, rest.get(length)) {
        (0, _) => false,
        (_, Some(b'>')) => {
            let behind = &rest[length + 1..];
            let is_column = matches!(behind.first(), Some(b',' | b'\t' | b';' | b'|'));
            !is_column && (is_element || behind.trim_ascii_start().starts_with(b"<"))
        }
        (_, Some(b' ' | b'\t' | b'\r' | b'\n')) => is_element || rest[length..].contains(&b'='),
        (_, Some(b'/')) => rest.get(length + 1) == Some(&b'>'),
        _ => false,
    }
}

/// A document of a dump: its length, then the type and the name of its first element.
fn is_bson(head: &[u8]) -> bool {
    let Some((length, [element_type, rest @ ..])) = head.split_first_chunk::<4>() else { return false };
    let name = rest.split(|&byte| byte == 0).next().unwrap_or_default();
    let is_name = !name.is_empty() && name.len() < rest.len() && !name.iter().any(u8::is_ascii_control);
    let length = u32::from_le_bytes(*length) as usize;
    (5..=DOCUMENT_BYTES_MAX).contains(&length) && (0x01..=0x13).contains(element_type) && is_name
}

fn is_control(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | 0x1b)
}

/// Whether one of the first bytes is a control character that separates nothing: tables of other tools may be separated by some.
fn has_controls(bytes: &[u8]) -> bool {
    bytes.iter().take(MAGIC_BYTES).any(|&byte| is_control(byte) && !matches!(byte, 0x01 | 0x1c..=0x1f))
}

/// One NUL in a cell is text, as mongoimport reads it too.
fn is_binary(head: &[u8]) -> bool {
    let controls = head.iter().filter(|&&byte| is_control(byte)).count();
    let is_text = match std::str::from_utf8(head) {
        Ok(_) => true,
        // The last character may be cut.
        Err(error) => error.error_len().is_none(),
    };
    let first_line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    has_controls(first_line)
        || (controls >= CONTROLS_MIN && (!is_text || controls * BYTES_PER_CONTROL > head.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As bytes behind which nothing can be foretold, such as those of a file that was encrypted.
    fn noise() -> Vec<u8> {
        let mut state = 1_u32;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..512).map(next).collect()
    }

    const HEADS: [(&[u8], &str); 53] = [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "JPEG"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF"),
        (b"\xef\xbb\xbf%PDF-1.7\n", "PDF"),
        (b"%!PS-Adobe-3.0\n%%Title: a\n", "PostScript"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "Office"),
        (b"PAR1\x15\x04\x15\x10", "Parquet"),
        (b"BM\x36\x20\x20\0\0\0\0\0a,b\n", "BMP"),
        (b"ID3\x03\0\0\0\0\n,TIT2\n", "MP3"),
        (b"\x93NUMPY\x01\0v\0{'descr': '<f8', 'shape': (3,), }\n", "NumPy"),
        (b"MATLAB 5.0 MAT-file, Platform: GLNXA64\n", "MATLAB"),
        (b"RDX3\nX\n\0\0\0\x03", "of R"),
        (b"II*\0\x08\0\0\0", "TIFF"),
        (b"-----BEGIN PGP MESSAGE-----\n\nhQIMA\n", "encrypted"),
        (b"Salted__\xa1b,c\n", "openssl"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Type: text/csv\r\n", "HTTP"),
        (b"-- MySQL dump 10.13  Distrib 8.0\n--\n", "SQL"),
        (b"--\n-- PostgreSQL database dump\n--\n", "SQL"),
        (b"SET statement_timeout = 0;\nSET lock_timeout = 0;\n", "SQL"),
        (b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n", "SQL"),
        (b"BEGIN TRANSACTION;\nCREATE TABLE t(a,b);\n", "SQL"),
        (b"/*!40101 SET NAMES utf8 */;\nCREATE TABLE t (\n", "SQL"),
        (b"diff --git a/x.csv b/x.csv\n--- a/x.csv\n", "patch"),
        (b"<<<<<<< HEAD\na,b\n", "Git"),
        (b"\n <!DOCTYPE HTML>\n<html>", "HTML"),
        (b"<!-- saved from url -->\n<html>\n", "HTML"),
        (b"\xef\xbb\xbf<html>\n", "HTML"),
        (b"<HEAD><TITLE>404</TITLE>\n", "HTML"),
        (b"<table border=1>\n<tr><td>1</td></tr>\n", "HTML"),
        (b"<table>\n<tr>\n", "HTML"),
        (b"<meta charset=utf-8>\n", "HTML"),
        (b"<br/>\n<b>Warning</b>\n", "HTML"),
        (b"<?xml version=\"1.0\"?>\n<Error>\n", "XML"),
        (b"<Error><Code>AccessDenied</Code></Error>\n", "XML"),
        (b"<svg xmlns=\"http://www.w3.org/2000/svg\">\n", "XML"),
        (b"<rss version=\"2.0\">\n<channel>\n", "XML"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n", "Git LFS"),
        (b"version https://hawser.github.com/spec/v1\noid sha256:4d7a\nsize 1\n", "Git LFS"),
        (b"version http://git-media.io/v/2\r\noid sha256:4d7a\r\nsize 1\r\n", "Git LFS"),
        (b"ext-0-a sha256:4d7a\nversion https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"# git-media\n4d7a214614ab2935\n", "Git LFS"),
        (b"[git-media]\nversion=\"http://git-media.io/v/2\"\n", "Git LFS"),
        (b"/annex/objects/SHA256E-s1048576--4d7a2146.csv\n", "git-annex"),
        (b".git/annex/objects/qZ/1k/MD5E-s5--ab.csv/MD5E-s5--ab.csv", "git-annex"),
        (b"../../.git/annex/objects/qZ/1k/MD5E-s5--ab.csv/MD5E-s5--ab.csv", "git-annex"),
        (b"\x16\0\0\0\x02a\0\x05\0\0\0text\0\0", "BSON"),
        (b"\0\0\x01\0\x01\0\x10\x10\0\0", "no text"),
        (b"\x80\x04\x95\x0f\0\0\0\0\0\0\0", "no text"),
        (b"\x1aE\xdf\xa3a,b\n1,2\n", "no text"),
        (b"\0\x05\x16\x07\0\x02\0\0Mac OS X", "no text"),
        (&[0; 512], "no text"),
        (b"a\0,\0b\0\n\0x\0,\0y\0\n\0", "iconv -f UTF-16LE"),
        (b"\0a\0,\0b\0\n\0x\0,\0y\0\n", "iconv -f UTF-16BE"),
    ];

    #[test]
    fn what_is_no_text_is_told_in_every_text_format() {
        let noise = noise();
        for (head, name) in HEADS.into_iter().chain([(noise.as_slice(), "no text")]) {
            for format in [Format::Csv, Format::Tsv, Format::Json] {
                let said = reason(head, format).unwrap_or_default();
                assert!(said.contains(name), "{name}, {format:?}: {said:?}");
            }
            let is_pointer = ["Git LFS", "git-annex"].contains(&name);
            assert_eq!(reason(head, Format::Bson).is_some(), is_pointer, "{name}");
        }
    }

    #[test]
    fn text_is_text() {
        let cut = &"a,b\nß,ü\n".as_bytes()[..5];
        let cases: [&[u8]; 31] = [
            b"",
            b"a",
            b"_id,v\n1,a\0b\n2,ok\n",
            b"n\xe4me,b\n\xfc,\xdf\n",
            cut,
            b"RIFFS,b\n",
            b"ORC,elf\n",
            b"PAR1,x\n",
            b"BM,name\nBMW,x\n",
            b"ID3,gain\n1,2\n",
            b"MM,DD,YYYY\n",
            b"II*,b\n",
            b"CDF,p\n",
            b"%!,b\n",
            b"version,https\n1,2\n",
            b"version https://example.org,b\n",
            b"/annex,objects\n",
            b"../rows.csv,b\n",
            b"<DATE>,<TIME>,<OPEN>\n",
            b"<DATE>\t<TIME>\n",
            b"<TICKER>;<PER>\n",
            b"<title>,<price>\n",
            b"<name>\nMiller\n",
            b"<5,>5\n",
            b"< 5 ms,other\n",
            b"<,>\n",
            b"<a-b c>,d\n",
            b"--,b\n",
            b"-----,b\n",
            b"id\x01name\n1\x01a\n",
            b"a,b\n\0,1\n",
        ];
        for head in cases {
            assert_eq!(reason(head, Format::Csv), None, "{:?}", String::from_utf8_lossy(head));
        }
    }
}
