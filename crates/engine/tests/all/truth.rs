//! Known answers on a virtual clock: each fails if the engine misreports what a scripted server did.

use crate::common::{MS, Outcome, S, constant, execute, mix, plan, row, simulated};
use brimline_datagen::ChooserSpec;
use brimline_engine::failure::FailureClass;
use brimline_engine::finished::Phase;
use brimline_engine::plan::Plan;
use brimline_testserver::{Fault, FaultKind, Script, ServiceTime, Stall, When};

fn fixed(ns: u64) -> ServiceTime {
    ServiceTime::Fixed { ns }
}

fn quantile_ms(histogram: &hdrhistogram::Histogram<u64>, quantile: f64) -> f64 {
    histogram.value_at_quantile(quantile) as f64 / MS as f64
}

fn once(at_ns: u64, length_ns: u64) -> Stall {
    Stall { at_ns, length_ns, every_ns: None, slowdown: None }
}

/// 1 kHz on 10 connections, 0.2 ms service, one stall of 1 s in 10 s. Of the 10 000 operations the 1 000 due during the
/// stall wait for its end, evenly between 1 s and 0: the slowest hundredth waits 0.9 s or more. A tool with coordinated
/// omission reports 0.2 ms, because only the ten operations in flight are slow to it.
#[test]
fn a_stall_shows_in_response_time_and_not_in_service_time() {
    let script = Script { service: fixed(MS / 5), stalls: vec![once(4 * S, S)], ..Script::default() };
    let outcome = execute(&Plan {
        target: simulated(script),
        pacer: constant(1_000.0),
        duration_ns: Some(10 * S),
        ..plan()
    });
    let response_p99_ms = quantile_ms(&outcome.response, 0.99);
    assert!((840.0..=960.0).contains(&response_p99_ms), "response p99 {response_p99_ms} ms");
    let service_p99_ms = quantile_ms(&outcome.service, 0.99);
    assert!(service_p99_ms < 2.0, "service p99 {service_p99_ms} ms");
    let slow = outcome.service.len() - outcome.service.count_between(0, 10 * MS);
    assert_eq!(slow, 10, "operations in flight when the stall began");
    let held_back: u64 = outcome
        .intervals
        .iter()
        .flat_map(|interval| &interval.tallies.kinds)
        .map(|(_, _, t)| t.counts.held_back)
        .sum();
    // Ten connections serve 50 000/s, so the 990 that waited are caught up within 20 ms, in which about 20 more come.
    assert!((1_000..=1_020).contains(&held_back), "{held_back} operations were held back");
    assert_eq!(outcome.summary.overdue, 0);
}

#[test]
fn an_interval_in_a_stall_shows_the_backlog() {
    let script = Script { service: fixed(MS / 5), stalls: vec![once(4 * S, S)], ..Script::default() };
    let outcome = execute(&Plan {
        target: simulated(script),
        pacer: constant(1_000.0),
        duration_ns: Some(10 * S),
        interval_ns: S / 2,
        ..plan()
    });
    let backlogs: Vec<u64> = outcome.intervals.iter().map(|interval| interval.backlog).collect();
    assert_eq!(backlogs[..8], [0; 8]);
    assert!((485..=495).contains(&backlogs[8]), "{backlogs:?}");
}

#[test]
fn a_closed_loop_measures_service_time_only() {
    let script = Script { service: fixed(MS), ..Script::default() };
    let outcome = execute(&Plan { target: simulated(script), ..plan() });
    assert_eq!((outcome.response.len(), outcome.lag.len()), (0, 0));
    let p50_ms = quantile_ms(&outcome.service, 0.5);
    assert!((0.999..=1.011).contains(&p50_ms), "service p50 {p50_ms} ms");
}

/// Little's law, with the mean number in flight counted from outside: a closed loop keeps every connection busy.
#[test]
fn throughput_times_service_time_is_the_number_in_flight() {
    let script = Script {
        service: ServiceTime::Lognormal { mean_ns: 2 * MS, sigma: 1.0 },
        servers: Some(4),
        ..Script::default()
    };
    let outcome =
        execute(&Plan { target: simulated(script), connections: 16, duration_ns: Some(20 * S), ..plan() });
    let finished = outcome.service.len() as f64;
    let in_flight = finished / 20.0 * outcome.service.mean() / S as f64;
    assert!((in_flight / 16.0 - 1.0).abs() < 0.02, "{in_flight} in flight on 16 connections");
}

/// M/M/1 with evenly spaced arrivals is D/M/1: mean response = 1 / (µ (1 − σ)), σ the root of σ = exp(−µ (1 − σ) / λ).
#[test]
fn an_open_loop_meets_queueing_theory() {
    let script =
        Script { service: ServiceTime::Exponential { mean_ns: MS }, servers: Some(1), ..Script::default() };
    let outcome = execute(&Plan {
        target: simulated(script),
        pacer: constant(800.0),
        connections: 1_000,
        duration_ns: Some(400 * S),
        interval_ns: 10 * S,
        ..plan()
    });
    let mut sigma: f64 = 0.5;
    for _ in 0..200 {
        sigma = (-(1.0 - sigma) / 0.8).exp();
    }
    let expected_ms = 1.0 / (1.0 - sigma);
    let mean_ms = outcome.response.mean() / MS as f64;
    assert!(
        (mean_ms / expected_ms - 1.0).abs() < 0.03,
        "mean response {mean_ms} ms, expected {expected_ms} ms"
    );
}

#[test]
fn a_hard_capacity_caps_a_closed_loop() {
    let script = Script { service: fixed(MS / 2), capacity_ops_per_s: Some(5_000.0), ..Script::default() };
    let outcome =
        execute(&Plan { target: simulated(script), connections: 32, duration_ns: Some(4 * S), ..plan() });
    let throughput = outcome.service.len() as f64 / 4.0;
    assert!((throughput / 5_000.0 - 1.0).abs() < 0.005, "{throughput} ops/s");
}

/// Offered 6 000/s for 10 s at a capacity of 5 000/s: 10 000 operations can't have been sent, but for those in flight.
#[test]
fn what_the_bound_holds_back_is_overdue() {
    let script = Script { service: fixed(MS), capacity_ops_per_s: Some(5_000.0), ..Script::default() };
    let outcome = execute(&Plan {
        target: simulated(script),
        pacer: constant(6_000.0),
        connections: 16,
        duration_ns: Some(10 * S),
        ..plan()
    });
    assert_eq!(outcome.summary.due, 60_000);
    let overdue = outcome.summary.overdue;
    assert!((9_950..=10_000).contains(&overdue), "{overdue} overdue");
    let age_s = outcome.summary.oldest_overdue_ns as f64 / S as f64;
    assert!((age_s - overdue as f64 / 6_000.0).abs() < 0.01, "the oldest overdue operation is {age_s} s old");
}

fn failing(kind: FaultKind) -> Outcome {
    let fault = Fault { when: When::Share(0.01), kind };
    let script = Script { service: fixed(MS / 10), faults: vec![fault], ..Script::default() };
    execute(&Plan { target: simulated(script), operation_count: Some(50_000), duration_ns: None, ..plan() })
}

#[test]
fn failures_are_counted_by_code() {
    let outcome = failing(FaultKind::Error { code: 50, name: "MaxTimeMSExpired".to_owned(), label: None });
    let reads = outcome.summary.kinds[row("read")];
    assert!((400..=600).contains(&reads.failed), "{} failures at a share of 1 %", reads.failed);
    assert_eq!((reads.ok, reads.miss, reads.unfinished), (50_000 - reads.failed, 0, 0));
    let [failure] = outcome.summary.failures.as_slice() else { panic!("one class of failure") };
    assert_eq!((failure.count, failure.first.code), (reads.failed, 50));
    assert_eq!(
        (failure.first.class, failure.first.label.as_str()),
        (FailureClass::ServerError, "MaxTimeMSExpired")
    );
}

#[test]
fn a_reply_without_a_document_is_a_miss() {
    let outcome = failing(FaultKind::NoDocument);
    let reads = outcome.summary.kinds[row("read")];
    assert!((400..=600).contains(&reads.miss), "{} misses at a share of 1 %", reads.miss);
    assert_eq!((reads.ok, reads.failed), (50_000 - reads.miss, 0));
    assert!(outcome.summary.failures.is_empty());
}

#[test]
fn a_server_that_falls_silent_times_out() {
    let fault = Fault { when: When::AtRequest(100), kind: FaultKind::Silence };
    let script = Script { service: fixed(MS), faults: vec![fault], ..Script::default() };
    let outcome = execute(&Plan {
        target: simulated(script),
        duration_ns: Some(3 * S),
        operation_timeout_ns: S,
        ..plan()
    });
    let [failure] = outcome.summary.failures.as_slice() else { panic!("one failure") };
    assert_eq!((failure.count, failure.first.class), (1, FailureClass::Timeout));
    assert_eq!(outcome.summary.commands_uncertain.iter().sum::<u64>(), 1);
}

#[test]
fn an_operation_without_a_reply_at_the_end_is_unfinished_with_its_age() {
    let fault = Fault { when: When::AtRequest(0), kind: FaultKind::Silence };
    let script = Script { service: fixed(MS), faults: vec![fault], ..Script::default() };
    let outcome = execute(&Plan { target: simulated(script), drain_timeout_ns: S, ..plan() });
    assert_eq!(outcome.summary.kinds[row("read")].unfinished, 1);
    let age_s = outcome.summary.oldest_unfinished_ns as f64 / S as f64;
    assert!((age_s - 2.0).abs() < 0.05, "{age_s} s");
}

/// Operations due in the measured window count there even when they end after it: their lateness is the news.
#[test]
fn an_operation_belongs_to_the_phase_it_was_due_in() {
    let script = Script { service: fixed(MS), stalls: vec![once(S + S / 2, S)], ..Script::default() };
    let outcome = execute(&Plan {
        target: simulated(script),
        pacer: constant(100.0),
        connections: 200,
        warmup_ns: S,
        duration_ns: Some(S),
        ..plan()
    });
    let mut finished = [0; 2];
    for (phase, _, tally) in outcome.intervals.iter().flat_map(|interval| &interval.tallies.kinds) {
        finished[*phase as usize] += tally.counts.finished();
    }
    assert_eq!(finished, [100, 100]);
    assert!(quantile_ms(&outcome.response, 1.0) > 950.0);
}

/// 500 operations at 500/s are offered for 1 s; the 30 ms until the last is answered are drain, on any end but the clock.
#[test]
fn a_run_bounded_by_count_ends_its_window_with_its_offer() {
    let script = Script { service: fixed(30 * MS), ..Script::default() };
    let outcome = execute(&Plan {
        target: simulated(script),
        pacer: constant(500.0),
        connections: 50,
        operation_count: Some(500),
        duration_ns: None,
        ..plan()
    });
    let ends: Vec<(Phase, u64)> =
        outcome.intervals.iter().map(|interval| (interval.phase, interval.end_ns / MS)).collect();
    assert_eq!(ends, [(Phase::Measure, 998), (Phase::Drain, 1_000), (Phase::Drain, 1_028)]);
    assert_eq!((outcome.summary.due, outcome.summary.overdue), (500, 0));
}

/// `latest` reads only records whose insert was acknowledged: nothing is missed, however many inserts are in flight.
#[test]
fn the_newest_record_is_one_that_exists() {
    let proportions = &[("insert", 0.5), ("read", 0.5)];
    let script = Script { service: ServiceTime::Lognormal { mean_ns: MS, sigma: 1.5 }, ..Script::default() };
    let outcome = execute(&Plan {
        target: simulated(script),
        work: mix(proportions, ChooserSpec::Latest { theta: 0.99 }),
        operation_count: Some(20_000),
        duration_ns: None,
        ..plan()
    });
    let inserts = outcome.summary.kinds[row("insert")];
    assert!((9_500..=10_500).contains(&inserts.ok));
    assert_eq!(inserts.ok + outcome.summary.kinds[row("read")].ok, 20_000);
}
