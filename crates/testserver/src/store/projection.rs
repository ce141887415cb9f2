//! Projections: which top-level fields of a document are returned.

use brimline_bson::{Reader, Writer};

use super::{Elements, StoreError};

/// Fields to return.
#[derive(Clone, Debug, Default)]
pub enum Projection {
    /// All of them.
    #[default]
    All,
    /// These only.
    Include(Vec<Vec<u8>>),
    /// All but these.
    Exclude(Vec<Vec<u8>>),
}

impl Projection {
    /// Understands `{field: 1, …}` with `_id: 0` or without, and `{field: 0, …}`, top-level fields only.
    ///
    /// # Errors
    /// When the document is no BSON or asks for anything else.
    pub fn of_document(document: &[u8]) -> Result<Self, StoreError> {
        let (mut included, mut excluded) = (Vec::new(), Vec::new());
        let mut id = None;
        let mut fields = Reader::new(document)?;
        while let Some(field) = fields.next_element()? {
            let wanted = field.value.as_f64().map(|number| number != 0.0);
            match wanted {
                Some(wanted) if field.name == b"_id" => id = Some(wanted),
                Some(true) if !field.name.contains(&b'.') => included.push(field.name.to_vec()),
                Some(false) if !field.name.contains(&b'.') => excluded.push(field.name.to_vec()),
                _ => return Err(StoreError::Unsupported("such a projection".to_owned())),
            }
        }
        match (included.is_empty(), excluded.is_empty(), id) {
            (false, false, _) => Err(StoreError::Unsupported("a projection with both 0 and 1".to_owned())),
            (true, true, None) => Ok(Self::All),
            (true, _, Some(true)) if excluded.is_empty() => Ok(Self::Include(vec![b"_id".to_vec()])),
            (true, _, _) => {
                excluded.extend((id == Some(false)).then(|| b"_id".to_vec()));
                Ok(Self::Exclude(excluded))
            }
            (false, true, _) => {
                included.extend((id != Some(false)).then(|| b"_id".to_vec()));
                Ok(Self::Include(included))
            }
        }
    }

    /// Writes the projected `document` as the element `name`.
    ///
    /// # Errors
    /// When the document is no BSON.
    pub fn write(&self, name: &str, document: &[u8], writer: &mut Writer<'_>) -> Result<(), StoreError> {
        let (fields, wanted) = match self {
            Self::All => {
                writer.encoded_document(name, document);
                return Ok(());
            }
            Self::Include(fields) => (fields, true),
            Self::Exclude(fields) => (fields, false),
        };
        let open = writer.begin_subdocument(name);
        let mut elements = Elements::of(document)?;
        while let Some(raw) = elements.next_element()? {
            if fields.iter().any(|field| field == raw.element.name) == wanted {
                writer.encoded_elements(raw.bytes);
            }
        }
        writer.end_document(open);
        Ok(())
    }
}
