"""Owns data with a secondary index of its own: made before the documents come, and looked for afterwards."""

from collections.abc import Sequence

from brimline import dataset
from brimline.dataset.access import DataDatabase, indexes_of
from brimline.errors import UsageError
from brimline.execution.data import MakeDirectory
from brimline.execution.database import database_of
from brimline.execution.ensure import DataPolicy
from brimline.execution.execute import RunContext
from brimline.execution.grown_data import extend_data
from brimline.plan import Plan
from brimline.record import RunRecord


def ensure_indexed_data(
    load: Plan,
    *,
    fields: Sequence[str],
    policy: DataPolicy,
    make_directory: MakeDirectory,
    context: RunContext,
    drop: bool,
) -> RunRecord | None:
    """Sees to it that the collection holds the data of `load` and one index over `fields`; None when it did.

    Whatever of it is missing, the collection is made anew. Raises as `execution.ensure_data`.
    """
    wanted = dataset.manifest_for(load)
    with database_of(load, context.deployment) as database:
        found = dataset.inspect(database, wanted)
        if found.ready and _own_indexes(database, wanted.collection) == [list(fields)]:
            return None
    if policy is not DataPolicy.LOAD:
        name = f"{load.namespace.database}.{load.namespace.collection}"
        raise UsageError(f"{name} isn't there with an index over {', '.join(fields)}", hint="give --data load")
    indexes = [dict.fromkeys(fields, 1)]
    return extend_data(load, there=0, indexes=indexes, make_directory=make_directory, context=context, drop=drop)


def _own_indexes(database: DataDatabase, collection: str) -> list[list[str]]:
    """The fields of each index besides that of `_id`."""
    return [list(keys) for name, keys in indexes_of(database, collection).items() if name != "_id_"]
