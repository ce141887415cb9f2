"""Owns reading a connection string: what can be honoured is taken, all else is refused by name.

Nothing is ignored silently: an option that changes what the server does and is not applied would falsify the
measurement. The database and the write concern are the workload's to apply (`spec.target`). No error repeats any part
of the string but its scheme, its option names and its host list, because a password with an unescaped character can
turn up in any other part.

Source: the drivers' connection string and URI options specifications.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

from pymongo.errors import ConfigurationError, PyMongoError
from pymongo.uri_parser import parse_uri

from brimline.errors import UsageError
from brimline.record.redaction import REDACTED
from brimline.servers.access import OPEN, Access, Login, Mechanism, Tls
from brimline.servers.addresses import joined_address
from brimline.servers.compression import asked_compression
from brimline.servers.lab.lookup import lab_password_file
from brimline.servers.password import PasswordSource
from brimline.servers.selection import MAX_STALENESS_S_MIN, MODES, PRIMARY, ReadPreference
from brimline.servers.srv import resolve_srv
from brimline.servers.target_uri import require_ports
from brimline.servers.uri_options import BOOLEANS, read_options

PORT_DEFAULT = 27017
_FORM = "mongodb://HOST:PORT"
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]{0,15})://")
_STALENESS_S_MAX = 2**31 - 1
_SELECTION_TIMEOUT_MS_DEFAULT = 30_000
_SELECTION_TIMEOUT_MS_MAX = 24 * 3600 * 1000
_MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-1", "MONGODB-X509")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerUri:
    """A connection string that brimline can honour. `seeds` are `host:port`, an IPv6 host in brackets.

    `is_direct`: the one seed is the server that is meant, whatever it is a member of; else the servers behind the seeds
    are looked for.
    """

    seeds: tuple[str, ...]
    redacted: str
    is_direct: bool = True
    set_name: str | None = None
    read_preference: ReadPreference = PRIMARY
    read_concern: str | None = None
    selection_timeout_ms: int = _SELECTION_TIMEOUT_MS_DEFAULT
    retry_reads: bool = True
    retry_writes: bool = True
    access: Access = OPEN

    @property
    def address(self) -> str:
        """The first seed."""
        return self.seeds[0]


def parse_server_uri(text: str, *, password: PasswordSource | None = None) -> ServerUri:
    """Reads `mongodb://[user[:password]@]host[:port][,…][/[database]][?options]`, or `mongodb+srv://` and one host.

    Where the string names a user alone, `password` says where the password comes from.

    Raises:
        UsageError: another scheme, no password, or an option this version can't honour.
        TargetError: the DNS doesn't know the host of a `mongodb+srv://`.
    """
    is_srv, rest = _without_scheme(text)
    authority, tail, query = _parts(rest)
    if "@" in tail or "@" in query:
        raise UsageError(
            "the connection string has an @ behind its hosts",
            hint="in a user name or password write @ as %40, / as %2F, : as %3A, ? as %3F, # as %23, % as %25",
        )
    user_info, separator, hosts = authority.rpartition("@")
    _check_user_info(user_info, is_there=bool(separator))
    _check_hosts(hosts)
    options, tag_sets = read_options(query)
    preference = _read_preference(options, tag_sets)
    nodes: Sequence[tuple[str, int]]
    if is_srv:
        nodes, told = resolve_srv(hosts)
        options = {"tls": "true", **told, **options}
    else:
        nodes = _nodes(hosts)
    seeds = tuple(joined_address(host, port) for host, port in nodes)
    tls = _tls(options)
    return ServerUri(
        seeds=seeds,
        redacted=f"mongodb+srv://{hosts}" if is_srv else f"mongodb://{','.join(seeds)}",
        is_direct=_is_direct(options, seeds, is_srv=is_srv),
        set_name=options.get("replicaset"),
        read_preference=preference,
        read_concern=options.get("readconcernlevel", "").lower() or None,
        selection_timeout_ms=_selection_timeout_ms(options),
        retry_reads=BOOLEANS[options.get("retryreads", "true").lower()],
        retry_writes=BOOLEANS[options.get("retrywrites", "true").lower()],
        access=Access(
            login=_login(user_info, unquote(tail), options, tls, password or PasswordSource(), seeds),
            tls=tls,
            compression=asked_compression(options),
        ),
    )


def _without_scheme(text: str) -> tuple[bool, str]:
    """Whether the DNS is to be asked, and what follows the scheme."""
    match = _SCHEME.match(text)
    if match is None:
        raise UsageError("the connection string has no scheme", hint=f"write it as {_FORM}")
    scheme = match.group(1).lower()
    if scheme not in ("mongodb", "mongodb+srv"):
        raise UsageError(f"the scheme {scheme}:// is not a MongoDB server's", hint=f"write it as {_FORM}")
    return scheme == "mongodb+srv", text[match.end() :]


def _parts(rest: str) -> tuple[str, str, str]:
    """Authority, path and options. The options may follow the hosts without a slash."""
    before, _, query = rest.partition("?")
    authority, _, path = before.partition("/")
    return authority, path, query


def _check_user_info(user_info: str, *, is_there: bool) -> None:
    if user_info == REDACTED:
        raise UsageError(
            "the connection string comes from a record, which holds no user and no password",
            hint="give it anew with --uri",
        )
    if is_there and (not user_info.partition(":")[0] or "@" in user_info or user_info.count(":") > 1):
        raise UsageError(
            "the user name or the password in the connection string can't be read",
            hint="write USER:PASSWORD@ before the host, and in both @ as %40, : as %3A, / as %2F, % as %25",
        )


def _check_hosts(hosts: str) -> None:
    if not hosts:
        raise UsageError("the connection string names no host", hint=f"write it as {_FORM}")
    if any(sign.isspace() or not sign.isprintable() for sign in hosts):
        raise UsageError("the connection string has a blank or a line end among its hosts", hint=f"write it as {_FORM}")
    if "%2f" in hosts.lower():
        raise UsageError("Unix sockets are not supported", hint=f"give the server's TCP address: {_FORM}")


def _nodes(hosts: str) -> list[tuple[str, int]]:
    require_ports(hosts)
    # Without options: PyMongo would open the files that they name.
    try:
        parsed: Mapping[str, Any] = parse_uri(f"mongodb://{hosts}", default_port=PORT_DEFAULT, warn=False)
        nodes = [(str(host), int(port)) for host, port in parsed["nodelist"]]
    except (PyMongoError, ConfigurationError, ValueError, LookupError, TypeError):
        # Their texts repeat parts of the string.
        raise UsageError(
            "the connection string can't be read", hint=f"write it as {_FORM}, an IPv6 host in brackets"
        ) from None
    if not nodes or not all(host for host, _ in nodes):
        raise UsageError("the connection string names no host and port", hint=f"write it as {_FORM}")
    return list(dict.fromkeys(nodes))


def _is_direct(options: Mapping[str, str], seeds: Sequence[str], *, is_srv: bool) -> bool:
    """One host alone is the server that is meant, unless the string says otherwise."""
    asked = options.get("directconnection")
    if asked is not None and BOOLEANS[asked.lower()]:
        if is_srv or len(seeds) > 1:
            raise UsageError(
                "directConnection=true is for one host, and the connection string names several",
                hint="leave directConnection out, or give one host",
            )
        return True
    return asked is None and not is_srv and len(seeds) == 1 and "replicaset" not in options


def _selection_timeout_ms(options: Mapping[str, str]) -> int:
    given = options.get("serverselectiontimeoutms")
    if given is None:
        return _SELECTION_TIMEOUT_MS_DEFAULT
    if not (given.isascii() and given.isdecimal() and 0 < int(given) <= _SELECTION_TIMEOUT_MS_MAX):
        raise UsageError(
            "serverSelectionTimeoutMS in the connection string is out of range",
            hint=f"write 1 to {_SELECTION_TIMEOUT_MS_MAX}, milliseconds, or leave it out",
        )
    return int(given)


def _read_preference(options: Mapping[str, str], tag_sets: Sequence[str]) -> ReadPreference:
    by_name = {mode.lower(): mode for mode in MODES}
    mode = by_name[options.get("readpreference", "primary").lower()]
    staleness = options.get("maxstalenessseconds")
    if staleness == "-1":
        staleness = None
    if staleness is not None and not (
        staleness.isdecimal() and MAX_STALENESS_S_MIN <= int(staleness) <= _STALENESS_S_MAX
    ):
        raise UsageError(
            "maxStalenessSeconds in the connection string is out of range",
            hint=f"write {MAX_STALENESS_S_MIN} or more, or leave it out",
        )
    tags = tuple(map(_tags, tag_sets))
    if mode == "primary" and (staleness is not None or any(tags)):
        raise UsageError(
            "readPreferenceTags and maxStalenessSeconds say nothing about a primary",
            hint="add readPreference=secondary or another mode",
        )
    return ReadPreference(mode=mode, tag_sets=tags, max_staleness_s=None if staleness is None else int(staleness))


def _tags(text: str) -> dict[str, str]:
    found = {}
    for pair in filter(None, text.split(",")):
        name, separator, value = pair.partition(":")
        if not (name and separator):
            raise UsageError(
                "readPreferenceTags in the connection string can't be read",
                hint="write readPreferenceTags=dc:east,rack:1",
            )
        found[name] = value
    return found


def _tls(options: Mapping[str, str]) -> Tls | None:
    switches = [BOOLEANS[options[name].lower()] for name in ("tls", "ssl") if name in options]
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
    is_set = {name for name in insecure if BOOLEANS[options[name].lower()]}
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
    user_info: str,
    database: str,
    options: Mapping[str, str],
    tls: Tls | None,
    source: PasswordSource,
    seeds: Sequence[str],
) -> Login | None:
    mechanism = _mechanism(options)
    username, separator, password = (unquote(part) for part in user_info.partition(":"))
    _check_one_password(username, source, is_written=bool(separator))
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
            raise UsageError(f"{mechanism} needs a user name", hint="write USER@ before the host")
        return None
    if not separator:
        password = source.password(username, lab_file=lab_password_file(seeds, user=username))
    return Login(
        username=username,
        password=password,
        source=options.get("authsource") or database or "admin",
        mechanism=mechanism,
    )


def _check_one_password(username: str, source: PasswordSource, *, is_written: bool) -> None:
    """Refuses a password file that would not be looked at."""
    if source.file is not None and is_written:
        raise UsageError(
            "there is a password file, and the connection string has a password as well", hint="give one of the two"
        )
    if source.file is not None and not username:
        raise UsageError(
            "there is a password file, and the connection string names no user", hint="write USER@ before the host"
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
