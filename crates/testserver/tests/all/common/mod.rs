//! A client with nothing but a plain socket and messages laid out by hand, so that server and client can't share an error.

#![allow(dead_code, missing_docs, reason = "each test file uses its own part")]
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bson::{Document, doc};

/// Longest wait for a reply; only a failing test takes it.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub struct Client {
    pub socket: TcpStream,
    requests: i32,
}

impl Client {
    #[expect(clippy::disallowed_methods, reason = "a bound of seconds on a test needs no grain")]
    pub fn connect(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self { socket, requests: 0 }
    }

    /// Sends a command to the database `db` and returns its number.
    pub fn send(&mut self, mut command: Document) -> i32 {
        command.insert("$db", "db");
        self.requests += 1;
        self.socket.write_all(&message(self.requests, 0, &command, None)).unwrap();
        self.requests
    }

    /// Receives a reply: the number of the request it answers, and its body.
    pub fn receive(&mut self) -> (i32, Document) {
        let message = self.receive_message();
        let field = |at: usize| i32::from_le_bytes(message[at..at + 4].try_into().unwrap());
        assert_eq!(field(12), 2013, "opcode");
        assert_eq!(field(16), 0, "flags");
        assert_eq!(message[20], 0, "kind of section");
        (field(8), Document::from_reader(&message[21..]).unwrap())
    }

    pub fn receive_message(&mut self) -> Vec<u8> {
        let mut message = vec![0; 4];
        self.socket.read_exact(&mut message).unwrap();
        let length = u32::from_le_bytes(message[..4].try_into().unwrap()) as usize;
        assert!((16..=48_000_000).contains(&length), "length {length}");
        message.resize(length, 0);
        self.socket.read_exact(&mut message[4..]).unwrap();
        message
    }

    pub fn run(&mut self, command: Document) -> Document {
        let request = self.send(command);
        let (response_to, reply) = self.receive();
        assert_eq!(response_to, request);
        reply
    }

    /// Runs a command that must succeed.
    pub fn ok(&mut self, command: Document) -> Document {
        let reply = self.run(command);
        assert_eq!(reply.get_f64("ok").ok(), Some(1.0), "{reply}");
        reply
    }

    /// Runs a command that must fail as a whole, and returns its code.
    pub fn code(&mut self, command: Document) -> i32 {
        let reply = self.run(command);
        assert_eq!(reply.get_f64("ok").ok(), Some(0.0), "{reply}");
        reply.get_i32("code").unwrap()
    }

    /// The first batch of a command with a cursor.
    pub fn batch(&mut self, command: Document) -> Vec<Document> {
        let reply = self.ok(command);
        documents(&reply, "firstBatch")
    }

    pub fn ping(&mut self) {
        self.ok(doc! {"ping": 1});
    }

    /// Whether the server has closed the connection.
    pub fn is_closed(&mut self) -> bool {
        match self.socket.read(&mut [0; 1]) {
            Ok(count) => count == 0,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }
}

/// A whole OP_MSG, with a document sequence if one is given.
pub fn message(request: i32, flags: u32, body: &Document, sequence: Option<(&str, &[Document])>) -> Vec<u8> {
    let mut content = flags.to_le_bytes().to_vec();
    content.push(0);
    content.extend(body.to_vec().unwrap());
    if let Some((name, documents)) = sequence {
        let mut section = name.as_bytes().to_vec();
        section.push(0);
        section.extend(documents.iter().flat_map(|document| document.to_vec().unwrap()));
        content.push(1);
        content.extend((section.len() as u32 + 4).to_le_bytes());
        content.extend(section);
    }
    let mut message = Vec::new();
    for field in [content.len() as i32 + 16, request, 0, 2013] {
        message.extend(field.to_le_bytes());
    }
    message.extend(content);
    message
}

pub fn documents(reply: &Document, batch: &str) -> Vec<Document> {
    let batch = reply.get_document("cursor").unwrap().get_array(batch).unwrap();
    batch.iter().map(|document| document.as_document().unwrap().clone()).collect()
}
