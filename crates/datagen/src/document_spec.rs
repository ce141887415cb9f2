//! What the data looks like: how many records, their keys, their fields.

use serde::{Deserialize, Serialize};

use crate::key::{InsertOrder, KEY_NUMBER_BYTES_MAX, RECORD_INDEX_MAX, ZERO_PADDING_MAX};
use crate::template::{FieldSpec, fields_bytes_max, validate_fields};
use crate::{LengthSpec, SpecError};

/// Largest document that a server takes.
pub const DOCUMENT_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The records `insert_start .. insert_start + record_count`: YCSB's core data, or documents from a template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentSpec {
    /// Records that are loaded.
    pub record_count: u64,
    /// Index of the first one.
    pub insert_start: u64,
    /// Fields beside the key.
    pub field_count: u32,
    /// Bytes of a field's value.
    pub field_length: LengthSpec,
    /// Fields are called this and their number from 0.
    pub field_name_prefix: String,
    /// Keys are this and a number.
    pub key_prefix: String,
    /// Whether keys follow the index or a hash of it.
    pub insert_order: InsertOrder,
    /// Numbers in keys have at least this many digits.
    pub zero_padding: u32,
    /// The fields, each with a generator of its own. `field_count` counts them; length and prefix have no say then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Vec<FieldSpec>>,
    /// Where the values of YCSB's fields come from.
    #[serde(default, skip_serializing_if = "Values::are_random")]
    pub values: Values,
}

/// Where the values of YCSB's fields come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// From the seed: each update has a fresh one.
    #[default]
    Random,
    /// From key and field: always the same, so that what is read can be verified.
    Derived,
}

impl Values {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    fn are_random(&self) -> bool {
        *self == Self::Random
    }
}

impl DocumentSpec {
    /// Checks every bound, so that documents made from it are accepted by a server and memory stays bounded.
    ///
    /// # Errors
    /// The first value that is out of bounds, with its path.
    pub fn validate(&self) -> Result<(), SpecError> {
        self.check_records()?;
        self.field_length.validate().map_err(|error| error.within("field_length"))?;
        check_field_name_prefix(&self.field_name_prefix)?;
        if self.zero_padding > ZERO_PADDING_MAX {
            let message = format!("must be at most {ZERO_PADDING_MAX}, got {}", self.zero_padding);
            return Err(SpecError::new("zero_padding", message));
        }
        self.check_template()?;
        self.check_values()?;
        self.check_document_bytes()
    }

    fn check_template(&self) -> Result<(), SpecError> {
        let Some(fields) = &self.template else {
            return Ok(());
        };
        if fields.len() as u64 != u64::from(self.field_count) {
            let message = format!("must be the number of the template's fields, which is {}", fields.len());
            return Err(SpecError::new("field_count", message));
        }
        validate_fields(fields, 0).map_err(|error| error.within("template"))
    }

    fn check_values(&self) -> Result<(), SpecError> {
        if self.values == Values::Random {
            return Ok(());
        }
        let is_constant = matches!(self.field_length, LengthSpec::Constant { .. });
        let is_ascii = self.key_prefix.is_ascii() && self.field_name_prefix.is_ascii();
        if self.template.is_some() || !is_constant || !is_ascii {
            let message = "derived needs YCSB's fields, of one length, and prefixes in ASCII".to_owned();
            return Err(SpecError::new("values", message));
        }
        Ok(())
    }

    fn check_records(&self) -> Result<(), SpecError> {
        let end = self.insert_start.checked_add(self.record_count);
        if end.is_none_or(|end| end > RECORD_INDEX_MAX) {
            let message = format!(
                "plus insert_start must be at most {RECORD_INDEX_MAX}, got {} + {}",
                self.record_count, self.insert_start
            );
            return Err(SpecError::new("record_count", message));
        }
        Ok(())
    }

    fn check_document_bytes(&self) -> Result<(), SpecError> {
        let bytes = self.document_bytes_max();
        if bytes > u128::from(DOCUMENT_BYTES_MAX) {
            let message =
                format!("must give documents of at most {DOCUMENT_BYTES_MAX} bytes, but they reach {bytes}");
            return Err(SpecError::new("field_count", message));
        }
        Ok(())
    }

    /// Upper bound of the size of a document; too large for u64 only in a specification that is refused.
    pub(crate) fn document_bytes_max(&self) -> u128 {
        let count = u128::from(self.field_count);
        let number = u64::from(self.zero_padding).max(KEY_NUMBER_BYTES_MAX);
        // Length, type, "_id" and NUL, length and NUL of the string, closing NUL.
        let key = 4 + 5 + 5 + 1 + self.key_prefix.len() as u128 + u128::from(number);
        if let Some(fields) = &self.template {
            return key + fields_bytes_max(fields);
        }
        // Type, NUL of the name, length and subtype of the value; the field's number has as many digits as the count.
        let digits = u128::from(self.field_count.checked_ilog10().unwrap_or(0)) + 1;
        let field = 7 + self.field_name_prefix.len() as u128 + digits + u128::from(self.field_length.max());
        key + count * field
    }
}

/// An update names fields in a path, where a dot and a leading dollar sign mean something else.
fn check_field_name_prefix(prefix: &str) -> Result<(), SpecError> {
    if prefix.contains(['\0', '.']) || prefix.starts_with('$') {
        let message = format!("must have no dot, no NUL and no leading dollar sign, got {prefix:?}");
        return Err(SpecError::new("field_name_prefix", message));
    }
    Ok(())
}
