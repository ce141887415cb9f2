//! Failed operations are values.

/// Different failures told apart in one run; the rest is counted by kind and class.
pub const FAILURES_DISTINCT_MAX: usize = 64;

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
