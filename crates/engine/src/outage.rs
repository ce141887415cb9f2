//! Owns when a target could not be used: from the first operation or connection that was lost to the first answer after it.
//! One broken connection among others that answer is none.

use crate::clock::Nanos;

/// Outages told apart by one worker; what comes after them lengthens the last.
const OUTAGES_MAX: usize = 1_000;

/// A time in which no operation was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When the first operation or connection was lost.
    pub from_ns: Nanos,
    /// When an operation that was sent after that was answered; `None`: not before the end of the run.
    pub to_ns: Option<Nanos>,
    /// Operations that failed for it.
    pub failed: u64,
    /// Operations that were sent once more for it.
    pub retried: u64,
    /// Where writes went afterwards, when that is known to change.
    pub primary: Option<String>,
}

/// What one worker sees of outages.
#[derive(Debug, Default)]
pub struct OutageLog {
    current: Option<Trouble>,
    ended: Vec<Outage>,
}

#[derive(Debug)]
struct Trouble {
    from_ns: Nanos,
    failed: u64,
    retried: u64,
    /// Whether it concerns the server, not a connection.
    is_outage: bool,
    /// Since when connections are up again.
    up_ns: Option<Nanos>,
}

impl OutageLog {
    /// Something was lost at `now`; `is_outage`: nothing is left, or the server says so.
    pub fn lost(&mut self, now: Nanos, is_outage: bool) {
        let trouble = self.current.get_or_insert(Trouble {
            from_ns: now,
            failed: 0,
            retried: 0,
            is_outage: false,
            up_ns: None,
        });
        trouble.is_outage |= is_outage;
        if is_outage {
            trouble.up_ns = None;
        }
    }

    /// An operation failed because of what was lost.
    pub fn failed(&mut self) {
        if let Some(trouble) = &mut self.current {
            trouble.failed += 1;
        }
    }

    /// An operation is sent once more because of what was lost.
    pub fn retried(&mut self) {
        if let Some(trouble) = &mut self.current {
            trouble.retried += 1;
        }
    }

    /// A connection is up again at `now`.
    pub fn up(&mut self, now: Nanos) {
        if let Some(trouble) = &mut self.current {
            trouble.up_ns.get_or_insert(now);
        }
    }

    /// Whether something was lost, and nothing answered since.
    #[inline]
    pub fn is_troubled(&self) -> bool {
        self.current.is_some()
    }

    /// A command sent at `sent` was answered well at `done`; `primary`: where writes go now.
    pub fn answered(&mut self, sent: Nanos, done: Nanos, primary: impl FnOnce() -> Option<String>) {
        if let Some(trouble) = self.current.take_if(|trouble| trouble.from_ns <= sent) {
            self.end(&trouble, Some(done), primary);
        }
    }

    /// All outages at the end of the run. A worker that had nothing more to send saw no answer: then the connection counts.
    pub fn finish(&mut self, primary: impl FnOnce() -> Option<String>) -> Vec<Outage> {
        if let Some(trouble) = self.current.take() {
            self.end(&trouble, trouble.up_ns, primary);
        }
        std::mem::take(&mut self.ended)
    }

    fn end(&mut self, trouble: &Trouble, to_ns: Option<Nanos>, primary: impl FnOnce() -> Option<String>) {
        if !trouble.is_outage {
            return;
        }
        let Trouble { from_ns, failed, retried, .. } = *trouble;
        let outage = Outage { from_ns, to_ns, failed, retried, primary: primary() };
        let is_full = self.ended.len() >= OUTAGES_MAX;
        match self.ended.last_mut() {
            Some(last) if is_full => last.join(outage),
            _ => self.ended.push(outage),
        }
    }
}

impl Outage {
    /// Makes it one with one that began later. Writes go where they went when the last of both ended.
    fn join(&mut self, later: Self) {
        let has_longer = match (self.to_ns, later.to_ns) {
            (Some(own), Some(other)) => own > other,
            (own, _) => own.is_none(),
        };
        self.primary = if has_longer {
            self.primary.take().or(later.primary)
        } else {
            later.primary.or(self.primary.take())
        };
        self.to_ns = self.to_ns.zip(later.to_ns).map(|(one, other)| one.max(other));
        self.failed += later.failed;
        self.retried += later.retried;
    }
}

/// The outages of a run: those that workers saw at the same time are one, which lasts until the last of them had an answer.
pub fn merged(mut outages: Vec<Outage>) -> Vec<Outage> {
    outages.sort_by_key(|outage| outage.from_ns);
    let mut merged: Vec<Outage> = Vec::new();
    for outage in outages {
        match merged.last_mut() {
            Some(last) if last.to_ns.is_none_or(|to_ns| outage.from_ns <= to_ns) => last.join(outage),
            _ => merged.push(outage),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_name() -> Option<String> {
        None
    }

    #[test]
    fn an_outage_lasts_until_something_sent_after_its_begin_is_answered() {
        let mut log = OutageLog::default();
        log.lost(100, false);
        log.failed();
        log.lost(110, true);
        log.retried();
        log.answered(90, 120, no_name);
        assert!(log.is_troubled(), "sent before, answered from a socket that lived a little longer");
        log.up(150);
        log.answered(160, 170, || Some("b:2".to_owned()));
        let primary = Some("b:2".to_owned());
        let expected = Outage { from_ns: 100, to_ns: Some(170), failed: 1, retried: 1, primary };
        assert_eq!(log.finish(no_name), [expected]);
    }

    #[test]
    fn a_broken_connection_among_others_is_no_outage() {
        let mut log = OutageLog::default();
        log.lost(100, false);
        log.failed();
        log.answered(110, 120, no_name);
        assert!(!log.is_troubled());
        assert_eq!(log.finish(no_name), []);
    }

    #[test]
    fn what_never_ends_has_no_end_unless_connections_came_back() {
        let mut log = OutageLog::default();
        log.lost(100, true);
        assert_eq!(log.finish(no_name)[0].to_ns, None);
        log.lost(100, true);
        log.up(200);
        assert_eq!(log.finish(no_name)[0].to_ns, Some(200));
    }

    #[test]
    fn workers_outages_at_the_same_time_are_one() {
        let outage = |from_ns, to_ns| Outage { from_ns, to_ns, failed: 1, retried: 2, primary: None };
        let of_two = merged(vec![outage(50, Some(60)), outage(12, Some(30)), outage(10, Some(20))]);
        assert_eq!(of_two.len(), 2);
        assert_eq!(of_two[0], Outage { failed: 2, retried: 4, ..outage(10, Some(30)) });
        assert_eq!(merged(vec![outage(10, None), outage(12, Some(30))])[0].to_ns, None);
    }

    #[test]
    fn writes_go_where_the_worker_that_waited_longest_was_answered() {
        let outage = |from_ns, to_ns, primary: &str| Outage {
            from_ns,
            to_ns: Some(to_ns),
            failed: 0,
            retried: 0,
            primary: Some(primary.to_owned()),
        };
        let of_two = merged(vec![outage(10, 40, "b:2"), outage(12, 20, "a:1")]);
        assert_eq!(of_two, [outage(10, 40, "b:2")]);
        let of_two = merged(vec![outage(10, 20, "a:1"), outage(12, 40, "b:2")]);
        assert_eq!(of_two, [outage(10, 40, "b:2")]);
    }

    #[test]
    fn a_flapping_server_cannot_fill_the_memory() {
        let mut log = OutageLog::default();
        for round in 0..5_000 {
            log.lost(round * 10, true);
            log.failed();
            log.answered(round * 10 + 1, round * 10 + 2, no_name);
        }
        let outages = log.finish(no_name);
        assert_eq!(outages.len(), OUTAGES_MAX);
        assert_eq!(outages.iter().map(|outage| outage.failed).sum::<u64>(), 5_000);
    }
}
