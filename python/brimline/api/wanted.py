"""Owns what a spec wants of the collections that it has a shape for: their documents, and what they are besides."""

from brimline.dataset import Definition
from brimline.execution import WantedData
from brimline.plan import TargetPlan, load_plans
from brimline.spec import Spec
from brimline.spec.own import CollectionSpec


def wanted_data(spec: Spec, *, target: TargetPlan) -> tuple[WantedData, ...]:
    """The data of each collection, in order; none where all exist already."""
    loads = load_plans(spec, target=target)
    if not spec.is_own:
        return tuple(WantedData(load=load) for load in loads)
    shapes = spec.shapes.values()
    return tuple(
        WantedData(load=load, definition=_definition(shape)) for load, shape in zip(loads, shapes, strict=True)
    )


def _definition(shape: CollectionSpec) -> Definition:
    return Definition.of(
        options=shape.create_options,
        indexes=[{**index.create_options, "key": index.keys} for index in shape.indexes],
        shard_key=shape.shard_key,
    )
