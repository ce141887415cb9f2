//! Inserts of several documents amid other operations, against the scripted server, which knows what it holds.

use crate::common::{READS, execute, mix, plan, proportions, row};
use brimline_datagen::{ChooserSpec, DocumentSpec};
use brimline_engine::operation::Key;
use brimline_engine::plan::target::TargetPlan;
use brimline_engine::plan::{Plan, Work};
use brimline_engine::workload::Workload;
use brimline_testserver::{Script, Server};

const BATCH: u64 = 25;

fn server() -> Server {
    Server::start(Script::default()).expect("a loopback port is free")
}

fn loaded(server: &Server) -> Plan {
    let base = plan();
    let plan = Plan {
        target: TargetPlan::wire(server.address()),
        data: DocumentSpec { record_count: 100, ..base.data.clone() },
        duration_ns: None,
        connections: 4,
        threads: 2,
        ..base
    };
    let work =
        Work::Load { batch_size: 100, ordered: false, ranges: None, upsert: false, insert_retries: None };
    execute(&Plan { work, ..plan.clone() });
    plan
}

fn reads_and_inserts(keys: ChooserSpec) -> Work {
    let mut work = mix(&[("read", 0.5), ("insert", 0.5)], keys);
    let Work::Mix { insert_batch_size, .. } = &mut work else { unreachable!("it is a mix") };
    *insert_batch_size = BATCH as u32;
    work
}

#[test]
fn each_insert_brings_a_batch_of_new_records() {
    let server = server();
    let plan = Plan {
        work: reads_and_inserts(ChooserSpec::Uniform),
        operation_count: Some(2_000),
        ..loaded(&server)
    };
    let summary = execute(&plan).summary;
    let inserts = summary.kinds[row("insert")];
    assert_eq!((inserts.ok, inserts.failed), (inserts.sent, 0), "no record twice");
    assert_eq!(summary.inserts.inserted, inserts.sent * BATCH);
    let [_, acknowledged, ..] = summary.commands;
    assert_eq!(acknowledged, inserts.sent * BATCH);
    assert_eq!(server.counts().opcounters.insert, 100 + acknowledged);
    let again = execute(&Plan { seed: plan.seed, ..plan });
    assert_eq!(again.summary.inserts.failed, acknowledged, "the same records in a second run");
}

/// Records that were inserted are read, and none that is not there yet.
#[test]
fn the_newest_records_are_those_of_batches_that_are_acknowledged() {
    let server = server();
    let work = reads_and_inserts(ChooserSpec::Latest { theta: 0.99 });
    let summary = execute(&Plan { work, operation_count: Some(4_000), ..loaded(&server) }).summary;
    let reads = summary.kinds[row("read")];
    assert!(reads.sent > 1_500 && reads.miss == 0, "{reads:?}");
}

#[test]
fn the_newest_record_is_the_last_of_the_newest_batch() {
    let plan = Plan { work: reads_and_inserts(ChooserSpec::Latest { theta: 0.99 }), ..plan() };
    let workload = Workload::new(&plan, None).expect("the plan is valid");
    let newest = |inserts| workload.resolve(Key::BehindNewest(0), inserts);
    assert_eq!([0, 1, 3].map(newest), [999, 999 + BATCH, 999 + 3 * BATCH]);
}

#[test]
fn batches_that_would_do_nothing_or_go_to_several_servers_are_refused() {
    let work = reads_and_inserts(ChooserSpec::Uniform);
    let mut without = work.clone();
    let Work::Mix { proportions: shares, .. } = &mut without else { unreachable!("it is a mix") };
    *shares = proportions(READS);
    let mut sharded = TargetPlan::wire("127.0.0.1:1");
    let TargetPlan::Wire { shards, .. } = &mut sharded else { unreachable!("it is a server") };
    shards.push("127.0.0.1:2".to_owned());
    for plan in [Plan { work: without, ..plan() }, Plan { work, target: sharded, ..plan() }] {
        assert_eq!(plan.validate().expect_err("a batch").path, "work.insert_batch_size");
    }
}
