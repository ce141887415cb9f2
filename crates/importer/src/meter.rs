//! Owns the figures over time: what was acknowledged in each interval, and how long the server took for it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use brimline_engine::clock::{Clock, Nanos, process_cpu_ns};
use brimline_engine::histogram::{TimeHistogram, new_histogram, record};

/// What happened in an interval.
pub struct Interval {
    /// When it began.
    pub start_ns: Nanos,
    /// When it ended.
    pub end_ns: Nanos,
    /// Documents that were acknowledged.
    pub documents: u64,
    /// Documents that the server refused.
    pub refused: u64,
    /// Commands that were answered.
    pub commands: u64,
    /// Bytes of the decompressed input that were settled.
    pub input_bytes: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// CPU time of the process.
    pub process_cpu_ns: Nanos,
    /// Time from sending a command to its answer.
    pub service: TimeHistogram,
}

/// Adds up the interval that is going on.
pub struct Meter {
    clock: Clock,
    state: Mutex<State>,
}

struct State {
    current: Interval,
    cpu_at_start_ns: Nanos,
    done: Vec<Interval>,
    whole: TimeHistogram,
}

impl Meter {
    /// Begins with an empty interval.
    pub fn new(clock: Clock) -> Self {
        let state = State {
            current: empty(clock.now()),
            cpu_at_start_ns: process_cpu_ns(),
            done: Vec::new(),
            whole: new_histogram(),
        };
        Self { clock, state: Mutex::new(state) }
    }

    /// A command was answered.
    pub fn answered(&self, service_ns: Nanos, documents: u64, refused: u64, bytes_out: u64) {
        let mut state = self.lock();
        state.current.commands += 1;
        state.current.documents += documents;
        state.current.refused += refused;
        state.current.bytes_out += bytes_out;
        record(&mut state.current.service, service_ns);
        record(&mut state.whole, service_ns);
    }

    /// A stretch is settled.
    pub fn settled(&self, input_bytes: u64) {
        self.lock().current.input_bytes += input_bytes;
    }

    /// Ends the interval.
    pub fn cut(&self) {
        let mut state = self.lock();
        let now = self.clock.now();
        let cpu_ns = process_cpu_ns();
        let mut interval = std::mem::replace(&mut state.current, empty(now));
        interval.end_ns = now;
        interval.process_cpu_ns = cpu_ns - state.cpu_at_start_ns;
        state.cpu_at_start_ns = cpu_ns;
        state.done.push(interval);
    }

    /// The intervals that ended since the last call.
    pub fn take(&self) -> Vec<Interval> {
        std::mem::take(&mut self.lock().done)
    }

    /// The time that 99 of 100 commands did not exceed; 0 before the first.
    pub fn p99_ns(&self) -> Nanos {
        let state = self.lock();
        if state.whole.is_empty() { 0 } else { state.whole.value_at_quantile(0.99) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn empty(start_ns: Nanos) -> Interval {
    Interval {
        start_ns,
        end_ns: start_ns,
        documents: 0,
        refused: 0,
        commands: 0,
        input_bytes: 0,
        bytes_out: 0,
        process_cpu_ns: 0,
        service: new_histogram(),
    }
}
