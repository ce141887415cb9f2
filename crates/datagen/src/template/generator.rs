//! One value of a template, prepared: what is always the same is encoded once.

use std::f64::consts::TAU;
use std::io::Write;

use super::Template;
use super::characters::Characters;
use super::fake::Fake;
use super::spec::{NumberKind, Scalar, ValueSpec};
use crate::key::{Keys, append_number};
use crate::sink::{ElementName, ItemName};
use crate::{KeyChooser, LengthChooser, Name, OpRng, Sink, SpecError, value};

const NANOS_PER_MS: u64 = 1_000_000;

/// Makes the values of one field.
#[derive(Clone, Debug)]
pub(crate) enum Generator {
    Int { min: i32, count: u64 },
    Long { min: i64, distance: u64 },
    Sequence { start: i64, step: i64 },
    Double { min: f64, range: f64, scale: Option<f64> },
    Decimal { min: i64, distance: u64, decimals: u32 },
    Normal { mean: f64, standard_deviation: f64, number: NumberKind, scale: Option<f64> },
    Boolean { true_share: f64 },
    Date { from_unix_ms: i64, distance: u64 },
    Clock { start_unix_ms: i64, every_ns: u64 },
    String { length: LengthChooser, characters: Characters },
    Binary { length: LengthChooser },
    Text(Vec<Generator>),
    Constant(Written),
    Choice { values: Vec<Written>, cumulative: Vec<f64> },
    KeyOf(Box<KeyOf>),
    Fake(Fake),
    Point(Box<Point>),
    Uuid,
    ObjectId,
    Document(Template),
    Array { length: LengthChooser, of: Box<Generator> },
}

/// The keys of records, each as popular as a law says.
#[derive(Clone, Debug)]
pub(crate) struct KeyOf {
    chooser: KeyChooser,
    insert_start: u64,
    keys: Keys,
}

/// Points between two corners, and what their parts are called.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    min: [f64; 2],
    range: [f64; 2],
    kind_name: ElementName,
    coordinates_name: ElementName,
}

/// A value that is written down in the template, and what it is within a text.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    value: Fixed,
    text: Box<[u8]>,
}

#[derive(Clone, Copy, Debug)]
enum Fixed {
    Null,
    Boolean(bool),
    Int32(i32),
    Int64(i64),
    Double(f64),
    Text,
}

impl Generator {
    /// Prepares `spec`, which must be valid. `seed` says which records of a collection are the popular ones.
    pub(crate) fn new(spec: &ValueSpec, seed: u64) -> Result<Self, SpecError> {
        let length = |spec| LengthChooser::new(spec).map_err(|error| error.within("length"));
        Ok(match spec {
            ValueSpec::Int { min, max } => Self::Int { min: *min, count: u64::from(max.abs_diff(*min)) + 1 },
            ValueSpec::Long { min, max } => Self::Long { min: *min, distance: max.abs_diff(*min) },
            ValueSpec::Sequence { start, step } => Self::Sequence { start: *start, step: *step },
            ValueSpec::Double { min, max, decimals } => {
                Self::Double { min: *min, range: max - min, scale: scale(*decimals) }
            }
            ValueSpec::Decimal { min, max, decimals } => {
                Self::Decimal { min: *min, distance: max.abs_diff(*min), decimals: *decimals }
            }
            ValueSpec::Normal { mean, standard_deviation, number, decimals } => Self::Normal {
                mean: *mean,
                standard_deviation: *standard_deviation,
                number: *number,
                scale: scale(*decimals),
            },
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
            ValueSpec::Text { parts } => {
                Self::Text(parts.iter().map(|part| Self::new(part, seed)).collect::<Result<_, _>>()?)
            }
            ValueSpec::Constant { value } => Self::Constant(Written::new(value)),
            ValueSpec::Choice { values } => choice(values),
            ValueSpec::KeyOf { record_count, insert_start, key_prefix, insert_order, zero_padding, keys } => {
                Self::KeyOf(Box::new(KeyOf {
                    chooser: KeyChooser::new(keys, *record_count, seed)
                        .map_err(|error| error.within("keys"))?,
                    insert_start: *insert_start,
                    keys: Keys::new(*insert_order, key_prefix, *zero_padding),
                }))
            }
            ValueSpec::Fake { what, language } => Self::Fake(Fake::new(*what, *language)),
            ValueSpec::Point { min, max } => Self::Point(Box::new(Point::new(*min, *max))),
            ValueSpec::Uuid => Self::Uuid,
            ValueSpec::ObjectId => Self::ObjectId,
            ValueSpec::Document { fields } => Self::Document(Template::new(fields, seed)?),
            ValueSpec::Array { length: lengths, of } => {
                Self::Array { length: length(lengths)?, of: Box::new(Self::new(of, seed)?) }
            }
        })
    }

    /// Puts a value called `name`.
    pub(crate) fn put<S: Sink>(&self, name: Name<'_>, index: u64, rng: &mut OpRng, sink: &mut S) {
        match self {
            Self::Int { min, count } => sink.int32(name, int(*min, *count, rng)),
            Self::Long { min, distance } => sink.int64(name, long(*min, *distance, rng)),
            Self::Sequence { start, step } => sink.int64(name, sequence(*start, *step, index)),
            Self::Double { min, range, scale } => sink.double(name, double(*min, *range, *scale, rng)),
            Self::Decimal { min, distance, decimals } => {
                sink.decimal128(name, decimal128(long(*min, *distance, rng), *decimals));
            }
            Self::Normal { mean, standard_deviation, number, scale } => {
                let value = rounded(mean + standard_deviation * standard_normal(rng), *scale);
                match number {
                    // What is beyond the type becomes its last number.
                    NumberKind::Int => sink.int32(name, value.round_ties_even() as i32),
                    NumberKind::Long => sink.int64(name, value.round_ties_even() as i64),
                    NumberKind::Double => sink.double(name, value),
                }
            }
            Self::Boolean { true_share } => sink.boolean(name, rng.next_f64() < *true_share),
            Self::Date { from_unix_ms, distance } => {
                sink.date_time(name, long(*from_unix_ms, *distance, rng));
            }
            Self::Clock { start_unix_ms, every_ns } => {
                sink.date_time(name, clock(*start_unix_ms, *every_ns, index));
            }
            Self::String { length, characters } => {
                sink.string(name, |out| characters.append(length.draw(rng), rng, out));
            }
            Self::Text(parts) => sink.string(name, |out| append_parts(parts, index, rng, out)),
            Self::Binary { length } => {
                let length = length.draw(rng);
                sink.binary(name, length, |bytes| value::fill(bytes, rng));
            }
            Self::KeyOf(key_of) => sink.string(name, |out| key_of.append(index, rng, out)),
            Self::Fake(fake) => sink.string(name, |out| fake.append(rng, out)),
            Self::Point(point) => point.put(name, rng, sink),
            Self::Uuid => sink.uuid(name, uuid(rng)),
            Self::ObjectId => sink.object_id(name, object_id(rng)),
            Self::Constant(written) => written.put(name, sink),
            Self::Choice { values, cumulative } => chosen(values, cumulative, rng).put(name, sink),
            Self::Document(template) => sink.document(name, |sink| template.put(index, rng, sink)),
            Self::Array { length, of } => sink.array(name, |items| {
                let mut name = ItemName::default();
                for item in 0..length.draw(rng) {
                    of.put(name.of(item), index, rng, items);
                }
            }),
        }
    }

    fn append_text(&self, index: u64, rng: &mut OpRng, out: &mut Vec<u8>) {
        // Writing to a Vec can't fail.
        match self {
            Self::Int { min, count } => append_number(i64::from(int(*min, *count, rng)), out),
            Self::Long { min, distance } => append_number(long(*min, *distance, rng), out),
            Self::Sequence { start, step } => append_number(sequence(*start, *step, index), out),
            Self::Double { min, range, scale } => {
                _ = write!(out, "{}", double(*min, *range, *scale, rng));
            }
            Self::Decimal { min, distance, decimals } => {
                append_decimal(long(*min, *distance, rng), *decimals, out);
            }
            Self::Normal { mean, standard_deviation, number, scale } => {
                let value = rounded(mean + standard_deviation * standard_normal(rng), *scale);
                match number {
                    NumberKind::Int => append_number(i64::from(value.round_ties_even() as i32), out),
                    NumberKind::Long => append_number(value.round_ties_even() as i64, out),
                    NumberKind::Double => _ = write!(out, "{value}"),
                }
            }
            Self::Boolean { true_share } => _ = write!(out, "{}", rng.next_f64() < *true_share),
            Self::String { length, characters } => characters.append(length.draw(rng), rng, out),
            Self::Text(parts) => append_parts(parts, index, rng, out),
            Self::KeyOf(key_of) => key_of.append(index, rng, out),
            Self::Fake(fake) => fake.append(rng, out),
            Self::Constant(written) => out.extend_from_slice(&written.text),
            Self::Choice { values, cumulative } => {
                out.extend_from_slice(&chosen(values, cumulative, rng).text);
            }
            Self::Date { .. }
            | Self::Clock { .. }
            | Self::Binary { .. }
            | Self::Point(_)
            | Self::Uuid
            | Self::ObjectId
            | Self::Document(_)
            | Self::Array { .. } => {
                debug_assert!(false, "no text is made of these");
            }
        }
    }
}

impl KeyOf {
    fn append(&self, index: u64, rng: &mut OpRng, out: &mut Vec<u8>) {
        self.keys.append(self.record(index, rng), out);
    }

    /// The record whose key it is.
    pub(crate) fn record(&self, index: u64, rng: &mut OpRng) -> u64 {
        self.insert_start + self.chooser.draw(rng, index)
    }
}

impl Point {
    fn new(min: [f64; 2], max: [f64; 2]) -> Self {
        let range = [max[0] - min[0], max[1] - min[1]];
        Self {
            min,
            range,
            kind_name: ElementName::new("type"),
            coordinates_name: ElementName::new("coordinates"),
        }
    }

    fn put<S: Sink>(&self, name: Name<'_>, rng: &mut OpRng, sink: &mut S) {
        sink.document(name, |sink| {
            sink.string(self.kind_name.borrow(), |out| out.extend_from_slice(b"Point"));
            sink.array(self.coordinates_name.borrow(), |items| {
                let mut name = ItemName::default();
                for (axis, (min, range)) in (0..).zip(self.min.iter().zip(self.range)) {
                    items.double(name.of(axis), min + rng.next_f64() * range);
                }
            });
        });
    }
}

/// Version 4 of variant 1 (RFC 9562): all else is random.
fn uuid(rng: &mut OpRng) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&rng.next_u64().to_le_bytes());
    bytes[8..].copy_from_slice(&rng.next_u64().to_le_bytes());
    bytes[6] = 0x40 | bytes[6] & 0x0F;
    bytes[8] = 0x80 | bytes[8] & 0x3F;
    bytes
}

fn object_id(rng: &mut OpRng) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&rng.next_u64().to_le_bytes());
    bytes[8..].copy_from_slice(&rng.next_u64().to_le_bytes()[..4]);
    bytes
}

impl Written {
    fn new(scalar: &Scalar) -> Self {
        let (value, text) = match scalar {
            Scalar::Null => (Fixed::Null, "null".to_owned()),
            Scalar::Boolean(value) => (Fixed::Boolean(*value), value.to_string()),
            Scalar::Integer(value) => {
                (i32::try_from(*value).map_or(Fixed::Int64(*value), Fixed::Int32), value.to_string())
            }
            Scalar::Double(value) => (Fixed::Double(*value), value.to_string()),
            Scalar::Text(text) => (Fixed::Text, text.clone()),
        };
        Self { value, text: text.into_bytes().into() }
    }

    fn put<S: Sink>(&self, name: Name<'_>, sink: &mut S) {
        match self.value {
            Fixed::Null => sink.null(name),
            Fixed::Boolean(value) => sink.boolean(name, value),
            Fixed::Int32(value) => sink.int32(name, value),
            Fixed::Int64(value) => sink.int64(name, value),
            Fixed::Double(value) => sink.double(name, value),
            Fixed::Text => sink.string(name, |out| out.extend_from_slice(&self.text)),
        }
    }
}

fn choice(values: &[(Scalar, f64)]) -> Generator {
    let possible = values.iter().filter(|(_, weight)| *weight > 0.0);
    let mut sum = 0.0;
    let cumulate = |(value, weight): &(Scalar, f64)| {
        sum += weight;
        (Written::new(value), sum)
    };
    let (values, cumulative) = possible.map(cumulate).unzip();
    Generator::Choice { values, cumulative }
}

fn chosen<'a>(values: &'a [Written], cumulative: &[f64], rng: &mut OpRng) -> &'a Written {
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
    rounded(min + rng.next_f64() * range, scale)
}

fn scale(decimals: Option<u32>) -> Option<f64> {
    decimals.map(|decimals| 10_f64.powi(decimals as i32))
}

fn rounded(value: f64, scale: Option<f64>) -> f64 {
    let Some(scale) = scale else { return value };
    let scaled = (value * scale).round() / scale;
    // So large a number has no decimals.
    if scaled.is_finite() { scaled } else { value }
}

/// A draw of the normal law of mean 0 and deviation 1 (Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958).
fn standard_normal(rng: &mut OpRng) -> f64 {
    // Of (0, 1], so that its logarithm is a number.
    let radius = (-2.0 * (1.0 - rng.next_f64()).ln()).sqrt();
    radius * (TAU * rng.next_f64()).cos()
}

/// IEEE 754-2008 decimal128 in binary integer significand encoding, as BSON has it: `units` of the last of so many decimals.
fn decimal128(units: i64, decimals: u32) -> [u8; 16] {
    const EXPONENT_BIAS: u128 = 6176;
    let sign = u128::from(units < 0) << 127;
    let exponent = (EXPONENT_BIAS - u128::from(decimals)) << 113;
    (sign | exponent | u128::from(units.unsigned_abs())).to_le_bytes()
}

fn append_decimal(units: i64, decimals: u32, out: &mut Vec<u8>) {
    let (digits, decimals) = (units.unsigned_abs(), decimals as usize);
    if units < 0 {
        out.push(b'-');
    }
    let scale = 10_u64.pow(decimals as u32);
    // Writing to a Vec can't fail.
    _ = write!(out, "{}", digits / scale);
    if decimals > 0 {
        _ = write!(out, ".{:0decimals$}", digits % scale);
    }
}

fn clock(start_unix_ms: i64, every_ns: u64, index: u64) -> i64 {
    // The usual product fits 64 bits, where dividing is many times cheaper.
    let passed_ms = match index.checked_mul(every_ns) {
        Some(passed_ns) => (passed_ns / NANOS_PER_MS) as i64,
        None => i64::try_from(u128::from(index) * u128::from(every_ns) / u128::from(NANOS_PER_MS))
            .unwrap_or(i64::MAX),
    };
    start_unix_ms.saturating_add(passed_ms)
}

fn append_parts(parts: &[Generator], index: u64, rng: &mut OpRng, out: &mut Vec<u8>) {
    for part in parts {
        part.append_text(index, rng, out);
    }
}
