"""Owns what can be varied: the names of factors, how their levels are written, and what each level changes."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from brimline.errors import UsageError, redact_uri
from brimline.experiments.growth.order import IndexSet
from brimline.servers.access import COMPRESSORS
from brimline.servers.catalogue import release_named
from brimline.servers.compression import NONE
from brimline.servers.lab.names import TOPOLOGIES, read_topology
from brimline.servers.lab.network import read_network
from brimline.servers.selection import MODES
from brimline.spec.readers import CONNECTION_COUNT_MAX
from brimline.units import count_text, parse_bytes, parse_count

WORKLOAD = "workload"
CONNECTIONS = "connections"
INDEXES = "indexes"
WRITE_CONCERN = "write-concern"
JOURNAL = "journal"
SERVER_VERSION = "server-version"
MONGOD = "mongod"
CACHE = "cache-gb"
TOPOLOGY = "topology"
NETWORK = "network"
READ_PREFERENCE = "read-preference"
COMPRESSION = "compression"
PROTOCOL = "protocol"
SERVER = "server"
DATABASES = ("mongodb", "mariadb", "postgres")
"""Levels of the factor protocol: kinds of servers that brimline starts."""
CONCURRENCY = (CONNECTIONS, "in-flight", "threads")
"""Numbers of which every load takes the largest, so that loads compare."""
LOADING = (WRITE_CONCERN, JOURNAL, "target", COMPRESSION)
"""What is no part of the data, and by which a load goes otherwise all the same."""
LEVELS_MAX = 32
_NO_INDEX = "none"
_GB = 10**9
_KEYS = ("uniform", "sequential", "zipfian", "latest", "hotspot", "exponential")
_VERSION = re.compile(r"\d{1,2}(\.\d{1,3}){1,2}")
_INDEX = re.compile(r"[\w.]+(\+[\w.]+)*")
_WRITTEN = "write it like --vary connections=1,8,64"


class Scope(StrEnum):
    """What another level needs: another run, other data, or another server."""

    RUN = "run"
    DATA = "data"
    SERVER = "server"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorKind:
    """Something that can be varied. `read` gives the one spelling of a level, or raises ValueError.

    `path` is where the level stands in a spec, "" where it stands elsewhere.
    """

    name: str
    scope: Scope
    what: str
    read: Callable[[str], str]
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """A factor and its levels, at least two; the first is what the others are compared with."""

    name: str
    levels: tuple[str, ...]

    @property
    def kind(self) -> FactorKind:
        """What it is."""
        return KINDS[self.name]


def parse_factors(texts: Iterable[str]) -> tuple[Factor, ...]:
    """`connections=1,8` and others like it, in the order given. Raises UsageError, also for a factor given twice."""
    factors = tuple(parse_factor(text) for text in texts)
    for place, factor in enumerate(factors):
        if factor.name in {each.name for each in factors[:place]}:
            raise UsageError(f"--vary {factor.name} is given twice", hint=f"give all its levels at once: {_WRITTEN}")
    return factors


def factor_named(text: str) -> str:
    """The name of the factor that `text` begins with, however it is said. Raises UsageError for an unknown one."""
    return _kind_named(text.partition("=")[0].strip()).name


def parse_factor(text: str) -> Factor:
    """One factor. Raises UsageError for an unknown one, and for levels that can't be or aren't two that differ."""
    name, separator, values = text.partition("=")
    kind = _kind_named(name.strip())
    if not separator:
        raise UsageError(f"--vary {name.strip()} has no levels", hint=_WRITTEN)
    levels = tuple(_level(kind, each.strip()) for each in values.split(","))
    twice = next((level for place, level in enumerate(levels) if level in levels[:place]), None)
    if twice is not None:
        raise UsageError(f"--vary {kind.name} has the level {twice} twice", hint="give each level once")
    if kind.name == SERVER_VERSION:
        _check_versions_differ(levels)
    if len(levels) < 2:
        raise UsageError(
            f"--vary {kind.name} has one level, {levels[0]}, and nothing to compare it with", hint=_WRITTEN
        )
    if len(levels) > LEVELS_MAX:
        raise UsageError(f"--vary {kind.name} has {len(levels)} levels", hint=f"give {LEVELS_MAX} at most")
    return Factor(name=kind.name, levels=levels)


def _kind_named(name: str) -> FactorKind:
    wanted = _ALIASES.get(name.lower().replace("_", "-"), name.lower().replace("_", "-"))
    if wanted in KINDS:
        return KINDS[wanted]
    near = difflib.get_close_matches(wanted, KINDS, n=1)
    meant = f'did you mean "{near[0]}"? ' if near else ""
    named = ", ".join(KINDS)
    raise UsageError(f'--vary: there is no factor "{name}"', hint=f"{meant}factors are {named}")


def _level(kind: FactorKind, text: str) -> str:
    if not text:
        raise UsageError(f"--vary {kind.name} has an empty level", hint=_WRITTEN)
    try:
        return kind.read(text)
    except UsageError as error:
        raise UsageError(f"--vary {kind.name}: {error.message}", hint=error.hint or kind.what) from error
    except ValueError as error:
        raise UsageError(f"--vary {kind.name}: {error}", hint=kind.what) from error


def index_sets(level: str, field_names: Sequence[str]) -> list[str]:
    """The fields of the secondary index that a level of `indexes` asks for; none for `none`.

    Raises ValueError for fields that the documents don't have.
    """
    if level == _NO_INDEX:
        return []
    if level in set(IndexSet):
        wanted = {IndexSet.PRIMARY: 0, IndexSet.SINGLE: 1, IndexSet.COMPOUND: 2}[IndexSet(level)]
        if len(field_names) < wanted:
            raise ValueError(f"a {level} index needs {wanted} field(s), and the documents have {len(field_names)}")
        return list(field_names[:wanted])
    names = level.split("+")
    unknown = next((name for name in names if name not in field_names), None)
    if unknown is not None:
        raise ValueError(f'the documents have no field "{unknown}"; they have {", ".join(field_names)}')
    return names


def _count(text: str) -> str:
    count = parse_count(text)
    if count < 1:
        raise ValueError("must be at least 1")
    return count_text(count)


def _connections(text: str) -> str:
    count = parse_count(text)
    if not 1 <= count <= CONNECTION_COUNT_MAX:
        raise ValueError(f"must be 1 to {CONNECTION_COUNT_MAX}, not {text}")
    return str(count)


def _cache(text: str) -> str:
    """Decimal GB as `--cache-gb` takes them; `512MB` is read too."""
    try:
        share = float(text)
    except ValueError:
        share = parse_bytes(text) / _GB
    if not 0.25 <= share <= 10_000:
        raise ValueError(f"the server's cache can't be {text} GB; it is 0.25 to 10000")
    return f"{share:g}"


def _acknowledgement(text: str) -> str:
    if text.isdigit() and int(text) == 0:
        raise ValueError("must not be 0: an unacknowledged write has no answer that could be timed")
    return str(int(text)) if text.isdigit() else text


def _target(text: str) -> str:
    if text not in ("wire", "driver"):
        raise ValueError(f"must be wire or driver, not {text}")
    return text


def _journal(text: str) -> str:
    if text not in ("true", "false"):
        raise ValueError(f"must be true or false, not {text}")
    return text


def _version(text: str) -> str:
    if not _VERSION.fullmatch(text):
        raise ValueError(f"{text} is no version; write it like 4.4 or 6.0.27")
    return text


def _check_versions_differ(levels: Sequence[str]) -> None:
    """A family such as 6.0 is short for one of its releases, which would be compared with itself."""
    named: dict[str, str] = {}
    for level in levels:
        release = release_named(level)
        version = level if release is None else release.version
        if version in named:
            raise UsageError(
                f"--vary {SERVER_VERSION} has the same server twice: {named[version]} and {level} are {version}",
                hint="give each version once",
            )
        named[version] = level


def _indexes(text: str) -> str:
    if text == IndexSet.PRIMARY:
        return _NO_INDEX
    if not _INDEX.fullmatch(text) or len(set(text.split("+"))) < len(text.split("+")):
        raise ValueError(f'"{text}" is no index; write none, single, compound, or fields such as customer+created')
    return text


def _keys(text: str) -> str:
    if text not in _KEYS:
        raise ValueError(f"must be one of {', '.join(_KEYS)}, not {text}")
    return text


def _read_preference(text: str) -> str:
    mode = next((mode for mode in MODES if mode.lower() == text.lower()), None)
    if mode is None:
        raise ValueError(f"must be one of {', '.join(MODES)}, not {text}")
    return mode


def _database(text: str) -> str:
    found = {"postgresql": "postgres"}.get(text.lower(), text.lower())
    if found not in DATABASES:
        raise ValueError(f"must be one of {', '.join(DATABASES)}, not {text}")
    return found


def _address(text: str) -> str:
    """An address without a password: levels stand in every table and in the record."""
    scheme, separator, rest = text.partition("://")
    if not separator or not scheme or not rest:
        raise ValueError(f"{redact_uri(text)} is no address; write it like mysql://USER@HOST/DATABASE")
    user_info = rest.partition("/")[0].rpartition("@")[0]
    if ":" in user_info:
        raise ValueError("an address with a password would be shown in every table; give BRIMLINE_PASSWORD instead")
    return text


def _compressor(text: str) -> str:
    levels = (NONE, *COMPRESSORS)
    if text.lower() not in levels:
        raise ValueError(f"must be one of {', '.join(levels)}, not {text}")
    return text.lower()


_ALL = (
    FactorKind(name=WORKLOAD, scope=Scope.RUN, what="workloads, shipped ones or YAML files", read=str),
    FactorKind(
        name=CONNECTIONS, scope=Scope.RUN, what="numbers of connections", read=_connections, path="connections"
    ),
    FactorKind(name="in-flight", scope=Scope.RUN, what="how many of the connections are at work at once",
               read=_connections, path="in_flight"),
    FactorKind(name=WRITE_CONCERN, scope=Scope.RUN, what='members, "majority" or a tag', read=_acknowledgement),
    FactorKind(name=JOURNAL, scope=Scope.RUN, what="whether writes wait for the journal: true, false", read=_journal),
    FactorKind(name="keys", scope=Scope.RUN, what="which records are taken: uniform, zipfian …", read=_keys,
               path="keys"),
    FactorKind(name="threads", scope=Scope.RUN, what="threads of the generator", read=_connections, path="threads"),
    FactorKind(name="target", scope=Scope.RUN, what="clients: wire, brimline's own; driver, the official one",
               read=_target, path="target.kind"),
    FactorKind(name=INDEXES, scope=Scope.DATA, what="none, single, compound, or fields such as a+b", read=_indexes),
    FactorKind(name="records", scope=Scope.DATA, what="numbers of records", read=_count, path="data.records"),
    FactorKind(name="fields", scope=Scope.DATA, what="fields of a document", read=_count, path="data.fields"),
    FactorKind(name="field-length", scope=Scope.DATA, what="bytes of a field", read=_count, path="data.field_length"),
    FactorKind(name="batch-size", scope=Scope.SERVER, what="documents per insert command of the load", read=_count,
               path="data.batch_size"),
    FactorKind(name=SERVER_VERSION, scope=Scope.SERVER, what="versions of MongoDB", read=_version),
    FactorKind(name=MONGOD, scope=Scope.SERVER, what="paths of mongod binaries", read=str),
    FactorKind(name=CACHE, scope=Scope.SERVER, what="cache of the server in GB", read=_cache),
    FactorKind(name=TOPOLOGY, scope=Scope.SERVER, what=TOPOLOGIES, read=read_topology),
    FactorKind(name=NETWORK, scope=Scope.SERVER, what="delay, each way, rate and loss: local, 0ms, 5ms+100mbit, 5ms+1%",
               read=read_network),
    FactorKind(name=PROTOCOL, scope=Scope.SERVER, what="kinds of databases: mongodb, mariadb, postgres",
               read=_database),
    FactorKind(name=SERVER, scope=Scope.SERVER, what="addresses of servers: mongodb://…, mysql://…, postgresql://…",
               read=_address),
    FactorKind(name=READ_PREFERENCE, scope=Scope.RUN, what="where reads go: primary, secondary, nearest …",
               read=_read_preference),
    FactorKind(name=COMPRESSION, scope=Scope.RUN, what="compressors of messages: none, snappy, zlib, zstd",
               read=_compressor),
)  # fmt: skip
KINDS: Mapping[str, FactorKind] = {kind.name: kind for kind in _ALL}
"""Every factor by its name."""
_ALIASES = {
    "w": WRITE_CONCERN,
    "j": JOURNAL,
    "cache": CACHE,
    "cache-size": CACHE,
    "index": INDEXES,
    "index-set": INDEXES,
    "version": SERVER_VERSION,
    "compressors": COMPRESSION,
    "database": PROTOCOL,
    "uri": SERVER,
    "connection": CONNECTIONS,
}
