"""Owns what opens a server: who the user is, how connections are secured, and what their messages are compressed with.

It goes to PyMongo and to the engine apart from everything that is stored; no text or record ever holds it.
"""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote_plus, urlencode

from brimline import _native
from brimline.errors import UsageError

Mechanism = Literal["SCRAM-SHA-1", "SCRAM-SHA-256", "MONGODB-X509"]
Compressor = Literal["snappy", "zlib", "zstd"]
COMPRESSORS: tuple[Compressor, ...] = get_args(Compressor)
"""As servers and connection strings call them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """A user. `source` is the database that knows them; `mechanism` None: the best that the server has for them.

    Without a password, and with one that is not known yet, `password` is None.
    """

    username: str | None
    password: str | None = field(repr=False)
    source: str
    mechanism: Mechanism | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """How connections are secured. Without `ca_file` the system's authorities are believed."""

    ca_file: Path | None = None
    certificate_key_file: Path | None = None
    allow_invalid_hostnames: bool = False
    allow_invalid_certificates: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """What messages that are measured may be compressed with, the best first. `zlib_level` None: zlib's own choice."""

    compressors: tuple[Compressor, ...]
    zlib_level: int | None = None


@dataclass(frozen=True, kw_only=True)
class Access:
    """What opens a server; nothing of it for one that is open to all on a plain connection.

    `compression` is for the connections that are measured; those of the control plane are never compressed. `headers`
    are of a service: those that every request has and that hold a secret.
    """

    login: Login | None = None
    tls: Tls | None = None
    compression: Compression | None = None
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @cached_property
    def native(self) -> _native.Access:
        """The same for the engine. One per server: it keeps the password's keys, and whether the server took them.

        Raises UsageError for a certificate that can't be used.
        """
        try:
            of_service = {"headers": list(self.headers)} if self.headers else {}
            return _native.Access(login=self.login, tls=self.tls, compression=self.compression, **of_service)
        except OSError as error:
            raise UsageError(
                f"TLS can't be prepared: {error}", hint="check tlsCAFile and tlsCertificateKeyFile, both in PEM form"
            ) from None

    def client_options(self) -> dict[str, Any]:
        """The same in the words of PyMongo."""
        return {**self._login_options(), **self._tls_options()}

    def uri(self, address: str, database: str) -> str:
        """A connection string with everything in it, for programs that take nothing else. It holds the password."""
        options = self.client_options()
        username, password = options.pop("username", None), options.pop("password", None)
        words = (quote_plus(word) for word in (username, password) if word is not None)
        user_info = f"{':'.join(words)}@" if username is not None else ""
        query = urlencode({name: "true" if value is True else value for name, value in options.items()})
        return f"mongodb://{user_info}{address}/{database}{f'?{query}' if query else ''}"

    def _login_options(self) -> dict[str, Any]:
        login = self.login
        if login is None:
            return {}
        given = {
            "username": login.username,
            "password": login.password,
            "authSource": login.source,
            "authMechanism": login.mechanism,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _tls_options(self) -> dict[str, Any]:
        tls = self.tls
        if tls is None:
            return {}
        options: dict[str, Any] = {"tls": True}
        if tls.ca_file is not None:
            options["tlsCAFile"] = str(tls.ca_file)
        if tls.certificate_key_file is not None:
            options["tlsCertificateKeyFile"] = str(tls.certificate_key_file)
        if tls.allow_invalid_certificates:
            options["tlsAllowInvalidCertificates"] = True
        elif tls.allow_invalid_hostnames:
            options["tlsAllowInvalidHostnames"] = True
        return options


OPEN = Access()
"""Of a server that is open to all."""
