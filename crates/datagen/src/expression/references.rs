//! Owns the way from a reference to what it means: named values and parts of them, rows, what replies brought.

use std::sync::Arc;

use super::World;
use super::node::{Expression, Node};
use super::path::{self, boxed};
use super::prepare::{constant, leaf, within_place};
use super::spec::ExpressionSpec;
use super::types::Types;
use crate::SpecError;

/// Upper bound of values that are parts of values that are parts of values.
const PARTS_OF_PARTS_MAX: usize = 32;

impl World {
    pub(super) fn value(&self, index: u32, path: &[String], level: usize) -> Result<Expression, SpecError> {
        let Some(value) = self.values.get(index as usize) else {
            return Err(SpecError::new("index", format!("must be that of an earlier value, got {index}")));
        };
        if !path.is_empty() {
            let part = self.within(&value.place, &value.spec, path, level)?;
            let is_the_same_anywhere = matches!(part.node, Node::Constant { .. } | Node::Saved { .. });
            return Ok(if is_the_same_anywhere { part } else { shared(&Arc::new(part)) });
        }
        let whole = &value.expression;
        Ok(match whole.constant() {
            Some((type_byte, value)) => constant(type_byte, value),
            None => shared(whole),
        })
    }

    /// What stands at `path`, which isn't empty, in the value of `spec`. Its random numbers are those of the whole value.
    fn within(
        &self,
        place: &str,
        spec: &ExpressionSpec,
        path: &[String],
        level: usize,
    ) -> Result<Expression, SpecError> {
        if level > PARTS_OF_PARTS_MAX {
            return Err(SpecError::new("path", "values refer to values too often"));
        }
        let Some((first, rest)) = path.split_first() else {
            return match spec {
                ExpressionSpec::Value { index, path } => self.value(*index, path, level + 1),
                _ => self.prepared(place, spec),
            };
        };
        let nothing = || SpecError::new("path", format!("there is no {first} in the value"));
        match spec {
            ExpressionSpec::Document { fields } => {
                let field = fields.iter().find(|field| field.name == *first).ok_or_else(nothing)?;
                self.within(&within_place(place, first), &field.value, rest, level)
            }
            ExpressionSpec::List { items } => {
                let number: usize = first.parse().map_err(|_| nothing())?;
                let item = items.get(number).ok_or_else(nothing)?;
                self.within(&within_place(place, &format!("items.{number}")), item, rest, level)
            }
            ExpressionSpec::Value { index, path: own } => self.value(*index, &joined(own, path), level + 1),
            ExpressionSpec::Saved { slot, path: own } => self.saved(*slot, &joined(own, path)),
            ExpressionSpec::Row { table } => self.row(*table, path),
            _ => {
                let whole = self.prepared(place, spec)?;
                if whole.types.and(Types::DOCUMENT.or(Types::LIST)).is_empty() {
                    return Err(SpecError::new(
                        "path",
                        format!("the value is {} and has no {first}", whole.types.name()),
                    ));
                }
                if let Some(value) = whole.constant() {
                    let (type_byte, part) = path::find(value, &boxed(path)).ok_or_else(nothing)?;
                    return Ok(constant(type_byte, part));
                }
                let node = Node::Within { of: Box::new(whole.node), path: boxed(path) };
                Ok(Expression { node, types: Types::ANY, depth: whole.depth + 1, ..whole })
            }
        }
    }

    pub(super) fn saved(&self, slot: u32, path: &[String]) -> Result<Expression, SpecError> {
        if slot >= self.saved_count {
            return Err(SpecError::new("slot", format!("must be below {}, got {slot}", self.saved_count)));
        }
        let mut saved = leaf(Node::Saved { slot, path: boxed(path) });
        saved.uses.saved.insert(slot);
        Ok(saved)
    }

    pub(super) fn row(&self, table: u32, path: &[String]) -> Result<Expression, SpecError> {
        let Some(rows) = self.tables.get(table as usize) else {
            return Err(SpecError::new("table", format!("must be below {}, got {table}", self.tables.len())));
        };
        let mut row = leaf(Node::Row { table, path: boxed(path) });
        row.bytes_max = rows.row_bytes_max();
        row.uses.tables.insert(table);
        row.uses.takes_in_turn = !rows.is_random();
        if path.is_empty() {
            row.types = Types::DOCUMENT;
        }
        Ok(row)
    }
}

/// A named value, or a part of one, where it is referred to.
fn shared(named: &Arc<Expression>) -> Expression {
    let mut uses = named.uses.clone();
    (uses.several, uses.takes_in_turn) = (0, false);
    Expression {
        node: Node::Shared(Arc::clone(named)),
        types: named.types,
        bytes_max: named.bytes_max,
        depth: named.depth + 1,
        size: 1,
        cost: named.cost + 1,
        uses,
    }
}

fn joined(outer: &[String], inner: &[String]) -> Vec<String> {
    outer.iter().chain(inner).cloned().collect()
}
