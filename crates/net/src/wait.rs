//! Waiting for sockets, for an instant, or for whichever comes first, without a grain of a millisecond.
//!
//! `epoll_wait` takes whole milliseconds, so it waits for those only; what is left of a wait is `ppoll` on the epoll
//! instance, whose timeout is in nanoseconds. The kernel still adds the thread's timer slack, 50 µs unless it is set.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, epoll, poll};
use rustix::io::Errno;
use rustix::time::Timespec;

const NANOS_PER_S: u64 = 1_000_000_000;
const NANOS_PER_MS: u64 = 1_000_000;

/// Waits at most `timeout_ns` for events of `epoll`, which are put into `buffer`; `None`: without an end. Returns early
/// without events when a signal arrives, and when less than a millisecond is left: then it must be called again.
///
/// # Errors
/// When the kernel refuses to wait.
pub fn wait<'b>(
    epoll: &impl AsFd,
    buffer: &'b mut [MaybeUninit<epoll::Event>],
    timeout_ns: Option<u64>,
) -> io::Result<&'b mut [epoll::Event]> {
    let waited = match timeout_ns {
        Some(timeout_ns) if timeout_ns < NANOS_PER_MS => wait_finely(epoll, buffer, timeout_ns),
        _ => take(epoll, buffer, timeout_ns.map(|timeout_ns| timeout_ns - timeout_ns % NANOS_PER_MS)),
    };
    match waited {
        Ok(events) => Ok(events),
        Err(Errno::INTR) => Ok(&mut []),
        Err(error) => Err(error.into()),
    }
}

/// Sleeps for `duration_ns`, less when a signal arrives.
///
/// # Errors
/// When the kernel refuses to wait.
#[expect(clippy::disallowed_methods, reason = "this is the place that waits, here for an instant")]
pub fn sleep(duration_ns: u64) -> io::Result<()> {
    match poll(&mut [], Some(&timespec(duration_ns))) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Waits at most `timeout_ns` for one `socket`; whether it is ready for one of `wanted`. Not so early when a signal arrives.
///
/// # Errors
/// When the kernel refuses to wait.
#[expect(clippy::disallowed_methods, reason = "this is the place that waits, here for one socket")]
pub fn is_ready(socket: &impl AsFd, wanted: PollFlags, timeout_ns: u64) -> io::Result<bool> {
    match poll(&mut [PollFd::new(socket, wanted)], Some(&timespec(timeout_ns))) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Waits at most `timeout_ns` for any of `sockets`, each with what it is wanted for; which are ready for that, or broken. None
/// of them when a signal arrives.
///
/// # Errors
/// When the kernel refuses to wait.
#[expect(clippy::disallowed_methods, reason = "this is the place that waits, here for some sockets")]
pub fn which_are_ready(sockets: &[(BorrowedFd<'_>, PollFlags)], timeout_ns: u64) -> io::Result<Vec<bool>> {
    let mut waited: Vec<PollFd<'_>> =
        sockets.iter().map(|(socket, wanted)| PollFd::from_borrowed_fd(*socket, *wanted)).collect();
    match poll(&mut waited, Some(&timespec(timeout_ns))) {
        Ok(_) => Ok(waited.iter().map(|socket| !socket.revents().is_empty()).collect()),
        Err(Errno::INTR) => Ok(vec![false; sockets.len()]),
        Err(error) => Err(error.into()),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the place that waits, here for what is left of a millisecond"
)]
fn wait_finely<'b>(
    epoll: &impl AsFd,
    buffer: &'b mut [MaybeUninit<epoll::Event>],
    timeout_ns: u64,
) -> Result<&'b mut [epoll::Event], Errno> {
    if timeout_ns > 0 && poll(&mut [PollFd::new(epoll, PollFlags::IN)], Some(&timespec(timeout_ns)))? == 0 {
        return Ok(&mut []);
    }
    take(epoll, buffer, Some(0))
}

/// `timeout_ns` is whole milliseconds: the call would round it up to them.
#[expect(clippy::disallowed_methods, reason = "this is the place that waits, here for whole milliseconds")]
fn take<'b>(
    epoll: &impl AsFd,
    buffer: &'b mut [MaybeUninit<epoll::Event>],
    timeout_ns: Option<u64>,
) -> Result<&'b mut [epoll::Event], Errno> {
    let (events, _) = epoll::wait(epoll.as_fd(), buffer, timeout_ns.map(timespec).as_ref())?;
    Ok(events)
}

fn timespec(time_ns: u64) -> Timespec {
    Timespec { tv_sec: (time_ns / NANOS_PER_S) as i64, tv_nsec: (time_ns % NANOS_PER_S) as i64 }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::num::NonZeroU64;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    use super::*;

    fn instance() -> OwnedFd {
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).expect("the slack can be set");
        epoll::create(epoll::CreateFlags::CLOEXEC).expect("an epoll instance")
    }

    #[test]
    fn a_ready_socket_ends_a_wait_of_any_length() {
        let timeouts = [Some(0), Some(300_000), Some(NANOS_PER_S), Some(NANOS_PER_S + 300_000), None];
        for timeout_ns in timeouts {
            let (mut here, there) = UnixStream::pair().expect("a socket pair");
            let epoll = instance();
            let data = epoll::EventData::new_u64(7);
            epoll::add(&epoll, &there, data, epoll::EventFlags::IN).expect("the socket can be watched");
            let mut buffer = [const { MaybeUninit::uninit() }; 4];
            let before = wait(&epoll, &mut buffer, Some(300_000)).expect("the kernel can wait");
            assert!(before.is_empty());
            here.write_all(b"x").expect("the socket takes a byte");
            let events = wait(&epoll, &mut buffer, timeout_ns).expect("the kernel can wait");
            assert_eq!(events.iter().map(|event| event.data.u64()).collect::<Vec<_>>(), [7]);
        }
    }

    #[test]
    fn of_several_sockets_those_are_told_that_have_something_to_say() {
        let (mut speaking, heard) = UnixStream::pair().expect("a socket pair");
        let (left, abandoned) = UnixStream::pair().expect("a socket pair");
        let (_silent, unheard) = UnixStream::pair().expect("a socket pair");
        speaking.write_all(b"x").expect("the socket takes a byte");
        drop(left);
        let sockets = [&unheard, &heard, &abandoned].map(|socket| (socket.as_fd(), PollFlags::IN));
        let ready = which_are_ready(&sockets, NANOS_PER_S).expect("the kernel can wait");
        assert_eq!(ready, [false, true, true]);
        assert_eq!(which_are_ready(&sockets[..1], 0).expect("the kernel can wait"), [false]);
    }

    /// The best of many tries, because any one may be late on a busy machine; a grain of a millisecond shows in all of them.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test times the wait from outside")]
    fn waits_end_on_time_and_not_at_the_next_millisecond() {
        let epoll = instance();
        let mut buffer = [const { MaybeUninit::uninit() }; 4];
        for length in [Duration::from_micros(100), Duration::from_micros(1_300)] {
            let mut late = |_| {
                let end = Instant::now() + length;
                while let left @ 1.. = end.saturating_duration_since(Instant::now()).as_nanos() as u64 {
                    wait(&epoll, &mut buffer, Some(left)).expect("the kernel can wait");
                }
                end.elapsed()
            };
            let best = (0..50).map(&mut late).min();
            assert!(best.is_some_and(|late| late < Duration::from_micros(200)), "{best:?} late");
        }
    }
}
