//! The queueing model: when a request that arrives now is done, and how it ends. Pure and on whatever clock its caller
//! has, so that the same script is played by a socket server on real time and by the engine on a virtual clock.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::random;
use crate::script::{Fault, FaultKind, Script, ServiceTime, When};
use crate::work_clock::WorkClock;

/// Stream of the service times; the fault with index *i* has stream `FAULT_STREAM` + *i*.
const SERVICE_STREAM: u64 = 0;
const FAULT_STREAM: u64 = 1;
const NS_PER_HOUR: f64 = 3.6e12;

/// Gate, queue and servers of a [`Script`]. Memory depends on the script only, not on the number of requests.
#[derive(Clone, Debug)]
pub struct ServiceModel {
    seed: u64,
    service: ServiceTime,
    service_growth_per_hour: f64,
    faults: Vec<Fault>,
    gate: Option<Gate>,
    servers: Option<Servers>,
    work_clock: WorkClock,
    /// Arrival of request 0: time 0 of the script.
    origin_ns: Option<u64>,
    /// Latest arrival, from the origin.
    now_ns: u64,
    requests: u64,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Number of the request, from 0.
    pub request: u64,
    /// When it is done, on the clock of its arrival.
    pub done_ns: u64,
    /// How it ends.
    pub fate: Fate,
}

/// How a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// As it should.
    Served,
    /// With this entry of [`Script::faults`]; see [`ServiceModel::fault`].
    Faulty {
        /// Index of the fault.
        fault: usize,
    },
}

impl ServiceModel {
    /// An idle server that has seen no request. The script must be valid.
    pub fn new(script: &Script) -> Self {
        Self {
            seed: script.seed,
            service: script.service,
            service_growth_per_hour: script.service_growth_per_hour,
            faults: script.faults.clone(),
            gate: script.capacity_ops_per_s.map(Gate::new),
            servers: script.servers.map(Servers::new),
            work_clock: WorkClock::new(&script.stalls),
            origin_ns: None,
            now_ns: 0,
            requests: 0,
        }
    }

    /// Takes a request that arrives at `arrival_ns`, on any monotonic clock. Requests are served in the order of the
    /// calls, so arrivals must not decrease; one that does counts as arriving with the one before it.
    pub fn admit(&mut self, arrival_ns: u64) -> Admission {
        let request = self.requests;
        self.requests += 1;
        let origin_ns = *self.origin_ns.get_or_insert(arrival_ns);
        let now_ns = self.now_ns.max(arrival_ns.saturating_sub(origin_ns));
        self.now_ns = now_ns;

        let arrival_work_ns = self.work_clock.advance(now_ns);
        let service_ns = self.service_ns(request) * self.grown(now_ns);
        let through_ns = self.gate.as_mut().map_or(arrival_work_ns, |gate| gate.pass(arrival_work_ns));
        let done_work_ns = match &mut self.servers {
            Some(servers) => servers.serve(through_ns, service_ns),
            None => through_ns + service_ns,
        };
        let done_ns = self.work_clock.time_of(done_work_ns, now_ns);
        Admission { request, done_ns: origin_ns.saturating_add(done_ns), fate: self.fate(request) }
    }

    /// The fault that [`Fate::Faulty`] names.
    pub fn fault(&self, fault: usize) -> &FaultKind {
        &self.faults[fault].kind
    }

    /// Requests taken so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    fn service_ns(&self, request: u64) -> f64 {
        match self.service {
            ServiceTime::Fixed { ns } => ns as f64,
            ServiceTime::Exponential { mean_ns } => {
                mean_ns as f64 * random::exponential(self.seed, SERVICE_STREAM, request)
            }
            ServiceTime::Lognormal { mean_ns, sigma } => {
                let z = random::normal(self.seed, SERVICE_STREAM, request);
                mean_ns as f64 * (sigma * z - sigma * sigma / 2.0).exp()
            }
        }
    }

    /// How many times the work at first a request needs that arrives now.
    fn grown(&self, now_ns: u64) -> f64 {
        1.0 + self.service_growth_per_hour * now_ns as f64 / NS_PER_HOUR
    }

    fn fate(&self, request: u64) -> Fate {
        let selects = |(index, fault): (usize, &Fault)| match fault.when {
            When::Share(share) => random::uniform(self.seed, FAULT_STREAM + index as u64, request) < share,
            When::FirstN(n) => request < n,
            When::AtRequest(number) => request == number,
        };
        match self.faults.iter().enumerate().position(selects) {
            Some(fault) => Fate::Faulty { fault },
            None => Fate::Served,
        }
    }
}

/// Lets one request through each 1/c s of work. Within a busy period the *k*-th leaves at start + *k*/c, computed rather
/// than summed, so that rounding does not add up.
#[derive(Clone, Debug)]
struct Gate {
    capacity_ops_per_s: f64,
    busy_since_ns: f64,
    passed: u64,
}

impl Gate {
    fn new(capacity_ops_per_s: f64) -> Self {
        Self { capacity_ops_per_s, busy_since_ns: 0.0, passed: 0 }
    }

    fn free_at_ns(&self) -> f64 {
        self.busy_since_ns + self.passed as f64 * 1e9 / self.capacity_ops_per_s
    }

    fn pass(&mut self, arrival_ns: f64) -> f64 {
        if arrival_ns >= self.free_at_ns() {
            self.busy_since_ns = arrival_ns;
            self.passed = 0;
        }
        self.passed += 1;
        self.free_at_ns()
    }
}

/// Servers behind one queue, first come first served.
#[derive(Clone, Debug)]
struct Servers {
    count: usize,
    /// When each server that has ever worked is free, earliest first.
    free_at: BinaryHeap<Reverse<Moment>>,
}

impl Servers {
    fn new(count: u32) -> Self {
        Self { count: count as usize, free_at: BinaryHeap::new() }
    }

    fn serve(&mut self, arrival_ns: f64, service_ns: f64) -> f64 {
        let free_at_ns = if self.free_at.len() < self.count {
            arrival_ns
        } else {
            self.free_at.pop().map_or(arrival_ns, |Reverse(Moment(free_at_ns))| free_at_ns)
        };
        let done_ns = arrival_ns.max(free_at_ns) + service_ns;
        self.free_at.push(Reverse(Moment(done_ns)));
        done_ns
    }
}

/// A moment on the clock of work, ordered.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Moment(f64);

impl Eq for Moment {}

impl Ord for Moment {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Moment {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
