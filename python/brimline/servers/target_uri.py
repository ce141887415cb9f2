"""Owns reading the address of an HTTP service or of an SQL database. What can't be honoured is refused by name.

No error repeats more of the text than its scheme and the names of its options: a password with an unescaped character
can turn up anywhere else.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from brimline.errors import UsageError, redact_uri
from brimline.servers.access import OPEN, Access, Login, Tls
from brimline.servers.addresses import joined_address, read_port
from brimline.servers.lab.lookup import lab_password_file
from brimline.servers.password import PasswordSource
from brimline.servers.uri_options import hint_for_option
from brimline.spec.own.protocols import STEPS, schemes

ServerKind = str
"""What a server speaks, as the plan calls such targets (`spec.own.protocols`), or "mongodb"."""
SQL: Final[tuple[ServerKind, ...]] = ("mysql", "postgres")
_BOOLEANS: Final = {"true": True, "false": False}
_OPTIONS: Final = ("tls", "tlsCAFile", "tlsInsecure")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetUri:
    """An address that brimline can honour. `path` is a service's base path, "" or "/…"; `database` an SQL database.

    `authority` is host and port as they were written.
    """

    protocol: ServerKind
    scheme: str
    host: str
    port: int
    authority: str
    path: str = ""
    database: str = ""
    access: Access = OPEN
    redacted: str = ""

    @property
    def address(self) -> str:
        """`host:port`, an IPv6 host in brackets."""
        return joined_address(self.host, self.port)

    @property
    def tls(self) -> Tls | None:
        """How connections are secured; None: not at all."""
        return self.access.tls


def protocol_of(uri: str) -> ServerKind:
    """What the server behind `uri` speaks, by its scheme; whatever is no other one's is MongoDB's to read."""
    scheme, separator, _ = uri.strip().partition("://")
    found = schemes().get(scheme.lower()) if separator else None
    return "mongodb" if found is None else found[1].kind


def parse_target_uri(text: str, *, password: PasswordSource | None = None) -> TargetUri:
    """Reads `http(s)://host[:port][/base]`, `mysql://`, `mariadb://`, `postgresql://[user[:password]@]host[:port]/database`.

    Of options `tls=true`, `tlsCAFile=FILE` and `tlsInsecure=true` are taken, as MongoDB's drivers name them. Where a
    user is named alone, `password` says where the password comes from.

    Raises UsageError.
    """
    scheme = text.partition("://")[0].lower()
    protocol, means = schemes()[scheme]
    names_a_database = STEPS[protocol].names_a_database
    form = f"write it as {scheme}://HOST:PORT" + ("/DATABASE" if names_a_database else "")
    authority, behind = re.fullmatch(r"([^/?#]*)(.*)", text.partition("://")[2], re.DOTALL).groups()  # type: ignore[union-attr]
    if "@" not in behind:  # else what looks like a port may be the beginning of a password
        require_ports(authority.rpartition("@")[2])
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise UsageError("the address can't be read", hint=form) from None
    if not host or any(sign.isspace() or not sign.isprintable() for sign in parts.netloc + parts.path):
        raise UsageError("the address names no host, or has a blank in it", hint=form)
    if "@" in parts.path or "@" in parts.query or parts.fragment:
        raise UsageError(
            "the address has an @ or a # behind its host",
            hint="in a user name or password write @ as %40, / as %2F, : as %3A, ? as %3F, # as %23, % as %25",
        )
    tls = _tls(_options(parts.query), always=scheme == "https")
    login = _login(parts, password or PasswordSource())
    path = unquote(parts.path).strip("/")
    if names_a_database and "/" in path:
        raise UsageError("the address names more than a database", hint=form)
    return TargetUri(
        protocol=means.kind,
        scheme=scheme,
        host=host,
        port=port or means.port,
        authority=parts.netloc.rpartition("@")[2],
        path="" if names_a_database else parts.path.rstrip("/"),
        database=path if names_a_database else "",
        access=OPEN if login is None and tls is None else Access(login=login, tls=tls),
        redacted=redact_uri(text.partition("?")[0]),
    )


def require_ports(hosts: str) -> None:
    """Raises UsageError where a port among `hosts` is a number that no port has."""
    for number in re.findall(r":([0-9]+)(?=,|$)", hosts):
        read_port(number)


def _options(query: str) -> dict[str, str]:
    known = {name.lower(): name for name in _OPTIONS}
    found = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name.lower() not in known:
            shown = name if name.isidentifier() else "one that can't be shown"
            hint = hint_for_option(name) or f"brimline knows {', '.join(_OPTIONS)}"
            raise UsageError(f"the address has an option that isn't known: {shown}", hint=hint)
        found[known[name.lower()]] = value
    for name in ("tls", "tlsInsecure"):
        if found.get(name, "true").lower() not in _BOOLEANS:
            raise UsageError(f"{name} in the address is neither true nor false", hint=f"write {name}=true")
    return found


def _tls(options: Mapping[str, str], *, always: bool) -> Tls | None:
    wanted = always or _BOOLEANS[options.get("tls", str(len(options) > 0)).lower()]
    if not wanted:
        if set(options) - {"tls"}:
            raise UsageError("the address has options of TLS and tls=false", hint="leave one of them out")
        return None
    if options.get("tls", "true").lower() == "false":
        raise UsageError("https is with TLS, and the address says tls=false", hint="write http://")
    ca_file = Path(options["tlsCAFile"]) if "tlsCAFile" in options else None
    if ca_file is not None and not ca_file.is_file():
        raise UsageError(f"tlsCAFile names no file: {ca_file}", hint="check tlsCAFile in the address")
    insecure = _BOOLEANS[options.get("tlsInsecure", "false").lower()]
    return Tls(ca_file=ca_file, allow_invalid_hostnames=insecure, allow_invalid_certificates=insecure)


def _login(parts: SplitResult, source: PasswordSource) -> Login | None:
    if "@" in parts.netloc.rpartition("@")[0]:
        raise UsageError("the user name or the password in the address can't be read", hint="write @ in it as %40")
    if not parts.username:
        if source.file is not None:
            raise UsageError(
                "there is a password file, and the address names no user", hint="write USER@ before the host"
            )
        return None
    username = unquote(parts.username)
    if username == "***":
        raise UsageError(
            "the address comes from a record, which holds no user and no password", hint="give it anew with --uri"
        )
    if parts.password is not None and source.file is not None:
        raise UsageError("there is a password file, and the address has a password as well", hint="give one of the two")
    if parts.password is None:
        of_lab = lab_password_file([parts.netloc.rpartition("@")[2]], user=username)
        found = source.password(username, lab_file=of_lab)
    else:
        found = unquote(parts.password)
    return Login(username=username, password=found, source="")
