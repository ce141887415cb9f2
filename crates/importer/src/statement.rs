//! Owns what a document becomes in a command: itself, or a statement that names the stored document by its key.

use brimline_bson::{ReadError, Reader, Writer};

use crate::command::Verb;
use crate::plan::Mode;

/// The field that every document is known by.
const ID: &str = "_id";
/// An `_id` element with an object id: type, name with its NUL, value.
const ID_ELEMENT_BYTES: usize = 1 + 4 + 12;
/// Type byte of a null.
const NULL: u8 = 0x0A;

/// Which command a document goes into; `None`: it has no key, and without one there is nothing to delete.
pub fn verb_of(mode: Mode, key: Option<&[u8]>) -> Option<Verb> {
    match (mode, key) {
        (Mode::Insert, _) | (Mode::Upsert | Mode::Merge, None) => Some(Verb::Insert),
        (Mode::Upsert | Mode::Merge, Some(_)) => Some(Verb::Update),
        (Mode::Delete, Some(_)) => Some(Verb::Delete),
        (Mode::Delete, None) => None,
    }
}

/// The elements of a query for the stored document that `document` means; `None` when every field of the key is missing or
/// null. One that is missing beside others is asked for as null, which also finds documents that lack it.
pub fn key(document: &[u8], has_own_id: bool, fields: &[String]) -> Result<Option<Vec<u8>>, ReadError> {
    let mut query = Vec::new();
    let mut has_value = false;
    let names: Vec<&str> =
        if fields.is_empty() { vec![ID] } else { fields.iter().map(String::as_str).collect() };
    for name in names {
        let value = if name == ID && !has_own_id { None } else { value_at(document, name)? };
        let (type_byte, bytes) = value.unwrap_or((NULL, &[]));
        has_value |= type_byte != NULL;
        query.push(type_byte);
        query.extend_from_slice(name.as_bytes());
        query.push(0);
        query.extend_from_slice(bytes);
    }
    Ok(has_value.then_some(query))
}

/// The value at a path of names separated by dots: its type and its bytes.
fn value_at<'a>(document: &'a [u8], path: &str) -> Result<Option<(u8, &'a [u8])>, ReadError> {
    let (name, rest) = path.split_once('.').map_or((path, None), |(name, rest)| (name, Some(rest)));
    let mut elements = Reader::new(document)?;
    while let Some(element) = elements.next_raw()? {
        if element.name != name.as_bytes() {
            continue;
        }
        return match rest {
            None => Ok(Some((element.type_byte(), element.bytes()))),
            Some(rest) => element.document().map_or(Ok(None), |inner| value_at(inner, rest)),
        };
    }
    Ok(None)
}

/// Appends an update statement: `document` replaces what `key` finds, or its fields are set there; it is inserted when
/// nothing is found.
pub fn update(out: &mut Vec<u8>, mode: Mode, key: &[u8], document: &[u8], has_own_id: bool) {
    let mut writer = Writer::new(out);
    let statement = writer.begin_document();
    query(&mut writer, key);
    if mode == Mode::Merge {
        let update = writer.begin_subdocument("u");
        fields(&mut writer, "$set", document, has_own_id);
        writer.end_document(update);
    } else {
        fields(&mut writer, "u", document, has_own_id);
    }
    writer.boolean("upsert", true);
    writer.boolean("multi", false);
    writer.end_document(statement);
}

/// Appends a delete statement: one document that `key` finds.
pub fn delete(out: &mut Vec<u8>, key: &[u8]) {
    let mut writer = Writer::new(out);
    let statement = writer.begin_document();
    query(&mut writer, key);
    writer.int32("limit", 1);
    writer.end_document(statement);
}

fn query(writer: &mut Writer<'_>, key: &[u8]) {
    let query = writer.begin_subdocument("q");
    writer.encoded_elements(key);
    writer.end_document(query);
}

/// A stored document keeps its `_id`: one that was only made for an insert is left out.
fn fields(writer: &mut Writer<'_>, name: &str, document: &[u8], has_own_id: bool) {
    let begin = if has_own_id { 4 } else { 4 + ID_ELEMENT_BYTES };
    let fields = writer.begin_subdocument(name);
    writer.encoded_elements(&document[begin..document.len() - 1]);
    writer.end_document(fields);
}

/// `document` as it was read: without an `_id` that was only made for an insert.
pub fn as_read(document: &[u8], has_own_id: bool) -> Vec<u8> {
    let begin = if has_own_id { 4 } else { 4 + ID_ELEMENT_BYTES };
    let mut read = Vec::with_capacity(document.len());
    let mut writer = Writer::new(&mut read);
    let whole = writer.begin_document();
    writer.encoded_elements(&document[begin..document.len() - 1]);
    writer.end_document(whole);
    read
}

/// The `_id` of a document: type and bytes.
pub fn id_of(document: &[u8]) -> Result<Option<(u8, &[u8])>, ReadError> {
    value_at(document, ID)
}

/// `document` as a server stores it: `_id` first, whatever comes after it.
pub fn as_stored(document: &[u8]) -> Result<Vec<u8>, ReadError> {
    let mut stored = Vec::with_capacity(document.len());
    let mut writer = Writer::new(&mut stored);
    let whole = writer.begin_document();
    for is_id in [true, false] {
        let mut elements = Reader::new(document)?;
        while let Some(element) = elements.next_raw()? {
            if (element.name == ID.as_bytes()) == is_id {
                let out = writer.buffer();
                out.push(element.type_byte());
                out.extend_from_slice(element.name);
                out.push(0);
                out.extend_from_slice(element.bytes());
            }
        }
    }
    writer.end_document(whole);
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(elements: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        let whole = writer.begin_document();
        elements(&mut writer);
        writer.end_document(whole);
        bytes
    }

    fn fields(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_key_whose_fields_are_all_missing_or_null_is_none() {
        let row = document(|writer| writer.null("a"));
        assert_eq!(key(&row, false, &fields(&["a", "b"])), Ok(None));
        assert_eq!(key(&row, false, &[]), Ok(None));
    }

    #[test]
    fn a_missing_field_beside_others_is_asked_for_as_null() {
        let row = document(|writer| writer.int32("a", 7));
        let expected = document(|writer| {
            writer.int32("a", 7);
            writer.null("b");
        });
        let found = key(&row, false, &fields(&["a", "b"])).expect("the document is whole");
        assert_eq!(found.as_deref(), Some(&expected[4..expected.len() - 1]));
    }

    #[test]
    fn a_generated_id_is_no_key_and_never_replaces_a_stored_one() {
        let row = document(|writer| {
            writer.object_id("_id", [9; 12]);
            writer.int32("a", 7);
        });
        assert_eq!(key(&row, false, &[]), Ok(None));
        let mut statement = Vec::new();
        update(&mut statement, Mode::Upsert, b"", &row, false);
        let Ok(Some(brimline_bson::Value::Document(replacement))) =
            Reader::new(&statement).and_then(|reader| reader.find("u"))
        else {
            panic!("the statement has a replacement");
        };
        assert_eq!(replacement, document(|writer| writer.int32("a", 7)));
    }

    #[test]
    fn a_path_leads_into_sub_documents() {
        let row = document(|writer| {
            let inner = writer.begin_subdocument("a");
            writer.int32("b", 5);
            writer.end_document(inner);
        });
        assert_eq!(value_at(&row, "a.b"), Ok(Some((0x10, &5_i32.to_le_bytes()[..]))));
        assert_eq!(value_at(&row, "a.c"), Ok(None));
    }

    #[test]
    fn a_stored_document_has_its_id_first() {
        let given = document(|writer| {
            writer.int32("a", 1);
            writer.int32("_id", 2);
        });
        let stored = document(|writer| {
            writer.int32("_id", 2);
            writer.int32("a", 1);
        });
        assert_eq!(as_stored(&given), Ok(stored));
    }
}
