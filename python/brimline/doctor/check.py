"""Owns the result of one check."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a check ended."""

    PASS = "pass"  # noqa: S105 (no password)
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check: what was looked at, what was found, and what to do when it is not as it should be.

    `warn`: figures may suffer. `fail`: something brimline needs does not work.
    """

    name: str
    status: Status
    evidence: str
    hint: str | None = None

    def to_dict(self) -> dict[str, str | None]:
        """For `--json`."""
        return asdict(self)


def worst(checks: Iterable[Check]) -> Status:
    """The worst status of all; pass when there is none."""
    order = (Status.PASS, Status.WARN, Status.FAIL)
    return max((check.status for check in checks), key=order.index, default=Status.PASS)
