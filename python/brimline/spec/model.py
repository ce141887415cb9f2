"""Owns the spec: everything a user can say about a workload, checked, with every default filled in."""

import math
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from brimline import units
from brimline.spec import fields
from brimline.spec.base import Part, kind_only
from brimline.spec.data import DataSpec, Keys, ScanLength, UniformLength, ZipfianKeys, shortest
from brimline.spec.target import TargetSpec

# Shares typed as fractions may be rounded: 0.33 + 0.33 + 0.33.
_SHARE_SUM_TOLERANCE = 0.0101


class OperationsSpec(Part):
    """Shares of the operations: fractions or percentages that make a whole, or whole numbers as weights."""

    read: fields.OperationShare = 0.0
    update: fields.OperationShare = 0.0
    insert: fields.OperationShare = 0.0
    scan: fields.OperationShare = 0.0
    read_modify_write: fields.OperationShare = 0.0

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


class ClosedLoad(Part):
    """Each connection sends its next operation as soon as the last is answered."""

    kind: Literal["closed"] = "closed"


class ConstantLoad(Part):
    """Operation i is due at i / rate, whatever the server does."""

    kind: Literal["constant"] = "constant"
    rate_ops_per_s: fields.Rate = Field(alias="rate")


Load = Annotated[
    ClosedLoad | ConstantLoad,
    Field(discriminator="kind"),
    BeforeValidator(kind_only, json_schema_input_type=str | dict[str, object]),
]


class SloSpec(Part):
    """What the users of the database are promised.

    As soon as one limit is given, the other has its default: response p99 10 ms, error rate 0.1 %.
    """

    response_p99_ns: fields.LatencyLimit | None = Field(default=None, alias="response_p99")
    error_share: fields.ErrorShare | None = Field(default=None, alias="error_rate")


DURATION_NS_DEFAULT = 10 * units.NS_PER_S


class Spec(Part):
    """A workload.

    `duration` and `operation_count` both end a run, whichever comes first; without either 10 s are measured.
    """

    name: fields.Name = "workload"
    description: fields.Description = ""
    seed: fields.Seed = 1
    data: DataSpec
    operations: OperationsSpec
    keys: Keys = ZipfianKeys()
    scan_length: ScanLength = UniformLength(min=1, max=100)
    read_all_fields: bool = True
    write_all_fields: bool = False
    load: Load = ClosedLoad()
    connections: fields.ConnectionCount = 32
    threads: fields.ThreadCount = 1
    warmup_ns: fields.WarmupDuration = Field(default=2 * units.NS_PER_S, alias="warmup")
    duration_ns: fields.MeasureDuration | None = Field(default=None, alias="duration")
    operation_count: fields.OperationCount | None = None
    interval_ns: fields.IntervalDuration = Field(default=units.NS_PER_S, alias="interval")
    drain_timeout_ns: fields.Timeout = Field(default=10 * units.NS_PER_S, alias="drain_timeout")
    operation_timeout_ns: fields.Timeout = Field(default=30 * units.NS_PER_S, alias="operation_timeout")
    connect_timeout_ns: fields.Timeout = Field(default=10 * units.NS_PER_S, alias="connect_timeout")
    slo: SloSpec = SloSpec()
    target: TargetSpec = TargetSpec()

    @property
    def effective_duration_ns(self) -> int | None:
        """How long is measured; `None`: until `operation_count` operations are sent."""
        return DURATION_NS_DEFAULT if self.duration_ns is None and self.operation_count is None else self.duration_ns

    @field_validator("scan_length")
    @classmethod
    def _check_scan_length(cls, value: ScanLength) -> ScanLength:
        if shortest(value) < 1:
            raise ValueError("a scan asks for at least 1 document")
        return value

    def to_document(self) -> dict[str, Any]:
        """Plain values that read back as the same spec; a password in the address is left out."""
        values = self.model_dump(exclude_none=True)
        values["operations"] = {name: share for name, share in values["operations"].items() if share}
        return {key: value for key, value in values.items() if value != {}}
