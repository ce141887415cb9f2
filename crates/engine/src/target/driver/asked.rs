//! Owns saying a rendered command in the driver's words, and what its answer amounts to.

use brimline_wire::op_msg;
use mongodb::Collection;
use mongodb::action::{Action, Find, FindOne};
use mongodb::bson::{Document, RawBsonRef, RawDocument, RawDocumentBuf};
use mongodb::error::Error;

use super::failed::Statements;
use crate::target::ReplyFacts;

/// A command as a program would write it.
pub enum Asked {
    Find { filter: Document, projection: Option<Document> },
    Scan { filter: Document, sort: Document, projection: Option<Document>, limit: i64, batch_size: u32 },
    Update { filter: Document, update: Document },
    Insert { documents: Vec<RawDocumentBuf>, ordered: bool },
}

type Reading<T> = Result<T, Box<dyn std::error::Error>>;

impl Asked {
    /// Reads a command as the worker rendered it.
    ///
    /// # Errors
    /// When it is none of those that operations are made of.
    pub fn read(request: &[u8]) -> Reading<Self> {
        let message = op_msg::parse(request)?;
        let body = RawDocument::from_bytes(message.body)?;
        let (name, _) = body.iter().next().ok_or("an empty command")??;
        match name.as_str() {
            "find" if body.get("sort")?.is_some() => Ok(Self::Scan {
                filter: document(body, "filter")?,
                sort: document(body, "sort")?,
                projection: projection(body)?,
                limit: body.get_i32("limit")?.into(),
                batch_size: body.get_i32("batchSize")?.unsigned_abs(),
            }),
            "find" => Ok(Self::Find { filter: document(body, "filter")?, projection: projection(body)? }),
            "update" => {
                let Some(RawBsonRef::Document(statement)) = body.get_array("updates")?.get(0)? else {
                    return Err("an update without a statement".into());
                };
                Ok(Self::Update { filter: document(statement, "q")?, update: document(statement, "u")? })
            }
            "insert" => {
                let sequence = message.sequences().next().ok_or("an insert without documents")?;
                let documents = sequence.documents().map(|document| -> Reading<RawDocumentBuf> {
                    Ok(RawDocumentBuf::from_bytes(document?.to_vec())?)
                });
                Ok(Self::Insert {
                    documents: documents.collect::<Reading<_>>()?,
                    ordered: body.get_bool("ordered")?,
                })
            }
            other => Err(format!("a command {other}").into()),
        }
    }

    /// How many statements it has, and whether the first that fails is the last that is tried.
    pub fn statements(&self) -> Statements {
        match self {
            Self::Insert { documents, ordered } => {
                Statements { count: documents.len() as u64, ordered: *ordered }
            }
            _ => Statements { count: 1, ordered: true },
        }
    }

    /// Has the driver do it. The bytes of a reply are those of the documents in it: the driver shows no more.
    ///
    /// # Errors
    /// The driver's.
    pub async fn perform(self, collection: &Collection<RawDocumentBuf>) -> Result<ReplyFacts, Error> {
        let (mut found, mut n, mut bytes) = (0, 0, 0);
        match self {
            Self::Find { filter, projection } => {
                let find = collection.find_one(filter).optional(projection, FindOne::projection);
                if let Some(document) = find.await? {
                    found = 1;
                    bytes = document.as_bytes().len();
                }
            }
            Self::Scan { filter, sort, projection, limit, batch_size } => {
                let find = collection.find(filter).sort(sort).limit(limit).batch_size(batch_size);
                let mut cursor = find.optional(projection, Find::projection).await?;
                while cursor.advance().await? {
                    found += 1;
                    bytes += cursor.current().as_bytes().len();
                }
            }
            Self::Update { filter, update } => n = collection.update_one(filter, update).await?.matched_count,
            Self::Insert { documents, .. } if documents.len() == 1 => {
                collection.insert_one(&documents[0]).await?;
                n = 1;
            }
            Self::Insert { documents, ordered } => {
                let inserted = collection.insert_many(&documents).ordered(ordered).await?;
                n = inserted.inserted_ids.len() as u64;
            }
        }
        // A cursor that went on was followed by the driver.
        Ok(ReplyFacts {
            failure: None,
            documents: found,
            n,
            modified: 0,
            upserted: 0,
            cursor: 0,
            bytes: bytes as u64,
        })
    }
}

fn document(inside: &RawDocument, name: &str) -> Reading<Document> {
    Ok(inside.get_document(name)?.try_into()?)
}

fn projection(body: &RawDocument) -> Reading<Option<Document>> {
    let Some(RawBsonRef::Document(projection)) = body.get("projection")? else { return Ok(None) };
    Ok(Some(projection.try_into()?))
}
