"""Owns finding the target that an address means, whatever it speaks: one line for each protocol."""

from collections.abc import Callable

from brimline.servers.database import database
from brimline.servers.deployment import Deployment
from brimline.servers.external import external
from brimline.servers.password import PasswordSource
from brimline.servers.service import service
from brimline.servers.target_uri import protocol_of


def found(
    uri: str, *, password: PasswordSource | None = None, say: Callable[[str], None] = lambda _: None
) -> Deployment:
    """The server behind `uri`, which has answered. `say` is told of members of a set that don't.

    Raises UsageError and TargetError as `external`, `service` and `database`.
    """
    match protocol_of(uri):
        case "http":
            return service(uri, password=password)
        case "mysql" | "postgres":
            return database(uri, password=password)
    return external(uri, password=password, say=say)
