//! The wire target against the scripted server: real sockets, real time, known answers. Margins are wide, because a busy
//! machine may be late; the exact twins of these tests are in `truth.rs`.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use crate::common::{MS, Outcome, S, constant, execute, merge, plan, proportions, row};
use brimline_datagen::{ChooserSpec, DocumentSpec, InsertOrder, LengthSpec, Values};
use brimline_engine::failure::FailureClass;
use brimline_engine::plan::target::TargetPlan;
use brimline_engine::plan::{Plan, Work};
use brimline_engine::{EndedBy, Run, RunError, Stage, Surroundings};
use brimline_testserver::{Data, Fault, FaultKind, Script, Server, ServiceTime, Stall, When};

fn wire(address: &impl ToString) -> TargetPlan {
    TargetPlan::wire(address.to_string())
}

/// A server that has every document, so that nothing need be loaded.
fn serve(script: Script) -> Server {
    Server::start(Script { data: Data::Synthetic { document_bytes: 1_000 }, ..script })
        .expect("a loopback port is free")
}

fn reads(outcome: &Outcome) -> brimline_engine::totals::Totals {
    outcome.summary.kinds[row("read")]
}

#[test]
fn both_sides_count_the_same_commands() {
    let server = Server::start(Script::default()).expect("a loopback port is free");
    let load = Plan {
        target: wire(&server.address()),
        work: Work::Load {
            batch_size: 100,
            ordered: false,
            ranges: None,
            upsert: false,
            insert_retries: None,
        },
        duration_ns: None,
        threads: 2,
        ..plan()
    };
    execute(&load);
    assert_eq!(server.counts().opcounters.insert, 1_000);

    let proportions =
        &[("read", 0.3), ("update", 0.2), ("insert", 0.1), ("scan", 0.2), ("read_modify_write", 0.2)];
    let mixed = Plan {
        target: wire(&server.address()),
        work: crate::common::mix(proportions, ChooserSpec::Uniform),
        operation_count: Some(5_000),
        duration_ns: None,
        threads: 2,
        ..plan()
    };
    let before = server.counts().opcounters;
    let outcome = execute(&mixed);
    let after = server.counts().opcounters;
    let [query, insert, update, getmore, ..] = outcome.summary.commands;
    assert_eq!(after.query - before.query, query);
    assert_eq!(after.insert - before.insert, insert);
    assert_eq!(after.update - before.update, update);
    assert_eq!(after.getmore - before.getmore, getmore);
    let kinds = outcome.summary.kinds;
    assert!(kinds.iter().all(|totals| totals.failed + totals.miss + totals.unfinished == 0), "{kinds:?}");
    assert_eq!(update, kinds[1].ok + kinds[4].ok, "a read-modify-write updates once");
    assert_eq!(query, kinds[0].ok + kinds[3].ok + kinds[4].ok);
    let connects = outcome.summary.connects;
    assert_eq!(connects.count, u64::from(mixed.connections));
    assert!((1..=connects.max_ns).contains(&connects.mean_ns()), "{connects:?}");
}

/// The server at `address` and further ones among which the generator shares out the records.
fn sharded(address: &SocketAddr, further: impl IntoIterator<Item = SocketAddr>) -> TargetPlan {
    let mut target = wire(address);
    if let TargetPlan::Wire { shards, .. } = &mut target {
        *shards = further.into_iter().map(|address| address.to_string()).collect();
    }
    target
}

/// The generator shares out the records: each server has its own and no others, and is asked for no others.
#[test]
fn client_routed_shards_have_their_records_and_no_others() {
    let servers = [(); 3].map(|()| Server::start(Script::default()).expect("a loopback port is free"));
    let shards = |count: usize| sharded(&servers[0].address(), servers[1..count].iter().map(Server::address));
    let data = DocumentSpec { insert_start: 5, record_count: 1_000, ..plan().data };
    let load = Plan {
        target: shards(3),
        data: data.clone(),
        work: Work::Load {
            batch_size: 100,
            ordered: false,
            ranges: None,
            upsert: false,
            insert_retries: None,
        },
        duration_ns: None,
        connections: 3,
        threads: 2,
        ..plan()
    };
    let loaded = execute(&load).summary;
    assert_eq!(loaded.inserts.inserted, 1_000);
    assert_eq!(loaded.servers.iter().map(|each| each.commands[1]).collect::<Vec<_>>(), [333, 333, 334]);
    assert_eq!(loaded.kinds[row("load")].ok, 12, "334, 333 and 333 documents by 100");
    let inserted = || servers.each_ref().map(|server| server.counts().opcounters.insert);
    assert_eq!(inserted(), [333, 333, 334], "records 5 to 1004, by their remainder");
    let again = execute(&Plan { target: shards(3), ..load.clone() }).summary;
    assert_eq!(again.inserts.failed, 1_000, "a record is where it was");
    assert_eq!(
        again.servers.iter().map(|each| each.commands_uncertain[1]).collect::<Vec<_>>(),
        [333, 333, 334]
    );

    let proportions = &[("read", 0.4), ("update", 0.3), ("insert", 0.1), ("read_modify_write", 0.2)];
    let mixed = Plan {
        work: crate::common::mix(proportions, ChooserSpec::Latest { theta: 0.99 }),
        operation_count: Some(3_000),
        ..load.clone()
    };
    let counted = || {
        servers.each_ref().map(|server| {
            let counts = server.counts().opcounters;
            [counts.query, counts.insert, counts.update]
        })
    };
    let before = counted();
    let outcome = execute(&mixed);
    for ((before, after), sent) in before.into_iter().zip(counted()).zip(&outcome.summary.servers) {
        let grown: Vec<u64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
        assert_eq!(grown, sent.commands[..3], "each server counts what went to it");
    }
    let kinds = outcome.summary.kinds;
    assert!(kinds.iter().all(|totals| totals.failed + totals.miss + totals.unfinished == 0), "{kinds:?}");
    assert!(kinds.iter().map(|totals| totals.ok).sum::<u64>() == 3_000, "{kinds:?}");
    assert!(servers.iter().all(|server| server.counts().opcounters.query > 100), "each takes its part");

    let elsewhere = Plan { target: shards(2), ..mixed.clone() };
    let misses: u64 = execute(&elsewhere).summary.kinds.iter().map(|totals| totals.miss).sum();
    assert!(misses > 0, "what was shared out among three is not found among two");

    let scans = &[("scan", 0.5)];
    let refused = Plan { work: crate::common::mix(scans, ChooserSpec::Uniform), ..mixed }.validate();
    assert_eq!(refused.expect_err("scans have no shard").path, "target.shards");
}

/// One of them that is not there makes the whole unreachable, and one that goes away ends what was under way at it.
#[test]
fn a_missing_shard_is_told() {
    let server = serve(Script::default());
    let gone =
        TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port");
    let target = sharded(&server.address(), [gone]);
    let run = Run::start(Plan { target, connect_timeout_ns: S / 2, ..plan() }).expect("a sound plan");
    assert!(matches!(run.join(), Err(RunError::Target(_))));
}

/// 40 documents of 1 MB don't fit one reply of 16 MB: the scan goes on until all of them are there.
#[test]
fn a_long_scan_is_drained() {
    let server = Server::start(Script::default()).expect("a loopback port is free");
    let mut large = Plan { target: wire(&server.address()), duration_ns: None, connections: 2, ..plan() };
    large.data = DocumentSpec {
        record_count: 48,
        field_length: LengthSpec::Constant { length: 100_000 },
        insert_order: InsertOrder::Ordered,
        zero_padding: 4,
        template: None,
        values: Values::Random,
        ..large.data
    };
    execute(&Plan {
        work: Work::Load { batch_size: 8, ordered: false, ranges: None, upsert: false, insert_retries: None },
        ..large.clone()
    });
    let outcome = execute(&Plan {
        work: Work::Mix {
            proportions: proportions(&[("scan", 1.0)]),
            keys: ChooserSpec::Sequential,
            scan_length: LengthSpec::Constant { length: 40 },
            read_all_fields: true,
            name_read_fields: false,
            upsert: false,
            insert_batch_size: 1,
            verify_reads: false,
            write_all_fields: false,
            transaction: None,
        },
        operation_count: Some(5),
        ..large
    });
    let [query, _, _, getmore, ..] = outcome.summary.commands;
    assert_eq!((query, getmore), (5, 10));
    let tallies = outcome.intervals.iter().flat_map(|interval| &interval.tallies.kinds);
    assert_eq!(tallies.map(|(_, _, tally)| tally.counts.documents).sum::<u64>(), 200);
}

#[test]
fn a_stall_shows_in_response_time_in_real_time() {
    let stall = Stall { at_ns: S, length_ns: S, every_ns: None, slowdown: None };
    let script =
        Script { service: ServiceTime::Fixed { ns: MS / 5 }, stalls: vec![stall], ..Script::default() };
    let server = serve(script);
    let outcome = execute(&Plan {
        target: wire(&server.address()),
        pacer: constant(1_000.0),
        duration_ns: Some(4 * S),
        ..plan()
    });
    // A quarter of the operations is due in the stall: their response times spread evenly over 1 s.
    let response_p99_ms = outcome.response.value_at_quantile(0.99) / MS;
    assert!((800..=1_300).contains(&response_p99_ms), "response p99 {response_p99_ms} ms");
    // Only the ten in flight are slow to a tool that looks at service time.
    let slow = outcome.service.len() - outcome.service.count_between(0, 700 * MS);
    assert!(slow <= 10, "{slow} operations had a slow service time");
}

/// Operations are due 1 ms apart and answered within 0.1 ms: replies lie for most of that time, and are timed all the same.
#[test]
fn replies_that_lie_until_the_next_operation_is_due_are_timed_by_their_arrival() {
    let server = serve(Script { service: ServiceTime::Fixed { ns: MS / 10 }, ..Script::default() });
    let outcome = execute(&Plan { target: wire(&server.address()), pacer: constant(1_000.0), ..plan() });
    let median_ns = outcome.service.value_at_quantile(0.5);
    assert!((MS / 10..MS / 2).contains(&median_ns), "{median_ns} ns");
}

/// What waited for a connection is told apart: a stall of 200 ms, two connections, everything else on time.
#[test]
fn the_lag_of_what_waited_for_a_connection_is_told_apart() {
    let stall = Stall { at_ns: 300 * MS, length_ns: 200 * MS, every_ns: None, slowdown: None };
    let server = serve(Script { stalls: vec![stall], ..Script::default() });
    let target = wire(&server.address());
    let outcome = execute(&Plan { target, pacer: constant(1_000.0), connections: 2, ..plan() });
    let tallies = outcome.intervals.iter().flat_map(|interval| &interval.tallies.kinds);
    let (mut held_back, mut waits, mut longest_ns) = (0, 0, 0);
    for (_, _, tally) in tallies {
        held_back += tally.counts.held_back;
        for (_, lags) in tally.breakdown.iter().filter(|(name, _)| name == "held_back_lag") {
            let lags = lags.unpack();
            waits += lags.len();
            longest_ns = longest_ns.max(lags.max());
        }
    }
    assert_eq!(waits, held_back);
    assert!(held_back > 100 && longest_ns > 100 * MS, "{held_back} held back, {longest_ns} ns");
}

#[test]
fn throughput_times_service_time_is_at_most_the_number_of_connections() {
    let script = Script { service: ServiceTime::Fixed { ns: 2 * MS }, ..Script::default() };
    let server = serve(script);
    let outcome = execute(&Plan {
        target: wire(&server.address()),
        connections: 16,
        duration_ns: Some(2 * S),
        ..plan()
    });
    let window_s = outcome.summary.elapsed_ns as f64 / S as f64;
    let in_flight = outcome.service.len() as f64 / window_s * outcome.service.mean() / S as f64;
    // What is missing is the time a reply waits for the generator to wake up and send the next request.
    assert!((12.8..=16.02).contains(&in_flight), "{in_flight} in flight on 16 connections");
    // Other programs make most of them later on a busy machine, and none of them shorter.
    let tenth_ns = outcome.service.value_at_quantile(0.1);
    assert!(
        (2 * MS..3 * MS).contains(&tenth_ns),
        "a tenth of the service times is at most {tenth_ns} ns, not 2 ms"
    );
}

fn faulty(when: When, kind: FaultKind) -> (Outcome, u64) {
    let server = serve(Script { faults: vec![Fault { when, kind }], ..Script::default() });
    let outcome = execute(&Plan {
        target: wire(&server.address()),
        operation_count: Some(20_000),
        duration_ns: None,
        operation_timeout_ns: S / 2,
        ..plan()
    });
    let faults = server.counts().faults[0];
    (outcome, faults)
}

#[test]
fn exactly_the_failed_replies_are_failures() {
    let label = Some("RetryableWriteError".to_owned());
    let kind = FaultKind::Error { code: 50, name: "MaxTimeMSExpired".to_owned(), label };
    let (outcome, faults) = faulty(When::Share(0.01), kind);
    assert!(faults > 100, "{faults} faults in 20 000 replies at a share of 1 %");
    assert_eq!((reads(&outcome).failed, reads(&outcome).ok), (faults, 20_000 - faults));
    let [failure] = outcome.summary.failures.as_slice() else { panic!("one class of failure") };
    assert_eq!((failure.count, failure.first.code), (faults, 50));
    assert_eq!(failure.first.label, "MaxTimeMSExpired (RetryableWriteError)");
}

#[test]
fn exactly_the_empty_replies_are_misses() {
    let (outcome, faults) = faulty(When::Share(0.01), FaultKind::NoDocument);
    assert!(faults > 100, "{faults} faults");
    assert_eq!((reads(&outcome).miss, reads(&outcome).failed), (faults, 0));
}

/// Each broken connection costs one operation and is replaced; the run goes on.
#[test]
fn broken_connections_are_replaced() {
    for (kind, class) in [
        (FaultKind::Close, FailureClass::ConnectionLost),
        (FaultKind::Garbage, FailureClass::BadReply),
        (FaultKind::WrongLength, FailureClass::BadReply),
        (FaultKind::Silence, FailureClass::Timeout),
    ] {
        let (outcome, faults) = faulty(When::FirstN(3), kind.clone());
        assert_eq!((faults, reads(&outcome).failed), (3, 3), "{kind:?}");
        assert_eq!(reads(&outcome).ok, 19_997, "{kind:?}");
        assert!(outcome.summary.failures.iter().all(|failure| failure.first.class == class), "{kind:?}");
        assert_eq!(outcome.summary.ended_by, EndedBy::Completed);
    }
}

#[test]
fn a_port_where_nobody_listens_is_unreachable() {
    let port =
        TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
    let unreachable =
        Plan { target: wire(&format!("127.0.0.1:{port}")), connect_timeout_ns: S / 2, ..plan() };
    let run = Run::start(unreachable).expect("the plan is valid");
    let Err(RunError::Target(reason)) = run.join() else { panic!("nobody listens") };
    assert!(reason.contains("refused"), "{reason}");
}

#[test]
fn a_server_that_never_greets_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let silent = Plan { target: wire(&address), connect_timeout_ns: S / 2, ..plan() };
    let Err(RunError::Target(reason)) = Run::start(silent).expect("the plan is valid").join() else {
        panic!("nobody answers")
    };
    assert!(reason.contains("0 of 10 connections"), "{reason}");
}

#[test]
fn a_server_that_dies_ends_the_run_and_what_was_measured_stays() {
    let server = serve(Script { service: ServiceTime::Fixed { ns: MS }, ..Script::default() });
    let endless = Plan {
        target: wire(&server.address()),
        duration_ns: Some(60 * S),
        connect_timeout_ns: S / 2,
        ..plan()
    };
    let run = Run::start(endless).expect("the plan is valid");
    while run.poll(Duration::from_millis(20)).ok < 1_000 {}
    server.stop().expect("the server stops");
    let mut intervals = Vec::new();
    while run.poll(Duration::from_secs(1)).stage != Stage::Finished {
        intervals.extend(run.take_intervals());
    }
    intervals.extend(run.take_intervals());
    let outcome = merge(run.join().expect("there is a summary"), intervals);
    crate::common::assert_conserved(&outcome);
    assert!(matches!(outcome.summary.ended_by, EndedBy::TargetLost(_)), "{:?}", outcome.summary.ended_by);
    assert!(reads(&outcome).ok >= 1_000);
    assert!(
        outcome.summary.failures.iter().all(|failure| failure.first.class == FailureClass::ConnectionLost)
    );
}

#[test]
fn stop_drains_and_abort_does_not() {
    let server = serve(Script { service: ServiceTime::Fixed { ns: 300 * MS }, ..Script::default() });
    for aborts in [false, true] {
        let endless = Plan { target: wire(&server.address()), duration_ns: Some(60 * S), ..plan() };
        let run = Run::start(endless).expect("the plan is valid");
        while run.poll(Duration::from_millis(10)).in_flight < 10 {}
        if aborts {
            run.abort();
        } else {
            run.stop();
        }
        while run.poll(Duration::from_secs(1)).stage != Stage::Finished {}
        let outcome = merge(run.join().expect("there is a summary"), run.take_intervals());
        crate::common::assert_conserved(&outcome);
        let expected = if aborts { (EndedBy::Aborted, 10) } else { (EndedBy::Stopped, 0) };
        assert_eq!((outcome.summary.ended_by.clone(), reads(&outcome).unfinished), expected);
    }
}

#[test]
fn a_held_run_sends_nothing_before_it_is_let_go_and_nothing_at_all_where_it_is_ended() {
    let server = serve(Script::default());
    for ends in [false, true] {
        let held = Plan { target: wire(&server.address()), operation_count: Some(100), ..plan() };
        let surroundings = Surroundings { is_held: true, ..Surroundings::default() };
        let run = Run::start_with(held, surroundings).expect("the plan is valid");
        while run.poll(Duration::from_secs(1)).stage != Stage::Ready {}
        let progress = run.poll(Duration::from_secs(1));
        assert_eq!((progress.sent, progress.connections_up), (0, 10));
        if ends {
            run.stop();
        } else {
            run.release();
        }
        while run.poll(Duration::from_secs(1)).stage != Stage::Finished {}
        let outcome = merge(run.join().expect("there is a summary"), run.take_intervals());
        let expected = if ends { (EndedBy::Stopped, 0) } else { (EndedBy::Completed, 100) };
        assert_eq!((outcome.summary.ended_by.clone(), reads(&outcome).ok), expected);
    }
}
