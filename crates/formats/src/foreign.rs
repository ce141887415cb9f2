//! Owns telling by its first bytes that an input stands for something else, or is no text though its format is one. A table of
//! such bytes would have a header all the same, and rows.

use crate::Format;

/// Bytes that text hardly has: below this many of them it may still be text.
const CONTROLS_MIN: usize = 4;
/// Text has no control characters in more than one byte of so many.
const BYTES_PER_CONTROL: usize = 10;

/// Beginnings of files that are no tables and no documents.
const BEGINNINGS: [(&[u8], &str); 16] = [
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office document: save it as CSV"),
    (b"{\\rtf", "an RTF document"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\0", "a program"),
    (b"SQLite format 3\0", "an SQLite database: export it as CSV or JSON"),
    (b"PAR1", "a Parquet file: convert it to CSV or JSON"),
    (b"Obj\x01", "an Avro file: convert it to CSV or JSON"),
    (b"ORC", "an ORC file: convert it to CSV or JSON"),
    (b"ARROW1\0\0", "an Arrow file: convert it to CSV or JSON"),
    (b"RIFF", "a RIFF file, such as WebP or WAV"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file: convert it to CSV or JSON"),
];
/// Of those, what also begins text.
const WORDS: [&[u8]; 3] = [b"ORC", b"RIFF", b"PAR1"];
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";
const PAGES: [&[u8]; 3] = [b"<!doctype html", b"<html", b"<?xml"];

/// What an input is that begins with `head`; `None` when it may be of the format.
pub fn reason(head: &[u8], format: Format) -> Option<String> {
    if head.starts_with(LFS) {
        return Some(
            "the input is a pointer of Git LFS, not the file itself: git lfs pull fetches it".to_owned(),
        );
    }
    if format == Format::Bson {
        return None;
    }
    let known = BEGINNINGS.iter().find(|(beginning, _)| {
        head.starts_with(beginning) && (!WORDS.contains(beginning) || has_controls(&head[beginning.len()..]))
    });
    if let Some((_, what)) = known {
        return Some(format!("the input is {what}"));
    }
    let begin = head.trim_ascii_start();
    if PAGES.iter().any(|page| begin.get(..page.len()).is_some_and(|it| it.eq_ignore_ascii_case(page))) {
        return Some("the input is a page of HTML or XML".to_owned());
    }
    if is_utf16(head) {
        return Some(
            "the input is UTF-16 without a mark; convert it to UTF-8 (iconv -f UTF-16LE -t UTF-8)".to_owned(),
        );
    }
    is_binary(head).then(|| "the input is no text".to_owned())
}

fn is_control(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0b | 0x0c | 0x1b)
}

fn has_controls(bytes: &[u8]) -> bool {
    bytes.iter().any(|&byte| is_control(byte))
}

/// Latin text in UTF-16: every other byte is 0.
fn is_utf16(head: &[u8]) -> bool {
    let zeros = |first: usize| head.iter().skip(first).step_by(2).filter(|&&byte| byte == 0).count();
    let (even, odd, half) = (zeros(0), zeros(1), head.len() / 2);
    half >= CONTROLS_MIN && (even.max(odd) * 10 >= half * 9) && even.min(odd) == 0
}

/// One NUL in a cell is text, as mongoimport reads it too. A mark of UTF-16 has its own error.
fn is_binary(head: &[u8]) -> bool {
    let controls = head.iter().filter(|&&byte| is_control(byte)).count();
    let is_text = match std::str::from_utf8(head) {
        Ok(_) => true,
        // The last character may be cut.
        Err(error) => error.error_len().is_none(),
    };
    let is_marked = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    controls >= CONTROLS_MIN && !is_marked && (!is_text || controls * BYTES_PER_CONTROL > head.len())
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

    #[test]
    fn what_is_no_text_is_told_in_every_text_format() {
        let utf16: Vec<u8> = b"a,b\n1,2\n".iter().flat_map(|&byte| [byte, 0]).collect();
        let cases: [(&[u8], &str); 10] = [
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG"),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", "JPEG"),
            (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF"),
            (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "Office"),
            (b"PAR1\x15\x04\x15\x10", "Parquet"),
            (b"\n <!DOCTYPE HTML>\n<html>", "HTML"),
            (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n", "Git LFS"),
            (&noise(), "no text"),
            (&[0; 512], "no text"),
            (&utf16, "UTF-16"),
        ];
        for (head, name) in cases {
            for format in [Format::Csv, Format::Tsv, Format::Json] {
                assert!(reason(head, format).is_some_and(|it| it.contains(name)), "{name}, {format:?}");
            }
        }
        assert!(reason(cases[6].0, Format::Bson).is_some());
        assert_eq!(reason(&[5, 0, 0, 0, 0], Format::Bson), None);
    }

    #[test]
    fn text_is_text() {
        let cut = &"a,b\nß,ü\n".as_bytes()[..5];
        let cases: [&[u8]; 9] = [
            b"",
            b"a",
            b"_id,v\n1,a\0b\n2,ok\n",
            b"n\xe4me,b\n\xfc,\xdf\n",
            cut,
            b"RIFFS,b\n",
            b"ORC,elf\n",
            b"PAR1,x\n",
            b"version,https\n1,2\n",
        ];
        for head in cases {
            assert_eq!(reason(head, Format::Csv), None, "{head:?}");
        }
    }
}
