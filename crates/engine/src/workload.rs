//! Which operations a run offers. Operation *i* is a pure function of (seed, *i*), so that the same plan offers the same
//! operations on any number of threads.

use brimline_datagen::{DocumentSpec, KeyChooser, LengthChooser, RngStream};

use crate::command::{Command, Statements};
use crate::kinds::{First, OperationKind};
use crate::operation::{Key, Operation};
use crate::own::mix::OwnMix;
use crate::own::plan::AtEnd;
use crate::plan::error::PlanError;
use crate::plan::proportions::Proportions;
use crate::plan::{Plan, RecordRange, Work};
use crate::totals::WorkerSummary;

/// Random streams of the engine; the generators of keys and documents have their own.
const STREAM_KIND: u64 = 0x6b69_6e64;
const STREAM_CHOICE: u64 = 0x6368_6f69;
const STREAM_STATEMENT: u64 = 0x7374_6d74;
/// Most records of one transaction.
const RECORDS_PER_TRANSACTION: u64 = 256;

/// The operations of a plan.
pub struct Workload {
    kinds: RngStream,
    choices: RngStream,
    statements: RngStream,
    insert_start: u64,
    record_count: u64,
    field_count: u32,
    work: Choices,
}

enum Choices {
    Mix(Box<Mix>),
    Load(Batches),
    Own(Box<OwnMix>),
}

struct Mix {
    /// The kind of every operation, where there is no other: nothing needs to be drawn then.
    only: Option<OperationKind>,
    thresholds: [f64; OperationKind::COUNT],
    chooser: KeyChooser,
    scan_length: LengthChooser,
    transaction: Statements,
    has_inserts: bool,
    insert_batch_size: u32,
    goes_on: bool,
}

impl Workload {
    /// The operations of `plan`; `own` are those of the person's own, where it has such, of the plan's own load or of one beside it.
    ///
    /// # Errors
    /// When a chooser's parameters are out of range.
    pub fn new(plan: &Plan, own: Option<OwnMix>) -> Result<Self, PlanError> {
        let DocumentSpec { record_count, insert_start, field_count, .. } = plan.data;
        let work = match &plan.work {
            Work::Mix { proportions, keys, scan_length, transaction, insert_batch_size, .. } => {
                Choices::Mix(Box::new(Mix {
                    only: only_kind(proportions),
                    thresholds: thresholds(proportions),
                    chooser: KeyChooser::new(keys, record_count, plan.seed)
                        .map_err(|error| PlanError::inside("work.keys", &error))?,
                    scan_length: LengthChooser::new(scan_length)
                        .map_err(|error| PlanError::inside("work.scan_length", &error))?,
                    transaction: transaction.unwrap_or_default(),
                    has_inserts: proportions.any(OperationKind::inserts),
                    insert_batch_size: *insert_batch_size,
                    goes_on: proportions.any(OperationKind::goes_on),
                }))
            }
            Work::Load { batch_size, ranges, .. } => {
                let all = [RecordRange { first: insert_start, count: record_count }];
                Choices::Load(Batches::new(
                    *batch_size,
                    plan.server_count(),
                    ranges.as_deref().unwrap_or(&all),
                ))
            }
            Work::Operations(_) => {
                Choices::Own(Box::new(own.ok_or_else(|| PlanError::new("work", "was not prepared"))?))
            }
        };
        let kinds = RngStream::new(plan.seed, STREAM_KIND);
        let choices = RngStream::new(plan.seed, STREAM_CHOICE);
        let statements = RngStream::new(plan.seed, STREAM_STATEMENT);
        Ok(Self { kinds, choices, statements, insert_start, record_count, field_count, work })
    }

    /// How many operations there are at most; `None`: no end.
    pub fn operation_count(&self) -> Option<u64> {
        match self.work {
            Choices::Mix(_) | Choices::Own(_) => None,
            Choices::Load(ref batches) => Some(batches.count),
        }
    }

    /// Whether keys are bound to the number of inserts acknowledged so far.
    pub fn reads_newest(&self) -> bool {
        match &self.work {
            Choices::Mix(mix) => mix.chooser.is_latest(),
            Choices::Load(_) => false,
            Choices::Own(mix) => mix.own().newest_counter().is_some(),
        }
    }

    /// Whether something depends on when a reply is seen: the second command of an operation, or the choice of a key.
    pub fn awaits_replies(&self) -> bool {
        match &self.work {
            Choices::Mix(mix) => mix.goes_on || self.reads_newest(),
            Choices::Load(_) => false,
            Choices::Own(mix) => mix.own().awaits_replies(),
        }
    }

    /// Totals of nothing, with room for every kind and step, of as many servers.
    pub fn empty_summary(&self, server_count: usize) -> WorkerSummary {
        let (operations, steps) =
            self.own().map_or((0, 0), |mix| (mix.own().operation_count(), mix.own().steps().len()));
        WorkerSummary::new(OperationKind::COUNT + operations, steps, server_count)
    }

    /// Those of the person's own.
    pub fn own(&self) -> Option<&OwnMix> {
        match &self.work {
            Choices::Own(mix) => Some(mix),
            Choices::Mix(_) | Choices::Load(_) => None,
        }
    }

    /// The index of the first record an insert of the run adds.
    pub fn first_new_record(&self) -> u64 {
        self.insert_start + self.record_count
    }

    /// Documents of an insert of the run.
    fn insert_batch_size(&self) -> u64 {
        match &self.work {
            Choices::Mix(mix) => u64::from(mix.insert_batch_size),
            Choices::Load(_) | Choices::Own(_) => 1,
        }
    }

    /// The record that `key` means when `inserts` inserts of the run are acknowledged.
    pub fn resolve(&self, key: Key, inserts: u64) -> u64 {
        match key {
            Key::Record(record) => record,
            Key::BehindNewest(distance) => {
                self.first_new_record() + inserts * self.insert_batch_size() - 1 - distance
            }
        }
    }

    /// The record that `command` is about: the operation's `own`, but for statements of a transaction beyond that of its first
    /// record, whose records are drawn likewise. All of a transaction are told by the newest record that `own` was told by, so
    /// that a read and its update are of the same one, whatever is inserted meanwhile.
    #[inline]
    pub fn record_for(&self, command: Command, operation: &Operation, own: u64) -> u64 {
        match command {
            Command::Statement(place) if place.record_number() > 0 => {
                self.further_record(u64::from(place.record_number()), operation, own)
            }
            _ => own,
        }
    }

    /// Kept out of line: the path of an operation of one command stays as short as it was.
    #[inline(never)]
    fn further_record(&self, number: u64, operation: &Operation, own: u64) -> u64 {
        let Choices::Mix(mix) = &self.work else { return own };
        let draw = operation.index.wrapping_mul(RECORDS_PER_TRANSACTION).wrapping_add(number);
        let index = operation.index.wrapping_add(number);
        let key = self.key(mix, mix.chooser.draw(&mut self.statements.at(draw), index));
        self.resolve(key, self.inserts_at(operation.key, own))
    }

    /// How many inserts were acknowledged when `key` was bound to `record`; 0 of a key that doesn't ask.
    fn inserts_at(&self, key: Key, record: u64) -> u64 {
        match key {
            Key::Record(_) => 0,
            Key::BehindNewest(distance) => {
                (record + distance + 1 - self.first_new_record()) / self.insert_batch_size()
            }
        }
    }

    /// The key that a draw of the chooser means.
    fn key(&self, mix: &Mix, drawn: u64) -> Key {
        if mix.chooser.is_latest() {
            Key::BehindNewest(drawn)
        } else {
            Key::Record(self.insert_start + drawn)
        }
    }

    /// The operations of shard `shard` of `shard_count`: those whose index is `shard` modulo `shard_count`.
    pub fn stream(&self, shard: u64, shard_count: u64) -> OperationStream<'_> {
        let counters = vec![0; self.own().map_or(0, |mix| mix.own().counter_count())];
        OperationStream { workload: self, next: shard, step: shard_count, counted: 0, inserts: 0, counters }
    }

    fn kind(&self, mix: &Mix, index: u64) -> OperationKind {
        if let Some(only) = mix.only {
            return only;
        }
        let draw = self.kinds.at(index).next_f64();
        let row = mix.thresholds.iter().position(|&threshold| draw < threshold).unwrap_or(0);
        OperationKind::of_row(row)
    }
}

/// The batches that the records of a load are cut into, range by range. Where records are shared out among servers, those of
/// a batch are of one server, and the servers take turns.
struct Batches {
    batch_size: u32,
    server_count: u64,
    /// Each range with the number of its first batch.
    ranges: Vec<(u64, RecordRange)>,
    count: u64,
}

impl Batches {
    fn new(batch_size: u32, server_count: u64, ranges: &[RecordRange]) -> Self {
        let mut count = 0;
        let number = |range: &RecordRange| {
            let first = count;
            count += (0..server_count)
                .map(|server| share(range.count, server, server_count).div_ceil(u64::from(batch_size)))
                .sum::<u64>();
            (first, *range)
        };
        let ranges = ranges.iter().map(number).collect();
        Self { batch_size, server_count, ranges, count }
    }

    /// Batch `index` as an operation. Beyond the last batch it has no documents; nobody sends it.
    fn operation(&self, index: u64) -> Operation {
        let after = self.ranges.partition_point(|&(first, _)| first <= index);
        let (first_batch, range) = self.ranges[after.saturating_sub(1)];
        // No server has more batches of a range than one before it, and at most one fewer than the first: taking turns leaves
        // no gap.
        let (turn, server) =
            ((index - first_batch) / self.server_count, (index - first_batch) % self.server_count);
        let of_server = share(range.count, server, self.server_count);
        let offset = (turn * u64::from(self.batch_size)).min(of_server);
        Operation {
            index,
            kind: OperationKind::LOAD,
            key: Key::Record(range.first + server + offset * self.server_count),
            field: 0,
            documents: u64::from(self.batch_size).min(of_server - offset) as u32,
            statements: Statements::NONE,
        }
    }
}

/// How many of `count` records in a row the one at `place` of each `server_count` is, with those that far behind it.
fn share(count: u64, place: u64, server_count: u64) -> u64 {
    count.saturating_sub(place).div_ceil(server_count)
}

/// Walks the operations of one shard in order.
pub struct OperationStream<'w> {
    workload: &'w Workload,
    next: u64,
    step: u64,
    /// Operations of the whole run whose kind has been looked at, and how many of them insert. An insert's record is its
    /// number among all inserts, so each shard counts those of the others as well: a few nanoseconds each.
    counted: u64,
    inserts: u64,
    /// Of operations of the person's own: rows taken in turn and new records, before the operation that was handed out last.
    counters: Vec<u64>,
}

impl OperationStream<'_> {
    /// The index of the operation that [`next`](Self::next) returns.
    #[inline]
    pub fn peek_index(&self) -> u64 {
        self.next
    }

    /// How many inserts of the run come before the next operation.
    pub fn inserts_before_next(&self) -> u64 {
        self.inserts
    }

    /// The shard's next operation.
    #[expect(clippy::should_implement_trait, reason = "the stream has no end, so it is no iterator")]
    pub fn next(&mut self) -> Operation {
        let index = self.next;
        self.next += self.step;
        match &self.workload.work {
            Choices::Load(batches) => batches.operation(index),
            Choices::Mix(mix) => {
                if mix.has_inserts {
                    self.count_inserts(mix, index);
                }
                self.choose(index, mix)
            }
            Choices::Own(mix) => self.next_own(mix, index),
        }
    }

    #[inline(never)]
    fn next_own(&mut self, mix: &OwnMix, index: u64) -> Operation {
        self.count_own(mix, index);
        mix.choose(index, &self.counters)
    }

    /// Where the counters of the person's own operations stood before the operation that was handed out last.
    pub fn counters(&self) -> &[u64] {
        &self.counters
    }

    /// What follows when the next operation would take a row that isn't there.
    pub fn end_of_rows(&mut self) -> Option<AtEnd> {
        let Choices::Own(mix) = &self.workload.work else { return None };
        self.count_own(mix, self.next);
        mix.end_of_rows(self.next, &self.counters)
    }

    fn count_own(&mut self, mix: &OwnMix, index: u64) {
        mix.count(&mut self.counters, &mut self.counted, index);
        if let Some(counter) = mix.own().newest_counter() {
            self.inserts = self.counters[counter];
        }
    }

    /// Counts the inserts among the operations before `index`.
    fn count_inserts(&mut self, mix: &Mix, index: u64) {
        for earlier in self.counted..index {
            if self.workload.kind(mix, earlier).inserts() {
                self.inserts += 1;
            }
        }
        self.counted = index;
    }

    fn choose(&self, index: u64, mix: &Mix) -> Operation {
        let workload = self.workload;
        let Mix { chooser, scan_length, .. } = mix;
        let kind = workload.kind(mix, index);
        let mut rng = workload.choices.at(index);
        let key = match kind.begins() {
            First::Insert => {
                let earlier = self.inserts * u64::from(mix.insert_batch_size);
                Key::Record(workload.first_new_record() + earlier)
            }
            _ => workload.key(mix, chooser.draw(&mut rng, index)),
        };
        let field = match workload.field_count {
            0 | 1 => 0,
            count => rng.below(u64::from(count)) as u32,
        };
        let documents = match kind.begins() {
            First::Scan => scan_length.draw(&mut rng).max(1),
            First::Insert => mix.insert_batch_size,
            _ => 1,
        };
        let statements = if kind.is_transaction() { mix.transaction } else { Statements::NONE };
        Operation { index, kind, key, field, documents, statements }
    }
}

fn only_kind(proportions: &Proportions) -> Option<OperationKind> {
    let mut kinds = OperationKind::all().zip(proportions.shares()).filter(|&(_, share)| share > 0.0);
    let (kind, _) = kinds.next()?;
    kinds.next().is_none().then_some(kind)
}

/// Cumulative shares, in the order of the kinds. The last kind with a share ends at exactly 1, so that
/// rounding can't leave a gap.
fn thresholds(proportions: &Proportions) -> [f64; OperationKind::COUNT] {
    let shares = proportions.shares();
    let sum: f64 = shares.iter().sum();
    let mut cumulative = 0.0;
    let mut thresholds = shares.map(|share| {
        cumulative += share;
        cumulative / sum
    });
    if let Some(last) = shares.iter().rposition(|&share| share > 0.0) {
        thresholds[last..].fill(1.0);
    }
    thresholds
}
