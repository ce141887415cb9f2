//! Owns a stretch that is being sent: its documents, and what is known of them so far.

use brimline_formats::{Documents, Rejection};

use crate::batches::{Batch, span};
use crate::checkpoint::{Firsts, Place};
use crate::command::{Answer, ServerError, Verb};
use crate::ledger::Outcome;
use crate::queue::Task;
use crate::rejects::Reject;

/// Errors after which an import goes on: a duplicate key, a document that the collection's validator refuses.
const IGNORABLE_CODES: [i32; 2] = [DUPLICATE_KEY, 121];
/// A document with the same key is there.
pub const DUPLICATE_KEY: i32 = 11_000;

/// A stretch that is being sent.
pub struct Work {
    /// Where it came from.
    pub task: Task,
    /// What it became.
    pub documents: Documents,
    /// What became of that.
    pub outcome: Outcome,
    /// A part of it is not settled and will not be.
    pub is_broken_off: bool,
    /// Nothing more of it is sent.
    pub is_refused: bool,
    /// Records in it, as the conversion counted them.
    records: u64,
}

impl Work {
    /// A stretch that is converted; none of its documents is sent.
    pub fn new(task: Task, documents: Documents) -> Self {
        let is_broken_off = documents.stop.is_some();
        let records = (documents.rows.len() + documents.rejected.len()) as u64 + documents.nulls;
        Self { task, documents, outcome: Outcome::default(), is_broken_off, is_refused: false, records }
    }

    /// Counts the records that became no document. Returns the first that is too large.
    pub fn note_rejected(&mut self) -> Option<Reject> {
        let counts = &mut self.outcome.counts;
        counts.nulls += self.documents.nulls;
        let mut first_oversized = None;
        for rejected in self.documents.rejected.drain(..) {
            counts.rejected += 1;
            match rejected.rejection {
                Rejection::SkipRow => counts.ignorable += 1,
                Rejection::TooLarge => counts.oversized += 1,
            }
            let reject = Reject {
                input: self.task.input,
                line: rejected.line,
                offset: rejected.offset,
                code: 0,
                reason: rejected.reason,
                text: rejected.text,
            };
            if rejected.rejection == Rejection::TooLarge && first_oversized.is_none() {
                first_oversized = Some(reject.clone());
            }
            self.outcome.rejects.push(reject);
        }
        first_oversized
    }

    /// Leaves out what comes after `offset`.
    pub fn cut_at(&mut self, offset: u64) {
        self.documents.rows.retain(|row| row.offset < offset);
        self.outcome.rejects.retain(|reject| reject.offset <= offset);
        self.outcome.counts.rejected = self.outcome.rejects.len() as u64;
        self.is_broken_off = true;
    }

    /// Counts what the server answered to `batch`.
    pub fn count(&mut self, batch: &Batch, answer: &Answer) {
        let counts = &mut self.outcome.counts;
        let errors = answer.write_errors.len() as u64;
        match batch.verb {
            Verb::Insert => counts.inserted += answer.n,
            Verb::Update => {
                counts.inserted += answer.upserted;
                counts.updated += answer.n.saturating_sub(answer.upserted);
            }
            Verb::Delete => {
                counts.deleted += answer.n;
                counts.unmatched += (batch.rows.len() as u64).saturating_sub(answer.n + errors);
            }
        }
    }

    /// A document that the server refused.
    pub fn reject(&mut self, row: u32, error: ServerError) {
        self.outcome.counts.rejected += 1;
        if is_ignorable(error.code) {
            self.outcome.counts.ignorable += 1;
        }
        let place = self.documents.rows[row as usize];
        self.outcome.rejects.push(Reject {
            input: self.task.input,
            line: place.line,
            offset: place.offset,
            code: error.code,
            reason: error.message,
            text: self.text_of(row).to_vec(),
        });
    }

    /// Rows that are sent, or were before: counts what of them is told of.
    pub fn note_sent(&mut self, rows: &[u32]) {
        self.note_misfits(rows);
        let (Some(&first), Some(&last)) = (rows.first(), rows.last()) else { return };
        let oddities = &self.documents.oddities;
        let oddities = &oddities[oddities.partition_point(|each| each.row < first)..];
        for each in oddities.iter().take_while(|each| each.row <= last) {
            if rows.binary_search(&each.row).is_ok() {
                let row = self.documents.rows[each.row as usize];
                let place = Place { input: self.task.input, offset: row.offset, line: row.line };
                self.outcome.counts.not_utf8 += u64::from(each.not_utf8);
                self.outcome.counts.ragged += u64::from(each.is_ragged);
                self.outcome.firsts += Firsts {
                    first_not_utf8: (each.not_utf8 > 0).then_some(place),
                    first_ragged: each.is_ragged.then_some(place),
                };
            }
        }
    }

    /// Rows that are sent, or were before: counts their cells that do not fit their column's type.
    fn note_misfits(&mut self, rows: &[u32]) {
        let (Some(&first), Some(&last)) = (rows.first(), rows.last()) else { return };
        let misfits = &self.documents.misfits;
        let misfits = &misfits[misfits.partition_point(|each| each.row < first)..];
        for each in misfits.iter().take_while(|each| each.row <= last) {
            if rows.binary_search(&each.row).is_err() {
                continue;
            }
            if let Some(count) = self.outcome.misfits.get_mut(&*each.column) {
                *count += 1;
            } else {
                self.outcome.misfits.insert(each.column.to_string(), 1);
            }
        }
    }

    /// A document that the process before had sent.
    pub fn found(&mut self, count: u64) {
        self.outcome.counts.inserted += count;
        self.outcome.counts.found += count;
    }

    /// The document of a row.
    pub fn document(&self, row: u32) -> &[u8] {
        &self.documents.bytes[span(&self.documents, row)]
    }

    /// The line on which the first document of `batch` begins.
    pub fn first_line(&self, batch: &Batch) -> Option<u64> {
        batch.rows.first().map(|&row| self.documents.rows[row as usize].line)
    }

    /// What is known when nothing more of it is sent.
    pub fn take_outcome(&mut self) -> Outcome {
        let mut outcome = std::mem::take(&mut self.outcome);
        outcome.counts.read = if self.is_broken_off { outcome.counts.settled() } else { self.records };
        outcome.rejects.sort_by_key(|reject| reject.offset);
        outcome
    }

    /// The record of a row as it was read: up to the next one.
    fn text_of(&self, row: u32) -> &[u8] {
        let (start, stretch) = (self.task.stretch.start.offset, &self.task.stretch.bytes);
        let offset = self.documents.rows[row as usize].offset;
        let next_row = self.documents.rows.get(row as usize + 1).map(|next| next.offset);
        let rejects = self.outcome.rejects.iter().map(|reject| reject.offset);
        let next = rejects.chain(next_row).filter(|&next| next > offset).min();
        let begin = (offset - start) as usize;
        let end = next.map_or(stretch.len(), |next| (next - start) as usize);
        stretch.get(begin..end).unwrap_or_default().trim_ascii_end()
    }
}

/// Whether an import goes on after the server refused a document for this.
pub fn is_ignorable(code: i32) -> bool {
    IGNORABLE_CODES.contains(&code)
}
