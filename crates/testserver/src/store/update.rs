//! Updates: replacement of a document and `$set` of top-level fields.

use brimline_bson::{Reader, Value, Writer};

use super::{Elements, EncodedElement, StoreError};

/// What an update does to a document.
#[derive(Clone, Copy, Debug)]
pub enum Update<'a> {
    /// Replaces it, all but its `_id`.
    Replace(&'a [u8]),
    /// Sets these fields.
    Set(&'a [u8]),
}

impl<'a> Update<'a> {
    /// Understands the `u` of an update statement.
    ///
    /// # Errors
    /// When it is no BSON or asks for anything else.
    pub fn of_value(value: &Value<'a>) -> Result<Self, StoreError> {
        let Value::Document(document) = *value else {
            return Err(StoreError::Unsupported("an update that is no document".to_owned()));
        };
        let mut elements = Reader::new(document)?;
        let first = elements.next_element()?;
        match first {
            Some(first) if first.name.starts_with(b"$") => match (first.name, first.value) {
                (b"$set", Value::Document(fields)) if elements.next_element()?.is_none() => Self::set(fields),
                _ => Err(StoreError::Unsupported("an update other than $set".to_owned())),
            },
            _ => Ok(Self::Replace(document)),
        }
    }

    fn set(fields: &'a [u8]) -> Result<Self, StoreError> {
        let mut elements = Reader::new(fields)?;
        while let Some(field) = elements.next_element()? {
            if field.name.contains(&b'.') {
                return Err(StoreError::Unsupported("$set of a nested field".to_owned()));
            }
        }
        Ok(Self::Set(fields))
    }

    /// The document after the update.
    ///
    /// # Errors
    /// When a document is no BSON or the update would change the `_id`.
    pub fn apply(&self, document: &[u8]) -> Result<Vec<u8>, StoreError> {
        let id = Elements::find(document, "_id")?;
        let (Self::Replace(given) | Self::Set(given)) = *self;
        if let (Some(id), Some(new_id)) = (id, Elements::find(given, "_id")?)
            && id.bytes != new_id.bytes
        {
            return Err(StoreError::ImmutableId);
        }
        match *self {
            Self::Replace(replacement) => replaced(id, replacement),
            Self::Set(fields) => merged(document, fields),
        }
    }

    /// The document that an upsert inserts; `id` is that of the filter, or a new one.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub fn insert(&self, id: &[u8]) -> Result<Vec<u8>, StoreError> {
        let mut document = Vec::new();
        let mut writer = Writer::new(&mut document);
        let open = writer.begin_document();
        writer.encoded_elements(id);
        writer.end_document(open);
        self.apply(&document)
    }
}

/// `replacement` with `id` in front.
fn replaced(id: Option<EncodedElement<'_>>, replacement: &[u8]) -> Result<Vec<u8>, StoreError> {
    build(|writer| {
        if let Some(id) = id {
            writer.encoded_elements(id.bytes);
        }
        let mut elements = Elements::of(replacement)?;
        while let Some(raw) = elements.next_element()? {
            if raw.element.name != b"_id" {
                writer.encoded_elements(raw.bytes);
            }
        }
        Ok(())
    })
}

/// `document` with each of `fields` replaced where it is, new ones at the end.
fn merged(document: &[u8], fields: &[u8]) -> Result<Vec<u8>, StoreError> {
    build(|writer| {
        let mut elements = Elements::of(document)?;
        let mut replaced = Vec::new();
        while let Some(old) = elements.next_element()? {
            let new = find_bytes(fields, old.element.name)?;
            replaced.extend(new.map(|_| old.element.name));
            writer.encoded_elements(new.unwrap_or(old.bytes));
        }
        let mut added = Elements::of(fields)?;
        while let Some(new) = added.next_element()? {
            if !replaced.contains(&new.element.name) {
                writer.encoded_elements(new.bytes);
            }
        }
        Ok(())
    })
}

fn find_bytes<'a>(document: &'a [u8], name: &[u8]) -> Result<Option<&'a [u8]>, StoreError> {
    let mut elements = Elements::of(document)?;
    while let Some(raw) = elements.next_element()? {
        if raw.element.name == name {
            return Ok(Some(raw.bytes));
        }
    }
    Ok(None)
}

fn build(elements: impl FnOnce(&mut Writer<'_>) -> Result<(), StoreError>) -> Result<Vec<u8>, StoreError> {
    let mut document = Vec::new();
    let mut writer = Writer::new(&mut document);
    let open = writer.begin_document();
    elements(&mut writer)?;
    writer.end_document(open);
    Ok(document)
}
