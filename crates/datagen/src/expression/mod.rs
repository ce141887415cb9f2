//! Values of a person's own operations: constants, generators, named values, rows of tables, what replies brought, and what is
//! calculated from them. A plan says them as [`ExpressionSpec`]; a [`World`] prepares them once and appends them as BSON.
//!
//! What is drawn is a pure function of (seed, name of the place, number of the operation): each place has random numbers of its own, so
//! that a named value is the same wherever an operation refers to it, and no value changes when another one is added.

mod calculate;
mod dates;
mod draw;
mod lists;
mod node;
mod object_ids;
mod operator;
mod parts;
mod path;
mod prepare;
mod put;
mod records;
mod references;
mod spec;
mod table;
mod types;
mod uses;
mod world;

pub use draw::{Draw, LOAD_SHIFT, RunIdentity, SavedValues};
pub use node::Expression;
pub use object_ids::ObjectIdSpace;
pub use operator::Operator;
pub use spec::{
    EXPRESSION_DEPTH_MAX, ExpressionField, ExpressionSpec, REPEATED_MAX, SEVERAL_MAX, VALUES_MAX,
    constant_of_hex,
};
pub use table::TableSpec;
pub use uses::Uses;
pub use world::{CollectionData, World, WorldSpec};

pub use crate::sink::ElementName;

use thiserror::Error;

/// A value that can't be made of what an operation has: of what a reply brought, or of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{operator} of {found}")]
pub struct Misfit {
    /// What was to be calculated.
    pub operator: &'static str,
    /// What it can't be calculated of, such as `text`.
    pub found: &'static str,
}
