//! Owns the times in which the generator itself did not run: stopped, swapped out, without a processor, or its host suspended.
//!
//! No wait of a loop is longer than it asked for, so what two looks are further apart than that and than the processor time
//! used between them is time in which the thread was not let run. A host that was suspended shows by the clock that counts
//! that time as well. Neither needs the wall clock, which may be set.

use serde::Serialize;

use crate::clock::Nanos;

/// Shortest time that counts: a thread that others hold up now and then waits less.
pub const STANDSTILL_NS_MIN: Nanos = 100_000_000;

/// Standstills told apart by one thread; what comes after them lengthens the last.
const STANDSTILLS_MAX: usize = 1_000;

/// A time in which the generator did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Standstill {
    /// The last look before it.
    pub from_ns: Nanos,
    /// The first look after it; where the host was suspended the run's clock stood as well.
    pub to_ns: Nanos,
    /// How long the generator stood still.
    pub still_ns: Nanos,
}

/// What a look at the clocks shows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// On the run's clock.
    pub now: Nanos,
    /// Processor time of the thread.
    pub cpu_ns: Nanos,
    /// Time in which the host was suspended, since any instant.
    pub suspended_ns: Nanos,
}

/// What one thread finds of it.
#[derive(Debug)]
pub struct StandstillLog {
    /// Longest that the loop waits between two looks.
    wait_ns_max: Nanos,
    looked_at: Nanos,
    /// The last reading; no older than a wait.
    read: Reading,
    found: Vec<Standstill>,
}

impl StandstillLog {
    /// Of a loop that waits no longer than `wait_ns_max` at once, and begins with `read`.
    pub fn new(wait_ns_max: Nanos, read: Reading) -> Self {
        Self { wait_ns_max, looked_at: read.now, read, found: Vec::new() }
    }

    /// Once in each turn of the loop. The clocks are read only when a wait has passed since they were last.
    #[inline]
    pub fn look(&mut self, now: Nanos, read: impl FnOnce() -> (Nanos, Nanos)) {
        if now >= self.read.now + self.wait_ns_max {
            let (cpu_ns, suspended_ns) = read();
            self.compare(Reading { now, cpu_ns, suspended_ns });
        }
        self.looked_at = now;
    }

    /// What lies before `read` is not looked at.
    pub fn resume(&mut self, read: Reading) {
        self.looked_at = read.now;
        self.read = read;
    }

    fn compare(&mut self, reading: Reading) {
        let worked_ns = reading.cpu_ns.saturating_sub(self.read.cpu_ns);
        let apart_ns = reading.now.saturating_sub(self.looked_at);
        let still_ns = apart_ns.saturating_sub(worked_ns + self.wait_ns_max);
        if still_ns >= STANDSTILL_NS_MIN {
            self.note(Standstill { from_ns: self.looked_at, to_ns: reading.now, still_ns });
        }
        let suspended_ns = reading.suspended_ns.saturating_sub(self.read.suspended_ns);
        if suspended_ns >= STANDSTILL_NS_MIN {
            self.note(Standstill { from_ns: self.looked_at, to_ns: reading.now, still_ns: suspended_ns });
        }
        self.read = reading;
    }

    fn note(&mut self, standstill: Standstill) {
        let is_full = self.found.len() >= STANDSTILLS_MAX;
        match self.found.last_mut() {
            Some(last) if is_full => {
                last.to_ns = standstill.to_ns;
                last.still_ns += standstill.still_ns;
            }
            _ => self.found.push(standstill),
        }
    }

    /// What was found, in the order of time.
    pub fn finish(self) -> Vec<Standstill> {
        self.found
    }
}

/// Those of all threads: where they overlap they are one, as long as the longest of them.
pub fn merged(mut standstills: Vec<Standstill>) -> Vec<Standstill> {
    standstills.sort_by_key(|standstill| standstill.from_ns);
    let mut merged: Vec<Standstill> = Vec::new();
    for next in standstills {
        match merged.last_mut() {
            Some(last) if next.from_ns < last.to_ns => {
                last.to_ns = last.to_ns.max(next.to_ns);
                last.still_ns = last.still_ns.max(next.still_ns);
            }
            _ => merged.push(next),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    /// (now, CPU time, time suspended) of each turn in ms, of a loop that waits 20 ms at most.
    fn found(turns: &[(Nanos, Nanos, Nanos)]) -> Vec<(Nanos, Nanos, Nanos)> {
        let mut log = StandstillLog::new(20 * MS, Reading::default());
        for &(now, cpu, suspended) in turns {
            log.look(now * MS, || (cpu * MS, suspended * MS));
        }
        let in_ms = |s: Standstill| (s.from_ns / MS, s.to_ns / MS, s.still_ns / MS);
        log.finish().into_iter().map(in_ms).collect()
    }

    #[test]
    fn a_thread_that_was_not_let_run_stood_still() {
        assert_eq!(found(&[(20, 0, 0), (40, 0, 0), (1_560, 1, 0), (1_580, 1, 0)]), [(40, 1_560, 1_499)]);
    }

    #[test]
    fn a_thread_that_worked_did_not() {
        assert_eq!(found(&[(20, 0, 0), (1_540, 1_500, 0), (1_560, 1_510, 0)]), []);
        assert_eq!(found(&[(20, 20, 0), (40, 40, 0), (159, 41, 0)]), []);
    }

    /// What was worked before the last turn is not taken for work in the gap beyond one wait.
    #[test]
    fn many_short_turns_and_a_gap() {
        let mut turns: Vec<_> = (1..500).map(|now| (now, now, 0)).collect();
        turns.push((999, 499, 0));
        let [(499, 999, still)] = found(&turns)[..] else { panic!("one gap") };
        assert!((460..=480).contains(&still), "{still}");
    }

    #[test]
    fn a_host_that_was_suspended_stood_still_though_the_clock_did_too() {
        assert_eq!(found(&[(20, 0, 5), (40, 0, 5), (60, 0, 60_005), (80, 0, 60_005)]), [(40, 60, 60_000)]);
    }

    /// As with a runner, which is looked at from a question to its answer: it may do nothing between an answer and the next question.
    #[test]
    fn what_lies_before_a_look_is_resumed_is_no_standstill() {
        let mut log = StandstillLog::new(0, Reading::default());
        log.resume(Reading { now: 900 * MS, cpu_ns: 5 * MS, suspended_ns: 0 });
        log.look(901 * MS, || (5 * MS, 0));
        log.resume(Reading { now: 2_000 * MS, cpu_ns: 5 * MS, suspended_ns: 0 });
        log.look(2_600 * MS, || (105 * MS, 0));
        assert_eq!(log.finish(), [Standstill { from_ns: 2_000 * MS, to_ns: 2_600 * MS, still_ns: 500 * MS }]);
    }

    #[test]
    fn what_all_threads_saw_is_counted_once() {
        let of = |from_ns, to_ns| Standstill { from_ns, to_ns, still_ns: to_ns - from_ns };
        assert_eq!(
            merged(vec![of(10, 30), of(50, 60), of(12, 33)]),
            [Standstill { from_ns: 10, to_ns: 33, still_ns: 21 }, of(50, 60)]
        );
    }

    #[test]
    fn their_number_is_bounded_and_their_length_is_kept() {
        let mut log = StandstillLog::new(20 * MS, Reading::default());
        let count = STANDSTILLS_MAX as u64 + 5;
        (1..=count).for_each(|turn| log.look(turn * 200 * MS, || (0, 0)));
        let found = log.finish();
        assert_eq!(found.len(), STANDSTILLS_MAX);
        assert_eq!(found.iter().map(|standstill| standstill.still_ns).sum::<Nanos>(), count * 180 * MS);
    }
}
