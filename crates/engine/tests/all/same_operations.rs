//! The same plan offers the same operations, on any number of threads and nodes.

use std::time::Duration;

use crate::common::{MS, Outcome, READS, S, constant, execute, merge, mix, plan, row, simulated};
use brimline_datagen::ChooserSpec;
use brimline_engine::clock::monotonic_ns;
use brimline_engine::histogram::{TimeHistogram, new_histogram};
use brimline_engine::plan::pacer::PacerPlan;
use brimline_engine::plan::{Plan, Share, Work};
use brimline_engine::preview::preview;
use brimline_engine::{Run, Stage, Surroundings};
use brimline_testserver::{Script, ServiceTime};

fn ycsb() -> [(&'static str, Work); 6] {
    let zipfian = ChooserSpec::Zipfian { theta: 0.99 };
    let latest = ChooserSpec::Latest { theta: 0.99 };
    [
        ("a", mix(&[("read", 0.5), ("update", 0.5)], zipfian.clone())),
        ("b", mix(&[("read", 0.95), ("update", 0.05)], zipfian.clone())),
        ("c", mix(READS, zipfian.clone())),
        ("d", mix(&[("read", 0.95), ("insert", 0.05)], latest)),
        ("e", mix(&[("scan", 0.95), ("insert", 0.05)], zipfian.clone())),
        ("f", mix(&[("read", 0.5), ("read_modify_write", 0.5)], zipfian)),
    ]
}

#[test]
fn threads_share_the_same_operations() {
    for (name, work) in ycsb() {
        let plan = Plan { work, operation_count: Some(20_001), duration_ns: None, ..plan() };
        let alone = execute(&plan).summary;
        for threads in [2, 3, 7] {
            let together = execute(&Plan { threads, ..plan.clone() }).summary;
            assert_eq!(together.digest, alone.digest, "workload {name} on {threads} threads");
            assert_eq!(together.kinds, alone.kinds, "workload {name} on {threads} threads");
        }
    }
}

#[test]
fn an_open_loop_offers_them_as_well() {
    let plan = Plan { pacer: constant(50_000.0), operation_count: Some(5_000), duration_ns: None, ..plan() };
    let alone = execute(&plan).summary;
    let together = execute(&Plan { threads: 2, ..plan }).summary;
    assert_eq!(together.digest, alone.digest);
    assert_eq!(together.due, 5_000);
}

#[test]
fn another_seed_offers_others() {
    let plan = Plan { operation_count: Some(1_000), duration_ns: None, ..plan() };
    let other = Plan { seed: 2, ..plan.clone() };
    assert_ne!(execute(&plan).summary.digest, execute(&other).summary.digest);
}

#[test]
fn a_load_inserts_each_record_once() {
    let mut plan = Plan {
        work: Work::Load { batch_size: 7, ordered: false, ranges: None, upsert: false, insert_retries: None },
        duration_ns: None,
        threads: 3,
        ..plan()
    };
    plan.data.record_count = 1_000;
    let summary = execute(&plan).summary;
    assert_eq!(summary.kinds[row("load")].ok, 143);
    assert_eq!(summary.commands.iter().sum::<u64>(), 1_000);
}

/// Whatever the number of threads: two reads, three updates and a commit each, and none that no transaction asked for.
#[test]
fn a_transaction_is_its_statements_and_a_commit() {
    for keys in [ChooserSpec::Uniform, ChooserSpec::Latest { theta: 0.99 }] {
        let proportions = &[("read", 0.25), ("insert", 0.25), ("transaction", 0.5)];
        let plan =
            Plan { work: mix(proportions, keys), operation_count: Some(4_000), duration_ns: None, ..plan() };
        let alone = execute(&plan).summary;
        let together = execute(&Plan { threads: 3, ..plan.clone() }).summary;
        assert_eq!((together.digest, &together.kinds), (alone.digest, &alone.kinds));
        let of = |name| alone.kinds[row(name)].ok;
        let (reads, transactions) = (of("read"), of("transaction"));
        assert!((1_800..2_200).contains(&transactions), "{transactions}");
        assert_eq!(reads + transactions + of("insert"), 4_000);
        let [query, _, update, _, commit, ..] = alone.commands;
        assert_eq!((query, update, commit), (reads + 2 * transactions, 3 * transactions, transactions));
    }
}

/// The records of a transaction are drawn apart from each other; a read and its update are of the same one.
#[test]
fn a_transaction_reads_what_it_updates() {
    let proportions = &[("transaction", 1.0)];
    let plan = Plan { work: mix(proportions, ChooserSpec::Uniform), operation_count: Some(1), ..plan() };
    for previewed in preview(&plan, 20).expect("a sound plan") {
        let keys: Vec<String> = previewed.messages.iter().filter_map(|message| key_of(message)).collect();
        assert_eq!(previewed.messages.len(), 6);
        assert_eq!(keys.len(), 5, "a commit has no key");
        assert_eq!((&keys[0], &keys[1]), (&keys[2], &keys[3]));
        assert!(keys[0] != keys[1] && keys[1] != keys[4] && keys[0] != keys[4], "{keys:?}");
    }
}

/// The key in a message: `user` and digits.
fn key_of(message: &[u8]) -> Option<String> {
    let from =
        message.windows(5).position(|bytes| bytes.starts_with(b"user") && bytes[4].is_ascii_digit())?;
    let key = message[from..].iter().take_while(|byte| byte.is_ascii_alphanumeric());
    Some(key.map(|&byte| char::from(byte)).collect())
}

/// What a seed offers is part of a run's identity: a change here makes old runs incomparable.
#[test]
fn the_operations_of_a_seed_never_change() {
    let digests = ycsb().map(|(_, work)| {
        execute(&Plan { work, operation_count: Some(5_000), duration_ns: None, ..plan() }).summary.digest
    });
    assert_eq!(digests, YCSB_DIGESTS);
}

/// Of the workloads A to F.
const YCSB_DIGESTS: [u64; 6] = [
    9_263_652_608_177_105_696,
    8_657_609_558_693_912_529,
    4_034_076_801_786_435_682,
    15_767_788_821_328_119_069,
    13_247_919_925_899_241_859,
    8_516_621_090_304_433_116,
];

/// The shares of `nodes` nodes, each run by an engine of its own.
fn shares(plan: &Plan, nodes: u32) -> Vec<Outcome> {
    (0..nodes).map(|node| execute(&Plan { share: Some(Share { node, nodes }), ..plan.clone() })).collect()
}

#[test]
fn nodes_share_the_same_operations() {
    for (name, work) in ycsb() {
        let plan = Plan { work, operation_count: Some(20_001), duration_ns: None, connections: 21, ..plan() };
        let alone = execute(&plan).summary;
        for (nodes, threads) in [(1, 1), (2, 1), (4, 1), (4, 3)] {
            let parts = shares(&Plan { threads, ..plan.clone() }, nodes);
            let digest = parts.iter().fold(0, |sum: u64, part| sum.wrapping_add(part.summary.digest));
            assert_eq!(digest, alone.digest, "workload {name} on {nodes} nodes of {threads} threads");
            assert_eq!(parts.iter().map(|part| part.summary.due).sum::<u64>(), 20_001);
        }
    }
}

/// On a server whose answers don't depend on who else asks, every histogram is the same bucket by bucket, and every cut is at the
/// same instants, so that intervals add up.
#[test]
fn nodes_measure_together_what_one_measures() {
    let script = Script { service: ServiceTime::Fixed { ns: MS }, ..Script::default() };
    let plan = Plan { target: simulated(script), pacer: constant(2_003.0), connections: 8, ..plan() };
    let plan = Plan { duration_ns: Some(3 * S), ..plan };
    let alone = execute(&plan);
    for nodes in [2, 4] {
        let parts = shares(&plan, nodes);
        let sum = |of: fn(&Outcome) -> &TimeHistogram| {
            parts.iter().fold(new_histogram(), |mut sum, part| {
                sum.add(of(part)).expect("histograms grow");
                sum
            })
        };
        assert_eq!(sum(|part| &part.service), alone.service);
        assert_eq!(sum(|part| &part.response), alone.response);
        assert_eq!(sum(|part| &part.lag), alone.lag);
        let cuts = |part: &Outcome| {
            part.intervals.iter().map(|each| (each.start_ns, each.end_ns)).collect::<Vec<_>>()
        };
        assert!(parts.iter().all(|part| cuts(part)[..3] == cuts(&alone)[..3]));
    }
}

/// Each node has its share of the connections and of the places in flight, and operations of an own load and one beside it.
#[test]
fn what_cant_be_shared_out_is_refused_by_name() {
    let share = Some(Share { node: 0, nodes: 4 });
    let of = |change: fn(&mut Plan)| {
        let mut plan = Plan { share, ..plan() };
        change(&mut plan);
        plan.validate().map_err(|error| error.path)
    };
    assert_eq!(of(|_| ()), Ok(()));
    assert_eq!(of(|plan| plan.share = Some(Share { node: 4, nodes: 4 })), Err("share.node".to_owned()));
    assert_eq!(of(|plan| plan.share = Some(Share { node: 0, nodes: 0 })), Err("share.nodes".to_owned()));
    assert_eq!(of(|plan| plan.connections = 3), Err("connections".to_owned()));
    assert_eq!(of(|plan| plan.in_flight_max = Some(3)), Err("in_flight_max".to_owned()));
    let uneven = of(|plan| {
        plan.pacer = PacerPlan::Tlr { loops: 2, ramp_up_ns: S };
        plan.operation_count = Some(20);
    });
    assert_eq!(uneven, Err("connections".to_owned()));
}

/// A run that is let go for an instant begins then, to the moment; one whose instant has passed makes up for it.
#[test]
fn a_run_begins_at_the_instant_that_it_was_told() {
    for ahead_ns in [200 * MS as i64, -200 * MS as i64] {
        let held = Plan { pacer: constant(100.0), duration_ns: Some(300 * MS), ..plan() };
        let run = Run::start_with(held, Surroundings { is_held: true, ..Surroundings::default() });
        let run = run.expect("the plan is valid");
        while run.poll(Duration::from_secs(1)).stage != Stage::Ready {}
        let start_ns = monotonic_ns().saturating_add_signed(ahead_ns);
        run.release_at(start_ns);
        while run.poll(Duration::from_secs(1)).stage != Stage::Finished {}
        let passed_ns = monotonic_ns() - start_ns;
        let outcome = merge(run.join().expect("there is a summary"), run.take_intervals());
        assert!(passed_ns >= outcome.summary.elapsed_ns && outcome.summary.elapsed_ns >= 290 * MS);
        assert_eq!(outcome.summary.due, 30);
        let lag_ns = outcome.lag.max();
        assert_eq!(lag_ns >= 199 * MS, ahead_ns < 0, "the first operation went out {lag_ns} ns late");
    }
}

/// A node reads no record as the newest that another node may still be inserting.
#[test]
fn the_newest_record_is_one_that_all_nodes_have_settled() {
    let work = mix(&[("read", 0.5), ("insert", 0.5)], ChooserSpec::Latest { theta: 0.99 });
    let plan = Plan {
        work,
        operation_count: Some(2_000),
        duration_ns: None,
        share: Some(Share { node: 1, nodes: 2 }),
        ..plan()
    };
    let run = Run::start_with(plan, Surroundings { is_held: true, ..Surroundings::default() })
        .expect("the plan is valid");
    run.release();
    while run.poll(Duration::from_secs(1)).stage != Stage::Finished {}
    let settled = run.poll(Duration::ZERO).inserts_settled;
    assert!(
        (900..=1_100).contains(&settled),
        "{settled} of about 1 000 inserts of both nodes lie before its last"
    );
}
