"""Owns data that grows in steps: the next records inserted behind those that are there, or taken away again.

A grown collection has the manifest of a load of all its records, so that after each step it is what a load of that
size would have left.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from brimline import dataset
from brimline.dataset.access import WORK_WITHIN_S, DataDatabase, target_errors
from brimline.dataset.inspection import State
from brimline.errors import UsageError
from brimline.execution.data import MakeDirectory, execute_load, replace_collection, require_taken
from brimline.execution.database import database_of
from brimline.execution.execute import Change, RunContext
from brimline.execution.restoring import DELETE_CHUNK, delete_records
from brimline.plan import Plan, rest_of_load
from brimline.record import RunRecord
from brimline.wording import Verbatim, message

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
    manifest = dataset.manifest_for(load, own_indexes=indexes)
    plan = step_plan(load, there=there)
    with database_of(plan, context.deployment) as database:
        if there:
            change: Change = partial(dataset.write_manifest, database, manifest)
        else:
            change = _making_anew(database, load, manifest, context, drop=drop)
        namespace = f"{plan.namespace.database}.{plan.namespace.collection}"
        title = message("loading {namespace}", namespace=Verbatim(namespace))
        return execute_load(plan, manifest, directory=make_directory(plan), title=title, context=context, change=change)


def put_back(
    load: Plan, *, indexes: Sequence[Index], make_directory: MakeDirectory, context: RunContext, drop: bool
) -> None:
    """Sees to it that the collection holds the data of `load` and nothing else, before something is measured on it.

    What a step that was cut short inserted is deleted; what is gone with a server is loaded again, and its record is
    not one of the experiment's. Raises as `execution.load_data`, and UsageError where other data is in the way.
    """
    wanted = dataset.manifest_for(load, own_indexes=indexes)
    with database_of(load, context.deployment) as database:
        found = dataset.inspect(database, wanted)
        if found.ready:
            return
        if found.manifest is not None and not found.is_gone and _grew_from(found.manifest, wanted):
            context.progress.step("taking away what an unfinished step inserted")
            _remove(database, load, range(wanted.records.stop, found.manifest.records.stop))
            dataset.complete(database, wanted)
            return
        if found.state is State.UNFINISHED and found.document_count == len(wanted.records):
            dataset.complete(database, wanted)  # killed between the last document and the proof
            return
        if found.state is State.FOREIGN and not drop:
            raise UsageError(found.explanation, hint="name another collection in the workload, or give --drop")
        change = _making_anew(database, load, wanted, context, drop=drop)
        title = "loading again what was there"
        execute_load(load, wanted, directory=make_directory(load), title=title, context=context, change=change)


def _making_anew(
    database: DataDatabase, load: Plan, manifest: dataset.Manifest, context: RunContext, *, drop: bool
) -> Change:
    """Makes the collection anew with the manifest's indexes and no others, which are what is measured.

    Raises UsageError where it has others and `drop` is False, and as `require_taken` and
    `dataset.replacement`.
    """
    replacement = dataset.replacement(database, manifest, drop=drop)
    measured = dataset.Definition.of(indexes=[{"key": dict(keys)} for keys in manifest.own_indexes])
    own = replace(manifest, asked_indexes=measured.shape.indexes)
    others = replacement.kept.without(dataset.own_names(own, replacement.kept))
    namespace = f"{database.name}.{manifest.collection}"
    if others.indexes and not drop:
        raise UsageError(
            f"{namespace} has indexes that brimline did not make: {', '.join(others.names)}",
            hint="indexes are measured here: name another collection, or give --drop to have them dropped",
        )
    replacement = replace(replacement, kept=replace(replacement.kept, indexes=()))
    require_taken(load, replacement)

    def change() -> None:
        replace_collection(replacement, context)
        if others.indexes:
            context.progress.note(f"dropped the indexes {', '.join(others.names)} of {namespace}")
        _index(database, manifest.collection, manifest.own_indexes)

    return change


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
