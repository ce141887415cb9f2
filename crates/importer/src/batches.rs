//! Owns how the documents of a stretch are divided into commands.

use brimline_formats::Documents;

use crate::command::Verb;
use crate::plan::{ImportPlan, Mode};
use crate::routing::server_of;
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
    /// The server that they go to, counted from 0.
    pub server: usize,
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
        let server = server_of(document, plan.server_count());
        if plan.mode == Mode::Insert {
            division.add(plan, (Verb::Insert, server), index, document.len(), None);
            continue;
        }
        match statement::key(document, row.has_own_id, &plan.upsert_fields) {
            Ok(key) => match statement::verb_of(plan.mode, key.as_deref()) {
                Some(verb) => {
                    let bytes = document.len() + key.as_ref().map_or(0, Vec::len) + STATEMENT_BYTES;
                    division.add(plan, (verb, server), index, bytes, key);
                }
                None => division.keyless += 1,
            },
            Err(error) => division.broken.push((index, error.to_string())),
        }
    }
    division
}

impl Division {
    fn add(&mut self, plan: &ImportPlan, of: (Verb, usize), row: u32, bytes: usize, key: Option<Vec<u8>>) {
        // Where order counts only the last batch is open; else the last of its kind is.
        let open = self.batches.iter_mut().rev().enumerate();
        let open = open
            .filter(|(age, batch)| (batch.verb, batch.server) == of && (*age == 0 || !plan.maintain_order));
        let batch = open.map(|(_, batch)| batch).next();
        let has_room =
            |batch: &Batch| batch.rows.len() < plan.batch_documents && batch.bytes + bytes <= BATCH_BYTES_MAX;
        let batch = match batch {
            Some(batch) if has_room(batch) => batch,
            _ => {
                let (verb, server) = of;
                self.batches.push(Batch { verb, server, rows: Vec::new(), keys: Vec::new(), bytes: 0 });
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

#[cfg(test)]
mod tests {
    use brimline_bson::Writer;
    use brimline_formats::Row;

    use super::*;
    use crate::plan::tests::written;

    fn documents(keys: &[Option<i32>]) -> Documents {
        let mut documents = Documents::default();
        for (number, key) in keys.iter().enumerate() {
            let mut writer = Writer::new(&mut documents.bytes);
            let whole = writer.begin_document();
            if let Some(key) = key {
                writer.int32("_id", *key);
            } else {
                writer.object_id("_id", [0; 12]);
            }
            writer.end_document(whole);
            let row =
                Row { end: documents.bytes.len(), line: 1, offset: number as u64, has_own_id: key.is_some() };
            documents.rows.push(row);
        }
        documents
    }

    fn plan(mode: &str, in_order: bool) -> ImportPlan {
        let mut plan = written();
        plan["mode"] = mode.into();
        plan["maintain_order"] = in_order.into();
        plan["stop_on_error"] = in_order.into();
        serde_json::from_value(plan).expect("a plan")
    }

    fn divided(mode: &str, in_order: bool, keys: &[Option<i32>]) -> Vec<(Verb, Vec<u32>)> {
        let division = divide(&plan(mode, in_order), &documents(keys), |row| row == 9);
        division.batches.into_iter().map(|batch| (batch.verb, batch.rows)).collect()
    }

    #[test]
    fn a_command_has_no_more_documents_than_asked_for() {
        let keys = [Some(1), None, Some(3)];
        assert_eq!(divided("insert", false, &keys), [(Verb::Insert, vec![0, 1]), (Verb::Insert, vec![2])]);
    }

    #[test]
    fn documents_without_a_key_are_inserted_apart_but_not_out_of_order_where_that_counts() {
        let keys = [Some(1), None, Some(3)];
        assert_eq!(divided("upsert", false, &keys), [(Verb::Update, vec![0, 2]), (Verb::Insert, vec![1])]);
        let in_order = [(Verb::Update, vec![0]), (Verb::Insert, vec![1]), (Verb::Update, vec![2])];
        assert_eq!(divided("upsert", true, &keys), in_order);
    }

    #[test]
    fn without_a_key_there_is_nothing_to_delete() {
        let division = divide(&plan("delete", false), &documents(&[None, Some(2)]), |_| false);
        assert_eq!((division.keyless, division.batches.len()), (1, 1));
    }

    #[test]
    fn each_server_has_commands_of_its_own() {
        let keys: Vec<Option<i32>> = (0..8).map(Some).collect();
        let plan = ImportPlan {
            shards: vec!["127.0.0.1:2".to_owned()],
            batch_documents: 8,
            ..plan("insert", false)
        };
        let documents = documents(&keys);
        let batches = divide(&plan, &documents, |_| false).batches;
        assert_eq!(batches.iter().map(|batch| batch.rows.len()).sum::<usize>(), keys.len());
        assert_eq!(
            batches.iter().map(|batch| batch.server).collect::<std::collections::BTreeSet<_>>().len(),
            2
        );
        for batch in batches {
            let servers = batch.rows.iter().map(|&row| server_of(&documents.bytes[span(&documents, row)], 2));
            assert!(servers.into_iter().all(|server| server == batch.server));
        }
    }

    #[test]
    fn what_is_left_out_is_in_no_command() {
        let division = divide(&plan("insert", false), &documents(&[Some(1), Some(2)]), |row| row == 0);
        assert_eq!(division.batches.iter().flat_map(|batch| batch.rows.clone()).collect::<Vec<_>>(), [1]);
    }
}
