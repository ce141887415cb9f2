//! Times of chosen operations, or parts of them, out of a log, in the order in which they ended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use super::reader::Reader;
use super::row::Row;
use crate::clock::Nanos;
use crate::finished::Ending;
use crate::kinds::OperationKind;

/// How many times wait for earlier ones: workers write their rows in chunks, one after the other.
const WAITING_MAX: usize = 1 << 20;

/// What of an operation is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePart {
    /// All of it.
    Whole,
    /// The first of its two commands.
    First,
    /// The second.
    Second,
    /// A scan's time divided by its documents.
    PerDocument,
}

/// One kind, part and ending, on one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Which operations.
    pub kind: OperationKind,
    /// What of them.
    pub part: TimePart,
    /// How that ended.
    pub ending: Ending,
    /// From when it was due, else from when it was sent.
    pub from_due: bool,
}

/// A time: when it ended, on the run's clock, and how long it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// When it ended.
    pub end: Nanos,
    /// How long it was.
    pub length_ns: Nanos,
}

impl Wanted {
    /// The time that is wanted of `row`, if there is one.
    fn of(self, row: &Row) -> Option<Time> {
        if row.kind != self.kind {
            return None;
        }
        let (begin, end, ending) = match (self.part, row.second) {
            (TimePart::Whole | TimePart::PerDocument, _) | (TimePart::First, None) => {
                (row.sent, row.done, row.ending)
            }
            (TimePart::First, Some(second)) => (row.sent, second.first_done, Ending::Ok),
            (TimePart::Second, second) => (second?.sent, row.done, row.ending),
        };
        let begin = row.due.filter(|_| self.from_due).unwrap_or(begin);
        let mut length_ns = end.saturating_sub(begin);
        if self.part == TimePart::PerDocument {
            length_ns = length_ns.checked_div(u64::from(row.documents))?;
        }
        (ending == self.ending).then_some(Time { end, length_ns })
    }
}

/// The wanted times of a log.
pub struct Times {
    rows: Reader,
    wanted: Vec<Wanted>,
    waiting: BinaryHeap<Reverse<Time>>,
    is_over: bool,
}

impl Times {
    /// What `wanted` says of the rows of a log.
    pub fn new(rows: Reader, wanted: Vec<Wanted>) -> Self {
        Self { rows, wanted, waiting: BinaryHeap::new(), is_over: false }
    }

    /// Wall-clock time of the run's instant 0.
    pub fn started_unix_ns(&self) -> u64 {
        self.rows.started_unix_ns()
    }

    fn fill(&mut self) -> io::Result<()> {
        while !self.is_over && self.waiting.len() < WAITING_MAX {
            match self.rows.next().transpose()? {
                Some(row) => {
                    self.waiting.extend(self.wanted.iter().filter_map(|wanted| wanted.of(&row)).map(Reverse));
                }
                None => self.is_over = true,
            }
        }
        Ok(())
    }
}

impl Iterator for Times {
    type Item = io::Result<Time>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Err(error) = self.fill() {
            self.is_over = true;
            self.waiting.clear();
            return Some(Err(error));
        }
        self.waiting.pop().map(|Reverse(time)| Ok(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finished::{Phase, SecondStep};

    const ROW: Row = Row {
        kind: OperationKind::LOAD,
        ending: Ending::Miss,
        phase: Phase::Measure,
        due: Some(10),
        sent: 30,
        second: Some(SecondStep { first_done: 100, sent: 140 }),
        done: 300,
        documents: 3,
    };

    fn time(row: &Row, part: TimePart, ending: Ending, from_due: bool) -> Option<(Nanos, Nanos)> {
        let wanted = Wanted { kind: row.kind, part, ending, from_due };
        wanted.of(row).map(|time| (time.end, time.length_ns))
    }

    #[test]
    fn each_part_has_its_own_begin_end_and_ending() {
        assert_eq!(time(&ROW, TimePart::Whole, Ending::Miss, false), Some((300, 270)));
        assert_eq!(time(&ROW, TimePart::Whole, Ending::Miss, true), Some((300, 290)));
        assert_eq!(time(&ROW, TimePart::First, Ending::Ok, false), Some((100, 70)));
        assert_eq!(time(&ROW, TimePart::First, Ending::Ok, true), Some((100, 90)));
        assert_eq!(time(&ROW, TimePart::Second, Ending::Miss, false), Some((300, 160)));
        assert_eq!(time(&ROW, TimePart::Second, Ending::Miss, true), Some((300, 290)));
        assert_eq!(time(&ROW, TimePart::First, Ending::Miss, false), None, "the read went well");
        assert_eq!(time(&ROW, TimePart::Second, Ending::Ok, false), None);
    }

    #[test]
    fn an_operation_that_went_no_further_has_no_second_part() {
        let row = Row { second: None, due: None, ..ROW };
        assert_eq!(time(&row, TimePart::First, Ending::Miss, true), Some((300, 270)));
        assert_eq!(time(&row, TimePart::Second, Ending::Miss, false), None);
    }

    #[test]
    fn a_scan_that_found_nothing_has_no_time_per_document() {
        let scan = Row { second: None, ..ROW };
        assert_eq!(time(&scan, TimePart::PerDocument, Ending::Miss, false), Some((300, 90)));
        assert_eq!(time(&Row { documents: 0, ..scan }, TimePart::PerDocument, Ending::Miss, false), None);
    }
}
