//! What a request says, read as a server reads it.

use brimline_bson::{Reader, Value};
use brimline_wire::op_msg;

pub fn body(message: &[u8]) -> Reader<'_> {
    Reader::new(op_msg::parse(message).unwrap().body).unwrap()
}

/// The element `inner` of the document `name`; `None` where there is no such document or element.
pub fn part<'m>(message: &'m [u8], name: &str, inner: &str) -> Option<Value<'m>> {
    let Value::Document(document) = body(message).find(name).unwrap()? else { return None };
    Reader::new(document).unwrap().find(inner).unwrap()
}

/// The id of the session that the command is in.
pub fn session_id(message: &[u8]) -> Option<Vec<u8>> {
    match part(message, "lsid", "id")? {
        Value::Binary(id, _) => Some(id.to_vec()),
        other => panic!("a session's id is binary, not {other:?}"),
    }
}

/// The number of the write or the transaction within its session.
pub fn number_in_session(message: &[u8]) -> Option<i64> {
    match body(message).find("txnNumber").unwrap()? {
        Value::Int64(number) => Some(number),
        other => panic!("a number is an int64, not {other:?}"),
    }
}
