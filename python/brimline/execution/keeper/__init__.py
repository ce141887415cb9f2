"""Owns what is done about the data of a target: that they are there before a run, and stay what they are.

A new protocol is a class here and a line in `_BY_PROTOCOL`. MongoDB's is in `execution.ensure` and the files that it
names; what SQL databases have in common stands in `tables`.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager

from brimline.execution.execute import RunContext
from brimline.execution.keeper.base import Keeper
from brimline.execution.keeper.database import TableKeeper
from brimline.execution.keeper.mongodb import CollectionKeeper
from brimline.execution.keeper.service import ServiceKeeper
from brimline.plan import Plan
from brimline.servers.target_uri import ProtocolName

_BY_PROTOCOL: Mapping[ProtocolName, type[Keeper]] = {
    "mongodb": CollectionKeeper,
    "http": ServiceKeeper,
    "mysql": TableKeeper,
    "postgres": TableKeeper,
}


def putting_back(plan: Plan, context: RunContext) -> AbstractContextManager[None]:
    """Around a run of `plan`: see `Keeper.kept`."""
    return keeper(context).kept(plan)


def keeper(context: RunContext) -> Keeper:
    """Who keeps the data of the target of `context`; nobody where it is no server."""
    if context.deployment is None:
        return Keeper(context)
    return _BY_PROTOCOL[context.deployment.protocol](context)


__all__ = ["Keeper", "keeper", "putting_back"]
