"""Owns what the steps of a person's own operations do to collections, told from the plan alone.

What a run inserted under keys or ids of its own can be taken away again. Whatever else changes a collection makes it
another one.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from brimline.errors import UsageError
from brimline.plan import Plan
from brimline.plan.expressions import (
    DocumentExpression,
    Expression,
    ListExpression,
    NewKeyExpression,
    NewRecordExpression,
    ObjectIdExpression,
    RepeatedExpression,
)
from brimline.plan.known import resolved, written_by_pipeline
from brimline.plan.operations import OperationsWork, Step

_WITHOUT_EFFECT: Final = frozenset(
    {
        "buildinfo", "buildInfo", "collstats", "collStats", "commitTransaction", "connectionStatus", "count",
        "currentOp", "dataSize", "datasize", "dbHash", "dbhash", "dbstats", "dbStats", "distinct", "explain",
        "find", "getParameter", "hello", "hostInfo", "ismaster", "isMaster", "listCollections",
        "listCommands", "listDatabases", "listIndexes", "ping", "serverStatus", "top", "whatsmyuri",
    }
)  # fmt: skip
"""Commands that are known to change nothing, whatever they carry; `validate` may repair."""


class Effect(StrEnum):
    """What a step does to a collection, the least first."""

    KEYS = "keys"  # inserts the records that follow those that were loaded
    IDS = "ids"  # inserts documents under ids of the run
    CHANGE = "change"  # anything else: afterwards it is another collection


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """A step that writes. `collection` is None where it may be any, or the server itself."""

    operation: str
    step: str
    database: str
    collection: str | None
    effect: Effect

    @property
    def namespace(self) -> str:
        """`database.collection`, or the database alone."""
        return self.database if self.collection is None else f"{self.database}.{self.collection}"


def writes(plan: Plan) -> list[Write]:
    """What the steps of `plan` write, in order; nothing of a plan without a person's own operations."""
    if not isinstance(plan.work, OperationsWork):
        return []
    return [
        Write(operation=operation.name, step=step.name, database=database, collection=collection, effect=effect)
        for operation in plan.work.operations
        for step in operation.steps
        for database, collection, effect in _of_step(step, plan.work)
    ]


def effects_on(plan: Plan, database: str, collection: str) -> frozenset[Effect]:
    """What the steps of `plan` do to one collection."""
    return frozenset(
        each.effect
        for each in writes(plan)
        if each.collection is None or (each.database, each.collection) == (database, collection)
    )


def loaded_namespaces(plan: Plan) -> frozenset[tuple[str, str]]:
    """Database and collection of all that brimline loads for `plan`."""
    if not isinstance(plan.work, OperationsWork):
        return frozenset()
    return frozenset((each.database, each.collection) for each in plan.work.collections)


def require_writes_allowed(plan: Plan, *, not_ours: Sequence[tuple[str, str]] = ()) -> None:
    """Raises UsageError where a step writes to a collection that brimline did not load, or to one of `not_ours`."""
    ours = loaded_namespaces(plan) - set(not_ours)
    for each in writes(plan):
        if (each.database, each.collection) in ours:
            continue
        unknown = (
            ", so that it isn't known either whether the server has this command" if each.collection is None else ""
        )
        where = each.namespace if each.collection is not None else f"the server, database {each.database}"
        raise UsageError(
            f"operations.{each.operation}: the step {each.step} writes to {where}, which brimline did not load",
            hint=f"give --allow-writes if it may be changed; nothing was sent{unknown}",
        )


def live_collections(plan: Plan) -> dict[tuple[str, str], str]:
    """What steps name and brimline does not load: database and collection, with the first step that does so."""
    if not isinstance(plan.work, OperationsWork):
        return {}
    ours = loaded_namespaces(plan)
    found: dict[tuple[str, str], str] = {}
    for operation in plan.work.operations:
        for step in operation.steps:
            if step.collection is not None and (step.database, step.collection) not in ours:
                found.setdefault((step.database, step.collection), f"operations.{operation.name}: the step {step.name}")
    for table in plan.work.tables:
        if table.sample is not None and (table.sample.database, table.sample.collection) not in ours:
            found.setdefault((table.sample.database, table.sample.collection), f"values.{table.name}")
    return found


def needs_saved(step: Step, work: OperationsWork) -> bool:
    """Whether its command holds what an earlier step saved, which isn't known before the run."""
    return holds_expression(step, work, lambda part: part.get("kind") == "saved")


def needs_rows(step: Step, work: OperationsWork, tables: Collection[int]) -> bool:
    """Whether its command holds something of a row of `tables`, by their place."""
    return holds_expression(step, work, lambda part: part.get("kind") in ("cell", "row") and part["table"] in tables)


def holds_expression(step: Step, work: OperationsWork, is_wanted: Callable[[dict[str, Any]], bool]) -> bool:
    """Whether some expression is, also behind a name."""

    def holds(part: Any, values: Sequence[Any]) -> bool:
        if isinstance(part, dict):
            named = part["index"] if part.get("kind") == "value" else None
            return (
                is_wanted(part)
                or (named is not None and holds(values[named], values[:named]))
                or any(holds(each, values) for each in part.values())
            )
        return isinstance(part, list | tuple) and any(holds(each, values) for each in part)

    return holds(step.body.model_dump(), [each.value.model_dump() for each in work.values])


def _of_step(step: Step, work: OperationsWork) -> Iterator[tuple[str, str | None, Effect]]:
    if step.command == "aggregate":
        for database, collection in written_by_pipeline(step, work):
            yield database, collection, Effect.CHANGE
    elif step.command == "insert" and step.collection is not None:
        for document in _inserted(step.body, work):
            yield step.database, step.collection, _effect_of_insert(document, step, work)
    elif step.command not in _WITHOUT_EFFECT:  # whatever its access, which says where it goes
        yield step.database, step.collection, Effect.CHANGE


def _inserted(body: Expression, work: OperationsWork) -> Iterator[Expression | None]:
    """The documents of an insert, each kind once; None: they can't be told apart from here."""
    listed = _field(body, "documents")
    if listed is not None:
        listed = resolved(listed, work)
    if isinstance(listed, ListExpression):
        yield from (resolved(each, work) for each in listed.items)
    elif isinstance(listed, RepeatedExpression):
        yield resolved(listed.of, work)
    else:
        yield None


def _effect_of_insert(document: Expression | None, step: Step, work: OperationsWork) -> Effect:
    key: NewKeyExpression | NewRecordExpression | None = document if isinstance(document, NewRecordExpression) else None
    if document is not None and key is None:
        named = _field(document, "_id")
        found = None if named is None else resolved(named, work)
        if isinstance(found, ObjectIdExpression):
            return Effect.IDS
        if isinstance(found, NewKeyExpression):
            key = found
    if key is None:
        return Effect.CHANGE
    of = work.collections[key.collection]
    return Effect.KEYS if (of.database, of.collection) == (step.database, step.collection) else Effect.CHANGE


def _field(expression: Expression, name: str) -> Expression | None:
    if not isinstance(expression, DocumentExpression):
        return None
    return next((field.value for field in expression.fields if field.name == name), None)
