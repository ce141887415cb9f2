//! The sockets of a worker and the wait for the first that is ready, on a thread whose waits end as exactly as the machine
//! can: the kernel's usual timer slack of 50 µs is set to 1 ns.

use std::io;
use std::mem::MaybeUninit;
use std::num::{NonZeroU64, NonZeroUsize};
use std::os::fd::{BorrowedFd, OwnedFd};

use brimline_net::wait::{sleep, wait};
use rustix::event::epoll;

use crate::aim::Aim;
use crate::clock::{Clock, Nanos};

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

/// How a wait ends whose time is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By a timer, as late as timers are.
    ByTimer,
    /// By the clock: the timer wakes the thread shortly before, and it looks at sockets and clock until the time is over. For
    /// machines that have a processor to spare.
    ByClock,
}

/// From how many processors on a generator may look at the clock although the server is on the same machine.
const SPARE_PROCESSORS: usize = 4;

impl Ending {
    /// How waits end here. A generator that shares a small machine with the server would take from the server what it spends
    /// on being punctual.
    pub fn of_generator(beside_server: bool) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        if !beside_server || processors >= SPARE_PROCESSORS { Self::ByClock } else { Self::ByTimer }
    }
}

/// An epoll instance that hands out the tokens of ready sockets one at a time.
pub struct Poller {
    epoll: OwnedFd,
    events: [MaybeUninit<epoll::Event>; BATCH],
    tokens: [u32; BATCH],
    ready: usize,
    taken: usize,
    clock: Clock,
    /// `None`: waits end by a timer.
    aim: Option<Aim>,
}

impl Poller {
    /// A poller for the calling thread, whose timer slack becomes 1 ns.
    ///
    /// # Errors
    /// When the kernel gives no epoll instance.
    pub fn new(ending: Ending) -> io::Result<Self> {
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        Ok(Self {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            events: [MaybeUninit::uninit(); BATCH],
            tokens: [0; BATCH],
            ready: 0,
            taken: 0,
            clock: Clock::start(),
            aim: (ending == Ending::ByClock).then(Aim::default),
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

    /// Watches `socket` no more.
    ///
    /// # Errors
    /// When the socket is not watched.
    pub fn remove(&self, socket: BorrowedFd<'_>) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, socket)?)
    }

    /// Waits at most `timeout_ns` for a ready socket. Returns early without one when a signal arrives, and when only part
    /// of a millisecond is left, for which it must be called again.
    ///
    /// # Errors
    /// When the kernel refuses to wait.
    pub fn wait(&mut self, timeout_ns: Nanos) -> io::Result<()> {
        match self.aim {
            None => self.look(timeout_ns),
            Some(aim) => self.wait_by_clock(timeout_ns, aim),
        }
    }

    /// Sleeps for `duration_ns` whatever the sockets have to say; less, when waits end by the clock, by what timers are late.
    ///
    /// # Errors
    /// When the kernel refuses to wait.
    pub fn rest(&mut self, duration_ns: Nanos) -> io::Result<()> {
        self.ready = 0;
        self.taken = 0;
        let Some(mut aim) = self.aim else { return sleep(duration_ns) };
        let asked = self.clock.now() + duration_ns.saturating_sub(aim.early_ns());
        sleep(duration_ns.saturating_sub(aim.early_ns()))?;
        aim.learn(self.clock.now().saturating_sub(asked));
        self.aim = Some(aim);
        Ok(())
    }

    fn wait_by_clock(&mut self, timeout_ns: Nanos, mut aim: Aim) -> io::Result<()> {
        let mut now = self.clock.now();
        let end = now + timeout_ns;
        let asked = end.saturating_sub(aim.early_ns());
        self.look(asked.saturating_sub(now))?;
        while self.ready == 0 {
            let before = now;
            now = self.clock.now();
            if before < asked && now >= asked {
                aim.learn(now - asked);
                self.aim = Some(aim);
            }
            if now >= end {
                break;
            }
            self.look(asked.saturating_sub(now))?;
        }
        Ok(())
    }

    fn look(&mut self, timeout_ns: Nanos) -> io::Result<()> {
        self.ready = 0;
        self.taken = 0;
        let events = wait(&self.epoll, &mut self.events, Some(timeout_ns))?;
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

fn flags(interest: Interest) -> epoll::EventFlags {
    match interest {
        Interest::Readable => epoll::EventFlags::IN,
        Interest::Writable => epoll::EventFlags::IN | epoll::EventFlags::OUT,
    }
}
