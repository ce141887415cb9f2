//! The path of an operation allocates nothing: ten times as many operations take as many allocations. Every thread of this
//! process is counted, so that the scripted server has one of its own.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "all/common/mod.rs"]
mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use brimline_datagen::ChooserSpec;
use brimline_engine::plan::Plan;
use brimline_engine::plan::pacer::PacerPlan;
use brimline_engine::plan::target::TargetPlan;
use brimline_engine::{EndedBy, Run};
use brimline_testserver::{Data, Script, Server};
use common::{S, constant, mix, plan};

const FEW: u64 = 2_000;
/// What a run of more operations may allocate besides: the record of its interval grows with the longest time in it, and
/// one whose last operation ends after the offer has a row more. An allocation of every hundredth operation would be 180.
const ALLOCATIONS_MORE_MAX: u64 = 120;
/// The line by which the server's process says where it listens.
const LISTENS_AT: &str = "listens at ";

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, and how often all threads have asked it for memory.
struct Counting;

// SAFETY: every call is the system allocator's; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The scripted server in a process of its own, which ends with this value.
struct ServerProcess {
    process: Child,
    /// Kept open: the test of the other process writes how it ended.
    _output: BufReader<ChildStdout>,
    address: String,
}

impl ServerProcess {
    fn start() -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "serves_another_process", "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut lines = output.by_ref().lines().map_while(Result::ok);
        let address = lines.find_map(|line| Some(line.split_once(LISTENS_AT)?.1.to_owned())).unwrap();
        Self { process, _output: output, address }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().unwrap();
    }
}

#[test]
#[ignore = "the server of the other test, which starts it"]
fn serves_another_process() {
    // Every document is there and none is kept, so that nothing need be loaded.
    let script = Script { data: Data::Synthetic { document_bytes: 1_000 }, ..Script::default() };
    let server = Server::start(script).unwrap();
    println!("{LISTENS_AT}{}", server.address());
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    server.stop().unwrap();
}

/// How often a run of `operations` allocates, from its start to its end, in one interval.
fn allocations(plan: &Plan, operations: u64) -> u64 {
    let plan =
        Plan { operation_count: Some(operations), duration_ns: None, interval_ns: 3_600 * S, ..plan.clone() };
    let before = ALLOCATIONS.load(Relaxed);
    let summary = Run::start(plan).unwrap().join().unwrap();
    let allocations = ALLOCATIONS.load(Relaxed) - before;
    assert_eq!(summary.ended_by, EndedBy::Completed);
    assert!(summary.kinds.iter().map(|totals| totals.ok).sum::<u64>() >= operations);
    allocations
}

/// Steps with values of every usual kind, a document of the collection's shape, and a load beside. Nobody answers: a server would
/// have to know the commands.
fn require_steps_to_allocate_as_often() {
    let mut work = common::own::work();
    let steps = work["operations"][1]["steps"].as_array_mut().unwrap();
    steps.truncate(2); // the third uses what a reply brought
    let work = serde_json::from_value(work).unwrap();
    let plan = Plan { work, connections: 1, ..plan() };
    let (few, many) = (allocations(&plan, FEW), allocations(&plan, 10 * FEW));
    assert!(few > 0 && many <= few + ALLOCATIONS_MORE_MAX, "{few} and {many} allocations");
}

#[test]
fn ten_times_as_many_operations_allocate_as_often() {
    // One after the other: what is counted is the process's.
    require_steps_to_allocate_as_often();
    let server = ServerProcess::start();
    let back_to_back = PacerPlan::Closed { think_time: None, follows_replies: false };
    let all: common::Shares<'_> =
        &[("read", 0.3), ("update", 0.3), ("insert", 0.2), ("scan", 0.1), ("read_modify_write", 0.1)];
    // One connection for all kinds: of how many of them an operation ends after the last was sent is chance else, and each
    // of those has a row of its own in the record.
    let loads = [
        (common::READS, 10, back_to_back.clone()),
        (&[("update", 1.0)], 10, back_to_back.clone()),
        (&[("insert", 1.0)], 10, back_to_back.clone()),
        (all, 1, back_to_back),
        (common::READS, 10, constant(20_000.0)),
        (common::READS, 10, PacerPlan::Poisson { rate_ops_per_s: 20_000.0 }),
    ];
    for target in [TargetPlan::Null { beside_server: false }, TargetPlan::wire(&server.address)] {
        for (shares, connections, pacer) in &loads {
            let work = mix(shares, ChooserSpec::Zipfian { theta: 0.99 });
            let (target, pacer) = (target.clone(), pacer.clone());
            let plan = Plan { target, work, connections: *connections, pacer, ..plan() };
            let (few, many) = (allocations(&plan, FEW), allocations(&plan, 10 * FEW));
            assert!(few > 0, "the counter must count");
            assert!(
                many <= few + ALLOCATIONS_MORE_MAX,
                "{few} allocations of {FEW} operations and {many} of {}: {:?} {:?} {:?}",
                10 * FEW,
                plan.target,
                plan.work,
                plan.pacer,
            );
        }
    }
}
