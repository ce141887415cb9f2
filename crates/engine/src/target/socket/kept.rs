//! Owns what replies brought: for runs that verify reads the first document of the last reply of each connection, for steps that look
//! into theirs the whole of it.

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
    /// The whole message is wanted, and not its first document.
    is_whole: bool,
}

impl Kept {
    pub fn new(connections: usize) -> Self {
        Self { places: vec![Place::default(); connections] }
    }

    /// Keeps the document of a reply, if it has one: the answer to the write of a read-modify-write leaves what the read
    /// brought.
    pub fn keep(&mut self, connection: ConnectionIndex, message: &[u8]) {
        let place = &mut self.places[connection];
        if place.is_whole {
            place.document.clear();
            place.document.extend_from_slice(message);
            place.is_there = true;
        } else if let Some(document) = reply::first_document(message) {
            place.document.clear();
            place.document.extend_from_slice(document);
            place.is_there = true;
        }
    }

    /// Whether the next reply on `connection` is kept whole.
    pub fn keep_whole(&mut self, connection: ConnectionIndex, is_whole: bool) {
        let place = &mut self.places[connection];
        place.is_whole = is_whole;
        place.is_there = false;
    }

    /// The whole reply that was kept last.
    pub fn whole(&self, connection: ConnectionIndex) -> Option<&[u8]> {
        let place = &self.places[connection];
        (place.is_whole && place.is_there).then_some(place.document.as_slice())
    }

    /// What was kept, once.
    pub fn take(&mut self, connection: ConnectionIndex) -> Option<&[u8]> {
        let place = &mut self.places[connection];
        std::mem::take(&mut place.is_there).then_some(&place.document)
    }
}
