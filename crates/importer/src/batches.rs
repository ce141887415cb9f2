//! Owns how the documents of a stretch are divided into commands.

use brimline_formats::Documents;

use crate::command::Verb;
use crate::plan::{ImportPlan, Mode};
use crate::statement;

/// Bytes of documents after which a command is full, so that memory stays bounded with large ones.
const BATCH_BYTES_MAX: usize = 8 << 20;
/// What a statement adds to its document, besides the key.
const STATEMENT_BYTES: usize = 64;

/// The documents of one command.
#[derive(Debug, PartialEq, Eq)]
pub struct Batch {
    /// What is done with them.
    pub verb: Verb,
    /// Which rows of the stretch.
    pub rows: Vec<u32>,
    /// Their keys, for all but inserts.
    pub keys: Vec<Vec<u8>>,
    bytes: usize,
}

/// Batches in the order they are to be sent, and the rows that need none: without a key there is nothing to delete.
#[derive(Debug, Default)]
pub struct Division {
    /// The batches.
    pub batches: Vec<Batch>,
    /// Rows without a key in a delete.
    pub keyless: u64,
    /// Rows whose document can't be read.
    pub broken: Vec<(u32, String)>,
}

/// Divides `documents`, leaving out what `is_left_out` says.
pub fn divide(plan: &ImportPlan, documents: &Documents, is_left_out: impl Fn(u32) -> bool) -> Division {
    let mut division = Division::default();
    let mut begin = 0;
    for (index, row) in documents.rows.iter().enumerate() {
        let document = &documents.bytes[begin..row.end];
        begin = row.end;
        let index = index as u32;
        if is_left_out(index) {
            continue;
        }
        if plan.mode == Mode::Insert {
            division.add(plan, Verb::Insert, index, document.len(), None);
            continue;
        }
        match statement::key(document, row.has_own_id, &plan.upsert_fields) {
            Ok(key) => match statement::verb_of(plan.mode, key.as_deref()) {
                Some(verb) => {
                    let bytes = document.len() + key.as_ref().map_or(0, Vec::len) + STATEMENT_BYTES;
                    division.add(plan, verb, index, bytes, key);
                }
                None => division.keyless += 1,
            },
            Err(error) => division.broken.push((index, error.to_string())),
        }
    }
    division
}

impl Division {
    fn add(&mut self, plan: &ImportPlan, verb: Verb, row: u32, bytes: usize, key: Option<Vec<u8>>) {
        // Where order counts only the last batch is open; else the last of its kind is.
        let open = self.batches.iter_mut().rev().enumerate();
        let open = open.filter(|(age, batch)| batch.verb == verb && (*age == 0 || !plan.maintain_order));
        let batch = open.map(|(_, batch)| batch).next();
        let has_room =
            |batch: &Batch| batch.rows.len() < plan.batch_documents && batch.bytes + bytes <= BATCH_BYTES_MAX;
        let batch = match batch {
            Some(batch) if has_room(batch) => batch,
            _ => {
                self.batches.push(Batch { verb, rows: Vec::new(), keys: Vec::new(), bytes: 0 });
                let last = self.batches.len() - 1;
                &mut self.batches[last]
            }
        };
        batch.bytes += bytes;
        batch.rows.push(row);
        batch.keys.extend(key);
    }
}

/// Where the document of row `index` lies in `documents.bytes`.
pub fn span(documents: &Documents, index: u32) -> std::ops::Range<usize> {
    let index = index as usize;
    let begin = index.checked_sub(1).map_or(0, |before| documents.rows[before].end);
    begin..documents.rows[index].end
}
