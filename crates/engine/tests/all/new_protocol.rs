//! A protocol that nobody has heard of: with what ARCHITECTURE asks of a new one, and nothing more, it runs as any other. Here are its
//! crate, in small, and its line in the engine's table; those in Python's are in `tests/contract/test_a_new_protocol.py`, which
//! makes the plan that is executed here.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use brimline_bson::Reader;
use brimline_engine::plan::Plan;
use brimline_engine::target::linked::Protocol;
use brimline_engine::{EndedBy, Run, RunError, Surroundings};
use brimline_net::link::{Answer, Connector, Greeting, Link, Looks, Lost, Refusal, RefusalKind, Request};
use brimline_net::protocol::{Protocol as Spoken, Secrets, Step, StepError};
use brimline_net::stream::{Extent, SendState, Stream, StreamError};
use serde::Deserialize;
use serde_json::json;

use crate::common::execute_with;

// The crate: a request is a word and a number, a reply a line.

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    address: SocketAddr,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    word: String,
}

struct Lines {
    name: String,
    address: SocketAddr,
    words: Vec<String>,
}

impl Spoken for Lines {
    type Settings = Settings;
    type Request = Line;
    type Requests = Vec<String>;

    fn compile(steps: &[Step<Line>]) -> Result<Vec<String>, StepError> {
        let word = |(step, each): (usize, &Step<Line>)| {
            let message = format!("{}: says nothing", each.name);
            let word = &each.request.word;
            if word.is_empty() { Err(StepError { step, message }) } else { Ok(word.clone()) }
        };
        steps.iter().enumerate().map(word).collect()
    }

    fn new(settings: Settings, _: Secrets, words: Vec<String>) -> Result<Self, String> {
        Ok(Self { name: settings.address.to_string(), address: settings.address, words })
    }
}

impl Connector for Lines {
    fn name(&self) -> &str {
        &self.name
    }

    fn address(&self) -> SocketAddr {
        self.address
    }

    fn connect(&self) -> io::Result<Box<dyn Link>> {
        let stream = Stream::open(self.address)?;
        Ok(Box::new(Conversation { address: self.address, stream, words: self.words.clone() }))
    }
}

struct Conversation {
    address: SocketAddr,
    stream: Stream,
    words: Vec<String>,
}

impl Link for Conversation {
    fn socket(&self) -> Option<BorrowedFd<'_>> {
        Some(self.stream.as_fd())
    }

    fn open(&mut self) -> io::Result<()> {
        self.stream = Stream::open(self.address)?;
        Ok(())
    }

    fn greet(&mut self) -> Result<Greeting, Lost> {
        self.stream.finish_connect()?;
        Ok(Greeting::Ready)
    }

    fn render(&mut self, request: Request, values: &[u8], _: Looks) -> Result<u64, String> {
        let mut values = Reader::new(values).map_err(|error| error.to_string())?;
        let value = values.next_element().map_err(|error| error.to_string())?;
        let number = value.and_then(|element| element.value.as_i64()).ok_or("it is no number")?;
        let line = format!("{} {number}\n", self.words[usize::from(request.step)]);
        self.stream.request().extend_from_slice(line.as_bytes());
        Ok(line.len() as u64)
    }

    fn send(&mut self) -> Result<SendState, Lost> {
        Ok(self.stream.send()?)
    }

    fn receive(&mut self) -> Result<Option<Answer>, Lost> {
        let extent = |bytes: &[u8]| {
            let end = bytes.iter().position(|&byte| byte == b'\n');
            let more = Extent::More { bytes_at_least: bytes.len() + 1 };
            Ok::<_, StreamError>(end.map_or(more, |end| Extent::Whole(end + 1)))
        };
        let Some(reply) = self.stream.receive(extent)? else { return Ok(None) };
        let text = String::from_utf8_lossy(reply.message).trim_end().to_owned();
        let refusal = |text: &str| Refusal {
            kind: RefusalKind::Error,
            code: 13,
            label: "unlucky".to_owned(),
            message: text.to_owned(),
        };
        Ok(Some(Answer {
            refusal: text.starts_with("no").then(|| Box::new(refusal(&text))),
            rows: 1,
            affected: 0,
            bytes: reply.message.len() as u64,
            leads_elsewhere: false,
            first_arrived_unix_ns: reply.arrived_unix_ns,
            arrived_unix_ns: reply.arrived_unix_ns,
        }))
    }

    fn view(&mut self, _: &mut Vec<u8>) {}
}

// The line in the engine's table.

const TABLE: &[Protocol] = &[Protocol::of::<Lines>("line")];

/// A server that answers each line by its number, but for 13; it tells what it was asked.
fn serve() -> (SocketAddr, mpsc::Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let (asked, lines) = mpsc::channel();
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let asked = asked.clone();
            thread::spawn(move || attend(&socket, &asked));
        }
    });
    (address, lines)
}

fn attend(socket: &TcpStream, asked: &mpsc::Sender<String>) -> Option<()> {
    socket.set_nodelay(true).ok()?;
    for line in BufReader::new(socket).lines() {
        let line = line.ok()?;
        let number = line.strip_prefix("GET ")?;
        let reply = if number == "13" { "no\n".to_owned() } else { format!("{number}\n") };
        asked.send(line).ok()?;
        (&*socket).write_all(reply.as_bytes()).ok()?;
    }
    None
}

/// What Python makes of a workload of such a protocol, with these changes of its target.
fn plan(target: &serde_json::Value) -> Plan {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/contract/line_plan.json");
    let mut plan: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    plan["target"].as_object_mut().unwrap().extend(target.as_object().unwrap().clone());
    serde_json::from_value(plan).unwrap()
}

fn surroundings() -> Surroundings {
    Surroundings { protocols: TABLE, ..Surroundings::default() }
}

#[test]
fn it_runs_and_is_recorded_as_any_other() {
    let (address, lines) = serve();
    let outcome = execute_with(&plan(&json!({"address": address})), surroundings());
    let summary = outcome.summary;
    assert_eq!(summary.ended_by, EndedBy::Completed);
    assert_eq!((summary.kinds.iter().map(|kind| kind.ok).sum::<u64>(), summary.due), (199, 200));
    let failures: Vec<_> = summary
        .failures
        .iter()
        .map(|each| (each.first.label.as_str(), each.first.code, each.count))
        .collect();
    assert_eq!(failures, [("unlucky", 13, 1)]);
    let mut asked: Vec<u64> = lines.try_iter().map(|line| line["GET ".len()..].parse().unwrap()).collect();
    asked.sort_unstable();
    assert_eq!(asked, (0..200).collect::<Vec<_>>());
    assert_eq!(outcome.service.len(), 200);
}

#[test]
fn its_plan_is_written_as_it_was_read() {
    let plan = plan(&json!({}));
    let written = serde_json::to_value(&plan).unwrap();
    assert_eq!(written["target"], json!({"kind": "line", "address": "127.0.0.1:7"}));
    assert_eq!(serde_json::from_value::<Plan>(written).unwrap(), plan);
}

/// Before anything is connected to, and by the place in the plan.
#[test]
fn what_it_can_t_do_is_refused() {
    let refused = |plan: Plan, surroundings: Surroundings| match Run::start_with(plan, surroundings) {
        Err(RunError::Plan(error)) => (error.path, error.message),
        _ => panic!("it runs"),
    };
    let (path, message) = refused(plan(&json!({})), Surroundings::default());
    assert_eq!((path.as_str(), message.as_str()), ("target.kind", "\"line\" is no kind of target"));
    let (path, message) = refused(plan(&json!({"tls": true})), surroundings());
    assert!(path == "target" && message.contains("unknown field `tls`"), "{path}: {message}");
    let driven = plan(&json!({"client": "some-driver", "max_pool_size": 1}));
    let (path, message) = refused(driven, surroundings());
    assert_eq!((path.as_str(), message.as_str()), ("target.client", "\"line\" has no drivers"));
    let mut mute = plan(&json!({}));
    let brimline_engine::plan::Work::Operations(own) = &mut mute.work else { unreachable!("it has steps") };
    own.operations[0].steps[0].request = Some(json!({"kind": "line", "word": ""}));
    let (path, message) = refused(mute, surroundings());
    assert_eq!(
        (path.as_str(), message.as_str()),
        ("work.operations.0.steps.0.request", "look: says nothing")
    );
    let load = brimline_engine::plan::Work::Load {
        batch_size: 1,
        ordered: false,
        ranges: None,
        upsert: false,
        insert_retries: None,
    };
    let mut load = Plan { work: load, operation_count: None, ..plan(&json!({})) };
    load.data.record_count = 1;
    let (path, _) = refused(load, surroundings());
    assert_eq!(path, "work.kind");
}
