//! Owns the documents that reads brought, for runs that verify them: of each connection the first one of the last reply.

use brimline_wire::reply;

use crate::target::ConnectionIndex;

/// One place per connection. Its memory is used again.
pub(super) struct Kept {
    places: Vec<Place>,
}

#[derive(Clone, Default)]
struct Place {
    document: Vec<u8>,
    is_there: bool,
}

impl Kept {
    pub fn new(connections: usize) -> Self {
        Self { places: vec![Place::default(); connections] }
    }

    /// Keeps the document of a reply, if it has one: the answer to the write of a read-modify-write leaves what the read
    /// brought.
    pub fn keep(&mut self, connection: ConnectionIndex, message: &[u8]) {
        let place = &mut self.places[connection];
        if let Some(document) = reply::first_document(message) {
            place.document.clear();
            place.document.extend_from_slice(document);
            place.is_there = true;
        }
    }

    /// What was kept, once.
    pub fn take(&mut self, connection: ConnectionIndex) -> Option<&[u8]> {
        let place = &mut self.places[connection];
        std::mem::take(&mut place.is_there).then_some(&place.document)
    }
}
