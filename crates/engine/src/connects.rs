//! Owns how long connections took to make.

use crate::clock::Nanos;

/// Connections that were made, from the first packet until they took commands: TLS and login included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectTimes {
    /// How many were made, those that took the place of others included.
    pub count: u64,
    /// What they took together.
    pub total_ns: Nanos,
    /// What the slowest took.
    pub max_ns: Nanos,
}

impl ConnectTimes {
    /// Counts one.
    pub fn add(&mut self, connect_ns: Nanos) {
        self.merge(Self { count: 1, total_ns: connect_ns, max_ns: connect_ns });
    }

    /// Adds those of another worker.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.total_ns += other.total_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// What one took; 0 where none was made.
    pub fn mean_ns(&self) -> Nanos {
        self.total_ns.checked_div(self.count).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_of_all_workers() {
        let mut times = ConnectTimes::default();
        assert_eq!(times.mean_ns(), 0);
        times.add(10);
        let mut others = ConnectTimes::default();
        others.add(20);
        others.add(60);
        times.merge(others);
        assert_eq!(times, ConnectTimes { count: 3, total_ns: 90, max_ns: 60 });
        assert_eq!(times.mean_ns(), 30);
    }
}
