//! Owns the comparison of what was read with what must be there.

use brimline_bson::{Reader, Value};

use crate::Documents;

/// What reading a document showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verified {
    /// Every value is what it must be.
    Matching,
    /// A value is another one, or a field is not there.
    Different,
    /// There is no field at all, or no document.
    Absent,
}

impl Verified {
    /// All of them, in the order of their discriminants.
    pub const ALL: [Self; 3] = [Self::Matching, Self::Different, Self::Absent];

    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Matching => "matching",
            Self::Different => "different",
            Self::Absent => "absent",
        }
    }
}

impl Documents {
    /// Compares the binary fields of what was read of `record` with what they must hold; `field_count` of them must be there.
    /// What a lying server sends instead of a document is a difference.
    pub fn verify(&self, record: u64, document: &[u8], field_count: u32) -> Verified {
        let mut expected = Vec::with_capacity(self.derived_length());
        let mut seen = 0u32;
        let Ok(mut elements) = Reader::new(document) else { return Verified::Different };
        loop {
            match elements.next_element() {
                Ok(None) => break,
                Ok(Some(element)) => {
                    let Value::Binary(value, 0) = element.value else { continue };
                    let Ok(name) = std::str::from_utf8(element.name) else { return Verified::Different };
                    expected.clear();
                    self.append_derived(record, name, self.derived_length(), &mut expected);
                    if value != expected {
                        return Verified::Different;
                    }
                    seen += 1;
                }
                Err(_) => return Verified::Different,
            }
        }
        match seen {
            0 => Verified::Absent,
            _ if seen == field_count => Verified::Matching,
            _ => Verified::Different,
        }
    }
}

#[cfg(test)]
mod tests {
    use brimline_bson::Writer;

    use super::*;
    use crate::{DocumentSpec, InsertOrder, LengthSpec, Values};

    #[test]
    fn whatever_is_not_what_was_written_is_told_apart() {
        let spec = DocumentSpec {
            record_count: 10,
            insert_start: 0,
            field_count: 2,
            field_length: LengthSpec::Constant { length: 40 },
            field_name_prefix: "field".to_owned(),
            key_prefix: "user".to_owned(),
            insert_order: InsertOrder::Hashed,
            zero_padding: 1,
            template: None,
            values: Values::Derived,
        };
        let documents = Documents::new(&spec, 7).unwrap();
        let mut whole = Vec::new();
        documents.append_document(3, &mut whole);
        assert_eq!(documents.verify(3, &whole, 2), Verified::Matching);
        assert_eq!(documents.verify(4, &whole, 2), Verified::Different, "another record's");
        assert_eq!(documents.verify(3, &whole, 1), Verified::Different, "a field too many");
        assert_eq!(documents.verify(3, &whole, 3), Verified::Different, "a field too few");
        let fields_at = whole.len() - 1 - 2 * (13 + 40);
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            if at >= fields_at {
                assert_eq!(documents.verify(3, &changed, 2), Verified::Different, "byte {at}");
            }
            assert_ne!(documents.verify(3, &whole[..at], 2), Verified::Matching, "cut at {at}");
        }
        let mut updated = Vec::new();
        let document = Writer::new(&mut updated).begin_document();
        documents.append_field(1, 3, 99, &mut updated);
        Writer::new(&mut updated).end_document(document);
        assert_eq!(documents.verify(3, &updated, 1), Verified::Matching, "an update writes what was there");
        let mut bare = Vec::new();
        let document = Writer::new(&mut bare).begin_document();
        Writer::new(&mut bare).string("_id", "user1");
        Writer::new(&mut bare).end_document(document);
        assert_eq!(documents.verify(3, &bare, 2), Verified::Absent);
    }
}
