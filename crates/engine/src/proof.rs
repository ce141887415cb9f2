//! Owns the one connection that is made alone, before all others: a login that the server refuses is sent once, however many
//! connections are wanted, and so is what it can't prepare. Servers lock accounts after a few wrong passwords.

use std::io;

use brimline_net::wait::{is_ready, sleep};
use rustix::event::PollFlags;

use crate::clock::{Clock, NANOS_PER_S, Nanos};
use crate::target::{Broken, Destination, Greeted};

/// How often a wait looks whether it is still wanted, and how long a try that failed rests before the next.
const LOOK_UP_NS: Nanos = NANOS_PER_S / 20;

/// Makes one connection to `destination` and drops it, unless a login was tried before or a server of MongoDB's has none. Tries again until
/// `timeout_ns` have passed while the server can't be reached.
///
/// # Errors
/// Why the server lets nobody in.
pub fn prove(
    destination: &Destination,
    timeout_ns: Nanos,
    is_wanted: impl Fn() -> bool,
) -> Result<(), String> {
    if matches!(destination, Destination::Mongo(endpoint) if !endpoint.access().needs_proof()) {
        return Ok(());
    }
    let clock = Clock::start();
    loop {
        let reason = match shake_hands(destination, || is_wanted() && clock.now() < timeout_ns) {
            Ok(()) => return Ok(()),
            Err(broken) if broken.is_final => return Err(broken.message),
            Err(broken) => broken.message,
        };
        if !is_wanted() || clock.now() >= timeout_ns {
            return Err(reason);
        }
        sleep(LOOK_UP_NS).map_err(|error| error.to_string())?;
    }
}

fn shake_hands(destination: &Destination, is_wanted: impl Fn() -> bool) -> Result<(), Broken> {
    let no_answer = || io::Error::new(io::ErrorKind::TimedOut, "no answer to the handshake");
    let mut channel = destination.connect()?;
    if channel.socket().is_none() {
        channel.open()?;
    }
    let mut awaited = PollFlags::OUT;
    loop {
        while !is_ready(&channel.socket().ok_or_else(Broken::no_socket)?, awaited, LOOK_UP_NS)? {
            if !is_wanted() {
                return Err(no_answer().into());
            }
        }
        awaited = match channel.greet()? {
            Greeted::AwaitsRoom => PollFlags::OUT,
            Greeted::AwaitsReply => PollFlags::IN,
            Greeted::Ready(_) => return Ok(()),
        };
        // Also of a server whose bytes trickle, so that the socket is ready again and again.
        if !is_wanted() {
            return Err(no_answer().into());
        }
    }
}
