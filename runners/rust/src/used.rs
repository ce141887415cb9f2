//! What this process has used, and what the driver's pool tells of its connections and of waiting for one.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use mongodb::bson::{Bson, Document, doc};
use mongodb::event::cmap::CmapEvent;
use rustix::time::{ClockId, clock_gettime};

/// Counts since the start of the process.
#[derive(Default)]
pub struct Pool {
    created: AtomicU64,
    closed: AtomicU64,
    taken: AtomicU64,
    refused: AtomicU64,
    waited_ns: AtomicU64,
    waited_max_ns: AtomicU64,
    /// How often it took so long: the bits of the time in µs.
    waits: [AtomicU64; 32],
}

impl Pool {
    pub fn follow(&self, event: &CmapEvent) {
        match event {
            CmapEvent::ConnectionCreated(_) => add(&self.created, 1),
            CmapEvent::ConnectionClosed(_) => add(&self.closed, 1),
            CmapEvent::ConnectionCheckedOut(told) => {
                add(&self.taken, 1);
                self.waited(told.duration);
            }
            CmapEvent::ConnectionCheckoutFailed(told) => {
                add(&self.refused, 1);
                self.waited(told.duration);
            }
            _ => {}
        }
    }

    fn waited(&self, time: Duration) {
        let waited_ns = time.as_nanos() as u64;
        let bits = (u64::BITS - (waited_ns / 1000).leading_zeros()) as usize;
        add(&self.waits[bits.min(self.waits.len() - 1)], 1);
        add(&self.waited_ns, waited_ns);
        self.waited_max_ns.fetch_max(waited_ns, Relaxed);
    }

    /// The document of the frame `use`.
    pub fn used(&self) -> Document {
        let count = |counter: &AtomicU64| counter.load(Relaxed) as i64;
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let mut used = doc! {
            "cpu_ns": cpu.tv_sec * 1_000_000_000 + cpu.tv_nsec,
            "connections_created": count(&self.created),
            "connections_closed": count(&self.closed),
            "pool_taken": count(&self.taken),
            "pool_refused": count(&self.refused),
            "pool_waited_ns": count(&self.waited_ns),
            "pool_waited_max_ns": count(&self.waited_max_ns),
            "pool_waits": self.waits.iter().map(|each| Bson::Int64(count(each))).collect::<Vec<_>>(),
        };
        if let Some(peak_bytes) = memory_peak_bytes() {
            used.insert("memory_peak_bytes", peak_bytes);
        }
        used
    }
}

fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Relaxed);
}

/// The most memory of this program; that of getrusage begins with that of the process that started it.
fn memory_peak_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let told = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: i64 = told.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}
