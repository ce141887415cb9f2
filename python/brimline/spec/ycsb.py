"""Owns what YCSB's properties mean here, with YCSB's names and defaults.

The core workload and the MongoDB binding: every property is either honoured or refused; nothing is ignored,
with one exception: a property that has YCSB's default value asks for nothing and is accepted wherever it
stands. Facts are those of YCSB's `CoreWorkload`, `Client`, `Measurements`, `MongoDbClient` and
`OptionsSupport`. What differs on purpose:

* `recordcount` must be given. YCSB takes 2147483647 when it is not, and then hits keys that don't exist.
* `target` is an offered rate: operations are due at i / target, and what waits is counted. YCSB throttles a
  closed loop.
* `mongodb.maxconnections` bounds what is in flight; connections follow `threadcount`.
* Shares are normalised by their sum, as YCSB does.
* Values of a length histogram are (bucket + 1) x BlockSize for every bucket. YCSB gives the last one bucket
  less.
* Without `operationcount` and `maxexecutiontime` a run lasts brimline's default; YCSB's never ends.
"""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brimline.spec.properties import Property
from brimline.spec.readers import RATE_OPS_PER_S_MAX
from brimline.spec.target import database_of_uri
from brimline.spec.ycsb_properties import PROPORTIONS, READS, READS_BY_KEY, UPDATES_BY_KEY, YcsbProperties

WORKLOAD_CLASSES = ("site.ycsb.workloads.CoreWorkload", "com.yahoo.ycsb.workloads.CoreWorkload")
_BINDING_CLASSES = ("site.ycsb.db.MongoDbClient", "com.yahoo.ycsb.db.MongoDbClient", "mongodb")
_LENGTH_LAWS = ("constant", "uniform", "zipfian", "histogram")
_HISTOGRAM_BYTES_MAX = 1024 * 1024

_MONGODB_WRITE_CONCERNS: Mapping[str, dict[str, Any]] = {
    "acknowledged": {"w": 1},
    "journaled": {"w": 1, "journal": True},
    "replica_acknowledged": {"w": 2},
    "majority": {"w": "majority"},
}
_POOL_SIZE = re.compile(r"(?:^|[&;])maxPoolSize=([^&;]*)", re.IGNORECASE)


# Where properties end up whose bounds the spec checks.
PROPERTY_AT: Mapping[str, str] = {
    "connections": "threadcount",
    "data.batch_size": "batchsize",
    "insert_batch_size": "batchsize",
    "insert_retries.interval": "core_workload_insertion_retry_interval",
    "insert_retries.limit": "core_workload_insertion_retry_limit",
    "data.collection": "table",
    "data.database": "mongodb.url",
    "data.field_length.length": "fieldlength",
    "data.field_length.max": "fieldlength",
    "data.field_name_prefix": "fieldnameprefix",
    "data.fields": "fieldcount",
    "data.records": "recordcount",
    "data.zero_padding": "zeropadding",
    "duration": "maxexecutiontime",
    "keys.data_fraction": "hotspotdatafraction",
    "keys.fraction": "exponential.frac",
    "keys.operation_fraction": "hotspotopnfraction",
    "keys.percentile": "exponential.percentile",
    "load.rate": "target",
    "max_pool_size": "mongodb.maxconnections",
    "operation_count": "operationcount",
    "scan_length.max": "maxscanlength",
    "target.uri": "mongodb.url",
}


def spec_values(
    given: Mapping[str, Property], *, name: str, asked_connections: int | None = None, loads_only: bool = False
) -> dict[str, Any]:
    """The plain values of a spec, as YAML would give them. Raises SpecError, which names the property.

    `loads_only`: it is for a load, which doesn't care what a run would do with the records.
    """
    properties = YcsbProperties(given)
    _check_classes(properties)
    shares = _shares(properties)
    batch_size = _batch_size(properties)
    per_operation = _commands_per_operation(shares, batch_size)
    connections = properties.whole("threadcount", minimum=1)
    values: dict[str, Any] = {
        "name": name,
        "data": _data(properties, batch_size=batch_size, inserts=shares["insert"] > 0, loads_only=loads_only),
        "operations": _commands(shares, batch_size),
        "keys": _keys(properties),
        "scan_length": _scan_length(properties, has_scans=shares["scan"] > 0),
        "read_all_fields": _reads_all_fields(properties),
        "name_read_fields": _names_read_fields(properties, has_reads=shares["read"] > 0),
        "verify_reads": _verifies(properties) and any(shares[name] for name in READS_BY_KEY),
        "upsert": properties.flag("mongodb.upsert"),
        "write_all_fields": _writes_all_fields(properties),
        "insert_batch_size": batch_size if shares["insert"] else 1,
        "insert_retries": _insert_retries(properties, batch_size),
        "load": _load(properties, per_operation),
        "connections": connections,
        "max_pool_size": _pool_size(properties, asked_connections or connections),
        "warmup": "0s",
        "target": _target(properties),
        **_end(properties, per_operation),
    }
    properties.refuse_the_rest()
    return values


def _check_classes(properties: YcsbProperties) -> None:
    if not properties.is_given("workload"):
        properties.refuse("workload", "is missing", f"add workload={WORKLOAD_CLASSES[0]}")
    workload = properties.text("workload", "")
    if workload not in WORKLOAD_CLASSES:
        properties.refuse(
            "workload",
            f'"{workload}" is not the core workload',
            f"brimline knows {' and '.join(WORKLOAD_CLASSES)}",
        )
    binding = properties.text("db", _BINDING_CLASSES[0])
    if binding not in _BINDING_CLASSES:
        properties.refuse("db", f'"{binding}" is not the MongoDB binding', f"remove db, or write {_BINDING_CLASSES[0]}")


def _shares(properties: YcsbProperties) -> dict[str, float]:
    shares = {operation: properties.number(name) for operation, name in PROPORTIONS.items()}
    total = math.fsum(shares.values())
    if total == 0:
        properties.refuse("readproportion", "the proportions add up to 0", "give at least one operation a proportion")
    return {operation: share / total for operation, share in shares.items()}


def _commands(shares: Mapping[str, float], batch_size: int) -> dict[str, float]:
    """Shares of the commands: YCSB's binding gathers inserts, and sends them when they are `batch_size`."""
    inserts = shares["insert"] / batch_size
    commands = {**shares, "insert": inserts}
    total = math.fsum(commands.values())
    return {operation: share / total for operation, share in commands.items() if share}


def _commands_per_operation(shares: Mapping[str, float], batch_size: int) -> float:
    return 1.0 - shares["insert"] + shares["insert"] / batch_size


def _insert_retries(properties: YcsbProperties, batch_size: int) -> dict[str, Any] | None:
    names = ("core_workload_insertion_retry_limit", "core_workload_insertion_retry_interval")
    limit = properties.whole(names[0])
    properties.only_when(limit > 0, [names[1]], f"with {names[0]}=0")
    interval_s = properties.whole(names[1])
    if limit and batch_size > 1:
        properties.refuse(names[0], f"is for single inserts, but batchsize is {batch_size}", f"remove {names[0]}")
    return {"limit": limit, "interval": f"{interval_s}s"} if limit else None


def _data(properties: YcsbProperties, *, batch_size: int, inserts: bool, loads_only: bool) -> dict[str, Any]:
    record_count = _record_count(properties)
    insert_start = properties.whole("insertstart")
    if insert_start >= record_count:
        properties.refuse(
            "insertstart",
            f"must be below recordcount {record_count}, but is {insert_start}",
            "lower it, or raise recordcount",
        )
    insert_count = properties.whole("insertcount", record_count - insert_start, minimum=1)
    end = insert_start + insert_count
    if end > record_count:
        properties.refuse(
            "insertcount",
            f"insertstart + insertcount is {end}, more than recordcount {record_count}",
            "lower one of them, or raise recordcount",
        )
    if end < record_count and not loads_only:
        _check_part(properties, record_count, end, inserts=inserts)
    url = properties.text("mongodb.url", "")
    database = database_of_uri(url)
    return {
        "records": insert_count,
        "insert_start": insert_start,
        "fields": properties.whole("fieldcount", minimum=1),
        "field_length": _field_length(properties),
        "field_name_prefix": properties.text("fieldnameprefix"),
        "insert_order": properties.choice("insertorder", ("hashed", "ordered")),
        "zero_padding": properties.whole("zeropadding"),
        "values": "derived" if _verifies(properties) else "random",
        "database": "ycsb" if database in (None, "admin") else database,
        "collection": properties.text("table"),
        "batch_size": batch_size,
    }


def _record_count(properties: YcsbProperties) -> int:
    if not properties.is_given("recordcount"):
        properties.refuse("recordcount", "is missing", "say how many records there are, such as -p recordcount=100000")
    return properties.whole("recordcount", minimum=1)


def _check_part(properties: YcsbProperties, record_count: int, end: int, *, inserts: bool) -> None:
    """`insertcount` cuts a part out of the records; in a run only laws that stay inside it mean the same here."""
    if inserts or properties.text("requestdistribution") in ("latest", "exponential"):
        properties.refuse(
            "insertcount",
            f"ends at record {end} while new records begin at {record_count}",
            "a run with inserts, latest or exponential needs insertstart + insertcount = recordcount",
        )


def _batch_size(properties: YcsbProperties) -> int:
    blocking = properties.whole("batchsize", minimum=1)
    reactive = properties.whole("mongodb.batchsize", blocking, minimum=1)
    if properties.is_given("batchsize") and blocking != reactive:
        properties.refuse("mongodb.batchsize", f"is {reactive} while batchsize is {blocking}", "give one of the two")
    return reactive


def _field_length(properties: YcsbProperties) -> dict[str, Any]:
    kind = properties.choice("fieldlengthdistribution", _LENGTH_LAWS)
    when = f"with fieldlengthdistribution={kind}"
    properties.only_when(kind in ("uniform", "zipfian"), ["minfieldlength"], when)
    properties.only_when(kind == "histogram", ["fieldlengthhistogram"], when)
    properties.only_when(kind != "histogram", ["fieldlength"], when)
    if kind == "histogram":
        return {"kind": kind, "weights": _length_weights(properties)}
    length = properties.whole("fieldlength")
    if kind == "constant":
        return {"kind": kind, "length": length}
    minimum = properties.whole("minfieldlength")
    if minimum > length:
        properties.refuse("minfieldlength", f"is {minimum}, more than fieldlength {length}", "swap them")
    return {"kind": kind, "min": minimum, "max": length}


def _length_weights(properties: YcsbProperties) -> dict[int, float]:
    """Reads YCSB's histogram file: "BlockSize<TAB>n", then "bucket<TAB>count" from bucket 0 on."""
    name = "fieldlengthhistogram"
    path = Path(properties.text(name))
    try:
        with path.open("rb") as file:
            data = file.read(_HISTOGRAM_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        properties.refuse(name, f"can't read {path}: {getattr(error, 'strerror', None) or error}", "check the path")
    if len(data) > _HISTOGRAM_BYTES_MAX:
        properties.refuse(name, f"{path} is larger than {_HISTOGRAM_BYTES_MAX // 1024} KiB")
    try:
        rows = [line.split("\t") for line in data.decode("ascii").splitlines()]
        (title, block_size), buckets = rows[0], [(int(bucket), int(count)) for bucket, count in rows[1:]]
        block = int(block_size)
    except (ValueError, IndexError):
        title, block, buckets = "", 0, []
    if title != "BlockSize" or block < 1 or [bucket for bucket, _ in buckets] != list(range(len(buckets))):
        properties.refuse(
            name,
            f"{path} is no length histogram",
            '"BlockSize<TAB>n" comes first, then "0<TAB>count", "1<TAB>count" …',
        )
    weights = {(bucket + 1) * block: float(count) for bucket, count in buckets}
    if min(weights.values(), default=0) < 0 or not any(weights.values()):
        properties.refuse(name, f"{path} needs a count above 0 and none below")
    return weights


def _keys(properties: YcsbProperties) -> dict[str, Any]:
    kinds = ("uniform", "zipfian", "latest", "hotspot", "exponential", "sequential")
    kind = properties.choice("requestdistribution", kinds)
    when = f"with requestdistribution={kind}"
    properties.only_when(kind == "hotspot", ["hotspotdatafraction", "hotspotopnfraction"], when)
    properties.only_when(kind == "exponential", ["exponential.percentile", "exponential.frac"], when)
    match kind:
        case "zipfian" | "latest":
            return {"kind": kind, "theta": 0.99}
        case "hotspot":
            return {
                "kind": kind,
                "data_fraction": properties.number("hotspotdatafraction"),
                "operation_fraction": properties.number("hotspotopnfraction"),
            }
        case "exponential":
            return {
                "kind": kind,
                "percentile": properties.number("exponential.percentile"),
                "fraction": properties.number("exponential.frac"),
            }
    return {"kind": kind}


def _verifies(properties: YcsbProperties) -> bool:
    """YCSB writes values that follow from key and field then, and compares what it reads with them."""
    wanted = properties.flag("dataintegrity")
    if wanted and properties.choice("fieldlengthdistribution", _LENGTH_LAWS) != "constant":
        properties.refuse(
            "dataintegrity", "needs fields of one length", "write fieldlengthdistribution=constant, YCSB's default"
        )
    return wanted


def _reads_all_fields(properties: YcsbProperties) -> bool:
    all_fields = properties.flag("readallfields")
    if not all_fields:
        properties.needs("readallfields", *READS)
    return all_fields


def _writes_all_fields(properties: YcsbProperties) -> bool:
    """An insert always writes all of them."""
    all_fields = properties.flag("writeallfields")
    if all_fields:
        properties.needs("writeallfields", *UPDATES_BY_KEY)
    return all_fields


def _names_read_fields(properties: YcsbProperties, *, has_reads: bool) -> bool:
    """Only reads by key name their fields in YCSB: the read of a read-modify-write and a scan ask for all of them."""
    named = properties.flag("readallfieldsbyname")
    if named and not properties.flag("readallfields"):
        properties.refuse(
            "readallfieldsbyname", "would have no effect with readallfields=false", "remove readallfieldsbyname"
        )
    if named:
        properties.needs("readallfieldsbyname", "read")
    return named or (_verifies(properties) and has_reads and properties.flag("readallfields"))


def _scan_length(properties: YcsbProperties, *, has_scans: bool) -> dict[str, Any]:
    lengths = ["minscanlength", "maxscanlength", "scanlengthdistribution"]
    properties.only_when(has_scans, lengths, "with scanproportion=0")
    kind = properties.choice("scanlengthdistribution", ("uniform", "zipfian"))
    minimum = properties.whole("minscanlength", minimum=1)
    maximum = properties.whole("maxscanlength", minimum=1)
    if minimum > maximum:
        properties.refuse("minscanlength", f"is {minimum}, more than maxscanlength {maximum}", "swap them")
    return {"kind": kind, "min": minimum, "max": maximum}


def _load(properties: YcsbProperties, per_operation: float) -> dict[str, Any]:
    target = properties.whole("target")
    if target > RATE_OPS_PER_S_MAX:
        properties.refuse(
            "target", f"must be at most {RATE_OPS_PER_S_MAX:.0f} a second, but is {target}", "write it like target=5000"
        )
    return {"kind": "constant", "rate": target * per_operation} if target else {"kind": "closed"}


def _end(properties: YcsbProperties, per_operation: float) -> dict[str, Any]:
    operation_count = properties.whole("operationcount")
    duration_s = properties.whole("maxexecutiontime")
    end: dict[str, Any] = {}
    if operation_count:
        end["operation_count"] = max(1, round(operation_count * per_operation))
    if duration_s:
        end["duration"] = f"{duration_s}s"
    return end


def _pool_size(properties: YcsbProperties, connections: int) -> int | None:
    """The pool of YCSB's driver; None where its bound holds by itself, as each thread has a place in it.

    `mongodb.maxconnections` is how YCSB writes the `maxPoolSize` of an address, and as there 0 bounds nothing.
    """
    name = "mongodb.maxconnections"
    size = properties.whole(name, 0)
    _, of_url = _split_pool_size(properties)
    if of_url is not None and properties.is_given(name):
        properties.refuse(name, "would have no effect: mongodb.url has a maxPoolSize", "give one of the two")
    size = size if of_url is None else of_url
    return size if 0 < size < connections else None


def _split_pool_size(properties: YcsbProperties) -> tuple[str, int | None]:
    """The address without its `maxPoolSize`, and that. One that is wrong is left to who reads addresses."""
    url = properties.text("mongodb.url", "")
    base, _, options = url.partition("?")
    sizes = set(_POOL_SIZE.findall(options))
    if not sizes or "@" in options:
        return url, None
    if len(sizes) > 1:
        properties.refuse("mongodb.url", "sets maxPoolSize twice", "give it once")
    (text,) = sizes
    if not re.fullmatch("[0-9]+", text):
        properties.refuse("mongodb.url", "has a maxPoolSize that is no whole number", "write it like maxPoolSize=100")
    kept = _POOL_SIZE.sub("", options).lstrip("&;")
    return f"{base}?{kept}" if kept else base, int(text)


def _target(properties: YcsbProperties) -> dict[str, Any]:
    target: dict[str, Any] = {}
    if properties.is_given("mongodb.url"):
        target["uri"], _ = _split_pool_size(properties)
    if properties.is_given("mongodb.writeConcern"):
        word = properties.choice("mongodb.writeConcern", tuple(_MONGODB_WRITE_CONCERNS), any_case=True)
        target["write_concern"] = _MONGODB_WRITE_CONCERNS[word]
    return target
