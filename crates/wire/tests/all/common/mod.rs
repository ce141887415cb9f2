//! What the integration tests share: messages made by the official `bson` crate, and waiting for a socket.

#![allow(dead_code, reason = "each test program uses a part")]

use std::os::fd::AsRawFd;

use bson::Document;

/// A whole message with `body` as its only section, encoded by the official crate.
pub fn message(request_id: i32, response_to: i32, flags: u32, body: &Document) -> Vec<u8> {
    let body = body.to_vec().unwrap();
    let mut sections = vec![0];
    sections.extend_from_slice(&body);
    message_of(request_id, response_to, flags, &sections)
}

/// A whole message of `sections` as they are.
pub fn message_of(request_id: i32, response_to: i32, flags: u32, sections: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend_from_slice(&(20 + sections.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&request_id.to_le_bytes());
    bytes.extend_from_slice(&response_to.to_le_bytes());
    bytes.extend_from_slice(&2013i32.to_le_bytes());
    bytes.extend_from_slice(&flags.to_le_bytes());
    bytes.extend_from_slice(sections);
    bytes
}

/// A kind-1 section.
pub fn sequence(name: &str, documents: &[Document]) -> Vec<u8> {
    let mut content = name.as_bytes().to_vec();
    content.push(0);
    for document in documents {
        content.extend_from_slice(&document.to_vec().unwrap());
    }
    let mut section = vec![1];
    section.extend_from_slice(&(4 + content.len() as u32).to_le_bytes());
    section.extend_from_slice(&content);
    section
}

/// Waits up to 10 s until the socket is readable or closed.
pub fn wait_readable(socket: &impl AsRawFd) {
    wait(socket, libc::POLLIN);
}

/// Waits up to 10 s until the socket is writable or closed.
pub fn wait_writable(socket: &impl AsRawFd) {
    wait(socket, libc::POLLOUT);
}

#[expect(clippy::disallowed_methods, reason = "a test that has no poller; 10 s need no grain")]
fn wait(socket: &impl AsRawFd, events: libc::c_short) {
    let mut poll = libc::pollfd { fd: socket.as_raw_fd(), events, revents: 0 };
    // SAFETY: one valid pollfd, and the socket outlives the call.
    let ready = unsafe { libc::poll(&raw mut poll, 1, 10_000) };
    assert_eq!(ready, 1, "the socket did not become ready");
}
