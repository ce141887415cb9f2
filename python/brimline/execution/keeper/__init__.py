"""Owns what is done about the data of a target: that they are there before a run, and stay what they are.

There is a class for each protocol. MongoDB's is in `execution.ensure` and the files that it names; what SQL databases
have in common stands in `tables`.
"""

from contextlib import AbstractContextManager

from brimline.execution.execute import RunContext
from brimline.execution.keeper.base import Keeper
from brimline.plan import Plan


def putting_back(plan: Plan, context: RunContext) -> AbstractContextManager[None]:
    """Around a run of `plan`: see `Keeper.kept`."""
    return keeper(context).kept(plan)


def keeper(context: RunContext) -> Keeper:
    """Who keeps the data of the target of `context`; nobody where it is no server."""
    from brimline.execution.protocols import PROTOCOLS  # whose keepers are made of this package

    if context.deployment is None:
        return Keeper(context)
    return PROTOCOLS[context.deployment.protocol].keeper(context)


__all__ = ["Keeper", "keeper", "putting_back"]
