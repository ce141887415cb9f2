//! Targets behind links: what a service over HTTP was asked, however its sockets come and go, and how its answers are judged.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

use brimline_engine::plan::target::TargetPlan;
use brimline_engine::plan::{Plan, Work};
use brimline_engine::{EndedBy, Interval, RunError, Summary};
use serde_json::{Value, json};

use crate::common::{Outcome, S, constant, execute, plan};

/// What a service answers to the request with this number on this connection: a whole reply, and whether the connection goes on.
type Answer = fn(u64, &str) -> (String, bool);

#[derive(Default)]
struct Service {
    requests: Mutex<Vec<String>>,
    connections: AtomicU64,
}

/// A service on a thread for each connection; `answer` is given the number of the request on its connection, and its first line.
fn serve(answer: Answer) -> (String, Arc<Service>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let service = Arc::new(Service::default());
    let shared = Arc::clone(&service);
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            shared.connections.fetch_add(1, Relaxed);
            let service = Arc::clone(&shared);
            thread::spawn(move || attend(&socket, answer, &service));
        }
    });
    (address, service)
}

fn attend(socket: &TcpStream, answer: Answer, service: &Service) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    let mut lines = BufReader::new(socket.try_clone().ok()?).lines();
    for number in 0.. {
        let first = lines.next()?.ok()?;
        while !lines.next()?.ok()?.is_empty() {}
        service.requests.lock().unwrap().push(first.clone());
        let (reply, goes_on) = answer(number, &first);
        (&*socket).write_all(reply.as_bytes()).ok()?;
        if !goes_on {
            return None;
        }
    }
    None
}

/// The order that a request asks for.
fn order_of(line: &str) -> &str {
    line["GET /orders/".len()..].trim_end_matches(" HTTP/1.1")
}

fn reply(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// `count` operations of these steps.
fn plan_of(address: &str, settings: &Value, steps: &Value, count: u64) -> Plan {
    let mut target = json!({"kind": "http", "address": address, "authority": address});
    target.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    let work = json!({"kind": "operations", "collections": [], "saved": ["id"], "operations": [{"name": "ask", "weight": 1.0, "steps": steps}]});
    Plan {
        target: serde_json::from_value(target).unwrap(),
        work: serde_json::from_value::<Work>(work).unwrap(),
        connections: 4,
        operation_count: Some(count),
        duration_ns: None,
        ..plan()
    }
}

/// A step that gets `/orders/` and the value of its slot.
fn get(name: &str, slot: &Value) -> Value {
    json!({
        "name": name, "command": "GET", "database": "", "access": "command", "statements": 1, "counter": "command",
        "body": {"kind": "list", "items": [slot]},
        "request": {"kind": "http", "method": "GET", "target": [{"text": "/orders/"}, {"slot": 0, "as": "url"}]},
    })
}

fn run(plan: &Plan) -> Summary {
    execute(plan).summary
}

/// The service counted what was sent.
fn check(summary: &Summary, service: &Service, requests: u64) {
    assert_eq!(summary.ended_by, EndedBy::Completed);
    assert_eq!(service.requests.lock().unwrap().len() as u64, requests);
}

fn failures(summary: &Summary) -> Vec<(&'static str, i32, u64)> {
    summary.failures.iter().map(|each| (each.first.class.name(), each.first.code, each.count)).collect()
}

#[test]
fn a_connection_takes_one_request_after_another() {
    let (address, service) = serve(|_, _| (reply("200 OK", "{}"), true));
    let summary = run(&plan_of(&address, &json!({}), &json!([get("get", &json!({"kind": "number"}))]), 200));
    check(&summary, &service, 200);
    // One was made alone, before the others.
    assert_eq!(service.connections.load(Relaxed), 5);
    let mut asked: Vec<u64> = service
        .requests
        .lock()
        .unwrap()
        .iter()
        .map(|line| {
            line.strip_prefix("GET /orders/").unwrap().strip_suffix(" HTTP/1.1").unwrap().parse().unwrap()
        })
        .collect();
    asked.sort_unstable();
    assert_eq!(asked, (0..200).collect::<Vec<_>>());
}

/// Whoever ends a connection in good order, and when: each request is sent and answered once.
#[test]
fn sockets_come_and_go_with_the_requests() {
    let closing: Answer = |number, _| match number {
        2 => ("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}".to_owned(), false),
        _ => (reply("200 OK", "{}"), true),
    };
    for (settings, answer, connections_min) in [
        (json!({"keep_alive": false}), (|_, _| (reply("200 OK", "{}"), false)) as Answer, 200),
        (json!({"connect": "on_demand"}), closing, 60),
        (json!({}), closing, 60),
        // Without a word, as a service does whose patience with idle connections is over.
        (json!({}), (|number, _| (reply("200 OK", "{}"), number < 3)) as Answer, 50),
    ] {
        let (address, service) = serve(answer);
        let summary =
            run(&plan_of(&address, &settings, &json!([get("get", &json!({"kind": "number"}))]), 200));
        check(&summary, &service, 200);
        assert_eq!(failures(&summary), [], "{settings}");
        assert!(service.connections.load(Relaxed) >= connections_min, "{settings}");
    }
}

#[test]
fn a_status_that_is_not_wanted_is_a_failure_of_its_class() {
    let (address, service) = serve(|_, line| {
        let status = match line.as_bytes()["GET /orders/".len()..].first() {
            Some(b'1') => "404 Not Found",
            Some(b'2') => "503 Service Unavailable",
            _ => "200 OK",
        };
        (reply(status, r#"{"error": "no stock"}"#), true)
    });
    let summary = run(&plan_of(&address, &json!({}), &json!([get("get", &json!({"kind": "number"}))]), 100));
    check(&summary, &service, 100);
    let mut failures = failures(&summary);
    failures.sort_unstable();
    assert_eq!(failures, [("http_4xx", 404, 11), ("http_5xx", 503, 11)]);
    assert!(
        summary.failures.iter().all(|each| each.first.message.contains("no stock")),
        "{:?}",
        summary.failures
    );
}

#[test]
fn later_steps_use_what_a_reply_brought() {
    let (address, service) = serve(|_, line| {
        let order = order_of(line);
        (reply("200 OK", &format!(r#"{{"next": "after-{order}", "page": "<b>token=t{order};</b>"}}"#)), true)
    });
    let mut first = get("first", &json!({"kind": "number"}));
    first["expect"] = json!([{"what": "field", "path": ["status"], "min": 200.0, "max": 299.0}, {"what": "field", "path": ["headers", "content-type"], "contains": "json"}]);
    first["save"] = json!([{"slot": 0, "path": ["text"], "from": "reply", "pattern": "token=(t[0-9]+);"}]);
    let mut second = get("second", &json!({"kind": "saved", "slot": 0}));
    second["expect"] = json!([{"what": "field", "path": ["json", "next"], "matches": "^after-t[0-9]+$"}]);
    let summary = run(&plan_of(&address, &json!({}), &json!([first, second]), 50));
    check(&summary, &service, 100);
    assert_eq!(failures(&summary), []);
    let requests = service.requests.lock().unwrap();
    assert!(
        (0..50).all(|order| requests.contains(&format!("GET /orders/t{order} HTTP/1.1"))),
        "{requests:?}"
    );
}

#[test]
fn what_is_expected_and_not_so_fails_the_operation() {
    let (address, service) = serve(|_, _| (reply("200 OK", r#"{"left": 3}"#), true));
    let mut step = get("get", &json!({"kind": "number"}));
    step["expect"] = json!([{"what": "field", "path": ["json", "left"], "min": 5.0}]);
    let summary = run(&plan_of(&address, &json!({}), &json!([step]), 20));
    check(&summary, &service, 20);
    assert_eq!(failures(&summary), [("unexpected", 0, 20)]);
    assert_eq!(summary.failures[0].first.message, "expected that json.left is at least 5, but it is 3");
}

#[test]
fn a_reply_is_compared_with_what_was_asked_for() {
    let as_text: Answer = |_, line| (reply("200 OK", &format!(r#"{{"id": "{}"}}"#, order_of(line))), true);
    let as_number: Answer = |_, line| (reply("200 OK", &format!(r#"{{"id": {}}}"#, order_of(line))), true);
    let always: Answer = |_, _| (reply("200 OK", r#"{"id": 7}"#), true);
    for (answer, failed) in [(as_text, 0), (as_number, 0), (always, 19)] {
        let (address, service) = serve(answer);
        let mut step = get("get", &json!({"kind": "number"}));
        step["expect"] = json!([{"what": "field", "path": ["json", "id"], "value": {"kind": "number"}}]);
        let summary = run(&plan_of(&address, &json!({}), &json!([step]), 20));
        check(&summary, &service, 20);
        assert_eq!(failures(&summary).iter().map(|(.., count)| count).sum::<u64>(), failed);
    }
}

/// Two ids of a snowflake generator that are one double.
#[test]
fn large_numbers_are_compared_to_the_last_digit() {
    let same: Answer = |_, _| (reply("200 OK", r#"{"id": 9007199254740993}"#), true);
    let next: Answer = |_, _| (reply("200 OK", r#"{"id": 9007199254740992}"#), true);
    for (answer, failed) in [(same, 0), (next, 5)] {
        let (address, service) = serve(answer);
        let mut step = get("get", &json!({"kind": "number"}));
        // 9 007 199 254 740 993, an int64.
        step["expect"] = json!([{"what": "field", "path": ["json", "id"], "equals": "120100000000002000"}]);
        let summary = run(&plan_of(&address, &json!({}), &json!([step]), 5));
        check(&summary, &service, 5);
        assert_eq!(failures(&summary).iter().map(|(.., count)| count).sum::<u64>(), failed);
    }
}

/// How many times of a part of requests there are.
fn part_count(intervals: &[Interval], name: &str) -> u64 {
    let kinds = intervals.iter().flat_map(|interval| &interval.tallies.kinds);
    let parts = kinds.flat_map(|(_, _, tally)| &tally.breakdown);
    parts.filter(|(part, _)| part == name).map(|(_, times)| times.unpack().len()).sum()
}

/// The parts of a request are recorded apart; without a connection to be made there is no time for that.
#[test]
fn the_parts_of_a_request_are_recorded() {
    for (settings, connects) in [(json!({}), 0), (json!({"keep_alive": false}), 50)] {
        let (address, _) = serve(|_, _| (reply("200 OK", "{}"), true));
        let plan = plan_of(&address, &settings, &json!([get("get", &json!({"kind": "number"}))]), 50);
        let Outcome { intervals, .. } = execute(&plan);
        let parts =
            ["connect", "redirect", "first_byte", "transfer"].map(|name| part_count(&intervals, name));
        assert_eq!(parts, [connects, 0, 50, 50]);
    }
}

/// Each redirect that is followed is counted, and takes its own part of the time, whether or not the socket goes with it.
#[test]
fn redirects_are_counted_by_the_operation() {
    let answer: Answer = |_, line| {
        match order_of(line) {
        "0" => ("HTTP/1.1 302 Found\r\nlocation: /orders/a\r\ncontent-length: 0\r\n\r\n".to_owned(), true),
        "a" => (
            "HTTP/1.1 301 Moved Permanently\r\nconnection: close\r\nlocation: /orders/b\r\ncontent-length: 0\r\n\r\n"
                .to_owned(),
            false,
        ),
        _ => (reply("200 OK", "{}"), true),
    }
    };
    for (follow, redirects) in [(5, 2), (1, 1), (0, 0)] {
        let (address, service) = serve(answer);
        let settings = json!({"follow_redirects": follow});
        let step = get("get", &json!({"kind": "number"}));
        let plan = plan_of(&address, &settings, &json!([step]), 10);
        let Outcome { summary, intervals, .. } = execute(&plan);
        check(&summary, &service, 10 + redirects);
        assert_eq!(failures(&summary), []);
        assert_eq!(part_count(&intervals, "redirect"), redirects, "{follow}");
        // Of the first order, and where one is followed of the one that it leads to.
        assert_eq!(part_count(&intervals, "redirect_left"), u64::from(redirects < 2), "{follow}");
    }
}

/// What a request says has no bearing there: a gate lets 500 through each second, exactly.
#[test]
fn requests_of_any_protocol_run_on_the_virtual_clock() {
    let steps = json!([get("get", &json!({"kind": "number"}))]);
    let target = json!({"kind": "simulated", "script": {"capacity_ops_per_s": 500.0}, "generator_ns": 2000});
    let plan = Plan {
        target: serde_json::from_value(target).unwrap(),
        operation_count: None,
        duration_ns: Some(10 * S),
        ..plan_of("127.0.0.1:1", &json!({}), &steps, 1)
    };
    let summary = run(&plan);
    assert_eq!((&summary.ended_by, failures(&summary)), (&EndedBy::Completed, vec![]));
    assert!((4_995..=5_005).contains(&summary.due), "{}", summary.due);
}

#[test]
fn a_stall_is_seen_by_all_that_were_due_in_it() {
    let (address, service) = serve(|_, line| {
        if line.starts_with("GET /orders/100 ") {
            brimline_net::wait::sleep(S / 2).unwrap();
        }
        (reply("200 OK", "{}"), true)
    });
    let plan = plan_of(&address, &json!({}), &json!([get("get", &json!({"kind": "number"}))]), 600);
    let plan = Plan { connections: 1, pacer: constant(400.0), duration_ns: Some(10 * S), ..plan };
    let Outcome { summary, response, service: service_times, .. } = execute(&plan);
    check(&summary, &service, 600);
    // Half a second at 400 a second: 200 operations waited, evenly from nothing to all of it.
    let waited = response.len() - response.count_between(0, S / 20);
    assert!((150..=200).contains(&waited), "{waited}");
    assert!(service_times.len() - service_times.count_between(0, S / 20) <= 2);
}

#[test]
fn a_service_that_is_not_there_is_told_before_the_run() {
    let address = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().to_string();
    let mut plan = plan_of(&address, &json!({}), &json!([get("get", &json!({"kind": "number"}))]), 1);
    plan.connect_timeout_ns = S / 10;
    let error = brimline_engine::Run::start(plan).unwrap().join().unwrap_err();
    assert!(matches!(&error, RunError::Target(reason) if reason.contains("refused")), "{error}");
}

#[test]
fn steps_of_another_protocol_than_the_targets_are_refused() {
    let plan = plan_of("127.0.0.1:1", &json!({}), &json!([get("get", &json!({"kind": "number"}))]), 1);
    let plan = Plan { target: TargetPlan::wire("127.0.0.1:1"), ..plan };
    assert!(
        matches!(brimline_engine::Run::start(plan), Err(RunError::Plan(error)) if error.path == "work.operations")
    );
}

#[test]
fn an_example_of_a_request_is_what_its_slots_hold() {
    let plan = plan_of("127.0.0.1:1", &json!({}), &json!([get("get", &json!({"kind": "number"}))]), 1);
    let examples = brimline_engine::own::examples(&plan, &Vec::new()).unwrap();
    let mut values = brimline_bson::Reader::new(&examples[0][0]).unwrap();
    assert_eq!(values.next_element().unwrap().unwrap().name, b"0");
    assert_eq!(values.next_element(), Ok(None));
}
