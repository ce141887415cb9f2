//! Failed operations are values: counted by kind, class and code, with the first message of each kept as an example.

use crate::kinds::OperationKind;

/// Different failures told apart in one run; the rest is counted by kind and class under [`OVERFLOW_LABEL`].
pub const FAILURES_DISTINCT_MAX: usize = 64;
/// Bytes kept of an example message.
const EXAMPLE_BYTES_MAX: usize = 400;
/// Label of failures beyond [`FAILURES_DISTINCT_MAX`].
const OVERFLOW_LABEL: &str = "other failures";

/// Classes of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureClass {
    /// The whole command failed: `ok: 0`.
    ServerError,
    /// `writeErrors` in a reply that is ok.
    WriteError,
    /// `writeConcernError` in a reply that is ok.
    WriteConcernError,
    /// No reply in time.
    Timeout,
    /// The connection broke while the operation was in flight.
    ConnectionLost,
    /// A reply that is no reply: wrong lengths, wrong opcode, an answer to something else.
    BadReply,
    /// A reply that is no error, and not what the plan expects.
    Unexpected,
    /// A status of 400 to 499.
    ClientStatus,
    /// A status of 500 to 599.
    ServerStatus,
    /// Another status that is not what was wanted.
    OtherStatus,
    /// No server took operations for as long as one may wait for it; it was never sent.
    ServerSelection,
}

impl FailureClass {
    /// The class's name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ServerError => "server_error",
            Self::WriteError => "write_error",
            Self::WriteConcernError => "write_concern_error",
            Self::Timeout => "timeout",
            Self::ConnectionLost => "connection_lost",
            Self::BadReply => "bad_reply",
            Self::Unexpected => "unexpected",
            Self::ClientStatus => "http_4xx",
            Self::ServerStatus => "http_5xx",
            Self::OtherStatus => "http_status",
            Self::ServerSelection => "server_selection",
        }
    }
}

/// Why an operation failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Class.
    pub class: FailureClass,
    /// MongoDB's error code, 0 where there is none.
    pub code: i32,
    /// Code name or error label, empty where there is none.
    pub label: String,
    /// The server's or the system's words.
    pub message: String,
}

impl Failure {
    /// A failure without a code.
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self { class, code: 0, label: String::new(), message: message.into() }
    }
}

/// Why a command failed, and how many of its statements did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandFailure {
    /// The failure that the operation is counted under: the first.
    pub first: Failure,
    /// `writeErrors`, equal ones counted together; empty when the command failed as a whole.
    pub statements: Vec<(Failure, u64)>,
    /// What it says beyond the operation.
    pub signs: Signs,
}

/// What a failure says about sending the command once more, and about the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Signs {
    /// A read may be sent again.
    pub allows_read: bool,
    /// A write may be sent again under the same number.
    pub allows_write: bool,
    /// No attempt has written anything.
    pub wrote_nothing: bool,
    /// The server is no primary any more, or ends.
    pub state_changed: bool,
    /// The transaction it belonged to is void, and may be done anew as a whole.
    pub voids_transaction: bool,
}

impl Signs {
    /// Of a connection that broke with a command under way.
    pub const CONNECTION_LOST: Self = Self { allows_read: true, allows_write: true, ..Self::NONE };
    /// Of a failure that says nothing of the kind.
    pub const NONE: Self = Self {
        allows_read: false,
        allows_write: false,
        wrote_nothing: false,
        state_changed: false,
        voids_transaction: false,
    };
}

impl CommandFailure {
    /// Whether the server has answered for each statement, so that the `n` of its reply holds.
    pub fn counts_statements(&self) -> bool {
        matches!(self.first.class, FailureClass::WriteError | FailureClass::WriteConcernError)
    }

    /// Whether a transaction in which it occurred may still be open at the server: it is over where the server itself has voided
    /// it, and goes with its connection.
    pub fn leaves_transaction_open(&self) -> bool {
        let is_answered = matches!(
            self.first.class,
            FailureClass::ServerError | FailureClass::WriteError | FailureClass::Unexpected
        );
        is_answered && !self.signs.voids_transaction
    }

    /// How many statements failed.
    pub fn statement_count(&self) -> u64 {
        self.statements.iter().map(|(_, count)| count).sum()
    }
}

impl From<Failure> for CommandFailure {
    fn from(first: Failure) -> Self {
        let signs = match first.class {
            FailureClass::ConnectionLost => Signs::CONNECTION_LOST,
            _ => Signs::NONE,
        };
        Self { first, statements: Vec::new(), signs }
    }
}

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
