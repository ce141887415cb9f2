//! The program: its address on standard output, and its ways to end.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};

use crate::common::Client;
use bson::doc;

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_brimline-testserver"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn start(arguments: &[&str]) -> (Child, Client) {
    let mut child = program().args(arguments).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let parsed: serde_json::Value = serde_json::from_str(&line).unwrap();
    let address = parsed["address"].as_str().unwrap().parse().unwrap();
    (child, Client::connect(address))
}

#[test]
fn it_serves_its_script_until_its_input_ends() {
    let script =
        r#"{"faults": [{"when": {"share": 1.0}, "kind": {"error": {"code": 7, "name": "HostNotFound"}}}]}"#;
    let (mut child, mut client) = start(&["--script-json", script]);
    client.ping();
    assert_eq!(client.code(doc! {"find": "c"}), 7);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert!(client.is_closed());
}

#[test]
fn it_ends_well_on_a_signal() {
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let (mut child, mut client) = start(&[]);
        client.ping();
        // SAFETY: the process is our own child and has not been waited for, so that its id is still its own.
        unsafe { libc::kill(child.id() as libc::pid_t, signal) };
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn bad_arguments_are_explained() {
    for (arguments, message) in [
        (vec!["--script-json", r#"{"servers": 0}"#], "servers: must be"),
        (vec!["--script", "/no/such/file"], "/no/such/file"),
        (vec!["--port", "70000"], "70000 is no port"),
        (vec!["--protocol", "gopher"], "gopher is no protocol"),
        (vec!["--frobnicate"], "unknown argument --frobnicate"),
        (vec!["--port"], "--port needs a value"),
    ] {
        let output = program().args(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.starts_with("error: ") && stderr.contains(message), "{stderr}");
        assert!(output.stdout.is_empty());
    }
    let mut help = program().arg("--help").spawn().unwrap();
    let mut text = String::new();
    help.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(help.wait().unwrap().success() && text.starts_with("usage: "));
}
