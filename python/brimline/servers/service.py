"""Owns an HTTP service behind its address: whether it answers, what it says of itself, and its process if it is here.

brimline keeps no data in it, and knows nothing of what is behind it.
"""

import http.client
import ssl
from collections.abc import Mapping
from contextlib import closing
from typing import Any, Final

from brimline.errors import TargetError, on_one_line
from brimline.servers.connecting import connect, connection_error, in_time
from brimline.servers.contact import tls_context
from brimline.servers.deployment import CONNECT_TIMEOUT_S, Deployment, is_local_host, unreachable
from brimline.servers.listening import listening_process
from brimline.servers.password import PasswordSource
from brimline.servers.target_uri import TargetUri, parse_target_uri

_WORDS_MAX: Final = 120
_PATIENCE: Final = 4
"""How many times the longest silence an answer may take."""
_TLS_RECORDS: Final = ("\x15\x03", "\x16\x03")
"""How an answer begins that is of TLS, as `http.client` reads it."""
_SAYS_IT_WANTS_TLS: Final = (b"HTTP request to an HTTPS server", b"plain HTTP request was sent to HTTPS port")


def service(
    uri: str, *, password: PasswordSource | None = None, connect_timeout_s: float = CONNECT_TIMEOUT_S
) -> Deployment:
    """The service behind `uri`, which has answered a request for its base path, whatever it answered.

    Raises:
        UsageError: the address can't be honoured.
        TargetError: nothing answers, or not as HTTP.
    """
    target = parse_target_uri(uri, password=password)
    answer = _ask(target, connect_timeout_s)
    process = listening_process(target.port) if is_local_host(target.host) else None
    return Deployment(
        protocol="http",
        address=target.address,
        uri_redacted=target.redacted,
        kind="service",
        engine="HTTP",
        version=str(answer["http"]),
        git_version="",
        local=process is not None,
        pid=process,
        cpu_count=None,
        access=target.access,
        of_uri=target,
        facts=answer,
    )


def _ask(target: TargetUri, timeout_s: float) -> Mapping[str, Any]:
    """What a request for the base path is answered with: status, the header Server, version of HTTP and of TLS."""
    connection = http.client.HTTPConnection(target.host, target.port, timeout=timeout_s)
    plain = connect(target, timeout_s=timeout_s)
    with closing(connection), plain:
        try:
            with in_time(plain, limit_s=_PATIENCE * timeout_s):
                connection.sock = plain
                if target.tls is not None:
                    connection.sock = tls_context(target.tls).wrap_socket(plain, server_hostname=target.host)
                connection.request(
                    "GET", target.path or "/", headers={"Host": target.authority, "User-Agent": "brimline"}
                )
                reply = connection.getresponse()
                # Of other replies the head is enough: a body may have no end, as one of events.
                head = reply.read1(4096) if reply.status == http.client.BAD_REQUEST else b""
        except http.client.HTTPException as error:
            raise _not_http(error, target) from error
        except OSError as error:
            raise _hung_up(error, target) from error
        if target.tls is None and any(words in head for words in _SAYS_IT_WANTS_TLS):
            raise _wants_tls(target)
        tls = connection.sock.version() if isinstance(connection.sock, ssl.SSLSocket) else None
        server = reply.getheader("Server")
        return {
            "status": reply.status,
            "server": None if server is None else on_one_line(server.strip())[:_WORDS_MAX],
            "http": f"{reply.version // 10}.{reply.version % 10}",
            "tls": tls,
        }


def _not_http(error: http.client.HTTPException, target: TargetUri) -> TargetError:
    if isinstance(error, http.client.RemoteDisconnected):
        return _hung_up(error, target)
    if isinstance(error, http.client.BadStatusLine) and str(error).strip("'").startswith(_TLS_RECORDS):
        return _wants_tls(target)
    return TargetError(
        f"the server at {target.redacted} does not answer as an HTTP service", hint="check scheme, host and port"
    )


def _hung_up(error: OSError, target: TargetUri) -> TargetError:
    if isinstance(error, ConnectionError) and target.tls is None:
        return unreachable(
            target.redacted,
            reason="it ended the connection without an answer",
            hint="write https:// if it wants TLS; else check host and port",
        )
    return connection_error(error, target)


def _wants_tls(target: TargetUri) -> TargetError:
    return TargetError(f"the server at {target.redacted} wants TLS", hint="write https:// before the host")
