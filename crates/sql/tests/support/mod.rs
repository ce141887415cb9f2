//! What tests of both protocols use: a client that waits, a peer that plays a script, and values as BSON arrays.

#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "each test uses a part, and a failed unwrap is a failed test"
)]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::JoinHandle;

use brimline_bson::{Reader, Value};
use brimline_net::link::{Answer, Connector, Greeting, Link, Looks, Lost, LostKind, Part, Request};
use brimline_net::protocol::{Protocol, Secrets};
use brimline_net::stream::SendState;
use brimline_net::tls::{Tls, TlsSettings};
use brimline_net::wait::is_ready;
use brimline_sql::settings::Settings;
use brimline_sql::statement::{Mode, Requests, StatementSpec, StatementStep};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use rustix::event::PollFlags;

const PATIENCE_NS: u64 = 10_000_000_000;

pub struct Client(pub Box<dyn Link>);

impl Client {
    pub fn connect(connector: &(impl Connector + ?Sized)) -> Result<Self, Lost> {
        let mut client = Self(connector.connect()?);
        client.wait(PollFlags::OUT);
        loop {
            match client.0.greet()? {
                Greeting::Ready => return Ok(client),
                Greeting::AwaitsRoom => client.wait(PollFlags::OUT),
                Greeting::AwaitsReply => client.wait(PollFlags::IN),
            }
        }
    }

    fn wait(&self, wanted: PollFlags) {
        let socket = self.0.socket().expect("the link has a socket");
        assert!(is_ready(&socket, wanted, PATIENCE_NS).unwrap(), "nothing came");
    }

    pub fn wait_for_reply(&self) {
        self.wait(PollFlags::IN);
    }

    pub fn ask_part(
        &mut self,
        part: Part,
        step: u16,
        values: bson::Bson,
        looks: Looks,
    ) -> Result<Answer, Lost> {
        let rendered = self.0.render(Request { step, part }, &array(values), looks);
        rendered.map_err(|message| Lost { kind: LostKind::Refused, message })?;
        self.finish()
    }

    /// Sends `request` with these values, a BSON array, and takes its reply.
    pub fn exchange(&mut self, request: Request, values: &[u8]) -> Result<Answer, Lost> {
        self.0.render(request, values, Looks::default()).unwrap();
        self.finish()
    }

    fn finish(&mut self) -> Result<Answer, Lost> {
        while self.0.send()? == SendState::Blocked {
            self.wait(PollFlags::OUT);
        }
        loop {
            if let Some(answer) = self.0.receive()? {
                return Ok(answer);
            }
            self.wait(PollFlags::IN);
        }
    }

    pub fn ask(&mut self, step: u16, values: bson::Bson) -> Result<Answer, Lost> {
        self.ask_part(Part::Main, step, values, Looks::default())
    }

    /// The view of a reply that is looked at.
    pub fn look(&mut self, step: u16, values: bson::Bson) -> bson::Document {
        let looks = Looks { at_content: true, ..Looks::default() };
        let answer = self.ask_part(Part::Main, step, values, looks).unwrap();
        assert_eq!(answer.refusal, None);
        let mut view = Vec::new();
        self.0.view(&mut view);
        bson::Document::from_reader(view.as_slice()).unwrap()
    }
}

pub fn array(values: bson::Bson) -> Vec<u8> {
    let bytes = bson::doc! { "v": values }.to_vec().unwrap();
    let Some(Value::Array(array)) = Reader::new(&bytes).unwrap().find("v").unwrap() else {
        panic!("no list")
    };
    array.to_vec()
}

pub fn step(name: &str, text: &str, mode: Mode, slots: usize) -> StatementStep {
    let request = StatementSpec { text: Some(text.to_owned()), texts: Vec::new(), mode };
    StatementStep { name: name.to_owned(), request, slots }
}

pub fn settings(address: &str, database: &str) -> Settings {
    Settings {
        address: address.to_owned(),
        database: database.to_owned(),
        tls: false,
        setup: Vec::new(),
        bulk: None,
    }
}

/// A user with a password. Where `BRIMLINE_TEST_CA` names a file of certificates, those are trusted.
pub fn secrets(username: &str, password: &str) -> Secrets {
    let trust = |path: String| TlsSettings { ca_file: Some(path.into()), ..TlsSettings::default() };
    Secrets {
        username: username.to_owned().into(),
        password: Some(password.to_owned().into()),
        tls: std::env::var("BRIMLINE_TEST_CA").ok().map(|path| Tls::new(&trust(path)).unwrap()),
        ..Secrets::default()
    }
}

/// A connector of either database.
pub trait Database: Protocol<Settings = Settings, Requests = Requests> {}
impl<P: Protocol<Settings = Settings, Requests = Requests>> Database for P {}

/// The user `username` at a server, whose connections prepare `steps`.
pub fn connector_of<D: Database>(
    settings: Settings,
    username: &str,
    password: &str,
    steps: &[StatementStep],
) -> D {
    D::new(settings, secrets(username, password), Requests::new(steps).unwrap()).unwrap()
}

/// These users get into a real server with the password `mysecret`, with TLS or without; those don't without TLS, and are told so for good.
pub fn real_logins<D: Database>(address: &str, good: &[(&str, bool)], bad: &[(&str, &str)]) {
    let of = |username: &str, password: &str, tls: bool| {
        let settings = Settings { tls, ..settings(address, "shop") };
        let connector: D = connector_of(settings, username, password, &[]);
        let outcome = Client::connect(&connector).map(drop);
        (outcome, connector)
    };
    for &(username, tls) in good {
        assert_eq!(of(username, "mysecret", tls).0, Ok(()), "{username}");
    }
    for &(username, password) in bad {
        let (outcome, connector) = of(username, password, false);
        let lost = outcome.unwrap_err();
        assert_eq!(lost.kind, LostKind::Refused, "{username}");
        // It is not sent again.
        assert_eq!(Client::connect(&connector).map(drop).unwrap_err().message, lost.message);
    }
}

/// A real server refuses to prepare each of these, in its words, and a setting that there is none of.
pub fn real_refusals<D: Database>(address: &str, bad: Vec<(StatementStep, &str)>) {
    let refused = |settings, steps: &[StatementStep], words: &str| {
        let connector: D = connector_of(settings, "u", "mysecret", steps);
        let lost = Client::connect(&connector).map(drop).unwrap_err();
        assert!(lost.kind == LostKind::Refused && lost.message.contains(words), "{}", lost.message);
    };
    for (bad, words) in bad {
        refused(settings(address, "shop"), &[step("good", "SELECT 1", Mode::Prepared, 0), bad], words);
    }
    let setup = vec!["SET no_such = 1".to_owned()];
    refused(Settings { setup, ..settings(address, "shop") }, &[], "SET no_such = 1 is refused");
}

/// What a scripted peer does.
pub enum Act {
    /// Reads so many bytes as these, which must be these.
    Expect(Vec<u8>),
    /// Reads so many bytes, whatever they are.
    Read(usize),
    Say(Vec<u8>),
    /// One byte after the other.
    Drip(Vec<u8>),
    /// Says this again and again until the client goes.
    Repeat(Vec<u8>),
    /// Reads so many bytes and says this, as often as the client asks.
    Serve(usize, Vec<u8>),
    Close,
    /// Waits until the client goes.
    Hold,
}

/// Plays `acts` on one connection; the address of the peer.
pub fn peer(acts: Vec<Act>) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        for act in acts {
            play(&mut stream, act);
        }
    });
    (address, thread)
}

fn play(stream: &mut TcpStream, act: Act) {
    match act {
        Act::Expect(expected) => {
            let mut bytes = vec![0; expected.len()];
            stream.read_exact(&mut bytes).unwrap();
            assert_eq!(
                bytes,
                expected,
                "{:?} for {:?}",
                bytes.escape_ascii().to_string(),
                expected.escape_ascii().to_string()
            );
        }
        Act::Read(count) => stream.read_exact(&mut vec![0; count]).unwrap(),
        Act::Say(bytes) => stream.write_all(&bytes).unwrap(),
        Act::Drip(bytes) => bytes.iter().for_each(|byte| stream.write_all(&[*byte]).unwrap()),
        Act::Serve(count, reply) => {
            while stream.read_exact(&mut vec![0; count]).is_ok() {
                stream.write_all(&reply).unwrap();
            }
        }
        Act::Repeat(bytes) => while stream.write_all(&bytes).is_ok() {},
        Act::Close => stream.shutdown(Shutdown::Both).unwrap(),
        Act::Hold => while stream.read(&mut [0; 4_096]).is_ok_and(|count| count > 0) {},
    }
}

/// Fails unless a client that meets a peer which says `bytes` and goes comes to an end: in, or with an error.
fn ends(connector: impl FnOnce(&str) -> Box<dyn Connector>, bytes: Vec<u8>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // The client may have gone already.
        let _ = stream.write_all(&bytes).and_then(|()| stream.shutdown(Shutdown::Write));
        while stream.read(&mut [0; 4_096]).is_ok_and(|count| count > 0) {}
    });
    let _ = Client::connect(connector(&address).as_ref()).map(drop);
    thread.join().unwrap();
}

/// Likewise with what was said in one of `truths`, damaged.
pub fn ends_whatever_is_said(connector: impl Fn(&str) -> Box<dyn Connector>, truths: &[Vec<u8>]) {
    let damages = (any::<Index>(), vec((any::<Index>(), any::<u8>()), 0..5), any::<Index>());
    proptest!(ProptestConfig::with_cases(150), |((which, changes, kept) in damages)| {
        ends(&connector, damaged(which.get(truths).clone(), &changes, kept));
    });
}

/// Likewise with any bytes.
pub fn ends_with_any_bytes(connector: impl Fn(&str) -> Box<dyn Connector>) {
    proptest!(ProptestConfig::with_cases(150), |(bytes in vec(any::<u8>(), 0..100))| {
        ends(&connector, bytes);
    });
}

/// Bytes of a truth, a few of them changed, cut somewhere.
fn damaged(mut truth: Vec<u8>, changes: &[(Index, u8)], kept: Index) -> Vec<u8> {
    for (place, byte) in changes {
        let at = place.index(truth.len());
        truth[at] = *byte;
    }
    truth.truncate(kept.index(truth.len() + 1));
    truth
}
