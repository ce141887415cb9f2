"""Owns the plan's types of a person's own operations: collections, tables, values, and steps that are commands."""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from brimline.plan.base import Count, Number, Part, without
from brimline.plan.documents import DocumentPlan
from brimline.plan.expressions import Expression, Hex, Names
from brimline.plan.pacers import PacerPlan, ThinkTime
from brimline.plan.requests import Request

OPERATIONS_MAX = 64
"""Most operations of a workload, which is as many as a recorder has rows for."""


class CollectionPlan(Part):
    """A collection with a shape: the records that brimline loads into it.

    `time_series`: the server keeps it as one, and updates its buckets where documents are inserted.
    """

    name: str
    database: str
    collection: str
    data: DocumentPlan
    time_series: bool = False

    @model_serializer(mode="wrap")
    def _without_nothing(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return without(dump(self), "time_series")


class Sampled(Part):
    """Which rows a table takes of a collection when the run begins: at most so many, all fields where none is named."""

    database: str
    collection: str
    fields: tuple[str, ...]
    row_count_max: Count


class TablePlan(Part):
    """Rows of a file, or sampled from a collection: their columns, how many there are and how one is taken.

    `content` holds the rows' BSON documents one behind another and travels beside the JSON; `sha256` is of it. Of a
    table that is sampled when the run begins it is empty until then, `row_count` 0 and `sha256` ""; `sample` says what
    it takes, which the engine needs not know.
    """

    name: str
    columns: Names
    row_count: Count
    sha256: str
    order: Literal["random", "in_turn"]
    at_end: Literal["again", "stop", "error"]
    scope: Literal["shared", "worker"]
    content: bytes = Field(default=b"", exclude=True, repr=False)
    sample: Sampled | None = Field(default=None, exclude=True)

    def with_rows(self, content: bytes, row_count: int) -> "TablePlan":
        """The table with its rows."""
        digest = hashlib.sha256(content).hexdigest() if content else ""
        return self.model_copy(update={"content": content, "row_count": row_count, "sha256": digest})


class NamedValue(Part):
    """A value that has a name; it refers to earlier ones only."""

    name: str
    value: Expression


class Expectation(Part):
    """What a reply must say: a count of documents, `n` or modified within bounds, or a field that equals a value.

    `n` is what was matched, inserted or deleted. `path` leads from the top of the reply; numbers are places in arrays.
    `equals` is a BSON element's type and value in hex, `value` a value of the operation. `matches` is a regular
    expression that is found in a text, `contains` a text that stands in it.
    """

    what: Literal["documents", "n", "modified", "field"]
    path: Names = ()
    min: int | float | None = None
    max: int | float | None = None
    equals: Hex | None = None
    value: Expression | None = Field(default=None, exclude_if=lambda value: value is None)
    matches: str | None = Field(default=None, exclude_if=lambda value: value is None)
    contains: str | None = Field(default=None, exclude_if=lambda value: value is None)


class SavedValue(Part):
    """What is kept of a reply: what stands at `path` in its first document, or in the reply itself.

    With a `pattern` it is the first group of this regular expression in the text that stands there.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    slot: Number
    path: Names
    source: Literal["document", "reply"] = Field(alias="from")
    default: Hex | None = None
    pattern: str | None = Field(default=None, exclude_if=lambda value: value is None)


class Step(Part):
    """One command. `body` is the document that is sent, its name first.

    `statements` are documents of an insert, statements of an update or delete. `counter` is the server's opcounter.
    `retryable`: it inserts, or changes one document, so that the server knows it again where it is sent once more.
    A transaction is its steps, the first "begin", and a `commitTransaction` at the end. Times are nanoseconds.

    With a `request` it is one of another protocol: `command` is what the server counts, `body` the list of its slots.
    """

    name: str
    command: str
    database: str
    collection: str | None
    access: Literal["read", "write", "command"]
    body: Expression
    statements: Number = 1
    counter: Literal["query", "insert", "update", "delete", "command"]
    retryable: bool = False
    batch_size: Number | None = None
    cursor: bool = False
    transaction: Literal["begin", "inside", "commit"] | None = None
    think_time: ThinkTime | None = None
    expect: Annotated[tuple[Expectation, ...], Field(strict=False)] = ()
    save: Annotated[tuple[SavedValue, ...], Field(strict=False)] = ()
    request: Request | None = Field(default=None, exclude_if=lambda value: value is None)


class OperationPlan(Part):
    """An operation of one or more steps. `weight` is its share; 0 where it has a load of its own."""

    name: str
    weight: float
    steps: Annotated[tuple[Step, ...], Field(strict=False, min_length=1)]


class OwnLoad(Part):
    """A load beside the plan's own: when the operations of these places are due, on connections of their own."""

    operations: Annotated[tuple[Number, ...], Field(strict=False)]
    pacer: PacerPlan
    connections: Number


class OperationsWork(Part):
    """A person's own operations. `saved` names the values that steps save; steps name them by place."""

    kind: Literal["operations"] = "operations"
    collections: Annotated[tuple[CollectionPlan, ...], Field(strict=False)]
    tables: Annotated[tuple[TablePlan, ...], Field(strict=False)]
    values: Annotated[tuple[NamedValue, ...], Field(strict=False)]
    saved: Names
    operations: Annotated[tuple[OperationPlan, ...], Field(strict=False, min_length=1, max_length=OPERATIONS_MAX)]
    loads: Annotated[tuple[OwnLoad, ...], Field(strict=False)] = ()

    @property
    def shares(self) -> dict[str, float]:
        """The weight of each operation by its name."""
        return {operation.name: operation.weight for operation in self.operations}

    def with_tables(self, contents: Mapping[str, tuple[bytes, int]]) -> "OperationsWork":
        """The work with the rows of tables by name: their BSON documents one behind another, and how many there are."""
        return self.model_copy(
            update={
                "tables": tuple(
                    table.with_rows(*contents[table.name]) if table.name in contents else table for table in self.tables
                )
            }
        )

    def table_contents(self) -> list[bytes]:
        """The rows of each table, as the native module takes them beside the plan."""
        return [table.content for table in self.tables]
