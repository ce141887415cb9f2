//! Tallies that are done with, emptied for use in another interval.

use std::sync::Mutex;

use crate::recorder::Tallies;
use crate::shared::lock;

/// A pool of empty tallies. It holds at most as many as were ever out at once: what workers record into, and what is on its
/// way to be merged. All are of the same size, however long the times in them were.
#[derive(Default)]
pub struct Spares(Mutex<Vec<Tallies>>);

impl Spares {
    /// Empty tallies, new ones when none are left.
    pub fn take(&self) -> Tallies {
        lock(&self.0).pop().unwrap_or_default()
    }

    /// Empties `tallies` and keeps them.
    pub fn give(&self, mut tallies: Tallies) {
        tallies.clear();
        lock(&self.0).push(tallies);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::OperationKind;
    use crate::recorder::{Phase, Recorder};

    #[test]
    fn what_comes_back_is_empty_and_given_out_again() {
        let spares = Spares::default();
        let mut recorder = Recorder::default();
        recorder.sent(Phase::Measure, OperationKind::ALL[0], Some(0), 5, false);
        let used = recorder.cut(Tallies::default());
        assert_eq!(used.non_empty().count(), 1);
        spares.give(used);
        assert_eq!(lock(&spares.0).len(), 1);
        assert_eq!(spares.take().non_empty().count(), 0);
        assert!(lock(&spares.0).is_empty());
    }
}
