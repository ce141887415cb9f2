"""Owns taking away what runs have inserted behind the records that were loaded.

A run that inserts leaves documents behind, and the next run of the same workload would meet its own keys. Every record
is a function of its index, so the keys to take away are known without having been written down.
"""

from brimline import _native, dataset
from brimline.dataset.access import DataDatabase, target_errors
from brimline.dataset.inspection import Inspection
from brimline.execution.stop import StopToken
from brimline.plan import Plan

DELETE_CHUNK = 10_000
"""Most records that one command deletes."""


def restored(database: DataDatabase, plan: Plan, found: Inspection, *, stop: StopToken) -> Inspection:
    """Deletes records beyond the loaded ones, ten thousand indices at a time, until none is left.

    What is found afterwards; some are left where `stop` is urgent. Raises TargetError.
    """
    wanted = dataset.manifest_for(plan)
    surplus = found.document_count - len(wanted.records)
    if surplus <= 0:
        return found
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
