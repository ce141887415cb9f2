//! The same plan offers the same operations, on any number of threads.

use crate::common::{READS, constant, execute, mix, plan};
use brimline_datagen::ChooserSpec;
use brimline_engine::operation::OperationKind;
use brimline_engine::plan::{Plan, Proportions, Work};
use brimline_engine::preview::preview;

fn ycsb() -> [(&'static str, Work); 6] {
    let zipfian = ChooserSpec::Zipfian { theta: 0.99 };
    let latest = ChooserSpec::Latest { theta: 0.99 };
    [
        ("a", mix(Proportions { read: 0.5, update: 0.5, ..READS }, zipfian.clone())),
        ("b", mix(Proportions { read: 0.95, update: 0.05, ..READS }, zipfian.clone())),
        ("c", mix(READS, zipfian.clone())),
        ("d", mix(Proportions { read: 0.95, insert: 0.05, ..READS }, latest)),
        ("e", mix(Proportions { read: 0.0, scan: 0.95, insert: 0.05, ..READS }, zipfian.clone())),
        ("f", mix(Proportions { read: 0.5, read_modify_write: 0.5, ..READS }, zipfian)),
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
    assert_eq!(summary.kinds[OperationKind::Load.row()].ok, 143);
    assert_eq!(summary.commands.iter().sum::<u64>(), 1_000);
}

/// Whatever the number of threads: two reads, three updates and a commit each, and none that no transaction asked for.
#[test]
fn a_transaction_is_its_statements_and_a_commit() {
    for keys in [ChooserSpec::Uniform, ChooserSpec::Latest { theta: 0.99 }] {
        let proportions = Proportions { read: 0.25, insert: 0.25, transaction: 0.5, ..READS };
        let plan =
            Plan { work: mix(proportions, keys), operation_count: Some(4_000), duration_ns: None, ..plan() };
        let alone = execute(&plan).summary;
        let together = execute(&Plan { threads: 3, ..plan.clone() }).summary;
        assert_eq!((together.digest, &together.kinds), (alone.digest, &alone.kinds));
        let of = |kind: OperationKind| alone.kinds[kind.row()].ok;
        let (reads, transactions) = (of(OperationKind::Read), of(OperationKind::Transaction));
        assert!((1_800..2_200).contains(&transactions), "{transactions}");
        assert_eq!(reads + transactions + of(OperationKind::Insert), 4_000);
        let [query, _, update, _, commit, ..] = alone.commands;
        assert_eq!((query, update, commit), (reads + 2 * transactions, 3 * transactions, transactions));
    }
}

/// The records of a transaction are drawn apart from each other; a read and its update are of the same one.
#[test]
fn a_transaction_reads_what_it_updates() {
    let proportions = Proportions { read: 0.0, transaction: 1.0, ..READS };
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
