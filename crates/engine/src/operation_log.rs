//! Owns the log of single operations: a row for each that finished, in runs that ask for it. Histograms say as much about
//! times; a log is for those who want each of them, and for what histograms don't keep together.
//!
//! Rows are fixed in size and little endian, so that a log that is cut off loses its last row and nothing else.

use crate::clock::Nanos;
use crate::operation::OperationKind;
use crate::recorder::{Finished, Phase};

/// Length of a row: `due`, `sent`, `first_done`, `second_sent`, `done` as u64 in ns of the run's clock, `documents` as u32,
/// then a byte each for kind, ending and phase, by their discriminants, and one that is 0.
pub const ROW_BYTES: usize = 48;
/// An instant that there is none of: when an operation of a closed loop was due, or the second step of one without.
pub const NEVER: Nanos = Nanos::MAX;

/// The rows of one worker since the last cut.
#[derive(Default)]
pub struct OperationLog {
    rows: Vec<u8>,
}

impl OperationLog {
    /// Adds a finished operation.
    #[inline(never)] // most runs have no log, and none of its code among theirs
    pub fn push(&mut self, phase: Phase, kind: OperationKind, finished: &Finished) {
        let Finished { due, sent, done, ending, documents, second, .. } = *finished;
        let (first_done, second_sent) = second.map_or((NEVER, NEVER), |step| (step.first_done, step.sent));
        for instant in [due.unwrap_or(NEVER), sent, first_done, second_sent, done] {
            self.rows.extend_from_slice(&instant.to_le_bytes());
        }
        let documents = u32::try_from(documents).unwrap_or(u32::MAX);
        self.rows.extend_from_slice(&documents.to_le_bytes());
        self.rows.extend_from_slice(&[kind as u8, ending as u8, phase as u8, 0]);
    }

    /// Hands out the rows and goes on with room for as many.
    pub fn cut(&mut self) -> Vec<u8> {
        let room = self.rows.len();
        std::mem::replace(&mut self.rows, Vec::with_capacity(room))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::{Ending, SecondStep};

    #[test]
    fn a_row_holds_what_was_recorded() {
        let finished = Finished {
            due: Some(1),
            sent: 2,
            done: 5,
            ending: Ending::Failed,
            documents: 6,
            bytes_out: 7,
            bytes_in: 8,
            second: Some(SecondStep { first_done: 3, sent: 4 }),
        };
        let mut log = OperationLog::default();
        log.push(Phase::Measure, OperationKind::ReadModifyWrite, &finished);
        log.push(Phase::Warmup, OperationKind::Read, &Finished { due: None, second: None, ..finished });
        let rows = log.cut();
        let expected: Vec<u8> = [1u64, 2, 3, 4, 5].iter().flat_map(|each| each.to_le_bytes()).collect();
        assert_eq!(rows[..40], expected);
        assert_eq!(rows[40..ROW_BYTES], [6, 0, 0, 0, 4, 2, 1, 0]);
        assert_eq!(rows[ROW_BYTES..ROW_BYTES + 8], NEVER.to_le_bytes());
        assert_eq!(rows.len(), 2 * ROW_BYTES);
        assert!(log.cut().is_empty());
    }
}
