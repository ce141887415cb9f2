"""Owns the way from a plan to the database that holds its data."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager

from brimline import dataset
from brimline.dataset.access import WORK_WITHIN_S, DataDatabase
from brimline.errors import UsageError
from brimline.plan import Plan
from brimline.servers import Deployment, control_client, primary_now
from brimline.servers.deployment import CONNECT_TIMEOUT_S

ANSWERS_WITHIN_S = 2.0
"""A server that went away during the run is not waited for as one that is to be measured."""


def database_of(
    plan: Plan, deployment: Deployment | None, *, connect_timeout_s: float = CONNECT_TIMEOUT_S
) -> AbstractContextManager[DataDatabase]:
    """The database of a plan; see `database_named`."""
    return database_named(plan.namespace.database, deployment, connect_timeout_s=connect_timeout_s)


@contextmanager
def database_named(
    name: str,
    deployment: Deployment | None,
    *,
    purpose: str = "data",
    connect_timeout_s: float = CONNECT_TIMEOUT_S,
) -> Iterator[DataDatabase]:
    """A database, with time for commands that count. Raises UsageError without a server.

    Of a replica set that is followed, it is that of the member which is the primary now.
    """
    if deployment is None:
        raise UsageError("data can only be loaded into a server", hint="give --uri, or leave the target out")
    deployment = primary_now(deployment, connect_timeout_s=connect_timeout_s)
    with ExitStack() as open_clients:
        clients = [
            open_clients.enter_context(
                control_client(
                    address,
                    access=deployment.access,
                    purpose=purpose,
                    connect_timeout_s=connect_timeout_s,
                    command_timeout_s=WORK_WITHIN_S,
                )
            )
            for address in (deployment.address, *deployment.shards)
        ]
        databases = [client[name] for client in clients]
        yield databases[0] if len(databases) == 1 else dataset.routed(databases)
