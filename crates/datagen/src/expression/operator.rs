//! Owns the operators: their names, how many operands they take and of which types.

use serde::{Deserialize, Serialize};

use super::dates::{DatePart, Unit};
use super::types::Types;
use crate::CHOICES_MAX;

/// What is made of other values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are MongoDB's, or say it")]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Min,
    Max,
    Round,
    Abs,
    Between,
    Concat,
    Join,
    Lower,
    Upper,
    Trim,
    Substring,
    Ngrams,
    Element,
    Text,
    Int,
    Long,
    Double,
    DateAdd,
    DateTrunc,
    DateCeil,
    DatePart,
}

const TEXTUAL: Types = Types::NUMBER.or(Types::TEXT).or(Types::BOOLEAN).or(Types::DATE).or(Types::OBJECT_ID);
const CONVERTIBLE: Types = Types::NUMBER.or(Types::TEXT).or(Types::BOOLEAN).or(Types::DATE);

impl Operator {
    /// Its name in plans.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Subtract => "subtract",
            Self::Multiply => "multiply",
            Self::Divide => "divide",
            Self::Modulo => "modulo",
            Self::Min => "min",
            Self::Max => "max",
            Self::Round => "round",
            Self::Abs => "abs",
            Self::Between => "between",
            Self::Concat => "concat",
            Self::Join => "join",
            Self::Lower => "lower",
            Self::Upper => "upper",
            Self::Trim => "trim",
            Self::Substring => "substring",
            Self::Ngrams => "ngrams",
            Self::Element => "element",
            Self::Text => "text",
            Self::Int => "int",
            Self::Long => "long",
            Self::Double => "double",
            Self::DateAdd => "date_add",
            Self::DateTrunc => "date_trunc",
            Self::DateCeil => "date_ceil",
            Self::DatePart => "date_part",
        }
    }

    /// Checks how many operands there are.
    pub(super) fn check_count(self, count: usize) -> Result<(), String> {
        let (least, most) = match self {
            Self::Add | Self::Multiply | Self::Min | Self::Max | Self::Concat => (1, CHOICES_MAX),
            Self::Subtract
            | Self::Divide
            | Self::Modulo
            | Self::Join
            | Self::Element
            | Self::DateTrunc
            | Self::DateCeil
            | Self::DatePart => (2, 2),
            Self::DateAdd => (2, 3),
            Self::Round => (1, 2),
            Self::Between | Self::Substring | Self::Ngrams => (3, 3),
            Self::Abs
            | Self::Lower
            | Self::Upper
            | Self::Trim
            | Self::Text
            | Self::Int
            | Self::Long
            | Self::Double => (1, 1),
        };
        if (least..=most).contains(&count) {
            return Ok(());
        }
        let wanted = if least == most { format!("{least}") } else { format!("{least} to {most}") };
        Err(format!("{} takes {wanted}, got {count}", self.name()))
    }

    /// What operand `place` may be, and in words.
    pub(super) fn takes(self, place: usize) -> (Types, &'static str) {
        match (self, place) {
            (Self::Min | Self::Max, _) | (Self::Between, 0 | 1) => {
                (Types::NUMBER.or(Types::DATE), "numbers or dates")
            }
            (Self::Concat | Self::Text, _) => (TEXTUAL, "texts, numbers, booleans, dates and object ids"),
            (Self::Lower | Self::Upper | Self::Trim, _)
            | (Self::Substring | Self::Ngrams, 0)
            | (Self::Join, 1) => (Types::TEXT, "text"),
            (Self::Join, _) => (Types::LIST, "a list"),
            (Self::Element, 0) => {
                (Types::LIST.or(Types::BINARY).or(Types::OBJECT_ID), "a list, binary or an object id")
            }
            (Self::Int | Self::Long | Self::Double, _) => (CONVERTIBLE, "a number, text, boolean or date"),
            (Self::DateAdd | Self::DateTrunc | Self::DateCeil | Self::DatePart, 0) => (Types::DATE, "a date"),
            (Self::DateTrunc | Self::DateCeil, _) | (Self::DateAdd, 2) => (Types::TEXT, Unit::NAMES),
            (Self::DatePart, _) => (Types::TEXT, DatePart::NAMES),
            _ => (Types::NUMBER, "numbers"),
        }
    }

    /// The types of what it makes of operands that have these types together; null apart.
    pub(super) fn makes(self, all: Types) -> Types {
        match self {
            Self::Add | Self::Subtract | Self::Multiply | Self::Modulo => {
                if all.is_within(Types::DOUBLE) {
                    Types::DOUBLE
                } else {
                    Types::NUMBER
                }
            }
            Self::Round | Self::Abs => Types::NUMBER,
            Self::Min | Self::Max | Self::Between => all.and(Types::NUMBER.or(Types::DATE)),
            Self::Element => Types::ANY,
            Self::Ngrams => Types::LIST,
            Self::Divide | Self::Double => Types::DOUBLE,
            Self::Int | Self::DatePart => Types::INT32,
            Self::Long => Types::INT64,
            Self::Concat
            | Self::Join
            | Self::Lower
            | Self::Upper
            | Self::Trim
            | Self::Substring
            | Self::Text => Types::TEXT,
            Self::DateAdd | Self::DateTrunc | Self::DateCeil => Types::DATE,
        }
    }
}
