//! Owns what an expression draws from besides random numbers.

use std::collections::BTreeSet;

/// What an operation must have for a value. Tables, collections and slots by their place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Tables of which it takes rows.
    pub tables: BTreeSet<u32>,
    /// Collections of which it takes new records.
    pub new_records: BTreeSet<u32>,
    /// Collections whose newest record it asks for.
    pub newest: BTreeSet<u32>,
    /// Slots of what replies brought.
    pub saved: BTreeSet<u32>,
    /// How many values `repeated` makes, at most: so many rows and new records are taken. 0: without it.
    pub items: u32,
    /// Upper bound of the values that one place of a list makes, lists within lists included; 0 as 1.
    pub several: u32,
    /// Whether it takes rows in turn or new records where it stands, and not by a named value. No list can hold that.
    pub takes_in_turn: bool,
}

impl Uses {
    /// Adds what another expression uses.
    pub fn add(&mut self, other: &Self) {
        for (own, others) in [
            (&mut self.tables, &other.tables),
            (&mut self.new_records, &other.new_records),
            (&mut self.newest, &other.newest),
            (&mut self.saved, &other.saved),
        ] {
            own.extend(others);
        }
        self.items = self.items.max(other.items);
        self.several = self.several.max(other.several);
        self.takes_in_turn |= other.takes_in_turn;
    }
}
