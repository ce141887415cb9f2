//! Owns object ids that no other run, operation or place has: those of one run lie in one range.

use super::draw::LOAD_SHIFT;
use super::spec::{ExpressionSpec, SEVERAL_MAX};

/// Bytes of an id that count.
const COUNTING_BYTES: usize = 6;
const COUNTING_BITS: u32 = 8 * COUNTING_BYTES as u32;

/// How the numbers of ids are shared out: to loads, places of an operation, and values of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectIdSpace {
    loads: u64,
    places: u64,
    /// Documents of an insert, at most.
    repeated: u64,
    /// Items of a list that have an id in place, at most.
    several: u64,
}

impl ObjectIdSpace {
    /// Room for the ids of `expressions` in so many loads.
    pub fn of<'s>(loads: u32, expressions: impl IntoIterator<Item = &'s ExpressionSpec>) -> Self {
        let mut space = Self { loads: u64::from(loads.max(1)), places: 1, repeated: 1, several: 1 };
        expressions.into_iter().for_each(|expression| space.cover(expression, 1));
        space
    }

    fn cover(&mut self, expression: &ExpressionSpec, mut several: u64) {
        match expression {
            ExpressionSpec::ObjectId { place } => {
                self.places = self.places.max(u64::from(*place) + 1);
                self.several = self.several.max(several);
            }
            ExpressionSpec::Repeated { count, .. } => self.repeated = self.repeated.max((*count).into()),
            ExpressionSpec::Several { count_max, .. } => {
                several = several.saturating_mul((*count_max).into());
            }
            ExpressionSpec::Map { .. } => several = several.saturating_mul(SEVERAL_MAX.into()),
            _ => {}
        }
        expression.parts().for_each(|part| self.cover(part, several));
    }

    /// Values of one place in an operation: item 0 is the one that stands alone.
    fn items(self) -> u64 {
        self.repeated.saturating_mul(self.several).saturating_add(1)
    }

    /// Operations of a load whose ids are all different; after those they begin again.
    pub fn operation_count_max(self) -> u64 {
        (1 << COUNTING_BITS) / self.loads.saturating_mul(self.places).saturating_mul(self.items()).max(1)
    }

    /// The end of the id of `place` in an operation.
    #[inline]
    pub(super) fn number(self, index: u64, place: u32, item: u32) -> [u8; COUNTING_BYTES] {
        let (load, index) = (index >> LOAD_SHIFT, index & ((1 << LOAD_SHIFT) - 1));
        let items = self.items();
        let within = u64::from(place).wrapping_mul(items).wrapping_add(u64::from(item));
        let number = index.wrapping_mul(self.places.wrapping_mul(items)).wrapping_add(within);
        let number = number.wrapping_mul(self.loads).wrapping_add(load);
        let mut bytes = [0; COUNTING_BYTES];
        bytes.copy_from_slice(&number.to_be_bytes()[2..]);
        bytes
    }
}
