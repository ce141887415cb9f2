//! Expressions as a plan says them.

use brimline_bson::{ElementType, Reader};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::operator::Operator;
use crate::spec_error::no_parameters;
use crate::{CHOICES_MAX, SpecError, TEMPLATE_FIELDS_MAX, THETA_MAX, ValueSpec};

/// Upper bound of expressions within expressions.
pub const EXPRESSION_DEPTH_MAX: usize = 32;
/// Upper bound of the values that `repeated` makes: the most documents a server takes in one command.
pub const REPEATED_MAX: u32 = 100_000;
/// Upper bound of the values that `several` makes, and `map`.
pub const SEVERAL_MAX: u32 = 1_000;
/// Upper bound of the named values of a plan.
pub const VALUES_MAX: usize = 10_000;

/// How a value of a command is made. Values, tables, columns, collections and slots are named by their place in the plan's
/// lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the lines above the variants say it")]
pub enum ExpressionSpec {
    /// A constant: the type's byte and the bytes of a BSON element.
    Bson {
        #[serde(serialize_with = "write_hex", deserialize_with = "read_hex")]
        hex: Vec<u8>,
    },
    /// A document.
    Document { fields: Vec<ExpressionField> },
    /// An array.
    List { items: Vec<Self> },
    /// What stands at `path` in a named value.
    Value {
        index: u32,
        #[serde(default)]
        path: Vec<String>,
    },
    /// What stands at `path` in what an earlier step kept of its reply.
    Saved {
        slot: u32,
        #[serde(default)]
        path: Vec<String>,
    },
    /// A column of the row that the operation has of a table.
    Cell { table: u32, column: u32 },
    /// That row as a document.
    Row { table: u32 },
    /// A generator of documents. Where it follows from an index, that is the operation's number.
    Generator { spec: ValueSpec },
    /// The key of a record beyond those of the collection.
    NewKey { collection: u32 },
    /// The document of such a record, its key included.
    NewRecord { collection: u32 },
    /// The key of the k-th newest record in proportion to k^-theta.
    LatestKey { collection: u32, theta: f64 },
    /// The time of the operation.
    #[serde(deserialize_with = "no_parameters")]
    Now,
    /// The text of this run.
    #[serde(deserialize_with = "no_parameters")]
    Run,
    /// The number of the connection, 32 bits.
    #[serde(deserialize_with = "no_parameters")]
    Worker,
    /// The number of the operation, 64 bits.
    #[serde(deserialize_with = "no_parameters")]
    Number,
    /// An object id that no other run, operation or place has.
    ObjectId { place: u32 },
    /// One of these, each as often as its weight says.
    OneOf { values: Vec<(Self, f64)> },
    /// What an operator makes of others.
    Calculate { operator: Operator, of: Vec<Self> },
    /// An array of so many values, each drawn anew, and named values with them: the documents of an insert.
    Repeated { count: u32, of: Box<Self> },
    /// An array of `count` values, at most `count_max`, or with `key` a document of them. What stands in them is drawn anew for each,
    /// named values are not. A key that is there already is left out with its value.
    Several {
        count: Box<Self>,
        count_max: u32,
        of: Box<Self>,
        #[serde(default)]
        key: Option<Box<Self>>,
    },
    /// An array of what `of` makes of each element of the array `over`, at most [`SEVERAL_MAX`].
    Map { over: Box<Self>, of: Box<Self> },
    /// What stands at `path` in the element that a `map` is at; the innermost one is of level 0.
    Item {
        level: u32,
        #[serde(default)]
        path: Vec<String>,
    },
}

/// A field of a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpressionField {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: ExpressionSpec,
}

/// What an expression stands in.
#[derive(Clone, Copy, Default)]
struct Around {
    is_repeated: bool,
    /// Maps within one another.
    maps: u32,
}

impl ExpressionSpec {
    /// Checks every bound that needs no plan around it.
    ///
    /// # Errors
    /// The first value that is out of bounds, with its path.
    pub fn validate(&self) -> Result<(), SpecError> {
        self.check(0, Around::default())
    }

    /// The expressions that it holds.
    pub(super) fn parts(&self) -> Box<dyn Iterator<Item = &Self> + '_> {
        match self {
            Self::Document { fields } => Box::new(fields.iter().map(|field| &field.value)),
            Self::List { items } | Self::Calculate { of: items, .. } => Box::new(items.iter()),
            Self::OneOf { values } => Box::new(values.iter().map(|(value, _)| value)),
            Self::Repeated { of, .. } => Box::new(std::iter::once(of.as_ref())),
            Self::Several { count, of, key, .. } => {
                Box::new([count.as_ref(), of.as_ref()].into_iter().chain(key.as_deref()))
            }
            Self::Map { over, of } => Box::new([over.as_ref(), of.as_ref()].into_iter()),
            _ => Box::new(std::iter::empty()),
        }
    }

    fn check(&self, depth: usize, around: Around) -> Result<(), SpecError> {
        if depth >= EXPRESSION_DEPTH_MAX {
            return Err(SpecError::new(
                "kind",
                format!("must not be nested deeper than {EXPRESSION_DEPTH_MAX}"),
            ));
        }
        match self {
            Self::Bson { hex } => check_constant(hex),
            Self::Document { fields } => {
                at_most("fields", fields.len(), TEMPLATE_FIELDS_MAX)?;
                fields.iter().try_for_each(|field| {
                    if field.name.contains('\0') {
                        return Err(SpecError::new("fields", "a name must have no NUL"));
                    }
                    field.value.check(depth + 1, around).map_err(|error| error.within(&field.name))
                })
            }
            Self::List { items } => {
                at_most("items", items.len(), CHOICES_MAX)?;
                check_all("items", items, depth, around)
            }
            Self::Generator { spec } => spec.validate(0).map_err(|error| error.within("spec")),
            Self::LatestKey { theta, .. } if !(0.0..=THETA_MAX).contains(theta) => {
                Err(SpecError::new("theta", format!("must be from 0 to {THETA_MAX}, got {theta}")))
            }
            Self::OneOf { values } => check_one_of(values, depth, around),
            Self::Calculate { operator, of } => {
                operator.check_count(of.len()).map_err(|message| SpecError::new("of", message))?;
                check_all("of", of, depth, around)
            }
            Self::Repeated { count, of } => {
                if around.is_repeated {
                    return Err(SpecError::new("kind", "must not be within another `repeated`"));
                }
                if !(1..=REPEATED_MAX).contains(count) {
                    return Err(SpecError::new("count", format!("must be 1 to {REPEATED_MAX}, got {count}")));
                }
                of.check(depth + 1, Around { is_repeated: true, ..around })
                    .map_err(|error| error.within("of"))
            }
            Self::Several { count, count_max, of, key } => {
                if !(1..=SEVERAL_MAX).contains(count_max) {
                    let message = format!("must be 1 to {SEVERAL_MAX}, got {count_max}");
                    return Err(SpecError::new("count_max", message));
                }
                let parts = [("count", Some(count)), ("of", Some(of)), ("key", key.as_ref())];
                parts.into_iter().filter_map(|(name, part)| Some((name, part?))).try_for_each(
                    |(name, part)| part.check(depth + 1, around).map_err(|error| error.within(name)),
                )
            }
            Self::Map { over, of } => {
                over.check(depth + 1, around).map_err(|error| error.within("over"))?;
                let within = Around { maps: around.maps + 1, ..around };
                of.check(depth + 1, within).map_err(|error| error.within("of"))
            }
            Self::Item { level, .. } if *level >= around.maps => {
                Err(SpecError::new("level", format!("must be below {}, got {level}", around.maps)))
            }
            Self::Value { path, .. } | Self::Saved { path, .. } | Self::Item { path, .. } => {
                at_most("path", path.len(), EXPRESSION_DEPTH_MAX)
            }
            Self::Cell { .. }
            | Self::Row { .. }
            | Self::NewKey { .. }
            | Self::NewRecord { .. }
            | Self::LatestKey { .. }
            | Self::Now
            | Self::Run
            | Self::Worker
            | Self::Number
            | Self::ObjectId { .. } => Ok(()),
        }
    }
}

fn check_all(path: &str, items: &[ExpressionSpec], depth: usize, around: Around) -> Result<(), SpecError> {
    items.iter().enumerate().try_for_each(|(place, item)| {
        item.check(depth + 1, around).map_err(|error| error.within(&format!("{path}.{place}")))
    })
}

fn check_one_of(values: &[(ExpressionSpec, f64)], depth: usize, around: Around) -> Result<(), SpecError> {
    if !(1..=CHOICES_MAX).contains(&values.len()) {
        return Err(SpecError::new("values", format!("must be 1 to {CHOICES_MAX}, got {}", values.len())));
    }
    for (place, (value, weight)) in values.iter().enumerate() {
        let path = format!("values.{place}");
        if !(weight.is_finite() && *weight >= 0.0) {
            return Err(SpecError::new(path, format!("weight must be a number from 0, got {weight}")));
        }
        value.check(depth + 1, around).map_err(|error| error.within(&path))?;
    }
    let sum: f64 = values.iter().map(|(_, weight)| weight).sum();
    if !(sum.is_finite() && sum > 0.0) {
        return Err(SpecError::new(
            "values",
            format!("must have weights with a positive, finite sum, got {sum}"),
        ));
    }
    Ok(())
}

fn check_constant(element: &[u8]) -> Result<(), SpecError> {
    let refused = || SpecError::new("hex", "must be the type and the value of one BSON element");
    let (&type_byte, value) = element.split_first().ok_or_else(refused)?;
    let mut document = vec![0; 4];
    document.extend_from_slice(&[type_byte, 0]);
    document.extend_from_slice(value);
    document.push(0);
    let length = u32::try_from(document.len()).map_err(|_| refused())?;
    document[..4].copy_from_slice(&length.to_le_bytes());
    let mut elements = Reader::new(&document).map_err(|_| refused())?;
    let first = elements.next_raw().ok().flatten();
    let is_one = first.is_some_and(|element| element.bytes().len() == value.len());
    if is_one && ElementType::from_byte(type_byte).is_some() { Ok(()) } else { Err(refused()) }
}

fn at_most(path: &str, count: usize, most: usize) -> Result<(), SpecError> {
    if count > most {
        Err(SpecError::new(path, format!("must be at most {most}, got {count}")))
    } else {
        Ok(())
    }
}

fn write_hex<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&Hex(bytes))
}

struct Hex<'a>(&'a [u8]);

impl std::fmt::Display for Hex<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// The type's byte and the bytes of a BSON element that are written in hex.
///
/// # Errors
/// When it is no hex, or not of one element.
pub fn constant_of_hex(text: &str) -> Result<Vec<u8>, SpecError> {
    let element = bytes_of_hex(text).ok_or_else(|| SpecError::new("hex", NO_HEX))?;
    check_constant(&element).map(|()| element)
}

const NO_HEX: &str = "must be hex digits, two a byte";

fn read_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    bytes_of_hex(&text).ok_or_else(|| serde::de::Error::custom(NO_HEX))
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |&[high, low]: &[u8; 2]| {
        let digit = |digit: u8| char::from(digit).to_digit(16);
        Some((digit(high)? << 4 | digit(low)?) as u8)
    };
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    bytes.filter(|_| rest.is_empty())
}
