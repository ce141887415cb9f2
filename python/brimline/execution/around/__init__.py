"""Owns what is asked of a target before, during and after a run: one class for each protocol, and nothing else of it.

A new protocol is a class here and a line in `_BY_PROTOCOL`.
"""

from collections.abc import Mapping

from brimline.execution.around.base import Around
from brimline.execution.around.database import AroundDatabase
from brimline.execution.around.mongodb import AroundMongodb
from brimline.execution.around.service import AroundService
from brimline.plan import NullTarget, Plan
from brimline.servers import Deployment
from brimline.servers.target_uri import ProtocolName

_BY_PROTOCOL: Mapping[ProtocolName, type[Around]] = {
    "mongodb": AroundMongodb,
    "http": AroundService,
    "mysql": AroundDatabase,
    "postgres": AroundDatabase,
}


def around(plan: Plan, deployment: Deployment | None) -> Around:
    """What is asked of the target of `plan`; nothing where it is no server, as when a search looks at its generator."""
    if deployment is None or isinstance(plan.target, NullTarget):
        return Around(plan, None)
    return _BY_PROTOCOL[deployment.protocol](plan, deployment)


__all__ = ["Around", "around"]
