"""Owns reading a connection string: what can be honoured is taken, all else is refused by name.

Nothing is ignored silently: an option that changes what the server does and is not applied would falsify the
measurement. The database and the write concern are the workload's to apply (`spec.target`). No error repeats any part
of the string but its scheme, its option names and its host list, because a password with an unescaped character can
turn up in any other part.
"""

import re
from dataclasses import dataclass

from pymongo.errors import PyMongoError
from pymongo.uri_parser import parse_uri

from brimline.errors import UsageError

PORT_DEFAULT = 27017
_FORM = "mongodb://HOST:PORT"
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]{0,15})://")

# Options that change nothing in what is measured, or say what brimline does anyway. Values in lower case;
# None: any.
_HARMLESS_OPTIONS: dict[str, frozenset[str] | None] = {
    "directconnection": frozenset({"true"}),
    "appname": None,
    "connecttimeoutms": None,
    "serverselectiontimeoutms": None,
    "sockettimeoutms": None,
    "retryreads": None,
    "w": None,
    "journal": None,
    "retrywrites": frozenset({"false"}),
    "tls": frozenset({"false"}),
    "ssl": frozenset({"false"}),
    "loadbalanced": frozenset({"false"}),
}
_OPTION_HINTS = {
    "wtimeoutms": "leave it out",
    "replicaset": "leave it out and give the primary's address alone",
    "maxpoolsize": "leave it out and use --connections",
    "minpoolsize": "leave it out and use --connections",
    "directconnection": "leave it out: brimline always connects directly",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerUri:
    """A connection string that brimline can honour. `address` is `host:port`, an IPv6 host in brackets."""

    address: str
    redacted: str


def parse_server_uri(text: str) -> ServerUri:
    """Reads `mongodb://host[:port][/][?options]`.

    Raises:
        UsageError: another scheme, several hosts, credentials, or an option this version can't honour.
    """
    rest = _without_scheme(text)
    authority, _, tail = rest.partition("/")
    if "?" in authority:
        authority, _, query = authority.partition("?")
    else:
        query = tail.partition("?")[2]
    # "@" can stand nowhere else in what is accepted; an unescaped "/" in a password moves it behind the
    # authority.
    if "@" in rest:
        raise UsageError(
            "the connection string holds a user name or a password, which this version does not support",
            hint=f"use a server without access control: {_FORM}",
        )
    _check_hosts(authority)
    _check_options(query)
    host, port = _host_and_port(text)
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return ServerUri(address=address, redacted=f"mongodb://{address}")


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


def _check_hosts(authority: str) -> None:
    if not authority:
        raise UsageError("the connection string names no host", hint=f"write it as {_FORM}")
    if "," in authority:
        raise UsageError(
            "the connection string names several hosts, and this version measures one server",
            hint="give the address of one server: the primary of a replica set, one mongos of a cluster",
        )
    if "%2f" in authority.lower():
        raise UsageError("Unix sockets are not supported", hint=f"give the server's TCP address: {_FORM}")


def _check_options(query: str) -> None:
    for option in re.split("[&;]", query):
        name, _, value = option.partition("=")
        if not name:
            continue
        allowed = _HARMLESS_OPTIONS.get(name.lower(), frozenset())
        if allowed is None or value.lower() in allowed:
            continue
        shown = name if re.fullmatch(r"[A-Za-z]{1,40}", name) else "an option"
        what = "TLS is" if name.lower().startswith(("tls", "ssl")) else "it is"
        raise UsageError(
            f"the connection string sets {shown}, and {what} not supported in this version",
            hint=_OPTION_HINTS.get(name.lower(), "leave it out"),
        )


def _host_and_port(text: str) -> tuple[str, int]:
    try:
        parsed = parse_uri(text, default_port=PORT_DEFAULT, warn=False)
        host, port = parsed["nodelist"][0]
    except (PyMongoError, ValueError, LookupError):
        # Their texts repeat parts of the string.
        raise UsageError(
            "the connection string can't be read", hint=f"write it as {_FORM}, an IPv6 host in brackets"
        ) from None
    if port is None or not host:
        raise UsageError("the connection string names no host and port", hint=f"write it as {_FORM}")
    return str(host), int(port)
