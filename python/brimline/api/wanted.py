"""Owns what a spec wants of the collections that it has a shape for: their documents, and what they are besides."""

from collections.abc import Sequence

from brimline.dataset import Definition
from brimline.execution import WantedData
from brimline.plan import Plan, SqlTarget, TargetPlan, load_plans
from brimline.plan.tables import sql_tables
from brimline.spec import Spec
from brimline.spec.own import CollectionSpec


def wanted_data(spec: Spec, *, target: TargetPlan) -> tuple[WantedData, ...]:
    """The data of each collection, in order; none where all exist already."""
    loads = load_plans(spec, target=target)
    if isinstance(target, SqlTarget):
        return _tables(spec, loads, target)
    if not spec.is_own:
        return tuple(WantedData(load=load) for load in loads)
    shapes = spec.shapes.values()
    return tuple(
        WantedData(load=load, definition=_definition(shape)) for load, shape in zip(loads, shapes, strict=True)
    )


def _tables(spec: Spec, loads: Sequence[Plan], target: SqlTarget) -> tuple[WantedData, ...]:
    """The same as tables. YCSB's have no definition: its updates leave them as good as before."""
    definition = Definition() if spec.is_own else None
    made = sql_tables(spec, target.kind)
    return tuple(
        WantedData(load=load, table=table, definition=definition) for load, table in zip(loads, made, strict=True)
    )


def _definition(shape: CollectionSpec) -> Definition:
    return Definition.of(
        options=shape.create_options,
        indexes=[{**index.create_options, "key": index.keys} for index in shape.indexes],
        shard_key=shape.shard_key,
    )
