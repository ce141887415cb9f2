//! Owns the one connection that is made alone, before all others: a login that the server refuses is sent once, however many
//! connections are wanted. Servers lock accounts after a few wrong passwords.

use std::io;

use brimline_net::wait::{is_ready, sleep};
use brimline_wire::endpoint::Endpoint;
use brimline_wire::handshake::{HandshakeError, Step};
use rustix::event::PollFlags;

use crate::clock::{Clock, NANOS_PER_S, Nanos};

/// How often a wait looks whether it is still wanted, and how long a try that failed rests before the next.
const LOOK_UP_NS: Nanos = NANOS_PER_S / 20;

/// Makes one connection to `endpoint` and drops it, unless its login was tried before or there is none. Tries again until
/// `timeout_ns` have passed while the server can't be reached.
///
/// # Errors
/// Why the server lets nobody in.
pub fn prove(endpoint: &Endpoint, timeout_ns: Nanos, is_wanted: impl Fn() -> bool) -> Result<(), String> {
    if !endpoint.access().needs_proof() {
        return Ok(());
    }
    let clock = Clock::start();
    loop {
        let reason = match shake_hands(endpoint, || is_wanted() && clock.now() < timeout_ns) {
            Ok(()) => return Ok(()),
            Err(error) if error.is_final() => return Err(error.to_string()),
            Err(error) => error.to_string(),
        };
        if !is_wanted() || clock.now() >= timeout_ns {
            return Err(reason);
        }
        sleep(LOOK_UP_NS).map_err(|error| error.to_string())?;
    }
}

fn shake_hands(endpoint: &Endpoint, is_wanted: impl Fn() -> bool) -> Result<(), HandshakeError> {
    let (mut connection, mut handshake) = endpoint.connect()?;
    let mut awaited = PollFlags::OUT;
    loop {
        while !is_ready(&connection, awaited, LOOK_UP_NS)? {
            if !is_wanted() {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "no answer to the handshake").into());
            }
        }
        awaited = match handshake.advance(&mut connection)? {
            Step::AwaitsRoom => PollFlags::OUT,
            Step::AwaitsReply => PollFlags::IN,
            Step::Done(_) => return Ok(()),
        };
        // Also of a server whose bytes trickle, so that the socket is ready again and again.
        if !is_wanted() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "no answer to the handshake").into());
        }
    }
}
