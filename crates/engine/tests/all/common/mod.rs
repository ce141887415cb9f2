//! Plans and merged results for the engine's tests.

#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod own;
pub mod requests;

use std::time::Duration;

use brimline_datagen::{ChooserSpec, DocumentSpec, InsertOrder, LengthSpec, Values};
use brimline_engine::command::Statements;
use brimline_engine::histogram::{TimeHistogram, new_histogram};
use brimline_engine::kinds::OperationKind;
use brimline_engine::plan::pacer::PacerPlan;
use brimline_engine::plan::proportions::Proportions;
use brimline_engine::plan::target::TargetPlan;
use brimline_engine::plan::{Namespace, Plan, Work};
use brimline_engine::{Interval, Run, Stage, Summary, Surroundings};
use brimline_testserver::Script;

pub const MS: u64 = 1_000_000;
pub const S: u64 = 1_000 * MS;

/// Shares of the kinds of operations in a mix.
pub type Shares<'n> = &'n [(&'n str, f64)];
pub const READS: Shares<'static> = &[("read", 1.0)];

pub fn proportions(shares: Shares<'_>) -> Proportions {
    Proportions::of(shares.iter().copied()).expect("kinds that a mix has")
}

pub fn kind(name: &str) -> OperationKind {
    OperationKind::named(name).expect("a kind of the table")
}

/// The row of a kind.
pub fn row(name: &str) -> usize {
    kind(name).row()
}

/// A second of reads in a closed loop of ten connections on the null target.
pub fn plan() -> Plan {
    Plan {
        version: 1,
        name: "test".to_owned(),
        seed: 1,
        target: TargetPlan::Null { beside_server: false },
        namespace: Namespace { database: "ycsb".to_owned(), collection: "usertable".to_owned() },
        data: DocumentSpec {
            record_count: 1_000,
            insert_start: 0,
            field_count: 10,
            field_length: LengthSpec::Constant { length: 100 },
            field_name_prefix: "field".to_owned(),
            key_prefix: "user".to_owned(),
            insert_order: InsertOrder::Hashed,
            zero_padding: 1,
            template: None,
            values: Values::Random,
        },
        work: mix(READS, ChooserSpec::Zipfian { theta: 0.99 }),
        pacer: PacerPlan::Closed { think_time: None, follows_replies: false },
        connections: 10,
        in_flight_max: None,
        threads: 1,
        warmup_ns: 0,
        duration_ns: Some(S),
        operation_count: None,
        interval_ns: S,
        drain_timeout_ns: 5 * S,
        operation_timeout_ns: 30 * S,
        connect_timeout_ns: 3 * S,
        operation_log: false,
        share: None,
    }
}

pub fn mix(shares: Shares<'_>, keys: ChooserSpec) -> Work {
    let proportions = proportions(shares);
    Work::Mix {
        proportions,
        keys,
        scan_length: LengthSpec::Uniform { min: 1, max: 100 },
        read_all_fields: true,
        name_read_fields: false,
        upsert: false,
        insert_batch_size: 1,
        verify_reads: false,
        write_all_fields: false,
        transaction: proportions
            .any(OperationKind::is_transaction)
            .then_some(Statements { reads: 2, updates: 3 }),
    }
}

pub fn constant(rate_ops_per_s: f64) -> PacerPlan {
    PacerPlan::Constant { rate_ops_per_s }
}

/// The plan's operations against a scripted server on a virtual clock.
pub fn simulated(script: Script) -> TargetPlan {
    TargetPlan::Simulated { script, generator_ns: 1_000, standstills: Vec::new() }
}

/// A finished run.
pub struct Outcome {
    pub summary: Summary,
    pub intervals: Vec<Interval>,
    pub service: TimeHistogram,
    pub response: TimeHistogram,
    pub lag: TimeHistogram,
}

/// Runs `plan` to its end and checks what must hold of every run.
pub fn execute(plan: &Plan) -> Outcome {
    execute_with(plan, Surroundings::default())
}

/// The same in these surroundings.
pub fn execute_with(plan: &Plan, surroundings: Surroundings) -> Outcome {
    let run = Run::start_with(plan.clone(), surroundings).expect("the plan is valid");
    let mut intervals = Vec::new();
    loop {
        let progress = run.poll(Duration::from_secs(1));
        intervals.extend(run.take_intervals());
        if progress.stage == Stage::Finished {
            break;
        }
    }
    let summary = run.join().expect("the target is there");
    let outcome = merge(summary, intervals);
    assert_conserved(&outcome);
    outcome
}

pub fn merge(summary: Summary, intervals: Vec<Interval>) -> Outcome {
    let [mut service, mut response, mut lag] = [new_histogram(), new_histogram(), new_histogram()];
    for (_, _, tally) in intervals.iter().flat_map(|interval| &interval.tallies.kinds) {
        service.add(tally.service.unpack()).expect("histograms grow");
        response.add(tally.response.unpack()).expect("histograms grow");
        lag.add(tally.lag.unpack()).expect("histograms grow");
    }
    Outcome { summary, intervals, service, response, lag }
}

/// due = sent + overdue, sent = ok + miss + failed + unfinished, and the samples add up to the totals.
pub fn assert_conserved(outcome: &Outcome) {
    let Outcome { summary, intervals, .. } = outcome;
    let sent: u64 = summary.kinds.iter().map(|totals| totals.sent).sum();
    assert_eq!(summary.due, sent + summary.overdue);
    for totals in &summary.kinds {
        assert_eq!(totals.sent, totals.ok + totals.miss + totals.failed + totals.unfinished);
    }
    let tallies = || intervals.iter().flat_map(|interval| &interval.tallies.kinds).map(|(_, _, tally)| tally);
    assert_eq!(tallies().map(|tally| tally.counts.sent).sum::<u64>(), sent);
    let unfinished: u64 = summary.kinds.iter().map(|totals| totals.unfinished).sum();
    assert_eq!(tallies().map(|tally| tally.counts.finished()).sum::<u64>(), sent - unfinished);
    assert_eq!(outcome.service.len(), sent - unfinished);
    let inserts = summary.inserts;
    assert_eq!(inserts.sent, inserts.inserted + inserts.failed + inserts.skipped + inserts.unknown);
}
