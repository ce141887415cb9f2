//! Transactions against a server that is a thread of the test: what each command says, and what follows from an answer.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::requests::{body, number_in_session, part, session_id};
use crate::common::{MS, Outcome, S, execute, own, plan, row};
use brimline_bson::{Value, Writer};
use brimline_datagen::ChooserSpec;
use brimline_engine::kinds::OperationKind;
use brimline_engine::plan::Plan;
use brimline_engine::plan::target::{Acknowledgement, TargetPlan, WriteConcern};
use brimline_wire::op_msg;

/// What a server says to a commit.
#[derive(Clone, Copy, PartialEq)]
enum Answer {
    Done,
    /// It closes the connection instead.
    Nothing,
    /// It may have been done, and may be sent again.
    Unknown,
    /// It is refused for good.
    Refused,
    /// The transaction is void, and may be done anew.
    Void,
    /// The command worked, and its statement didn't.
    WriteError,
}

/// A session and the number of a transaction in it.
type Transaction = (Vec<u8>, i64);

/// What a server was asked: the commands of each transaction in their order, and the plain writes.
#[derive(Default)]
struct Seen {
    transactions: BTreeMap<Transaction, Vec<Vec<u8>>>,
    /// How many commands were answered as the server was told to.
    answered: usize,
}

/// Starts a server that says these to the first commits, and that all is done to everything else.
fn start(answers: Vec<Answer>) -> (String, Arc<Mutex<Seen>>) {
    start_saying("commitTransaction", answers)
}

/// The same, which says these to the first of the commands called `command`.
fn start_saying(command: &'static str, answers: Vec<Answer>) -> (String, Arc<Mutex<Seen>>) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (shared, answers) = (Arc::clone(&seen), Arc::new(answers));
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (seen, answers) = (Arc::clone(&shared), Arc::clone(&answers));
            thread::spawn(move || serve(stream, &seen, command, &answers));
        }
    });
    (address, seen)
}

fn serve(mut stream: TcpStream, seen: &Mutex<Seen>, command: &str, answers: &[Answer]) {
    let mut length = [0; 4];
    while stream.read_exact(&mut length).is_ok() {
        let mut message = vec![0; u32::from_le_bytes(length) as usize];
        message[..4].copy_from_slice(&length);
        stream.read_exact(&mut message[4..]).unwrap();
        let answer = note(&mut seen.lock().unwrap(), &message, command, answers);
        if answer == Answer::Nothing {
            return;
        }
        let mut reply = Vec::new();
        op_msg::request(&mut reply, 1, |writer| write_answer(writer, answer));
        reply[8..12].copy_from_slice(&message[4..8]);
        stream.write_all(&reply).unwrap();
    }
}

fn note(seen: &mut Seen, message: &[u8], command: &str, answers: &[Answer]) -> Answer {
    if has(message, "autocommit") {
        seen.transactions.entry(transaction(message)).or_default().push(message.to_vec());
    }
    if !has(message, command) {
        return Answer::Done;
    }
    seen.answered += 1;
    answers.get(seen.answered - 1).copied().unwrap_or(Answer::Done)
}

/// One document found, one changed, or nothing of both.
fn write_answer(writer: &mut Writer<'_>, answer: Answer) {
    if answer == Answer::Done {
        let cursor = writer.begin_subdocument("cursor");
        let batch = writer.begin_array("firstBatch");
        let document = writer.begin_subdocument("0");
        writer.end_document(document);
        writer.end_document(batch);
        writer.end_document(cursor);
        writer.int32("n", 1);
        writer.double("ok", 1.0);
        return;
    }
    if answer == Answer::WriteError {
        let errors = writer.begin_array("writeErrors");
        let error = writer.begin_subdocument("0");
        writer.int32("index", 0);
        writer.int32("code", 10_334);
        writer.end_document(error);
        writer.end_document(errors);
        writer.double("ok", 1.0);
        return;
    }
    writer.double("ok", 0.0);
    writer.int32("code", if answer == Answer::Unknown { 91 } else { 96 });
    let labels = writer.begin_array("errorLabels");
    match answer {
        Answer::Unknown => writer.string("0", "RetryableWriteError"),
        Answer::Void => writer.string("0", "TransientTransactionError"),
        _ => {}
    }
    writer.end_document(labels);
}

fn has(message: &[u8], name: &str) -> bool {
    body(message).find(name).unwrap().is_some()
}

fn transaction(message: &[u8]) -> Transaction {
    (session_id(message).unwrap(), number_in_session(message).unwrap())
}

fn transfers(address: &str, operations: u64) -> Plan {
    let mut target = TargetPlan::wire(address);
    if let TargetPlan::Wire { read_concern, write_concern, .. } = &mut target {
        *read_concern = Some("snapshot".to_owned());
        let w = Acknowledgement::Members(1);
        *write_concern = Some(WriteConcern { w, journal: Some(true), timeout_ms: None });
    }
    let proportions = &[("transaction", 1.0)];
    Plan {
        target,
        work: crate::common::mix(proportions, ChooserSpec::Uniform),
        connections: 1,
        duration_ns: None,
        operation_count: Some(operations),
        ..plan()
    }
}

fn totals(outcome: &Outcome) -> brimline_engine::totals::Totals {
    outcome.summary.kinds[row("transaction")]
}

/// The drivers' transactions specification: what is said once, and what by each command.
#[test]
fn each_command_says_what_it_should_and_nothing_else() {
    let (address, seen) = start(vec![Answer::Nothing]);
    let outcome = execute(&transfers(&address, 2));
    assert_eq!((totals(&outcome).ok, totals(&outcome).retried), (2, 1));
    let seen = seen.lock().unwrap();
    assert_eq!(seen.transactions.keys().map(|(_, number)| *number).collect::<Vec<_>>(), [1, 2]);
    let [first, second] = &seen.transactions.values().collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!((first.len(), second.len()), (2 + 3 + 2, 2 + 3 + 1), "a commit was sent again");
    for (position, message) in first.iter().chain(*second).enumerate() {
        let begins = position == 0 || position == first.len();
        assert_eq!(body(message).find("autocommit").unwrap(), Some(Value::Boolean(false)));
        assert_eq!(has(message, "startTransaction"), begins, "{position}");
        assert_eq!(has(message, "readConcern"), begins, "{position}");
        assert_eq!(has(message, "writeConcern"), has(message, "commitTransaction"), "{position}");
    }
    let commits: Vec<_> = first.iter().filter(|message| has(message, "commitTransaction")).collect();
    assert_eq!(part(commits[0], "writeConcern", "w"), Some(Value::Int32(1)));
    assert_eq!(part(commits[0], "writeConcern", "wtimeout"), None);
    assert_eq!(part(commits[1], "writeConcern", "w"), Some(Value::String(b"majority")));
    assert_eq!(part(commits[1], "writeConcern", "wtimeout"), Some(Value::Int32(10_000)));
    assert_eq!(part(commits[1], "writeConcern", "j"), Some(Value::Boolean(true)));
}

/// Also where other writes are not sent again: nothing else tells what became of it.
#[test]
fn a_commit_is_sent_again_until_it_is_known() {
    let (address, seen) = start(vec![Answer::Unknown, Answer::Nothing, Answer::Unknown, Answer::Unknown]);
    let outcome = execute(&transfers(&address, 1));
    assert_eq!((totals(&outcome).ok, totals(&outcome).retried), (1, 4));
    let seen = seen.lock().unwrap();
    assert_eq!((seen.answered, seen.transactions.len()), (5, 1));
    let [_, _, _, _, commit, ..] = outcome.summary.commands;
    let [_, _, _, _, uncertain, ..] = outcome.summary.commands_uncertain;
    assert_eq!((commit, uncertain), (0, 5), "which of them was counted is not known");
}

#[test]
fn it_is_sent_again_no_longer_than_a_command_may_take() {
    let (address, _) = start(vec![Answer::Unknown; 1_000_000]);
    let outcome = execute(&Plan { operation_timeout_ns: 200 * MS, ..transfers(&address, 1) });
    assert_eq!((totals(&outcome).ok, totals(&outcome).failed), (0, 1));
    assert!(outcome.summary.elapsed_ns < 5 * S, "{}", outcome.summary.elapsed_ns);
}

/// Whoever follows has to end them: the server would keep what they hold.
#[test]
fn sessions_that_may_have_left_a_transaction_open_are_named() {
    let (address, seen) = start(vec![Answer::Done, Answer::Refused]);
    let outcome = execute(&transfers(&address, 3));
    assert_eq!((totals(&outcome).ok, totals(&outcome).failed), (2, 1));
    let ids: BTreeSet<Vec<u8>> = seen.lock().unwrap().transactions.keys().map(|(id, _)| id.clone()).collect();
    let named: BTreeSet<Vec<u8>> = outcome.summary.unsettled_sessions.iter().map(|id| id.to_vec()).collect();
    assert_eq!(named, ids);
    let (address, _) = start(Vec::new());
    assert_eq!(execute(&transfers(&address, 3)).summary.unsettled_sessions, Vec::<[u8; 16]>::new());
}

/// Records are told from the newest one, and inserts are acknowledged between a read and its update.
#[test]
fn a_read_and_its_update_are_of_one_record_while_others_are_inserted() {
    let (address, seen) = start(Vec::new());
    let proportions = &[("insert", 0.8), ("transaction", 0.2)];
    let outcome = execute(&Plan {
        work: crate::common::mix(proportions, ChooserSpec::Latest { theta: 0.99 }),
        connections: 8,
        ..transfers(&address, 3_000)
    });
    let seen = seen.lock().unwrap();
    assert_eq!(seen.transactions.len() as u64, totals(&outcome).ok);
    for messages in seen.transactions.values() {
        let keys: Vec<Vec<u8>> = messages.iter().filter_map(|message| key_of(message)).collect();
        assert_eq!(keys.len(), 5);
        assert_eq!(keys[..2], keys[2..4], "two reads, and updates of the same");
    }
}

/// The key in a message: `user` and digits.
fn key_of(message: &[u8]) -> Option<Vec<u8>> {
    let from =
        message.windows(5).position(|bytes| bytes.starts_with(b"user") && bytes[4].is_ascii_digit())?;
    Some(message[from..].iter().copied().take_while(u8::is_ascii_alphanumeric).collect())
}

/// An operation of steps: a look, then an insert and an update in a transaction.
fn steps(address: &str, operations: u64) -> Plan {
    let mut work = own::work();
    let mut steps = work["operations"][1]["steps"].take();
    for (step, place) in steps.as_array_mut().unwrap()[1..].iter_mut().zip(["begin", "inside"]) {
        step["transaction"] = place.into();
    }
    let body = serde_json::json!([own::field(
        "commitTransaction",
        serde_json::json!({"kind": "bson", "hex": "1001000000"})
    )]);
    let mut commit = own::step("commit", "commitTransaction", "write", "command", body);
    commit["database"] = "admin".into();
    commit["transaction"] = "commit".into();
    steps.as_array_mut().unwrap().push(commit);
    work["operations"] = serde_json::json!([{"name": "order", "weight": 1.0, "steps": steps}]);
    work["loads"] = serde_json::json!([]);
    Plan { work: serde_json::from_value(work).unwrap(), ..transfers(address, operations) }
}

fn orders(outcome: &Outcome) -> brimline_engine::totals::Totals {
    outcome.summary.kinds[OperationKind::own(0).row()]
}

#[test]
fn steps_in_a_transaction_share_a_session_and_a_number() {
    let (address, seen) = start(Vec::new());
    let outcome = execute(&steps(&address, 20));
    assert_eq!(orders(&outcome).ok, 20);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.transactions.len(), 20);
    for commands in seen.transactions.values() {
        let names: Vec<bool> = ["insert", "update", "commitTransaction"]
            .iter()
            .zip(commands)
            .map(|(name, command)| has(command, name))
            .collect();
        assert_eq!(names, [true; 3]);
        assert!(has(&commands[0], "startTransaction") && !has(&commands[1], "startTransaction"));
        assert!(has(&commands[0], "readConcern") && has(&commands[2], "writeConcern"));
        assert!(!has(&commands[1], "writeConcern"));
    }
}

/// What was inserted by an attempt that is void is not known: the documents are sent once more.
#[test]
fn a_transaction_whose_insert_is_void_begins_anew() {
    let (address, seen) = start_saying("insert", vec![Answer::Void, Answer::Void]);
    let outcome = execute(&steps(&address, 10));
    assert_eq!((orders(&outcome).ok, orders(&outcome).retried), (10, 2));
    let inserts = outcome.summary.inserts;
    assert_eq!((inserts.sent, inserts.inserted, inserts.unknown), (12, 10, 2));
    assert_eq!(seen.lock().unwrap().transactions.len(), 12);
}

/// A step that fails for good leaves the transaction open, and with it locks: it is ended at once, and not counted.
#[test]
fn a_step_that_fails_ends_its_transaction() {
    let (address, seen) = start_saying("update", vec![Answer::Refused]);
    let outcome = execute(&steps(&address, 10));
    assert_eq!((orders(&outcome).ok, orders(&outcome).failed), (9, 1));
    let seen = seen.lock().unwrap();
    let ended =
        seen.transactions.values().filter(|commands| has(&commands[commands.len() - 1], "abortTransaction"));
    assert_eq!((seen.transactions.len(), ended.count()), (10, 1));
    assert_eq!(outcome.summary.steps.iter().map(|step| step.totals.aborts).sum::<u64>(), 1);
}

/// What an update refuses is no document of an insert.
#[test]
fn write_errors_of_an_update_are_failures_of_the_operation_alone() {
    for (command, refused) in [("update", 0), ("insert", 1)] {
        let (address, _) = start_saying(command, vec![Answer::WriteError]);
        let outcome = execute(&steps(&address, 3));
        assert_eq!((orders(&outcome).ok, orders(&outcome).failed), (2, 1), "{command}");
        assert_eq!(outcome.summary.document_failures.len(), refused, "{command}");
        assert_eq!(outcome.summary.inserts.failed, refused as u64, "{command}");
        assert_eq!(outcome.summary.failures.len(), 1, "{command}");
    }
}
