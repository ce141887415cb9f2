//! One value of a template, prepared: what is always the same is encoded once.

use std::io::Write;

use brimline_bson::{ElementType, Writer};

use super::Template;
use super::characters::Characters;
use super::spec::{Scalar, ValueSpec};
use crate::{LengthChooser, OpRng, SpecError, value};

const NANOS_PER_MS: u128 = 1_000_000;

/// Makes the values of one field.
#[derive(Clone, Debug)]
pub(super) enum Generator {
    Int { min: i32, count: u64 },
    Long { min: i64, distance: u64 },
    Sequence { start: i64, step: i64 },
    Double { min: f64, range: f64, scale: Option<f64> },
    Boolean { true_share: f64 },
    Date { from_unix_ms: i64, distance: u64 },
    Clock { start_unix_ms: i64, every_ns: u64 },
    String { length: LengthChooser, characters: Characters },
    Binary { length: LengthChooser },
    Text(Vec<Generator>),
    Constant(Encoded),
    Choice { values: Vec<Encoded>, cumulative: Vec<f64> },
    Document(Template),
    Array { length: LengthChooser, of: Box<Generator> },
}

/// A value that is written down in the template.
#[derive(Clone, Debug)]
pub(super) struct Encoded {
    element_type: ElementType,
    value: Box<[u8]>,
    text: Box<[u8]>,
}

impl Generator {
    pub(super) fn new(spec: &ValueSpec) -> Result<Self, SpecError> {
        let length = |spec| LengthChooser::new(spec).map_err(|error| error.within("length"));
        Ok(match spec {
            ValueSpec::Int { min, max } => Self::Int { min: *min, count: u64::from(max.abs_diff(*min)) + 1 },
            ValueSpec::Long { min, max } => Self::Long { min: *min, distance: max.abs_diff(*min) },
            ValueSpec::Sequence { start, step } => Self::Sequence { start: *start, step: *step },
            ValueSpec::Double { min, max, decimals } => {
                let scale = decimals.map(|decimals| 10_f64.powi(decimals as i32));
                Self::Double { min: *min, range: max - min, scale }
            }
            ValueSpec::Boolean { true_share } => Self::Boolean { true_share: *true_share },
            ValueSpec::Date { from_unix_ms, to_unix_ms } => {
                Self::Date { from_unix_ms: *from_unix_ms, distance: to_unix_ms.abs_diff(*from_unix_ms) }
            }
            ValueSpec::Clock { start_unix_ms, every_ns } => {
                Self::Clock { start_unix_ms: *start_unix_ms, every_ns: *every_ns }
            }
            ValueSpec::String { length: lengths, alphabet } => {
                Self::String { length: length(lengths)?, characters: Characters::new(alphabet) }
            }
            ValueSpec::Binary { length: lengths } => Self::Binary { length: length(lengths)? },
            ValueSpec::Text { parts } => Self::Text(parts.iter().map(Self::new).collect::<Result<_, _>>()?),
            ValueSpec::Constant { value } => Self::Constant(Encoded::new(value)),
            ValueSpec::Choice { values } => choice(values),
            ValueSpec::Document { fields } => Self::Document(Template::new(fields)?),
            ValueSpec::Array { length: lengths, of } => {
                Self::Array { length: length(lengths)?, of: Box::new(Self::new(of)?) }
            }
        })
    }

    /// Appends a value as the element `name`. The type of a choice is known with its value, so types are set afterwards.
    pub(super) fn append_element(&self, name: &str, index: u64, rng: &mut OpRng, out: &mut Vec<u8>) {
        let type_at = out.len();
        out.push(0);
        out.extend_from_slice(name.as_bytes());
        out.push(0);
        out[type_at] = self.append_value(index, rng, out) as u8;
    }

    fn append_value(&self, index: u64, rng: &mut OpRng, out: &mut Vec<u8>) -> ElementType {
        match self {
            Self::Int { min, count } => {
                out.extend_from_slice(&int(*min, *count, rng).to_le_bytes());
                ElementType::Int32
            }
            Self::Long { min, distance } => {
                out.extend_from_slice(&long(*min, *distance, rng).to_le_bytes());
                ElementType::Int64
            }
            Self::Sequence { start, step } => {
                out.extend_from_slice(&sequence(*start, *step, index).to_le_bytes());
                ElementType::Int64
            }
            Self::Double { min, range, scale } => {
                out.extend_from_slice(&double(*min, *range, *scale, rng).to_le_bytes());
                ElementType::Double
            }
            Self::Boolean { true_share } => {
                out.push(u8::from(rng.next_f64() < *true_share));
                ElementType::Boolean
            }
            Self::Date { from_unix_ms, distance } => {
                out.extend_from_slice(&long(*from_unix_ms, *distance, rng).to_le_bytes());
                ElementType::DateTime
            }
            Self::Clock { start_unix_ms, every_ns } => {
                let passed_ms = u128::from(index) * u128::from(*every_ns) / NANOS_PER_MS;
                let passed_ms = i64::try_from(passed_ms).unwrap_or(i64::MAX);
                out.extend_from_slice(&start_unix_ms.saturating_add(passed_ms).to_le_bytes());
                ElementType::DateTime
            }
            Self::String { .. } | Self::Text(_) => {
                self.append_string(index, rng, out);
                ElementType::String
            }
            Self::Binary { length } => {
                append_binary(length.draw(rng), rng, out);
                ElementType::Binary
            }
            Self::Constant(encoded) => encoded.append(out),
            Self::Choice { values, cumulative } => chosen(values, cumulative, rng).append(out),
            Self::Document(template) => {
                let open = Writer::new(out).begin_document();
                template.append(index, rng, out);
                Writer::new(out).end_document(open);
                ElementType::Document
            }
            Self::Array { length, of } => {
                let open = Writer::new(out).begin_document();
                let mut name = ItemName::default();
                for item in 0..length.draw(rng) {
                    of.append_element(name.of(item), index, rng, out);
                }
                Writer::new(out).end_document(open);
                ElementType::Array
            }
        }
    }

    fn append_string(&self, index: u64, rng: &mut OpRng, out: &mut Vec<u8>) {
        let length_at = out.len();
        out.extend_from_slice(&[0; 4]);
        self.append_text(index, rng, out);
        out.push(0);
        let length = (out.len() - length_at - 4) as u32;
        out[length_at..length_at + 4].copy_from_slice(&length.to_le_bytes());
    }

    fn append_text(&self, index: u64, rng: &mut OpRng, out: &mut Vec<u8>) {
        // Writing to a Vec can't fail.
        match self {
            Self::Int { min, count } => _ = write!(out, "{}", int(*min, *count, rng)),
            Self::Long { min, distance } => _ = write!(out, "{}", long(*min, *distance, rng)),
            Self::Sequence { start, step } => _ = write!(out, "{}", sequence(*start, *step, index)),
            Self::Double { min, range, scale } => {
                _ = write!(out, "{}", double(*min, *range, *scale, rng));
            }
            Self::Boolean { true_share } => _ = write!(out, "{}", rng.next_f64() < *true_share),
            Self::String { length, characters } => characters.append(length.draw(rng), rng, out),
            Self::Text(parts) => parts.iter().for_each(|part| part.append_text(index, rng, out)),
            Self::Constant(encoded) => out.extend_from_slice(&encoded.text),
            Self::Choice { values, cumulative } => {
                out.extend_from_slice(&chosen(values, cumulative, rng).text);
            }
            Self::Date { .. }
            | Self::Clock { .. }
            | Self::Binary { .. }
            | Self::Document(_)
            | Self::Array { .. } => {
                debug_assert!(false, "no text is made of these");
            }
        }
    }
}

impl Encoded {
    fn new(value: &Scalar) -> Self {
        let (element_type, value, text) = match value {
            Scalar::Null => (ElementType::Null, Vec::new(), "null".to_owned()),
            Scalar::Boolean(value) => (ElementType::Boolean, vec![u8::from(*value)], value.to_string()),
            Scalar::Integer(value) => match i32::try_from(*value) {
                Ok(small) => (ElementType::Int32, small.to_le_bytes().to_vec(), value.to_string()),
                Err(_) => (ElementType::Int64, value.to_le_bytes().to_vec(), value.to_string()),
            },
            Scalar::Double(value) => (ElementType::Double, value.to_le_bytes().to_vec(), value.to_string()),
            Scalar::Text(text) => {
                let length = (text.len() as u32 + 1).to_le_bytes();
                (ElementType::String, [&length, text.as_bytes(), &[0]].concat(), text.clone())
            }
        };
        Self { element_type, value: value.into(), text: text.into_bytes().into() }
    }

    fn append(&self, out: &mut Vec<u8>) -> ElementType {
        out.extend_from_slice(&self.value);
        self.element_type
    }
}

/// Names of array items, "0", "1" …, without allocating.
#[derive(Default)]
struct ItemName {
    text: [u8; 10],
}

impl ItemName {
    fn of(&mut self, item: u32) -> &str {
        let mut start = self.text.len();
        let mut rest = item;
        loop {
            start -= 1;
            self.text[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        std::str::from_utf8(&self.text[start..]).unwrap_or_default()
    }
}

fn choice(values: &[(Scalar, f64)]) -> Generator {
    let possible = values.iter().filter(|(_, weight)| *weight > 0.0);
    let mut sum = 0.0;
    let cumulate = |(value, weight): &(Scalar, f64)| {
        sum += weight;
        (Encoded::new(value), sum)
    };
    let (values, cumulative) = possible.map(cumulate).unzip();
    Generator::Choice { values, cumulative }
}

fn chosen<'a>(values: &'a [Encoded], cumulative: &[f64], rng: &mut OpRng) -> &'a Encoded {
    let at = rng.next_f64() * cumulative[cumulative.len() - 1];
    &values[cumulative.partition_point(|&sum| sum <= at).min(values.len() - 1)]
}

fn int(min: i32, count: u64, rng: &mut OpRng) -> i32 {
    (i64::from(min) + rng.below(count) as i64) as i32
}

/// A number of `min ..= min + distance`; all 64 bits where that is every number there is.
fn long(min: i64, distance: u64, rng: &mut OpRng) -> i64 {
    match distance.checked_add(1) {
        Some(count) => min.wrapping_add(rng.below(count) as i64),
        None => rng.next_u64() as i64,
    }
}

fn sequence(start: i64, step: i64, index: u64) -> i64 {
    start.wrapping_add(step.wrapping_mul(index as i64))
}

fn double(min: f64, range: f64, scale: Option<f64>, rng: &mut OpRng) -> f64 {
    let value = min + rng.next_f64() * range;
    scale.map_or(value, |scale| (value * scale).round() / scale)
}

fn append_binary(length: u32, rng: &mut OpRng, out: &mut Vec<u8>) {
    out.extend_from_slice(&length.to_le_bytes());
    out.push(0);
    let start = out.len();
    out.resize(start + length as usize, 0);
    value::fill(&mut out[start..], rng);
}
