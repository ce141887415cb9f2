"""Owns the data under a run: loaded when it has to be, proven, and brought back after runs that insert.

A run that inserts leaves documents behind, and the next run of the same workload would meet its own keys. Every record
is a function of its index, so the keys to take away are known without having been written down.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from brimline import _native, dataset
from brimline.dataset.access import DataDatabase, target_errors
from brimline.dataset.inspection import Inspection, State
from brimline.errors import InvalidRun, UsageError
from brimline.execution.execute import RunContext, execute
from brimline.plan import Plan
from brimline.record import RunRecord
from brimline.servers import Deployment, control_client

_RESTORE_CHUNK = 10_000


class DataPolicy(StrEnum):
    """What a run does about the data it needs."""

    CHECK = "check"  # it must be there, else the run is refused
    LOAD = "load"  # it is loaded when it isn't there
    AS_IS = "as-is"  # whatever is there is taken


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """A finished load: its record, and how many documents the server counted."""

    record: RunRecord
    document_count: int
    namespace: str


def load_data(plan: Plan, *, directory: Path, context: RunContext, drop: bool = False) -> LoadReport:
    """Empties the collection, executes `plan`, a load, and has the server count the result.

    Raises:
        UsageError: the collection holds documents of somebody else, and `drop` is False.
        InvalidRun: the collection doesn't hold exactly the intended documents.
        TargetError, RecordError: as `execute`.
    """
    namespace = f"{plan.namespace.database}.{plan.namespace.collection}"
    manifest = dataset.manifest_for(plan)
    with _database(plan, context.deployment) as database:
        dataset.prepare(database, manifest, drop=drop)
        record = execute(plan, directory=directory, title=f"loading {namespace}", context=context)
        if not record.complete:
            return LoadReport(record=record, document_count=0, namespace=namespace)
        context.progress.step("counting the documents")
        try:
            finished = dataset.complete(database, manifest)
        except InvalidRun as error:
            raise InvalidRun(error.message, hint=_load_hint(record) or error.hint) from error
    return LoadReport(record=record, document_count=finished.count or 0, namespace=namespace)


def ensure_data(
    plan: Plan,
    load: Plan,
    *,
    policy: DataPolicy,
    make_directory: Callable[[], Path],
    context: RunContext,
    drop: bool = False,
) -> LoadReport | None:
    """Sees to it that the collection holds the data of `plan`; None when nothing had to be loaded.

    Raises:
        UsageError: the data isn't there and may not be loaded; says what is there instead.
        InvalidRun, TargetError, RecordError: as `load_data`.
    """
    if policy is DataPolicy.AS_IS or context.deployment is None:
        return None
    with _database(plan, context.deployment) as database:
        found = dataset.inspect(database, dataset.manifest_for(plan))
        if found.state is State.CHANGED:
            found = _restored(database, plan, found)
    if found.ready:
        return None
    if policy is DataPolicy.CHECK:
        raise UsageError(
            found.explanation, hint="load the workload first (brimline load), or give --data load or --data as-is"
        )
    return load_data(load, directory=make_directory(), context=context, drop=drop)


def restore_data(plan: Plan, *, deployment: Deployment | None) -> None:
    """Takes away what a run of `plan` has inserted, if it inserts. Raises TargetError."""
    if deployment is None or plan.work.kind != "mix" or plan.work.proportions.insert == 0:
        return
    with _database(plan, deployment) as database:
        wanted = dataset.manifest_for(plan)
        found = dataset.inspect(database, wanted)
        if found.state is State.CHANGED:
            _restored(database, plan, found)


def _restored(database: DataDatabase, plan: Plan, found: Inspection) -> Inspection:
    """Deletes records beyond the loaded ones, ten thousand indices at a time, until none is left."""
    wanted = dataset.manifest_for(plan)
    collection = database[plan.namespace.collection]
    surplus = found.document_count - len(wanted.records)
    first = wanted.records.stop
    while surplus > 0:
        keys = _native.generate_keys(plan.canonical_json(), first, _RESTORE_CHUNK)
        with target_errors("removing the documents of an earlier run"):
            deleted = collection.delete_many({"_id": {"$in": keys}}).deleted_count
        if deleted == 0:
            break
        surplus -= deleted
        first += _RESTORE_CHUNK
    return dataset.inspect(database, wanted)


def _load_hint(record: RunRecord) -> str | None:
    """The first failure of the load, which is why documents are missing."""
    errors = record.summary["errors"] if record.summary else []
    return f"the server said: {errors[0]['example']}" if errors else None


@contextmanager
def _database(plan: Plan, deployment: Deployment | None) -> Iterator[DataDatabase]:
    if deployment is None:
        raise UsageError("data can only be loaded into a server", hint="give --uri, or leave the target out")
    with control_client(deployment.address, purpose="data") as client:
        yield client[plan.namespace.database]
