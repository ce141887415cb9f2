//! Runs on client-routed shards, or routers, of which one is in trouble. They are threads of the test, so that what must be said of them
//! is known.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use crate::common::requests::body;
use crate::common::{S, constant, execute, plan, row};
use brimline_bson::Writer;
use brimline_datagen::ChooserSpec;
use brimline_engine::EndedBy;
use brimline_engine::plan::Plan;
use brimline_engine::plan::target::TargetPlan;
use brimline_wire::op_msg;

const NOT_WRITABLE_PRIMARY: i32 = 10_107;

/// A shard that takes writes, up to this many where it has a bound; what comes then.
#[derive(Clone, Copy)]
enum After {
    Nothing,
    /// It says that it is no primary.
    Refuses(u64),
    /// It ends: no connection stays, and none is made.
    Ends(u64),
}

fn shard(after: After) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let writes = Arc::new(AtomicU64::new(0));
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let writes = Arc::clone(&writes);
            let has_ended =
                |writes: &AtomicU64| matches!(after, After::Ends(at) if writes.load(Relaxed) >= at);
            if has_ended(&writes) {
                continue;
            }
            thread::spawn(move || serve(stream, after, &writes));
        }
    });
    address
}

fn serve(mut stream: TcpStream, after: After, writes: &AtomicU64) {
    let mut length = [0; 4];
    while stream.read_exact(&mut length).is_ok() {
        let mut message = vec![0; u32::from_le_bytes(length) as usize];
        message[..4].copy_from_slice(&length);
        stream.read_exact(&mut message[4..]).unwrap();
        let is_hello = body(&message).find("hello").unwrap().is_some();
        let number = if is_hello { 0 } else { writes.fetch_add(1, Relaxed) + 1 };
        let refuses = match after {
            After::Ends(at) if number > at => return,
            After::Refuses(at) => number > at,
            _ => false,
        };
        let mut reply = Vec::new();
        op_msg::request(&mut reply, 1, |writer| answer(writer, refuses));
        reply[8..12].copy_from_slice(&message[4..8]);
        stream.write_all(&reply).unwrap();
    }
}

fn answer(writer: &mut Writer<'_>, refuses: bool) {
    if refuses {
        writer.double("ok", 0.0);
        writer.int32("code", NOT_WRITABLE_PRIMARY);
        return;
    }
    writer.boolean("isWritablePrimary", true);
    writer.int32("n", 1);
    writer.double("ok", 1.0);
}

fn updates(first: &str, second: &str) -> Plan {
    let mut target = TargetPlan::wire(first);
    if let TargetPlan::Wire { shards, .. } = &mut target {
        *shards = vec![second.to_owned()];
    }
    let updates = &[("update", 1.0)];
    Plan {
        target,
        work: crate::common::mix(updates, ChooserSpec::Uniform),
        pacer: constant(1_000.0),
        connections: 4,
        threads: 2,
        duration_ns: None,
        operation_count: Some(2_000),
        connect_timeout_ns: S / 2,
        ..plan()
    }
}

fn updates_by_routers(first: &str, second: &str) -> Plan {
    let mut target = TargetPlan::wire(first);
    if let TargetPlan::Wire { routers, .. } = &mut target {
        *routers = vec![second.to_owned()];
    }
    Plan { target, connections: 2, ..updates(first, second) }
}

/// Each thread has one connection, and so one router. That of the router that is gone goes on with the other.
#[test]
fn a_router_that_is_gone_leaves_its_connections_to_the_other() {
    let (here, gone) = (shard(After::Nothing), shard(After::Ends(300)));
    let outcome = execute(&updates_by_routers(&here, &gone));
    assert_eq!(outcome.summary.ended_by, EndedBy::Completed);
    let totals = outcome.summary.kinds[row("update")];
    assert_eq!((totals.ok, totals.failed), (1_999, 1), "what was under way on it is lost");
    assert_eq!(outcome.summary.outages, []);
}

/// The run ends once all routers are gone, and names them.
#[test]
fn routers_that_are_gone_end_the_run_by_their_names() {
    let (first, second) = (shard(After::Ends(200)), shard(After::Ends(300)));
    let outcome = execute(&updates_by_routers(&first, &second));
    let EndedBy::TargetLost(reason) = &outcome.summary.ended_by else {
        panic!("{:?}", outcome.summary.ended_by)
    };
    assert!(reason.contains(&first) && reason.contains(&second), "{reason}");
    assert_eq!(outcome.summary.outages.len(), 1, "{:?}", outcome.summary.outages);
}

/// The other shard answers all the while: what fails is told by its code, and the target was never gone.
#[test]
fn a_shard_that_takes_no_writes_is_no_outage_of_all() {
    let outcome = execute(&updates(&shard(After::Nothing), &shard(After::Refuses(300))));
    let totals = outcome.summary.kinds[row("update")];
    assert_eq!(totals.ok + totals.failed, 2_000);
    assert!(totals.failed > 300 && totals.ok > 1_000, "{totals:?}");
    assert!(outcome.summary.failures.iter().all(|each| each.first.code == NOT_WRITABLE_PRIMARY));
    assert_eq!(outcome.summary.outages, []);
    assert_eq!(outcome.summary.ended_by, EndedBy::Completed);
}

/// No connection is whole without it, so that the run ends, and says which shard it is.
#[test]
fn a_shard_that_is_gone_ends_the_run_by_its_name() {
    let (here, gone) = (shard(After::Nothing), shard(After::Ends(300)));
    let outcome = execute(&updates(&here, &gone));
    let EndedBy::TargetLost(reason) = &outcome.summary.ended_by else {
        panic!("{:?}", outcome.summary.ended_by)
    };
    assert!(reason.ends_with(&format!(" ms: {gone}")), "{reason}");
    assert_eq!(outcome.summary.outages.len(), 1, "{:?}", outcome.summary.outages);
}
