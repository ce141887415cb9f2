//! Filters: the part of mongod's query language that selects a range of `_id`.

use std::ops::Bound;

use brimline_bson::{Reader, Value};

use super::StoreError;
use super::key::{self, Key};

/// Lower and upper bound, as a map takes them.
pub type KeyBounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// A range of order keys.
#[derive(Clone, Debug)]
pub struct KeyRange {
    lower: Bound<Key>,
    upper: Bound<Key>,
}

impl KeyRange {
    /// Every document.
    pub const ALL: Self = Self { lower: Bound::Unbounded, upper: Bound::Unbounded };

    /// Understands `{}`, `{_id: value}` and `{_id: {$eq, $gt, $gte, $lt, $lte}}`; a comparison selects values of its
    /// operand's type only.
    ///
    /// # Errors
    /// When the filter is no BSON or asks for anything else.
    pub fn of_filter(filter: &[u8]) -> Result<Self, StoreError> {
        let mut range = Self::ALL;
        let mut fields = Reader::new(filter)?;
        while let Some(field) = fields.next_element()? {
            if field.name != b"_id" {
                let name = String::from_utf8_lossy(field.name).into_owned();
                return Err(StoreError::Unsupported(format!("a filter on '{name}'; only on '_id'")));
            }
            range.narrow(&field.value)?;
        }
        Ok(range)
    }

    /// Exactly the document with this `_id`.
    pub fn only(id: &Value<'_>) -> Self {
        let key = key::encode(id);
        Self { lower: Bound::Included(key.clone()), upper: Bound::Included(key) }
    }

    /// Whether no more than one document can be in the range.
    pub fn is_single(&self) -> bool {
        matches!((&self.lower, &self.upper), (Bound::Included(lower), Bound::Included(upper)) if lower == upper)
    }

    /// Whether every document is in the range.
    pub fn is_everything(&self) -> bool {
        matches!((&self.lower, &self.upper), (Bound::Unbounded, Bound::Unbounded))
    }

    /// The part of the range above `key`.
    pub fn after(&self, key: &Key) -> Self {
        Self { lower: Bound::Excluded(key.clone()), upper: self.upper.clone() }
    }

    /// The bounds, `None` when nothing lies between them.
    pub fn bounds(&self) -> Option<KeyBounds<'_>> {
        use Bound::{Excluded, Included};
        let bounds = (self.lower.as_ref().map(|key| &**key), self.upper.as_ref().map(|key| &**key));
        match bounds {
            (Included(lower), Included(upper)) => lower <= upper,
            (Included(lower) | Excluded(lower), Included(upper) | Excluded(upper)) => lower < upper,
            _ => true,
        }
        .then_some(bounds)
    }

    fn narrow(&mut self, condition: &Value<'_>) -> Result<(), StoreError> {
        let Value::Document(document) = condition else {
            *self = Self::only(condition);
            return Ok(());
        };
        let mut operators = Reader::new(document)?;
        while let Some(operator) = operators.next_element()? {
            if !operator.name.starts_with(b"$") {
                *self = Self::only(condition);
                return Ok(());
            }
            self.narrow_by(operator.name, &operator.value)?;
        }
        Ok(())
    }

    fn narrow_by(&mut self, operator: &[u8], operand: &Value<'_>) -> Result<(), StoreError> {
        let key = key::encode(operand);
        let type_begin = || Bound::Included(Key::from([key::rank(operand)]));
        let type_end = || Bound::Excluded(Key::from([key::rank(operand) + 1]));
        let (lower, upper) = match operator {
            b"$eq" => (Bound::Included(key.clone()), Bound::Included(key)),
            b"$gte" => (Bound::Included(key), type_end()),
            b"$gt" => (Bound::Excluded(key), type_end()),
            b"$lte" => (type_begin(), Bound::Included(key)),
            b"$lt" => (type_begin(), Bound::Excluded(key)),
            _ => {
                let name = String::from_utf8_lossy(operator).into_owned();
                return Err(StoreError::Unsupported(format!("the operator '{name}' in a filter")));
            }
        };
        self.raise_lower(lower);
        self.lower_upper(upper);
        Ok(())
    }

    /// Takes `lower` if it is the narrower bound.
    fn raise_lower(&mut self, lower: Bound<Key>) {
        if lower_rank(&lower) > lower_rank(&self.lower) {
            self.lower = lower;
        }
    }

    /// Takes `upper` if it is the narrower bound.
    fn lower_upper(&mut self, upper: Bound<Key>) {
        if matches!(self.upper, Bound::Unbounded) || upper_rank(&upper) < upper_rank(&self.upper) {
            self.upper = upper;
        }
    }
}

/// Orders lower bounds: none, then by key, an excluded key after the same key included.
fn lower_rank(bound: &Bound<Key>) -> (&[u8], bool) {
    match bound {
        Bound::Unbounded => (&[], false),
        Bound::Included(key) => (key, false),
        Bound::Excluded(key) => (key, true),
    }
}

/// Orders upper bounds that are bounds: by key, an included key after the same key excluded.
fn upper_rank(bound: &Bound<Key>) -> (&[u8], bool) {
    match bound {
        Bound::Unbounded => (&[], false),
        Bound::Included(key) => (key, true),
        Bound::Excluded(key) => (key, false),
    }
}
