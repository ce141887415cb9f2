//! Every command of a plan with sessions has room for one, and where it is written is where a server reads it.

use crate::common::requests::{body, number_in_session, session_id};
use crate::common::{kind, mix, plan};
use brimline_bson::Value;
use brimline_engine::command::Command;
use brimline_engine::commands::Commands;
use brimline_engine::operation::Operation;
use brimline_engine::plan::Plan;
use brimline_engine::plan::target::{Reads, TargetPlan};
use brimline_engine::workload::Workload;
use brimline_wire::session::Session;

const CURSOR: i64 = -77_000_000_000;

fn with(sessions: bool, retry_writes: bool) -> Plan {
    let mut target = TargetPlan::wire("h:1");
    if let TargetPlan::Wire { sessions: has, retry_writes: retries, .. } = &mut target {
        (*has, *retries) = (sessions, retry_writes);
    }
    let work = mix(
        &[("read", 0.25), ("update", 0.25), ("insert", 0.25), ("scan", 0.25)],
        brimline_datagen::ChooserSpec::Uniform,
    );
    Plan { target, work, ..plan() }
}

/// An operation of each kind.
fn operations(plan: &Plan) -> Vec<Operation> {
    let workload = Workload::new(plan, None).unwrap();
    let mut stream = workload.stream(0, 1);
    let kinds = ["read", "update", "insert", "scan"].map(kind);
    kinds
        .into_iter()
        .map(|kind| {
            loop {
                let operation = stream.next();
                if operation.kind == kind {
                    return operation;
                }
            }
        })
        .collect()
}

fn request(commands: &Commands, command: Command, operation: &Operation, session: &Session) -> Vec<u8> {
    let mut request = Vec::new();
    commands.render(command, operation, 1, 7, &mut request);
    commands.stamp(command, session, &mut request);
    request
}

/// All commands of the plan: the first of each operation, and what a scan goes on with.
fn all(plan: &Plan, session: &Session) -> Vec<(Command, Vec<u8>)> {
    let commands = Commands::new(plan, None).unwrap();
    let operations = operations(plan);
    let scan = operations[3];
    let firsts = operations.iter().map(|operation| (commands.first(operation), *operation));
    firsts
        .chain([(Command::GetMore(CURSOR), scan)])
        .map(|(command, operation)| (command, request(&commands, command, &operation, session)))
        .collect()
}

#[test]
fn every_command_is_in_the_session_of_its_connection() {
    let session = Session::start().unwrap();
    let plan = with(true, false);
    for (command, message) in all(&plan, &session) {
        assert_eq!(session_id(&message), Some(session.id().to_vec()), "{command:?}");
        assert_eq!(number_in_session(&message), None, "{command:?}");
    }
}

#[test]
fn writes_that_are_sent_again_have_a_number_besides() {
    let mut session = Session::start().unwrap();
    session.advance();
    for (command, message) in all(&with(true, true), &session) {
        assert_eq!(session_id(&message), Some(session.id().to_vec()), "{command:?}");
        assert_eq!(number_in_session(&message), command.is_numbered().then_some(1), "{command:?}");
    }
}

#[test]
fn without_sessions_nothing_is_said_of_any() {
    let session = Session::start().unwrap();
    assert!(all(&with(false, false), &session).iter().all(|(_, message)| session_id(message).is_none()));
}

#[test]
fn a_scan_goes_on_with_the_cursor_it_has() {
    for sessions in [false, true] {
        let session = Session::start().unwrap();
        let (_, message) = all(&with(sessions, false), &session).pop().unwrap();
        let body = body(&message);
        assert!(matches!(body.find("getMore").unwrap(), Some(Value::Int64(CURSOR))));
        assert!(matches!(body.find("collection").unwrap(), Some(Value::String(_))));
    }
}

#[test]
fn a_scan_goes_on_where_it_began() {
    let mut plan = with(true, true);
    if let TargetPlan::Wire { reads, read_concern, .. } = &mut plan.target {
        let mode = "secondary".to_owned();
        *reads = Some(Reads { addresses: vec![], mode, tag_sets: vec![], max_staleness_s: None });
        *read_concern = Some("majority".to_owned());
    }
    let messages = all(&plan, &Session::start().unwrap());
    let says = |message: &[u8], name: &str| body(message).find(name).unwrap().is_some();
    for (command, message) in &messages {
        let is_more = matches!(command, Command::GetMore(_));
        assert_eq!(says(message, "$readPreference"), command.is_read(), "{command:?}");
        assert_eq!(says(message, "readConcern"), command.is_read() && !is_more, "{command:?}");
    }
}
