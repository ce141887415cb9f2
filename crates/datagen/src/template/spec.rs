//! Templates as a plan names them: fields, each with the generator of its values.

use std::collections::HashSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::fake::{FakeKind, Language};
use crate::key::{InsertOrder, KEY_NUMBER_BYTES_MAX, RECORD_INDEX_MAX, ZERO_PADDING_MAX};
use crate::spec_error::no_parameters;
use crate::{ChooserSpec, LengthSpec, SpecError};

/// Upper bound of documents within documents, well below the server's 100.
pub const DEPTH_MAX: usize = 16;
/// Upper bound of the characters that strings are made of.
pub const ALPHABET_CHARACTERS_MAX: usize = 1024;
/// Upper bound of what a choice is among.
pub const CHOICES_MAX: usize = 65_536;
/// Upper bound of the fields of a document, as of a document of YCSB's shape.
pub const TEMPLATE_FIELDS_MAX: usize = 10_000;
/// Upper bound of `decimals`: a double has 15 to 17 digits.
pub const DECIMALS_MAX: u32 = 15;
/// Upper bound of mean and deviation of a normal law, so that what is drawn is a number.
pub const NORMAL_MAX: f64 = 1e300;
/// Bytes of `{type: "Point", coordinates: [double, double]}`.
pub(super) const POINT_BYTES: u128 = 61;
/// Longest text of a number: a double in full.
const NUMBER_TEXT_BYTES_MAX: u128 = 350;

/// A field and where its values come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldSpec {
    /// Its name.
    pub name: String,
    /// Its values.
    pub value: ValueSpec,
}

/// How values are made. All bounds are included. What says *of the index* follows from the index of the record, the
/// rest is random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the lines above the variants say it")]
pub enum ValueSpec {
    /// A 32-bit integer, each from `min` to `max` equally often.
    Int { min: i32, max: i32 },
    /// A 64-bit integer, each from `min` to `max` equally often.
    Long { min: i64, max: i64 },
    /// A 64-bit integer of the index: `start` + index · `step`, modulo 2^64.
    Sequence { start: i64, step: i64 },
    /// A double from `min` to below `max`, rounded to `decimals` places.
    Double { min: f64, max: f64, decimals: Option<u32> },
    /// A decimal of 128 bits with so many `decimals`, each from `min` to `max` equally often; both count units of the last place.
    Decimal { min: i64, max: i64, decimals: u32 },
    /// A number of the normal law, rounded to `decimals` places; a whole number to the nearest one, within its bounds.
    Normal {
        mean: f64,
        standard_deviation: f64,
        #[serde(rename = "type")]
        number: NumberKind,
        decimals: Option<u32>,
    },
    /// True in this share of the cases.
    Boolean { true_share: f64 },
    /// A date, each millisecond from `from` to `to` equally often.
    Date { from_unix_ms: i64, to_unix_ms: i64 },
    /// A date of the index: `start` + index · `every`, cut to milliseconds.
    Clock { start_unix_ms: i64, every_ns: u64 },
    /// So many characters of an alphabet, each equally often.
    String { length: LengthSpec, alphabet: String },
    /// So many bytes as YCSB's fields have them.
    Binary { length: LengthSpec },
    /// A string put together of the texts of numbers, strings, booleans and choices.
    Text { parts: Vec<ValueSpec> },
    /// Always this.
    Constant { value: Scalar },
    /// One of these values, each as often as its weight says.
    Choice { values: Vec<(Scalar, f64)> },
    /// The key of a record of some collection, which a law chooses from its records; `latest` is none here, because what is
    /// the newest only a run knows.
    KeyOf {
        record_count: u64,
        insert_start: u64,
        key_prefix: String,
        insert_order: InsertOrder,
        zero_padding: u32,
        keys: ChooserSpec,
    },
    /// A text as people have them: a name, an address.
    Fake { what: FakeKind, language: Language },
    /// A `GeoJSON` point, evenly spread between two corners: longitude and latitude in degrees.
    Point { min: [f64; 2], max: [f64; 2] },
    /// A random UUID (version 4): a binary value of subtype 4.
    #[serde(deserialize_with = "no_parameters")]
    Uuid,
    /// Twelve random bytes.
    #[serde(deserialize_with = "no_parameters")]
    ObjectId,
    /// A document.
    Document { fields: Vec<FieldSpec> },
    /// An array of so many values.
    Array { length: LengthSpec, of: Box<ValueSpec> },
}

/// Which type a number has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the types'")]
pub enum NumberKind {
    Int,
    Long,
    Double,
}

/// A value that is written down in a template. Whole numbers are 32-bit integers where they fit, else 64-bit ones.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are the types'")]
pub enum Scalar {
    Null,
    Boolean(bool),
    Integer(i64),
    Double(f64),
    Text(String),
}

impl Serialize for Scalar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Double(value) => serializer.serialize_f64(*value),
            Self::Text(value) => serializer.serialize_str(value),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Any {
            Boolean(bool),
            Integer(i64),
            Double(f64),
            Text(String),
        }
        Ok(match Option::<Any>::deserialize(deserializer)? {
            None => Self::Null,
            Some(Any::Boolean(value)) => Self::Boolean(value),
            Some(Any::Integer(value)) => Self::Integer(value),
            Some(Any::Double(value)) => Self::Double(value),
            Some(Any::Text(value)) => Self::Text(value),
        })
    }
}

/// Checks the fields of a document.
///
/// # Errors
/// The first value that is out of bounds, with its path.
pub(crate) fn validate_fields(fields: &[FieldSpec], depth: usize) -> Result<(), SpecError> {
    if fields.len() > TEMPLATE_FIELDS_MAX {
        return Err(SpecError::new(
            "",
            format!("has {} fields, more than {TEMPLATE_FIELDS_MAX}", fields.len()),
        ));
    }
    let mut names = HashSet::new();
    for field in fields {
        let name = field.name.as_str();
        if name.is_empty() || name.contains(['\0', '.']) || name.starts_with('$') {
            let message =
                "a field's name must have no dot, no NUL and no leading dollar sign, and not be empty";
            return Err(SpecError::new(name, message));
        }
        if !names.insert(name) || (depth == 0 && name == "_id") {
            return Err(SpecError::new(name, "there is a field of this name already"));
        }
        field.value.validate(depth).map_err(|error| error.within(name))?;
    }
    Ok(())
}

/// Upper bound of the bytes of a document with these fields.
pub(crate) fn fields_bytes_max(fields: &[FieldSpec]) -> u128 {
    let field = |field: &FieldSpec| 2 + field.name.len() as u128 + field.value.bytes_max();
    5 + fields.iter().map(field).sum::<u128>()
}

impl ValueSpec {
    pub(crate) fn validate(&self, depth: usize) -> Result<(), SpecError> {
        if depth >= DEPTH_MAX {
            return Err(SpecError::new("kind", format!("must not be nested deeper than {DEPTH_MAX}")));
        }
        match self {
            Self::Int { min, max } => ascending("min", min, "max", max),
            Self::Long { min, max } => ascending("min", min, "max", max),
            Self::Date { from_unix_ms, to_unix_ms } => {
                ascending("from_unix_ms", from_unix_ms, "to_unix_ms", to_unix_ms)
            }
            Self::Double { min, max, decimals } => validate_double(*min, *max, *decimals),
            Self::Decimal { min, max, decimals } => {
                ascending("min", min, "max", max)?;
                validate_decimals(Some(*decimals))
            }
            Self::Normal { mean, standard_deviation, decimals, .. } => {
                validate_normal(*mean, *standard_deviation)?;
                validate_decimals(*decimals)
            }
            Self::Boolean { true_share } if !(0.0..=1.0).contains(true_share) => {
                Err(SpecError::new("true_share", format!("must be from 0 to 1, got {true_share}")))
            }
            Self::String { length, alphabet } => {
                length.validate().map_err(|error| error.within("length"))?;
                let count = alphabet.chars().count();
                require((1..=ALPHABET_CHARACTERS_MAX).contains(&count), "alphabet", || {
                    format!("must have 1 to {ALPHABET_CHARACTERS_MAX} characters, got {count}")
                })
            }
            Self::Binary { length } => length.validate().map_err(|error| error.within("length")),
            Self::Text { parts } => validate_parts(parts, depth),
            Self::Choice { values } => validate_choice(values),
            Self::Document { fields } => {
                validate_fields(fields, depth + 1).map_err(|error| error.within("fields"))
            }
            Self::Array { length, of } => {
                length.validate().map_err(|error| error.within("length"))?;
                of.validate(depth + 1).map_err(|error| error.within("of"))
            }
            Self::Constant { value } => validate_scalar(value).map_err(|error| error.within("value")),
            Self::KeyOf { record_count, insert_start, zero_padding, keys, .. } => {
                validate_key_of(*record_count, *insert_start, *zero_padding, keys)
            }
            Self::Point { min, max } => validate_point(*min, *max),
            Self::Boolean { .. }
            | Self::Sequence { .. }
            | Self::Clock { .. }
            | Self::Fake { .. }
            | Self::Uuid
            | Self::ObjectId => Ok(()),
        }
    }

    /// Upper bound of the bytes of a value, without its type and name.
    pub(crate) fn bytes_max(&self) -> u128 {
        match self {
            Self::Int { .. } => 4,
            Self::Boolean { .. } => 1,
            Self::Decimal { .. } => 16,
            Self::Long { .. }
            | Self::Sequence { .. }
            | Self::Double { .. }
            | Self::Normal { .. }
            | Self::Date { .. }
            | Self::Clock { .. } => 8,
            Self::String { .. } | Self::Text { .. } | Self::KeyOf { .. } | Self::Fake { .. } => {
                5 + self.text_bytes_max()
            }
            Self::Point { .. } => POINT_BYTES,
            Self::Uuid => 5 + 16,
            Self::ObjectId => 12,
            Self::Binary { length } => 5 + u128::from(length.max()),
            Self::Constant { value } => scalar_bytes(value),
            Self::Choice { values } => values.iter().map(|(value, _)| scalar_bytes(value)).max().unwrap_or(0),
            Self::Document { fields } => fields_bytes_max(fields),
            Self::Array { length, of } => {
                let count = u128::from(length.max());
                let name_digits = u128::from(length.max().checked_ilog10().unwrap_or(0)) + 1;
                5 + count * (2 + name_digits + of.bytes_max())
            }
        }
    }

    /// Upper bound of the bytes of the value as text; of a value that is no text, 0.
    fn text_bytes_max(&self) -> u128 {
        match self {
            Self::Int { .. } | Self::Long { .. } | Self::Sequence { .. } | Self::Boolean { .. } => 20,
            // Digits, a sign, a point and a zero before it.
            Self::Decimal { .. } => 22,
            Self::Double { .. } | Self::Normal { .. } => NUMBER_TEXT_BYTES_MAX,
            Self::String { length, alphabet } => {
                let widest = alphabet.chars().map(char::len_utf8).max().unwrap_or(1);
                u128::from(length.max()) * widest as u128
            }
            Self::Text { parts } => parts.iter().map(Self::text_bytes_max).sum(),
            Self::KeyOf { key_prefix, zero_padding, .. } => {
                key_prefix.len() as u128 + u128::from(u64::from(*zero_padding).max(KEY_NUMBER_BYTES_MAX))
            }
            Self::Fake { what, .. } => what.bytes_max().into(),
            Self::Constant { value } => scalar_text_bytes_max(value),
            Self::Choice { values } => {
                values.iter().map(|(value, _)| scalar_text_bytes_max(value)).max().unwrap_or(0)
            }
            Self::Date { .. }
            | Self::Clock { .. }
            | Self::Binary { .. }
            | Self::Point { .. }
            | Self::Uuid
            | Self::ObjectId
            | Self::Document { .. }
            | Self::Array { .. } => 0,
        }
    }

    fn is_textual(&self) -> bool {
        !matches!(
            self,
            Self::Date { .. }
                | Self::Clock { .. }
                | Self::Binary { .. }
                | Self::Point { .. }
                | Self::Uuid
                | Self::ObjectId
                | Self::Document { .. }
                | Self::Array { .. }
        )
    }
}

fn validate_parts(parts: &[ValueSpec], depth: usize) -> Result<(), SpecError> {
    for (index, part) in parts.iter().enumerate() {
        let path = format!("parts.{index}");
        require(part.is_textual(), &path, || {
            "must be a number, string, text, boolean, key, fake, constant or choice".to_owned()
        })?;
        part.validate(depth + 1).map_err(|error| error.within(&path))?;
    }
    Ok(())
}

fn validate_key_of(
    record_count: u64,
    insert_start: u64,
    zero_padding: u32,
    keys: &ChooserSpec,
) -> Result<(), SpecError> {
    require(record_count > 0, "record_count", || {
        "must be at least 1, so that a record can be chosen".to_owned()
    })?;
    let end = insert_start.checked_add(record_count);
    require(end.is_some_and(|end| end <= RECORD_INDEX_MAX), "record_count", || {
        format!("plus insert_start must be at most {RECORD_INDEX_MAX}, got {record_count} + {insert_start}")
    })?;
    require(zero_padding <= ZERO_PADDING_MAX, "zero_padding", || {
        format!("must be at most {ZERO_PADDING_MAX}, got {zero_padding}")
    })?;
    require(!matches!(keys, ChooserSpec::Latest { .. }), "keys", || {
        "can't be latest, because what is the newest only a run knows".to_owned()
    })?;
    keys.validate().map_err(|error| error.within("keys"))
}

fn validate_point(min: [f64; 2], max: [f64; 2]) -> Result<(), SpecError> {
    for (corner, [longitude, latitude]) in [("min", min), ("max", max)] {
        let is_on_earth = (-180.0..=180.0).contains(&longitude) && (-90.0..=90.0).contains(&latitude);
        require(is_on_earth, corner, || {
            format!(
                "must be a longitude of -180 to 180 and a latitude of -90 to 90, got {longitude} and {latitude}"
            )
        })?;
    }
    require(min[0] <= max[0] && min[1] <= max[1], "min", || {
        format!("must be south-west of max, got {min:?} and {max:?}")
    })
}

fn validate_double(min: f64, max: f64, decimals: Option<u32>) -> Result<(), SpecError> {
    require(min.is_finite() && max.is_finite() && (max - min).is_finite(), "min", || {
        format!("and max must be finite and so must be their distance, got {min} and {max}")
    })?;
    ascending("min", &min, "max", &max)?;
    validate_decimals(decimals)
}

fn validate_normal(mean: f64, standard_deviation: f64) -> Result<(), SpecError> {
    let bounded = |value: f64| value.is_finite() && value.abs() <= NORMAL_MAX;
    require(bounded(mean), "mean", || format!("must be at most {NORMAL_MAX:e} either way, got {mean}"))?;
    require(bounded(standard_deviation) && standard_deviation >= 0.0, "standard_deviation", || {
        format!("must be from 0 to {NORMAL_MAX:e}, got {standard_deviation}")
    })
}

fn validate_decimals(decimals: Option<u32>) -> Result<(), SpecError> {
    require(decimals.is_none_or(|decimals| decimals <= DECIMALS_MAX), "decimals", || {
        format!("must be at most {DECIMALS_MAX}")
    })
}

fn validate_choice(values: &[(Scalar, f64)]) -> Result<(), SpecError> {
    require((1..=CHOICES_MAX).contains(&values.len()), "values", || {
        format!("must be 1 to {CHOICES_MAX}, got {}", values.len())
    })?;
    for (index, (value, weight)) in values.iter().enumerate() {
        let path = format!("values.{index}");
        require(weight.is_finite() && *weight >= 0.0, &path, || {
            format!("weight must be a number from 0, got {weight}")
        })?;
        validate_scalar(value).map_err(|error| error.within(&path))?;
    }
    let sum: f64 = values.iter().map(|(_, weight)| weight).sum();
    require(sum.is_finite() && sum > 0.0, "values", || {
        format!("must have weights with a positive, finite sum, got {sum}")
    })
}

fn validate_scalar(value: &Scalar) -> Result<(), SpecError> {
    match value {
        Scalar::Double(value) => {
            require(value.is_finite(), "value", || format!("must be finite, got {value}"))
        }
        _ => Ok(()),
    }
}

fn scalar_bytes(value: &Scalar) -> u128 {
    match value {
        Scalar::Null => 0,
        Scalar::Boolean(_) => 1,
        Scalar::Integer(_) | Scalar::Double(_) => 8,
        Scalar::Text(text) => 5 + text.len() as u128,
    }
}

fn scalar_text_bytes_max(value: &Scalar) -> u128 {
    match value {
        Scalar::Text(text) => text.len() as u128,
        _ => NUMBER_TEXT_BYTES_MAX,
    }
}

fn ascending<T: PartialOrd + std::fmt::Display>(
    low: &str,
    min: &T,
    high: &str,
    max: &T,
) -> Result<(), SpecError> {
    require(min <= max, low, || format!("must be at most {high}, which is {max}, got {min}"))
}

fn require(holds: bool, path: &str, message: impl FnOnce() -> String) -> Result<(), SpecError> {
    if holds { Ok(()) } else { Err(SpecError::new(path, message())) }
}
