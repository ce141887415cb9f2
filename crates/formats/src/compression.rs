//! Owns telling by its first bytes that an input is compressed or an archive, which no format that is read here can begin like.

use crate::{DOCUMENT_BYTES_MAX, Format};

/// How much of an input is looked at.
pub const HEAD_BYTES: usize = 512;

/// Where the header of a tar's first member has its mark.
const TAR_MARK_AT: usize = 257;

/// Where a zip archive has the name of its first file.
const NAME_OF_FIRST_FILE_AT: usize = 30;

/// Type bytes of the elements of a document; 0 ends it.
const ELEMENT_TYPES: std::ops::RangeInclusive<u8> = 0x01..=0x13;
const MIN_KEY: u8 = 0xff;
const MAX_KEY: u8 = 0x7f;
/// Numbers of systems in the header of gzip.
const SYSTEM_MAX: u8 = 13;
const SYSTEM_UNKNOWN: u8 = 255;

/// What an input that begins with `head` was compressed with, and what to do about it; `None` when it may be of the format.
pub fn reason(head: &[u8], format: Format) -> Option<&'static str> {
    match head {
        [0x1f, 0x8b, 0x08, ..] if format != Format::Bson || !may_be_a_document(head) => Some(
            "the input is compressed with gzip: give --gzip, or decompress it (once more where --gzip is given)",
        ),
        [b'P', b'K', 3, 4, ..] if is_office(head) => Some("the input is an Office document: save it as CSV"),
        [b'P', b'K', 3 | 5 | 7, 4 | 6 | 8, ..] => Some("the input is a zip archive: unpack it first"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("the input is compressed with zstd: decompress it first"),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some("the input is compressed with xz: decompress it first"),
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..] => {
            Some("the input is compressed with bzip2: decompress it first")
        }
        [0x1f, 0x9d, ..] if format != Format::Bson => {
            Some("the input is compressed with compress: decompress it first (uncompress)")
        }
        [0xff, 0x06, 0, 0, b's', b'N', b'a', b'P', b'p', b'Y', ..] => {
            Some("the input is compressed with snappy: decompress it first")
        }
        [0x89, b'L', b'Z', b'O', 0, ..] => Some("the input is compressed with lzop: decompress it first"),
        [b'L', b'Z', b'I', b'P', 1, ..] => Some("the input is compressed with lzip: decompress it first"),
        [0x5d, 0, 0, _, _, _, _, _, _, ..] if format != Format::Bson => {
            Some("the input is compressed with lzma: decompress it first")
        }
        [0x04, 0x22, 0x4d, 0x18, ..] => Some("the input is compressed with lz4: decompress it first"),
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => Some("the input is a 7z archive: unpack it first"),
        [b'R', b'a', b'r', b'!', 0x1a, 0x07, ..] => Some("the input is a rar archive: unpack it first"),
        _ if is_tar(head) && !(format == Format::Bson && has_length_of_a_document(head)) => {
            Some("the input is a tar archive: unpack it first")
        }
        [0x6d, 0xe2, 0x99, 0x81, ..] => Some(
            "the input is an archive of mongodump: restore it with mongorestore, or dump into a directory (mongodump --out)",
        ),
        _ => None,
    }
}

/// Names of the first file in an Office document, of Microsoft's kind or not.
fn is_office(head: &[u8]) -> bool {
    const NAMES: [&[u8]; 4] =
        [b"[Content_Types].xml", b"_rels/.rels", b"docProps/", b"mimetypeapplication/vnd.oasis"];
    head.get(NAME_OF_FIRST_FILE_AT..).is_some_and(|name| NAMES.iter().any(|each| name.starts_with(each)))
}

/// Both forms of the mark end with a byte that text doesn't have.
fn is_tar(head: &[u8]) -> bool {
    head.get(TAR_MARK_AT..).is_some_and(|mark| mark.starts_with(b"ustar\0") || mark.starts_with(b"ustar  \0"))
}

fn has_length_of_a_document(head: &[u8]) -> bool {
    head.first_chunk::<4>().is_some_and(|length| u32::from_le_bytes(*length) as usize <= DOCUMENT_BYTES_MAX)
}

/// A document of 559 903 bytes begins like gzip. Behind its first element's type and name gzip has how well it compresses, and
/// on what system.
fn may_be_a_document(head: &[u8]) -> bool {
    let Some((_, [element_type, name @ .., effort, system])) =
        head.get(..10).and_then(<[u8]>::split_first_chunk::<4>)
    else {
        return false;
    };
    let is_gzip = [0, 2, 4].contains(effort) && (*system <= SYSTEM_MAX || *system == SYSTEM_UNKNOWN);
    has_length_of_a_document(head)
        && (ELEMENT_TYPES.contains(element_type) || [MIN_KEY, MAX_KEY].contains(element_type))
        && (name == b"_id" || !is_gzip)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GZIP: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

    #[test]
    fn a_document_that_begins_like_gzip_is_a_document() {
        let document = *b"\x1f\x8b\x08\x00\x10_id\0\x01";
        assert_eq!(reason(&document, Format::Bson), None);
        assert_eq!(reason(b"\x1f\x8b\x08\x00\x02text\0", Format::Bson), None);
        assert!(reason(&document, Format::Json).is_some());
    }

    #[test]
    fn gzip_is_no_document_whenever_it_was_made() {
        for time in 0..=255 {
            let mut made = GZIP;
            made[4] = time;
            assert!(reason(&made, Format::Bson).is_some(), "{time}");
        }
        let named = [0x1f, 0x8b, 8, 8, 0x10, 0, 0, 0, 9, 99];
        assert!(reason(&named, Format::Bson).is_some(), "longer than any document");
    }

    #[test]
    fn an_archive_is_told_whatever_it_was_taken_for() {
        let head = [0x6d, 0xe2, 0x99, 0x81, 0x5f, 0, 0, 0, 0x10, b'c'];
        for format in [Format::Bson, Format::Json, Format::Csv, Format::Tsv] {
            assert!(reason(&head, format).is_some_and(|reason| reason.contains("archive")));
        }
    }

    #[test]
    fn text_that_begins_with_the_same_letters_is_text() {
        for text in ["PK,name\n1,2\n", "BZh9,name\n", "7z,x\n", "P", ""] {
            let head = &text.as_bytes()[..text.len().min(HEAD_BYTES)];
            assert_eq!(reason(head, Format::Csv), None, "{text}");
        }
    }
}
