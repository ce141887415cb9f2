//! Waiting: for sockets, for an instant, or for whichever comes first. Nothing here has millisecond grain.
//!
//! `epoll_pwait2` (Linux 5.11) takes its timeout in nanoseconds, and a timer slack of 1 ns keeps the kernel from rounding
//! it (the default slack adds 50 µs). Where `epoll_pwait2` is missing, on an older kernel or under valgrind, `ppoll` waits
//! for the epoll instance itself just as finely, at the price of a second system call.

use std::io;
use std::mem::MaybeUninit;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, epoll, poll};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::clock::{NANOS_PER_S, Nanos};

/// Ready sockets taken from the kernel at once. More only delays the first of them.
const BATCH: usize = 64;

/// What a socket is watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Bytes to read.
    Readable,
    /// Room to write; bytes to read as well.
    Writable,
}

/// An epoll instance that hands out the tokens of ready sockets one at a time.
pub struct Poller {
    epoll: OwnedFd,
    events: [MaybeUninit<epoll::Event>; BATCH],
    tokens: [u32; BATCH],
    ready: usize,
    taken: usize,
    has_fine_epoll: bool,
}

impl Poller {
    /// A poller for the calling thread, whose timer slack becomes 1 ns.
    ///
    /// # Errors
    /// When the kernel gives no epoll instance.
    pub fn new() -> io::Result<Self> {
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        Ok(Self {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            events: [MaybeUninit::uninit(); BATCH],
            tokens: [0; BATCH],
            ready: 0,
            taken: 0,
            has_fine_epoll: true,
        })
    }

    /// Starts watching `socket`, level-triggered.
    ///
    /// # Errors
    /// When the kernel refuses, for instance for lack of memory.
    pub fn add(&self, socket: BorrowedFd<'_>, token: u32, interest: Interest) -> io::Result<()> {
        let data = epoll::EventData::new_u64(u64::from(token));
        Ok(epoll::add(&self.epoll, socket, data, flags(interest))?)
    }

    /// Changes what `socket` is watched for.
    ///
    /// # Errors
    /// When the socket is not watched.
    pub fn modify(&self, socket: BorrowedFd<'_>, token: u32, interest: Interest) -> io::Result<()> {
        let data = epoll::EventData::new_u64(u64::from(token));
        Ok(epoll::modify(&self.epoll, socket, data, flags(interest))?)
    }

    /// Waits at most `timeout_ns` for a ready socket. Returns early without one when a signal arrives.
    ///
    /// # Errors
    /// When the kernel refuses to wait.
    pub fn wait(&mut self, timeout_ns: Nanos) -> io::Result<()> {
        self.ready = 0;
        self.taken = 0;
        match self.wait_once(&timespec(timeout_ns)) {
            Err(Errno::NOSYS) if self.has_fine_epoll => {
                self.has_fine_epoll = false;
                self.wait(timeout_ns)
            }
            Ok(()) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn wait_once(&mut self, timeout: &Timespec) -> Result<(), Errno> {
        if self.has_fine_epoll {
            return self.take_ready(timeout);
        }
        poll(&mut [PollFd::new(&self.epoll, PollFlags::IN)], Some(timeout))?;
        self.take_ready(&timespec(0))
    }

    fn take_ready(&mut self, timeout: &Timespec) -> Result<(), Errno> {
        let (events, _) = epoll::wait(self.epoll.as_fd(), &mut self.events, Some(timeout))?;
        self.ready = events.len();
        for (token, event) in self.tokens.iter_mut().zip(events) {
            *token = event.data.u64() as u32;
        }
        Ok(())
    }

    /// The next socket the last [`wait`](Self::wait) found ready.
    #[inline]
    pub fn next_ready(&mut self) -> Option<u32> {
        let token = *self.tokens[..self.ready].get(self.taken)?;
        self.taken += 1;
        Some(token)
    }
}

fn timespec(time_ns: Nanos) -> Timespec {
    Timespec { tv_sec: (time_ns / NANOS_PER_S) as i64, tv_nsec: (time_ns % NANOS_PER_S) as i64 }
}

fn flags(interest: Interest) -> epoll::EventFlags {
    match interest {
        Interest::Readable => epoll::EventFlags::IN,
        Interest::Writable => epoll::EventFlags::IN | epoll::EventFlags::OUT,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::clock::Clock;

    /// Both ways of waiting find the same socket, and neither returns before its time.
    #[test]
    fn waiting_works_with_and_without_epoll_pwait2() {
        for has_fine_epoll in [true, false] {
            let (mut here, there) = UnixStream::pair().expect("a socket pair");
            let mut poller = Poller { has_fine_epoll, ..Poller::new().expect("a poller") };
            poller.add(there.as_fd(), 7, Interest::Readable).expect("the socket can be watched");
            let clock = Clock::start();
            poller.wait(300_000).expect("the kernel can wait");
            assert!(clock.now() >= 300_000);
            assert_eq!(poller.next_ready(), None);
            here.write_all(b"x").expect("the socket takes a byte");
            poller.wait(NANOS_PER_S).expect("the kernel can wait");
            assert_eq!((poller.next_ready(), poller.next_ready()), (Some(7), None));
        }
    }
}
