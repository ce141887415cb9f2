//! The form of the log: a header as wide as a row, then rows of 48 bytes, all numbers little-endian. Rows of one width can be
//! counted and cut by the file's length, so that a file that ends within a row loses only that.

use crate::clock::Nanos;
use crate::finished::{Ending, Finished, Phase, SecondStep};
use crate::kinds::OperationKind;

/// Bytes of a row, and of the header.
pub const ROW_BYTES: usize = 48;
const MAGIC: [u8; 8] = *b"BRIMOPS1";
/// An instant that there isn't.
const NONE: u64 = u64::MAX;
const ENDINGS: [Ending; 3] = [Ending::Ok, Ending::Miss, Ending::Failed];
const PHASES: [Phase; 3] = [Phase::Warmup, Phase::Measure, Phase::Drain];

/// One finished operation. Instants are nanoseconds on the run's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it did.
    pub kind: OperationKind,
    /// How it ended.
    pub ending: Ending,
    /// The phase in which it was due.
    pub phase: Phase,
    /// When it was due; `None` in a closed loop.
    pub due: Option<Nanos>,
    /// When it was sent.
    pub sent: Nanos,
    /// The second step of an operation in two, once it was taken.
    pub second: Option<SecondStep>,
    /// When its last reply was whole.
    pub done: Nanos,
    /// Documents returned or written.
    pub documents: u32,
}

impl Row {
    /// The row of an operation that has finished.
    pub fn new(phase: Phase, kind: OperationKind, finished: &Finished) -> Self {
        let Finished { due, sent, done, ending, documents, second, .. } = *finished;
        let documents = u32::try_from(documents).unwrap_or(u32::MAX);
        Self { kind, ending, phase, due, sent, second, done, documents }
    }

    /// Its bytes.
    pub fn encode(&self) -> [u8; ROW_BYTES] {
        let second = self.second.unwrap_or(SecondStep { first_done: NONE, sent: NONE });
        let instants = [self.done, self.sent, self.due.unwrap_or(NONE), second.first_done, second.sent];
        let mut bytes = [0; ROW_BYTES];
        for (place, instant) in bytes.chunks_exact_mut(8).zip(instants) {
            place.copy_from_slice(&instant.to_le_bytes());
        }
        bytes[40..44].copy_from_slice(&self.documents.to_le_bytes());
        bytes[44] = self.kind.row() as u8;
        bytes[45] = self.ending as u8;
        bytes[46] = self.phase as u8;
        bytes
    }

    /// Reads a row; `None` for bytes that no row has.
    pub fn decode(bytes: &[u8; ROW_BYTES]) -> Option<Self> {
        let word = |place: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[8 * place..8 * (place + 1)]);
            u64::from_le_bytes(word)
        };
        let instant = |place| Some(word(place)).filter(|&instant| instant != NONE);
        let second = instant(3).zip(instant(4)).map(|(first_done, sent)| SecondStep { first_done, sent });
        Some(Self {
            kind: OperationKind::all().nth(usize::from(bytes[44]))?,
            ending: *ENDINGS.get(usize::from(bytes[45]))?,
            phase: *PHASES.get(usize::from(bytes[46]))?,
            due: instant(2),
            sent: word(1),
            second,
            done: word(0),
            documents: u32::from_le_bytes([bytes[40], bytes[41], bytes[42], bytes[43]]),
        })
    }
}

/// What the file begins with: what it is, the width of a row, and the wall-clock time of the run's instant 0.
pub fn encode_header(started_unix_ns: u64) -> [u8; ROW_BYTES] {
    let mut bytes = [0; ROW_BYTES];
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..16].copy_from_slice(&(ROW_BYTES as u64).to_le_bytes());
    bytes[16..24].copy_from_slice(&started_unix_ns.to_le_bytes());
    bytes
}

/// The wall-clock time of the run's instant 0; `None` for bytes that are no header of such a file.
pub fn decode_header(bytes: &[u8; ROW_BYTES]) -> Option<u64> {
    let started = bytes[16..24].try_into().map(u64::from_le_bytes).ok()?;
    let is_header = bytes[..16] == encode_header(0)[..16];
    is_header.then_some(started)
}

/// Every way to end, in the order of the numbers in rows.
pub const fn endings() -> [Ending; 3] {
    ENDINGS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_reads_back_as_it_was() {
        for (number, kind) in OperationKind::all().enumerate() {
            let second = (number % 2 == 0).then_some(SecondStep { first_done: 7, sent: 8 });
            let row = Row {
                kind,
                ending: ENDINGS[number % 3],
                phase: PHASES[number % 2],
                due: second.map(|_| 3),
                sent: 5,
                second,
                done: 1 << 40,
                documents: 9,
            };
            assert_eq!(Row::decode(&row.encode()), Some(row));
        }
    }

    #[test]
    fn bytes_of_something_else_are_no_row_and_no_header() {
        let mut bytes = [0; ROW_BYTES];
        assert!(Row::decode(&bytes).is_some());
        bytes[44] = OperationKind::COUNT as u8;
        assert_eq!(Row::decode(&bytes), None);
        assert_eq!(decode_header(&bytes), None);
        assert_eq!(decode_header(&encode_header(42)), Some(42));
    }
}
