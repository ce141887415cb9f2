"""Owns the properties that only `brimline ycsb` honours: what YCSB's client measures, prints and writes, and where.

`brimline run` and `load` have reports of their own and refuse these (`ycsb_properties.WITHOUT_EFFECT`). Here too a
property is honoured or refused. What differs from YCSB on purpose: percentiles that can't be read are an error and not
a warning.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from brimline.errors import redact_uri
from brimline.spec.properties import Property
from brimline.spec.ycsb_properties import DEFAULTS, FRONT_ONLY, PROPORTIONS, READS, WRITES, YcsbProperties

Phase = Literal["load", "run"]
MeasurementType = Literal[
    "hdrhistogram", "histogram", "hdrhistogram+histogram", "hdrhistogram+raw", "timeseries", "raw"
]
MeasurementInterval = Literal["op", "intended", "both"]
Exporter = Literal["text", "json", "json array"]

URL_DEFAULT: Final = "mongodb://localhost:27017/ycsb?w=1"
FAILED_STATUSES: Final = ("NOT_FOUND", "ERROR")
"""What YCSB's MongoDB binding says of a call that did not succeed."""

_EXPORTER_CLASSES: Final[Mapping[str, Exporter]] = {
    "TextMeasurementsExporter": "text",
    "JSONMeasurementsExporter": "json",
    "JSONArrayMeasurementsExporter": "json array",
}
_EXPORTER_PACKAGES: Final = ("site.ycsb.measurements.exporter", "com.yahoo.ycsb.measurements.exporter")
_READ_PREFERENCES: Final[Mapping[str, str]] = {
    "primary": "primary",
    "primary_preferred": "primaryPreferred",
    "secondary": "secondary",
    "secondary_preferred": "secondaryPreferred",
    "nearest": "nearest",
}
# What no load does. Not `operationcount`: who has one list of words for both phases counts in it.
_RUN_ONLY: Final = (
    *PROPORTIONS.values(),
    "readallfields", "readallfieldsbyname", "writeallfields",
    "requestdistribution", "hotspotdatafraction", "hotspotopnfraction",
    "exponential.percentile", "exponential.frac",
    "minscanlength", "maxscanlength", "scanlengthdistribution",
    "mongodb.readPreference",
)  # fmt: skip
_WRITE_CONCERN_OPTIONS: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "acknowledged": (("w", "1"),),
    "journaled": (("journal", "true"), ("j", "true")),
    "replica_acknowledged": (("w", "2"),),
    "majority": (("w", "majority"),),
}
_TYPES: Final = ("hdrhistogram", "histogram", "hdrhistogram+histogram", "hdrhistogram+raw", "timeseries", "raw")
_HIGHEST_BUCKETS: Final = 10_000_000
# A sample interval of brimline is 10 ms to 1 h.
_GRANULARITY_MS_MIN, _GRANULARITY_MS_MAX = 10, 3_600_000
_STATUS_INTERVAL_S_MAX: Final = 86_400
_MS_PER_S: Final = 1000
_COARSE_ENOUGH_MS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class YcsbOutput:
    """What YCSB's client is asked to measure and print.

    `address` is the server's as YCSB prints it, without what is secret. `percentiles` are in percent. `hdr_path` is
    what names of `.hdr` files begin with, None without such files.
    `export_file` is None for standard output, and so is `raw_file`, which takes every latency of a raw measurement.
    `tracked_errors` are the statuses whose latencies are kept apart, None for all of them; those of all others go into
    one `-FAILED` measurement.
    """

    phase: Phase
    address: str
    measurement_type: MeasurementType
    measurement_interval: MeasurementInterval
    percentiles: tuple[float, ...]
    verbose: bool
    bucket_count: int
    granularity_ms: int
    hdr_path: str | None
    raw_file: str | None
    raw_summary: bool
    exporter: Exporter
    export_file: Path | None
    status: bool
    status_interval_s: int
    label: str
    tracked_errors: frozenset[str] | None
    max_execution_time_s: int
    target_ops_per_s: int
    operation_count: int

    @property
    def is_raw(self) -> bool:
        """Whether every latency is wanted."""
        return "raw" in self.measurement_type

    @property
    def sample_interval_ms(self) -> int:
        """How often a time series needs samples: at most a second apart where status lines can have it so."""
        common = math.gcd(self.granularity_ms, _MS_PER_S)
        return common if self.granularity_ms > _MS_PER_S and common >= _COARSE_ENOUGH_MS else self.granularity_ms


def split_front(given: Mapping[str, Property], *, phase: Phase) -> tuple[YcsbOutput, dict[str, Property]]:
    """The client's own settings, and the properties that say what is done. Raises SpecError."""
    properties = YcsbProperties(given)
    _check_phase(properties, phase)
    kind = _measurement_type(properties)
    verbose = properties.flag("measurement.histogram.verbose")
    url = given.get("mongodb.url", Property(URL_DEFAULT, "YCSB's default"))
    address = _printed_address(properties, url.value)
    url = replace(url, value=_with_read_preference(properties, url.value))
    output = YcsbOutput(
        phase=phase,
        address=address,
        measurement_type=kind,
        measurement_interval=_interval(properties),
        percentiles=_percentiles(properties, kind),
        verbose=verbose,
        bucket_count=_bucket_count(properties, kind),
        granularity_ms=_granularity_ms(properties, kind),
        hdr_path=_hdr_path(properties, kind),
        raw_file=_raw_file(properties, kind),
        raw_summary=not _raw_flag(properties, kind),
        exporter=_exporter(properties),
        export_file=_export_file(properties),
        tracked_errors=_tracked_errors(properties),
        max_execution_time_s=properties.whole("maxexecutiontime"),
        target_ops_per_s=properties.whole("target"),
        operation_count=properties.whole("operationcount"),
        status=properties.flag("status"),
        status_interval_s=_status_interval_s(properties),
        label=properties.text("label"),
    )
    properties.only_when(
        kind not in ("timeseries", "raw"), ["measurement.histogram.verbose"], f"with measurementtype={kind}"
    )
    rest = {name: value for name, value in given.items() if name not in FRONT_ONLY}
    return output, {**rest, "mongodb.url": url}


def _printed_address(properties: YcsbProperties, url: str) -> str:
    """The address as YCSB's binding prints it: with what properties ask of the driver and it doesn't say itself."""
    address = url.strip()
    for option, value in _driver_options(properties):
        if f"{option}=" not in address:
            address += f"{'&' if '?' in address else '?'}{option}={value}"
    return redact_uri(address)


def _driver_options(properties: YcsbProperties) -> Iterator[tuple[str, str]]:
    """What properties ask of the driver, in the order in which YCSB's `OptionsSupport` adds it."""
    if size := properties.text("mongodb.maxconnections", ""):
        yield "maxPoolSize", size
    if times := properties.text("mongodb.threadsAllowedToBlockForConnectionMultiplier", ""):
        yield "waitQueueMultiple", times
    yield from _WRITE_CONCERN_OPTIONS.get(properties.text("mongodb.writeConcern", "").lower(), ())
    if mode := _READ_PREFERENCES.get(properties.text("mongodb.readPreference", "").lower()):
        yield "readPreference", mode


def _with_read_preference(properties: YcsbProperties, url: str) -> str:
    """The address with `mongodb.readPreference` as its option, which is how YCSB's binding hands it on."""
    name = "mongodb.readPreference"
    if not properties.is_given(name):
        return url
    mode = _READ_PREFERENCES[properties.choice(name, tuple(_READ_PREFERENCES), any_case=True)]
    if mode != "primary":
        properties.needs(name, *READS)
    if "readpreference=" in url.lower():
        properties.refuse(name, "would have no effect: mongodb.url has a readPreference", "give one of the two")
    base, _, options = url.strip().partition("?")
    if "/" not in base.partition("://")[2]:
        base += "/"
    return f"{base}?{'&'.join(filter(None, (options, f'readPreference={mode}')))}"


def _check_phase(properties: YcsbProperties, phase: Phase) -> None:
    transactions = phase == "run"
    if properties.flag("dotransactions", default=transactions) is not transactions:
        properties.refuse("dotransactions", f"contradicts `ycsb {phase}`", "remove dotransactions")
    if transactions:
        _check_load_only(properties)
    else:
        _check_run_only(properties)


def _check_load_only(properties: YcsbProperties) -> None:
    """What only the load of a workload does is refused when a run is asked for it by name.

    A file describes both phases and may say it all the same.
    """
    asked = ["mongodb.upsert"] if properties.flag("mongodb.upsert") else []
    asked += [name for name in ("batchsize", "mongodb.batchsize") if properties.whole(name, minimum=1) > 1]
    for name in asked:
        if properties.given[name].by_word:
            properties.needs(name, "insert", verb="ycsb run")
    name = "mongodb.writeConcern"
    if not properties.is_default(name) and properties.given[name].by_word:
        properties.needs(name, *WRITES, verb="ycsb run")
    for name in ("core_workload_insertion_retry_limit", "core_workload_insertion_retry_interval"):
        if properties.whole(name) != int(DEFAULTS[name]) and properties.given[name].by_word:
            why = "would have no effect on `ycsb run`: only inserts of a load are attempted again"
            properties.refuse(name, why, f"remove {name}, or give it to `ycsb load`")


def _check_run_only(properties: YcsbProperties) -> None:
    """What only runs of a workload do is refused when a load is asked for it by name; a file may say it."""
    for name in _RUN_ONLY:
        if not properties.is_default(name) and properties.given[name].by_word:
            why = "would have no effect on `ycsb load`, which only inserts"
            properties.refuse(name, why, f"remove {name}, or give it to `ycsb run`")


def _measurement_type(properties: YcsbProperties) -> MeasurementType:
    kind = properties.choice("measurementtype", _TYPES, any_case=True)
    if "raw" in kind and properties.flag("dataintegrity"):
        properties.refuse(
            "dataintegrity",
            f"measurementtype={kind} keeps no single times of VERIFY",
            "write measurementtype=hdrhistogram",
        )
    return kind  # type: ignore[return-value]


def _interval(properties: YcsbProperties) -> MeasurementInterval:
    return properties.choice("measurement.interval", ("op", "intended", "both"))  # type: ignore[return-value]


def _percentiles(properties: YcsbProperties, kind: MeasurementType) -> tuple[float, ...]:
    name = "hdrhistogram.percentiles"
    properties.only_when("hdrhistogram" in kind, [name], f"with measurementtype={kind}")
    text = properties.text(name)
    try:
        percentiles = tuple(float(part) for part in text.split(","))
    except ValueError:
        percentiles = ()
    if not percentiles or not all(0 < percentile <= 100 for percentile in percentiles):
        properties.refuse(name, f'must be numbers above 0 and up to 100, but is "{text}"', "such as 50,95,99,99.9")
    return percentiles


def _bucket_count(properties: YcsbProperties, kind: MeasurementType) -> int:
    name = "histogram.buckets"
    has_buckets = kind in ("histogram", "hdrhistogram+histogram")
    properties.only_when(has_buckets, [name], f"with measurementtype={kind}")
    count = properties.whole(name, minimum=1)
    if count > _HIGHEST_BUCKETS:
        properties.refuse(name, f"must be at most {_HIGHEST_BUCKETS}, but is {count}", "a bucket is 1 ms wide")
    return count


def _granularity_ms(properties: YcsbProperties, kind: MeasurementType) -> int:
    name = "timeseries.granularity"
    properties.only_when(kind == "timeseries", [name], f"with measurementtype={kind}")
    granularity_ms = properties.whole(name)
    if not _GRANULARITY_MS_MIN <= granularity_ms <= _GRANULARITY_MS_MAX:
        properties.refuse(
            name,
            f"must be {_GRANULARITY_MS_MIN} to {_GRANULARITY_MS_MAX} ms, but is {granularity_ms}",
            f"write it like {name}=1000",
        )
    return granularity_ms


def _hdr_path(properties: YcsbProperties, kind: MeasurementType) -> str | None:
    wanted = properties.flag("hdrhistogram.fileoutput")
    if wanted and "hdrhistogram" not in kind:
        properties.refuse(
            "hdrhistogram.fileoutput",
            f"would have no effect with measurementtype={kind}",
            "write measurementtype=hdrhistogram",
        )
    properties.only_when(wanted, ["hdrhistogram.output.path"], "without hdrhistogram.fileoutput=true")
    path = properties.text("hdrhistogram.output.path")
    if wanted:
        _check_directory(properties, "hdrhistogram.output.path", Path(f"{path}X.hdr"))
    return path if wanted else None


def _raw_file(properties: YcsbProperties, kind: MeasurementType) -> str | None:
    """A name as it was given, because it is printed; YCSB appends to the file."""
    name = "measurement.raw.output_file"
    properties.only_when("raw" in kind, [name], f"with measurementtype={kind}")
    text = properties.text(name, "")
    if not text:
        return None
    path = Path(text)
    if path.name in ("", "..") or path.is_dir():
        properties.refuse(name, "names no file", f"write it like {name}=latencies.txt, or leave it out")
    _check_directory(properties, name, path)
    return text


def _raw_flag(properties: YcsbProperties, kind: MeasurementType) -> bool:
    name = "measurement.raw.no_summary"
    properties.only_when("raw" in kind, [name], f"with measurementtype={kind}")
    return properties.flag(name)


def _exporter(properties: YcsbProperties) -> Exporter:
    text = properties.text("exporter", f"{_EXPORTER_PACKAGES[0]}.TextMeasurementsExporter")
    package, _, name = text.rpartition(".")
    if package not in _EXPORTER_PACKAGES or name not in _EXPORTER_CLASSES:
        known = ", ".join(f"{_EXPORTER_PACKAGES[0]}.{each}" for each in _EXPORTER_CLASSES)
        properties.refuse("exporter", f'there is no "{text}"', f"brimline knows {known}")
    return _EXPORTER_CLASSES[name]


def _export_file(properties: YcsbProperties) -> Path | None:
    if not properties.is_given("exportfile"):
        return None
    path = Path(properties.text("exportfile", ""))
    if path.name in ("", "..") or path.is_dir():
        properties.refuse("exportfile", "names no file", "write it like exportfile=results.txt, or leave it out")
    _check_directory(properties, "exportfile", path)
    return path


def _check_directory(properties: YcsbProperties, name: str, path: Path) -> None:
    """A result that can't be written is known before anything is sent."""
    if not path.parent.is_dir():
        properties.refuse(name, f"there is no directory {path.parent}", "make it, or name another")


def _tracked_errors(properties: YcsbProperties) -> frozenset[str] | None:
    each = properties.flag("reportlatencyforeacherror")
    name = "latencytrackederrors"
    statuses = frozenset(filter(None, map(str.strip, properties.text(name, "").split(","))))
    if each and statuses:
        properties.refuse(name, "would have no effect with reportlatencyforeacherror=true", "give one of the two")
    unknown = statuses.difference(FAILED_STATUSES)
    if unknown:
        known = " and ".join(FAILED_STATUSES)
        properties.refuse(name, f'"{min(unknown)}" would have no effect: no call returns it', f"failures are {known}")
    return None if each else statuses


def _status_interval_s(properties: YcsbProperties) -> int:
    properties.only_when(properties.flag("status"), ["status.interval", "label"], "without status lines (-s)")
    interval_s = properties.whole("status.interval", minimum=1)
    if interval_s > _STATUS_INTERVAL_S_MAX:
        properties.refuse(
            "status.interval",
            f"must be at most {_STATUS_INTERVAL_S_MAX} s, but is {interval_s}",
            "write it like status.interval=10",
        )
    return interval_s
