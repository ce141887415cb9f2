//! Operations of the person's own: their shares, steps, loads and values.

#![allow(clippy::needless_pass_by_value, reason = "parts of JSON are put together")]

use brimline_engine::plan::{Plan, Share, Work};
use brimline_engine::{EndedBy, Run, RunError, Surroundings};
use serde_json::json;

use crate::common::own::{document, field, step, text, work};
use crate::common::{Outcome, S, execute, merge, plan};

fn own(work: serde_json::Value) -> Plan {
    let work: Work = serde_json::from_value(work).expect("a plan's work");
    Plan { work, ..plan() }
}

fn of(outcome: &Outcome, name: &str) -> u64 {
    let place = outcome.summary.own_names.iter().position(|each| each == name).expect("an operation");
    outcome.summary.kinds[brimline_engine::kinds::OperationKind::own(place as u8).row()].ok
}

#[test]
fn shares_are_kept_and_every_step_is_counted() {
    let plan = Plan { operation_count: Some(20_000), duration_ns: None, ..own(work()) };
    let outcome = execute(&plan);
    assert_eq!(outcome.summary.ended_by, EndedBy::Completed);
    let (looks, orders) = (of(&outcome, "look"), of(&outcome, "order"));
    assert_eq!(looks + orders, 20_000);
    assert!((4_700..5_300).contains(&orders), "{orders}");
    let steps: Vec<(&str, u64)> =
        outcome.summary.steps.iter().map(|step| (step.name.as_str(), step.totals.ok)).collect();
    assert_eq!(
        &steps[1..4],
        [("find customers", orders), ("insert orders", orders), ("update stock", orders)]
    );
    let [query, insert, update, ..] = outcome.summary.commands;
    assert_eq!((query, insert, update), (looks + orders, orders, orders));
    assert_eq!(outcome.summary.inserts.inserted, orders);
    let recorded: u64 = outcome
        .intervals
        .iter()
        .flat_map(|interval| &interval.tallies.steps)
        .map(|(_, _, tally)| tally.counts.sent)
        .sum();
    assert_eq!(recorded, 3 * orders, "an operation of one step has no rows of steps");
}

#[test]
fn threads_share_the_same_operations_and_a_load_beside_has_its_own_rate() {
    let plan = Plan { operation_count: Some(5_000), duration_ns: None, ..own(work()) };
    let without = |mut work: serde_json::Value| {
        work["operations"].as_array_mut().expect("operations").truncate(2);
        work["loads"] = json!([]);
        Plan { work: serde_json::from_value(work).expect("a plan's work"), ..plan.clone() }
    };
    let alone = execute(&without(work())).summary;
    for threads in [2, 4] {
        let together = execute(&Plan { threads, ..without(work()) }).summary;
        assert_eq!((together.digest, &together.kinds), (alone.digest, &alone.kinds), "{threads} threads");
    }
    let timed =
        Plan { duration_ns: Some(S), operation_count: None, pacer: crate::common::constant(1_000.0), ..plan };
    let outcome = execute(&timed);
    assert_eq!(of(&outcome, "report"), 100);
    assert_eq!(of(&outcome, "look") + of(&outcome, "order"), 1_000);
}

/// A load beside of one connection is one node's, and the others go without it.
#[test]
fn nodes_share_out_a_load_beside_as_far_as_its_connections_go() {
    let plan = Plan { pacer: crate::common::constant(1_000.0), duration_ns: Some(S), ..own(work()) };
    let plan = Plan { connections: 8, operation_count: None, ..plan };
    let parts: Vec<_> =
        (0..4).map(|node| execute(&Plan { share: Some(Share { node, nodes: 4 }), ..plan.clone() })).collect();
    assert_eq!(parts.iter().map(|part| part.summary.due).sum::<u64>(), 1_100);
    let connections = plan.own().expect("own operations").loads[0].connections as usize;
    let with_it = parts.iter().filter(|part| of(part, "report") > 0).count();
    assert_eq!(with_it, connections.min(4));
}

/// Rows of one column `n`: 0, 1, 2 …
fn rows(count: i32) -> Vec<u8> {
    (0..count)
        .flat_map(|n| {
            let mut row = vec![12, 0, 0, 0, 0x10, b'n', 0];
            row.extend_from_slice(&n.to_le_bytes());
            row.push(0);
            row
        })
        .collect()
}

fn with_table(at_end: &str) -> Plan {
    let mut work = work();
    work["tables"] = json!([{"name": "file", "columns": ["n"], "row_count": 100, "sha256": "", "order": "in_turn",
        "at_end": at_end, "scope": "shared"}]);
    work["operations"] = json!([{"name": "look", "weight": 1.0, "steps": [step("find orders", "find", "read", "query", json!([
        field("find", text("orders")),
        field("filter", document(json!([field("n", json!({"kind": "cell", "table": 0, "column": 0}))])))]))]}]);
    work["loads"] = json!([]);
    Plan { operation_count: Some(1_000), duration_ns: None, ..own(work) }
}

#[test]
fn rows_that_come_to_their_end_begin_again_or_end_the_run() {
    let run = |plan: Plan| {
        let surroundings = Surroundings { tables: vec![rows(100).into()], ..Surroundings::default() };
        let run = Run::start_with(plan, surroundings).expect("the plan is valid");
        let summary = run.join().expect("there is a summary");
        let outcome = merge(summary, run.take_intervals());
        crate::common::assert_conserved(&outcome);
        (of(&outcome, "look"), outcome.summary.ended_by)
    };
    assert_eq!(run(with_table("again")), (1_000, EndedBy::Completed));
    assert_eq!(run(with_table("stop")), (100, EndedBy::Completed));
    assert_eq!(run(Plan { threads: 3, ..with_table("stop") }), (100, EndedBy::Completed));
    let (sent, ended_by) = run(with_table("error"));
    assert!(sent == 100 && matches!(ended_by, EndedBy::RanDry(_)), "{sent} {ended_by:?}");
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let refused = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut changed = work();
        change(&mut changed);
        match Run::start(own(changed)).err() {
            Some(RunError::Plan(error)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let all = [
        refused(&|work| work["operations"][0]["weight"] = json!(0.0)),
        refused(&|work| work["operations"][1]["steps"][0]["transaction"] = json!("begin")),
        refused(&|work| work["operations"][1]["steps"][1]["name"] = json!("find customers")),
        refused(&|work| work["operations"][0]["steps"][0]["body"] = document(json!([]))),
        refused(&|work| work["values"][1]["value"]["of"][0] = text("words")),
        refused(&|work| {
            work["operations"][0]["steps"][0]["save"] = json!([{"slot": 7, "path": ["a"], "from": "reply"}]);
        }),
    ];
    for (found, words) in
        all.iter().zip(["load of its own", "holds no other", "names", "must not be empty", "values", "slot"])
    {
        assert!(found.contains(words), "{found}");
    }
}

/// Nothing of such an operation is sent, so that no reply lets the worker look at the time.
#[test]
fn operations_whose_values_can_t_be_made_fail_and_the_run_ends() {
    let zero = json!({"kind": "generator", "spec": {"kind": "int", "min": 0, "max": 0}});
    let modulo = json!({"kind": "calculate", "operator": "modulo", "of": [{"kind": "bson", "hex": "1005000000"}, zero]});
    let mut work = work();
    work["operations"] = json!([{"name": "look", "weight": 1.0, "steps": [step("find orders", "find", "read", "query", json!([
        field("find", text("orders")), field("filter", document(json!([field("n", modulo)])))]))]}]);
    work["loads"] = json!([]);
    for pacer in [plan().pacer, crate::common::constant(500.0)] {
        let outcome = execute(&Plan { pacer, duration_ns: Some(S / 5), ..own(work.clone()) });
        let [failure] = outcome.summary.failures.as_slice() else { panic!("{:?}", outcome.summary.failures) };
        assert!(failure.count >= 90 && failure.first.message.contains("modulo"), "{failure:?}");
    }
}
