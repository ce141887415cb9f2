//! Counts failures by kind, class and code, with the first message of each kept as an example.

use crate::failure::{FAILURES_DISTINCT_MAX, Failure};
use crate::kinds::OperationKind;

/// Bytes kept of an example message.
const EXAMPLE_BYTES_MAX: usize = 400;
/// Label of failures beyond [`FAILURES_DISTINCT_MAX`].
const OVERFLOW_LABEL: &str = "other failures";

/// How often one failure occurred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureCount {
    /// Kind of the operations that failed.
    pub kind: OperationKind,
    /// The first such failure.
    pub first: Failure,
    /// How many there were.
    pub count: u64,
}

/// Failures of one worker, or of a run when merged. Bounded, whatever the target answers.
#[derive(Clone, Debug, Default)]
pub struct FailureTally {
    counts: Vec<FailureCount>,
}

impl FailureTally {
    /// Counts one failure.
    pub fn add(&mut self, kind: OperationKind, failure: Failure) {
        self.add_many(kind, failure, 1);
    }

    /// Adds the failures of another tally.
    pub fn merge(&mut self, other: Self) {
        for FailureCount { kind, first, count } in other.counts {
            self.add_many(kind, first, count);
        }
    }

    /// All failures, most frequent first.
    pub fn into_counts(mut self) -> Vec<FailureCount> {
        self.counts.sort_by_key(|entry| std::cmp::Reverse(entry.count));
        self.counts
    }

    /// Counts the same failure `count` times.
    pub fn add_many(&mut self, kind: OperationKind, mut failure: Failure, count: u64) {
        if let Some(entry) = self.counts.iter_mut().find(|entry| entry.is_same(kind, &failure)) {
            entry.count += count;
            return;
        }
        if self.counts.len() >= FAILURES_DISTINCT_MAX && failure.label != OVERFLOW_LABEL {
            failure.code = 0;
            OVERFLOW_LABEL.clone_into(&mut failure.label);
            self.add_many(kind, failure, count);
            return;
        }
        truncate(&mut failure.message);
        truncate(&mut failure.label);
        self.counts.push(FailureCount { kind, first: failure, count });
    }
}

impl FailureCount {
    fn is_same(&self, kind: OperationKind, failure: &Failure) -> bool {
        self.kind == kind
            && self.first.class == failure.class
            && self.first.code == failure.code
            && self.first.label == failure.label
    }
}

fn truncate(text: &mut String) {
    if text.len() > EXAMPLE_BYTES_MAX {
        let boundary = (0..=EXAMPLE_BYTES_MAX).rev().find(|&index| text.is_char_boundary(index));
        text.truncate(boundary.unwrap_or(0));
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureClass;

    fn server_error(code: i32) -> Failure {
        Failure { code, ..Failure::new(FailureClass::ServerError, format!("message {code}")) }
    }

    #[test]
    fn equal_failures_share_a_row_and_keep_the_first_message() {
        let mut tally = FailureTally::default();
        tally.add(OperationKind::LOAD, server_error(50));
        tally.add(OperationKind::LOAD, Failure { message: "later".to_owned(), ..server_error(50) });
        tally.add(OperationKind::own(0), server_error(50));
        let counts = tally.into_counts();
        assert_eq!(counts.len(), 2);
        assert_eq!((counts[0].count, counts[0].first.message.as_str()), (2, "message 50"));
    }

    #[test]
    fn a_lying_server_cannot_fill_the_tally() {
        let mut tally = FailureTally::default();
        for code in 0..10_000 {
            let failure = Failure { message: "é".repeat(10_000), ..server_error(code) };
            tally.add(OperationKind::LOAD, failure);
        }
        let counts = tally.into_counts();
        assert_eq!(counts.len(), FAILURES_DISTINCT_MAX + 1);
        assert_eq!((counts[0].first.label.as_str(), counts[0].kind), (OVERFLOW_LABEL, OperationKind::LOAD));
        assert_eq!(counts.iter().map(|entry| entry.count).sum::<u64>(), 10_000);
        assert!(counts.iter().all(|entry| entry.first.message.len() <= EXAMPLE_BYTES_MAX + '…'.len_utf8()));
    }
}
