//! How a worker ends: what stayed unsent, the replies that are still to come, and what never came.

use std::io;

use brimline_wire::session::Session;

use super::{LOOK_UP_NS, Worker};
use crate::clock::Nanos;
use crate::command::Command;
use crate::flight::InFlight;
use crate::kinds::OperationKind;
use crate::mission::Sink;
use crate::target::Target;

impl<T: Target, S: Sink> Worker<'_, T, S> {
    /// Settles what was offered: operations due before the end that no connection was free for stay overdue.
    pub(super) fn close_offer(&mut self) {
        let now = self.target.now();
        let end = self.mission.intervals.end().map_or(now, |end| end.min(now));
        self.offer_end = Some(end);
        if end > self.interval_start {
            self.cut(end);
        }
        if !self.mission.control.stopped() && self.mission.pacer.open().is_some() {
            self.send_due(end);
        }
        // Due and overdue follow the stream's position, not what was counted as sent: so what was drawn and never sent is missed.
        let taken = taken_before(self.stream.peek_index(), self.mission.shard_count);
        let offered = self.offered_before(end).or_else(|| self.pace.planned()).unwrap_or(taken);
        self.summary.attempted_again = self.attempts.sent();
        self.summary.due = offered + self.summary.attempted_again;
        self.summary.overdue = offered.saturating_sub(taken);
        if self.summary.overdue > 0
            && let Some(due) = self.next_due()
        {
            self.summary.oldest_overdue_ns = end.saturating_sub(due);
        }
    }

    /// How many of this shard's operations are due before `end`, with what was attempted again; `None` in a closed loop.
    pub(super) fn due_before(&mut self, end: Nanos) -> Option<u64> {
        Some(self.offered_before(end)? + self.attempts.sent())
    }

    /// How many of this shard's operations are due before `end` for the first time; `None` in a closed loop.
    fn offered_before(&mut self, end: Nanos) -> Option<u64> {
        let due = self.pace.due_before(end)?;
        let count = self.mission.operation_count.into_iter().chain(self.dry_at).min();
        let offered = count.map_or(due, |count| due.min(count));
        Some(share_of(offered, self.shard, self.mission.shard_count))
    }

    /// Waits for the replies that are still missing.
    pub(super) fn drain(&mut self) -> io::Result<()> {
        let deadline = self.target.now() + self.mission.drain_timeout_ns;
        while self.slots.in_flight_count() > 0 && !self.mission.control.aborted() {
            let now = self.target.now();
            if now >= deadline {
                break;
            }
            let until = deadline.min(self.next_cut).min(now + LOOK_UP_NS);
            self.turn(self.pauses.next().map_or(until, |next| next.min(until)), false)?;
        }
        let now = self.target.now();
        self.cut(now.max(self.interval_start));
        self.publish();
        self.summary.elapsed_ns = now;
        Ok(())
    }

    /// Operations whose reply never came are unfinished, with their age.
    pub(super) fn settle_unfinished(&mut self) {
        let in_flight = self.slots.all_in_flight().filter(|(_, flight)| !flight.has_ended());
        let unfinished: Vec<(usize, InFlight)> =
            in_flight.map(|(connection, flight)| (self.target.server(connection), *flight)).collect();
        for (server, flight) in unfinished {
            if let Command::Step(step, part) = flight.command
                && flight.command_sent != Nanos::MAX
            {
                self.summary.step_unanswered(server, step, part);
            }
            self.summary.unanswered(server, &flight);
            self.note_unfinished(&flight);
        }
        self.settle_parked();
    }

    /// Where a transaction failed or never ended, the server may still hold one open, and with it its documents. Which of the
    /// connections left one is not kept: to end a session that is at rest does no harm.
    pub(super) fn settle_sessions(&mut self) {
        let has_own = self.mission.commands.has_own();
        let may_leave_one = |row| has_own || OperationKind::of_row(row).is_transaction();
        let mut kinds = self.summary.kinds.iter().enumerate();
        if kinds.any(|(row, totals)| may_leave_one(row) && totals.failed + totals.unfinished > 0) {
            self.summary.unsettled_sessions = self.sessions.iter().map(Session::id).collect();
        }
    }

    pub(super) fn note_unfinished(&mut self, flight: &InFlight) {
        self.summary.kinds[flight.operation.kind.row()].unfinished += 1;
        let age = self.summary.elapsed_ns.saturating_sub(flight.due.unwrap_or(flight.sent));
        self.summary.oldest_unfinished_ns = self.summary.oldest_unfinished_ns.max(age);
    }
}

/// How many of operations 0 to `offered` are those of `shard`, which takes every `shard_count`-th.
fn share_of(offered: u64, shard: u64, shard_count: u64) -> u64 {
    (offered + shard_count - 1 - shard) / shard_count
}

/// How many operations a shard has taken from its stream, whose next one is `next`: it takes every `shard_count`-th.
fn taken_before(next: u64, shard_count: u64) -> u64 {
    next / shard_count
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{share_of, taken_before};

    proptest! {
        /// A stream's position says how many operations were drawn, whatever was done with them.
        #[test]
        fn what_was_taken_follows_the_position(count in 0u64..10_000, shard in 0u64..32, more in 1u64..33) {
            let shard_count = shard + more;
            let taken = (shard..).step_by(shard_count as usize).take(count as usize);
            let next = taken.last().map_or(shard, |last| last + shard_count);
            prop_assert_eq!(taken_before(next, shard_count), count);
            prop_assert_eq!(share_of(next, shard, shard_count), count);
        }

        /// Nothing offered is left out of what is due, or in it twice, on any number of shards.
        #[test]
        fn shards_share_out_what_is_offered(offered in 0u64..10_000, shard_count in 1u64..33) {
            let shares: Vec<u64> = (0..shard_count).map(|shard| share_of(offered, shard, shard_count)).collect();
            let counted = |shard: u64| (0..offered).filter(|index| index % shard_count == shard).count() as u64;
            prop_assert_eq!(shares.iter().sum::<u64>(), offered);
            prop_assert_eq!(shares[0], counted(0));
            prop_assert_eq!(shares[shares.len() - 1], counted(shard_count - 1));
        }
    }
}
