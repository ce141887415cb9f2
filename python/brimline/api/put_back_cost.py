"""Owns how much has to be put back before each run of an experiment, told from its workload."""

from brimline.execution.effects import Effect, effects_on
from brimline.experiments.cost import PutBack
from brimline.plan import NullTarget, resolve
from brimline.plan.operations import OperationsWork
from brimline.spec import Spec


def put_back_of(spec: Spec) -> PutBack:
    """The documents of the collections that the operations of `spec` change, at most; nothing of other work."""
    return PutBack(_changed_bytes(spec) if spec.is_own else 0)


def _changed_bytes(spec: Spec) -> int:
    plan = resolve(spec, target=NullTarget())
    assert isinstance(plan.work, OperationsWork)  # noqa: S101 - they are its author's own
    changed = {
        each.name for each in plan.work.collections if Effect.CHANGE in effects_on(plan, each.database, each.collection)
    }
    return sum(shape.records * shape.document_bytes_max for name, shape in spec.shapes.items() if name in changed)
