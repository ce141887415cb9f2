"""Owns what each protocol is to a spec: the schemes of its addresses, its steps, and how what a reply says is read.

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
class Scheme:
    """A scheme of addresses: the kind of target that the plan has for it, and the port where none is written."""

    kind: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """A protocol: the schemes of its addresses, and its steps: kinds that are one request, others, other tools' words.

    `target` says what is behind such an address, which is written as `address`. `names_a_database`: the path of one is
    a database. `has_records`: operations by key run there as well.
    """

    target: str
    address: str
    schemes: Mapping[str, Scheme]
    one: str
    several: str
    kinds: Mapping[str, StepKind]
    expect: Expect
    save: Save
    example: str
    names_a_database: bool = False
    has_records: bool = False
    others: Mapping[str, str] = field(default_factory=dict)
    synonyms: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all its kinds."""
        return (*self.kinds, *self.others)


STEPS: Final[dict[ProtocolName, Steps]] = {
    "mongodb": Steps(
        target="a MongoDB server",
        address="mongodb://HOST:PORT",
        schemes=dict.fromkeys(("mongodb", "mongodb+srv"), Scheme("mongodb", 27017)),
        one="a command of MongoDB's",
        several="MongoDB's commands",
        kinds=KINDS,
        expect=read_expect,
        save=read_save,
        example="{find: {collection: orders}}",
        names_a_database=True,
        has_records=True,
        others=OTHER_KINDS,
        synonyms=SYNONYMS,
    ),
    "http": Steps(
        target="a service",
        address="http://HOST:PORT",
        schemes={"http": Scheme("http", 80), "https": Scheme("http", 443)},
        one="a request of HTTP",
        several="requests of HTTP",
        kinds=HTTP_KINDS,
        expect=read_http_expect,
        save=read_http_save,
        example="{get: {path: /orders/$id}}",
        synonyms=HTTP_SYNONYMS,
    ),
    "sql": Steps(
        target="an SQL database",
        address="mysql://HOST/DATABASE or postgresql://HOST/DATABASE",
        schemes={
            **dict.fromkeys(("mysql", "mariadb"), Scheme("mysql", 3306)),
            **dict.fromkeys(("postgresql", "postgres"), Scheme("postgres", 5432)),
        },
        one="an SQL statement",
        several="SQL statements",
        kinds=SQL_KINDS,
        expect=read_sql_expect,
        save=read_sql_save,
        example='{sql: "SELECT * FROM orders WHERE id = $id"}',
        names_a_database=True,
        has_records=True,
        others=SQL_OTHER_KINDS,
        synonyms=SQL_SYNONYMS,
    ),
}
"""Every protocol by its name, MongoDB's first."""
FORMS: Final = STEPS.keys()
"""What an operation may have side by side: the same work in the words of several protocols."""


def schemes() -> dict[str, tuple[ProtocolName, Scheme]]:
    """The schemes of all addresses, with the protocol of each."""
    return {name: (protocol, each) for protocol, steps in STEPS.items() for name, each in steps.schemes.items()}


def protocol_of_target(kind: str) -> ProtocolName:
    """What targets of that kind of the plan's speak; all that isn't another protocol's is MongoDB's."""
    return next((protocol for protocol, each in schemes().values() if each.kind == kind), "mongodb")


def steps_of_target(kind: str) -> Steps:
    """What that protocol is."""
    return STEPS[protocol_of_target(kind)]


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
