//! Owns the messages: the same body for every command of a kind, a document sequence behind it, and what an answer says.

use brimline_bson::{Reader, Value, Writer};
use brimline_wire::{op_msg, reply};

use crate::plan::{Acknowledgement, ImportPlan, WriteConcern};

/// What a server says that shuts down, steps down, or is no primary any more.
const LEAVING_CODES: [i32; 6] = [91, 189, 10_107, 11_600, 11_602, 13_435];

/// Kind of a section that holds a document sequence.
const KIND_SEQUENCE: u8 = 1;

/// A kind of command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Insert documents.
    Insert,
    /// Replace documents or set fields, inserting what is not there.
    Update,
    /// Delete documents.
    Delete,
}

/// A message up to its first document.
struct Head {
    bytes: Vec<u8>,
    sequence_offset: usize,
}

/// The commands of an import.
pub struct Commands {
    insert: Head,
    update: Head,
    delete: Head,
    /// A write that changes nothing and is answered when everything before it is in the server's journal.
    barrier: Head,
    database: String,
    collection: String,
}

impl Commands {
    /// The commands that `plan` asks for.
    pub fn new(plan: &ImportPlan) -> Self {
        let head = |verb: &str, sequence: &str, concern: &WriteConcern| {
            let mut bytes = Vec::new();
            op_msg::request(&mut bytes, 0, |writer| {
                writer.string(verb, &plan.collection);
                writer.boolean("ordered", plan.maintain_order);
                if plan.bypass_document_validation && verb != "delete" {
                    writer.boolean("bypassDocumentValidation", true);
                }
                write_concern(writer, concern);
                writer.string("$db", &plan.database);
            });
            bytes.push(KIND_SEQUENCE);
            let sequence_offset = bytes.len();
            bytes.extend_from_slice(&[0; 4]);
            bytes.extend_from_slice(sequence.as_bytes());
            bytes.push(0);
            Head { bytes, sequence_offset }
        };
        let durable = WriteConcern { journal: Some(true), ..plan.write_concern.clone() };
        Self {
            insert: head("insert", "documents", &plan.write_concern),
            update: head("update", "updates", &plan.write_concern),
            delete: head("delete", "deletes", &plan.write_concern),
            barrier: head("delete", "deletes", &durable),
            database: plan.database.clone(),
            collection: plan.collection.clone(),
        }
    }

    /// Puts the beginning of a command into `out`; its documents are appended after it.
    pub fn begin(&self, verb: Verb, out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&self.head(verb).bytes);
    }

    /// Patches the lengths of a command that is whole.
    pub fn end(&self, verb: Verb, out: &mut [u8], request_id: i32) {
        self.head(verb).finish(out, request_id);
    }

    /// The barrier: deletes the document with an `_id` that no document has.
    pub fn barrier(&self, out: &mut Vec<u8>, request_id: i32) {
        out.clear();
        out.extend_from_slice(&self.barrier.bytes);
        let mut writer = Writer::new(out);
        let statement = writer.begin_document();
        let query = writer.begin_subdocument("q");
        let id = writer.begin_subdocument("_id");
        writer.string("brimline", "journal barrier");
        writer.end_document(id);
        writer.end_document(query);
        writer.int32("limit", 1);
        writer.end_document(statement);
        self.barrier.finish(out, request_id);
    }

    /// Asks for the documents whose `_id` is among `ids`, elements of an array; whole, or the `_id` alone.
    pub fn find(&self, out: &mut Vec<u8>, request_id: i32, ids: &[u8], count: i32, whole: bool) {
        out.clear();
        op_msg::request(out, request_id, |writer| {
            writer.string("find", &self.collection);
            let filter = writer.begin_subdocument("filter");
            let id = writer.begin_subdocument("_id");
            let array = writer.begin_array("$in");
            writer.encoded_elements(ids);
            writer.end_document(array);
            writer.end_document(id);
            writer.end_document(filter);
            if !whole {
                let projection = writer.begin_subdocument("projection");
                writer.int32("_id", 1);
                writer.end_document(projection);
            }
            writer.int32("batchSize", count);
            writer.boolean("singleBatch", true);
            writer.string("$db", &self.database);
        });
    }

    fn head(&self, verb: Verb) -> &Head {
        match verb {
            Verb::Insert => &self.insert,
            Verb::Update => &self.update,
            Verb::Delete => &self.delete,
        }
    }
}

impl Head {
    fn finish(&self, out: &mut [u8], request_id: i32) {
        let length = out.len() as u32;
        out[..4].copy_from_slice(&length.to_le_bytes());
        out[4..8].copy_from_slice(&request_id.to_le_bytes());
        let sequence_length = length - self.sequence_offset as u32;
        out[self.sequence_offset..self.sequence_offset + 4].copy_from_slice(&sequence_length.to_le_bytes());
    }
}

fn write_concern(writer: &mut Writer<'_>, concern: &WriteConcern) {
    if concern.w.is_none() && concern.journal.is_none() && concern.timeout_ms.is_none() {
        return;
    }
    let document = writer.begin_subdocument("writeConcern");
    match &concern.w {
        Some(Acknowledgement::Members(members)) => writer.int32("w", *members),
        Some(Acknowledgement::Tag(tag)) => writer.string("w", tag),
        None => {}
    }
    if let Some(journal) = concern.journal {
        writer.boolean("j", journal);
    }
    if let Some(timeout_ms) = concern.timeout_ms {
        writer.int64("wtimeout", timeout_ms);
    }
    writer.end_document(document);
}

/// What the server answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The request it answers.
    pub response_to: i32,
    /// Why the command failed as a whole.
    pub failure: Option<ServerError>,
    /// Documents that were inserted, matched or deleted.
    pub n: u64,
    /// Documents of an update that were inserted.
    pub upserted: u64,
    /// Statements that failed.
    pub write_errors: Vec<(usize, ServerError)>,
    /// What was written is not acknowledged as asked for.
    pub write_concern_error: Option<ServerError>,
}

/// An error as the server says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerError {
    /// Its code.
    pub code: i32,
    /// Its message.
    pub message: String,
}

impl ServerError {
    /// Whether the server goes away: it shuts down, steps down, or is no primary any more.
    pub fn is_of_leaving(&self) -> bool {
        LEAVING_CODES.contains(&self.code)
    }
}

/// Reads the answer to a write. The message of the error says what is wrong with it.
pub fn answer(message: &[u8]) -> Result<Answer, String> {
    let reply = reply::scan(message).map_err(|error| error.to_string())?;
    let mut answer = Answer {
        response_to: reply.response_to,
        n: reply.n.max(0) as u64,
        failure: (!reply.ok).then(|| server_error(reply.code, reply.message)),
        write_concern_error: reply.write_concern_error.map(|error| server_error(error.code, error.message)),
        upserted: upserted(message)?,
        write_errors: Vec::new(),
    };
    let read = reply.each_write_error(|error| {
        answer.write_errors.push((error.index.max(0) as usize, server_error(error.code, error.message)));
    });
    read.map_err(|error| error.to_string())?;
    Ok(answer)
}

fn server_error(code: i32, message: &[u8]) -> ServerError {
    ServerError { code, message: reply::words(message) }
}

fn upserted(message: &[u8]) -> Result<u64, String> {
    let body = op_msg::parse(message).map_err(|error| error.to_string())?.body;
    let count = || {
        let Some(Value::Array(array)) = Reader::new(body)?.find("upserted")? else {
            return Ok(0);
        };
        let mut elements = Reader::new(array)?;
        let mut count = 0;
        while elements.next_raw()?.is_some() {
            count += 1;
        }
        Ok(count)
    };
    count().map_err(|error: brimline_bson::ReadError| error.to_string())
}

/// Hands every document of the only batch of a find's answer to `take`.
pub fn found(message: &[u8], mut take: impl FnMut(&[u8])) -> Result<(), String> {
    let reply = reply::scan(message).map_err(|error| error.to_string())?;
    if !reply.ok {
        return Err(reply::words(reply.message));
    }
    let body = op_msg::parse(message).map_err(|error| error.to_string())?.body;
    let mut walk = || {
        let Some(Value::Document(cursor)) = Reader::new(body)?.find("cursor")? else {
            return Ok(());
        };
        let Some(Value::Array(batch)) = Reader::new(cursor)?.find("firstBatch")? else {
            return Ok(());
        };
        let mut elements = Reader::new(batch)?;
        while let Some(element) = elements.next_raw()? {
            element.document().into_iter().for_each(&mut take);
        }
        Ok(())
    };
    walk().map_err(|error: brimline_bson::ReadError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(elements: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut message = Vec::new();
        op_msg::reply(&mut message, 1, 7, |writer| {
            elements(writer);
            writer.double("ok", 1.0);
        });
        message
    }

    #[test]
    fn an_answer_tells_inserted_from_matched() {
        let message = reply(|writer| {
            writer.int32("n", 5);
            let upserted = writer.begin_array("upserted");
            for name in ["0", "1"] {
                let entry = writer.begin_subdocument(name);
                writer.end_document(entry);
            }
            writer.end_document(upserted);
        });
        let answer = answer(&message).expect("an answer");
        assert_eq!((answer.n, answer.upserted, answer.response_to), (5, 2, 7));
        assert_eq!(answer.failure, None);
    }

    #[test]
    fn an_answer_names_every_document_that_failed() {
        let message = reply(|writer| {
            writer.int32("n", 0);
            let errors = writer.begin_array("writeErrors");
            let error = writer.begin_subdocument("0");
            writer.int32("index", 3);
            writer.int32("code", 11_000);
            writer.string("errmsg", "there already");
            writer.end_document(error);
            writer.end_document(errors);
        });
        let expected = ServerError { code: 11_000, message: "there already".to_owned() };
        assert_eq!(answer(&message).expect("an answer").write_errors, [(3, expected)]);
    }
}
