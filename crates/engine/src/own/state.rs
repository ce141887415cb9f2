//! What each connection keeps for the operation of the person's own that is under way on it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use brimline_bson::ElementType;
use brimline_datagen::expression::{Draw, LOAD_SHIFT, SavedValues};

use super::prepared::Own;
use super::steps::Step;
use crate::clock::Nanos;
use crate::finished::Ending;
use crate::target::{ConnectionIndex, ReplyFacts};

/// One operation between its first step and its last.
#[derive(Default)]
pub struct OwnState {
    /// The row of each table.
    rows: Vec<u64>,
    /// The first new record of each collection.
    new_records: Vec<u64>,
    /// The newest record of each collection.
    newest: Vec<u64>,
    /// Of each table, how many rows this connection has taken for itself.
    taken: Vec<u64>,
    /// What replies have brought.
    pub saved: SavedValues,
    saved_count: usize,
    /// The cursor of the current step.
    pub cursor: i64,
    /// The current step so far.
    pub step: StepSoFar,
    /// Documents that its steps looked for, and found; an operation that looked and found nothing is a miss.
    pub looked: bool,
    /// See `looked`.
    pub found: bool,
}

/// A step between its first message and its last reply.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepSoFar {
    /// When its command was sent.
    pub sent: Nanos,
    /// Documents that came back.
    pub documents: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Bytes received.
    pub bytes_in: u64,
}

impl OwnState {
    /// Room for the operations of `own`.
    pub fn new(own: &Own) -> Self {
        Self {
            rows: vec![0; own.tables.len()],
            new_records: vec![0; own.collections.len()],
            newest: vec![0; own.collections.len()],
            taken: vec![0; own.tables.len()],
            saved: SavedValues::new(own.saved_count),
            saved_count: own.saved_count,
            ..Self::default()
        }
    }

    /// Begins operation `operation`, before which the counters stood at `counters` and so many new
    /// records were settled.
    pub fn begin(&mut self, own: &Own, operation: u8, counters: &[u64], settled: u64) {
        for (place, table) in own.tables.iter().enumerate() {
            // Of tables at random, the values themselves draw the row.
            let taken = if table.by_worker { self.taken[place] } else { counters[place] };
            self.rows[place] = taken % table.row_count;
        }
        for &(counter, amount) in own.uses(operation) {
            if let Some(taken) = self.taken.get_mut(counter) {
                *taken += amount;
            }
        }
        for (place, collection) in own.collections.iter().enumerate() {
            self.new_records[place] = collection.first_new_record + counters[own.tables.len() + place];
            let is_asked = own.newest_of == Some(place);
            let newest = collection.first_new_record + if is_asked { settled } else { 0 };
            self.newest[place] = newest.saturating_sub(1);
        }
        self.saved.clear();
        self.looked = false;
        self.found = false;
    }

    /// Puts null in the place of all that replies would bring.
    pub fn save_nulls(&mut self) {
        (0..self.saved_count).for_each(|slot| self.saved.set(slot, ElementType::Null as u8, &[]));
    }

    /// Notes whether a step that is over found what it looked for, and says how it ended.
    pub fn note_found(&mut self, step: &Step, reply: &ReplyFacts) -> Ending {
        if !step.looks() {
            self.found = true;
            return Ending::Ok;
        }
        let found = self.step.documents + reply.n > 0;
        self.looked = true;
        self.found |= found;
        if found { Ending::Ok } else { Ending::Miss }
    }

    /// How an operation ended whose steps all went well: one that only looked, and found nothing, is a miss.
    pub fn ending(&self) -> Ending {
        if self.looked && !self.found { Ending::Miss } else { Ending::Ok }
    }

    /// What values are drawn from.
    pub fn draw<'s>(&'s self, own: &'s Own, index: u64, worker: u32, now_unix_ms: i64) -> Draw<'s> {
        Draw {
            index,
            worker,
            now_unix_ms,
            rows: &self.rows,
            new_records: &self.new_records,
            newest: &self.newest,
            saved: &self.saved,
            run: own.run(),
        }
    }
}

/// The number by which an operation's values are drawn: loads beside the plan's own one count apart.
#[inline]
pub fn draw_index(load: u64, index: u64) -> u64 {
    load << LOAD_SHIFT | index
}

/// Connections whose operation pauses between two steps, the one that goes on first on top.
#[derive(Debug, Default)]
pub struct Pauses(BinaryHeap<Reverse<(Nanos, ConnectionIndex)>>);

impl Pauses {
    /// The operation on `connection` goes on at `until`.
    pub fn add(&mut self, until: Nanos, connection: ConnectionIndex) {
        self.0.push(Reverse((until, connection)));
    }

    /// When the next one goes on.
    pub fn next(&self) -> Option<Nanos> {
        self.0.peek().map(|&Reverse((until, _))| until)
    }

    /// A connection whose pause is over at `now`.
    pub fn over(&mut self, now: Nanos) -> Option<ConnectionIndex> {
        let &Reverse((until, connection)) = self.0.peek()?;
        if until > now {
            return None;
        }
        self.0.pop();
        Some(connection)
    }
}
