"""Owns any server that somebody else runs, behind a connection string. brimline never starts or stops it."""

from collections.abc import Iterator
from contextlib import contextmanager

from pymongo.errors import ConfigurationError, OperationFailure, PyMongoError

from brimline.errors import TargetError
from brimline.servers.deployment import (
    CONNECT_TIMEOUT_S,
    Client,
    Deployment,
    control_client,
    inspect_deployment,
    refusal,
    unreachable,
)
from brimline.servers.uri import ServerUri, parse_server_uri


def external(uri: str, *, connect_timeout_s: float = CONNECT_TIMEOUT_S) -> Deployment:
    """The server behind `uri`, reached and asked what it is, in bounded time.

    Raises:
        UsageError: the connection string can't be honoured; see `uri.py`.
        TargetError: nothing answers, what answers is no MongoDB server, or it refuses.
    """
    with reached(uri, connect_timeout_s=connect_timeout_s) as (client, server):
        return inspect_deployment(client, address=server.address, uri_redacted=server.redacted)


@contextmanager
def reached(
    uri: str, *, purpose: str = "control", connect_timeout_s: float = CONNECT_TIMEOUT_S
) -> Iterator[tuple[Client, ServerUri]]:
    """A client of the server behind `uri`, which has answered; closed at the end of the `with` block.

    Raises:
        UsageError: the connection string can't be honoured; see `uri.py`.
        TargetError: nothing answers, or what answers is no MongoDB server.
    """
    server = parse_server_uri(uri)
    with control_client(server.address, purpose=purpose, connect_timeout_s=connect_timeout_s) as client:
        try:
            client.admin.command("ping")
        except OperationFailure as error:
            raise refusal(error, server.redacted) from error
        except ConfigurationError as error:
            raise TargetError(
                f"the server at {server.redacted} speaks too old or too new a version of the protocol",
                hint="MongoDB 4.4 to 8.x are supported",
            ) from error
        except PyMongoError as error:
            raise unreachable(server.redacted, reason=_reason(error)) from error
        yield client, server


def _reason(error: PyMongoError) -> str:
    """The few words that matter: PyMongo's own text repeats its whole view of the deployment."""
    text = str(error).lower()
    known = {
        "connection refused": "connection refused",
        "name or service not known": "the host name is unknown",
        "nodename nor servname": "the host name is unknown",
        "temporary failure in name resolution": "the host name can't be resolved",
        "no address associated": "the host name has no address",
        "network is unreachable": "the network is unreachable",
        "no route to host": "no route to the host",
        "connection closed": "what listens there is not a MongoDB server, or it wants TLS",
        "connection reset": "what listens there is not a MongoDB server, or it wants TLS",
        "timed out": "no answer in time",
        "timeout": "no answer in time",
    }
    return next((words for pattern, words in known.items() if pattern in text), "it is not a MongoDB server")


__all__ = ["ServerUri", "external", "parse_server_uri", "reached"]
