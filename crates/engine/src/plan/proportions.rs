//! Shares of the operations of a mix, as a plan says them: by the names of their kinds.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::kinds::{InPlans, KINDS, OperationKind};
use crate::plan::error::PlanError;

/// Shares of the operations of a mix, in the order of their kinds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proportions([f64; OperationKind::COUNT]);

impl Proportions {
    /// These shares, and none of any other kind.
    ///
    /// # Errors
    /// For a kind that no mix has.
    pub fn of<'n>(shares: impl IntoIterator<Item = (&'n str, f64)>) -> Result<Self, PlanError> {
        let mut all = [0.0; OperationKind::COUNT];
        for (name, share) in shares {
            let row = KINDS.iter().position(|kind| kind.name == name && kind.in_plans != InPlans::Never);
            let row =
                row.ok_or_else(|| PlanError::new("work.proportions", format!("unknown field `{name}`")))?;
            all[row] = share;
        }
        Ok(Self(all))
    }

    /// The share of each kind, in their order.
    pub fn shares(&self) -> [f64; OperationKind::COUNT] {
        self.0
    }

    /// Whether there is a share of any kind of which `is` is so.
    pub fn any(&self, is: impl Fn(OperationKind) -> bool) -> bool {
        OperationKind::all().zip(self.0).any(|(kind, share)| share > 0.0 && is(kind))
    }
}

impl<'de> Deserialize<'de> for Proportions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = BTreeMap::<String, f64>::deserialize(deserializer)?;
        let mut always = KINDS.iter().filter(|kind| kind.in_plans == InPlans::Always);
        if let Some(missing) = always.find(|kind| !given.contains_key(kind.name)) {
            return Err(D::Error::missing_field(missing.name));
        }
        Self::of(given.iter().map(|(name, &share)| (name.as_str(), share))).map_err(D::Error::custom)
    }
}

impl Serialize for Proportions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (kind, share) in KINDS.iter().zip(self.0) {
            if kind.in_plans == InPlans::Always || share != 0.0 {
                map.serialize_entry(kind.name, &share)?;
            }
        }
        map.end()
    }
}
