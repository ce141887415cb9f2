//! Owns what an import is told: which inputs, where to, how, and where it left off.

use std::fs;
use std::path::PathBuf;

use brimline_engine::clock::Nanos;
use brimline_formats::{FormatOptions, GeneratedIds};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::{Checkpoint, Place};

/// An import. Options have the meaning that mongoimport gives them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportPlan {
    /// `host:port` of the server.
    pub address: String,
    /// Further servers: with these a document goes to the one that follows from its `_id`.
    #[serde(default)]
    pub shards: Vec<String>,
    /// Database.
    pub database: String,
    /// Collection.
    pub collection: String,
    /// What is read, one after the other.
    pub inputs: Vec<InputPlan>,
    /// How it is read. Its `generated_ids` are left empty here: each input has its own, see [`ObjectIds`].
    pub format: FormatOptions,
    /// How records without an `_id` get one.
    pub object_ids: ObjectIds,
    /// What becomes of a document.
    pub mode: Mode,
    /// Fields that say which stored document is meant; `_id` where there are none.
    pub upsert_fields: Vec<String>,
    /// Connections, each with a thread that converts and sends; at least one, or nobody takes what is read.
    #[serde(deserialize_with = "workers")]
    pub workers: usize,
    /// Most documents in one command.
    pub batch_documents: usize,
    /// One after the other, in the order of the input, and no further than the first that is refused.
    pub maintain_order: bool,
    /// Nothing more is read after the first document that is refused.
    pub stop_on_error: bool,
    /// What the server waits for before it acknowledges.
    pub write_concern: WriteConcern,
    /// Whether the collection's validator is passed by.
    pub bypass_document_validation: bool,
    /// Where the checkpoint is written; none where whoever started the import asks for it and keeps it.
    #[serde(default)]
    pub checkpoint_file: Option<PathBuf>,
    /// Where records go that don't come in.
    pub rejected_file: PathBuf,
    /// Where an earlier process left off, or a part of the inputs begins.
    pub resume: Option<Checkpoint>,
    /// A border between two records, behind which nothing is read: the rest is somebody else's.
    #[serde(default)]
    pub until: Option<Place>,
    /// Length of an interval of figures.
    pub interval_ns: Nanos,
    /// Longest wait for a connection, and for an answer.
    pub reply_timeout_ns: Nanos,
}

fn workers<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
    let workers = usize::deserialize(from)?;
    if workers == 0 { Err(D::Error::custom("workers: must be at least 1, got: 0")) } else { Ok(workers) }
}

impl ImportPlan {
    /// Servers among which documents are shared out.
    pub fn server_count(&self) -> usize {
        1 + self.shards.len()
    }
}

/// One input.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputPlan {
    /// The file; standard input without one.
    pub path: Option<PathBuf>,
    /// Whether it is compressed.
    pub gzip: bool,
}

impl InputPlan {
    /// Whether it can be read again: what is taken from a pipe is gone.
    pub fn is_file(&self) -> bool {
        self.path.as_ref().is_some_and(|path| fs::metadata(path).is_ok_and(|it| it.is_file()))
    }
}

/// What an action does with a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Inserts it.
    Insert,
    /// Replaces the stored document with the same key, or inserts it.
    Upsert,
    /// Sets its fields in the stored document with the same key, or inserts it.
    Merge,
    /// Deletes the stored document with the same key.
    Delete,
}

/// How long the server waits: what `writeConcern` says in a command.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteConcern {
    /// Members, `majority` or a tag; the server's default without it.
    #[serde(default)]
    pub w: Option<Acknowledgement>,
    /// Whether for the journal.
    #[serde(default)]
    pub journal: Option<bool>,
    /// Longest wait for other members.
    #[serde(default)]
    pub timeout_ms: Option<i64>,
}

/// Who has to have a write.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Acknowledgement {
    /// So many members.
    Members(i32),
    /// `majority`, or members with a tag.
    Tag(String),
}

/// Which object ids an import makes. They are a function of the import, the input and the record's offset, so that a record
/// that may have been sent before can be asked for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectIds {
    /// When the import began, in seconds: the first four bytes, as in every object id.
    pub unix_s: u32,
    /// A random number of 24 bits: the next three bytes, one more for each further input.
    pub number: u32,
}

impl ObjectIds {
    /// Those of the input numbered `input`.
    pub fn of_input(self, input: usize) -> GeneratedIds {
        let number = self.number.wrapping_add(input as u32).to_be_bytes();
        let [a, b, c, d] = self.unix_s.to_be_bytes();
        GeneratedIds { prefix: [a, b, c, d, number[1], number[2], number[3]] }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A plan of no inputs, as it is written.
    pub fn written() -> serde_json::Value {
        serde_json::json!({
            "address": "127.0.0.1:1", "database": "d", "collection": "c", "inputs": [], "format": {"format": "json"},
            "object_ids": {"unix_s": 1, "number": 1}, "mode": "insert", "upsert_fields": [], "workers": 1,
            "batch_documents": 2, "maintain_order": false, "stop_on_error": false, "write_concern": {},
            "bypass_document_validation": false, "checkpoint_file": "", "rejected_file": "", "resume": null,
            "interval_ns": 1, "reply_timeout_ns": 1,
        })
    }

    #[test]
    fn a_plan_without_workers_is_refused() {
        let mut plan = written();
        assert_eq!(serde_json::from_value::<ImportPlan>(plan.clone()).expect("a plan").workers, 1);
        plan["workers"] = 0.into();
        let error = serde_json::from_value::<ImportPlan>(plan).expect_err("nobody would take what is read");
        assert_eq!(error.to_string(), "workers: must be at least 1, got: 0");
    }

    #[test]
    fn object_ids_begin_with_the_time_and_tell_inputs_apart() {
        let ids = ObjectIds { unix_s: 0x0102_0304, number: 0x00ff_ffff };
        assert_eq!(ids.of_input(0).at(0x05_0607), [1, 2, 3, 4, 255, 255, 255, 0, 0, 5, 6, 7]);
        assert_eq!(ids.of_input(1).at(0)[4..7], [0, 0, 0]);
    }
}
