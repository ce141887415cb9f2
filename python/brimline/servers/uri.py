"""Owns reading a connection string: what can be honoured is taken, all else is refused by name.

Nothing is ignored silently: an option that changes what the server does and is not applied would falsify the
measurement. The database and the write concern are the workload's to apply (`spec.target`). No error repeats any part
of the string but its scheme, its option names and its host list, because a password with an unescaped character can
turn up in any other part.

Source: the drivers' connection string and URI options specifications.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from pymongo.errors import ConfigurationError, PyMongoError
from pymongo.uri_parser import parse_uri

from brimline.errors import UsageError
from brimline.servers.access import OPEN, Access, Login, Mechanism, Tls
from brimline.servers.password import PasswordSource

PORT_DEFAULT = 27017
_FORM = "mongodb://HOST:PORT"
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]{0,15})://")
_BOOLEANS = {"true": True, "false": False}
_TRUE, _FALSE = frozenset({"true"}), frozenset({"false"})
_MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-1", "MONGODB-X509")

# Values in lower case; None: any.
_HONOURED: dict[str, frozenset[str] | None] = {
    "authsource": None,
    "authmechanism": None,
    "tls": frozenset(_BOOLEANS),
    "ssl": frozenset(_BOOLEANS),
    "tlscafile": None,
    "tlscertificatekeyfile": None,
    "tlsallowinvalidhostnames": frozenset(_BOOLEANS),
    "tlsallowinvalidcertificates": frozenset(_BOOLEANS),
    "tlsinsecure": frozenset(_BOOLEANS),
    "w": None,
    "journal": None,
}
# Options that change nothing in what is measured, or say what brimline does anyway.
_HARMLESS: dict[str, frozenset[str] | None] = {
    "directconnection": _TRUE,
    "appname": None,
    "connecttimeoutms": None,
    "serverselectiontimeoutms": None,
    "sockettimeoutms": None,
    "retryreads": None,
    "retrywrites": _FALSE,
    "loadbalanced": _FALSE,
}
_KNOWN = _HARMLESS | _HONOURED
_HINTS = {
    "wtimeoutms": "leave it out",
    "replicaset": "leave it out and give the primary's address alone",
    "maxpoolsize": "leave it out and use --connections",
    "minpoolsize": "leave it out and use --connections",
    "directconnection": "leave it out: brimline always connects directly",
    "tlscertificatekeyfilepassword": "leave it out and give a key that is not encrypted",
    "authmechanismproperties": "leave it out: no mechanism that brimline knows has properties",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerUri:
    """A connection string that brimline can honour. `address` is `host:port`, an IPv6 host in brackets."""

    address: str
    redacted: str
    access: Access = OPEN


def parse_server_uri(text: str, *, password: PasswordSource | None = None) -> ServerUri:
    """Reads `mongodb://[user[:password]@]host[:port][/[database]][?options]`.

    Where the string names a user alone, `password` says where the password comes from.

    Raises:
        UsageError: another scheme, several hosts, no password, or an option this version can't honour.
    """
    rest = _without_scheme(text)
    authority, tail, query = _parts(rest)
    if "@" in tail or "@" in query:
        raise UsageError(
            "the connection string has an @ behind its hosts",
            hint="in a user name or password write @ as %40, / as %2F, : as %3A, ? as %3F, # as %23, % as %25",
        )
    user_info, separator, hosts = authority.rpartition("@")
    _check_user_info(user_info, is_there=bool(separator))
    _check_hosts(hosts)
    options = _options(query)
    host, port = _host_and_port(text)
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    tls = _tls(options)
    login = _login(user_info, unquote(tail), options, tls, password or PasswordSource())
    return ServerUri(address=address, redacted=f"mongodb://{address}", access=Access(login=login, tls=tls))


def _without_scheme(text: str) -> str:
    match = _SCHEME.match(text)
    if match is None:
        raise UsageError("the connection string has no scheme", hint=f"write it as {_FORM}")
    scheme = match.group(1).lower()
    if scheme == "mongodb+srv":
        raise UsageError(
            "connection strings of the form mongodb+srv:// are not supported in this version",
            hint=f"give one server by its address: {_FORM}",
        )
    if scheme != "mongodb":
        raise UsageError(f"the scheme {scheme}:// is not a MongoDB server's", hint=f"write it as {_FORM}")
    return text[match.end() :]


def _parts(rest: str) -> tuple[str, str, str]:
    """Authority, path and options. The options may follow the hosts without a slash."""
    before, _, query = rest.partition("?")
    authority, _, path = before.partition("/")
    return authority, path, query


def _check_user_info(user_info: str, *, is_there: bool) -> None:
    if is_there and (not user_info.partition(":")[0] or "@" in user_info or user_info.count(":") > 1):
        raise UsageError(
            "the user name or the password in the connection string can't be read",
            hint="write it as mongodb://USER:PASSWORD@HOST, in both @ as %40, : as %3A, / as %2F, % as %25",
        )


def _check_hosts(hosts: str) -> None:
    if not hosts:
        raise UsageError("the connection string names no host", hint=f"write it as {_FORM}")
    if "," in hosts:
        raise UsageError(
            "the connection string names several hosts, and this version measures one server",
            hint="give the address of one server: the primary of a replica set, one mongos of a cluster",
        )
    if "%2f" in hosts.lower():
        raise UsageError("Unix sockets are not supported", hint=f"give the server's TCP address: {_FORM}")


def _options(query: str) -> dict[str, str]:
    """Options by their name in lower case. Raises UsageError for one that can't be honoured or is given twice."""
    found: dict[str, str] = {}
    for option in re.split("[&;]", query):
        name, _, value = option.partition("=")
        if not name:
            continue
        key, value = name.lower(), unquote(value)
        allowed = _KNOWN.get(key, frozenset())
        if allowed is not None and value.lower() not in allowed:
            raise _not_honoured(name)
        if found.setdefault(key, value) != value:
            raise UsageError(f"the connection string sets {name} twice", hint="give it once")
    return found


def _not_honoured(name: str) -> UsageError:
    shown = name if re.fullmatch(r"[A-Za-z0-9]{1,40}", name) else "an option"
    if _KNOWN.get(name.lower()) == frozenset(_BOOLEANS):
        return UsageError(f"{shown} in the connection string is true or false", hint=f"write {shown}=true")
    return UsageError(
        f"the connection string sets {shown}, and it is not supported in this version",
        hint=_HINTS.get(name.lower(), "leave it out"),
    )


def _host_and_port(text: str) -> tuple[str, int]:
    # Without what was read before: PyMongo would open the files that options name.
    hosts = _parts(_without_scheme(text))[0].rpartition("@")[2]
    try:
        parsed: Mapping[str, Any] = parse_uri(f"mongodb://{hosts}", default_port=PORT_DEFAULT, warn=False)
        host, port = parsed["nodelist"][0]
    except (PyMongoError, ConfigurationError, ValueError, LookupError):
        # Their texts repeat parts of the string.
        raise UsageError(
            "the connection string can't be read", hint=f"write it as {_FORM}, an IPv6 host in brackets"
        ) from None
    if port is None or not host:
        raise UsageError("the connection string names no host and port", hint=f"write it as {_FORM}")
    return str(host), int(port)


def _tls(options: Mapping[str, str]) -> Tls | None:
    switches = [_BOOLEANS[options[name].lower()] for name in ("tls", "ssl") if name in options]
    if len(set(switches)) > 1:
        raise UsageError("tls and ssl in the connection string disagree", hint="give tls alone")
    settings = [name for name in options if name.startswith("tls") and name != "tls"]
    insecure = [name for name in settings if name.startswith(("tlsallow", "tlsinsecure"))]
    if "tlsinsecure" in insecure and len(insecure) > 1:
        raise UsageError(
            "tlsInsecure and tlsAllowInvalid… in the connection string exclude each other", hint="give one of them"
        )
    # As the specification has it, an option of TLS switches it on.
    if not (switches[0] if switches else settings):
        if settings:
            raise UsageError("the connection string has options of TLS and tls=false", hint="leave one of them out")
        return None
    is_set = {name for name in insecure if _BOOLEANS[options[name].lower()]}
    return Tls(
        ca_file=_file(options, "tlsCAFile"),
        certificate_key_file=_file(options, "tlsCertificateKeyFile"),
        allow_invalid_hostnames=bool(is_set & {"tlsinsecure", "tlsallowinvalidhostnames"}),
        allow_invalid_certificates=bool(is_set & {"tlsinsecure", "tlsallowinvalidcertificates"}),
    )


def _file(options: Mapping[str, str], name: str) -> Path | None:
    value = options.get(name.lower())
    if value is None:
        return None
    path = Path(value)
    if not path.is_file():
        raise UsageError(f"{name} names no file: {path}", hint=f"check {name} in the connection string")
    return path


def _login(
    user_info: str, database: str, options: Mapping[str, str], tls: Tls | None, source: PasswordSource
) -> Login | None:
    mechanism = _mechanism(options)
    username, separator, password = (unquote(part) for part in user_info.partition(":"))
    if mechanism == "MONGODB-X509":
        if tls is None or tls.certificate_key_file is None:
            raise UsageError(
                "MONGODB-X509 needs the client's certificate", hint="add tls=true and tlsCertificateKeyFile=FILE"
            )
        if separator:
            raise UsageError("MONGODB-X509 takes no password", hint="leave it out of the connection string")
        if options.get("authsource", "$external") != "$external":
            raise UsageError("the users of MONGODB-X509 are in $external", hint="leave authSource out")
        return Login(username=username or None, password=None, source="$external", mechanism=mechanism)
    if not username:
        if mechanism is not None:
            raise UsageError(f"{mechanism} needs a user name", hint="write mongodb://USER@HOST")
        return None
    return Login(
        username=username,
        password=password if separator else source.password(username),
        source=options.get("authsource") or database or "admin",
        mechanism=mechanism,
    )


def _mechanism(options: Mapping[str, str]) -> Mechanism | None:
    given = options.get("authmechanism")
    if given is None or given == "DEFAULT":
        return None
    if given not in _MECHANISMS:
        raise UsageError(
            "the connection string's authMechanism is not supported in this version",
            hint=f"brimline knows {', '.join(_MECHANISMS)}",
        )
    return cast(Mechanism, given)
