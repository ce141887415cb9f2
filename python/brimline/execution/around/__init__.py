"""Owns what is asked of a target before, during and after a run: one class for each protocol, nothing else of it."""

from brimline.execution.around.base import Around
from brimline.plan import NullTarget, Plan
from brimline.servers import Deployment


def around(plan: Plan, deployment: Deployment | None) -> Around:
    """What is asked of the target of `plan`; nothing where it is no server, as when a search looks at its generator."""
    from brimline.execution.protocols import PROTOCOLS  # whose keepers execute plans as well

    if deployment is None or isinstance(plan.target, NullTarget):
        return Around(plan, None)
    return PROTOCOLS[deployment.protocol].around(plan, deployment)


__all__ = ["Around", "around"]
