//! Owns an expression that is prepared, and of which operation its value is made.

use std::sync::Arc;

use super::draw::{Draw, LOAD_SHIFT};
use super::operator::Operator;
use super::path::Path;
use super::types::Types;
use super::uses::Uses;
use crate::KeyChooser;
use crate::rng::RngStream;
use crate::sink::ElementName;
use crate::template::Generator;

/// A value, prepared, and what is known of it before a run.
#[derive(Debug)]
pub struct Expression {
    pub(super) node: Node,
    pub(super) types: Types,
    pub(super) bytes_max: u64,
    /// Expressions within expressions, those of named values included.
    pub(super) depth: usize,
    /// How many nodes it has, without those of named values.
    pub(super) size: u64,
    /// How many expressions are looked at for one value.
    pub(super) cost: u64,
    pub(super) uses: Uses,
}

#[derive(Debug)]
pub(super) enum Node {
    Constant { type_byte: u8, value: Box<[u8]> },
    Document(Box<[Part]>),
    List(Box<[Node]>),
    Shared(Arc<Expression>),
    Saved { slot: u32, path: Path },
    Row { table: u32, path: Path },
    Generator { generator: Box<Generator>, random: RngStream },
    NewKey { collection: u32 },
    NewRecord { collection: u32 },
    LatestKey { collection: u32, distance: Box<KeyChooser>, random: RngStream },
    Now,
    Run,
    Worker,
    Number,
    ObjectId { place: u32 },
    OneOf { values: Box<[Node]>, cumulative: Box<[f64]>, random: RngStream },
    Calculate { operator: Operator, of: Box<[Node]> },
    Repeated { count: u32, of: Box<Node> },
    Several(Box<Several>),
    Map { over: Box<Node>, of: Box<Node> },
    Item { level: u32, path: Path },
    Within { of: Box<Node>, path: Path },
}

/// A list of values, each drawn anew, or with `key` a document of them.
#[derive(Debug)]
pub(super) struct Several {
    pub count: Node,
    pub count_max: u32,
    pub of: Node,
    pub key: Option<Node>,
}

/// What a document is put together of.
#[derive(Debug)]
pub(super) enum Part {
    /// Whole elements, names included.
    Encoded(Box<[u8]>),
    Field(ElementName, Node),
}

/// Which value of which operation is made.
#[derive(Clone, Copy)]
pub(super) struct Moment<'m, 'd> {
    pub draw: &'m Draw<'d>,
    /// Which of several values it is.
    pub place: Place,
    /// The same of a named value: it is drawn anew for each document of an insert, and not for each item of a list.
    pub named: Place,
    /// What the innermost `map` is at.
    pub element: Option<&'m Element<'m>>,
}

/// Which of how many values is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// From 1; 0 where there is only one.
    pub item: u32,
    /// At most; 1 where there is only one.
    pub items: u32,
}

impl Place {
    pub(super) const ONLY: Self = Self { item: 0, items: 1 };

    /// Value `number`, from 0, of `count` at this place. Preparing bounds what values cost, so that the product has 32 bits.
    pub(super) fn within(self, number: u32, count: u32) -> Self {
        Self { item: self.item.saturating_sub(1) * count + number + 1, items: self.items * count }
    }
}

/// An element that a `map` is at: a value in the buffer, and what the `map` around is at.
#[derive(Clone, Copy)]
pub(super) struct Element<'m> {
    pub type_byte: u8,
    pub start: usize,
    pub end: usize,
    pub outer: Option<&'m Self>,
}

impl Expression {
    /// Whether it is the same in every operation.
    pub fn is_constant(&self) -> bool {
        self.constant().is_some()
    }

    /// The type's byte and the bytes of a value that is always the same.
    pub fn constant(&self) -> Option<(u8, &[u8])> {
        match &self.node {
            Node::Constant { type_byte, value } => Some((*type_byte, value)),
            _ => None,
        }
    }

    /// What it draws from.
    pub fn uses(&self) -> &Uses {
        &self.uses
    }

    /// Upper bound of the bytes of its value, without type and name. What a reply brings is not counted, because nothing
    /// bounds it before a run.
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max
    }
}

impl Moment<'_, '_> {
    /// The number that ascends from operation to operation, and from value to value within one.
    pub fn sequence(&self) -> u64 {
        let Place { item, items } = self.place;
        self.number().wrapping_mul(items.into()).wrapping_add(item.saturating_sub(1).into())
    }

    /// The number of the operation within its load.
    pub fn number(&self) -> u64 {
        self.draw.index & ((1 << LOAD_SHIFT) - 1)
    }
}

/// Bytes before the value of an element without a name: its type, and the end of its name.
pub(super) const UNNAMED_HEAD: usize = 2;

/// A value that is made of others.
pub(super) fn compound(node: Node, types: Types, bytes_max: u64, parts: &[Expression]) -> Expression {
    let mut uses = Uses::default();
    for part in parts {
        uses.add(&part.uses);
    }
    Expression {
        node,
        types,
        bytes_max,
        depth: 1 + parts.iter().map(|part| part.depth).max().unwrap_or(0),
        size: parts.iter().fold(1, |sum, part| sum.saturating_add(part.size)),
        cost: parts.iter().fold(1, |sum, part| sum.saturating_add(part.cost)),
        uses,
    }
}

/// Digits of a number of items.
pub(super) fn digits(count: u32) -> u64 {
    u64::from(count.checked_ilog10().unwrap_or(0)) + 1
}
