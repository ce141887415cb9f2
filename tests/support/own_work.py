"""Plans of operations that are their author's own, made by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

import bson

from brimline.plan import Plan
from tests.unit.record.samples import plan

COUNTERS = {"find": "query", "insert": "insert", "update": "update", "delete": "delete"}
WRITES = ("insert", "update", "delete", "findAndModify")


def constant(value: Mapping[str, Any]) -> dict[str, Any]:
    """An expression that is always the same document."""
    return {"kind": "bson", "hex": "03" + bson.encode(dict(value)).hex()}


def step(command: str, collection: str = "orders", **changes: Any) -> dict[str, Any]:
    """A step as plans have them; its body says no more than its name and its collection."""
    values = {
        "name": f"{command} {collection}",
        "command": command,
        "database": "shop",
        "collection": collection,
        "access": "write" if command in WRITES else "read",
        "body": constant({command: collection}),
        "counter": COUNTERS.get(command, "command"),
        "cursor": command in ("find", "aggregate"),
    }
    return values | changes


def own_plan(
    operations: Mapping[str, Sequence[dict[str, Any]]],
    *,
    weights: Mapping[str, float] | None = None,
    loads: Sequence[dict[str, Any]] = (),
    values: Sequence[dict[str, Any]] = (),
    **changes: Any,
) -> Plan:
    """A plan whose operations are these steps; each has the same share, unless `weights` say otherwise."""
    shares = weights or {}
    work = {
        "kind": "operations",
        "collections": [],
        "tables": [],
        "values": list(values),
        "saved": [],
        "operations": [
            {"name": name, "weight": shares.get(name, 1.0), "steps": list(steps)} for name, steps in operations.items()
        ],
        "loads": list(loads),
    }
    return plan(work=work, **changes)


SHOP = {
    "latest_orders": [step("find")],
    "place_order": [step("find", "customers"), step("insert"), step("update", "stock")],
    "revenue": [step("aggregate")],
}
"""Three operations, the second of several steps."""
