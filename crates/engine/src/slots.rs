//! A worker's connections as places for operations: which are up, which are free, what is in flight on the others.

use crate::clock::Nanos;
use crate::flight::InFlight;
use crate::target::ConnectionIndex;

#[derive(Clone, Copy)]
enum Slot {
    Down,
    Free,
    Busy(InFlight),
}

/// One slot per connection.
pub struct Slots {
    places: Vec<Slot>,
    /// Free connections, the one used last on top: its cache lines are warm.
    free: Vec<ConnectionIndex>,
    freed_at: Nanos,
    up_count: u64,
    in_flight_count: u64,
    down_since: Option<Nanos>,
}

impl Slots {
    /// `count` connections, all down.
    pub fn new(count: usize) -> Self {
        Self {
            places: vec![Slot::Down; count],
            free: Vec::with_capacity(count),
            freed_at: 0,
            up_count: 0,
            in_flight_count: 0,
            down_since: None,
        }
    }

    /// How many connections there are.
    pub fn count(&self) -> u64 {
        self.places.len() as u64
    }

    /// How many are up.
    pub fn up_count(&self) -> u64 {
        self.up_count
    }

    /// How many operations are in flight.
    pub fn in_flight_count(&self) -> u64 {
        self.in_flight_count
    }

    /// Since when none is up.
    pub fn down_since(&self) -> Option<Nanos> {
        self.down_since
    }

    /// When a connection became free after none had been: what was due before that was held back.
    #[inline]
    pub fn freed_at(&self) -> Nanos {
        self.freed_at
    }

    /// The free connection to use next.
    #[inline]
    pub fn next_free(&self) -> Option<ConnectionIndex> {
        self.free.last().copied()
    }

    /// Puts an operation on the connection that [`next_free`](Self::next_free) named.
    #[inline]
    pub fn occupy(&mut self, connection: ConnectionIndex, flight: InFlight) {
        debug_assert_eq!(self.free.last(), Some(&connection));
        self.free.pop();
        self.in_flight_count += 1;
        self.places[connection] = Slot::Busy(flight);
    }

    /// The operation in flight on `connection`.
    #[inline]
    pub fn in_flight(&self, connection: ConnectionIndex) -> Option<InFlight> {
        match self.places[connection] {
            Slot::Busy(flight) => Some(flight),
            Slot::Down | Slot::Free => None,
        }
    }

    /// Notes how far the operation on `connection` has come.
    #[inline]
    pub fn update(&mut self, connection: ConnectionIndex, flight: InFlight) {
        self.places[connection] = Slot::Busy(flight);
    }

    /// All operations in flight, with their connections.
    pub fn all_in_flight(&self) -> impl Iterator<Item = (ConnectionIndex, &InFlight)> {
        self.places.iter().enumerate().filter_map(|(connection, slot)| match slot {
            Slot::Busy(flight) => Some((connection, flight)),
            Slot::Down | Slot::Free => None,
        })
    }

    /// The operation on `connection` is finished; the connection is free at `now`.
    #[inline]
    pub fn release(&mut self, connection: ConnectionIndex, now: Nanos) {
        self.in_flight_count -= 1;
        self.add_free(connection, now);
    }

    /// `connection` has come up.
    pub fn up(&mut self, connection: ConnectionIndex, now: Nanos) {
        self.up_count += 1;
        self.down_since = None;
        self.add_free(connection, now);
    }

    /// `connection` has gone down; hands out the operation that went down with it.
    pub fn down(&mut self, connection: ConnectionIndex, now: Nanos) -> Option<InFlight> {
        let before = std::mem::replace(&mut self.places[connection], Slot::Down);
        let lost = match before {
            Slot::Busy(flight) => {
                self.in_flight_count -= 1;
                Some(flight)
            }
            Slot::Free => {
                self.free.retain(|&free| free != connection);
                None
            }
            Slot::Down => None,
        };
        if !matches!(before, Slot::Down) {
            self.up_count -= 1;
        }
        if self.up_count == 0 {
            self.down_since.get_or_insert(now);
        }
        lost
    }

    fn add_free(&mut self, connection: ConnectionIndex, now: Nanos) {
        if self.free.is_empty() {
            self.freed_at = now;
        }
        self.places[connection] = Slot::Free;
        self.free.push(connection);
    }
}
