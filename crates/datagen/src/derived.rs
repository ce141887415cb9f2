//! Owns values that follow from key and field, so that whoever reads one knows what it must be: those of YCSB's
//! `dataintegrity`. The text `key:field` goes on with `:` and its own hash until it is as long as the field.
//!
//! The hash is that of Java's strings, a polynomial in 31 of 32 bits, which goes on from where it was.

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

/// Appends the value of `length` bytes that `field` has in the document under `key`, both of them ASCII.
pub(crate) fn append(key: impl FnOnce(&mut Vec<u8>), field: &str, length: usize, out: &mut Vec<u8>) {
    let start = out.len();
    key(out);
    out.push(b':');
    out.extend_from_slice(field.as_bytes());
    let mut hash = hashed(0, &out[start..]);
    while out.len() - start < length {
        let from = out.len();
        out.push(b':');
        hash = hashed(hash, b":");
        append_decimal(hash, out);
        hash = hashed(hash, &out[from + 1..]);
    }
    out.truncate(start + length);
}

fn hashed(hash: i32, text: &[u8]) -> i32 {
    text.iter().fold(hash, |hash, &byte| hash.wrapping_mul(31).wrapping_add(i32::from(byte)))
}

fn append_decimal(number: i32, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    let from = out.len();
    let mut rest = number.unsigned_abs();
    loop {
        out.push(b'0' + (rest % 10) as u8);
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out[from..].reverse();
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

    fn value(key: &str, field: &str, length: usize) -> String {
        let mut out = b"before".to_vec();
        append(|out| out.extend_from_slice(key.as_bytes()), field, length, &mut out);
        String::from_utf8(out.split_off(6)).unwrap()
    }

    /// Java's `String.hashCode`: s[0]·31^(n−1) + … + s[n−1], in 32 bits.
    #[test]
    fn hashes_are_those_of_java() {
        let by_definition = |text: &str| {
            let length = text.len() as u32;
            text.bytes().zip(0..).fold(0i64, |sum, (byte, place): (u8, u32)| {
                let power = (0..length - 1 - place).fold(1i64, |power, _| (power * 31) % (1 << 32));
                (sum + i64::from(byte) * power) % (1 << 32)
            }) as u32 as i32
        };
        for text in ["a", "user1:field0:", "user6284781860667377211:field9:"] {
            assert_eq!(hashed(0, text.as_bytes()), by_definition(text), "{text}");
        }
        assert_eq!(hashed(0, b"hello"), 99_162_322);
        assert_eq!(hashed(0, b"polygenelubricants"), i32::MIN);
    }

    #[test]
    fn values_go_on_with_their_hash_and_end_with_the_field() {
        let hash = hashed(0, b"user1:field0:");
        assert_eq!(value("user1", "field0", 14), format!("user1:field0:{hash}")[..14]);
        assert_eq!(value("user1", "field0", 5), "user1");
        assert_eq!(value("user1", "field0", 12), "user1:field0");
        let long = value("user1", "field0", 100);
        assert_eq!(long.len(), 100);
        let (head, _) = long.split_at(long[..60].rfind(':').unwrap() + 1);
        assert!(long[head.len()..].starts_with(&hashed(0, head.as_bytes()).to_string()));
        assert_ne!(value("user2", "field0", 100), long);
    }

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

    #[test]
    fn the_least_number_is_written_whole() {
        let mut out = Vec::new();
        for number in [i32::MIN, -1, 0, 10, i32::MAX] {
            append_decimal(number, &mut out);
        }
        assert_eq!(String::from_utf8(out).unwrap(), "-2147483648-10102147483647");
    }
}
