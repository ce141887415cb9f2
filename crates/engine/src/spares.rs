//! Tallies that are done with, emptied for use in another interval.

use std::sync::Mutex;

use crate::recorder::Tallies;
use crate::shared::lock;

/// Tallies per worker that are kept: what it records into, and what is on its way to be merged, in a run that keeps up.
const KEPT_PER_WORKER: usize = 2;

/// A pool of empty tallies. All are of the same size, however long the times in them were. When the machine holds threads
/// up, intervals wait to be merged and more tallies are out; those beyond the usual go once they come back, so that a
/// run on a busy machine does not keep the memory of its worst moment.
pub struct Spares {
    kept: Mutex<Vec<Tallies>>,
    kept_max: usize,
}

impl Spares {
    /// Spares for a run of `worker_count` workers.
    pub fn new(worker_count: usize) -> Self {
        Self { kept: Mutex::default(), kept_max: KEPT_PER_WORKER * worker_count }
    }

    /// Empty tallies, new ones when none are left.
    pub fn take(&self) -> Tallies {
        lock(&self.kept).pop().unwrap_or_default()
    }

    /// Empties `tallies` and keeps them, as long as there is room.
    pub fn give(&self, mut tallies: Tallies) {
        let mut kept = lock(&self.kept);
        if kept.len() < self.kept_max {
            tallies.clear();
            kept.push(tallies);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finished::Phase;
    use crate::kinds::OperationKind;
    use crate::recorder::Recorder;

    fn used() -> Tallies {
        let mut recorder = Recorder::default();
        recorder.sent(Phase::Measure, OperationKind::LOAD, Some(0), 5, false);
        recorder.cut(Tallies::default())
    }

    #[test]
    fn what_comes_back_is_empty_and_given_out_again() {
        let spares = Spares::new(1);
        let used = used();
        assert_eq!(used.non_empty().count(), 1);
        spares.give(used);
        assert_eq!(lock(&spares.kept).len(), 1);
        assert_eq!(spares.take().non_empty().count(), 0);
        assert!(lock(&spares.kept).is_empty());
    }

    #[test]
    fn what_a_stall_took_is_not_kept() {
        let spares = Spares::new(3);
        (0..50).for_each(|_| spares.give(used()));
        assert_eq!(lock(&spares.kept).len(), 6);
    }
}
