//! What an operation is: its kind and the choices that make it, before anything is encoded or sent.

use crate::command::Statements;
use crate::kinds::OperationKind;

/// Most operations of the person's own in one plan.
pub const OWN_OPERATIONS_MAX: usize = 64;

/// Which record an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The record with this index.
    Record(u64),
    /// The record so many places behind the newest one. Bound to a record when it is sent, through the number of
    /// inserts acknowledged by then; the distance itself is a pure draw.
    BehindNewest(u64),
}

/// One operation, a function of (seed, index).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its number in the run, over all shards.
    pub index: u64,
    /// What it does.
    pub kind: OperationKind,
    /// What it does it to; for a load, the first record of the batch.
    pub key: Key,
    /// The field a partial read or update takes.
    pub field: u32,
    /// Documents a scan asks for or a load writes; 1 otherwise.
    pub documents: u32,
    /// What a transaction does before its commit; nothing otherwise.
    pub statements: Statements,
}

impl Operation {
    /// A 64-bit digest. Digests of a set of operations are added up (wrapping), so that equal sets have equal sums in
    /// whatever order and on however many threads they were sent.
    pub fn digest(&self) -> u64 {
        let (tag, key) = match self.key {
            Key::Record(record) => (0, record),
            Key::BehindNewest(distance) => (1, distance),
        };
        // The first kinds have the highest four bits, those beyond them the lowest as well.
        let kind = (self.kind.row() as u64).rotate_left(60);
        let choices = kind ^ (tag << 56 | u64::from(self.field) << 28 | u64::from(self.documents));
        // Only transactions have statements, and their documents are few: the bits are free.
        let Statements { reads, updates } = self.statements;
        let statements = u64::from(reads) << 20 | u64::from(updates) << 12;
        mix(mix(mix(self.index) ^ key) ^ (choices ^ statements))
    }
}

/// The finaliser of `SplitMix64` (Steele, Lea, Flood 2014): every input bit changes each output bit with probability 1/2.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_changes_the_digest() {
        let operation = Operation {
            index: 1,
            kind: OperationKind::of_row(0),
            key: Key::Record(0),
            field: 0,
            documents: 1,
            statements: Statements::NONE,
        };
        let others = [
            Operation { index: 2, ..operation },
            Operation { kind: OperationKind::of_row(1), ..operation },
            Operation { kind: OperationKind::own(0), ..operation },
            Operation { kind: OperationKind::own(16), ..operation },
            Operation { key: Key::Record(1), ..operation },
            Operation { key: Key::BehindNewest(0), ..operation },
            Operation { field: 1, ..operation },
            Operation { documents: 2, ..operation },
            Operation { statements: Statements { reads: 1, updates: 0 }, ..operation },
            Operation { statements: Statements { reads: 0, updates: 1 }, ..operation },
        ];
        for other in others {
            assert_ne!(other.digest(), operation.digest(), "{other:?}");
        }
    }
}
