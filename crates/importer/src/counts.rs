//! Owns what became of the records.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// Numbers of records. `read` is the sum of `inserted`, `updated`, `deleted`, `unmatched`, `rejected` and `nulls`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Records in the part of the input that is settled.
    pub read: u64,
    /// Documents that are new in the collection, upserted ones included.
    pub inserted: u64,
    /// Stored documents that were replaced or merged into, changed or not.
    pub updated: u64,
    /// Stored documents that were deleted.
    pub deleted: u64,
    /// Records of a delete that met no stored document.
    pub unmatched: u64,
    /// Records that did not come in; each has a line in the file of rejected records.
    pub rejected: u64,
    /// Rejected for their size.
    pub oversized: u64,
    /// Rejected for what mongoimport goes on after: duplicate keys, the collection's validator, rows that `skipRow` leaves out.
    pub ignorable: u64,
    /// Records that stand for no document: `null` in JSON.
    pub nulls: u64,
    /// Of `inserted`: found in the collection when the import went on, sent by the process before.
    pub found: u64,
    /// Cells, header names among them, or strings of JSON that are not UTF-8 in the input, of records that were sent.
    #[serde(default)]
    pub not_utf8: u64,
    /// Rows that were sent with more or fewer cells than their table has columns.
    #[serde(default)]
    pub ragged: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.read += other.read;
        self.inserted += other.inserted;
        self.updated += other.updated;
        self.deleted += other.deleted;
        self.unmatched += other.unmatched;
        self.rejected += other.rejected;
        self.oversized += other.oversized;
        self.ignorable += other.ignorable;
        self.nulls += other.nulls;
        self.found += other.found;
        self.not_utf8 += other.not_utf8;
        self.ragged += other.ragged;
    }
}

impl Counts {
    /// Records whose end is known.
    pub fn settled(&self) -> u64 {
        self.inserted + self.updated + self.deleted + self.unmatched + self.rejected + self.nulls
    }
}
