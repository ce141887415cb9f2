"""Owns typed access to YCSB properties: YCSB's defaults, and the refusal of what would have no effect."""

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn

from brimline import units
from brimline.errors import SpecError
from brimline.operations import KINDS
from brimline.spec.properties import Property

# YCSB's default of each property that has one, as it is written there.
DEFAULTS: Final[Mapping[str, str]] = {
    "batchsize": "1", "core_workload_insertion_retry_interval": "3", "core_workload_insertion_retry_limit": "0",
    "dataintegrity": "false", "dotransactions": "true", "exponential.frac": "0.8571428571",
    "exponential.percentile": "95", "fieldcount": "10", "fieldlength": "100",
    "fieldlengthdistribution": "constant", "fieldlengthhistogram": "hist.txt", "fieldnameprefix": "field",
    "hdrhistogram.fileoutput": "false", "hdrhistogram.output.path": "", "hdrhistogram.percentiles": "50,95,99",
    "histogram.buckets": "1000", "hotspotdatafraction": "0.2", "hotspotopnfraction": "0.8",
    "insertorder": "hashed", "insertproportion": "0", "insertstart": "0", "label": "",
    "latencytrackederrors": "", "maxexecutiontime": "0", "maxscanlength": "1000",
    "measurement.histogram.verbose": "false", "measurement.interval": "op",
    "measurement.raw.no_summary": "false", "measurement.raw.output_file": "", "measurement.trackjvm": "false",
    "measurementtype": "hdrhistogram", "minfieldlength": "1", "minscanlength": "1", "mongodb.batchsize": "1",
    "mongodb.readPreference": "primary", "mongodb.threadsAllowedToBlockForConnectionMultiplier": "5",
    "mongodb.upsert": "false", "mongodb.writeConcern": "acknowledged", "operationcount": "0",
    "readallfields": "true", "readallfieldsbyname": "false", "readmodifywriteproportion": "0",
    "readproportion": "0.95", "recordcount": "0", "reportlatencyforeacherror": "false",
    "requestdistribution": "uniform", "scanlengthdistribution": "uniform", "scanproportion": "0",
    "spin.sleep": "false", "status": "false", "status.interval": "10", "table": "usertable", "target": "0",
    "threadcount": "1", "timeseries.granularity": "1000", "updateproportion": "0.05", "writeallfields": "false",
    "zeropadding": "1",
}  # fmt: skip
# Properties that change nothing here, and why; their default is accepted.
WITHOUT_EFFECT: Final[Mapping[str, str]] = {
    "basicdb.verbose": "it belongs to another binding",
    "dotransactions": "`brimline load` loads and `brimline run` runs",
    "exporter": "results have their own formats",
    "exportfile": "use --json",
    "hdrhistogram.fileoutput": "every run directory has a latency.hlog",
    "hdrhistogram.output.path": "every run directory has a latency.hlog",
    "hdrhistogram.percentiles": "histograms keep every percentile",
    "histogram.buckets": "latencies are kept in HdrHistograms",
    "label": "name the workload instead",
    "latencytrackederrors": "failures are counted by code",
    "measurement.histogram.verbose": "histograms are kept in latency.hlog",
    "measurement.interval": "response and service times are both always recorded",
    "measurement.raw.no_summary": "latencies are kept in HdrHistograms, or with operation_log one by one",
    "measurement.raw.output_file": "latencies are kept in HdrHistograms, or with operation_log one by one",
    "measurement.trackjvm": "there is no JVM",
    "measurementtype": "latencies are kept in HdrHistograms",
    "mongodb.readPreference": "the connection string says where reads go",
    "mongodb.threadsAllowedToBlockForConnectionMultiplier": "however many operations wait, none fails for it",
    "reportlatencyforeacherror": "failures are counted by code",
    "spin.sleep": "brimline has its own timing",
    "status": "progress is always shown",
    "status.interval": "progress is always shown",
    "timeseries.granularity": "samples have their own interval",
}
ADDRESS_HINT: Final = "all of it is in the address: -p mongodb.url='mongodb://USER@HOST:PORT/DATABASE?OPTION=VALUE'"
_OF_ADDRESS: Final = re.compile(
    r"mongodb\.(?:hosts?|port|uri|database|db|(?:user|password|auth|ssl|tls|replica)\w*|w|j|journal)|hosts?|port",
    re.IGNORECASE,
)
"""What other clients, and bindings of other databases, have as properties of their own."""
# Earlier releases of YCSB had this default.
_DEFAULTS_BEFORE: Final[Mapping[str, str]] = {"hdrhistogram.percentiles": "95,99"}

# Properties that `spec.ycsb` honours.
HONOURED: Final = (
    "workload", "db", "table", "recordcount", "insertstart", "insertcount", "operationcount",
    "maxexecutiontime", "threadcount", "target", "fieldcount", "fieldlength", "minfieldlength",
    "fieldlengthdistribution", "fieldlengthhistogram", "fieldnameprefix", "readallfields", "readallfieldsbyname",
    "dataintegrity", "writeallfields",
    "readproportion", "updateproportion", "insertproportion", "scanproportion", "readmodifywriteproportion",
    "requestdistribution", "hotspotdatafraction", "hotspotopnfraction", "exponential.percentile",
    "exponential.frac", "minscanlength", "maxscanlength", "scanlengthdistribution", "insertorder",
    "zeropadding", "mongodb.url", "mongodb.writeConcern", "mongodb.maxconnections", "batchsize",
    "mongodb.batchsize", "mongodb.upsert", "core_workload_insertion_retry_limit",
    "core_workload_insertion_retry_interval",
)  # fmt: skip
KNOWN_NAMES: Final = (*HONOURED, *WITHOUT_EFFECT)
# Properties of YCSB's client, which `brimline ycsb` honours.
FRONT_ONLY: Final = (
    "dotransactions", "exporter", "exportfile", "hdrhistogram.fileoutput", "hdrhistogram.output.path",
    "hdrhistogram.percentiles", "histogram.buckets", "label", "latencytrackederrors",
    "measurement.histogram.verbose", "measurement.interval", "measurement.raw.no_summary",
    "measurement.raw.output_file", "measurementtype", "mongodb.readPreference", "reportlatencyforeacherror", "status",
    "status.interval", "timeseries.granularity",
)  # fmt: skip
# The share that an operation has of a run.
_SHARED: Final = tuple(kind for kind in KINDS.values() if kind.ycsb_share)
PROPORTIONS: Final[Mapping[str, str]] = {kind.name: kind.ycsb_share for kind in _SHARED}
READS_BY_KEY: Final = tuple(kind.name for kind in _SHARED if kind.reads_by_key)
UPDATES_BY_KEY: Final = tuple(kind.name for kind in _SHARED if kind.updates_by_key)
READS: Final = tuple(kind.name for kind in _SHARED if kind.reads)
WRITES: Final = tuple(kind.name for kind in _SHARED if kind.writes)


# What a refusal shows for numbers that are far from a thousand.
_WHOLE_EXAMPLES: Final[Mapping[str, int]] = {
    "batchsize": 100, "core_workload_insertion_retry_interval": 3, "core_workload_insertion_retry_limit": 2,
    "fieldcount": 10, "fieldlength": 100, "histogram.buckets": 1000, "insertstart": 0,
    "maxexecutiontime": 60, "maxscanlength": 100, "minfieldlength": 1, "minscanlength": 1, "mongodb.batchsize": 100,
    "mongodb.maxconnections": 100, "status.interval": 10, "target": 5000, "threadcount": 16, "zeropadding": 1,
}  # fmt: skip


def harmless_values(name: str) -> tuple[str, ...]:
    """The values of a property of `WITHOUT_EFFECT` that ask for nothing: its default, now or before; none without."""
    return tuple(known[name] for known in (DEFAULTS, _DEFAULTS_BEFORE) if name in known)


@dataclass(slots=True)
class YcsbProperties:
    """The given properties, and which of them were used.

    What isn't given has YCSB's default, of `DEFAULTS`, unless a method is told another one.
    """

    given: Mapping[str, Property]
    used: set[str] = field(default_factory=set)

    def text(self, name: str, default: str | None = None) -> str:
        """The value without blanks around it. Java keeps those at the end, and YCSB trips over them."""
        self.used.add(name)
        if name in self.given:
            return self.given[name].value.strip()
        return DEFAULTS[name] if default is None else default

    def is_given(self, name: str) -> bool:
        """Whether a file or -p says anything about `name`."""
        return name in self.given

    def whole(self, name: str, default: int | None = None, *, minimum: int = 0) -> int:
        """A whole number from `minimum` on; also as 100k or 1_000_000, which YCSB doesn't read."""
        if name not in self.given:
            return int(DEFAULTS[name]) if default is None else default
        text = self.text(name)
        try:
            value = units.parse_count(text)
        except ValueError:
            value = minimum - 1
        if not minimum <= value < 1 << 63:
            self.refuse(
                name,
                f'must be a whole number from {minimum} on, but is "{text}"',
                f"write it like {name}={_WHOLE_EXAMPLES.get(name, 1000)}",
            )
        return value

    def number(self, name: str) -> float:
        """A finite number from 0 on."""
        text = self.text(name)
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < 0:
            self.refuse(name, f'must be a number from 0 on, but is "{text}"', f"write it like {name}=0.5")
        return value

    def flag(self, name: str, *, default: bool | None = None) -> bool:
        """True or false, and no other word."""
        text = self.text(name, None if default is None else str(default)).lower()
        if text not in ("true", "false"):
            self.refuse(name, f'must be true or false, but is "{text}"', "YCSB reads any other word as false")
        return text == "true"

    def choice(self, name: str, choices: tuple[str, ...], *, any_case: bool = False) -> str:
        """One of a few words; with `any_case` in whatever letters, where YCSB doesn't mind either."""
        text = self.text(name).lower() if any_case else self.text(name)
        if text not in choices:
            near = difflib.get_close_matches(text.lower(), choices, n=1)
            self.refuse(
                name,
                f'"{text}" is not one of {", ".join(choices)}',
                f'did you mean "{near[0]}"' if near else f"write it like {name}={DEFAULTS[name]}",
            )
        return text

    def is_default(self, name: str) -> bool:
        """Whether `name` asks for nothing but YCSB's default, in whatever way that is written."""
        text, default = self.text(name), DEFAULTS[name]
        try:
            return float(text) == float(default)
        except ValueError:
            return text.lower() == default.lower()

    def only_when(self, condition: bool, names: Sequence[str], when: str) -> None:
        """Without `condition` the properties `names` would have no effect."""
        for name in names:
            if not condition and name in self.given and not self.is_default(name):
                self.refuse(name, f"would have no effect {when}", f"remove {name}")

    def needs(self, name: str, *operations: str, verb: str = "") -> None:
        """Refuses `name` where a run has none of `operations`; `verb` is said where it decides."""
        shares = [PROPORTIONS[operation] for operation in operations]
        if any(self.number(share) > 0 for share in shares):
            return
        *others, last = (f"{share}=0" for share in shares)
        listed = f"{', '.join(others)} and {last}" if others else last
        said = f" on `{verb}`" if verb else ""
        self.refuse(name, f"would have no effect{said} with {listed}", f"remove {name}")

    def refuse_the_rest(self) -> None:
        """Refuses every property that was given and not used: it would have no effect."""
        for name, given in self.given.items():
            if name in self.used:
                continue
            reason = WITHOUT_EFFECT.get(name)
            if reason and given.value.strip().lower() in map(str.lower, harmless_values(name)):
                continue
            if reason:
                elsewhere = ", or use brimline ycsb" if name in FRONT_ONLY else ""
                self.refuse(name, f"would have no effect: {reason}", f"remove {name}{elsewhere}")
            if _OF_ADDRESS.fullmatch(name):
                self.refuse(name, "would have no effect: YCSB's MongoDB binding has no such property", ADDRESS_HINT)
            near = difflib.get_close_matches(name.lower(), KNOWN_NAMES, n=1, cutoff=0.75)
            self.refuse(
                name,
                "would have no effect: YCSB's core workload and MongoDB binding have no such property",
                f'did you mean "{near[0]}"' if near else f"remove {name}",
            )

    def refuse(self, name: str, message: str, hint: str | None = None) -> NoReturn:
        """Raises the error of property `name`."""
        given = self.given.get(name)
        if given is not None and given.flag:
            said = hint.replace(f"{name}=", f"{given.flag} ") if hint else None
            raise SpecError(f"{given.flag}: {message}", path=name, hint=said)
        origin = "properties" if given is None else given.origin
        raise SpecError(f"{origin}: {name}: {message}", path=name, hint=hint)
