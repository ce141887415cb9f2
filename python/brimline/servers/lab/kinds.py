"""Owns what is known of running servers by their role: how they are asked, and how they end in good order."""

import signal
from collections.abc import Callable
from dataclasses import dataclass

from brimline.servers.lab import mongodb, order_service, sql_access
from brimline.servers.lab.state import Lab, LabServer, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """`answers` tells whether a server of a lab does; `stop_signal` ends it in good order, after `before_stop`."""

    product: str
    answers: Callable[[Lab, LabServer], bool]
    stop_signal: signal.Signals = signal.SIGTERM
    before_stop: Callable[[Lab, LabServer], None] = lambda *_: None


_MONGODB = Kind(
    product="mongod",
    answers=lambda lab, server: mongodb.answers(lab, server.address),
    before_stop=mongodb.shorten_farewell,
)
_OTHERS: dict[Role, Kind] = {
    "mariadb": Kind(product="MariaDB", answers=sql_access.answers),
    # SIGTERM waits until the last client has gone.
    "postgres": Kind(product="PostgreSQL", answers=sql_access.answers, stop_signal=signal.SIGINT),
    "service": Kind(product="order service", answers=lambda _, server: order_service.answers(server)),
}


def kind_of(role: Role) -> Kind:
    """What is known of servers of that role."""
    return _OTHERS.get(role, _MONGODB)
