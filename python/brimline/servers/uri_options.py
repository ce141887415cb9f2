"""Owns the options of a connection string: which are honoured, which change nothing, and which are refused by name.

No error repeats a value: a password with an unescaped character can turn up in any of them.

Source: the drivers' URI options specification.
"""

import re
from urllib.parse import unquote

from brimline.errors import UsageError
from brimline.servers.selection import MODES

BOOLEANS = {"true": True, "false": False}
_FALSE = frozenset({"false"})
_TRUE = frozenset({"true"})

# Values in lower case; None: any.
_HONOURED: dict[str, frozenset[str] | None] = {
    "authsource": None,
    "authmechanism": None,
    "tls": frozenset(BOOLEANS),
    "ssl": frozenset(BOOLEANS),
    "tlscafile": None,
    "tlscertificatekeyfile": None,
    "tlsallowinvalidhostnames": frozenset(BOOLEANS),
    "tlsallowinvalidcertificates": frozenset(BOOLEANS),
    "tlsinsecure": frozenset(BOOLEANS),
    "replicaset": None,
    "directconnection": frozenset(BOOLEANS),
    "readpreference": frozenset(mode.lower() for mode in MODES),
    "readpreferencetags": None,
    "maxstalenessseconds": None,
    "compressors": None,
    "zlibcompressionlevel": None,
    "readconcernlevel": frozenset({"local", "available", "majority", "linearizable", "snapshot"}),
    "serverselectiontimeoutms": None,
    "retryreads": frozenset(BOOLEANS),
    "retrywrites": frozenset(BOOLEANS),
    # The write concern; `spec.target` reads and checks it.
    "w": None,
    "journal": None,
    "wtimeoutms": None,
}
# Options that change nothing in what is measured, or say what brimline does anyway.
_HARMLESS: dict[str, frozenset[str] | None] = {
    "appname": None,
    "connecttimeoutms": None,
    "sockettimeoutms": None,
    "heartbeatfrequencyms": None,
    "servermonitoringmode": None,
    "maxidletimems": None,
    "loadbalanced": _FALSE,
    # Revocation is never looked up.
    "tlsdisableocspendpointcheck": _TRUE,
    "tlsdisablecertificaterevocationcheck": _TRUE,
}
_KNOWN = _HARMLESS | _HONOURED
_MILLISECONDS = frozenset({"connecttimeoutms", "sockettimeoutms", "heartbeatfrequencyms", "maxidletimems"})
OPTION_NAMES = frozenset(_KNOWN)
"""Names in lower case of all options that can be taken; what another one holds may be a secret."""
_MAY_BE_EMPTY = frozenset({"readpreferencetags", "compressors"})
_HINTS = {
    **dict.fromkeys(
        # today's word; Node.js's until 4.0; Java's options; that of the driver behind YCSB's mongodb-async; HikariCP's
        ("maxpoolsize", "poolsize", "connectionsperhost", "maxconnectioncount", "maximumpoolsize"),
        "leave it out and use --max-pool-size; --connections are the workers",
    ),
    **dict.fromkeys(
        ("minpoolsize", "minconnectionsperhost", "minconnectioncount", "maxconnecting", "minimumidle"),
        "leave it out: brimline's own client makes all connections before the run begins, and a driver those that its "
        "operations need, most of them in the warm-up",
    ),
    **dict.fromkeys(
        ("waitqueuemultiple", "threadsallowedtoblockforconnectionmultiplier"),
        "leave it out: no driver bounds its queue any more; --max-pool-size bounds the pool",
    ),
    "maxpendingoperationsperconnection": "leave it out: a connection has one command at a time; --connections are the "
    "workers, and --max-pool-size bounds the pool",
    **dict.fromkeys(
        ("waitqueuetimeoutms", "maxwaittime", "maxwaittimems"),  # Java's option until 3.x, and its name in builders
        "leave it out: an operation waits for its turn, and how long is counted",
    ),
    **dict.fromkeys(
        ("maxlifetimems", "maxconnectionlifetime", "maxconnectionlifetimems", "maxconnectionidletime"),
        "leave it out: a connection stays as long as the run",
    ),
    "loadbalanced": "leave it out and give the address of a server behind the load balancer",
    "readconcernlevel": "write local, available, majority, linearizable or snapshot",
    "readpreference": f"write {', '.join(MODES)}",
    "localthresholdms": "leave it out: reads are spread over all members that fit",
    "tlscertificatekeyfilepassword": "leave it out and give a key that is not encrypted",
    "authmechanismproperties": "leave it out: no mechanism that brimline knows has properties",
}


def hint_for_option(name: str) -> str | None:
    """What to do instead of `name`, which drivers take or took, in any spelling; None of other words."""
    return _HINTS.get(re.sub("[-_]", "", name).lower())


def read_options(query: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Options by their name in lower case, and tag sets, which alone may be given more than once.

    Raises UsageError for an option that can't be honoured or is given twice.
    """
    found: dict[str, str] = {}
    tag_sets = []
    for option in re.split("[&;]", query):
        name, separator, value = option.partition("=")
        if not name:
            continue
        key, value = name.lower(), unquote(value)
        allowed = _KNOWN.get(key, frozenset())
        if not value and key in _HONOURED.keys() - _MAY_BE_EMPTY:
            raise UsageError(
                f"the connection string sets {name} to nothing", hint=f"give {name} a value, or leave it out"
            )
        if allowed is not None and value.lower() not in allowed:
            raise _not_honoured(name, has_value=bool(separator))
        if key in _MILLISECONDS and not re.fullmatch("[0-9]{1,10}", value):
            raise UsageError(
                f"{name} in the connection string is no number of milliseconds", hint=f"write {name}=10000"
            )
        if key == "readpreferencetags":
            tag_sets.append(value)
        elif found.setdefault(key, value) != value:
            raise UsageError(f"the connection string sets {name} twice", hint="give it once")
    return found, tuple(tag_sets)


def _not_honoured(name: str, *, has_value: bool) -> UsageError:
    """What has no value may be the rest of one that holds an unescaped character."""
    is_name = name.lower() in _KNOWN or (has_value and re.fullmatch(r"[A-Za-z0-9]{1,40}", name) is not None)
    hint = hint_for_option(name)
    shown = name if is_name or hint else "an option"
    if _KNOWN.get(name.lower()) == frozenset(BOOLEANS):
        return UsageError(f"{shown} in the connection string is true or false", hint=f"write {shown}=true")
    if name.lower() in _HONOURED:
        return UsageError(f"the connection string has a value of {shown} that is none", hint=_HINTS[name.lower()])
    return UsageError(
        f"the connection string sets {shown}, and it is not supported in this version",
        hint=hint or "leave it out",
    )
