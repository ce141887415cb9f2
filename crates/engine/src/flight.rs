//! An operation between its first command and its last reply.

use crate::clock::{NANOS_PER_S, Nanos};
use crate::command::Command;
use crate::command::Part;
use crate::finished::Ending;
use crate::operation::Operation;
use crate::target::ReplyFacts;

/// An operation on its way.
#[derive(Clone, Copy)]
pub struct InFlight {
    pub operation: Operation,
    pub record: u64,
    pub command: Command,
    pub due: Option<Nanos>,
    pub sent: Nanos,
    /// When the current command was sent.
    pub command_sent: Nanos,
    /// When the first of an operation's two steps was done; `None` while it isn't, and for operations in one.
    pub first_done: Option<Nanos>,
    pub documents: u64,
    pub bytes_out: u64,
    pub bytes_in: u64,
    /// Inserts of the run before this operation.
    pub inserts_before: u64,
    /// Whether the current command is being sent for the second time.
    pub is_retry: bool,
}

impl InFlight {
    /// An operation whose first command goes out at `sent`.
    #[inline]
    pub fn new(
        operation: Operation,
        record: u64,
        command: Command,
        due: Option<Nanos>,
        sent: Nanos,
        inserts_before: u64,
    ) -> Self {
        Self {
            operation,
            record,
            command,
            due,
            sent,
            command_sent: sent,
            first_done: None,
            documents: 0,
            bytes_out: 0,
            bytes_in: 0,
            inserts_before,
            is_retry: false,
        }
    }

    /// Whether the operation was counted already, and only its transaction is being ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.command, Command::Step(_, Part::Abort))
    }

    /// What the server's counter moves by for the current command: an insert counts its documents.
    pub fn statements(&self) -> u64 {
        match self.command {
            Command::Insert | Command::Upsert => u64::from(self.operation.documents),
            Command::Step(step, Part::Main) => u64::from(step.statements),
            _ => 1,
        }
    }

    /// When the wait for a reply began: to the first of a scan's, however many more it takes, unless that was sent once more,
    /// after a wait that was not for a reply.
    pub fn awaited_since(&self) -> Nanos {
        let is_further = matches!(self.command, Command::GetMore(_)) && !self.is_retry;
        if is_further { self.sent } else { self.command_sent }
    }

    /// The same transaction from its first statement on, which is `command`.
    pub fn anew(&self, command: Command) -> Self {
        Self { command, first_done: None, documents: 0, is_retry: false, ..*self }
    }

    /// Whether a reply speaks of more documents than the operation is about. Nothing of it can be believed then.
    #[inline]
    pub fn is_overstated(&self, reply: &ReplyFacts) -> bool {
        let claimed = match self.command {
            // How many documents such a step is about is not known beforehand.
            Command::Step(..) => return false,
            Command::Find => reply.documents,
            Command::Scan | Command::GetMore(_) => self.documents + reply.documents,
            Command::Update | Command::Insert | Command::Upsert => reply.n,
            Command::Statement(_) => reply.documents.max(reply.n),
            Command::Commit | Command::CommitAgain => 0,
        };
        claimed > u64::from(self.operation.documents)
    }

    /// When the current command's reply, which seems to have come at `arrived`, was there; now, as `now` tells it, where that is
    /// before the command was sent: the wall clock, which arrivals are read from, was set in between.
    #[inline]
    pub fn done_at(&self, arrived: Nanos, now: impl FnOnce() -> Nanos) -> Nanos {
        if arrived < self.command_sent { now() } else { arrived }
    }
}

/// How often operations in flight are checked for their time-out.
const CHECK_NS: Nanos = NANOS_PER_S / 10;

/// Says from when on an operation's reply is too late. It was so at the check before already: all that had come by then was read
/// since, also when the thread was stopped for longer than the time-out and the replies lie in their sockets.
#[derive(Debug)]
pub struct Patience {
    timeout_ns: Nanos,
    checked_at: Nanos,
}

impl Patience {
    /// A command may take `timeout_ns`.
    pub fn new(timeout_ns: Nanos) -> Self {
        Self { timeout_ns, checked_at: 0 }
    }

    /// Before when a command must have been sent to be late at `now`; `None` as long as no check is due.
    #[inline]
    pub fn late_if_sent_before(&mut self, now: Nanos) -> Option<Nanos> {
        if now < self.checked_at + CHECK_NS {
            return None;
        }
        std::mem::replace(&mut self.checked_at, now).checked_sub(self.timeout_ns)
    }
}

/// What follows from a reply.
pub enum Step {
    Next(Command),
    Finished(Ending, u64),
}

/// Judges a reply to the current command of `flight`: did the operation do what it should, or does it go on?
#[expect(clippy::inline_always, reason = "out of line it costs every operation some dozens of instructions")]
#[inline(always)]
pub fn judge(flight: &InFlight, reply: &ReplyFacts) -> Step {
    if let Some(failure) = &reply.failure {
        // A write that failed in part has written the rest.
        let written = if failure.counts_statements() { reply.n } else { 0 };
        return Step::Finished(Ending::Failed, written);
    }
    if let Some(second) = flight.operation.kind.second()
        && matches!(flight.command, Command::Find | Command::Update)
        && flight.first_done.is_none()
        && flight.command.handled(reply) > 0
    {
        return Step::Next(second);
    }
    let found = |documents: u64| {
        let ending = if documents > 0 { Ending::Ok } else { Ending::Miss };
        Step::Finished(ending, documents)
    };
    match flight.command {
        Command::Scan | Command::GetMore(_) if reply.cursor != 0 => {
            Step::Next(Command::GetMore(reply.cursor))
        }
        Command::Find | Command::Scan => found(reply.documents),
        Command::GetMore(_) => Step::Finished(Ending::Ok, reply.documents),
        Command::Update | Command::Insert | Command::Upsert => found(reply.n),
        Command::Statement(place) => Step::Next(place.next()),
        Command::Commit | Command::CommitAgain => {
            let is_whole = flight.documents == u64::from(flight.operation.statements.count());
            Step::Finished(if is_whole { Ending::Ok } else { Ending::Miss }, 0)
        }
        Command::Step(..) => unreachable!("steps are followed by their worker"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Statements;
    use crate::kinds::OperationKind;
    use crate::operation::Key;

    const S: Nanos = NANOS_PER_S;

    fn is_late(patience: &mut Patience, sent: Nanos, now: Nanos) -> bool {
        patience.late_if_sent_before(now).is_some_and(|before| sent < before)
    }

    fn flight(command: Command, documents: u32) -> InFlight {
        let kind = OperationKind::named("scan").unwrap();
        let statements = Statements::NONE;
        let operation = Operation { index: 0, kind, key: Key::Record(0), field: 0, documents, statements };
        InFlight { command_sent: 2, ..InFlight::new(operation, 0, command, None, 1, 0) }
    }

    fn facts(documents: u64, n: u64) -> ReplyFacts {
        ReplyFacts { failure: None, documents, n, modified: 0, upserted: 0, cursor: 0, bytes: 0 }
    }

    /// It is copied with every operation.
    #[test]
    fn what_is_under_way_stays_small() {
        assert_eq!(size_of::<Command>(), 16);
    }

    #[test]
    fn a_reply_about_more_than_was_asked_about_is_not_believed() {
        assert!(!flight(Command::Find, 1).is_overstated(&facts(1, 9)), "a find has no n");
        assert!(flight(Command::Find, 1).is_overstated(&facts(2, 0)));
        assert!(!flight(Command::Insert, 100).is_overstated(&facts(0, 100)));
        assert!(flight(Command::Insert, 100).is_overstated(&facts(0, 101)));
        assert!(flight(Command::Update, 1).is_overstated(&facts(0, u64::MAX)));
        let scan = InFlight { documents: 60, ..flight(Command::GetMore(7), 100) };
        assert!(!scan.is_overstated(&facts(40, 0)));
        assert!(scan.is_overstated(&facts(41, 0)), "a cursor without an end");
    }

    #[test]
    fn a_scan_has_one_time_out_for_all_of_its_replies() {
        assert_eq!(flight(Command::GetMore(7), 100).awaited_since(), 1);
        assert_eq!(flight(Command::Update, 1).awaited_since(), 2);
    }

    #[test]
    fn a_reply_that_does_not_come_is_late_after_the_time_out() {
        let mut patience = Patience::new(S);
        let checks: Vec<Nanos> = (1..=30).map(|tick| tick * S / 10).collect();
        let late_at = checks.into_iter().find(|&now| is_late(&mut patience, 0, now));
        assert_eq!(late_at, Some(12 * S / 10), "late at 1.1 s, and still not there at the next check");
    }

    /// After a stop of a minute, replies lie in their sockets.
    #[test]
    fn a_thread_that_was_stopped_reads_before_it_judges() {
        let mut patience = Patience::new(S);
        assert!(!is_late(&mut patience, 0, S));
        assert!(!is_late(&mut patience, 0, 61 * S), "nothing was read since");
        assert!(!is_late(&mut patience, 0, 61 * S + CHECK_NS - 1), "no check is due");
        assert!(
            !is_late(&mut patience, 60 * S + 1, 61 * S + CHECK_NS),
            "sent less than the time-out before the last check"
        );
        assert!(is_late(&mut patience, 60 * S - 1, 61 * S + 2 * CHECK_NS), "the reply never came");
    }
}
