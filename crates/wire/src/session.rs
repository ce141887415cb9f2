//! Owns sessions: the id of a session and the number of its last write, and where they are in a request. Official drivers send
//! the id with every command to a server that has sessions, and the number with writes that may be sent again: a server that has
//! done a write under both does not do it again.
//!
//! Source: the drivers' retryable writes and sessions specifications.

use std::io;

use brimline_bson::Writer;
use ring::rand::{SecureRandom, SystemRandom};

use crate::template::TemplateBuilder;

const ID_BYTES: usize = 16;
const NUMBER_BYTES: usize = 8;
const BINARY: u8 = 0x05;
const SUBTYPE_UUID: u8 = 0x04;

/// A session. One write of it is under way at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    id: [u8; ID_BYTES],
    number: i64,
}

impl Session {
    /// A new one with a random id.
    ///
    /// # Errors
    /// When the system has no randomness.
    pub fn start() -> io::Result<Self> {
        let mut id = [0; ID_BYTES];
        SystemRandom::new().fill(&mut id).map_err(|_| io::Error::other("the system has no randomness"))?;
        // RFC 9562: a UUID of version 4.
        id[6] = id[6] & 0x0F | 0x40;
        id[8] = id[8] & 0x3F | 0x80;
        Ok(Self { id, number: 0 })
    }

    /// Its id: a UUID.
    pub fn id(&self) -> [u8; ID_BYTES] {
        self.id
    }

    /// The next write is another one: it gets a number of its own.
    #[inline]
    pub fn advance(&mut self) {
        self.number += 1;
    }
}

/// Where the session is in the requests of one template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionPlace {
    id: usize,
    number: Option<usize>,
}

impl SessionPlace {
    /// Appends `lsid` and `txnNumber` to the body, before every slot, so that their place is always the same.
    pub fn append(builder: &mut TemplateBuilder) -> Self {
        let place = Self::append_id(builder);
        builder.fixed(|writer: &mut Writer<'_>| writer.int64("txnNumber", 0));
        Self { number: Some(builder.fixed_position() - NUMBER_BYTES), ..place }
    }

    /// Appends `lsid` alone, for what has no number.
    pub fn append_id(builder: &mut TemplateBuilder) -> Self {
        builder.begin_subdocument("lsid");
        builder.fixed(|writer| {
            let out = writer.buffer();
            out.extend_from_slice(&[BINARY, b'i', b'd', 0]);
            out.extend_from_slice(&(ID_BYTES as u32).to_le_bytes());
            out.push(SUBTYPE_UUID);
            out.extend_from_slice(&[0; ID_BYTES]);
        });
        let id = builder.fixed_position() - ID_BYTES;
        builder.end();
        Self { id, number: None }
    }

    /// Writes `session` into `request`, a whole message of the template.
    #[inline]
    pub fn stamp(&self, session: &Session, request: &mut [u8]) {
        request[self.id..self.id + ID_BYTES].copy_from_slice(&session.id);
        if let Some(number) = self.number {
            request[number..number + NUMBER_BYTES].copy_from_slice(&session.number.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use bson::{Bson, Document};

    use super::*;
    use crate::op_msg;
    use crate::template::Template;

    /// The body of a request of `template` with one slot, in `session`.
    fn stamped(template: &Template, place: SessionPlace, session: &Session) -> Document {
        let mut request = Vec::new();
        template.render(1, &mut request, |_, writer| writer.string("_id", "some key"));
        place.stamp(session, &mut request);
        Document::from_reader(op_msg::parse(&request).unwrap().body).unwrap()
    }

    #[test]
    fn a_write_carries_its_session_and_its_number() {
        let mut builder = TemplateBuilder::new();
        builder.fixed(|writer| writer.string("update", "c"));
        let place = SessionPlace::append(&mut builder);
        builder.begin_subdocument("q").slot().end();
        let template = builder.finish(0);
        let mut session = Session::start().unwrap();
        let mut numbers = Vec::new();
        for _ in 0..2 {
            session.advance();
            let body = stamped(&template, place, &session);
            assert_eq!(body.get_document("q").unwrap().get_str("_id").unwrap(), "some key");
            let Some(Bson::Binary(id)) = body.get_document("lsid").unwrap().get("id") else {
                panic!("{body}")
            };
            assert_eq!((id.subtype, id.bytes.as_slice()), (bson::spec::BinarySubtype::Uuid, &session.id[..]));
            numbers.push(body.get_i64("txnNumber").unwrap());
        }
        assert_eq!(numbers, [1, 2]);
        assert_ne!(session.id, Session::start().unwrap().id);
    }

    #[test]
    fn a_read_carries_its_session_alone() {
        let mut builder = TemplateBuilder::new();
        builder.fixed(|writer| writer.string("find", "c"));
        let place = SessionPlace::append_id(&mut builder);
        builder.begin_subdocument("filter").slot().end();
        let template = builder.finish(0);
        let session = Session::start().unwrap();
        let body = stamped(&template, place, &session);
        let Some(Bson::Binary(id)) = body.get_document("lsid").unwrap().get("id") else { panic!("{body}") };
        assert_eq!(id.bytes.as_slice(), &session.id[..]);
        assert!(!body.contains_key("txnNumber"), "{body}");
    }
}
