//! Scripts as JSON: what is understood and what is refused.

use brimline_testserver::{Data, Fault, FaultKind, HttpReplies, Script, ServiceTime, Stall, When};

#[test]
fn an_empty_script_is_the_null_case() {
    assert_eq!(Script::from_json("{}").unwrap(), Script::default());
}

#[test]
fn every_key_is_read_and_written_back_the_same() {
    let text = r#"{"seed": 7, "service": {"kind": "lognormal", "mean_ns": 200000, "sigma": 0.5}, "servers": 4,
        "capacity_ops_per_s": 5000.5,
        "stalls": [{"at_ns": 1, "length_ns": 2}, {"at_ns": 1, "length_ns": 2, "every_ns": 100000, "slowdown": 3.0}],
        "service_growth_per_hour": 0.01,
        "faults": [
            {"when": {"share": 0.01}, "kind": {"error": {"code": 189, "name": "PrimarySteppedDown", "label": "RetryableWriteError"}}},
            {"when": {"first_n": 3}, "kind": {"write_error": {"code": 11000}}},
            {"when": {"at_request": 9}, "kind": {"write_concern_error": {"code": 64, "name": "WriteConcernFailed"}}},
            {"when": {"at_request": 10}, "kind": "wrong_length"}],
        "data": {"kind": "synthetic", "document_bytes": 1000}, "namespace": "ycsb.usertable",
        "http": {"status": 503, "body_bytes": 100, "chunked": true}}"#;
    let script = Script::from_json(text).unwrap();
    let at = |number, kind| Fault { when: When::AtRequest(number), kind };
    assert_eq!(
        script,
        Script {
            seed: 7,
            service: ServiceTime::Lognormal { mean_ns: 200_000, sigma: 0.5 },
            service_growth_per_hour: 0.01,
            servers: Some(4),
            capacity_ops_per_s: Some(5000.5),
            stalls: vec![
                Stall { at_ns: 1, length_ns: 2, every_ns: None, slowdown: None },
                Stall { at_ns: 1, length_ns: 2, every_ns: Some(100_000), slowdown: Some(3.0) },
            ],
            faults: vec![
                Fault {
                    when: When::Share(0.01),
                    kind: FaultKind::Error {
                        code: 189,
                        name: "PrimarySteppedDown".to_owned(),
                        label: Some("RetryableWriteError".to_owned()),
                    },
                },
                Fault { when: When::FirstN(3), kind: FaultKind::WriteError { code: 11000, statements: 1 } },
                at(9, FaultKind::WriteConcernError { code: 64, name: "WriteConcernFailed".to_owned() }),
                at(10, FaultKind::WrongLength),
            ],
            data: Data::Synthetic { document_bytes: 1000 },
            namespace: Some("ycsb.usertable".to_owned()),
            http: HttpReplies { status: 503, body_bytes: Some(100), chunked: true },
        }
    );
    let again = serde_json::to_string(&script).unwrap();
    assert_eq!(Script::from_json(&again).unwrap(), script);
}

#[test]
fn what_is_refused_is_named() {
    let cases = [
        (r#"{"servers": 0}"#, "servers"),
        (r#"{"service_growth_per_hour": -0.01}"#, "service_growth_per_hour"),
        (r#"{"capacity_ops_per_s": 0}"#, "capacity_ops_per_s"),
        (r#"{"service": {"kind": "fixed", "ns": 4000000000000}}"#, "service.ns"),
        (r#"{"service": {"kind": "lognormal", "mean_ns": 1, "sigma": -1}}"#, "service.sigma"),
        (r#"{"stalls": [{"at_ns": 0, "length_ns": 0}]}"#, "stalls.0.length_ns"),
        (r#"{"stalls": [{"at_ns": 0, "length_ns": 5, "every_ns": 5}]}"#, "stalls.0.every_ns"),
        (r#"{"stalls": [{"at_ns": 0, "length_ns": 500000, "every_ns": 500000}]}"#, "stalls.0.every_ns"),
        (r#"{"stalls": [{"at_ns": 0, "length_ns": 5, "slowdown": 0.5}]}"#, "stalls.0.slowdown"),
        (
            r#"{"stalls": [{"at_ns": 0, "length_ns": 600000, "every_ns": 1000000},
                           {"at_ns": 500000, "length_ns": 400000, "every_ns": 1000000}]}"#,
            "stalls",
        ),
        (r#"{"faults": [{"when": {"share": 1.5}, "kind": "close"}]}"#, "faults.0.when.share"),
        (r#"{"data": {"kind": "synthetic", "document_bytes": 8}}"#, "data.document_bytes"),
        (r#"{"namespace": "usertable"}"#, "namespace"),
        (r#"{"sed": 1}"#, "script"),
        (r#"{"service": {"kind": "fixed", "ns": 1, "mean_ns": 2}}"#, "script"),
        (
            r#"{"faults": [{"when": {"share": 0.5}, "kind": {"error": {"code": 1, "name": "x", "lable": "y"}}}]}"#,
            "script",
        ),
    ];
    for (text, path) in cases {
        let error = Script::from_json(text).expect_err(text);
        assert_eq!(error.path, path, "{text}: {error}");
    }
}
