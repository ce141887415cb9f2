"""Owns the table of what can be varied: how the levels of each factor are written, and what another level changes.

A factor is one entry of the table and nothing else.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from brimline.errors import redact_uri
from brimline.servers.access import COMPRESSORS
from brimline.servers.catalogue import RELEASES
from brimline.servers.compression import NONE
from brimline.servers.faults.kinds import KINDS as FAULTS
from brimline.servers.lab.names import EXAMPLES, TOPOLOGIES, read_topology
from brimline.servers.lab.network import read_network
from brimline.servers.selection import MODES
from brimline.spec import Spec
from brimline.spec.readers import CONNECTION_COUNT_MAX
from brimline.spec.target import CLIENTS, read_acknowledgement
from brimline.units import NS_PER_S, count_text, duration_text, parse_bytes, parse_count, parse_duration, parse_rate

WORKLOAD = "workload"
CLIENT = "client"
CONNECTIONS = "connections"
IN_FLIGHT = "in-flight"
POOL = "max-pool-size"
RATE = "rate"
TLR_THREADS = "tlr-threads"
LOOPS = "loops"
RAMP_UP = "ramp-up"
RECORDS = "records"
FIELD_LENGTH = "field-length"
DOCUMENT_BYTES = "document-bytes"
BATCH_SIZE = "batch-size"
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
RETRYABLE_WRITES = "retryable-writes"
FAULT = "fault"
NODES = "nodes"
PROTOCOL = "protocol"
SERVER = "server"
DATABASES = ("mongodb", "mariadb", "postgres")
"""Levels of the factor protocol: kinds of servers that brimline starts."""
NO_INDEX = "none"
_GB = 10**9
_KEYS = ("uniform", "sequential", "zipfian", "latest", "hotspot", "exponential")
_VERSION = re.compile(r"\d{1,2}(\.\d{1,3}){1,2}")
_INDEX = re.compile(r"[\w.]+(\+[\w.]+)*")


class Scope(StrEnum):
    """What another level needs: another run, other data, or another server."""

    RUN = "run"
    DATA = "data"
    SERVER = "server"


OfSpec = Callable[[Spec], object]
"""A value that follows from the workload; None where nothing is to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a level changes: of a workload by `spec` path, of the surroundings by `options`, of the client's `place`.

    `said`: what it says to a measure that takes such a word; the workload then stays as it is.
    """

    spec: Mapping[str, object | OfSpec] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    place: Mapping[str, str] = field(default_factory=dict)
    said: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorKind:
    """Something that can be varied. `read` gives the one spelling of a level, or raises ValueError.

    `change` is what a level, so spelt, comes to. `of_mongodb`: other databases don't have it. `largest_loads`: numbers
    of which every load takes the largest, so that loads compare. `is_loading`: no part of the data, and a load goes
    otherwise by it all the same. `levels`: those that have names.
    """

    name: str
    scope: Scope
    what: str
    read: Callable[[str], str]
    change: Callable[[str], Change] = lambda _level: Change()
    of_mongodb: bool = False
    largest_loads: bool = False
    is_loading: bool = False
    levels: tuple[str, ...] = ()


def _spec(path: str) -> Callable[[str], Change]:
    return lambda level: Change(spec={path: level})


def _option(name: str, value: Callable[[str], object] = str) -> Callable[[str], Change]:
    return lambda level: Change(options={name: value(level)})


def _place(name: str) -> Callable[[str], Change]:
    return lambda level: Change(place={name: level})


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
    return str(read_acknowledgement(text))


def _client(text: str) -> str:
    if text not in CLIENTS:
        raise ValueError(f"must be one of {', '.join(CLIENTS)}, not {text}")
    return text


def _journal(text: str) -> str:
    if text not in ("true", "false"):
        raise ValueError(f"must be true or false, not {text}")
    return text


def _version(text: str) -> str:
    if not _VERSION.fullmatch(text):
        raise ValueError(f"{text} is no version; write it like 4.4 or 6.0.27")
    return text


def _indexes(text: str) -> str:
    if text == "primary":
        return NO_INDEX
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
        raise ValueError(f"{redact_uri(text)} is no address; write it like mysql://HOST/DATABASE")
    user_info = rest.partition("/")[0].rpartition("@")[0]
    if ":" in user_info:
        raise ValueError("an address with a password would be shown in every table; give BRIMLINE_PASSWORD instead")
    return text


def _switch(text: str) -> str:
    level = {"true": "on", "false": "off"}.get(text.lower(), text.lower())
    if level not in ("on", "off"):
        raise ValueError(f"must be on or off, not {text}")
    return level


def _fault(text: str) -> str:
    name, colon, _ = text.partition(":")
    if name not in FAULTS or (colon and not FAULTS[name].takes):
        raise ValueError(f"must be one of {', '.join(FAULTS)}, not {text}")
    return text


def _compressor(text: str) -> str:
    levels = (NONE, *COMPRESSORS)
    if text.lower() not in levels:
        raise ValueError(f"must be one of {', '.join(levels)}, not {text}")
    return text.lower()


def _rate(text: str) -> str:
    return f"{parse_rate(text):g}"


def _ramp_up(text: str) -> str:
    duration_ns = parse_duration(text)
    if duration_ns <= 0:
        raise ValueError("must be longer than nothing")
    return duration_text(duration_ns)


def _bytes(text: str) -> str:
    size = parse_bytes(text) if text.endswith("B") else parse_count(text)
    if size < 1:
        raise ValueError("must be at least 1")
    return str(size)


def _acknowledged(level: str) -> Change:
    def concern(spec: Spec) -> object:
        stands = spec.target.effective_write_concern
        rest = {} if stands is None else {"journal": stands.journal, "timeout_ms": stands.timeout_ms}
        return {"w": level, **rest}

    return Change(spec={"target.write_concern": concern}, said={"write_concern": level})


def _journaled(level: str) -> Change:
    def concern(spec: Spec) -> object:
        stands = spec.target.effective_write_concern
        rest = {"w": 1} if stands is None else {"w": stands.w, "timeout_ms": stands.timeout_ms}
        return {"journal": level == "true", **rest}

    return Change(spec={"target.write_concern": concern}, said={"journal": level == "true"})


def _kind_of_database(level: str) -> Change:
    def concern(spec: Spec) -> object:
        """What the other databases do by themselves: nothing is acknowledged before a crash would keep it."""
        stands = spec.target.effective_write_concern is not None
        return None if stands or level != "mongodb" else {"w": 1, "journal": True}

    options = {"mariadb": level == "mariadb", "postgres": level == "postgres"}
    return Change(spec={"target.write_concern": concern}, options=options)


def _document_bytes(level: str) -> Change:
    """Bytes of all values of a document, spread over its fields."""
    return Change(spec={"data.field_length": lambda spec: max(1, int(level) // spec.data.field_count)})


def _counted(name: str, path: str) -> Callable[[str], Change]:
    """A number that some measures are told, and that else stands in the workload."""
    return lambda level: Change(spec={path: level}, said={name: int(level)})


_ALL = (
    FactorKind(name=WORKLOAD, scope=Scope.RUN, what="workloads, shipped ones or YAML files", read=str),
    FactorKind(name=CONNECTIONS, scope=Scope.RUN, what="numbers of connections", read=_connections,
               change=_counted("connections", "connections"), largest_loads=True),
    FactorKind(name=IN_FLIGHT, scope=Scope.RUN, what="how many of the connections are at work at once",
               read=_connections, change=_spec("in_flight"), largest_loads=True),
    FactorKind(name=POOL, scope=Scope.RUN, what="most sockets of a driver's pool, which workers share",
               read=_connections, change=_spec("max_pool_size")),
    FactorKind(name=RATE, scope=Scope.RUN, what="rates that are offered, such as 5000/s", read=_rate,
               change=lambda level: Change(spec={"load": {"kind": "constant", "rate": float(level)}})),
    FactorKind(name=TLR_THREADS, scope=Scope.RUN, what="T of T-L-R: threads, each with a connection",
               read=_connections, change=_spec("load.threads")),
    FactorKind(name=LOOPS, scope=Scope.RUN, what="L of T-L-R: operations of each thread", read=_connections,
               change=_counted("loops", "load.loops")),
    FactorKind(name=RAMP_UP, scope=Scope.RUN, what="R of T-L-R: in which the threads start, such as 10s", read=_ramp_up,
               change=lambda level: Change(spec={"load.ramp_up": level},
                                           said={"ramp_up_s": parse_duration(level) / NS_PER_S})),
    FactorKind(name=WRITE_CONCERN, scope=Scope.RUN, what='members, "majority" or a tag', read=_acknowledgement,
               change=_acknowledged, of_mongodb=True, is_loading=True),
    FactorKind(name=JOURNAL, scope=Scope.RUN, what="whether writes wait for the journal: true, false", read=_journal,
               change=_journaled, of_mongodb=True, is_loading=True, levels=("true", "false")),
    FactorKind(name="keys", scope=Scope.RUN, what="which records are taken: uniform, zipfian …", read=_keys,
               change=_spec("keys"), levels=_KEYS),
    FactorKind(name="threads", scope=Scope.RUN, what="threads of the generator", read=_connections,
               change=_spec("threads"), largest_loads=True),
    FactorKind(name=NODES, scope=Scope.RUN, what="how many of the nodes of --workers take part", read=_connections,
               change=_place("nodes")),
    FactorKind(name=CLIENT, scope=Scope.RUN, what=f"clients: {', '.join(CLIENTS)}", read=_client,
               change=_spec("target.client"), of_mongodb=True, is_loading=True, levels=CLIENTS),
    FactorKind(name=INDEXES, scope=Scope.DATA, what="none, single, compound, or fields such as a+b", read=_indexes,
               change=lambda level: Change(place={"indexes": level}, said={"indexes": level}),
               levels=(NO_INDEX, "single", "compound")),
    FactorKind(name=RECORDS, scope=Scope.DATA, what="numbers of records", read=_count, change=_spec("data.records")),
    FactorKind(name="fields", scope=Scope.DATA, what="fields of a document", read=_count, change=_spec("data.fields")),
    FactorKind(name=FIELD_LENGTH, scope=Scope.DATA, what="bytes of a field", read=_bytes,
               change=_spec("data.field_length")),
    FactorKind(name=DOCUMENT_BYTES, scope=Scope.DATA, what="bytes of a document's values, such as 1kB", read=_bytes,
               change=_document_bytes),
    FactorKind(name=BATCH_SIZE, scope=Scope.SERVER, what="documents per insert command of the load", read=_count,
               change=lambda level: Change(spec={"data.batch_size": level}, said={"batch_size": parse_count(level)})),
    FactorKind(name=SERVER_VERSION, scope=Scope.SERVER, what="versions of MongoDB", read=_version,
               change=_option("server_version"), of_mongodb=True, levels=tuple(each.version for each in RELEASES)),
    FactorKind(name=MONGOD, scope=Scope.SERVER, what="paths of mongod binaries", read=str,
               change=_option("mongod", Path), of_mongodb=True),
    FactorKind(name=CACHE, scope=Scope.SERVER, what="cache of the server in GB", read=_cache,
               change=_option("cache_gb", float)),
    FactorKind(name=TOPOLOGY, scope=Scope.SERVER, what=TOPOLOGIES, read=read_topology, change=_option("topology"),
               of_mongodb=True, levels=EXAMPLES),
    FactorKind(name=NETWORK, scope=Scope.SERVER, what="delay, each way, rate and loss: local, 0ms, 5ms+100mbit, 5ms+1%",
               read=read_network, change=_option("network"), of_mongodb=True),
    FactorKind(name=PROTOCOL, scope=Scope.SERVER, what="kinds of databases: mongodb, mariadb, postgres",
               read=_database, change=_kind_of_database, levels=DATABASES),
    FactorKind(name=SERVER, scope=Scope.SERVER, what="addresses of servers: mongodb://…, mysql://…, postgresql://…, http://…",
               read=_address, change=_option("uri")),
    FactorKind(name=READ_PREFERENCE, scope=Scope.RUN, what="where reads go: primary, secondary, nearest …",
               read=_read_preference, change=_place("reads"), of_mongodb=True, levels=tuple(MODES)),
    FactorKind(name=RETRYABLE_WRITES, scope=Scope.RUN, what="whether drivers send a write once more: on, off",
               read=_switch, change=_place("retries"), of_mongodb=True),
    FactorKind(name=FAULT, scope=Scope.RUN, what=f"of a failover: {', '.join(FAULTS)}", read=_fault,
               change=lambda level: Change(said={"fault": level}), of_mongodb=True),
    FactorKind(name=COMPRESSION, scope=Scope.RUN, what="compressors of messages: none, snappy, zlib, zstd",
               read=_compressor, change=_place("compression"), of_mongodb=True, is_loading=True,
               levels=(NONE, *COMPRESSORS)),
)  # fmt: skip
KINDS: Mapping[str, FactorKind] = {kind.name: kind for kind in _ALL}
"""Every factor by its name."""
ALIASES = {
    "w": WRITE_CONCERN,
    "workers": NODES,
    "j": JOURNAL,
    "cache": CACHE,
    "cache-size": CACHE,
    "index": INDEXES,
    "index-set": INDEXES,
    "version": SERVER_VERSION,
    "compressors": COMPRESSION,
    "retry-writes": RETRYABLE_WRITES,
    "retries": RETRYABLE_WRITES,
    "database": PROTOCOL,
    "uri": SERVER,
    "connection": CONNECTIONS,
    "pool": POOL,
    "field-bytes": FIELD_LENGTH,
    "document-size": DOCUMENT_BYTES,
    "durability": JOURNAL,
    "binary": MONGOD,
    "l": LOOPS,
    "r": RAMP_UP,
    "t": TLR_THREADS,
    "target": "client",
    "driver": "client",
}
