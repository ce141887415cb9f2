"""Owns which part of a plan each node performs, and how many of them can take part."""

from brimline.execution.cluster.node import NodeOrder
from brimline.plan import Plan, Share


def taking_part(plan: Plan, count: int) -> int:
    """How many of `count` nodes have something to do: each needs a connection, and as many workers as the others."""
    most = min(count, plan.connections, plan.in_flight_max or plan.connections)
    if plan.pacer.kind != "tlr":
        return most
    return next(nodes for nodes in range(most, 0, -1) if plan.worker_count % nodes == 0)


def share_orders(plan: Plan, count: int, *, identity: bytes | None) -> list[NodeOrder]:
    """The order of each of `count` nodes: the same plan, of which it has its share."""
    orders = []
    for node in range(count):
        shared = plan.model_copy(update={"share": Share(node=node, nodes=count), "operation_log": False})
        orders.append(NodeOrder(plan=shared, plan_hash=shared.hash8(), identity=identity))
    return orders
