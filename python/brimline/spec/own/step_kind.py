"""Owns what a kind of step is: what it says, reads and writes, and what it becomes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from brimline.spec.document import Path
from brimline.spec.own import options as read
from brimline.spec.own.expressions import Scope
from brimline.spec.own.nodes import Node
from brimline.spec.own.options import Option
from brimline.spec.own.problems import Problem

Access = Literal["read", "write", "command"]
ProtocolName = str
"""What the steps of a workload are written in: a name of the table in `spec.own.protocols`."""
BESIDE_KIND: Final = ("name", "save", "expect", "think_time")
"""What may stand beside the kind of a step."""
BESIDE_COMMAND: Final = {"command": ("database", "access", "cursor")}
"""What may stand beside a kind alone."""
COMMON: Final = (
    Option("comment", "comment", read.any_value, "Stands in the server's log and profile."),
    Option("max_time", "maxTimeMS", read.a_time_limit, "How long the server may take, such as 2s."),
)
READ_CONCERN: Final = (
    Option("read_concern", "readConcern", read.a_read_concern, "A level such as majority; the target's without it."),
)
WRITE_CONCERN: Final = (
    Option("write_concern", "writeConcern", read.a_write_concern, "Such as majority, 1 or {w: 1, j: true}."),
)


@dataclass(frozen=True, slots=True)
class Given:
    """A step as it was read: its options by name, what was written, and where; `collection` is the server's name."""

    collection: str | None
    nodes: dict[str, Node]
    raw: dict[str, Any]
    path: Path
    scope: Scope


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a request is read in: the values that it may name, and what `http` says of every request."""

    scope: Scope
    headers: Mapping[str, Any] = field(default_factory=dict)
    secret_headers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Requested:
    """A request as it was read, in the plan's form: its slots, and what a step says of it."""

    name: str
    command: str
    access: Access
    slots: list[dict[str, Any]]
    request: dict[str, Any]
    statements: int = 1


@dataclass(frozen=True, slots=True)
class StepKind:
    """A kind of step.

    `statements` names the list of an insert, update or delete, `make` puts its members together, `statement_options`
    belong to them, and `made_from` is what it reads itself, with what each says. `counted` is what a reply's `n`
    counts, as `expect` calls it; `document_at` is where the reply has the document that `save` and `expect` look into.
    `writes` says of what was written whether it writes, where that isn't always so.

    Of another protocol than MongoDB's `request` makes what is sent; `command` is then what the server counts, if that
    is always the same.
    """

    name: str
    words: str
    command: str
    access: Access
    counter: Literal["query", "insert", "update", "delete", "command"]
    options: tuple[Option, ...] = ()
    required: tuple[str, ...] = ()
    one_of: tuple[tuple[str, ...], ...] = ()
    statements: str | None = None
    statement_options: tuple[Option, ...] = ()
    made_from: Mapping[str, str] = field(default_factory=dict)
    make: "Callable[[StepKind, Given], list[Node]] | None" = None
    has_cursor: bool = False
    counted: str | None = None
    counts_modified: bool = False
    document_at: tuple[str, ...] = ()
    writes: Callable[[dict[str, Any]], bool] | None = None
    request: "Callable[[StepKind, dict[str, Any], Path, Surroundings], dict[str, Requested]] | None" = None

    @property
    def all_options(self) -> tuple[Option, ...]:
        """Everything that may stand beside `collection`."""
        read_concern = READ_CONCERN if self.access == "read" else ()
        write_concern = WRITE_CONCERN if self.access == "write" or self.writes is not None else ()
        return (*self.statement_options, *self.options, *COMMON, *read_concern, *write_concern)


def refuse_beside(raw: dict[str, Any], path: Path, kind: StepKind) -> None:
    """Refuses what belongs beside the kind of a step and stands in it. Raises Problem."""
    for name in BESIDE_KIND:
        if name in raw and name not in {each.name for each in kind.all_options} | set(kind.made_from):
            hint = f"write it beside {kind.name}: {{{kind.name}: {{…}}, {name}: …}}"
            raise Problem((*path, name), f"belongs to the step, not into {kind.name}", hint)
