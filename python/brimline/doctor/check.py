"""Owns the result of one check."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

Figure: TypeAlias = int | float | str | bool | Mapping[str, int | float] | None


class Status(StrEnum):
    """How a check ended, the better ones first."""

    PASS = "pass"  # noqa: S105 (no password)
    UNKNOWN = "unknown"  # this machine doesn't show it
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check: what was looked at, what was found, and what to do when it is not as it should be.

    `warn`: figures may suffer. `fail`: something brimline needs does not work, or no figure from here can be trusted.
    `name` stays the same over versions. `figures` is the evidence for machines, each key with its unit last.
    """

    name: str
    status: Status
    evidence: str
    hint: str | None = None
    figures: Mapping[str, Figure] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """For `--json`."""
        return asdict(self)


def graded(
    name: str,
    evidence: str,
    *,
    warn: bool = False,
    fail: bool = False,
    hint: str,
    figures: Mapping[str, Figure] | None = None,
) -> Check:
    """A check that passes unless told otherwise; the hint is given only when it does not."""
    status = Status.FAIL if fail else Status.WARN if warn else Status.PASS
    return Check(
        name=name,
        status=status,
        evidence=evidence,
        hint=None if status is Status.PASS else hint,
        figures=figures or {},
    )


def unknown(name: str, why: str, *, hint: str | None = None) -> Check:
    """What can't be seen here is neither good nor bad, and never guessed."""
    return Check(name=name, status=Status.UNKNOWN, evidence=f"not known here: {why}", hint=hint)


def worst(checks: Iterable[Check]) -> Status:
    """The worst status of all; pass when there is none."""
    order = tuple(Status)
    return max((check.status for check in checks), key=order.index, default=Status.PASS)
