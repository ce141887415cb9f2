"""Owns which steps each protocol has: one table for each, and how what a reply says is read.

A new protocol is a table of kinds, readers of `expect` and `save`, and an entry of `STEPS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from brimline.spec.document import Path
from brimline.spec.own.expressions import Scope
from brimline.spec.own.http_replies import read_http_expect, read_http_save
from brimline.spec.own.http_steps import HTTP_KINDS, HTTP_SYNONYMS
from brimline.spec.own.kinds import KINDS, OTHER_KINDS, SYNONYMS
from brimline.spec.own.problems import Problem, near_name, nearest
from brimline.spec.own.replies import read_expect, read_save
from brimline.spec.own.sql_replies import read_sql_expect, read_sql_save
from brimline.spec.own.sql_steps import SQL_KINDS, SQL_OTHER_KINDS, SQL_SYNONYMS
from brimline.spec.own.step_kind import ProtocolName, StepKind
from brimline.spec.readers import shown

Expect = Callable[[Any, Path, Scope, StepKind | None], list[dict[str, Any]]]
Save = Callable[[Any, Path, Scope, StepKind | None, dict[str, int]], list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a protocol: kinds that are one request, others, and what other tools call them."""

    one: str
    several: str
    kinds: Mapping[str, StepKind]
    expect: Expect
    save: Save
    example: str
    others: Mapping[str, str] = field(default_factory=dict)
    synonyms: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all its kinds."""
        return (*self.kinds, *self.others)


STEPS: Final[dict[ProtocolName, Steps]] = {
    "mongodb": Steps(
        "a command of MongoDB's",
        "MongoDB's commands",
        KINDS,
        read_expect,
        read_save,
        "{find: {collection: orders}}",
        OTHER_KINDS,
        SYNONYMS,
    ),
    "http": Steps(
        "a request of HTTP",
        "requests of HTTP",
        HTTP_KINDS,
        read_http_expect,
        read_http_save,
        "{get: {path: /orders/$id}}",
        synonyms=HTTP_SYNONYMS,
    ),
    "sql": Steps(
        "an SQL statement",
        "SQL statements",
        SQL_KINDS,
        read_sql_expect,
        read_sql_save,
        '{sql: "SELECT * FROM orders WHERE id = $id"}',
        SQL_OTHER_KINDS,
        SQL_SYNONYMS,
    ),
}
"""What steps a workload may have, by its protocol."""
FORMS: Final[tuple[ProtocolName, ...]] = ("mongodb", "http", "sql")
"""What an operation may have side by side: the same work in the words of several protocols."""


def all_kinds(protocol: ProtocolName = "mongodb") -> tuple[str, ...]:
    """The names of all kinds of steps of a protocol."""
    return STEPS[protocol].names


def unknown_kind(keys: list[str], path: Path, protocol: ProtocolName = "mongodb") -> Problem:
    """What a step says that is no kind."""
    names = all_kinds(protocol)
    named = next((key for key in keys if near_name(key, names)), keys[0] if keys else "")
    if not named:
        return Problem(path, "says nothing to do", f"kinds of steps: {', '.join(names)}")
    synonym = STEPS[protocol].synonyms.get(named.lower().replace("_", ""), "")
    for other, steps in STEPS.items():
        if other != protocol and named in steps.names and not synonym:
            hint = f"add protocol: {other}" if protocol == "mongodb" else f"kinds of steps: {', '.join(names)}"
            has = STEPS[protocol].several
            return Problem((*path, named), f"is {steps.one}, and the steps of this workload are {has}", hint)
    return Problem((*path, named), f"{shown(named)} is no kind of step", synonym or nearest(named, names))
