"""Owns what a growth experiment costs in time and room on disk, to be said and checked before it starts."""

import math
from dataclasses import dataclass

from brimline.doctor.check import Status
from brimline.doctor.disk import free_at_server, free_below, server_disk
from brimline.errors import UsageError
from brimline.experiments.cost import StageCost, TimeEstimate
from brimline.experiments.growth.order import GrowthSettings, IndexSet, Protocol
from brimline.servers import Deployment, control_client
from brimline.spec.data import DataSpec
from brimline.units import format_bytes, format_count
from brimline.wording import message

ASSUMED_LOAD_BYTES_PER_S = 20e6
ASSUMED_QUERIES_PER_S = 10_000.0
ASSUMED_BATCH_S = 0.3
"""Connecting, looking at the server and writing the record."""
CONTROLS_PER_STEP = 2
"""Of the import, before and after it."""
ASSUMED_RESTART_S = 5.0
_INDEX_KEY_BYTES = 32
"""Of the index on `_id`, without prefix compression."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthCost:
    """About how long it takes, and the most room that its data take, indexes with them."""

    time: TimeEstimate
    data_bytes: int


def growth_cost(settings: GrowthSettings, data: DataSpec) -> GrowthCost:
    """The cost without surprises; a server that is slower takes longer, and says so from step to step."""
    sets = len(settings.indexes)
    steps = len(settings.volumes) * sets
    batches = steps * settings.batches_per_step
    queries = sum(settings.queries) * len(settings.connections) * settings.repeats * steps
    document = data.document_bytes_max
    load_s = sets * settings.to_records * document / ASSUMED_LOAD_BYTES_PER_S + (
        steps * CONTROLS_PER_STEP * ASSUMED_BATCH_S
    )
    restart_s = 0.0 if settings.protocol is Protocol.HOT else ASSUMED_RESTART_S
    query_s = queries / ASSUMED_QUERIES_PER_S + batches * (ASSUMED_BATCH_S + restart_s)
    data_bytes = settings.to_records * (document + max(_index_bytes(each, data) for each in settings.indexes))
    time = TimeEstimate(
        typical_s=load_s + query_s,
        max_s=math.inf,
        stages=(StageCost("load", steps, load_s / steps), StageCost("query", batches, query_s / batches)),
        further=(
            message(
                "at {rate}/s of import and {queries} queries/s",
                rate=format_bytes(ASSUMED_LOAD_BYTES_PER_S),
                queries=format_count(round(ASSUMED_QUERIES_PER_S)),
            ),
            message("up to {size} on disk", size=format_bytes(data_bytes)),
        ),
    )
    return GrowthCost(time=time, data_bytes=data_bytes)


def require_room(cost: GrowthCost, deployment: Deployment) -> None:
    """Raises UsageError where the server's disk hasn't the room; a server that doesn't say is trusted."""
    free: int | None
    if deployment.own is not None:
        free = free_below(deployment.own.data_directory)
    else:
        with control_client(deployment.address, access=deployment.access, purpose="growth") as client:
            free = free_at_server(client)
    check = server_disk(
        f"at {deployment.address}",
        free_bytes=free,
        planned_bytes=cost.data_bytes,
        own_server=deployment.own is not None,
    )
    if check.status is Status.FAIL:
        raise UsageError(f"the data won't fit: {check.evidence}", hint="give a smaller --to, or free some")


def _index_bytes(indexes: IndexSet, data: DataSpec) -> int:
    fields = {IndexSet.PRIMARY: 0, IndexSet.SINGLE: 1, IndexSet.COMPOUND: 2}[indexes]
    return _INDEX_KEY_BYTES + data.first_fields_bytes_max(fields)
