"""Owns who may enter a lab: the set's key, the user and its password, and brimline's own connections to it."""

import base64
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pymongo
from pymongo.errors import PyMongoError

from brimline.errors import TargetError
from brimline.servers.deployment import COMMAND_TIMEOUT_S, CONNECT_TIMEOUT_S, Client
from brimline.servers.lab.certificates import CLIENT_SUBJECT, make_certificates
from brimline.servers.lab.state import Lab

USER = "brimline"
DATABASE = "brimline"
"""The database of an SQL server that is there from the beginning."""

_PASSWORD_BYTES = 24
_KEY_BYTES = 72
_ROLES = ["root"]
_RETRY_S = 0.1
_USER_EXISTS = 51003


def make_secrets(lab: Lab) -> None:
    """Writes what the servers need before they start: key and password, certificates. Raises OSError, TargetError."""
    if lab.user is not None:
        private_file(lab.secret / "password", secrets.token_urlsafe(_PASSWORD_BYTES))
        private_file(lab.secret / "key", base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode())
    if lab.tls:
        make_certificates(lab.secret)


def server_options(lab: Lab) -> list[str]:
    """What a server of the lab, mongod or mongos, is told about its security."""
    options = []
    if lab.user is not None:
        options += ["--keyFile", str(lab.secret / "key")]  # access control comes with it
    if lab.tls:
        options += ["--tlsMode", "requireTLS", "--tlsCertificateKeyFile", str(lab.secret / "server.pem")]
        # A client may show a certificate, and is let in without one.
        options += ["--tlsCAFile", str(lab.secret / "ca.pem"), "--tlsAllowConnectionsWithoutCertificates"]
    return options


def lab_client(lab: Lab, address: str, *, signed_in: bool = True) -> Client:
    """A client of one server of the lab, without discovery, with bounded waits. Close it after use."""
    options: dict[str, Any] = {}
    if lab.tls:
        options |= {"tls": True, "tlsCAFile": str(lab.secret / "ca.pem")}
    if lab.user is not None and signed_in:
        options |= {"username": lab.user, "password": password(lab), "authSource": "admin"}
    timeout_ms = round(CONNECT_TIMEOUT_S * 1000)
    return pymongo.MongoClient(
        f"mongodb://{address}",
        directConnection=True,
        appname="brimline-lab",
        serverSelectionTimeoutMS=timeout_ms,
        connectTimeoutMS=timeout_ms,
        socketTimeoutMS=round(COMMAND_TIMEOUT_S * 1000),
        retryReads=False,
        retryWrites=False,
        **options,
    )


def create_first_user(lab: Lab, address: str, *, until: float, meanwhile: Callable[[], None]) -> None:
    """Makes the lab's user, on the server that takes writes, by the exception for the first one from this machine.

    With TLS there is an x.509 user as well. Raises TargetError when the deadline `until` (monotonic) passes.
    """
    if lab.user is None:
        return
    command = {"createUser": lab.user, "pwd": password(lab), "roles": _ROLES}
    _insistently(lambda: _command(lab, address, "admin", command, signed_in=False), until, meanwhile)
    if lab.tls:
        roles = [{"role": role, "db": "admin"} for role in _ROLES]
        by_certificate = {"createUser": CLIENT_SUBJECT, "roles": roles}
        _insistently(lambda: _command(lab, address, "$external", by_certificate, signed_in=True), until, meanwhile)


def connection_string(lab: Lab, addresses: list[str], *, set_name: str | None, with_password: bool = False) -> str:
    """How to reach the servers at `addresses`; without the password unless that is wanted for a private file."""
    user = user_information(lab, with_password=with_password)
    options = []
    if set_name is not None:
        options.append(f"replicaSet={set_name}")
    if lab.user is not None:
        options.append("authSource=admin")
    if lab.tls:
        options += ["tls=true", f"tlsCAFile={quote(str(lab.secret / 'ca.pem'), safe='/')}"]
    return f"mongodb://{user}{','.join(addresses)}/{'?' if options else ''}{'&'.join(options)}"


def user_information(lab: Lab, *, with_password: bool) -> str:
    """What stands before the address in a connection string; nothing without access control."""
    if lab.user is None:
        return ""
    return f"{lab.user}:{quote(password(lab), safe='')}@" if with_password else f"{lab.user}@"


def write_uris(lab: Lab, uris_with_password: Iterable[str]) -> None:
    """Keeps the whole connection strings in a file of their owner's alone. Raises OSError."""
    private_file(lab.uri_file, "".join(f"{uri}\n" for uri in uris_with_password))


def _command(lab: Lab, address: str, database: str, command: Mapping[str, object], *, signed_in: bool) -> None:
    with lab_client(lab, address, signed_in=signed_in) as client:
        client[database].command(dict(command))


def _insistently(action: Callable[[], None], until: float, meanwhile: Callable[[], None]) -> None:
    """A primary may step down for another one in just that moment; tried again until the deadline."""
    while True:
        meanwhile()
        try:
            action()
            return
        except PyMongoError as error:
            code = getattr(error, "code", None)
            if code == _USER_EXISTS:
                return  # the answer to an earlier try was lost
            if time.monotonic() > until:
                raise TargetError(
                    f"the lab's user can't be made: {str(error).partition(', full error')[0]}",
                    hint="the server's log is gone with the lab; try again with a longer --deadline",
                ) from error
        time.sleep(_RETRY_S)


def password(lab: Lab) -> str:
    """That of the lab's user. Raises OSError."""
    return (lab.secret / "password").read_text()


def private_file(path: Path, text: str) -> None:
    """Writes a file of its owner's alone. Raises OSError."""
    path.touch(mode=0o600)
    path.write_text(text)
