"""Owns data that grows in steps: the next records inserted behind those that are there, or taken away again.

A grown collection has the manifest of a load of all its records, so that after each step it is what a load of that
size would have left.
"""

from collections.abc import Mapping, Sequence

from brimline import dataset
from brimline.dataset.access import WORK_WITHIN_S, DataDatabase, target_errors
from brimline.dataset.inspection import State
from brimline.errors import UsageError
from brimline.execution.data import DELETE_CHUNK, MakeDirectory, database_of, delete_records
from brimline.execution.execute import RunContext, execute
from brimline.plan import Plan, rest_of_load
from brimline.record import RunRecord

Index = Mapping[str, int]
"""Fields of an index with their order: 1 ascending, -1 descending."""


def step_plan(load: Plan, *, there: int) -> Plan:
    """The part of `load` that inserts what comes after the first `there` records."""
    records = dataset.manifest_for(load).records
    return rest_of_load(load, [range(records.start + there, records.stop)])


def extend_data(
    load: Plan, *, there: int, indexes: Sequence[Index], make_directory: MakeDirectory, context: RunContext, drop: bool
) -> RunRecord:
    """Inserts what `load` has beyond its first `there` records; 0: into a collection made anew, with `indexes`.

    The record's load is whole when the server counted what was intended. Raises as `execution.load_data`.
    """
    manifest = dataset.manifest_for(load)
    plan = step_plan(load, there=there)
    with database_of(plan, context.deployment) as database:
        if there:
            dataset.write_manifest(database, manifest)
        else:
            dataset.prepare(database, manifest, drop=drop)
            _index(database, manifest.collection, indexes)
        title = f"loading {plan.namespace.database}.{plan.namespace.collection}"
        record = execute(plan, directory=make_directory(plan), title=title, context=context)
        if record.complete:
            context.progress.step("counting the documents")
            dataset.complete(database, manifest)
    return record


def put_back(
    load: Plan, *, indexes: Sequence[Index], make_directory: MakeDirectory, context: RunContext, drop: bool
) -> None:
    """Sees to it that the collection holds the data of `load` and nothing else, before something is measured on it.

    What a step that was cut short inserted is deleted; what is gone with a server is loaded again, and its record is
    not one of the experiment's. Raises as `execution.load_data`, and UsageError where other data is in the way.
    """
    wanted = dataset.manifest_for(load)
    with database_of(load, context.deployment) as database:
        found = dataset.inspect(database, wanted)
        if found.ready:
            return
        if found.manifest is not None and _grew_from(found.manifest, wanted):
            context.progress.step("taking away what an unfinished step inserted")
            _remove(database, load, range(wanted.records.stop, found.manifest.records.stop))
            dataset.complete(database, wanted)
            return
        if found.state is State.UNFINISHED and found.document_count == len(wanted.records):
            dataset.complete(database, wanted)  # killed between the last document and the proof
            return
        if found.state is State.FOREIGN and not drop:
            raise UsageError(found.explanation, hint="name another collection in the workload, or give --drop")
        dataset.prepare(database, wanted, drop=drop)
        _index(database, wanted.collection, indexes)
        record = execute(load, directory=make_directory(load), title="loading again what was there", context=context)
        if record.complete:
            dataset.complete(database, wanted)


def _grew_from(found: dataset.Manifest, wanted: dataset.Manifest) -> bool:
    """Whether `found` is `wanted` with more records: a step beyond it, whole or not."""
    more = {**wanted.data, "record_count": found.data["record_count"]}
    return found.data == more and len(found.records) > len(wanted.records)


def _remove(database: DataDatabase, load: Plan, records: range) -> None:
    for place in range(0, len(records), DELETE_CHUNK):
        chunk = records[place : place + DELETE_CHUNK]
        delete_records(database, load, chunk, doing="removing the documents of an unfinished step")


def _index(database: DataDatabase, collection: str, indexes: Sequence[Index]) -> None:
    with target_errors("making the indexes", within_s=WORK_WITHIN_S):
        for index in indexes:
            database[collection].create_index(list(index.items()))
