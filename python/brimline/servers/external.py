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
from brimline.servers.password import PasswordSource
from brimline.servers.uri import ServerUri, parse_server_uri


def external(
    uri: str, *, password: PasswordSource | None = None, connect_timeout_s: float = CONNECT_TIMEOUT_S
) -> Deployment:
    """The server behind `uri`, reached and asked what it is, in bounded time.

    `password`: where it comes from when `uri` names a user alone.

    Raises:
        UsageError: the connection string can't be honoured; see `uri.py`.
        TargetError: nothing answers, what answers is no MongoDB server, or it refuses.
    """
    with reached(uri, password=password, connect_timeout_s=connect_timeout_s) as (client, server):
        return inspect_deployment(client, address=server.address, uri_redacted=server.redacted, access=server.access)


def external_again(deployment: Deployment, *, connect_timeout_s: float) -> Deployment:
    """The same server once more, after it went away.

    Raises:
        TargetError: as `external`.
    """
    server = ServerUri(address=deployment.address, redacted=deployment.uri_redacted, access=deployment.access)
    with _reached(server, purpose="control", connect_timeout_s=connect_timeout_s) as client:
        return inspect_deployment(client, address=server.address, uri_redacted=server.redacted, access=server.access)


@contextmanager
def reached(
    uri: str,
    *,
    password: PasswordSource | None = None,
    purpose: str = "control",
    connect_timeout_s: float = CONNECT_TIMEOUT_S,
) -> Iterator[tuple[Client, ServerUri]]:
    """A client of the server behind `uri`, which has answered; closed at the end of the `with` block.

    Raises:
        UsageError: the connection string can't be honoured; see `uri.py`.
        TargetError: nothing answers, or what answers is no MongoDB server.
    """
    server = parse_server_uri(uri, password=password)
    with _reached(server, purpose=purpose, connect_timeout_s=connect_timeout_s) as client:
        yield client, server


@contextmanager
def _reached(server: ServerUri, *, purpose: str, connect_timeout_s: float) -> Iterator[Client]:
    server.access.native  # noqa: B018 (what is wrong with a certificate's file is told before anything is tried)
    with control_client(
        server.address, access=server.access, purpose=purpose, connect_timeout_s=connect_timeout_s
    ) as client:
        try:
            client.admin.command("ping")
        except OperationFailure as error:
            raise refusal(error, server.redacted, server.access) from error
        except ConfigurationError as error:
            raise TargetError(
                f"the server at {server.redacted} speaks too old or too new a version of the protocol",
                hint="MongoDB 4.4 to 8.x are supported",
            ) from error
        except PyMongoError as error:
            raise _unreachable(error, server) from error
        yield client


def _unreachable(error: PyMongoError, server: ServerUri) -> TargetError:
    text = str(error).lower()
    for pattern, words, hint in _TLS_REASONS:
        if server.access.tls is not None and pattern in text:
            return TargetError(f"no TLS connection to {server.redacted}: {words}", hint=hint)
    return unreachable(server.redacted, reason=_reason(error))


_TLS_REASONS = (
    (
        "certificate has expired",
        "the server's certificate has expired",
        "have it renewed; tlsInsecure=true connects all the same",
    ),
    (
        "certificate is not yet valid",
        "the server's certificate is not valid yet",
        "check the clocks of both machines",
    ),
    (
        "hostname mismatch",
        "the server's certificate is for another host name",
        "use the name in the certificate; tlsAllowInvalidHostnames=true connects all the same",
    ),
    (
        "ip address mismatch",
        "the server's certificate is for another host name",
        "use the name in the certificate; tlsAllowInvalidHostnames=true connects all the same",
    ),
    (
        "certificate verify failed",
        "the server's certificate is not signed by an authority that is trusted here",
        "name the authority's certificate by tlsCAFile=FILE; tlsInsecure=true connects all the same",
    ),
    (
        "certificate required",
        "the server wants a certificate of the client",
        "add tlsCertificateKeyFile=FILE",
    ),
    (
        "handshake failure",
        "the server refuses the client's certificate, or wants one",
        "check tlsCertificateKeyFile=FILE",
    ),
    ("unknown ca", "the server does not trust the client's certificate", "check tlsCertificateKeyFile=FILE"),
    (
        "wrong version number",
        "what listens there does not speak TLS",
        "leave tls=true out, or start the server with TLS",
    ),
    (
        "connection closed",
        "the server closed the connection during the TLS handshake: it may have no TLS",
        "leave tls=true out, or look into the server's log",
    ),
    (
        "eof occurred",
        "the server closed the connection during the TLS handshake: it may have no TLS",
        "leave tls=true out, or look into the server's log",
    ),
    (
        "connection reset",
        "the server closed the connection during the TLS handshake: it may have no TLS",
        "leave tls=true out, or look into the server's log",
    ),
)
"""What is found in the texts of PyMongo and OpenSSL, what it means, and what to do about it; the first counts."""


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


__all__ = ["ServerUri", "external", "external_again", "parse_server_uri", "reached"]
