"""Owns what surrounds a run on each kind of server: how one is found, what a plan says of it, what is asked and kept.

A new protocol is a line in `PROTOCOLS`; what it has no function and no class for is not asked, and not kept.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from brimline.execution.around.base import Around
from brimline.execution.around.database import AroundDatabase
from brimline.execution.around.mongodb import AroundMongodb
from brimline.execution.around.service import AroundService
from brimline.execution.keeper.base import Keeper
from brimline.execution.keeper.database import TableKeeper
from brimline.execution.keeper.mongodb import CollectionKeeper
from brimline.execution.keeper.service import ServiceKeeper
from brimline.execution.targets import (
    http_service,
    isolated,
    mongodb_target,
    plain_target,
    require_client,
    sql_database,
    with_headers,
)
from brimline.plan import TargetPlan
from brimline.servers import Deployment
from brimline.servers.database import database
from brimline.servers.external import external
from brimline.servers.password import PasswordSource
from brimline.servers.service import service
from brimline.servers.target_uri import ServerKind, protocol_of
from brimline.spec import Spec

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """What surrounds a run on servers that speak it.

    `found` is the server behind an address, which has answered. `target` is what a plan says of it, `opened` the server
    with what a spec says of it, such as headers. `around` asks it about a run, `keeper` sees to its data.
    """

    found: Callable[[str, PasswordSource | None, Say], Deployment]
    target: Callable[[Spec, Deployment], TargetPlan] = plain_target
    opened: Callable[[Spec, Deployment], Deployment] = lambda _, deployment: deployment
    around: type[Around] = Around
    keeper: type[Keeper] = Keeper


_SQL: Final = Protocol(
    found=lambda uri, password, _: database(uri, password=password),
    target=sql_database,
    opened=isolated,
    around=AroundDatabase,
    keeper=TableKeeper,
)
PROTOCOLS: Final[dict[ServerKind, Protocol]] = {
    "mongodb": Protocol(
        found=lambda uri, password, say: external(uri, password=password, say=say),
        target=mongodb_target,
        around=AroundMongodb,
        keeper=CollectionKeeper,
    ),
    "http": Protocol(
        found=lambda uri, password, _: service(uri, password=password),
        target=http_service,
        opened=with_headers,
        around=AroundService,
        keeper=ServiceKeeper,
    ),
    "mysql": _SQL,
    "postgres": _SQL,
}
"""By what the plan calls such targets; see `spec.own.protocols`."""


def found(uri: str, *, password: PasswordSource | None = None, say: Say = lambda _: None) -> Deployment:
    """The server behind `uri`, which has answered. `say` is told of members of a set that don't.

    Raises UsageError and TargetError as `external`, `service` and `database`.
    """
    return PROTOCOLS[protocol_of(uri)].found(uri, password, say)


def target_on(spec: Spec, deployment: Deployment) -> TargetPlan:
    """What a plan says about this deployment. Raises UsageError where the client that `spec` asks for can't do it."""
    require_client(spec)
    return PROTOCOLS[deployment.protocol].target(spec, deployment)


def opened_for(spec: Spec, deployment: Deployment) -> Deployment:
    """The same with what `spec` says of it: headers with secrets of the environment, isolation. Raises UsageError."""
    return PROTOCOLS[deployment.protocol].opened(spec, deployment)
