//! Known answers of the load models, on a virtual clock: what each offers, when, and what it makes of a server.

use crate::common::{MS, Outcome, S, constant, execute, mix, plan, row, simulated};
use brimline_datagen::ChooserSpec;
use brimline_engine::plan::Plan;
use brimline_engine::plan::pacer::{Arrivals, PacerPlan, Stage, ThinkLaw, ThinkTime};
use brimline_testserver::{Fault, FaultKind, Script, ServiceTime, When};

fn answers_after(ns: u64) -> Script {
    Script { service: ServiceTime::Fixed { ns }, ..Script::default() }
}

fn thinking(mean_ns: u64, law: ThinkLaw) -> PacerPlan {
    PacerPlan::Closed { think_time: Some(ThinkTime { mean_ns, law }), follows_replies: false }
}

fn tlr(workers: u32, loops: u64, ramp_up_ns: u64) -> Plan {
    Plan {
        pacer: PacerPlan::Tlr { loops, ramp_up_ns },
        connections: workers,
        operation_count: Some(u64::from(workers) * loops),
        duration_ns: None,
        ..plan()
    }
}

fn sent(outcome: &Outcome) -> u64 {
    outcome.summary.kinds.iter().map(|totals| totals.sent).sum()
}

/// The interactive response time law: throughput = workers / (service + think).
#[test]
fn think_time_lowers_the_load_as_the_response_time_law_says() {
    for law in [ThinkLaw::Constant, ThinkLaw::Exponential] {
        let outcome = execute(&Plan {
            target: simulated(answers_after(5 * MS)),
            pacer: thinking(45 * MS, law),
            connections: 20,
            duration_ns: Some(50 * S),
            ..plan()
        });
        let throughput = sent(&outcome) as f64 / 50.0;
        assert!((throughput / 400.0 - 1.0).abs() < 0.02, "{throughput} ops/s with {law:?} think times");
        assert_eq!((outcome.response.len(), outcome.lag.len()), (0, 0));
    }
}

/// 10 workers over 10 s, each 30 operations of 0.1 s: worker k is at work from k s to k + 3 s.
#[test]
fn workers_of_a_ramp_up_start_evenly_perform_their_loops_and_leave() {
    let outcome =
        execute(&Plan { target: simulated(answers_after(100 * MS)), interval_ns: S, ..tlr(10, 30, 10 * S) });
    assert_eq!(sent(&outcome), 300);
    let by_second: Vec<u64> = outcome
        .intervals
        .iter()
        .take(12)
        .map(|interval| interval.tallies.kinds.iter().map(|(_, _, tally)| tally.counts.sent).sum())
        .collect();
    // The engine's own microsecond per operation moves the last one of each second.
    let expected = [10, 20, 30, 30, 30, 30, 30, 30, 30, 30, 20, 10];
    for (second, (sent, expected)) in by_second.iter().zip(expected).enumerate() {
        assert!(
            sent.abs_diff(expected) <= 3,
            "{sent} and not {expected} sent in second {second}: {by_second:?}"
        );
    }
    let active: Vec<u64> = outcome.intervals.iter().map(|interval| interval.users_active).collect();
    // At the end of each second; a worker begins at that very instant.
    assert_eq!(active[..4], [2, 3, 4, 4]);
    assert!(outcome.summary.elapsed_ns.abs_diff(12 * S) < 10 * MS, "{} ns", outcome.summary.elapsed_ns);
}

/// The run ends after 2 s of 12: the two workers that have begun have sent 30 of the 300 operations that were planned.
#[test]
fn loops_that_no_worker_came_to_are_overdue() {
    let plan = Plan { duration_ns: Some(2 * S), ..tlr(10, 30, 10 * S) };
    let outcome = execute(&Plan { target: simulated(answers_after(100 * MS)), ..plan });
    assert_eq!(outcome.summary.due, 300);
    assert_eq!(outcome.summary.overdue, 300 - sent(&outcome));
    assert!((28..=32).contains(&sent(&outcome)), "{} sent", sent(&outcome));
}

/// Were a failed operation no loop, the first worker would use up those of the second before it begins.
#[test]
fn workers_that_fail_leave_the_loops_of_others_alone() {
    for kind in [FaultKind::Close, FaultKind::NoDocument] {
        let script = Script { faults: vec![Fault { when: When::Share(1.0), kind }], ..answers_after(MS) };
        let outcome = execute(&Plan { target: simulated(script), ..tlr(2, 10, 10 * S) });
        assert_eq!(sent(&outcome), 20);
        assert!(outcome.summary.elapsed_ns > 5 * S, "the second worker begins after 5 s");
    }
}

#[test]
fn a_failed_operation_is_one_of_its_workers_loops() {
    for kind in
        [FaultKind::Close, FaultKind::Error { code: 50, name: "MaxTimeMSExpired".to_owned(), label: None }]
    {
        let fault = Fault { when: When::Share(0.05), kind };
        let script = Script { faults: vec![fault], ..answers_after(MS) };
        let outcome = execute(&Plan { target: simulated(script), ..tlr(8, 100, S) });
        assert_eq!((sent(&outcome), outcome.summary.due), (800, 800));
        assert!(outcome.summary.kinds[row("read")].failed > 10);
    }
}

#[test]
fn the_threads_of_a_ramp_up_share_its_workers_evenly() {
    let proportions = &[("insert", 0.3), ("read", 0.7)];
    let work = mix(proportions, ChooserSpec::Uniform);
    let alone = execute(&Plan { work: work.clone(), ..tlr(12, 50, S / 10) }).summary;
    for threads in [2, 3, 5, 7] {
        let together = execute(&Plan { threads, work: work.clone(), ..tlr(12, 50, S / 10) }).summary;
        assert_eq!((together.digest, &together.kinds), (alone.digest, &alone.kinds), "{threads} threads");
    }
}

/// M/M/1 at 80 % load: mean response = 1 / (µ − λ) = 5 ms. Evenly spaced arrivals would wait half as long.
#[test]
fn poisson_arrivals_meet_queueing_theory() {
    let script =
        Script { service: ServiceTime::Exponential { mean_ns: MS }, servers: Some(1), ..Script::default() };
    let outcome = execute(&Plan {
        target: simulated(script),
        pacer: PacerPlan::Poisson { rate_ops_per_s: 800.0 },
        connections: 1_000,
        duration_ns: Some(800 * S),
        interval_ns: 10 * S,
        ..plan()
    });
    let mean_ms = outcome.response.mean() / MS as f64;
    assert!((mean_ms / 5.0 - 1.0).abs() < 0.06, "mean response {mean_ms} ms");
}

/// 0 to 1 000/s in 10 s, a second's pause, 500/s for 2 s: 5 000 + 0 + 1 000.
#[test]
fn stages_offer_what_they_say() {
    let stage = |from_ops_per_s, to_ops_per_s, seconds| Stage {
        from_ops_per_s,
        to_ops_per_s,
        duration_ns: seconds * S,
    };
    let stages = vec![stage(0.0, 1_000.0, 10), stage(0.0, 0.0, 1), stage(500.0, 500.0, 2)];
    for threads in [1, 3] {
        let outcome = execute(&Plan {
            target: simulated(answers_after(MS)),
            pacer: PacerPlan::Stages { arrivals: Arrivals::Even, stages: stages.clone() },
            connections: 50,
            threads,
            duration_ns: Some(13 * S),
            ..plan()
        });
        assert_eq!((outcome.summary.due, sent(&outcome)), (6_000, 6_000));
        let by_second: Vec<u64> = outcome
            .intervals
            .iter()
            .take(13)
            .map(|interval| interval.tallies.kinds.iter().map(|(_, _, tally)| tally.counts.sent).sum())
            .collect();
        assert_eq!(by_second, [50, 150, 250, 350, 450, 550, 650, 750, 850, 950, 0, 500, 500]);
    }
}

#[test]
fn every_open_loop_offers_the_same_on_any_number_of_threads() {
    let stage = Stage { from_ops_per_s: 10_000.0, to_ops_per_s: 60_000.0, duration_ns: S / 5 };
    for pacer in [
        PacerPlan::Poisson { rate_ops_per_s: 40_000.0 },
        PacerPlan::Stages { arrivals: Arrivals::Even, stages: vec![stage] },
        PacerPlan::Stages { arrivals: Arrivals::Poisson, stages: vec![stage] },
    ] {
        // Bounded by count, so that a worker that is late at the end leaves nothing overdue.
        let plan = Plan { pacer: pacer.clone(), operation_count: Some(5_000), duration_ns: None, ..plan() };
        let alone = execute(&plan).summary;
        for threads in [2, 5] {
            let together = execute(&Plan { threads, ..plan.clone() }).summary;
            assert_eq!(
                (together.due, together.digest),
                (alone.due, alone.digest),
                "{pacer:?} on {threads} threads"
            );
        }
    }
}

/// 64 connections with 8 operations in flight: a server that takes 10 ms gets 800/s of the 1 000/s. The rest waits, which
/// is lag, and 2 000 operations are never sent, which is overdue.
#[test]
fn what_the_bound_in_flight_holds_back_is_lag_and_overdue() {
    let outcome = execute(&Plan {
        target: simulated(answers_after(10 * MS)),
        pacer: constant(1_000.0),
        connections: 64,
        in_flight_max: Some(8),
        duration_ns: Some(10 * S),
        ..plan()
    });
    assert_eq!(outcome.summary.due, 10_000);
    assert!((1_980..=2_020).contains(&outcome.summary.overdue), "{} overdue", outcome.summary.overdue);
    assert!(
        outcome.intervals.iter().all(|interval| interval.in_flight <= 8 && interval.connections_up == 64)
    );
    let lag_max_s = outcome.lag.max() as f64 / S as f64;
    assert!((1.9..=2.1).contains(&lag_max_s), "the last one sent waited {lag_max_s} s");
    assert!(outcome.service.max() < 11 * MS);
}

#[test]
fn a_closed_loop_keeps_to_the_bound_in_flight() {
    let outcome = execute(&Plan {
        target: simulated(answers_after(MS)),
        connections: 20,
        in_flight_max: Some(4),
        duration_ns: Some(5 * S),
        ..plan()
    });
    let throughput = sent(&outcome) as f64 / 5.0;
    assert!((throughput / 4_000.0 - 1.0).abs() < 0.02, "{throughput} ops/s");
}

/// 6 workers share 2 connections to a server that takes 10 ms. Each operation waits 20 ms for a connection, so that a worker has its
/// answer after 30 ms. The wait is the pool's, so all of it is told apart as held back. Workers that think 20 ms longer wait less:
/// 6 workers / 200 ops/s are 30 ms of service, wait and thought.
#[test]
fn workers_that_share_fewer_connections_wait_for_a_free_one() {
    for (think_ns, wait_ns) in [(0, 20 * MS), (15 * MS, 5 * MS)] {
        let outcome = execute(&Plan {
            target: simulated(answers_after(10 * MS)),
            pacer: match think_ns {
                0 => PacerPlan::Closed { think_time: None, follows_replies: false },
                _ => thinking(think_ns, ThinkLaw::Constant),
            },
            connections: 2,
            in_flight_max: Some(6),
            duration_ns: Some(30 * S),
            ..plan()
        });
        let throughput = sent(&outcome) as f64 / 30.0;
        assert!((throughput / 200.0 - 1.0).abs() < 0.01, "{throughput} ops/s");
        let near = |value: u64, wanted: u64| (value as f64 / wanted as f64 - 1.0).abs() < 0.02;
        assert!(near(outcome.service.max(), 10 * MS), "service {}", outcome.service.max());
        assert!(
            near(outcome.lag.value_at_quantile(0.5), wait_ns),
            "wait {}",
            outcome.lag.value_at_quantile(0.5)
        );
        let response_ns = outcome.response.value_at_quantile(0.5);
        assert!(near(response_ns, 10 * MS + wait_ns), "response {response_ns}");
        let held_back: u64 = outcome
            .intervals
            .iter()
            .flat_map(|interval| &interval.tallies.kinds)
            .map(|(_, _, tally)| tally.counts.held_back)
            .sum();
        assert_eq!(held_back, sent(&outcome) - 2, "all but the first two waited, the others from the start");
        assert_eq!(outcome.summary.overdue, 0);
        assert!(
            outcome.intervals.iter().all(|interval| interval.in_flight <= 2 && interval.users_active == 6)
        );
    }
}

/// T-L-R over a pool: 10 workers start over 1 s and perform 5 operations of 0.1 s each, on 2 connections: 50 operations
/// in 2.6 s, because the first worker is alone for 0.1 s.
#[test]
fn workers_of_a_ramp_up_share_a_pool_and_leave_when_their_loops_are_done() {
    for threads in [1, 2] {
        let outcome = execute(&Plan {
            target: simulated(answers_after(100 * MS)),
            connections: 2,
            in_flight_max: Some(10),
            operation_count: Some(50),
            threads,
            ..tlr(10, 5, S)
        });
        assert_eq!((sent(&outcome), outcome.summary.due, outcome.summary.overdue), (50, 50, 0));
        let took_s = outcome.summary.elapsed_ns as f64 / S as f64;
        assert!((took_s / 2.6 - 1.0).abs() < 0.02, "{took_s} s");
    }
}

/// Connections that break take their operation along; the worker asks again, and none is lost from the pool.
#[test]
fn a_pool_keeps_its_workers_when_connections_break() {
    let breaks = Fault { when: When::Share(0.02), kind: FaultKind::Close };
    let outcome = execute(&Plan {
        target: simulated(Script { faults: vec![breaks], ..answers_after(MS) }),
        connections: 2,
        in_flight_max: Some(6),
        duration_ns: Some(5 * S),
        ..plan()
    });
    let failed: u64 = outcome.summary.kinds.iter().map(|totals| totals.failed).sum();
    assert!(failed > 50, "{failed} failed");
    let last = outcome.intervals.iter().rfind(|interval| interval.users_active > 0);
    assert_eq!(last.map(|interval| interval.users_active), Some(6));
}

#[test]
fn plans_out_of_bounds_are_refused() {
    let refused = |plan: Plan| plan.validate().expect_err("out of bounds").path;
    for rate in [0.0, -1.0, 1e12, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(Plan { pacer: constant(rate), ..plan() }), "pacer.rate_ops_per_s");
        assert_eq!(
            refused(Plan { pacer: PacerPlan::Poisson { rate_ops_per_s: rate }, ..plan() }),
            "pacer.rate_ops_per_s"
        );
    }
    let stages = |stages| PacerPlan::Stages { arrivals: Arrivals::Even, stages };
    let pause = Stage { from_ops_per_s: 0.0, to_ops_per_s: 0.0, duration_ns: S };
    assert_eq!(refused(Plan { pacer: stages(vec![]), ..plan() }), "pacer.stages");
    assert_eq!(refused(Plan { pacer: stages(vec![pause]), ..plan() }), "pacer.stages");
    assert_eq!(
        refused(Plan { pacer: stages(vec![Stage { to_ops_per_s: -1.0, ..pause }]), ..plan() }),
        "pacer.stages.0.to_ops_per_s"
    );
    assert_eq!(refused(Plan { ..tlr(8, 100, 0) }), "pacer.ramp_up_ns");
    assert_eq!(refused(Plan { ..tlr(8, 0, S) }), "pacer.loops");
    assert_eq!(refused(Plan { operation_count: Some(799), ..tlr(8, 100, S) }), "operation_count");
    let long = thinking(S, ThinkLaw::Constant);
    assert_eq!(refused(Plan { pacer: long, ..plan() }), "pacer.think_time.mean_ns");
    assert_eq!(refused(Plan { in_flight_max: Some(0), ..plan() }), "in_flight_max");
    let open = Plan { pacer: constant(100.0), in_flight_max: Some(11), ..plan() };
    assert_eq!(refused(open), "in_flight_max", "in an open loop what waits for a connection waits anyway");
}
