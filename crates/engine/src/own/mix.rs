//! Which operation of the person's own comes when: drawn by the shares of one load, a pure function of (seed, number).

use std::sync::Arc;

use brimline_datagen::RngStream;

use super::plan::{AtEnd, OwnWork};
use super::prepared::Own;
use crate::command::Statements;
use crate::kinds::OperationKind;
use crate::operation::{Key, Operation};
use crate::plan::Plan;

const STREAM_OWN: u64 = 0x6f77_6e00;

/// The operations of one load of a plan.
pub struct OwnMix {
    own: Arc<Own>,
    kinds: RngStream,
    /// The operations, each with where its share ends.
    operations: Vec<(u8, f64)>,
    /// 0 of the plan's own load.
    load: u64,
    has_counters: bool,
}

impl OwnMix {
    /// The operations of the plan's own load, or of load `load` - 1 beside it.
    pub fn new(plan: &Plan, work: &OwnWork, own: &Arc<Own>, load: usize) -> Self {
        let shares: Vec<(u8, f64)> = match load.checked_sub(1).and_then(|load| work.loads.get(load)) {
            Some(beside) => beside.operations.iter().map(|&operation| (operation as u8, 1.0)).collect(),
            None => work
                .operations
                .iter()
                .enumerate()
                .map(|(place, operation)| (place as u8, operation.weight))
                .filter(|&(_, weight)| weight > 0.0)
                .collect(),
        };
        let sum: f64 = shares.iter().map(|(_, weight)| weight).sum();
        let mut cumulative = 0.0;
        let mut operations: Vec<(u8, f64)> = shares
            .into_iter()
            .map(|(operation, weight)| {
                cumulative += weight;
                (operation, cumulative / sum)
            })
            .collect();
        // So that rounding can't leave a gap.
        if let Some((_, end)) = operations.last_mut() {
            *end = 1.0;
        }
        let has_counters = (0..own.operation_count()).any(|operation| !own.uses(operation as u8).is_empty());
        let kinds = RngStream::new(plan.seed, STREAM_OWN + load as u64);
        Self { own: Arc::clone(own), kinds, operations, load: load as u64, has_counters }
    }

    /// Which load of the plan it is.
    pub fn load(&self) -> u64 {
        self.load
    }

    /// The plan's operations, prepared.
    pub fn own(&self) -> &Own {
        &self.own
    }

    fn operation(&self, index: u64) -> u8 {
        if let [(only, _)] = self.operations.as_slice() {
            return *only;
        }
        let draw = self.kinds.at(index).next_f64();
        let place = self.operations.partition_point(|&(_, end)| end <= draw).min(self.operations.len() - 1);
        self.operations[place].0
    }

    /// Counts on from the operations before `counted` to those before `index`.
    pub fn count(&self, counters: &mut [u64], counted: &mut u64, index: u64) {
        if self.has_counters {
            for earlier in *counted..index {
                for &(counter, amount) in self.own.uses(self.operation(earlier)) {
                    counters[counter] += amount;
                }
            }
        }
        *counted = index;
    }

    /// Operation `index`, before which the counters stood at `counters`.
    pub fn choose(&self, index: u64, counters: &[u64]) -> Operation {
        let operation = self.operation(index);
        // What an operation draws follows from its number and from the counters it uses.
        let drawn = self.own.uses(operation).iter().map(|&(counter, _)| counters[counter]);
        let key = drawn.fold(self.load, |key, drawn| key.rotate_left(21) ^ drawn);
        Operation {
            index,
            kind: OperationKind::own(operation),
            key: Key::Record(key),
            field: 0,
            documents: 1,
            statements: Statements::NONE,
        }
    }

    /// What follows when operation `index` would take a row that isn't there.
    pub fn end_of_rows(&self, index: u64, counters: &[u64]) -> Option<AtEnd> {
        self.own.end_of_rows(self.operation(index), counters)
    }
}
