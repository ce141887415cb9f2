"""Owns taking away what a run has inserted, however the run ended, and saying what is left where that can't be.

A run that inserts leaves documents behind, and the next run of the same workload would meet its own keys. Every record
is a function of its index, so the keys to take away are known without having been written down.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from brimline import _native, dataset
from brimline.dataset.access import DataDatabase, target_errors
from brimline.dataset.inspection import Inspection, State
from brimline.errors import TargetError
from brimline.execution.database import database_of
from brimline.execution.execute import RunContext
from brimline.execution.stop import StopToken
from brimline.plan import Plan
from brimline.units import format_count

DELETE_CHUNK = 10_000
"""Most records that one command deletes."""
_ANSWERS_WITHIN_S = 2.0
"""A server that went away during the run is not waited for as one that is to be measured."""
_GOES_AWAY = "the next run of this workload takes them away before it begins, and brimline load does"


@contextmanager
def putting_back(plan: Plan, context: RunContext) -> Iterator[None]:
    """Around a run of `plan`: what it inserted is taken away when the block ends, however it does.

    It says what is left where it was asked to end at once, where the server is gone, and in data that it doesn't know:
    the run is measured, and nothing here costs it.
    """
    try:
        yield
    finally:
        _put_back(plan, context)


def _put_back(plan: Plan, context: RunContext) -> None:
    deployment = context.deployment
    if deployment is None or plan.target.kind == "null":
        return
    if plan.work.kind != "mix" or plan.work.proportions.insert == 0:
        return
    namespace = f"{plan.namespace.database}.{plan.namespace.collection}"
    warn = context.progress.warning
    if context.stop.urgent:
        warn(f"{namespace} may hold documents that the run inserted: {_GOES_AWAY}")
        return
    try:
        with database_of(plan, deployment, connect_timeout_s=_ANSWERS_WITHIN_S) as database:
            found = dataset.inspect(database, dataset.manifest_for(plan))
            if found.state is State.CHANGED:
                found = restored(database, plan, found, stop=context.stop)
    except TargetError as error:
        if deployment.binary is None:  # one of brimline's own is gone with all that it held
            warn(f"{namespace} may hold documents that the run inserted ({error.message}): {_GOES_AWAY}")
        return
    left = found.document_count - plan.data.record_count
    if found.state is State.CHANGED and left > 0:
        warn(f"{namespace} holds {format_count(left)} documents beyond those that were loaded: {_GOES_AWAY}")
    elif found.state in (State.FOREIGN, State.OTHER):
        warn(f"what the run inserted stays in {namespace}, whose documents are not those that its workload loads")


def restored(database: DataDatabase, plan: Plan, found: Inspection, *, stop: StopToken) -> Inspection:
    """Deletes records beyond the loaded ones, ten thousand indices at a time, until none is left.

    What is found afterwards; some are left where `stop` is urgent. Raises TargetError.
    """
    wanted = dataset.manifest_for(plan)
    surplus = found.document_count - len(wanted.records)
    first = wanted.records.stop
    while surplus > 0 and not stop.urgent:
        records = range(first, first + DELETE_CHUNK)
        deleted = delete_records(database, plan, records, doing="removing the documents of an earlier run")
        if deleted == 0:
            break
        surplus -= deleted
        first += DELETE_CHUNK
    return dataset.inspect(database, wanted)


def delete_records(database: DataDatabase, plan: Plan, records: range, *, doing: str) -> int:
    """Deletes records of the plan's data, at most `DELETE_CHUNK`; how many there were. Raises TargetError."""
    keys = _native.generate_keys(plan.canonical_json(), records.start, len(records))
    with target_errors(doing):
        return int(database[plan.namespace.collection].delete_many({"_id": {"$in": keys}}).deleted_count)
