//! Loads against the scripted server: what becomes of each document is known, also where only some of a batch are refused.

use crate::common::{Outcome, S, execute, plan, row};
use brimline_datagen::DocumentSpec;
use brimline_engine::plan::target::TargetPlan;
use brimline_engine::plan::{Plan, RecordRange, Work};
use brimline_engine::totals::InsertTotals;
use brimline_testserver::{Fault, FaultKind, Script, Server, When};

/// Loads records `first .. first + count` in batches of 1000 over two connections and threads.
fn load(server: &Server, first: u64, count: u64, ordered: bool) -> Outcome {
    let base = plan();
    execute(&Plan {
        target: TargetPlan::wire(server.address()),
        data: DocumentSpec { insert_start: first, record_count: count, ..base.data.clone() },
        work: Work::Load { batch_size: 1_000, ordered, ranges: None, upsert: false, insert_retries: None },
        duration_ns: None,
        operation_timeout_ns: S / 2,
        connections: 2,
        threads: 2,
        ..base
    })
}

fn faulty(kind: FaultKind) -> Server {
    let faults = vec![Fault { when: When::FirstN(1), kind }];
    Server::start(Script { faults, ..Script::default() }).expect("a loopback port is free")
}

/// Documents of the samples, which progress bars and rates are made of.
fn documents_of_samples(outcome: &Outcome) -> u64 {
    let tallies = outcome.intervals.iter().flat_map(|interval| &interval.tallies.kinds);
    tallies.map(|(_, _, tally)| tally.counts.documents).sum()
}

/// Code and count of each kind of refused document.
fn refused(outcome: &Outcome) -> Vec<(i32, u64)> {
    outcome.summary.document_failures.iter().map(|entry| (entry.first.code, entry.count)).collect()
}

/// Failed commands and all commands.
fn commands(outcome: &Outcome) -> (u64, u64) {
    let totals = outcome.summary.kinds[row("load")];
    (totals.failed, totals.sent)
}

#[test]
fn a_batch_with_three_refused_documents_inserts_the_others() {
    let server = faulty(FaultKind::WriteError { code: 121, statements: 3 });
    let outcome = load(&server, 0, 5_000, false);
    let expected = InsertTotals { sent: 5_000, inserted: 4_997, failed: 3, skipped: 0, unknown: 0 };
    assert_eq!(outcome.summary.inserts, expected);
    assert_eq!(refused(&outcome), [(121, 3)]);
    assert_eq!(commands(&outcome), (1, 5), "commands are counted apart from documents");
    assert_eq!(documents_of_samples(&outcome), 4_997);
    let [_, acknowledged, ..] = outcome.summary.commands;
    let [_, uncertain, ..] = outcome.summary.commands_uncertain;
    assert_eq!((acknowledged, uncertain), (4_997, 3));
    assert_eq!(server.counts().opcounters.insert, 5_000, "this server counts what it tried");
}

#[test]
fn an_ordered_batch_stops_at_its_first_refused_document() {
    let server = Server::start(Script::default()).expect("a loopback port is free");
    load(&server, 500, 1, true);
    let outcome = load(&server, 0, 1_000, true);
    let expected = InsertTotals { sent: 1_000, inserted: 500, failed: 1, skipped: 499, unknown: 0 };
    assert_eq!(outcome.summary.inserts, expected);
    assert_eq!(refused(&outcome), [(11_000, 1)]);
    assert_eq!(documents_of_samples(&outcome), 500);
}

#[test]
fn refused_documents_are_told_apart_by_code() {
    // The first document of each of the first two commands fails: of 501 and 502 only 502 is there beforehand.
    let faults =
        vec![Fault { when: When::FirstN(2), kind: FaultKind::WriteError { code: 121, statements: 1 } }];
    let server = Server::start(Script { faults, ..Script::default() }).expect("a loopback port is free");
    load(&server, 501, 2, false);
    let outcome = load(&server, 0, 1_000, false);
    let mut codes = refused(&outcome);
    codes.sort_unstable();
    assert_eq!(codes, [(121, 1), (11_000, 1)]);
    assert_eq!(outcome.summary.inserts.inserted, 998);
    assert_eq!(commands(&outcome), (1, 1));
}

#[test]
fn documents_without_the_write_concern_asked_for_are_inserted_all_the_same() {
    let server = faulty(FaultKind::WriteConcernError { code: 64, name: "WriteConcernFailed".to_owned() });
    let outcome = load(&server, 0, 2_000, false);
    let expected = InsertTotals { sent: 2_000, inserted: 2_000, failed: 0, skipped: 0, unknown: 0 };
    assert_eq!(outcome.summary.inserts, expected);
    assert_eq!((commands(&outcome), refused(&outcome)), ((1, 2), Vec::new()));
}

/// An answer that speaks of no document, and no answer at all: nobody knows how many are there.
#[test]
fn documents_of_a_command_that_failed_as_a_whole_are_unknown() {
    let error = FaultKind::Error { code: 91, name: "ShutdownInProgress".to_owned(), label: None };
    for kind in [error, FaultKind::Close, FaultKind::Silence, FaultKind::Garbage] {
        let outcome = load(&faulty(kind.clone()), 0, 3_000, false);
        let expected = InsertTotals { sent: 3_000, inserted: 2_000, failed: 0, skipped: 0, unknown: 1_000 };
        assert_eq!(outcome.summary.inserts, expected, "{kind:?}");
        assert_eq!(commands(&outcome), (1, 3), "{kind:?}");
    }
}

/// The holes that an interrupted load left are filled: each missing record once, no other, whatever the threads.
#[test]
fn a_load_of_ranges_inserts_their_records_and_no_others() {
    let server = Server::start(Script::default()).expect("a loopback port is free");
    for (first, count) in [(0, 1_500), (2_000, 1), (2_500, 500)] {
        load(&server, first, count, false);
    }
    let base = plan();
    let holes = vec![RecordRange { first: 1_500, count: 500 }, RecordRange { first: 2_001, count: 499 }];
    let resumed = Plan {
        target: TargetPlan::wire(server.address()),
        data: DocumentSpec { record_count: 3_000, ..base.data.clone() },
        work: Work::Load {
            batch_size: 200,
            ordered: false,
            ranges: Some(holes),
            upsert: false,
            insert_retries: None,
        },
        duration_ns: None,
        connections: 2,
        threads: 2,
        ..base
    };
    let outcome = execute(&resumed);
    let expected = InsertTotals { sent: 999, inserted: 999, failed: 0, skipped: 0, unknown: 0 };
    assert_eq!(outcome.summary.inserts, expected);
    assert_eq!(commands(&outcome), (0, 6));
    let whole = load(&server, 0, 3_000, false);
    assert_eq!(whole.summary.inserts.failed, 3_000, "every record is there, so each is a duplicate now");
}

#[test]
fn ranges_that_overlap_or_leave_the_data_are_refused() {
    let range = |first, count| RecordRange { first, count };
    for ranges in [
        vec![],
        vec![range(0, 0)],
        vec![range(0, 10), range(9, 1)],
        vec![range(10, 1), range(0, 1)],
        vec![range(999, 2)],
        vec![range(u64::MAX, 1)],
    ] {
        let work = Work::Load {
            batch_size: 100,
            ordered: false,
            ranges: Some(ranges.clone()),
            upsert: false,
            insert_retries: None,
        };
        let error = Plan { work, ..plan() }.validate().expect_err("ranges out of bounds");
        assert_eq!(error.path, "work.ranges", "{ranges:?}");
    }
}
