//! A command of the engine's in the words of the driver's CRUD methods: which one, with which options, and what its result
//! amounts to as the server's reply.

use std::time::Duration;

use mongodb::action::Action as _;
use mongodb::bson::{Bson, Document, deserialize_from_bson, deserialize_from_document, doc};
use mongodb::options::{
    AggregateOptions, CollectionOptions, DeleteOptions, DistinctOptions, FindOneAndDeleteOptions,
    FindOneAndReplaceOptions, FindOneAndUpdateOptions, FindOneOptions, FindOptions, InsertManyOptions,
    InsertOneOptions, ReplaceOptions, ReturnDocument, UpdateModifications, UpdateOptions,
};
use mongodb::results::UpdateResult;
use mongodb::{Client, ClientSession, Collection, Cursor, Database, SessionCursor};
use serde::de::DeserializeOwned;

use crate::frames::{Command, Done, Outcome};

/// What the driver has no word for.
pub type Misfit = String;

/// What is called once a command is due.
pub struct Call {
    database: Database,
    collection: Collection<Document>,
    method: Method,
    wants_document: bool,
}

enum Method {
    Run(Document),
    FindOne(Document, FindOneOptions),
    Find(Document, FindOptions),
    Aggregate(Vec<Document>, AggregateOptions),
    Distinct(String, Document, DistinctOptions),
    InsertOne(Document, InsertOneOptions),
    InsertMany(Vec<Document>, InsertManyOptions),
    UpdateOne(Document, UpdateModifications, UpdateOptions),
    UpdateMany(Document, UpdateModifications, UpdateOptions),
    Replace(Document, Document, ReplaceOptions),
    DeleteOne(Document, DeleteOptions),
    DeleteMany(Document, DeleteOptions),
    FindAndDelete(Document, FindOneAndDeleteOptions),
    FindAndReplace(Document, Document, FindOneAndReplaceOptions),
    FindAndUpdate(Document, UpdateModifications, FindOneAndUpdateOptions),
}

const FIND: [&str; 9] =
    ["projection", "sort", "skip", "limit", "hint", "batchSize", "collation", "let", "allowDiskUse"];
const FIND_ONE: [&str; 6] = ["projection", "sort", "skip", "hint", "collation", "let"];
const AGGREGATE: [&str; 5] = ["hint", "collation", "let", "allowDiskUse", "bypassDocumentValidation"];
const INSERT: [&str; 1] = ["bypassDocumentValidation"];
const UPDATE: [&str; 6] = ["upsert", "arrayFilters", "hint", "collation", "let", "bypassDocumentValidation"];
const REPLACE: [&str; 5] = ["upsert", "hint", "collation", "let", "bypassDocumentValidation"];
const DELETE: [&str; 3] = ["hint", "collation", "let"];
const FIND_AND_DELETE: [&str; 5] = ["sort", "projection", "hint", "collation", "let"];
const FIND_AND_REPLACE: [&str; 7] =
    ["sort", "projection", "hint", "collation", "let", "upsert", "bypassDocumentValidation"];
const FIND_AND_UPDATE: [&str; 8] =
    ["sort", "projection", "hint", "collation", "let", "upsert", "arrayFilters", "bypassDocumentValidation"];
/// What one batch has where nothing else is said.
const BATCH: i64 = 101;

impl Call {
    /// How the driver is asked for `command`.
    ///
    /// # Errors
    /// When the command says what the driver has no word for.
    pub fn of(client: &Client, command: &Command) -> Result<Self, Misfit> {
        let mut body = command.body.clone()?;
        let name = body.keys().next().cloned().unwrap_or_default();
        let database = client.database(&required::<String>(&mut body, "$db")?);
        let (read_concern, write_concern) = (body.remove("readConcern"), body.remove("writeConcern"));
        let mut options = CollectionOptions::default();
        if !has_a_method(&name, &body) {
            let concerns = [("readConcern", read_concern), ("writeConcern", write_concern)];
            for (name, concern) in concerns.into_iter().filter(|_| !command.is_inside) {
                body.extend(concern.map(|concern| (name.to_owned(), concern)));
            }
            let collection = database.collection(&name);
            return Ok(Self { database, collection, method: Method::Run(body), wants_document: false });
        }
        if !command.is_inside {
            options.read_concern = read_concern.map(read).transpose()?;
            options.write_concern = write_concern.map(read).transpose()?;
        }
        let collection = database.collection_with_options(&required::<String>(&mut body, &name)?, options);
        let method = match name.as_str() {
            "find" => find(body),
            "aggregate" => aggregate(body),
            "distinct" => distinct(body),
            "insert" => insert(body),
            "update" => update(body),
            "delete" => delete(body),
            _ => find_and_modify(body),
        }?;
        Ok(Self { database, collection, method, wants_document: command.wants_document })
    }

    /// Has the driver do it.
    ///
    /// # Errors
    /// The driver's.
    pub async fn perform(self, session: Option<&mut ClientSession>) -> mongodb::error::Result<Done> {
        let Self { database, collection, method, wants_document } = self;
        let found = |documents| found(documents, wants_document);
        Ok(match method {
            Method::Run(command) => {
                let run =
                    database.run_command(command).optional(session, |run, session| run.session(session));
                let mut reply = run.await?;
                strip(&mut reply);
                answered(reply)
            }
            Method::FindOne(filter, options) => {
                let find = collection.find_one(filter).with_options(options);
                let one = find.optional(session, |find, session| find.session(session)).await?;
                found(one.into_iter().collect())
            }
            Method::Find(filter, options) => {
                let find = collection.find(filter).with_options(options);
                found(match session {
                    Some(session) => drained_in(find.session(&mut *session).await?, session).await?,
                    None => drained(find.await?).await?,
                })
            }
            Method::Aggregate(pipeline, options) => {
                let aggregate = collection.aggregate(pipeline).with_options(options);
                found(match session {
                    Some(session) => drained_in(aggregate.session(&mut *session).await?, session).await?,
                    None => drained(aggregate.await?).await?,
                })
            }
            Method::Distinct(key, query, options) => {
                let distinct = collection.distinct(key, query).with_options(options);
                let values =
                    distinct.optional(session, |distinct, session| distinct.session(session)).await?;
                answered(doc! { "ok": 1, "values": values })
            }
            Method::InsertOne(document, options) => {
                let insert = collection.insert_one(document).with_options(options);
                insert.optional(session, |insert, session| insert.session(session)).await?;
                counted(1)
            }
            Method::InsertMany(documents, options) => {
                let insert = collection.insert_many(documents).with_options(options);
                let result = insert.optional(session, |insert, session| insert.session(session)).await?;
                counted(result.inserted_ids.len() as u64)
            }
            Method::UpdateOne(filter, change, options) => {
                let update = collection.update_one(filter, change).with_options(options);
                updated(update.optional(session, |update, session| update.session(session)).await?)
            }
            Method::UpdateMany(filter, change, options) => {
                let update = collection.update_many(filter, change).with_options(options);
                updated(update.optional(session, |update, session| update.session(session)).await?)
            }
            Method::Replace(filter, document, options) => {
                let replace = collection.replace_one(filter, document).with_options(options);
                updated(replace.optional(session, |replace, session| replace.session(session)).await?)
            }
            Method::DeleteOne(filter, options) => {
                let delete = collection.delete_one(filter).with_options(options);
                counted(
                    delete.optional(session, |delete, session| delete.session(session)).await?.deleted_count,
                )
            }
            Method::DeleteMany(filter, options) => {
                let delete = collection.delete_many(filter).with_options(options);
                counted(
                    delete.optional(session, |delete, session| delete.session(session)).await?.deleted_count,
                )
            }
            Method::FindAndDelete(filter, options) => {
                let modify = collection.find_one_and_delete(filter).with_options(options);
                modified(modify.optional(session, |modify, session| modify.session(session)).await?, false)
            }
            Method::FindAndReplace(filter, document, options) => {
                let tells = tells_existing(options.upsert, options.return_document.as_ref());
                let modify = collection.find_one_and_replace(filter, document).with_options(options);
                modified(modify.optional(session, |modify, session| modify.session(session)).await?, tells)
            }
            Method::FindAndUpdate(filter, change, options) => {
                let tells = tells_existing(options.upsert, options.return_document.as_ref());
                let modify = collection.find_one_and_update(filter, change).with_options(options);
                modified(modify.optional(session, |modify, session| modify.session(session)).await?, tells)
            }
        })
    }
}

/// Whether the driver has a method for it. Of several statements it has none that every server takes.
fn has_a_method(name: &str, body: &Document) -> bool {
    match name {
        "find" | "aggregate" | "distinct" | "insert" | "findAndModify" => true,
        "update" => body.get_array("updates").is_ok_and(|statements| statements.len() == 1),
        "delete" => body.get_array("deletes").is_ok_and(|statements| statements.len() == 1),
        _ => false,
    }
}

fn find(mut body: Document) -> Result<Method, Misfit> {
    let filter = optional::<Document>(&mut body, "filter")?.unwrap_or_default();
    let is_single = optional::<bool>(&mut body, "singleBatch")?.unwrap_or(false);
    let max_time = max_time(&mut body)?;
    let limit = body.get("limit").and_then(whole);
    if limit == Some(1) && !body.contains_key("allowDiskUse") {
        body.remove("limit");
        body.remove("batchSize");
        let mut options: FindOneOptions = options(body, &FIND_ONE)?;
        options.max_time = max_time;
        return Ok(Method::FindOne(filter, options));
    }
    let mut options: FindOptions = options(body, &FIND)?;
    options.max_time = max_time;
    if is_single {
        let most = limit.filter(|&limit| limit != 0).or(options.batch_size.map(i64::from));
        options.limit = Some(-most.unwrap_or(BATCH).abs());
    }
    Ok(Method::Find(filter, options))
}

fn aggregate(mut body: Document) -> Result<Method, Misfit> {
    let pipeline = required(&mut body, "pipeline")?;
    let cursor = optional::<Document>(&mut body, "cursor")?.unwrap_or_default();
    let max_time = max_time(&mut body)?;
    let mut options: AggregateOptions = options(body, &AGGREGATE)?;
    options.batch_size = cursor.get("batchSize").and_then(whole).and_then(|size| size.try_into().ok());
    options.max_time = max_time;
    Ok(Method::Aggregate(pipeline, options))
}

fn distinct(mut body: Document) -> Result<Method, Misfit> {
    let key = required(&mut body, "key")?;
    let query = optional::<Document>(&mut body, "query")?.unwrap_or_default();
    let max_time = max_time(&mut body)?;
    let mut options: DistinctOptions = options(body, &["collation"])?;
    options.max_time = max_time;
    Ok(Method::Distinct(key, query, options))
}

fn insert(mut body: Document) -> Result<Method, Misfit> {
    let mut documents: Vec<Document> = required(&mut body, "documents")?;
    let ordered = optional(&mut body, "ordered")?;
    if documents.len() == 1 {
        return Ok(Method::InsertOne(documents.remove(0), options(body, &INSERT)?));
    }
    let mut options: InsertManyOptions = options(body, &INSERT)?;
    options.ordered = ordered;
    Ok(Method::InsertMany(documents, options))
}

fn update(mut body: Document) -> Result<Method, Misfit> {
    let mut statement = the_statement(&mut body, "updates")?;
    let filter = required(&mut statement, "q")?;
    let change = statement.remove("u").ok_or("an update without a change")?;
    let is_many = optional::<bool>(&mut statement, "multi")?.unwrap_or(false);
    statement.extend(body);
    Ok(match changed(change)? {
        Change::Whole(document) => Method::Replace(filter, document, options(statement, &REPLACE)?),
        Change::Part(change) if is_many => Method::UpdateMany(filter, change, options(statement, &UPDATE)?),
        Change::Part(change) => Method::UpdateOne(filter, change, options(statement, &UPDATE)?),
    })
}

fn delete(mut body: Document) -> Result<Method, Misfit> {
    let mut statement = the_statement(&mut body, "deletes")?;
    let filter = required(&mut statement, "q")?;
    let is_many = statement.remove("limit").as_ref().and_then(whole).unwrap_or(0) == 0;
    statement.extend(body);
    let options = options(statement, &DELETE)?;
    Ok(if is_many { Method::DeleteMany(filter, options) } else { Method::DeleteOne(filter, options) })
}

fn find_and_modify(mut body: Document) -> Result<Method, Misfit> {
    let filter = optional::<Document>(&mut body, "query")?.unwrap_or_default();
    let change = body.remove("update");
    let is_removed = optional::<bool>(&mut body, "remove")?.unwrap_or(false);
    let is_after = optional::<bool>(&mut body, "new")?.unwrap_or(false);
    let shown = if is_after { ReturnDocument::After } else { ReturnDocument::Before };
    let max_time = max_time(&mut body)?;
    let fields = body.remove("fields");
    body.extend(fields.map(|fields| ("projection".to_owned(), fields)));
    if is_removed {
        let mut options: FindOneAndDeleteOptions = options(body, &FIND_AND_DELETE)?;
        options.max_time = max_time;
        return Ok(Method::FindAndDelete(filter, options));
    }
    match changed(change.ok_or("a findAndModify without a change")?)? {
        Change::Whole(document) => {
            let mut options: FindOneAndReplaceOptions = options(body, &FIND_AND_REPLACE)?;
            options.max_time = max_time;
            options.return_document = Some(shown);
            Ok(Method::FindAndReplace(filter, document, options))
        }
        Change::Part(change) => {
            let mut options: FindOneAndUpdateOptions = options(body, &FIND_AND_UPDATE)?;
            options.max_time = max_time;
            options.return_document = Some(shown);
            Ok(Method::FindAndUpdate(filter, change, options))
        }
    }
}

/// What an update does: a whole document in its place, or a change of it.
enum Change {
    Whole(Document),
    Part(UpdateModifications),
}

fn changed(change: Bson) -> Result<Change, Misfit> {
    match change {
        Bson::Document(document) if !document.keys().next().is_some_and(|name| name.starts_with('$')) => {
            Ok(Change::Whole(document))
        }
        change => Ok(Change::Part(read(change)?)),
    }
}

fn the_statement(body: &mut Document, name: &str) -> Result<Document, Misfit> {
    body.remove("ordered");
    let mut statements: Vec<Document> = required(body, name)?;
    statements.pop().ok_or_else(|| format!("no statement in {name}"))
}

/// What is left of a command, as the driver's options; `names` are those that it has words for.
fn options<Options: DeserializeOwned>(body: Document, names: &[&str]) -> Result<Options, Misfit> {
    let others: Vec<_> = body.keys().map(String::as_str).filter(|&name| !is_known(name, names)).collect();
    if !others.is_empty() {
        return Err(format!("the driver has no word for {}", others.join(", ")));
    }
    deserialize_from_document(body).map_err(|error| error.to_string())
}

/// A comment is an option of every method.
fn is_known(name: &str, names: &[&str]) -> bool {
    name == "comment" || names.contains(&name)
}

fn optional<Value: DeserializeOwned>(body: &mut Document, name: &str) -> Result<Option<Value>, Misfit> {
    body.remove(name).map(read).transpose()
}

fn required<Value: DeserializeOwned>(body: &mut Document, name: &str) -> Result<Value, Misfit> {
    optional(body, name)?.ok_or_else(|| format!("a command without {name}"))
}

fn read<Value: DeserializeOwned>(value: Bson) -> Result<Value, Misfit> {
    deserialize_from_bson(value).map_err(|error| error.to_string())
}

fn max_time(body: &mut Document) -> Result<Option<Duration>, Misfit> {
    Ok(optional(body, "maxTimeMS")?.map(Duration::from_millis))
}

fn whole(number: &Bson) -> Option<i64> {
    match *number {
        Bson::Int32(number) => Some(number.into()),
        Bson::Int64(number) => Some(number),
        Bson::Double(number) => Some(number as i64),
        _ => None,
    }
}

async fn drained(mut cursor: Cursor<Document>) -> mongodb::error::Result<Vec<Document>> {
    let mut documents = Vec::new();
    while cursor.advance().await? {
        documents.push(cursor.deserialize_current()?);
    }
    Ok(documents)
}

async fn drained_in(
    mut cursor: SessionCursor<Document>,
    session: &mut ClientSession,
) -> mongodb::error::Result<Vec<Document>> {
    let mut documents = Vec::new();
    while let Some(document) = cursor.next(session).await {
        documents.push(document?);
    }
    Ok(documents)
}

fn found(documents: Vec<Document>, wants_document: bool) -> Done {
    let count = documents.len();
    let batch: Vec<_> = documents.into_iter().take(usize::from(wants_document)).collect();
    Done { documents: count, ..answered(doc! { "ok": 1, "cursor": { "id": 0_i64, "firstBatch": batch } }) }
}

pub fn answered(body: Document) -> Done {
    Done { outcome: Outcome::Answered, body, documents: 0 }
}

fn counted(n: u64) -> Done {
    answered(doc! { "ok": 1, "n": n as i64 })
}

fn updated(result: UpdateResult) -> Done {
    answered(match result.upserted_id {
        None => doc! { "ok": 1, "n": result.matched_count as i64, "nModified": result.modified_count as i64 },
        Some(id) => doc! { "ok": 1, "n": 1, "nModified": 0, "upserted": [{ "index": 0, "_id": id }] },
    })
}

/// The driver doesn't say whether a document that is shown as it is afterwards was there before.
fn tells_existing(upsert: Option<bool>, shown: Option<&ReturnDocument>) -> bool {
    !(upsert == Some(true) && matches!(shown, Some(ReturnDocument::After)))
}

fn modified(document: Option<Document>, tells_existing: bool) -> Done {
    let was_there = document.is_some();
    let mut reply = doc! { "ok": 1, "value": document };
    if tells_existing {
        reply.insert("lastErrorObject", doc! { "updatedExisting": was_there });
    }
    answered(reply)
}

/// Takes out what a server says of its cluster.
pub fn strip(reply: &mut Document) {
    for name in ["$clusterTime", "operationTime"] {
        reply.remove(name);
    }
}
