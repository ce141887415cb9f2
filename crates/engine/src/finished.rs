//! An operation that is over: which part of the run it belongs to, its instants, and how it ended.

use crate::clock::Nanos;

/// Part of a run that an operation belongs to, by when it was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Before the measured window.
    Warmup,
    /// The measured window.
    Measure,
    /// After it: nothing is due any more, operations in flight come to their end.
    Drain,
}

impl Phase {
    /// The phases in which operations are due.
    pub const OFFERING: [Self; 2] = [Self::Warmup, Self::Measure];

    /// The phase's name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warmup => "warmup",
            Self::Measure => "measure",
            Self::Drain => "drain",
        }
    }
}

/// How an operation ended, as far as counting goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Done what it should.
    Ok,
    /// Answered without an error, but found no document.
    Miss,
    /// Failed; the error tally says how.
    Failed,
}

/// A finished operation. The recorder is the only place that subtracts instants.
#[derive(Clone, Copy, Debug)]
pub struct Finished {
    /// When it was due; `None` in a closed loop.
    pub due: Option<Nanos>,
    /// When its first byte was handed to the kernel.
    pub sent: Nanos,
    /// When its last reply was whole.
    pub done: Nanos,
    /// How it ended.
    pub ending: Ending,
    /// Documents returned or written.
    pub documents: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Bytes received.
    pub bytes_in: u64,
    /// The second step of an operation in two, once it was taken.
    pub second: Option<SecondStep>,
}

/// Where an operation in two steps went from the first to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SecondStep {
    /// When the reply to the first was whole.
    pub first_done: Nanos,
    /// When the second was sent.
    pub sent: Nanos,
}
