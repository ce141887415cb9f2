//! Owns the step from an expression as a plan says it to one that is ready: constants are encoded, types looked at.

use brimline_bson::{ElementType, Writer};

use super::calculate;
use super::node::{Expression, Node, Part, compound, digits};
use super::path::boxed;
use super::spec::{ExpressionField, ExpressionSpec};
use super::types::Types;
use super::{Misfit, Uses, World, lists};
use crate::rng::RngStream;
use crate::sink::{BsonSink, ElementName, ItemName};
use crate::template::Generator;
use crate::{ChooserSpec, DOCUMENT_BYTES_MAX, KeyChooser, SpecError, stream};

/// Upper bound of expressions within expressions, named values included: as much as fits a thread's stack with room to spare.
const DEPTH_MAX: usize = 100;
/// Upper bound of the expressions that are looked at for one value; beyond it, values refer to values over and over.
const COST_MAX: u64 = 10_000_000;
/// Upper bound of the nodes of one expression.
const SIZE_MAX: u64 = 1 << 16;
const RUN_TEXT_BYTES: u64 = 24;
const KEY_HEAD_BYTES: u64 = 5;

impl World {
    /// Prepares `spec`. `place` says what it is for, such as `place_order.insert orders.document`: its random numbers follow
    /// from it.
    ///
    /// # Errors
    /// What is out of bounds, refers to nothing, or is calculated of a type that it can't be, with its path.
    pub fn prepare(&self, place: &str, spec: &ExpressionSpec) -> Result<Expression, SpecError> {
        spec.validate()?;
        self.prepared(place, spec)
    }

    pub(super) fn prepared(&self, place: &str, spec: &ExpressionSpec) -> Result<Expression, SpecError> {
        let expression = self.unbounded(place, spec)?;
        if expression.depth > DEPTH_MAX || expression.cost > COST_MAX || expression.size > SIZE_MAX {
            return Err(SpecError::new("kind", "values refer to values too often"));
        }
        // A list may be the documents of an insert, which are as large as a message together.
        let is_within_a_document = expression.types.and(Types::LIST).is_empty();
        if is_within_a_document && expression.bytes_max > DOCUMENT_BYTES_MAX {
            let bytes = expression.bytes_max;
            let message = format!("reaches {bytes} bytes, more than MongoDB's {DOCUMENT_BYTES_MAX}");
            return Err(SpecError::new("", message));
        }
        Ok(expression)
    }

    #[inline(never)] // so that what is nested doesn't take the stack of all kinds at every level
    fn unbounded(&self, place: &str, spec: &ExpressionSpec) -> Result<Expression, SpecError> {
        let random = || RngStream::new(self.seed, stream::named(stream::EXPRESSION, place));
        Ok(match spec {
            ExpressionSpec::Bson { hex } => constant(hex[0], &hex[1..]),
            ExpressionSpec::Document { fields } => self.document(place, fields)?,
            ExpressionSpec::List { items } => self.list(place, items)?,
            ExpressionSpec::Value { index, path } => self.value(*index, path, 0)?,
            ExpressionSpec::Saved { slot, path } => self.saved(*slot, path)?,
            ExpressionSpec::Cell { table, column } => {
                let name = self.tables.get(*table as usize).and_then(|table| table.column(*column));
                let name = name.ok_or_else(|| SpecError::new("column", "is no column of a table"))?;
                self.row(*table, &[name.to_owned()])?
            }
            ExpressionSpec::Row { table } => self.row(*table, &[])?,
            ExpressionSpec::Generator { spec } => Expression {
                types: Types::of_generator(spec),
                bytes_max: u64::try_from(spec.bytes_max()).unwrap_or(u64::MAX),
                ..leaf(Node::Generator {
                    generator: Box::new(
                        Generator::new(spec, self.seed).map_err(|error| error.within("spec"))?,
                    ),
                    random: random(),
                })
            },
            ExpressionSpec::NewKey { collection } => {
                self.key(*collection, Node::NewKey { collection: *collection }, |uses| &mut uses.new_records)?
            }
            ExpressionSpec::NewRecord { collection } => {
                let data = self.data(*collection)?;
                let mut record = leaf(Node::NewRecord { collection: *collection });
                record.types = Types::DOCUMENT;
                record.bytes_max = u64::try_from(data.document_bytes_max()).unwrap_or(u64::MAX);
                record.uses.new_records.insert(*collection);
                record.uses.takes_in_turn = true;
                record
            }
            ExpressionSpec::LatestKey { collection, theta } => {
                let chooser = ChooserSpec::Latest { theta: *theta };
                let distance = KeyChooser::new(&chooser, self.data(*collection)?.record_count, self.seed)?;
                let node = Node::LatestKey {
                    collection: *collection,
                    distance: Box::new(distance),
                    random: random(),
                };
                self.key(*collection, node, |uses| &mut uses.newest)?
            }
            ExpressionSpec::Now => known(Node::Now, Types::DATE, 8),
            ExpressionSpec::Run => known(Node::Run, Types::TEXT, KEY_HEAD_BYTES + RUN_TEXT_BYTES),
            ExpressionSpec::Worker => known(Node::Worker, Types::INT32, 4),
            ExpressionSpec::Number => known(Node::Number, Types::INT64, 8),
            ExpressionSpec::ObjectId { place } => {
                known(Node::ObjectId { place: *place }, Types::OBJECT_ID, 12)
            }
            ExpressionSpec::OneOf { values } => self.one_of(place, values, random())?,
            ExpressionSpec::Calculate { operator, of } => {
                let mut all = self.all(place, "of", of)?;
                let types = calculate::check(*operator, &all).map_err(|(operand, message)| {
                    SpecError::new(
                        operand.map_or("of".to_owned(), |operand| format!("of.{operand}")),
                        message,
                    )
                })?;
                let bytes_max = calculate::bytes_max(*operator, &all);
                let node = Node::Calculate { operator: *operator, of: nodes(&mut all) };
                let compound = compound(node, types, bytes_max, &all);
                self.folded(compound)?
            }
            ExpressionSpec::Repeated { count, of } => {
                let of = self.part(place, "of", of)?;
                if of.uses.items > 0 {
                    return Err(SpecError::new("of", "must not be repeated itself"));
                }
                let bytes_max = 5 + u64::from(*count) * (2 + digits(*count) + of.bytes_max);
                let node = Node::Repeated { count: *count, of: Box::new(of.node) };
                let mut uses = of.uses;
                uses.items = *count;
                uses.takes_in_turn = false;
                let cost = of.cost.saturating_mul(u64::from(*count)).saturating_add(1);
                let (depth, size) = (of.depth + 1, of.size + 1);
                Expression { node, types: Types::LIST, bytes_max, depth, size, cost, uses }
            }
            ExpressionSpec::Several { count, count_max, of, key } => {
                let mut parts = vec![self.part(place, "count", count)?, self.part(place, "of", of)?];
                if let Some(key) = key {
                    parts.push(self.part(place, "key", key)?);
                }
                lists::several(parts, *count_max)?
            }
            ExpressionSpec::Map { over, of } => {
                lists::map(vec![self.part(place, "over", over)?, self.part(place, "of", of)?])?
            }
            ExpressionSpec::Item { level, path } => leaf(Node::Item { level: *level, path: boxed(path) }),
        })
    }

    fn part(&self, place: &str, name: &str, spec: &ExpressionSpec) -> Result<Expression, SpecError> {
        self.prepared(&within_place(place, name), spec).map_err(|error| error.within(name))
    }

    fn all(&self, place: &str, name: &str, specs: &[ExpressionSpec]) -> Result<Vec<Expression>, SpecError> {
        let part = |(number, spec)| self.part(place, &format!("{name}.{number}"), spec);
        specs.iter().enumerate().map(part).collect()
    }

    fn document(&self, place: &str, fields: &[ExpressionField]) -> Result<Expression, SpecError> {
        let mut parts = Vec::new();
        let mut encoded = Vec::new();
        let mut known = Vec::new();
        let mut bytes_max = 5_u64;
        for field in fields {
            let mut value = self.part(place, &field.name, &field.value)?;
            let name = ElementName::new(&field.name);
            bytes_max = bytes_max.saturating_add(2 + field.name.len() as u64).saturating_add(value.bytes_max);
            match std::mem::replace(&mut value.node, Node::Now) {
                Node::Constant { type_byte, value } => {
                    BsonSink(&mut encoded).encoded(name.borrow(), type_byte, &value);
                }
                node => {
                    if !encoded.is_empty() {
                        parts.push(Part::Encoded(std::mem::take(&mut encoded).into()));
                    }
                    parts.push(Part::Field(name, node));
                }
            }
            known.push(value);
        }
        if parts.is_empty() {
            return Ok(constant(ElementType::Document as u8, &document_of(&encoded)));
        }
        if !encoded.is_empty() {
            parts.push(Part::Encoded(encoded.into()));
        }
        Ok(compound(Node::Document(parts.into()), Types::DOCUMENT, bytes_max, &known))
    }

    fn list(&self, place: &str, items: &[ExpressionSpec]) -> Result<Expression, SpecError> {
        let mut known = self.all(place, "items", items)?;
        let nodes = nodes(&mut known);
        let head = 2 + digits(nodes.len() as u32);
        let bytes_max =
            known.iter().fold(5_u64, |sum, item| sum.saturating_add(head).saturating_add(item.bytes_max));
        if nodes.iter().all(|node| matches!(node, Node::Constant { .. })) {
            let mut encoded = Vec::new();
            let mut names = ItemName::default();
            for (item, node) in (0..).zip(&nodes) {
                if let Node::Constant { type_byte, value } = node {
                    BsonSink(&mut encoded).encoded(names.of(item), *type_byte, value);
                }
            }
            return Ok(constant(ElementType::Array as u8, &document_of(&encoded)));
        }
        Ok(compound(Node::List(nodes), Types::LIST, bytes_max, &known))
    }

    fn one_of(
        &self,
        place: &str,
        values: &[(ExpressionSpec, f64)],
        random: RngStream,
    ) -> Result<Expression, SpecError> {
        let mut sum = 0.0;
        let (mut nodes, mut known, mut cumulative) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (spec, weight)) in values.iter().enumerate() {
            let mut value = self.part(place, &format!("values.{number}"), spec)?;
            if *weight > 0.0 {
                sum += weight;
                cumulative.push(sum);
                nodes.push(std::mem::replace(&mut value.node, Node::Now));
                known.push(value);
            }
        }
        let types = known.iter().fold(Types::NONE, |types, value| types.or(value.types));
        let bytes_max = known.iter().map(|value| value.bytes_max).max().unwrap_or(0);
        let node = Node::OneOf { values: nodes.into(), cumulative: cumulative.into(), random };
        Ok(compound(node, types, bytes_max, &known))
    }

    fn data(&self, collection: u32) -> Result<&crate::DocumentSpec, SpecError> {
        self.data.get(collection as usize).ok_or_else(|| {
            SpecError::new("collection", format!("must be below {}, got {collection}", self.data.len()))
        })
    }

    fn key(
        &self,
        collection: u32,
        node: Node,
        used: impl FnOnce(&mut Uses) -> &mut std::collections::BTreeSet<u32>,
    ) -> Result<Expression, SpecError> {
        let data = self.data(collection)?;
        let number = u64::from(data.zero_padding).max(crate::key::KEY_NUMBER_BYTES_MAX);
        let mut key = known(node, Types::TEXT, KEY_HEAD_BYTES + data.key_prefix.len() as u64 + number);
        used(&mut key.uses).insert(collection);
        key.uses.takes_in_turn = !key.uses.new_records.is_empty();
        Ok(key)
    }

    /// What is calculated of constants only is one itself.
    fn folded(&self, expression: Expression) -> Result<Expression, SpecError> {
        match &expression.node {
            Node::Calculate { of, .. } if of.iter().all(|node| matches!(node, Node::Constant { .. })) => {
                self.evaluated(&expression).map_err(|misfit| SpecError::new("of", misfit.to_string()))
            }
            _ => Ok(expression),
        }
    }

    /// The value of an expression that draws from nothing.
    fn evaluated(&self, expression: &Expression) -> Result<Expression, Misfit> {
        let (saved, run) = (super::SavedValues::default(), super::RunIdentity::new(0, [0; 8]));
        let draw = super::Draw {
            index: 0,
            worker: 0,
            now_unix_ms: 0,
            rows: &[],
            new_records: &[],
            newest: &[],
            saved: &saved,
            run: &run,
        };
        let mut element = Vec::new();
        self.put(expression, &ElementName::new(""), &draw, &mut element)?;
        Ok(constant(element[0], &element[super::node::UNNAMED_HEAD..]))
    }
}

pub(super) fn constant(type_byte: u8, value: &[u8]) -> Expression {
    let node = Node::Constant { type_byte, value: value.into() };
    known(node, Types::of_byte(type_byte), value.len() as u64)
}

/// A value of which nothing is known beforehand.
pub(super) fn leaf(node: Node) -> Expression {
    known(node, Types::ANY, 0)
}

fn known(node: Node, types: Types, bytes_max: u64) -> Expression {
    Expression { node, types, bytes_max, depth: 1, size: 1, cost: 1, uses: Uses::default() }
}

/// A place within a place. No name has a NUL, so that no two places share their random numbers.
pub(super) fn within_place(place: &str, name: &str) -> String {
    format!("{place}\0{name}")
}

/// The nodes of parts of which only the rest is looked at from then on.
fn nodes(parts: &mut [Expression]) -> Box<[Node]> {
    parts.iter_mut().map(|part| std::mem::replace(&mut part.node, Node::Now)).collect()
}

fn document_of(elements: &[u8]) -> Vec<u8> {
    let mut document = Vec::new();
    let mut writer = Writer::new(&mut document);
    let open = writer.begin_document();
    writer.encoded_elements(elements);
    writer.end_document(open);
    document
}
