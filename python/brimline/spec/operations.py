"""Owns the part of a spec that says which operations there are: shares of kinds, or operations of a person's own."""

import math
from typing import Annotated, Any, Final, Self

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from brimline.operations import kinds_of_a_mix
from brimline.spec import fields
from brimline.spec.base import Part, with_fields
from brimline.spec.data import DataSpec
from brimline.spec.own import OwnOperations

# Shares typed as fractions may be rounded: 0.33 + 0.33 + 0.33.
_SHARE_SUM_TOLERANCE = 0.0101


@with_fields({kind.name: (fields.OperationShare, 0.0, f"Share of {kind.what}.") for kind in kinds_of_a_mix()})
class OperationsSpec(Part):
    """Shares of the operations: fractions or percentages that make a whole, or whole numbers as weights."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    @property
    def shares(self) -> dict[str, float]:
        """Every operation's share, as typed."""
        return {name: getattr(self, name) for name in type(self).model_fields}

    @model_validator(mode="before")
    @classmethod
    def _check_one_notation(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        given = [share for share in value.values() if share not in (0, None)]
        percentages = [share for share in given if isinstance(share, str) and share.rstrip().endswith("%")]
        if percentages and len(percentages) < len(given):
            raise ValueError("mixes percentages and plain numbers; write all shares the same way")
        return value

    @model_validator(mode="after")
    def _check_sum(self) -> Self:
        shares = list(self.shares.values())
        total = math.fsum(shares)
        if total == 0:
            raise ValueError("add up to 0; give at least one operation a share, such as read: 1")
        are_weights = all(share == int(share) for share in shares)
        if not are_weights and abs(total - 1) > _SHARE_SUM_TOLERANCE:
            raise ValueError(
                f"add up to {total:.6g}; fractions must add up to 1 and percentages to 100% (whole numbers are weights)"
            )
        return self


OWN_TAG: Final = "operations by name"
SHARES_TAG: Final = "shares by kind"
"""Stand in pydantic's paths where operations are; they are no keys."""


def _operations_tag(value: object) -> str:
    if isinstance(value, OwnOperations):
        return OWN_TAG
    is_own = isinstance(value, dict) and any(isinstance(each, dict | list) for each in value.values())
    return OWN_TAG if is_own else SHARES_TAG


Operations = Annotated[
    Annotated[OperationsSpec, Tag(SHARES_TAG)] | Annotated[OwnOperations, Tag(OWN_TAG)],
    Discriminator(_operations_tag),
]


NO_COLLECTION: Final = "none"
"""Stands for a collection where a workload has none, as one of a service."""


class NoDataSpec(DataSpec):
    """No records of brimline's own: every collection is there already. Of such a workload nothing is loaded."""

    records: Annotated[int, Field(ge=0, le=0)] = 0
    """There are none."""
