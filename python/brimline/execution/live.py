"""Owns live collections that a workload takes as they are: looked at before a run, and never changed by it."""

from collections.abc import Sequence

from brimline import dataset
from brimline.dataset.access import collection_exists, target_errors
from brimline.dataset.inspection import State
from brimline.errors import UsageError
from brimline.execution.database import database_named, database_of
from brimline.execution.effects import live_collections
from brimline.execution.execute import RunContext
from brimline.execution.wanted import WantedData
from brimline.plan import Plan


def require_live_collections(plan: Plan, context: RunContext) -> None:
    """Raises UsageError where a collection that brimline doesn't load isn't there, and TargetError."""
    if context.deployment is None:
        return
    for (database_name, name), where in live_collections(plan).items():
        with (
            database_named(database_name, context.deployment) as database,
            target_errors("looking for the collection"),
        ):
            is_there = collection_exists(database, name)
        if not is_there:
            raise UsageError(
                f"{where} needs {database_name}.{name}, which isn't there",
                hint="correct its name, or give the collection a shape, such as records: 100k; nothing was sent",
            )


def foreign_collections(wanted: Sequence[WantedData], context: RunContext) -> list[tuple[str, str]]:
    """Database and name of each that holds documents which brimline did not load. Raises TargetError."""
    found = []
    for each in wanted:
        with database_of(each.load, context.deployment) as database:
            if dataset.inspect(database, each.manifest).state is State.FOREIGN:
                found.append((database.name, each.load.namespace.collection))
    return found
