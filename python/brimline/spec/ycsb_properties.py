"""Owns typed access to YCSB properties: YCSB's defaults, and the refusal of what would have no effect."""

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn

from brimline import units
from brimline.errors import SpecError
from brimline.spec.properties import Property

# Properties that change nothing here: the values that are accepted, which are YCSB's default, and why no
# other is.
WITHOUT_EFFECT: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "basicdb.verbose": ((), "it belongs to another binding"),
    "dotransactions": (("true",), "`brimline load` loads and `brimline run` runs"),
    "exporter": ((), "results have their own formats"),
    "exportfile": ((), "use --json"),
    "hdrhistogram.fileoutput": (("false",), "every run directory has a latency.hlog"),
    "hdrhistogram.output.path": (("",), "every run directory has a latency.hlog"),
    "hdrhistogram.percentiles": (("50,95,99", "95,99"), "histograms keep every percentile"),
    "histogram.buckets": (("1000",), "latencies are kept in HdrHistograms"),
    "label": ((), "name the workload instead"),
    "latencytrackederrors": ((), "failures are counted by code"),
    "measurement.histogram.verbose": (("false",), "histograms are kept in latency.hlog"),
    "measurement.interval": (("op",), "response and service times are both always recorded"),
    "measurement.raw.no_summary": (("false",), "latencies are kept in HdrHistograms, or with operation_log one by one"),
    "measurement.raw.output_file": (("",), "latencies are kept in HdrHistograms, or with operation_log one by one"),
    "measurement.trackjvm": (("false",), "there is no JVM"),
    "measurementtype": (("hdrhistogram",), "latencies are kept in HdrHistograms"),
    "mongodb.readPreference": (("primary",), "the connection string says where reads go"),
    "mongodb.threadsAllowedToBlockForConnectionMultiplier": (("5",), "however many operations wait, none fails for it"),
    "reportlatencyforeacherror": (("false",), "failures are counted by code"),
    "spin.sleep": (("false",), "brimline has its own timing"),
    "status": (("false",), "progress is always shown"),
    "status.interval": (("10",), "progress is always shown"),
    "timeseries.granularity": (("1000",), "samples have their own interval"),
}

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
# The share that an operation has of a run, and YCSB's default.
PROPORTIONS: Final[Mapping[str, tuple[str, float]]] = {
    "read": ("readproportion", 0.95),
    "update": ("updateproportion", 0.05),
    "insert": ("insertproportion", 0.0),
    "scan": ("scanproportion", 0.0),
    "read_modify_write": ("readmodifywriteproportion", 0.0),
}
READS: Final = ("read", "scan", "read_modify_write")
WRITES: Final = ("update", "insert", "read_modify_write")


# What a refusal shows for numbers that are far from a thousand.
_WHOLE_EXAMPLES: Final[Mapping[str, int]] = {
    "batchsize": 100, "core_workload_insertion_retry_interval": 3, "core_workload_insertion_retry_limit": 2,
    "fieldcount": 10, "fieldlength": 100, "histogram.buckets": 1000, "insertstart": 0,
    "maxexecutiontime": 60, "maxscanlength": 100, "minfieldlength": 1, "minscanlength": 1, "mongodb.batchsize": 100,
    "mongodb.maxconnections": 100, "status.interval": 10, "target": 5000, "threadcount": 16, "zeropadding": 1,
}  # fmt: skip


@dataclass(slots=True)
class YcsbProperties:
    """The given properties, and which of them were used."""

    given: Mapping[str, Property]
    used: set[str] = field(default_factory=set)

    def text(self, name: str, default: str) -> str:
        """The value without blanks around it. Java keeps those at the end, and YCSB trips over them."""
        self.used.add(name)
        return self.given[name].value.strip() if name in self.given else default

    def is_given(self, name: str) -> bool:
        """Whether a file or -p says anything about `name`."""
        return name in self.given

    def whole(self, name: str, default: int, *, minimum: int = 0) -> int:
        """A whole number from `minimum` on; also as 100k or 1_000_000, which YCSB doesn't read."""
        if name not in self.given:
            return default
        text = self.text(name, "")
        try:
            value = units.parse_count(text)
        except ValueError:
            value = minimum - 1
        if value < minimum:
            self.refuse(
                name,
                f'must be a whole number from {minimum} on, but is "{text}"',
                f"write it like {name}={_WHOLE_EXAMPLES.get(name, 1000)}",
            )
        return value

    def number(self, name: str, default: float) -> float:
        """A finite number from 0 on."""
        if name not in self.given:
            return default
        text = self.text(name, "")
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or value < 0:
            self.refuse(name, f'must be a number from 0 on, but is "{text}"', f"write it like {name}=0.5")
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        """True or false, and no other word."""
        text = self.text(name, str(default)).lower()
        if text not in ("true", "false"):
            self.refuse(name, f'must be true or false, but is "{text}"', "YCSB reads any other word as false")
        return text == "true"

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        """One of a few words."""
        text = self.text(name, default)
        if text not in choices:
            near = difflib.get_close_matches(text.lower(), choices, n=1)
            self.refuse(
                name,
                f'"{text}" is not one of {", ".join(choices)}',
                f'did you mean "{near[0]}"' if near else f"write it like {name}={default}",
            )
        return text

    def is_default(self, name: str, default: str) -> bool:
        """Whether `name` asks for nothing but `default`, in whatever way that is written."""
        text = self.text(name, default)
        try:
            return float(text) == float(default)
        except ValueError:
            return text.lower() == default.lower()

    def only_when(self, condition: bool, names: Mapping[str, str], when: str) -> None:
        """Without `condition` the properties `names` (with their defaults) would have no effect."""
        for name, default in names.items():
            if not condition and name in self.given and not self.is_default(name, default):
                self.refuse(name, f"would have no effect {when}", f"remove {name}")

    def needs(self, name: str, *operations: str, verb: str = "") -> None:
        """Refuses `name` where a run has none of `operations`; `verb` is said where it decides."""
        shares = [PROPORTIONS[operation] for operation in operations]
        if any(self.number(*share) > 0 for share in shares):
            return
        *others, last = (f"{share}=0" for share, _ in shares)
        listed = f"{', '.join(others)} and {last}" if others else last
        said = f" on `{verb}`" if verb else ""
        self.refuse(name, f"would have no effect{said} with {listed}", f"remove {name}")

    def refuse_the_rest(self) -> None:
        """Refuses every property that was given and not used: it would have no effect."""
        for name, given in self.given.items():
            if name in self.used:
                continue
            harmless, reason = WITHOUT_EFFECT.get(name, ((), ""))
            if given.value.strip() in harmless:
                continue
            if reason:
                elsewhere = ", or use brimline ycsb" if name in FRONT_ONLY else ""
                self.refuse(name, f"would have no effect: {reason}", f"remove {name}{elsewhere}")
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
