//! A worker's connections as places for operations: which are up, which are free, what is in flight on the others.

use crate::clock::Nanos;
use crate::flight::InFlight;
use crate::target::ConnectionIndex;

#[derive(Clone, Copy)]
enum Slot {
    Down,
    Free,
    /// Up, but its user pauses or is done.
    Resting,
    Busy(InFlight),
    /// Down, with an operation that is to be sent again once it is up.
    Parked(InFlight),
}

/// One slot per connection.
pub struct Slots {
    places: Vec<Slot>,
    /// Free connections, the one used last on top: its cache lines are warm.
    free: Vec<ConnectionIndex>,
    freed_at: Nanos,
    /// Since when there has been no free connection but with operations due already; `None` while none is due.
    full_since: Option<Nanos>,
    up_count: u64,
    in_flight_count: u64,
    in_flight_max: u64,
    down_since: Option<Nanos>,
}

impl Slots {
    /// `count` connections, all down, with at most `in_flight_max` operations in flight.
    pub fn new(count: usize, in_flight_max: u64) -> Self {
        Self {
            places: vec![Slot::Down; count],
            free: Vec::with_capacity(count),
            freed_at: 0,
            // Users that are more than the connections wait from the start.
            full_since: (in_flight_max > count as u64).then_some(0),
            up_count: 0,
            in_flight_count: 0,
            in_flight_max,
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

    /// Whether an operation due at `due` had to wait for a connection. What was due before the connections were taken didn't: it
    /// is late because the worker was.
    #[inline]
    pub fn held_back(&self, due: Nanos) -> bool {
        due < self.freed_at && self.full_since.is_some_and(|full_since| due >= full_since)
    }

    /// Nothing more is due and a connection is free.
    #[inline]
    pub fn caught_up(&mut self) {
        self.full_since = None;
    }

    /// Whether one more operation may be in flight.
    pub fn has_room(&self) -> bool {
        self.in_flight_count < self.in_flight_max
    }

    /// The free connection to use next; none as long as the bound of operations in flight is reached.
    #[inline]
    pub fn next_free(&self) -> Option<ConnectionIndex> {
        if self.has_room() { self.free.last().copied() } else { None }
    }

    /// Puts an operation on the connection that [`next_free`](Self::next_free) named.
    #[inline]
    pub fn occupy(&mut self, connection: ConnectionIndex, flight: InFlight) {
        debug_assert_eq!(self.free.last(), Some(&connection));
        self.free.pop();
        self.in_flight_count += 1;
        self.places[connection] = Slot::Busy(flight);
        self.note_full(flight.command_sent);
    }

    /// The operation in flight on `connection`.
    #[inline]
    pub fn in_flight(&self, connection: ConnectionIndex) -> Option<InFlight> {
        match self.places[connection] {
            Slot::Busy(flight) => Some(flight),
            Slot::Down | Slot::Free | Slot::Resting | Slot::Parked(_) => None,
        }
    }

    /// Whether `connection` is down and has no operation.
    pub fn is_down(&self, connection: ConnectionIndex) -> bool {
        matches!(self.places[connection], Slot::Down)
    }

    /// Whether `connection` is up and its user pauses or is done.
    pub fn is_resting(&self, connection: ConnectionIndex) -> bool {
        matches!(self.places[connection], Slot::Resting)
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
            Slot::Down | Slot::Free | Slot::Resting | Slot::Parked(_) => None,
        })
    }

    /// All operations that wait to be sent again, with their connections.
    pub fn all_parked(&self) -> impl Iterator<Item = (ConnectionIndex, &InFlight)> {
        self.places.iter().enumerate().filter_map(|(connection, slot)| match slot {
            Slot::Parked(flight) => Some((connection, flight)),
            _ => None,
        })
    }

    /// The operation on `connection` is finished at `now`; the connection is free.
    #[inline]
    pub fn release(&mut self, connection: ConnectionIndex, now: Nanos) {
        let was_full = self.next_free().is_none();
        self.in_flight_count -= 1;
        self.places[connection] = Slot::Free;
        self.free.push(connection);
        self.note_freed(was_full, now);
    }

    /// The operation on `connection` is finished at `now`; its user pauses or is done.
    pub fn release_to_rest(&mut self, connection: ConnectionIndex, now: Nanos) {
        let was_full = self.next_free().is_none();
        self.in_flight_count -= 1;
        self.places[connection] = Slot::Resting;
        self.note_freed(was_full, now);
    }

    /// `connection` has come up, and rests, unless an operation waits for it: then that is handed out, and in flight.
    pub fn up(&mut self, connection: ConnectionIndex) -> Option<InFlight> {
        self.up_count += 1;
        self.down_since = None;
        if let Slot::Parked(flight) = self.places[connection] {
            self.places[connection] = Slot::Busy(flight);
            return Some(flight);
        }
        self.places[connection] = Slot::Resting;
        None
    }

    /// `connection` has gone down at `now`, and its operation waits for it.
    pub fn park(&mut self, connection: ConnectionIndex, flight: InFlight, now: Nanos) {
        self.places[connection] = Slot::Parked(flight);
        self.lose(now);
    }

    /// The operation that waits for `connection` is given up; the connection stays down.
    pub fn give_up(&mut self, connection: ConnectionIndex) -> Option<InFlight> {
        let Slot::Parked(flight) = self.places[connection] else { return None };
        self.places[connection] = Slot::Down;
        self.in_flight_count -= 1;
        Some(flight)
    }

    /// The rest of `connection` is over at `now`. Nothing happens when it went down or was woken meanwhile.
    pub fn wake(&mut self, connection: ConnectionIndex, now: Nanos) {
        if matches!(self.places[connection], Slot::Resting) {
            let was_full = self.next_free().is_none();
            self.places[connection] = Slot::Free;
            self.free.push(connection);
            self.note_freed(was_full, now);
        }
    }

    /// `connection` has gone down; hands out the operation that went down with it. One that waits for it goes on waiting.
    pub fn down(&mut self, connection: ConnectionIndex, now: Nanos) -> Option<InFlight> {
        if let Slot::Parked(_) = self.places[connection] {
            return None;
        }
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
            Slot::Down | Slot::Resting | Slot::Parked(_) => None,
        };
        if !matches!(before, Slot::Down) {
            self.lose(now);
        }
        lost
    }

    /// One connection less is up.
    fn lose(&mut self, now: Nanos) {
        self.up_count -= 1;
        if self.up_count == 0 {
            self.down_since.get_or_insert(now);
        }
        self.note_full(now);
    }

    #[inline]
    fn note_full(&mut self, now: Nanos) {
        if self.next_free().is_none() {
            self.full_since.get_or_insert(now);
        }
    }

    fn note_freed(&mut self, was_full: bool, now: Nanos) {
        if was_full && self.next_free().is_some() {
            self.freed_at = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Command, Statements};
    use crate::kinds::OperationKind;
    use crate::operation::{Key, Operation};

    fn sent_at(sent: Nanos) -> InFlight {
        let kind = OperationKind::LOAD;
        InFlight {
            operation: Operation {
                index: 0,
                kind,
                key: Key::Record(0),
                field: 0,
                documents: 1,
                statements: Statements::NONE,
            },
            record: 0,
            command: Command::Find,
            due: None,
            sent,
            command_sent: sent,
            first_done: None,
            documents: 0,
            bytes_out: 0,
            bytes_in: 0,
            inserts_before: 0,
            is_retry: false,
        }
    }

    fn one_connection() -> Slots {
        let mut slots = Slots::new(1, 1);
        slots.up(0);
        slots.wake(0, 0);
        slots
    }

    #[test]
    fn what_is_due_while_the_connection_is_busy_is_held_back() {
        let mut slots = one_connection();
        slots.occupy(0, sent_at(100));
        slots.release(0, 200);
        let held_back = |due| slots.held_back(due);
        assert_eq!([99, 100, 199, 200].map(held_back), [false, true, true, false]);
    }

    #[test]
    fn what_is_due_in_a_queue_is_held_back_however_often_the_connection_was_free_meanwhile() {
        let mut slots = one_connection();
        for sent in [100, 200, 300] {
            slots.occupy(0, sent_at(sent));
            slots.release(0, sent + 100);
        }
        assert!(slots.held_back(101) && slots.held_back(399));
    }

    /// The worker was stopped from 100 to 3000: what was due then found a free connection and nobody who would use it.
    #[test]
    fn what_was_due_while_the_worker_was_stopped_is_not_held_back() {
        let mut slots = one_connection();
        slots.occupy(0, sent_at(50));
        slots.release(0, 90);
        slots.caught_up();
        slots.occupy(0, sent_at(3_000));
        slots.release(0, 3_100);
        assert!(!slots.held_back(150) && !slots.held_back(2_999));
        assert!(slots.held_back(3_050), "due behind the backlog");
    }

    #[test]
    fn what_is_due_while_every_connection_is_down_is_held_back() {
        let mut slots = one_connection();
        slots.down(0, 1_000);
        slots.up(0);
        slots.wake(0, 2_000);
        assert!(!slots.held_back(999) && slots.held_back(1_500));
    }
}
