//! Owns the way from the reader to the workers: stretches in the order of the input, and a bound on the bytes that are under
//! way, from being read to being settled.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use brimline_formats::{Convert, Stretch};

/// Bytes of input that may be under way. One stretch is let through whatever its length.
const BYTES_UNDER_WAY_MAX: usize = 24 << 20;
/// Emptied buffers that are kept.
const SPARE_BUFFERS_MAX: usize = 16;
/// A buffer that a giant record has stretched is not kept.
const SPARE_BUFFER_BYTES_MAX: usize = 4 << 20;

/// A stretch on its way.
pub struct Task {
    /// Its number, from 0 in the order of the inputs.
    pub number: u64,
    /// Number of its input.
    pub input: usize,
    /// Its records.
    pub stretch: Stretch,
    /// What converts them.
    pub convert: Arc<dyn Convert>,
    /// Whether records of it may have been sent before.
    pub in_doubt: bool,
}

/// The queue.
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    tasks_max: usize,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    bytes_under_way: usize,
    spare: Vec<Vec<u8>>,
    is_closed: bool,
    is_abandoned: bool,
}

impl Queue {
    /// An empty queue for so many workers.
    pub fn new(workers: usize) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), tasks_max: workers + 2 }
    }

    /// Appends `task` when there is room for it. Returns whether it will be looked at.
    pub fn push(&self, task: Task) -> bool {
        let mut state = self.lock();
        while !state.is_abandoned
            && (state.tasks.len() >= self.tasks_max
                || (state.bytes_under_way > 0
                    && state.bytes_under_way + task.stretch.bytes.len() > BYTES_UNDER_WAY_MAX))
        {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_abandoned {
            return false;
        }
        state.bytes_under_way += task.stretch.bytes.len();
        state.tasks.push_back(task);
        self.changed.notify_all();
        true
    }

    /// Nothing more comes.
    pub fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// What waits is dropped, and nothing more is taken or handed out.
    pub fn abandon(&self) {
        let mut state = self.lock();
        state.is_abandoned = true;
        state.tasks.clear();
        self.changed.notify_all();
    }

    /// The next task, if one is there.
    pub fn try_take(&self) -> Option<Task> {
        let task = self.lock().tasks.pop_front();
        if task.is_some() {
            self.changed.notify_all();
        }
        task
    }

    /// The next task; waits for it. `None` when none will come.
    pub fn take(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if let Some(task) = state.tasks.pop_front() {
                self.changed.notify_all();
                return Some(task);
            }
            if state.is_closed || state.is_abandoned {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A stretch is settled; its buffer can be used again.
    pub fn give_back(&self, mut buffer: Vec<u8>) {
        let mut state = self.lock();
        state.bytes_under_way -= buffer.len().min(state.bytes_under_way);
        if buffer.capacity() <= SPARE_BUFFER_BYTES_MAX && state.spare.len() < SPARE_BUFFERS_MAX {
            buffer.clear();
            state.spare.push(buffer);
        }
        self.changed.notify_all();
    }

    /// An empty buffer.
    pub fn buffer(&self) -> Vec<u8> {
        self.lock().spare.pop().unwrap_or_default()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
