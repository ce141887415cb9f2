//! The little that threads of a run share: requests to end, progress, and how far inserts are acknowledged. Nothing here
//! is locked on the path of an operation.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::clock::Clock;

/// Requests to end a run before its time.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    abort: AtomicBool,
    /// The plan's own load is over, and with it those beside it.
    main_over: AtomicBool,
    /// All inserts of the run with a smaller number are settled, as far as the other nodes' shares go.
    settled_elsewhere: AtomicU64,
    loss: Mutex<Option<String>>,
    dry: Mutex<Option<String>>,
}

impl Control {
    /// Nothing more is sent; operations in flight come to their end.
    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Operations in flight are given up as well.
    pub fn abort(&self) {
        self.abort.store(true, Relaxed);
        self.stop();
    }

    /// The target can't be reached any more: the run stops, and says so.
    pub fn lose_target(&self, message: String) {
        lock(&self.loss).get_or_insert(message);
        self.stop();
    }

    /// The values that operations take have come to their end: the run stops, and says so.
    pub fn run_dry(&self, message: String) {
        lock(&self.dry).get_or_insert(message);
        self.stop();
    }

    /// Which values have come to their end.
    pub fn dry(&self) -> Option<String> {
        lock(&self.dry).clone()
    }

    /// The plan's own load is over.
    pub fn end_main(&self) {
        self.main_over.store(true, Relaxed);
    }

    /// Whether it is.
    #[inline]
    pub fn main_is_over(&self) -> bool {
        self.main_over.load(Relaxed)
    }

    /// Other nodes have settled all their inserts of the run with a smaller number than `inserts`.
    pub fn note_settled(&self, inserts: u64) {
        self.settled_elsewhere.store(inserts, Relaxed);
    }

    /// How far they have.
    #[inline]
    pub fn settled_elsewhere(&self) -> u64 {
        self.settled_elsewhere.load(Relaxed)
    }

    /// Why the target counts as lost.
    pub fn loss(&self) -> Option<String> {
        lock(&self.loss).clone()
    }

    /// Whether to send nothing more.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Whether to give up operations in flight.
    #[inline]
    pub fn aborted(&self) -> bool {
        self.abort.load(Relaxed)
    }
}

/// Progress of one worker, written by it alone and read by anyone. On cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct WorkerProgress {
    pub sent: AtomicU64,
    pub ok: AtomicU64,
    pub miss: AtomicU64,
    pub failed: AtomicU64,
    pub documents: AtomicU64,
    pub in_flight: AtomicU64,
    pub connections_up: AtomicU64,
    /// All inserts of the run with a smaller number than this are settled, as far as this worker's share goes.
    pub inserts_settled: AtomicU64,
}

/// Holds workers at the start line until all of them are connected.
#[derive(Debug, Default)]
pub struct StartLine {
    state: Mutex<Option<Start>>,
    changed: Condvar,
}

/// What the start line says.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    /// Begin, on this clock.
    Go(Clock),
    /// The run does not take place.
    Cancelled,
}

impl StartLine {
    /// Lets all workers go, or sends them home.
    pub fn release(&self, start: Start) {
        lock(&self.state).get_or_insert(start);
        self.changed.notify_all();
    }

    /// Waits for the release.
    pub fn wait(&self) -> Start {
        let mut state = lock(&self.state);
        loop {
            if let Some(start) = *state {
                return start;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Locks, also when another thread has panicked: what is behind these locks is whole at any moment.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
