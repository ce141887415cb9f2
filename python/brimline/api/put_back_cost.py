"""Owns how much has to be put back before each run of an experiment, told from its workload."""

from brimline.execution.effects import Effect, effects_on
from brimline.execution.statement_effects import effects_on_tables
from brimline.experiments.cost import PutBack
from brimline.plan import NullTarget, Plan, resolve
from brimline.plan.operations import CollectionPlan, OperationsWork
from brimline.plan.own import spec_protocol
from brimline.plan.tables import table_names
from brimline.spec import Spec


def put_back_of(spec: Spec) -> PutBack:
    """The documents of the collections that the operations of `spec` change, at most; nothing of other work."""
    return PutBack(_changed_bytes(spec) if spec.is_own else 0)


def _changed_bytes(spec: Spec) -> int:
    plan = resolve(spec, target=NullTarget())
    assert isinstance(plan.work, OperationsWork)  # noqa: S101 - they are its author's own
    changed = {each.name for each in plan.work.collections if Effect.CHANGE in _effects(spec, plan, each)}
    return sum(shape.records * shape.document_bytes_max for name, shape in spec.shapes.items() if name in changed)


def _effects(spec: Spec, plan: Plan, collection: CollectionPlan) -> frozenset[Effect]:
    match spec_protocol(spec, plan.target):
        case "mongodb":
            return effects_on(plan, collection.database, collection.collection)
        case "sql":
            assert isinstance(plan.work, OperationsWork)  # noqa: S101 - it has collections
            return effects_on_tables(plan.work, table_names(spec, collection.name))
        case _:
            return frozenset()  # what is behind a service is its own
