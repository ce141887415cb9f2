//! Waiting: epoll with a timeout in nanoseconds, and a way to wake it from another thread.

use std::io;
use std::mem::MaybeUninit;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use brimline_net::wait::wait;
use rustix::event::{EventfdFlags, epoll, eventfd};

/// Events taken per wait. Few, so that a reply that falls due is not kept waiting behind a long row of requests.
const EVENTS_MAX: usize = 64;
/// Name of the waker's own events.
const WAKER: u64 = u64::MAX;

/// What a descriptor is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// That it can be read.
    Read,
    /// That it can be written.
    Write,
}

/// An epoll instance.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
    waker: Arc<OwnedFd>,
}

/// Ends the poller's current or next wait.
#[derive(Clone, Debug)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    /// Wakes the poller.
    pub fn wake(&self) {
        // The only failure is a full counter, and then the poller is awake.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }
}

impl Poller {
    /// A poller that waits for nothing but its waker.
    pub fn new() -> io::Result<Self> {
        let waker = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let poller = Self { epoll, waker: Arc::new(waker) };
        poller.add(&poller.waker, WAKER, Interest::Read)?;
        Ok(poller)
    }

    /// The waker.
    pub fn waker(&self) -> Waker {
        Waker(Arc::clone(&self.waker))
    }

    /// Waits for `descriptor` from now on; its events are called `name`.
    pub fn add(&self, descriptor: &impl AsFd, name: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, descriptor, epoll::EventData::new_u64(name), interest.flags())?)
    }

    /// Waits for something else of a descriptor that was added.
    pub fn change(&self, descriptor: &impl AsFd, name: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, descriptor, epoll::EventData::new_u64(name), interest.flags())?)
    }

    /// Waits no longer for a descriptor that was added.
    pub fn remove(&self, descriptor: &impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, descriptor)?)
    }

    /// Waits until something is ready, the waker is used or `timeout` is over, or nearly, and puts the names of what is ready into
    /// `names`, in place of what they held. Returns whether the waker was used.
    pub fn wait(&self, timeout: Option<Duration>, names: &mut Vec<u64>) -> io::Result<bool> {
        let mut buffer = [const { MaybeUninit::uninit() }; EVENTS_MAX];
        let events = wait(&self.epoll, &mut buffer, timeout.map(|timeout| timeout.as_nanos() as u64))?;
        names.clear();
        names.extend(events.iter().map(|event| event.data.u64()).filter(|&name| name != WAKER));
        Ok(names.len() < events.len())
    }
}

impl Interest {
    fn flags(self) -> epoll::EventFlags {
        match self {
            Self::Read => epoll::EventFlags::IN,
            Self::Write => epoll::EventFlags::OUT,
        }
    }
}

/// Lets the calling thread's waits end as exactly as the machine can; the usual slack is 50 µs.
///
/// # Errors
/// When the kernel refuses.
pub fn sharpen_timers() -> io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?)
}
