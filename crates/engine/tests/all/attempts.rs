//! Inserts of a load that are attempted again after they failed: how often, after which rest, and that all of it is counted.

use crate::common::{MS, Outcome, S, constant, execute, plan, row, simulated};
use brimline_datagen::DocumentSpec;
use brimline_engine::plan::pacer::PacerPlan;
use brimline_engine::plan::target::TargetPlan;
use brimline_engine::plan::{InsertRetries, Plan, Work};
use brimline_engine::totals::{InsertTotals, Totals};
use brimline_testserver::{Fault, FaultKind, Script, Server, When};

/// Loads 1000 records one by one over two connections.
fn load(target: TargetPlan, limit: u32, interval_ns: u64) -> Plan {
    let base = plan();
    Plan {
        target,
        data: DocumentSpec { record_count: 1_000, ..base.data.clone() },
        work: Work::Load {
            batch_size: 1,
            ordered: false,
            ranges: None,
            upsert: false,
            insert_retries: Some(InsertRetries { limit, interval_ns }),
        },
        duration_ns: None,
        operation_timeout_ns: S / 2,
        connections: 2,
        ..base
    }
}

fn first_fail(count: u64, kind: FaultKind) -> Script {
    Script { faults: vec![Fault { when: When::FirstN(count), kind }], ..Script::default() }
}

fn error() -> FaultKind {
    FaultKind::Error { code: 91, name: "ShutdownInProgress".to_owned(), label: None }
}

fn totals(outcome: &Outcome) -> Totals {
    outcome.summary.kinds[row("load")]
}

fn sent_ok_failed(outcome: &Outcome) -> (u64, u64, u64) {
    let Totals { sent, ok, failed, .. } = totals(outcome);
    (sent, ok, failed)
}

#[test]
fn an_insert_that_fails_is_attempted_until_it_succeeds() {
    let outcome = execute(&load(simulated(first_fail(5, error())), 10, MS));
    assert_eq!(sent_ok_failed(&outcome), (1_005, 1_000, 5));
    assert_eq!(outcome.summary.attempted_again, 5);
    let expected = InsertTotals { sent: 1_005, inserted: 1_000, failed: 0, skipped: 0, unknown: 5 };
    assert_eq!(outcome.summary.inserts, expected);
}

#[test]
fn it_is_given_up_after_as_many_attempts_as_it_may_have() {
    // Both connections insert one record each, in vain, and the first of the next two once.
    let outcome = execute(&load(simulated(first_fail(7, error())), 2, MS));
    assert_eq!(outcome.summary.attempted_again, 5);
    assert_eq!(sent_ok_failed(&outcome), (1_005, 998, 7));
}

#[test]
fn the_operations_are_the_same_however_often_they_are_attempted() {
    let plain = execute(&load(simulated(Script::default()), 2, MS));
    let troubled = execute(&load(simulated(first_fail(5, error())), 2, MS));
    assert_eq!(plain.summary.digest, troubled.summary.digest);
    assert_eq!(plain.summary.attempted_again, 0);
}

/// One connection: the rests of four attempts are all that takes time, each up to a fifth longer or shorter than a second.
#[test]
fn the_connection_rests_before_each_attempt() {
    let plan = Plan { connections: 1, ..load(simulated(first_fail(4, error())), 4, S) };
    let elapsed_ns = execute(&plan).summary.elapsed_ns;
    assert!((3_200 * MS..4_900 * MS).contains(&elapsed_ns), "{elapsed_ns} ns");
    assert_eq!(execute(&plan).summary.elapsed_ns, elapsed_ns, "the same rests in every run");
}

/// The last operations of a load are attempted again as the first ones are.
#[test]
fn a_load_does_not_end_before_its_last_attempt() {
    let fault = Fault { when: When::AtRequest(999), kind: error() };
    let script = Script { faults: vec![fault], ..Script::default() };
    let outcome = execute(&Plan { connections: 1, ..load(simulated(script), 3, 100 * MS) });
    assert_eq!(sent_ok_failed(&outcome), (1_001, 1_000, 1));
}

#[test]
fn attempts_have_their_own_due_time_in_an_open_loop() {
    let base = load(simulated(first_fail(5, error())), 10, 20 * MS);
    let outcome = execute(&Plan { pacer: constant(1_000.0), connections: 10, ..base });
    assert_eq!((outcome.summary.due, outcome.summary.overdue), (1_005, 0));
    assert_eq!(sent_ok_failed(&outcome), (1_005, 1_000, 5));
    assert!(outcome.response.max() < 20 * MS, "the rest is not part of the response time");
}

#[test]
fn workers_of_a_load_with_loops_perform_each_of_them_to_its_end() {
    let tlr = PacerPlan::Tlr { loops: 500, ramp_up_ns: MS };
    let base = load(simulated(first_fail(5, error())), 10, MS);
    let outcome = execute(&Plan { pacer: tlr, operation_count: Some(1_000), ..base });
    assert_eq!((outcome.summary.due, outcome.summary.overdue), (1_005, 0));
    assert_eq!(sent_ok_failed(&outcome), (1_005, 1_000, 5));
}

/// Connections that break are made anew, and the attempt waits for that; without a reply the second finds the first's document.
#[test]
fn attempts_outlive_their_connection() {
    for kind in [FaultKind::Close, FaultKind::Garbage] {
        let server = Server::start(first_fail(3, kind.clone())).expect("a loopback port is free");
        let outcome = execute(&load(TargetPlan::wire(server.address()), 10, MS));
        assert_eq!(sent_ok_failed(&outcome), (1_003, 1_000, 3), "{kind:?}");
        assert_eq!(server.counts().opcounters.insert, 1_000, "{kind:?}");
    }
}

#[test]
fn a_run_that_ends_while_something_rests_does_not_wait_for_it() {
    let base = load(simulated(first_fail(1, error())), 1, 60 * S);
    let outcome = execute(&Plan { connections: 1, duration_ns: Some(S), ..base });
    assert_eq!(sent_ok_failed(&outcome), (1, 0, 1));
    assert_eq!(outcome.summary.elapsed_ns, S);
}

#[test]
fn a_batch_is_not_attempted_again() {
    let mut plan = load(TargetPlan::Null { beside_server: false }, 1, S);
    let Work::Load { batch_size, .. } = &mut plan.work else { unreachable!("it is a load") };
    *batch_size = 2;
    assert_eq!(plan.validate().expect_err("a batch").path, "work.insert_retries");
}
