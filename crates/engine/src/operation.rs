//! What an operation is: its kind and the choices that make it, before anything is encoded or sent.

use serde::{Deserialize, Serialize};

/// Most operations of the user's own in one plan.
pub const OWN_OPERATIONS_MAX: usize = 64;

/// Kinds of operations, each recorded apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// Finds one document by key.
    Read,
    /// Sets one field, or all, of one document by key.
    Update,
    /// Inserts one new document.
    Insert,
    /// Reads documents in key order from a key on.
    Scan,
    /// Reads a document, then updates it: two commands, one operation.
    ReadModifyWrite,
    /// Inserts one batch of the records to be loaded.
    Load,
    /// Reads some documents and updates some, all of it or nothing: several commands and a commit, one operation.
    Transaction,
    /// What the plan says under this place in its list of operations.
    Own(u8),
}

impl OperationKind {
    /// All kinds that every plan knows, in the order of their rows.
    pub const ALL: [Self; 7] = [
        Self::Read,
        Self::Update,
        Self::Insert,
        Self::Scan,
        Self::ReadModifyWrite,
        Self::Load,
        Self::Transaction,
    ];
    /// Those of a mix, in the order of its shares.
    pub const MIX: [Self; 6] =
        [Self::Read, Self::Update, Self::Insert, Self::Scan, Self::ReadModifyWrite, Self::Transaction];
    /// How many of them there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Its place among the rows of counts: those that every plan knows, then the plan's own.
    #[inline]
    pub const fn row(self) -> usize {
        match self {
            Self::Read => 0,
            Self::Update => 1,
            Self::Insert => 2,
            Self::Scan => 3,
            Self::ReadModifyWrite => 4,
            Self::Load => 5,
            Self::Transaction => 6,
            Self::Own(place) => Self::COUNT + place as usize,
        }
    }

    /// The kind of a row; `None` of a row that no kind has.
    pub fn of_row(row: usize) -> Option<Self> {
        match Self::ALL.get(row) {
            Some(&kind) => Some(kind),
            None if row < Self::COUNT + OWN_OPERATIONS_MAX => Some(Self::Own((row - Self::COUNT) as u8)),
            None => None,
        }
    }

    /// The kind's name in plans, records and reports; `own` are the names of the plan's own operations.
    pub fn name(self, own: &[String]) -> &str {
        match self {
            Self::Own(place) => own.get(usize::from(place)).map_or("", String::as_str),
            known => known.known_name(),
        }
    }

    /// The name of a kind that every plan knows.
    pub const fn known_name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Update => "update",
            Self::Insert => "insert",
            Self::Scan => "scan",
            Self::ReadModifyWrite => "read_modify_write",
            Self::Load => "load",
            Self::Transaction => "transaction",
            Self::Own(_) => "",
        }
    }
}

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

/// The statements of a transaction: first its reads, then its updates, of one document each. Read *i* and update *i* are of
/// the same document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the line above says it")]
pub struct Statements {
    pub reads: u8,
    pub updates: u8,
}

impl Statements {
    /// None.
    pub const NONE: Self = Self { reads: 0, updates: 0 };

    /// How many there are.
    pub fn count(self) -> u16 {
        u16::from(self.reads) + u16::from(self.updates)
    }
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
    fn rows_index_the_list_of_kinds() {
        for (index, kind) in OperationKind::ALL.into_iter().enumerate() {
            assert_eq!(kind.row(), index);
        }
        for row in 0..OperationKind::COUNT + OWN_OPERATIONS_MAX {
            assert_eq!(OperationKind::of_row(row).map(OperationKind::row), Some(row));
        }
        assert_eq!(OperationKind::of_row(OperationKind::COUNT + OWN_OPERATIONS_MAX), None);
    }

    #[test]
    fn every_choice_changes_the_digest() {
        let operation = Operation {
            index: 1,
            kind: OperationKind::Read,
            key: Key::Record(0),
            field: 0,
            documents: 1,
            statements: Statements::NONE,
        };
        let others = [
            Operation { index: 2, ..operation },
            Operation { kind: OperationKind::Update, ..operation },
            Operation { kind: OperationKind::Own(0), ..operation },
            Operation { kind: OperationKind::Own(16), ..operation },
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
