//! Owns the file of records that did not come in: one JSON object a line, in the order of the input.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use brimline_formats::{REJECTED_TEXT_BYTES_MAX, beginning};
use serde::Serialize;

/// A record that did not come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reject {
    /// Number of its input.
    pub input: usize,
    /// Line on which it begins; in a dump the number of the document.
    pub line: u64,
    /// Its offset in the decompressed input.
    pub offset: u64,
    /// The server's error code, 0 when it was never sent.
    pub code: i32,
    /// Why.
    pub reason: String,
    /// The record as it was read.
    pub text: Vec<u8>,
}

#[derive(Serialize)]
struct Entry<'a> {
    input: usize,
    line: u64,
    offset: u64,
    code: i32,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    /// What is no text, as hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<String>,
}

/// The file, and how long it is.
pub struct RejectsFile {
    out: BufWriter<File>,
    length: u64,
}

impl RejectsFile {
    /// Opens the file and cuts it to `length`: what came later is written anew.
    pub fn open(path: &Path, length: u64) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        let found = file.metadata()?.len();
        if found < length {
            let problem = format!("it has {found} bytes, and the checkpoint knows of {length}");
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        file.set_len(length)?;
        Ok(Self { out: BufWriter::new(file), length })
    }

    /// Appends a record.
    pub fn append(&mut self, reject: &Reject) -> io::Result<()> {
        let cut = beginning(&reject.text, REJECTED_TEXT_BYTES_MAX);
        let text = std::str::from_utf8(cut).ok();
        let entry = Entry {
            input: reject.input,
            line: reject.line,
            offset: reject.offset,
            code: reject.code,
            reason: &reject.reason,
            text,
            bytes: text.is_none().then(|| hexadecimal(cut)),
        };
        let mut json = serde_json::to_vec(&entry)?;
        json.push(b'\n');
        self.length += json.len() as u64;
        self.out.write_all(&json)
    }

    /// Length with everything that was appended.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Hands everything to the kernel.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_not_cut_inside_a_character() {
        let path = std::env::temp_dir().join(format!("brimline-long-reject-{}", std::process::id()));
        let mut file = RejectsFile::open(&path, 0).expect("it can be made");
        let text = "é".repeat(REJECTED_TEXT_BYTES_MAX);
        let long = format!("x{text}").into_bytes(); // so that a border of 64 KiB lies inside a character
        file.append(&Reject { input: 0, line: 1, offset: 0, code: 0, reason: String::new(), text: long })
            .and_then(|()| file.flush())
            .expect("it can be written");
        let line = std::fs::read_to_string(&path).expect("it is there");
        let shown = &text[..REJECTED_TEXT_BYTES_MAX - 2];
        assert!(line.ends_with(&format!("\"text\":\"x{shown}\"}}\n")), "{}", &line[..80]);
        std::fs::remove_file(path).expect("it can be removed");
    }

    #[test]
    fn a_file_that_lost_records_is_not_filled_up() {
        let path = std::env::temp_dir().join(format!("brimline-rejects-{}", std::process::id()));
        std::fs::write(&path, "{}\n{}\n").expect("it can be written");
        assert_eq!(RejectsFile::open(&path, 3).expect("longer than that").length(), 3);
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "{}\n");
        assert!(RejectsFile::open(&path, 6).is_err());
        std::fs::remove_file(path).expect("it can be removed");
    }
}
