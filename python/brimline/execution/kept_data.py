"""Owns what surrounds a run in its data: what it inserted is taken away, however it ended, and what is left is said."""

from collections.abc import Iterator
from contextlib import contextmanager

from brimline import dataset
from brimline.dataset.inspection import State
from brimline.errors import TargetError
from brimline.execution.database import ANSWERS_WITHIN_S, database_of
from brimline.execution.execute import RunContext
from brimline.execution.put_back import IS_GONE, own_data_kept
from brimline.execution.restoring import restored
from brimline.plan import Plan
from brimline.plan.operations import OperationsWork
from brimline.units import counted

_GOES_AWAY = "the next run of this workload takes them away before it begins, and brimline load does"


@contextmanager
def putting_back(plan: Plan, context: RunContext) -> Iterator[None]:
    """Around a run of `plan`: what it inserted is taken away when the block ends, however it does.

    It says what is left where it was asked to end at once, where the server is gone, and in data that it doesn't know:
    the run is measured, and nothing here costs it. Of a person's own operations see `put_back`.
    """
    if context.deployment is None or plan.target.kind == "null":
        yield
        return
    if isinstance(plan.work, OperationsWork):
        with own_data_kept(plan, plan.work, context):
            yield
        return
    try:
        yield
    finally:
        _put_back(plan, context)


def _put_back(plan: Plan, context: RunContext) -> None:
    deployment = context.deployment
    if deployment is None:
        return
    if plan.work.kind != "mix" or plan.work.proportions["insert"] == 0:
        return
    namespace = f"{plan.namespace.database}.{plan.namespace.collection}"
    warn = context.progress.warning
    if context.stop.urgent:
        warn(f"{namespace} may hold documents that the run inserted: {_GOES_AWAY}")
        return
    try:
        with database_of(plan, deployment, connect_timeout_s=ANSWERS_WITHIN_S) as database:
            found = dataset.inspect(database, dataset.manifest_for(plan))
            if found.state is State.CHANGED:
                found = restored(database, plan, found, stop=context.stop)
    except TargetError as error:
        if not deployment.is_own:  # one of brimline's own is gone with all that it held
            warn(f"{namespace} may hold documents that the run inserted ({error.message}): {_GOES_AWAY}")
        return
    if found.is_gone:
        warn(f"{namespace} {IS_GONE}")
    left = found.document_count - plan.data.record_count
    if found.state is State.CHANGED and left > 0:
        warn(f"{namespace} holds {counted(left, 'document')} beyond those that were loaded: {_GOES_AWAY}")
    elif found.state in (State.FOREIGN, State.OTHER):
        warn(f"what the run inserted stays in {namespace}, whose documents are not those that its workload loads")
