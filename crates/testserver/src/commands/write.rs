//! Writes: insert, update, delete.

use std::collections::btree_map::Entry;

use brimline_bson::{Reader, Value, Writer};

use super::{Backend, CommandError, Request};
use crate::script::FaultKind;
use crate::store::{Elements, KeyRange, Update, is_document, order_key};

/// A statement that fails while the command goes on.
struct StatementError {
    error: CommandError,
    /// The `_id` element that exists already, for a duplicate key.
    duplicate_id: Option<Vec<u8>>,
}

impl<E: Into<CommandError>> From<E> for StatementError {
    fn from(error: E) -> Self {
        Self { error: error.into(), duplicate_id: None }
    }
}

/// What became of the statements of a command.
struct Attempts {
    count: u64,
    errors: Vec<(usize, StatementError)>,
}

impl Backend {
    pub(super) fn insert(
        &mut self,
        request: &Request<'_>,
        fault: Option<&FaultKind>,
        writer: &mut Writer<'_>,
    ) -> Result<(), CommandError> {
        let namespace = request.collection()?;
        let documents = request.statements("documents")?;
        let mut inserted = 0;
        let attempts = attempt(request, &documents, fault, |_, document| {
            self.insert_document(namespace, document)?;
            inserted += 1;
            Ok(())
        })?;
        self.counts.opcounters.insert += attempts.count;
        writer.int32("n", inserted);
        attempts.write_errors(writer);
        write_concern_error(fault, writer);
        Ok(())
    }

    pub(super) fn update(
        &mut self,
        request: &Request<'_>,
        fault: Option<&FaultKind>,
        writer: &mut Writer<'_>,
    ) -> Result<(), CommandError> {
        let namespace = request.collection()?;
        let statements = request.statements("updates")?;
        let (mut matched, mut modified) = (0, 0);
        let mut upserted: Vec<(usize, Vec<u8>)> = Vec::new();
        let attempts = attempt(request, &statements, fault, |index, statement| {
            let statement = UpdateStatement::of_document(statement)?;
            if fault == Some(&FaultKind::NoDocument) {
                return Ok(());
            }
            let outcome = self.update_documents(namespace, &statement)?;
            matched += outcome.matched;
            modified += outcome.modified;
            if let Some(id) = outcome.upserted_id {
                matched += 1;
                upserted.push((index, id));
            }
            Ok(())
        })?;
        self.counts.opcounters.update += attempts.count;
        writer.int32("n", matched);
        write_upserted(&upserted, writer);
        writer.int32("nModified", modified);
        attempts.write_errors(writer);
        write_concern_error(fault, writer);
        Ok(())
    }

    pub(super) fn delete(
        &mut self,
        request: &Request<'_>,
        fault: Option<&FaultKind>,
        writer: &mut Writer<'_>,
    ) -> Result<(), CommandError> {
        let namespace = request.collection()?;
        let statements = request.statements("deletes")?;
        let mut deleted = 0;
        let attempts = attempt(request, &statements, fault, |_, statement| {
            let range = KeyRange::of_filter(filter_of(statement)?)?;
            let only_one = Reader::new(statement)?.find("limit")?.and_then(|limit| limit.as_i64()) == Some(1);
            if fault != Some(&FaultKind::NoDocument) {
                deleted += self.delete_documents(namespace, &range, only_one);
            }
            Ok(())
        })?;
        self.counts.opcounters.delete += attempts.count;
        writer.int32("n", deleted);
        attempts.write_errors(writer);
        write_concern_error(fault, writer);
        Ok(())
    }

    fn insert_document(&mut self, namespace: &str, document: &[u8]) -> Result<(), StatementError> {
        is_document(document)?;
        if self.is_synthetic(namespace) {
            self.synthetic_documents += 1;
            return Ok(());
        }
        if Elements::find(document, "_id")?.is_some() {
            return self.keep(namespace, document);
        }
        let document = Update::Replace(document).insert(&self.new_id_element())?;
        self.keep(namespace, &document)
    }

    /// Adds a document that has an `_id`, unless one with that `_id` exists.
    fn keep(&mut self, namespace: &str, document: &[u8]) -> Result<(), StatementError> {
        let id = Elements::find(document, "_id")?
            .ok_or_else(|| CommandError::bad_value("a document has no _id"))?;
        match self.store.collection_mut(namespace).entry(order_key(&id.element.value)) {
            Entry::Vacant(vacant) => {
                vacant.insert(document.into());
                Ok(())
            }
            Entry::Occupied(_) => Err(StatementError {
                error: CommandError::new(
                    11000,
                    "DuplicateKey",
                    format!("E11000 duplicate key error collection: {namespace} index: _id_"),
                ),
                duplicate_id: Some(id.bytes.to_vec()),
            }),
        }
    }

    fn update_documents(
        &mut self,
        namespace: &str,
        statement: &UpdateStatement<'_>,
    ) -> Result<UpdateOutcome, StatementError> {
        let mut outcome = UpdateOutcome::default();
        if self.is_synthetic(namespace) {
            return Ok(UpdateOutcome { matched: 1, modified: 1, upserted_id: None });
        }
        let limit = if statement.multi { usize::MAX } else { 1 };
        let mut changes = Vec::new();
        for (key, document) in self.store.documents(namespace, &statement.range).take(limit) {
            let updated = statement.update.apply(document)?;
            outcome.matched += 1;
            if updated != document {
                changes.push((key.clone(), updated.into_boxed_slice()));
            }
        }
        outcome.modified = changes.len() as i32;
        if outcome.matched == 0 && statement.upsert {
            outcome.upserted_id = Some(self.upsert(namespace, statement)?);
        } else if !changes.is_empty() {
            self.store.collection_mut(namespace).extend(changes);
        }
        Ok(outcome)
    }

    /// Inserts what an update that matched nothing asks for, and returns its `_id` element.
    fn upsert(
        &mut self,
        namespace: &str,
        statement: &UpdateStatement<'_>,
    ) -> Result<Vec<u8>, StatementError> {
        let (Update::Replace(given) | Update::Set(given)) = statement.update;
        let id = match (statement.filter_id, Elements::find(given, "_id")?) {
            (Some(id), _) => id.to_vec(),
            (None, Some(id)) => id.bytes.to_vec(),
            (None, None) => self.new_id_element(),
        };
        let document = statement.update.insert(&id)?;
        self.keep(namespace, &document)?;
        Ok(id)
    }

    fn delete_documents(&mut self, namespace: &str, range: &KeyRange, only_one: bool) -> i32 {
        if self.is_synthetic(namespace) {
            return 1;
        }
        let limit = if only_one { 1 } else { usize::MAX };
        let keys: Vec<_> =
            self.store.documents(namespace, range).take(limit).map(|(key, _)| key.clone()).collect();
        if !keys.is_empty() {
            let collection = self.store.collection_mut(namespace);
            for key in &keys {
                collection.remove(key);
            }
        }
        keys.len() as i32
    }

    /// An `_id` element with an object id that is new to this server.
    fn new_id_element(&mut self) -> Vec<u8> {
        self.ids_made += 1;
        let mut id = [0; 12];
        id[4..].copy_from_slice(&self.ids_made.to_be_bytes());
        let mut element = Vec::new();
        Writer::new(&mut element).object_id("_id", id);
        element
    }
}

/// Runs the statements one after the other; an ordered command stops at its first failure.
fn attempt<'a>(
    request: &Request<'_>,
    statements: &[&'a [u8]],
    fault: Option<&FaultKind>,
    mut run: impl FnMut(usize, &'a [u8]) -> Result<(), StatementError>,
) -> Result<Attempts, CommandError> {
    let ordered = request.field("ordered")? != Some(Value::Boolean(false));
    let mut attempts = Attempts { count: 0, errors: Vec::new() };
    for (index, statement) in statements.iter().enumerate() {
        attempts.count += 1;
        let result = match fault {
            Some(&FaultKind::WriteError { code, statements }) if index < statements as usize => {
                Err(CommandError::new(code, "", "scripted write error").into())
            }
            _ => run(index, statement),
        };
        if let Err(error) = result {
            attempts.errors.push((index, error));
            if ordered {
                break;
            }
        }
    }
    Ok(attempts)
}

impl Attempts {
    fn write_errors(&self, writer: &mut Writer<'_>) {
        if self.errors.is_empty() {
            return;
        }
        let array = writer.begin_array("writeErrors");
        for (position, (index, failed)) in self.errors.iter().enumerate() {
            let document = writer.begin_subdocument(&position.to_string());
            writer.int32("index", *index as i32);
            writer.int32("code", failed.error.code);
            writer.string("errmsg", &failed.error.message);
            if let Some(id) = &failed.duplicate_id {
                let pattern = writer.begin_subdocument("keyPattern");
                writer.int32("_id", 1);
                writer.end_document(pattern);
                let value = writer.begin_subdocument("keyValue");
                writer.encoded_elements(id);
                writer.end_document(value);
            }
            writer.end_document(document);
        }
        writer.end_document(array);
    }
}

fn write_upserted(upserted: &[(usize, Vec<u8>)], writer: &mut Writer<'_>) {
    if upserted.is_empty() {
        return;
    }
    let array = writer.begin_array("upserted");
    for (position, (index, id)) in upserted.iter().enumerate() {
        let document = writer.begin_subdocument(&position.to_string());
        writer.int32("index", *index as i32);
        writer.encoded_elements(id);
        writer.end_document(document);
    }
    writer.end_document(array);
}

fn write_concern_error(fault: Option<&FaultKind>, writer: &mut Writer<'_>) {
    let Some(FaultKind::WriteConcernError { code, name }) = fault else {
        return;
    };
    let error = writer.begin_subdocument("writeConcernError");
    writer.int32("code", *code);
    writer.string("codeName", name);
    writer.string("errmsg", "scripted write concern error");
    writer.end_document(error);
}

/// An entry of `updates`.
struct UpdateStatement<'a> {
    range: KeyRange,
    /// The `_id` element that the filter demands.
    filter_id: Option<&'a [u8]>,
    update: Update<'a>,
    upsert: bool,
    multi: bool,
}

#[derive(Default)]
struct UpdateOutcome {
    matched: i32,
    modified: i32,
    upserted_id: Option<Vec<u8>>,
}

impl<'a> UpdateStatement<'a> {
    fn of_document(statement: &'a [u8]) -> Result<Self, CommandError> {
        let filter = filter_of(statement)?;
        let range = KeyRange::of_filter(filter)?;
        let field = |name| Reader::new(statement)?.find(name);
        let update = field("u")?.ok_or_else(|| CommandError::bad_value("an update must have 'u'"))?;
        let filter_id = if range.is_single() { Elements::find(filter, "_id")? } else { None };
        let statement = Self {
            filter_id: filter_id.filter(|id| !is_comparison(&id.element.value)).map(|id| id.bytes),
            range,
            update: Update::of_value(&update)?,
            upsert: field("upsert")? == Some(Value::Boolean(true)),
            multi: field("multi")? == Some(Value::Boolean(true)),
        };
        if statement.multi && matches!(statement.update, Update::Replace(_)) {
            return Err(CommandError::new(
                9,
                "FailedToParse",
                "multi update is not supported for replacement",
            ));
        }
        Ok(statement)
    }
}

/// The `q` of an update or delete.
fn filter_of(statement: &[u8]) -> Result<&[u8], CommandError> {
    match Reader::new(statement)?.find("q")? {
        Some(Value::Document(filter)) => Ok(filter),
        _ => Err(CommandError::bad_value("a statement must have a filter 'q'")),
    }
}

/// Whether a filter's value is a document of operators rather than a value.
fn is_comparison(value: &Value<'_>) -> bool {
    let Value::Document(document) = value else {
        return false;
    };
    let first = Reader::new(document).and_then(|mut operators| operators.next_element());
    matches!(first, Ok(Some(operator)) if operator.name.starts_with(b"$"))
}
