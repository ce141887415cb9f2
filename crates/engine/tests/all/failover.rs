//! Runs on a replica set whose primary changes. The members are threads of the test that say what they are told to say, so
//! that what must follow is known; real ones are met by the Python tests.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::common::requests::{body, number_in_session, session_id};
use crate::common::{MS, Outcome, S, Shares, assert_conserved, constant, merge, plan, row};
use brimline_bson::{Value, Writer};
use brimline_datagen::ChooserSpec;
use brimline_engine::failure::FailureClass;
use brimline_engine::plan::Plan;
use brimline_engine::plan::target::{ReplicaSet, TargetPlan};
use brimline_engine::{EndedBy, Run, Stage};
use brimline_wire::op_msg;

const NOT_WRITABLE_PRIMARY: i32 = 10_107;
const SHUTDOWN_IN_PROGRESS: i32 = 91;

/// Which write meets the break: by then every connection has sent some, and most are still to come.
const BREAK_AT: u64 = 200;

/// What the members do, of themselves, when one of them gets write number `BREAK_AT`: no test has to be there in time.
#[derive(Clone, Copy, PartialEq)]
enum Break {
    /// That write and all after it meet another primary, or none.
    Elects(Option<usize>),
    /// That write is done, and its connection closed instead of an answer.
    LosesTheAnswer,
    /// That write is refused by a server that ends, and refused again; whether the second says that nothing was written.
    RefusesTwice { says_nothing_was_written: bool },
}

/// What the members say and have seen.
struct Set {
    /// Which member is the primary.
    primary: Option<usize>,
    breaks: Break,
    writes: u64,
    /// Numbers of the writes done, by session; a second time does nothing.
    done: BTreeSet<(Vec<u8>, i64)>,
    repeated: u64,
    /// The write that was refused once.
    refused: Option<(Vec<u8>, i64)>,
    /// Whether members keep their answer to who they are until that changes, as servers do from 4.4 on.
    keeps_answers: bool,
    /// How often they were asked who they are, after the handshake.
    asked: u64,
}

struct Members {
    set: Arc<Mutex<Set>>,
    addresses: Vec<String>,
}

impl Members {
    /// Two members, the first of them the primary until the break.
    fn start(breaks: Break) -> Self {
        let set = Set {
            primary: Some(0),
            breaks,
            writes: 0,
            done: BTreeSet::new(),
            repeated: 0,
            refused: None,
            keeps_answers: false,
            asked: 0,
        };
        let set = Arc::new(Mutex::new(set));
        let listeners: Vec<TcpListener> = (0..2).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let addresses: Vec<String> =
            listeners.iter().map(|listener| listener.local_addr().unwrap().to_string()).collect();
        for (number, listener) in listeners.into_iter().enumerate() {
            let (set, addresses) = (Arc::clone(&set), addresses.clone());
            thread::spawn(move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    let (set, addresses) = (Arc::clone(&set), addresses.clone());
                    thread::spawn(move || serve(stream, number, &set, &addresses));
                }
            });
        }
        Self { set, addresses }
    }

    fn wait_for_the_break(&self) {
        while self.set.lock().unwrap().writes < BREAK_AT {
            pause_ms(1);
        }
    }

    /// Updates of this set's primary; how long an operation waits for one.
    fn target(&self, selection_timeout_ns: u64, retry_writes: bool) -> TargetPlan {
        let mut target = TargetPlan::wire(&self.addresses[0]);
        if let TargetPlan::Wire { replica_set, retry_reads, retry_writes: retries, .. } = &mut target {
            let members = self.addresses.clone();
            *replica_set = Some(ReplicaSet { name: "rs".to_owned(), members, selection_timeout_ns });
            (*retry_reads, *retries) = (true, retry_writes);
        }
        target
    }
}

fn serve(mut stream: TcpStream, number: usize, set: &Mutex<Set>, addresses: &[String]) {
    let mut length = [0; 4];
    while stream.read_exact(&mut length).is_ok() {
        let mut message = vec![0; u32::from_le_bytes(length) as usize];
        message[..4].copy_from_slice(&length);
        stream.read_exact(&mut message[4..]).unwrap();
        await_change(&message, set);
        let mut reply = Vec::new();
        let mut answers = true;
        op_msg::request(&mut reply, 1, |writer| {
            answers = answer(writer, &message, number, &mut set.lock().unwrap(), addresses);
        });
        if !answers {
            return;
        }
        reply[8..12].copy_from_slice(&message[4..8]);
        stream.write_all(&reply).unwrap();
    }
}

fn is_hello(message: &[u8]) -> bool {
    body(message).find("hello").unwrap().is_some()
}

/// Keeps the answer to one who knows it already, as long as it stays so and that one wants to wait.
fn await_change(message: &[u8], set: &Mutex<Set>) {
    let known = body(message).find("topologyVersion").unwrap();
    let Some(Value::Int32(await_ms)) = body(message).find("maxAwaitTimeMS").unwrap() else { return };
    for _ in 0..await_ms {
        if known != Some(Value::Document(&topology(set.lock().unwrap().primary))) {
            return;
        }
        pause_ms(1);
    }
}

fn topology(primary: Option<usize>) -> Vec<u8> {
    let mut document = Vec::new();
    let mut writer = Writer::new(&mut document);
    let open = writer.begin_document();
    writer.int64("counter", primary.map_or(-1, |primary| primary as i64));
    writer.end_document(open);
    document
}

/// Writes what a member answers; false when it closes the connection instead.
fn answer(
    writer: &mut Writer<'_>,
    message: &[u8],
    number: usize,
    set: &mut Set,
    addresses: &[String],
) -> bool {
    if is_hello(message) {
        let is_primary = set.primary == Some(number);
        writer.boolean("isWritablePrimary", is_primary);
        writer.boolean("secondary", !is_primary);
        writer.string("setName", "rs");
        writer.string("me", &addresses[number]);
        let hosts = writer.begin_array("hosts");
        for (index, address) in addresses.iter().enumerate() {
            writer.string(&index.to_string(), address);
        }
        writer.end_document(hosts);
        if set.keeps_answers {
            writer.encoded_document("topologyVersion", &topology(set.primary));
        }
        set.asked += u64::from(body(message).find("client").unwrap().is_none());
        writer.double("ok", 1.0);
        return true;
    }
    set.writes += 1;
    let breaks = set.writes == BREAK_AT;
    if let (true, Break::Elects(next)) = (breaks, set.breaks) {
        set.primary = next;
    }
    if let Break::RefusesTwice { says_nothing_was_written } = set.breaks {
        let write = session(message);
        if breaks {
            set.refused.clone_from(&write);
            refuse(writer, SHUTDOWN_IN_PROGRESS, &["RetryableWriteError"]);
            return true;
        }
        if write.is_some() && write == set.refused {
            let labels = ["RetryableWriteError", "NoWritesPerformed"];
            refuse(writer, NOT_WRITABLE_PRIMARY, &labels[..=usize::from(says_nothing_was_written)]);
            return true;
        }
    }
    if set.primary == Some(number) {
        if let Some(write) = session(message)
            && !set.done.insert(write)
        {
            set.repeated += 1;
        }
        writer.int32("n", 1);
        writer.double("ok", 1.0);
    } else {
        refuse(writer, NOT_WRITABLE_PRIMARY, &["RetryableWriteError"]);
    }
    !(breaks && set.breaks == Break::LosesTheAnswer)
}

fn refuse(writer: &mut Writer<'_>, code: i32, labels: &[&str]) {
    writer.double("ok", 0.0);
    writer.int32("code", code);
    let array = writer.begin_array("errorLabels");
    for (index, label) in labels.iter().enumerate() {
        writer.string(&index.to_string(), label);
    }
    writer.end_document(array);
}

fn session(message: &[u8]) -> Option<(Vec<u8>, i64)> {
    session_id(message).zip(number_in_session(message))
}

fn pause_ms(length_ms: u64) {
    brimline_net::wait::sleep(length_ms * MS).unwrap();
}

const UPDATES: Shares<'static> = &[("update", 1.0)];

fn updates(target: TargetPlan, operations: u64) -> Plan {
    Plan {
        target,
        work: crate::common::mix(UPDATES, ChooserSpec::Uniform),
        pacer: constant(1_000.0),
        connections: 4,
        threads: 2,
        duration_ns: None,
        operation_count: Some(operations),
        ..plan()
    }
}

/// Runs it, and elects a primary so long after the break.
fn execute(members: &Members, plan: Plan, elects: Option<(u64, usize)>) -> Outcome {
    let run = Run::start(plan).unwrap();
    members.wait_for_the_break();
    if let Some((after_ms, primary)) = elects {
        pause_ms(after_ms);
        members.set.lock().unwrap().primary = Some(primary);
    }
    let mut intervals = Vec::new();
    while run.poll(Duration::from_secs(1)).stage != Stage::Finished {
        intervals.extend(run.take_intervals());
    }
    intervals.extend(run.take_intervals());
    let outcome = merge(run.join().unwrap(), intervals);
    assert_conserved(&outcome);
    outcome
}

fn totals(outcome: &Outcome) -> brimline_engine::totals::Totals {
    outcome.summary.kinds[row("update")]
}

#[test]
fn a_run_goes_on_with_the_next_primary_and_sends_what_failed_once_more() {
    let members = Members::start(Break::Elects(None));
    let outcome = execute(&members, updates(members.target(30 * S, true), 2_000), Some((300, 1)));
    let totals = totals(&outcome);
    assert_eq!(
        (totals.ok, totals.failed, totals.unfinished),
        (2_000, 0, 0),
        "{:?}",
        outcome.summary.failures
    );
    assert!(totals.retried > 0 && totals.retried <= 4, "{} of 4 connections", totals.retried);
    let set = members.set.lock().unwrap();
    assert_eq!((set.done.len(), set.repeated), (2_000, 0), "each update was done once");
    let [outage] = &outcome.summary.outages[..] else { panic!("{:?}", outcome.summary.outages) };
    assert!(outage.to_ns.unwrap() - outage.from_ns > 200 * MS, "{outage:?}");
    assert_eq!((outage.failed, outage.primary.as_ref()), (0, Some(&members.addresses[1])));
    assert_eq!(outcome.summary.ended_by, EndedBy::Completed);
}

/// Asked every 10 ms, the two would be asked a hundred times.
#[test]
fn members_that_keep_their_answer_are_asked_again_when_something_has_changed() {
    for keeps_answers in [true, false] {
        let members = Members::start(Break::Elects(None));
        members.set.lock().unwrap().keeps_answers = keeps_answers;
        let outcome = execute(&members, updates(members.target(30 * S, true), 2_000), Some((400, 1)));
        assert_eq!(totals(&outcome).ok, 2_000);
        let asked = members.set.lock().unwrap().asked;
        assert_eq!(asked <= 12, keeps_answers, "asked {asked} times");
    }
}

#[test]
fn without_retries_what_was_under_way_fails_and_nothing_else() {
    let members = Members::start(Break::Elects(Some(1)));
    let outcome = execute(&members, updates(members.target(30 * S, false), 2_000), None);
    let totals = totals(&outcome);
    assert!((1..=4).contains(&totals.failed), "{totals:?}");
    assert_eq!((totals.ok, totals.retried), (2_000 - totals.failed, 0));
    assert!(outcome.summary.failures.iter().all(|each| each.first.code == NOT_WRITABLE_PRIMARY));
    assert!(members.set.lock().unwrap().done.is_empty(), "no session where nothing is sent twice");
}

/// The first attempt was done, and its answer lost: the second has the same number, and is not done again.
#[test]
fn a_write_whose_answer_was_lost_is_done_once() {
    let members = Members::start(Break::LosesTheAnswer);
    let outcome = execute(&members, updates(members.target(30 * S, true), 1_000), None);
    assert_eq!((totals(&outcome).ok, totals(&outcome).retried), (1_000, 1));
    let set = members.set.lock().unwrap();
    assert_eq!((set.done.len(), set.repeated), (1_000, 1));
    let [_, _, update, ..] = outcome.summary.commands;
    let [_, _, uncertain, ..] = outcome.summary.commands_uncertain;
    assert_eq!((update, uncertain), (999, 2), "which attempt was counted is not known");
}

/// Once more and not twice; where the second attempt says that it did nothing, the first tells what became of the write.
#[test]
fn a_command_that_fails_twice_has_failed() {
    for (says_nothing_was_written, code) in [(true, SHUTDOWN_IN_PROGRESS), (false, NOT_WRITABLE_PRIMARY)] {
        let members = Members::start(Break::RefusesTwice { says_nothing_was_written });
        let outcome = execute(&members, updates(members.target(30 * S, true), 1_000), None);
        let totals = totals(&outcome);
        assert_eq!((totals.ok, totals.failed, totals.retried), (999, 1, 1), "{:?}", outcome.summary.failures);
        let [failure] = &outcome.summary.failures[..] else { panic!("{:?}", outcome.summary.failures) };
        assert_eq!((failure.first.code, failure.count), (code, 1));
    }
}

#[test]
fn operations_that_no_server_takes_fail_after_their_time_and_the_run_goes_on() {
    let members = Members::start(Break::Elects(None));
    let outcome = execute(&members, updates(members.target(200 * MS, true), 2_000), Some((1_000, 1)));
    let totals = totals(&outcome);
    assert_eq!(totals.ok + totals.failed, 2_000);
    let refused: u64 = outcome
        .summary
        .failures
        .iter()
        .filter(|each| each.first.class == FailureClass::ServerSelection)
        .map(|each| each.count)
        .sum();
    assert!(refused > 100, "{refused} of a thousand that were due meanwhile");
    assert_eq!(outcome.summary.ended_by, EndedBy::Completed);
    let [outage] = &outcome.summary.outages[..] else { panic!("{:?}", outcome.summary.outages) };
    assert_eq!(outage.failed, totals.failed);
}

/// In a closed loop each connection is a worker, which waits with its next operation.
#[test]
fn workers_of_a_closed_loop_wait_with_one_operation_each() {
    let members = Members::start(Break::Elects(None));
    let mut closed = updates(members.target(300 * MS, false), 3_000);
    closed.pacer =
        brimline_engine::plan::pacer::PacerPlan::Closed { think_time: None, follows_replies: false };
    let outcome = execute(&members, closed, Some((1_000, 0)));
    let of_class = |class| {
        let counts = outcome.summary.failures.iter().filter(move |each| each.first.class == class);
        counts.map(|each| each.count).sum::<u64>()
    };
    let refused = of_class(FailureClass::ServerSelection);
    let [outage] = &outcome.summary.outages[..] else { panic!("{:?}", outcome.summary.outages) };
    let waits = (outage.to_ns.unwrap() - outage.from_ns) / (300 * MS) + 1;
    assert!((4..=4 * waits).contains(&refused), "{refused}: one per worker and 300 ms, {waits} of them");
    assert_eq!(totals(&outcome).ok + totals(&outcome).failed, 3_000);
}

#[test]
fn a_run_without_any_primary_ends_by_itself() {
    let members = Members::start(Break::Elects(None));
    members.set.lock().unwrap().primary = None;
    let mut lost = updates(members.target(S, true), 1_000);
    lost.connect_timeout_ns = S / 2;
    let reason = Run::start(lost).unwrap().join().unwrap_err().to_string();
    assert!(reason.contains("0 of 2 connections"), "{reason}");
}
