//! `OP_QUERY` and `OP_REPLY`, the messages of old: drivers still send their first handshake in them, because a server of any
//! age answers it.
//!
//! Source: <https://www.mongodb.com/docs/manual/legacy-opcodes/>.

use brimline_bson::Writer;
use brimline_wire::frame::{HEADER_BYTES, Header};

/// Opcode of a query.
pub const OP_QUERY: i32 = 2004;
const OP_REPLY: i32 = 1;
/// Flag of a reply that every server sets: it can keep a query waiting for data.
const AWAIT_CAPABLE: i32 = 8;

/// Database and query document of a whole `OP_QUERY` on a `$cmd` collection; `None` if it is anything else.
pub fn parse(message: &[u8]) -> Option<(&str, &[u8])> {
    let after_flags = message.get(HEADER_BYTES + 4..)?;
    let name_end = after_flags.iter().position(|&byte| byte == 0)?;
    let database = std::str::from_utf8(&after_flags[..name_end]).ok()?.strip_suffix(".$cmd")?;
    let query = after_flags.get(name_end + 1 + 8..)?; // behind numberToSkip and numberToReturn
    Some((database, query))
}

/// Appends a whole `OP_REPLY` with the one document that `elements` writes.
pub fn reply(out: &mut Vec<u8>, request_id: i32, response_to: i32, elements: impl FnOnce(&mut Writer<'_>)) {
    let start = out.len();
    out.extend_from_slice(&[0; HEADER_BYTES]);
    out.extend_from_slice(&AWAIT_CAPABLE.to_le_bytes());
    out.extend_from_slice(&0_i64.to_le_bytes()); // cursorID
    out.extend_from_slice(&0_i32.to_le_bytes()); // startingFrom
    out.extend_from_slice(&1_i32.to_le_bytes()); // numberReturned
    let mut writer = Writer::new(out);
    let document = writer.begin_document();
    elements(&mut writer);
    writer.end_document(document);
    let header = Header { message_bytes: out.len() - start, request_id, response_to, opcode: OP_REPLY };
    out[start..start + HEADER_BYTES].copy_from_slice(&header.encode());
}
