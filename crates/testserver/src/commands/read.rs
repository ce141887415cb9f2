//! Reads: find, getMore, killCursors, count, and the aggregations that count.

use brimline_bson::{Reader, Value, Writer};

use super::cursors::{BATCH_BYTES_MAX, Cursor};
use super::request::{documents_of, text};
use super::{Backend, CommandError, Request};
use crate::script::FaultKind;
use crate::store::{Elements, KeyRange, Projection, StoreError};

/// Documents in the first batch unless the command says otherwise, as in mongod.
const BATCH_SIZE_DEFAULT: u64 = 101;

impl Backend {
    pub(super) fn find(
        &mut self,
        request: &Request<'_>,
        fault: Option<&FaultKind>,
        writer: &mut Writer<'_>,
    ) -> Result<(), CommandError> {
        let find = Find::of_request(request)?;
        let namespace = request.collection()?;
        if self.is_synthetic(namespace) {
            let copies = if fault == Some(&FaultKind::NoDocument) { 0 } else { find.limit.unwrap_or(1) };
            let document = &self.synthetic_document;
            let cursor = writer.begin_subdocument("cursor");
            let copies = copies.min((BATCH_BYTES_MAX / document.len()) as u64);
            write_array(writer, "firstBatch", std::iter::repeat_n(document.as_slice(), copies as usize));
            end_cursor(writer, cursor, 0, namespace);
            return Ok(());
        }
        let mut cursor = Cursor {
            namespace: namespace.to_owned(),
            left: if find.range.is_single() { Some(1) } else { find.limit },
            range: find.range,
            projection: find.projection,
        };
        if fault == Some(&FaultKind::NoDocument) {
            cursor.left = Some(0);
        }
        let open = writer.begin_subdocument("cursor");
        let has_more = cursor.write_batch(&self.store, "firstBatch", Some(find.batch_size), writer)?;
        let id = if has_more && !find.single_batch { self.cursors.keep(cursor) } else { 0 };
        end_cursor(writer, open, id, namespace);
        Ok(())
    }

    pub(super) fn get_more(
        &mut self,
        request: &Request<'_>,
        fault: Option<&FaultKind>,
        writer: &mut Writer<'_>,
    ) -> Result<(), CommandError> {
        let id = request.argument.as_i64().unwrap_or(0);
        let mut cursor = self
            .cursors
            .take(id)
            .ok_or_else(|| CommandError::new(43, "CursorNotFound", format!("cursor id {id} not found")))?;
        if fault == Some(&FaultKind::NoDocument) {
            cursor.left = Some(0);
        }
        let batch_size =
            request.field("batchSize")?.and_then(|value| value.as_i64()).filter(|&size| size > 0);
        let open = writer.begin_subdocument("cursor");
        let has_more =
            cursor.write_batch(&self.store, "nextBatch", batch_size.map(|size| size as u64), writer)?;
        let id = if has_more { id } else { 0 };
        end_cursor(writer, open, id, &cursor.namespace);
        if has_more {
            self.cursors.put_back(id, cursor);
        }
        Ok(())
    }

    pub(super) fn kill_cursors(
        &mut self,
        request: &Request<'_>,
        writer: &mut Writer<'_>,
    ) -> Result<(), CommandError> {
        let Some(Value::Array(ids)) = request.field("cursors")? else {
            return Err(CommandError::bad_value("'cursors' must be an array"));
        };
        let (mut killed, mut not_found) = (Vec::new(), Vec::new());
        let mut ids = Reader::new(ids)?;
        while let Some(id) = ids.next_element()?.and_then(|id| id.value.as_i64()) {
            let list = if self.cursors.take(id).is_some() { &mut killed } else { &mut not_found };
            list.push(id);
        }
        let lists = [("cursorsKilled", killed), ("cursorsNotFound", not_found), ("cursorsAlive", vec![])];
        for (name, ids) in lists {
            let array = writer.begin_array(name);
            for (index, id) in ids.into_iter().enumerate() {
                writer.int64(&index.to_string(), id);
            }
            writer.end_document(array);
        }
        Ok(())
    }

    pub(super) fn count(&self, request: &Request<'_>, writer: &mut Writer<'_>) -> Result<(), CommandError> {
        let range = KeyRange::of_filter(request.document("query")?)?;
        writer.int32("n", self.count_documents(request.collection()?, &range) as i32);
        Ok(())
    }

    /// Understands `[{$match}?, {$group: {_id: constant, name: {$sum: 1}}}]`, which is how drivers count, and `$count`.
    pub(super) fn aggregate(
        &self,
        request: &Request<'_>,
        writer: &mut Writer<'_>,
    ) -> Result<(), CommandError> {
        let stages = documents_of(request.field("pipeline")?)?;
        let mut range = KeyRange::ALL;
        let mut result = None;
        for (index, stage) in stages.iter().enumerate() {
            let stage = Reader::new(stage)?.next_element()?;
            match stage.map(|stage| (stage.name, stage.value)) {
                Some((b"$match", Value::Document(filter))) if index == 0 => {
                    range = KeyRange::of_filter(filter)?;
                }
                Some((b"$group", Value::Document(group))) if index + 1 == stages.len() => {
                    result = Some(count_group(group)?);
                }
                Some((b"$count", Value::String(name))) if index + 1 == stages.len() => {
                    result = Some((None, text(name)?.to_owned()));
                }
                _ => return Err(unsupported_pipeline()),
            }
        }
        let (id, name) = result.ok_or_else(unsupported_pipeline)?;
        let namespace = request.collection()?;
        let count = self.count_documents(namespace, &range);
        let open = writer.begin_subdocument("cursor");
        let batch = writer.begin_array("firstBatch");
        if count > 0 {
            let document = writer.begin_subdocument("0");
            writer.encoded_elements(id.unwrap_or_default());
            writer.int32(&name, count as i32);
            writer.end_document(document);
        }
        writer.end_document(batch);
        end_cursor(writer, open, 0, namespace);
        Ok(())
    }

    fn count_documents(&self, namespace: &str, range: &KeyRange) -> u64 {
        if self.is_synthetic(namespace) {
            return self.synthetic_documents;
        }
        match (range.is_everything(), self.store.collection(namespace)) {
            (_, None) => 0,
            (true, Some(collection)) => collection.len() as u64,
            (false, Some(_)) => self.store.documents(namespace, range).count() as u64,
        }
    }
}

/// What a find asks for.
struct Find {
    range: KeyRange,
    projection: Projection,
    limit: Option<u64>,
    batch_size: u64,
    single_batch: bool,
}

impl Find {
    fn of_request(request: &Request<'_>) -> Result<Self, CommandError> {
        let mut find = Self {
            range: KeyRange::ALL,
            projection: Projection::All,
            limit: None,
            batch_size: BATCH_SIZE_DEFAULT,
            single_batch: false,
        };
        let mut fields = Reader::new(request.body)?;
        while let Some(field) = fields.next_element()? {
            match (field.name, field.value) {
                (b"filter", Value::Document(filter)) => find.range = KeyRange::of_filter(filter)?,
                (b"projection", Value::Document(fields)) => {
                    find.projection = Projection::of_document(fields)?;
                }
                (b"limit", value) => find.limit = non_negative(&value, "limit")?.filter(|&limit| limit > 0),
                (b"batchSize", value) => {
                    find.batch_size = non_negative(&value, "batchSize")?.unwrap_or(BATCH_SIZE_DEFAULT);
                }
                (b"singleBatch", value) => find.single_batch = value == Value::Boolean(true),
                (b"sort", Value::Document(order)) => require_natural_order(order)?,
                (b"skip", value) if value.as_i64() != Some(0) => {
                    return Err(StoreError::Unsupported("skip".to_owned()).into());
                }
                _ => {}
            }
        }
        Ok(find)
    }
}

fn non_negative(value: &Value<'_>, name: &str) -> Result<Option<u64>, CommandError> {
    let number =
        value.as_i64().ok_or_else(|| CommandError::bad_value(format!("'{name}' must be a number")))?;
    match u64::try_from(number) {
        Ok(number) => Ok(Some(number)),
        Err(_) => Err(CommandError::bad_value(format!("'{name}' must be non-negative"))),
    }
}

/// Documents come in the order of `_id`; no other order is offered.
fn require_natural_order(order: &[u8]) -> Result<(), CommandError> {
    let mut fields = Reader::new(order)?;
    while let Some(field) = fields.next_element()? {
        if field.name != b"_id" || field.value.as_f64() != Some(1.0) {
            return Err(StoreError::Unsupported("a sort other than {_id: 1}".to_owned()).into());
        }
    }
    Ok(())
}

fn unsupported_pipeline() -> CommandError {
    StoreError::Unsupported("a pipeline that does more than match and count".to_owned()).into()
}

/// The `_id` element and the name of the sum of a `$group` that counts.
fn count_group(group: &[u8]) -> Result<(Option<&[u8]>, String), CommandError> {
    let (mut id, mut name) = (None, None);
    let mut elements = Elements::of(group)?;
    while let Some(raw) = elements.next_element()? {
        match (raw.element.name, raw.element.value) {
            (b"_id", Value::String(field)) if field.starts_with(b"$") => return Err(unsupported_pipeline()),
            (b"_id", Value::Document(_) | Value::Array(_)) => return Err(unsupported_pipeline()),
            (b"_id", _) => id = Some(raw.bytes),
            (_, Value::Document(sum)) if name.is_none() => {
                let is_one = |value: Value<'_>| value.as_f64() == Some(1.0);
                if !Reader::new(sum)?.find("$sum")?.is_some_and(is_one) {
                    return Err(unsupported_pipeline());
                }
                name = Some(text(raw.element.name)?.to_owned());
            }
            _ => return Err(unsupported_pipeline()),
        }
    }
    name.map(|name| (id, name)).ok_or_else(unsupported_pipeline)
}

/// Writes documents as the array `name`.
pub(super) fn write_array<'a>(
    writer: &mut Writer<'_>,
    name: &str,
    documents: impl Iterator<Item = &'a [u8]>,
) {
    let array = writer.begin_array(name);
    for (index, document) in documents.enumerate() {
        writer.encoded_document(&index.to_string(), document);
    }
    writer.end_document(array);
}

/// Closes the `cursor` of a reply after its batch.
pub(super) fn end_cursor(
    writer: &mut Writer<'_>,
    open: brimline_bson::OpenDocument,
    id: i64,
    namespace: &str,
) {
    writer.int64("id", id);
    writer.string("ns", namespace);
    writer.end_document(open);
}
