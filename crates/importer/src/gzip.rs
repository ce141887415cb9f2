//! Owns reading what gzip compressed: one member after the other, and behind the last one zeros, with which tapes and blocks are
//! filled up. Other bytes there are an error, and so is a checksum that differs; both come after all that was decompressed.

use std::io::{self, BufRead, ErrorKind, Read};

use brimline_formats::AfterTheEnd;
use flate2::bufread::GzDecoder;
use flate2::{Crc, Decompress, FlushDecompress, Status};

/// Bytes of checksum and length behind a member.
const TRAILER_BYTES: usize = 8;
/// The first byte of a member.
const MEMBER: u8 = 0x1f;

/// Where reading stands.
enum At {
    /// In front of a member, or the end.
    Begin,
    /// Within the compressed data of a member.
    Body(Box<Decompress>, Crc),
    /// Behind them.
    Trailer(Crc),
    /// At the end.
    Over,
}

/// What `source` holds, decompressed.
pub struct Gzip<R> {
    source: R,
    at: At,
    is_first: bool,
}

impl<R: BufRead> Gzip<R> {
    /// Reads `source` from the beginning of a member.
    pub fn new(source: R) -> Self {
        Self { source, at: At::Begin, is_first: true }
    }

    /// Passes over zeros and the header of the next member, if there is one.
    fn begin(&mut self) -> io::Result<At> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        loop {
            let bytes = self.source.fill_buf()?;
            let zeros = if is_first { 0 } else { bytes.iter().take_while(|&&byte| byte == 0).count() };
            match bytes.get(zeros) {
                None if bytes.is_empty() && !is_first => return Ok(At::Over),
                None if !bytes.is_empty() => self.source.consume(zeros),
                Some(&byte) if byte != MEMBER && !is_first => {
                    return Err(after_the_end(
                        "something follows the compressed data that is not compressed with gzip, and is not read",
                    ));
                }
                _ => {
                    self.source.consume(zeros);
                    let mut header = GzDecoder::new(&mut self.source);
                    if header.header().is_none() {
                        header.read_exact(&mut [0])?;
                        return Err(ErrorKind::UnexpectedEof.into());
                    }
                    return Ok(At::Body(Box::new(Decompress::new(false)), Crc::new()));
                }
            }
        }
    }
}

/// Decompresses into `space`. Returns the number of bytes, and whether the data end with them.
fn inflate(
    source: &mut impl BufRead,
    decompress: &mut Decompress,
    space: &mut [u8],
) -> io::Result<(usize, bool)> {
    loop {
        let bytes = source.fill_buf()?;
        let is_over = bytes.is_empty();
        let (read, written) = (decompress.total_in(), decompress.total_out());
        let status = decompress
            .decompress(bytes, space, FlushDecompress::None)
            .map_err(|error| io::Error::new(ErrorKind::InvalidData, error.to_string()))?;
        source.consume((decompress.total_in() - read) as usize);
        let length = (decompress.total_out() - written) as usize;
        if status == Status::StreamEnd || length > 0 {
            return Ok((length, status == Status::StreamEnd));
        }
        if is_over {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Holds the checksum and the length behind a member against what was decompressed.
fn check(source: &mut impl Read, crc: &Crc) -> io::Result<()> {
    let mut trailer = [0; TRAILER_BYTES];
    source.read_exact(&mut trailer).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => {
            after_the_end("the compressed input is cut off within its checksum, behind its last record")
        }
        _ => error,
    })?;
    let expected = [crc.sum().to_le_bytes(), crc.amount().to_le_bytes()].concat();
    if trailer[..4] != expected[..4] {
        return Err(after_the_end(
            "the compressed input is damaged: its checksum differs, so that any of its records may be wrong",
        ));
    }
    if trailer[4..] != expected[4..] {
        return Err(after_the_end("the compressed input is damaged: its length is not the one that it says"));
    }
    Ok(())
}

fn after_the_end(reason: &str) -> io::Error {
    io::Error::other(AfterTheEnd(reason.to_owned()))
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if space.is_empty() {
            return Ok(0);
        }
        loop {
            match &mut self.at {
                At::Over => return Ok(0),
                At::Begin => self.at = self.begin()?,
                At::Body(decompress, crc) => {
                    let (length, ends) = inflate(&mut self.source, decompress, space)?;
                    crc.update(&space[..length]);
                    if ends {
                        let crc = std::mem::take(crc);
                        self.at = At::Trailer(crc);
                    }
                    if length > 0 {
                        return Ok(length);
                    }
                }
                At::Trailer(crc) => {
                    check(&mut self.source, crc)?;
                    self.at = At::Begin;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write};

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn member(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    }

    /// What was read, and the error behind it, over a source that gives `step` bytes at once.
    fn read(bytes: &[u8], step: usize) -> (String, Option<io::Error>) {
        let mut text = Vec::new();
        let error = Gzip::new(BufReader::with_capacity(step, bytes)).read_to_end(&mut text).err();
        (String::from_utf8(text).expect("it was text"), error)
    }

    fn reason(error: &io::Error) -> String {
        let is_after = error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<AfterTheEnd>);
        format!("{}{error}", if is_after { "after: " } else { "" })
    }

    #[test]
    fn members_follow_one_another_with_zeros_behind_the_last_or_between() {
        let (one, two) = (member("one "), member("two"));
        for step in [1, 7, 4096] {
            for zeros in [0, 1, 512, 10_000] {
                let padding = vec![0; zeros];
                let bytes = [&one[..], &padding, &two, &padding].concat();
                let (text, error) = read(&bytes, step);
                assert_eq!(
                    (text.as_str(), error.map(|it| it.to_string())),
                    ("one two", None),
                    "{step} {zeros}"
                );
            }
        }
        assert_eq!(read(&member(""), 4096).0, "");
    }

    #[test]
    fn everything_is_read_before_a_wrong_end_is_told() {
        let text = "row\n".repeat(100_000);
        let whole = member(&text);
        let end = whole.len();
        let flipped = |at: usize| {
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            bytes
        };
        let behind = |more: &[u8]| [&whole[..], more].concat();
        let mut cases = vec![
            (flipped(end - 8), "checksum differs"),
            (flipped(end - 1), "length is not"),
            (behind(b"text"), "something follows"),
            (behind(b"\0\0\0text"), "something follows"),
            (behind(b"\n"), "something follows"),
        ];
        cases.extend((1..=8).map(|missing| (whole[..end - missing].to_vec(), "within its checksum")));
        for (bytes, expected) in cases {
            for step in [1000, 1 << 20] {
                let (read, error) = read(&bytes, step);
                assert_eq!(read.len(), text.len(), "{expected}");
                let reason = reason(&error.expect("it is told"));
                assert!(reason.starts_with("after: ") && reason.contains(expected), "{reason}");
            }
        }
    }

    #[test]
    fn a_cut_within_the_data_or_the_next_header_is_none_after_the_end() {
        let whole = member(&"row\n".repeat(100_000));
        let next = [&whole[..], &whole[..5]].concat();
        for bytes in [&whole[..whole.len() - 9], &whole[..100], &whole[..5], &next] {
            let error = read(bytes, 4096).1.expect("it is told");
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        }
        let other = [&whole[..], b"\x1f\x8b\x07text of something else"].concat();
        assert_eq!(read(&other, 4096).1.expect("it is told").kind(), ErrorKind::InvalidInput);
    }
}
