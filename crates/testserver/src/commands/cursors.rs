//! Cursors that are open, and how they go on.

use std::collections::HashMap;
use std::fmt::Write as _;

use brimline_bson::Writer;

use crate::store::{KeyRange, Projection, Store, StoreError};

/// Bytes of documents in a batch, as in mongod.
pub(super) const BATCH_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Cursors with documents left, by id.
#[derive(Debug, Default)]
pub struct Cursors {
    open: HashMap<i64, Cursor>,
    made: i64,
}

/// What a find has still to return.
#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) namespace: String,
    pub(super) range: KeyRange,
    pub(super) projection: Projection,
    /// Documents that the limit leaves; `None` without a limit.
    pub(super) left: Option<u64>,
}

impl Cursors {
    pub(super) fn keep(&mut self, cursor: Cursor) -> i64 {
        self.made += 1;
        self.open.insert(self.made, cursor);
        self.made
    }

    pub(super) fn take(&mut self, id: i64) -> Option<Cursor> {
        self.open.remove(&id)
    }

    pub(super) fn put_back(&mut self, id: i64, cursor: Cursor) {
        self.open.insert(id, cursor);
    }
}

impl Cursor {
    /// Writes the next batch and steps behind it. True when there may be more; as mongod, a full batch is not looked
    /// behind, so that the last batch can be empty.
    pub(super) fn write_batch(
        &mut self,
        store: &Store,
        name: &str,
        batch_size: Option<u64>,
        writer: &mut Writer<'_>,
    ) -> Result<bool, StoreError> {
        let array = writer.begin_array(name);
        let start = writer.position();
        let mut documents = store.documents(&self.namespace, &self.range);
        let mut index_name = String::new();
        let mut last_key = None;
        let mut has_more = true;
        for index in 0_u64.. {
            if self.left == Some(0) {
                has_more = false;
                break;
            }
            if batch_size == Some(index) || writer.position() - start >= BATCH_BYTES_MAX {
                break;
            }
            let Some((key, document)) = documents.next() else {
                has_more = false;
                break;
            };
            index_name.clear();
            let _ = write!(index_name, "{index}"); // writing to a String does not fail
            self.projection.write(&index_name, document, writer)?;
            self.left = self.left.map(|left| left - 1);
            last_key = Some(key);
        }
        writer.end_document(array);
        if let Some(key) = last_key {
            self.range = self.range.after(key);
        }
        Ok(has_more)
    }
}
