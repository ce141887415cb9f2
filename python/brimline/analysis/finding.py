"""Owns the form of a finding: what was checked, how it came out, and the numbers that show it."""

from dataclasses import dataclass
from enum import StrEnum


class Standing(StrEnum):
    """How a check came out. A failed one makes the run prove nothing; unknown: the numbers are missing."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check of one run. `evidence` is a line for people, with its numbers.

    `another_client`: it failed because the server did work that brimline didn't send.
    """

    name: str
    verdict: Standing
    evidence: str
    another_client: bool = False
