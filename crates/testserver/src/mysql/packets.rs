//! Owns packets: where a message of a client ends, and what the server says.

use super::statement::{Kind, Statement};
use crate::server::front::Unreadable;

const HEADER_BYTES: usize = 4;
/// A packet of this length goes on in the next one.
const PAYLOAD_BYTES_MAX: usize = 0xff_ffff;
/// Most bytes of a message.
const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// The server can do what clients of today expect: protocol 4.1, plugins of logins, several results, an OK at the end of rows.
const CAPABILITIES: u32 = 0x013f_a20f;
const VERSION: &[u8] = b"8.0.0-brimline";
const AUTOCOMMIT: u16 = 2;
const UTF8MB4: u8 = 45;
const BINARY: u8 = 63;
const LONGLONG: u8 = 8;
const VAR_STRING: u8 = 253;
const END: u8 = 0xfe;
/// Names and types of the columns of every row: its number from 1, and text.
const COLUMNS: [(&str, u8, u8); 2] = [("id", LONGLONG, BINARY), ("value", VAR_STRING, UTF8MB4)];

/// An error of the server.
#[derive(Debug)]
pub struct ServerError<'a> {
    code: u16,
    state: &'a str,
    message: &'a str,
}

impl<'a> ServerError<'a> {
    /// An error; a code that 16 bits don't hold is that of an unknown one. `state`: of five letters, else the general one.
    pub fn new(code: i32, state: Option<&'a str>, message: &'a str) -> Self {
        const UNKNOWN: u16 = 1105;
        let state = state.filter(|state| state.len() == 5).unwrap_or("HY000");
        Self { code: u16::try_from(code).unwrap_or(UNKNOWN), state, message }
    }
}

/// How many of `bytes` the message is that they begin with, which may be of several packets.
pub fn message_bytes(bytes: &[u8]) -> Result<Option<usize>, Unreadable> {
    let mut end = 0;
    loop {
        let Some(&[low, middle, high, _]) = bytes.get(end..).and_then(<[u8]>::first_chunk::<HEADER_BYTES>)
        else {
            return Ok(None);
        };
        let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
        end += HEADER_BYTES + length;
        if end > MESSAGE_BYTES_MAX {
            return Err(Unreadable);
        }
        if bytes.len() < end {
            return Ok(None);
        }
        if length < PAYLOAD_BYTES_MAX {
            return Ok(Some(end));
        }
    }
}

/// What a message says in its first packet, and the number of the packet that answers it.
pub fn payload(message: &[u8]) -> Result<(&[u8], u8), Unreadable> {
    let mut rest = message;
    let mut number = 0_u8;
    while let Some(&[low, middle, high, sent]) = rest.first_chunk::<HEADER_BYTES>() {
        let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
        number = sent.wrapping_add(1);
        rest = rest.get(HEADER_BYTES + length..).ok_or(Unreadable)?;
    }
    Ok((message.get(HEADER_BYTES..).ok_or(Unreadable)?, number))
}

/// Packets of a reply, each with the next number.
pub struct Packets<'a> {
    out: &'a mut Vec<u8>,
    number: u8,
}

impl<'a> Packets<'a> {
    /// Appends to `out`, from `number` on.
    pub fn new(out: &'a mut Vec<u8>, number: u8) -> Self {
        Self { out, number }
    }

    /// What the server says first. Any password proves itself to this nonce.
    pub fn hello(&mut self) {
        let [a, b, c, d] = CAPABILITIES.to_le_bytes();
        let [status, more] = AUTOCOMMIT.to_le_bytes();
        self.packet(|out| {
            out.push(10);
            out.extend_from_slice(VERSION);
            out.extend_from_slice(b"\0\x01\0\0\0brimline\0");
            out.extend_from_slice(&[a, b, UTF8MB4, status, more, c, d, 21]);
            out.extend_from_slice(&[0; 10]);
            out.extend_from_slice(b"scriptserver\0mysql_native_password\0");
        });
    }

    /// That `changed` rows were.
    pub fn ok(&mut self, changed: u64) {
        self.packet(|out| append_ok(0, changed, out));
    }

    pub fn error(&mut self, error: &ServerError<'_>) {
        self.packet(|out| {
            out.push(0xff);
            out.extend_from_slice(&error.code.to_le_bytes());
            out.push(b'#');
            out.extend_from_slice(error.state.as_bytes());
            out.extend_from_slice(error.message.as_bytes());
        });
    }

    /// That a statement is prepared, and what it takes and gives.
    pub fn prepared(&mut self, id: u32, statement: &Statement) {
        let columns: &[_] = if statement.kind == Kind::Select { &COLUMNS } else { &[] };
        self.packet(|out| {
            out.push(0);
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&(columns.len() as u16).to_le_bytes());
            out.extend_from_slice(&statement.placeholders.to_le_bytes());
            out.extend_from_slice(&[0; 3]);
        });
        for _ in 0..statement.placeholders {
            self.definition("?", VAR_STRING, BINARY);
        }
        for (name, kind, character_set) in columns {
            self.definition(name, *kind, *character_set);
        }
    }

    /// `count` rows: their number from 1, and `text`.
    pub fn rows(&mut self, count: u64, text: &[u8], is_binary: bool) {
        self.packet(|out| out.push(COLUMNS.len() as u8));
        for (name, kind, character_set) in COLUMNS {
            self.definition(name, kind, character_set);
        }
        for number in 1..=count {
            self.packet(|out| {
                if is_binary {
                    out.extend_from_slice(&[0, 0]);
                    out.extend_from_slice(&number.to_le_bytes());
                } else {
                    append_text(number.to_string().as_bytes(), out);
                }
                append_text(text, out);
            });
        }
        self.packet(|out| append_ok(END, 0, out));
    }

    /// A row of one text, in the form of what was not prepared.
    pub fn text(&mut self, text: &[u8]) {
        let [_, (name, kind, character_set)] = COLUMNS;
        self.packet(|out| out.push(1));
        self.definition(name, kind, character_set);
        self.packet(|out| append_text(text, out));
        self.packet(|out| append_ok(END, 0, out));
    }

    /// A packet of the right length and number that is no reply.
    pub fn garbage(&mut self) {
        self.packet(|out| out.extend_from_slice(&[0xfb, 0xab, 0xcd]));
    }

    /// A packet that announces more than comes.
    pub fn wrong_length(&mut self) {
        self.out.extend_from_slice(&[0xff, 0xff, 0xff, self.number, 0]);
    }

    fn definition(&mut self, name: &str, kind: u8, character_set: u8) {
        self.packet(|out| {
            for text in ["def", "", "", "", name, name] {
                append_text(text.as_bytes(), out);
            }
            out.extend_from_slice(&[12, character_set, 0, 0, 0, 0, 0, kind, 0, 0, 0, 0, 0]);
        });
    }

    /// One packet. Texts of rows are shorter than [`PAYLOAD_BYTES_MAX`], as documents of a script are.
    fn packet(&mut self, fill: impl FnOnce(&mut Vec<u8>)) {
        let start = self.out.len();
        self.out.extend_from_slice(&[0; HEADER_BYTES]);
        fill(self.out);
        let [low, middle, high, _] = ((self.out.len() - start - HEADER_BYTES) as u32).to_le_bytes();
        self.out[start..start + HEADER_BYTES].copy_from_slice(&[low, middle, high, self.number]);
        self.number = self.number.wrapping_add(1);
    }
}

fn append_ok(head: u8, changed: u64, out: &mut Vec<u8>) {
    out.push(head);
    append_length(changed, out);
    out.push(0);
    out.extend_from_slice(&AUTOCOMMIT.to_le_bytes());
    out.extend_from_slice(&[0, 0]);
}

fn append_text(text: &[u8], out: &mut Vec<u8>) {
    append_length(text.len() as u64, out);
    out.extend_from_slice(text);
}

fn append_length(value: u64, out: &mut Vec<u8>) {
    let bytes = value.to_le_bytes();
    match value {
        0..=250 => out.push(bytes[0]),
        251..=0xffff => out.extend_from_slice(&[252, bytes[0], bytes[1]]),
        0x1_0000..=0xff_ffff => out.extend_from_slice(&[253, bytes[0], bytes[1], bytes[2]]),
        _ => {
            out.push(254);
            out.extend_from_slice(&bytes);
        }
    }
}
