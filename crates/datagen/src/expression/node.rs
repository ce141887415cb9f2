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
    Within { of: Box<Node>, path: Path },
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
    /// Which value of `repeated` it is, from 1; 0 outside of it.
    pub item: u32,
    /// How many values `repeated` makes; 1 outside of it.
    pub items: u32,
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
        self.number().wrapping_mul(self.items.into()).wrapping_add(self.item.saturating_sub(1).into())
    }

    /// The number of the operation within its load.
    pub fn number(&self) -> u64 {
        self.draw.index & ((1 << LOAD_SHIFT) - 1)
    }
}

/// Bytes before the value of an element without a name: its type, and the end of its name.
pub(super) const UNNAMED_HEAD: usize = 2;
