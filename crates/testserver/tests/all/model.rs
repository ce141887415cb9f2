//! The model on a virtual clock: every answer is known from queueing theory or by hand.

use brimline_testserver::{Fate, Fault, FaultKind, Script, ServiceModel, ServiceTime, Stall, When};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

fn fixed(ns: u64) -> Script {
    Script { service: ServiceTime::Fixed { ns }, ..Script::default() }
}

fn stalled(service_ns: u64, stalls: Vec<Stall>) -> ServiceModel {
    ServiceModel::new(&Script { stalls, ..fixed(service_ns) })
}

fn stall(at_ns: u64, length_ns: u64) -> Stall {
    Stall { at_ns, length_ns, every_ns: None, slowdown: None }
}

fn done(model: &mut ServiceModel, arrival_ns: u64) -> u64 {
    model.admit(arrival_ns).done_ns
}

/// Seeded arrivals of a Poisson process that do not come from the model's own generator.
struct Poisson {
    state: u64,
    rate_per_ns: f64,
    now_ns: f64,
}

impl Poisson {
    fn new(seed: u64, rate_per_s: f64) -> Self {
        Self { state: seed, rate_per_ns: rate_per_s / 1e9, now_ns: 0.0 }
    }

    fn next_ns(&mut self) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = ((self.state >> 33) as f64 + 0.5) / (1_u64 << 31) as f64;
        self.now_ns -= uniform.ln() / self.rate_per_ns;
        self.now_ns as u64
    }
}

#[test]
fn the_null_case_answers_at_once() {
    let mut model = ServiceModel::new(&Script::default());
    for arrival_ns in [5, 5, 6, 1_000_000] {
        let admission = model.admit(arrival_ns);
        assert_eq!((admission.done_ns, admission.fate), (arrival_ns, Fate::Served));
    }
    assert_eq!(model.requests(), 4);
}

#[test]
fn work_grows_with_the_hours_since_the_first_request() {
    let mut model = ServiceModel::new(&Script { service_growth_per_hour: 0.01, ..fixed(1_000_000) });
    for (after_s, work_ns) in [(0, 1_000_000), (3600, 1_010_000), (7200, 1_020_000), (360_000, 2_000_000)] {
        let arrival_ns = (77 + after_s) * SECOND;
        assert_eq!(done(&mut model, arrival_ns), arrival_ns + work_ns, "after {after_s} s");
    }
}

#[test]
fn a_fixed_service_time_is_exact_whatever_the_load() {
    let mut model = ServiceModel::new(&fixed(200_000));
    for request in 0..10_000 {
        let arrival_ns = 77 * SECOND + request * 100;
        assert_eq!(done(&mut model, arrival_ns), arrival_ns + 200_000);
    }
}

#[test]
fn an_hour_into_a_run_times_are_still_exact() {
    let mut model = stalled(200_001, vec![stall(SECOND, 7)]);
    done(&mut model, 0);
    assert_eq!(done(&mut model, 3600 * SECOND + 1), 3600 * SECOND + 200_002);
}

#[test]
fn servers_take_turns_in_the_order_of_arrival() {
    let mut model = ServiceModel::new(&Script { servers: Some(2), ..fixed(100) });
    let done: Vec<_> = [0, 0, 0, 0, 150, 1000].map(|arrival_ns| done(&mut model, arrival_ns)).into();
    assert_eq!(done, [100, 100, 200, 200, 300, 1100]);
}

#[test]
fn n_requests_need_exactly_n_over_c_of_a_gate() {
    for capacity in [3.0, 1000.0, 3000.0, 123_456.0] {
        let mut model =
            ServiceModel::new(&Script { capacity_ops_per_s: Some(capacity), ..Script::default() });
        for n in 1..=10_000_u64 {
            let expected_ns = (n as f64 * 1e9 / capacity).round() as u64;
            assert_eq!(done(&mut model, 0), expected_ns, "request {n} at {capacity}/s");
        }
    }
}

#[test]
fn an_idle_gate_saves_nothing_up() {
    let mut model = ServiceModel::new(&Script { capacity_ops_per_s: Some(1000.0), ..fixed(50) });
    assert_eq!(done(&mut model, 0), MS + 50);
    assert_eq!(done(&mut model, SECOND), SECOND + MS + 50);
    assert_eq!(done(&mut model, SECOND), SECOND + 2 * MS + 50);
}

#[test]
fn a_stall_pushes_completions_by_exactly_its_rest() {
    let mut model = stalled(100, vec![stall(1000, 500)]);
    assert_eq!(done(&mut model, 0), 100);
    assert_eq!(done(&mut model, 900), 1000, "done when the stall begins");
    assert_eq!(done(&mut model, 901), 1501, "one ns of work is left for after the stall");
    assert_eq!(done(&mut model, 1000), 1600);
    assert_eq!(done(&mut model, 1499), 1600);
    assert_eq!(done(&mut model, 1500), 1600);
    assert_eq!(done(&mut model, 1501), 1601);
}

#[test]
fn a_request_that_needs_no_work_still_waits_for_the_end_of_a_stall() {
    let mut model = stalled(0, vec![stall(1000, 500)]);
    let done: Vec<_> = [0, 999, 1000, 1200, 1499, 1500].map(|arrival_ns| done(&mut model, arrival_ns)).into();
    assert_eq!(done, [0, 999, 1500, 1500, 1500, 1500]);
}

#[test]
fn the_clock_of_stalls_starts_with_the_first_request() {
    let mut model = stalled(0, vec![stall(1000, 500)]);
    assert_eq!(done(&mut model, 1200), 1200);
    assert_eq!(done(&mut model, 2200), 2700);
}

#[test]
fn a_request_from_the_past_counts_as_arriving_with_the_latest() {
    let mut model = stalled(10, vec![stall(1000, 500)]);
    assert_eq!(done(&mut model, 50), 60);
    assert_eq!(done(&mut model, 2050), 2060);
    assert_eq!(done(&mut model, 1050), 2060);
    assert_eq!(done(&mut model, 0), 2060);
}

#[test]
fn stalls_repeat_and_are_seen_far_ahead() {
    let every = Stall { every_ns: Some(1_000_000), ..stall(250_000, 500_000) };
    let mut model = stalled(5_000_000, vec![every]);
    // Work is done in 0 to 0.25 ms, 0.75 to 1.25 ms, 1.75 to 2.25 ms …: half a millisecond per period.
    assert_eq!(done(&mut model, 0), 10_000_000);
}

#[test]
fn a_slowdown_stretches_the_work_that_falls_into_it() {
    let slow = Stall { slowdown: Some(4.0), ..stall(1000, 1000) };
    let mut model = stalled(100, vec![slow]);
    assert_eq!(done(&mut model, 0), 100);
    assert_eq!(done(&mut model, 950), 1200, "50 before it, 50 that take 200");
    assert_eq!(done(&mut model, 1200), 1600);
    assert_eq!(done(&mut model, 1900), 2075, "25 in it, 75 after it");
    assert_eq!(done(&mut model, 2000), 2100);
}

#[test]
fn where_stalls_overlap_the_slowest_holds() {
    let slow = Stall { slowdown: Some(2.0), ..stall(0, 1000) };
    let mut model = stalled(300, vec![slow, stall(400, 200)]);
    assert_eq!(done(&mut model, 0), 400 + 200 + 200);
}

#[test]
fn a_stall_holds_the_gate_and_the_queue_too() {
    let script = Script {
        capacity_ops_per_s: Some(1e6),
        servers: Some(1),
        stalls: vec![stall(2000, 10_000)],
        ..fixed(1000)
    };
    let mut model = ServiceModel::new(&script);
    let done: Vec<_> = (0..4).map(|_| done(&mut model, 0)).collect();
    assert_eq!(done, [2000, 13_000, 14_000, 15_000]);
}

#[test]
fn one_exponential_server_is_the_m_m_1_queue() {
    let (arrival_rate, service_rate) = (700.0, 1000.0);
    let script = Script {
        seed: 3,
        service: ServiceTime::Exponential { mean_ns: (1e9 / service_rate) as u64 },
        servers: Some(1),
        ..Script::default()
    };
    let mut model = ServiceModel::new(&script);
    let mut arrivals = Poisson::new(1, arrival_rate);
    let count = 1_000_000;
    let total_ns: u64 = (0..count)
        .map(|_| {
            let arrival_ns = arrivals.next_ns();
            done(&mut model, arrival_ns) - arrival_ns
        })
        .sum();
    let mean_s = total_ns as f64 / f64::from(count) / 1e9;
    let expected_s = 1.0 / (service_rate - arrival_rate);
    assert!((mean_s / expected_s - 1.0).abs() < 0.03, "mean response {mean_s} s, expected {expected_s} s");
}

#[test]
fn mean_in_flight_is_throughput_times_mean_response() {
    let script = Script {
        seed: 5,
        service: ServiceTime::Lognormal { mean_ns: 2 * MS, sigma: 1.0 },
        servers: Some(4),
        stalls: vec![Stall { every_ns: Some(SECOND), ..stall(SECOND / 2, 100 * MS) }],
        ..Script::default()
    };
    let mut model = ServiceModel::new(&script);
    let mut arrivals = Poisson::new(2, 1200.0);
    let count = 60_000;
    let spans: Vec<(u64, u64)> = (0..count)
        .map(|_| {
            let arrival_ns = arrivals.next_ns();
            (arrival_ns, done(&mut model, arrival_ns))
        })
        .collect();
    // The left side looks at the number in the system at fixed moments, the right side at requests.
    let end_ns = spans.iter().map(|span| span.1).max().unwrap();
    let (mut starts, mut ends): (Vec<_>, Vec<_>) = spans.iter().copied().unzip();
    starts.sort_unstable();
    ends.sort_unstable();
    let looks = 20_000;
    let seen: usize = (0..looks)
        .map(|look| {
            let now_ns = end_ns / looks * look;
            starts.partition_point(|&at| at <= now_ns) - ends.partition_point(|&at| at <= now_ns)
        })
        .sum();
    let mean_in_flight = seen as f64 / looks as f64;
    let throughput_per_ns = f64::from(count) / end_ns as f64;
    let mean_response_ns =
        spans.iter().map(|(arrival, done)| done - arrival).sum::<u64>() as f64 / f64::from(count);
    let expected = throughput_per_ns * mean_response_ns;
    assert!(
        (mean_in_flight / expected - 1.0).abs() < 0.01,
        "{mean_in_flight} in flight, expected {expected}"
    );
}

#[test]
fn random_service_times_have_the_mean_the_script_names() {
    for service in [
        ServiceTime::Exponential { mean_ns: 300_000 },
        ServiceTime::Lognormal { mean_ns: 300_000, sigma: 0.8 },
    ] {
        let mut model = ServiceModel::new(&Script { seed: 11, service, ..Script::default() });
        let count = 200_000;
        let total_ns: u64 = (0..count).map(|_| done(&mut model, 0)).sum();
        let mean_ns = total_ns as f64 / f64::from(count);
        assert!((mean_ns / 300_000.0 - 1.0).abs() < 0.01, "{service:?}: mean {mean_ns} ns");
    }
}

#[test]
fn the_logarithm_of_a_lognormal_service_time_has_its_sigma() {
    let service = ServiceTime::Lognormal { mean_ns: 10 * MS, sigma: 0.5 };
    let mut model = ServiceModel::new(&Script { seed: 12, service, ..Script::default() });
    let logs: Vec<f64> = (0..100_000).map(|_| (done(&mut model, 0) as f64).ln()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / logs.len() as f64;
    assert!((variance.sqrt() - 0.5).abs() < 0.005, "sigma {}", variance.sqrt());
    let below = logs.iter().filter(|&&log| log < mean + 0.5 * 1.644_853_6).count();
    assert!((below as f64 / logs.len() as f64 - 0.95).abs() < 0.003, "{below} below the 95th percentile");
}

fn fates(script: &Script, count: u64) -> Vec<Fate> {
    let mut model = ServiceModel::new(script);
    (0..count).map(|arrival_ns| model.admit(arrival_ns).fate).collect()
}

fn fault(when: When) -> Fault {
    Fault { when, kind: FaultKind::NoDocument }
}

#[test]
fn a_share_of_faults_is_that_share() {
    let script = Script { seed: 9, faults: vec![fault(When::Share(0.01))], ..Script::default() };
    let faulty = fates(&script, 1_000_000).iter().filter(|&&fate| fate != Fate::Served).count();
    // Binomial with standard deviation 99.5.
    assert!((9_600..=10_400).contains(&faulty), "{faulty} of a million");
}

#[test]
fn faults_at_a_number_and_of_the_first_n_are_exact_and_the_first_match_decides() {
    let faults = vec![fault(When::AtRequest(1)), fault(When::FirstN(3)), fault(When::AtRequest(7))];
    let fates = fates(&Script { faults, ..Script::default() }, 9);
    let by = |fault| Fate::Faulty { fault };
    let served = Fate::Served;
    assert_eq!(fates, [by(1), by(0), by(1), served, served, served, served, by(2), served]);
}

#[test]
fn shares_of_zero_and_one_are_never_and_always() {
    let with_share = |share| Script { faults: vec![fault(When::Share(share))], ..Script::default() };
    assert!(fates(&with_share(0.0), 10_000).iter().all(|&fate| fate == Fate::Served));
    assert!(fates(&with_share(1.0), 10_000).iter().all(|&fate| fate == Fate::Faulty { fault: 0 }));
}

#[test]
fn a_script_is_played_the_same_way_again_and_another_seed_differs() {
    let script = |seed| Script {
        seed,
        service: ServiceTime::Exponential { mean_ns: MS },
        faults: vec![fault(When::Share(0.5))],
        ..Script::default()
    };
    let play = |seed| {
        let mut model = ServiceModel::new(&script(seed));
        (0..1000).map(|request| model.admit(request * 1000)).collect::<Vec<_>>()
    };
    assert_eq!(play(1), play(1));
    assert_ne!(play(1), play(2));
}

#[test]
fn no_request_is_done_before_it_arrives_and_one_queue_keeps_its_order() {
    let script = Script {
        seed: 4,
        service: ServiceTime::Exponential { mean_ns: 300_000 },
        servers: Some(1),
        capacity_ops_per_s: Some(2500.0),
        stalls: vec![
            Stall { every_ns: Some(10 * MS), ..stall(3 * MS, MS) },
            Stall { every_ns: Some(7 * MS), slowdown: Some(3.7), ..stall(MS, 2 * MS) },
        ],
        ..Script::default()
    };
    let mut model = ServiceModel::new(&script);
    let mut arrivals = Poisson::new(8, 1500.0);
    let mut before_ns = 0;
    for _ in 0..100_000 {
        let arrival_ns = arrivals.next_ns();
        let done_ns = done(&mut model, arrival_ns);
        assert!(done_ns >= arrival_ns && done_ns >= before_ns);
        before_ns = done_ns;
    }
}
