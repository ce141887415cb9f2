//! Owns which record a value is the key of: what goes to the server that has the record asks it.

use super::World;
use super::draw::Draw;
use super::node::{Expression, Moment, Node, Place};
use super::prepare::within_place;
use super::spec::ExpressionSpec;
use crate::template::Generator;
use crate::{DocumentSpec, SpecError, ValueSpec};

/// Upper bound of values that are named by values that are named by values.
const NAMES_MAX: usize = 32;
const KEY: &str = "_id";

impl World {
    /// The value at `path` in the value of `spec`, where it surely is the key of a record of `collection`; `None` where it may be anything
    /// else. `place` is what the whole was prepared as, so that its random numbers are those.
    ///
    /// # Errors
    /// As [`World::prepare`].
    pub fn key_at(
        &self,
        place: &str,
        spec: &ExpressionSpec,
        path: &[&str],
        collection: u32,
    ) -> Result<Option<Expression>, SpecError> {
        self.key_within(place, spec, path, collection, 0)
    }

    fn key_within(
        &self,
        place: &str,
        spec: &ExpressionSpec,
        path: &[&str],
        collection: u32,
        names: usize,
    ) -> Result<Option<Expression>, SpecError> {
        match (spec, path) {
            (ExpressionSpec::Value { index, path: own }, _) => {
                let Some(value) = self.values.get(*index as usize).filter(|_| names < NAMES_MAX) else {
                    return Ok(None);
                };
                let path: Vec<&str> = own.iter().map(String::as_str).chain(path.iter().copied()).collect();
                self.key_within(&value.place, &value.spec, &path, collection, names + 1)
            }
            (ExpressionSpec::Document { fields }, [name, rest @ ..]) => {
                match fields.iter().find(|field| field.name == *name) {
                    Some(field) => {
                        self.key_within(&within_place(place, name), &field.value, rest, collection, names)
                    }
                    None => Ok(None),
                }
            }
            (ExpressionSpec::List { items }, [name, rest @ ..]) => {
                match name.parse().ok().and_then(|number: usize| items.get(number)) {
                    Some(item) => {
                        let place = within_place(place, &format!("items.{name}"));
                        self.key_within(&place, item, rest, collection, names)
                    }
                    None => Ok(None),
                }
            }
            // An equality may be written as an operator.
            (ExpressionSpec::Document { fields }, []) if matches!(fields.as_slice(), [only] if only.name == "$eq") => {
                self.key_within(&within_place(place, "$eq"), &fields[0].value, &[], collection, names)
            }
            (ExpressionSpec::NewRecord { collection: of }, [KEY]) if *of == collection => {
                self.prepared(place, spec).map(Some)
            }
            (
                ExpressionSpec::NewKey { collection: of } | ExpressionSpec::LatestKey { collection: of, .. },
                [],
            ) if *of == collection => self.prepared(place, spec).map(Some),
            (ExpressionSpec::Generator { spec: generator }, [])
                if self.data.get(collection as usize).is_some_and(|data| has_keys_of(generator, data)) =>
            {
                self.prepared(place, spec).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The record that a value of [`World::key_at`] is the key of.
    pub fn record(&self, key: &Expression, draw: &Draw<'_>) -> u64 {
        let moment = Moment { draw, place: Place::ONLY, named: Place::ONLY, element: None };
        match &key.node {
            Node::Generator { generator, random } => match generator.as_ref() {
                Generator::KeyOf(key_of) => {
                    key_of.record(moment.sequence(), &mut random.at_item(draw.index, 0))
                }
                _ => 0,
            },
            Node::NewKey { collection } | Node::NewRecord { collection } => {
                draw.new_records.get(*collection as usize).copied().unwrap_or(0)
            }
            Node::LatestKey { collection, distance, random } => {
                let behind = distance.draw(&mut random.at_item(draw.index, 0), 0);
                draw.newest.get(*collection as usize).copied().unwrap_or(0).saturating_sub(behind)
            }
            _ => 0,
        }
    }
}

/// Whether a generator makes the keys of these records.
fn has_keys_of(generator: &ValueSpec, data: &DocumentSpec) -> bool {
    let ValueSpec::KeyOf { record_count, insert_start, key_prefix, insert_order, zero_padding, .. } =
        generator
    else {
        return false;
    };
    (record_count, insert_start, key_prefix, insert_order, zero_padding)
        == (&data.record_count, &data.insert_start, &data.key_prefix, &data.insert_order, &data.zero_padding)
}
