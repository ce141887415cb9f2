//! Owns what the expressions of a plan refer to: collections, tables and named values, prepared.

use std::sync::Arc;

use super::node::Expression;
use super::object_ids::ObjectIdSpace;
use super::spec::{ExpressionSpec, VALUES_MAX};
use super::table::{Table, TableSpec};
use crate::sink::{BsonSink, ElementName};
use crate::{DocumentSpec, Documents, SpecError};

/// A collection that expressions name by its place.
#[derive(Clone, Copy, Debug)]
pub struct CollectionData<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its keys and documents.
    pub data: &'a DocumentSpec,
}

/// What expressions refer to.
#[derive(Clone, Copy, Debug)]
pub struct WorldSpec<'a> {
    /// Everything is a function of it.
    pub seed: u64,
    /// Collections, by place.
    pub collections: &'a [CollectionData<'a>],
    /// Tables, by place.
    pub tables: &'a [TableSpec<'a>],
    /// Named values, by place. Each refers to those before it.
    pub values: &'a [(&'a str, &'a ExpressionSpec)],
    /// How many slots there are for what replies bring.
    pub saved_count: u32,
    /// How numbers of object ids are shared out.
    pub object_ids: ObjectIdSpace,
}

/// What the values of a plan's operations are made of.
#[derive(Debug)]
pub struct World {
    pub(super) seed: u64,
    pub(super) documents: Vec<Documents>,
    pub(super) data: Vec<DocumentSpec>,
    pub(super) tables: Vec<Table>,
    pub(super) values: Vec<NamedValue>,
    pub(super) saved_count: u32,
    pub(super) object_ids: ObjectIdSpace,
}

#[derive(Debug)]
pub(super) struct NamedValue {
    pub place: String,
    pub spec: ExpressionSpec,
    pub expression: Arc<Expression>,
}

impl World {
    /// Prepares collections, tables and values.
    ///
    /// # Errors
    /// The first part that is out of bounds, with its path: `collections.0.field_count`, `values.2.of.0`.
    pub fn new(spec: &WorldSpec<'_>) -> Result<Self, SpecError> {
        let mut world = Self {
            seed: spec.seed,
            documents: Vec::new(),
            data: Vec::new(),
            tables: Vec::new(),
            values: Vec::new(),
            saved_count: spec.saved_count,
            object_ids: spec.object_ids,
        };
        for (place, collection) in spec.collections.iter().enumerate() {
            let documents = Documents::new(collection.data, spec.seed);
            world
                .documents
                .push(documents.map_err(|error| error.within(&format!("collections.{place}.data")))?);
            world.data.push(collection.data.clone());
        }
        for (place, table) in spec.tables.iter().enumerate() {
            let prepared = Table::new(table, spec.seed);
            world.tables.push(prepared.map_err(|error| error.within(&format!("tables.{place}")))?);
        }
        if spec.values.len() > VALUES_MAX {
            return Err(SpecError::new(
                "values",
                format!("must be at most {VALUES_MAX}, got {}", spec.values.len()),
            ));
        }
        for (number, (name, value)) in spec.values.iter().enumerate() {
            let place = format!("values.{name}");
            let expression = world
                .prepare(&place, value)
                .map_err(|error| error.within(&format!("values.{number}.value")))?;
            world.values.push(NamedValue { place, spec: (*value).clone(), expression: Arc::new(expression) });
        }
        Ok(world)
    }

    /// Appends the value of an expression that is the same in every operation; of any other, nothing.
    pub fn put_constant(&self, expression: &Expression, name: &ElementName, out: &mut Vec<u8>) {
        if let Some((type_byte, value)) = expression.constant() {
            BsonSink(out).encoded(name.borrow(), type_byte, value);
        }
    }
}
