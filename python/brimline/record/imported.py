"""Owns the imported run: what another tool measured, as far as its files say it. What they don't say is None.

Such a record has no plan, no opcounters and no environment: where and how the load was made isn't known here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from brimline.record.layout import short_repr
from brimline.record.model import ErrorRow
from brimline.record.scaled import ScaledHistogram

KIND = "imported"
"""`kind` of such a record in its `record.json`."""

READ_MODIFY_WRITE = "READ-MODIFY-WRITE"
"""YCSB's operation of two calls, both of which are measured as such too."""

Clock = Literal["service", "response"]
TimesFrom = Literal["samples", "histogram", "summary", "groups"]
"""Every single time; a histogram of them all; only what the tool printed; only means of groups of samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that was read."""

    name: str
    format: str  # "jtl-csv" "jtl-xml" "ycsb" "hdr"
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One operation, or label, over the whole run.

    `samples` ended, `misses` and `failed` among them. `timed` is how many times there are: YCSB times failures apart.
    `counted` says whether the samples are calls of their own; False for what is measured beside them.
    `printed_percentiles_ns` are the tool's own,
    rounded down to multiples of `printed_step_ns` where that is above 0.
    """

    operation: str
    clock: Clock
    samples: int
    misses: int
    failed: int
    timed: int
    counted: bool
    times_from: TimesFrom
    mean_ns: float | None
    min_ns: int | None
    max_ns: int | None
    bytes_in: int | None = None
    bytes_out: int | None = None
    printed_percentiles_ns: Mapping[float, int] = field(default_factory=dict)
    printed_step_ns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRow:
    """One operation in one interval, on the run's clock; samples belong to the interval in which they ended."""

    start_ns: int
    end_ns: int
    operation: str
    samples: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveRow:
    """The most threads that were active at once in an interval, as the tool counted them."""

    start_ns: int
    end_ns: int
    active_threads: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """What the tool said of the run as a whole."""

    throughput_per_s: float | None = None
    threads: int | None = None
    target_ops_per_s: float | None = None
    phase: str = ""  # "load" or "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalTimes:
    """The times of one operation in one interval; `text` is a histogram of multiples of `unit_ns`, as Base64.

    Kept as text: decoded, those of a long run would fill the memory.
    """

    operation: str
    clock: str
    start_ns: int
    end_ns: int
    unit_ns: int
    text: str

    @property
    def histogram(self) -> ScaledHistogram:
        """The times, decoded anew. Raises ValueError."""
        return ScaledHistogram.decode(self.text, self.unit_ns)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ImportedRun:
    """What another tool measured. `times` holds every time there is, cut by interval; empty with a summary only.

    `warnings`: those of the `notes` that are about something unusual in the files, as long as they were just read.
    """

    directory: Path
    name: str
    tool: str  # "JMeter", "YCSB", "go-ycsb", "cassandra-stress" or "NoSQLBench"
    sources: Sequence[SourceFile]
    started_unix_ns: int | None
    duration_ns: int
    value_unit_ns: int
    series: Sequence[Series]
    rows: Sequence[TimeRow]
    active: Sequence[ActiveRow]
    times: Sequence[IntervalTimes]
    errors: Sequence[ErrorRow]
    printed: Printed
    notes: Sequence[str]
    warnings: Sequence[str] = ()
    brimline_version: str

    def __repr__(self) -> str:
        """Three lines: the samples of a run are more than anybody reads."""
        return short_repr(self, self.name, f"imported from {self.tool}", self.directory)

    @property
    def histograms(self) -> dict[tuple[str, str], ScaledHistogram]:
        """Merged over the run, by operation and clock; made anew at each call."""
        merged: dict[tuple[str, str], ScaledHistogram] = {}
        for each in self.times:
            key = (each.operation, each.clock)
            if key in merged:
                merged[key].merge(each.histogram)
            else:
                merged[key] = each.histogram
        return merged

    @property
    def knows_length(self) -> bool:
        """Whether it is known when the run ended: not where a row stands for several samples and has one time."""
        return not any(each.times_from == "groups" for each in self.series)

    @property
    def closed_loop(self) -> bool:
        """Whether only service time is known."""
        return not any(each.clock == "response" and each.counted for each in self.series)

    @property
    def shown(self) -> Sequence[Series]:
        """The series of the clock that a report quotes: what users feel where it exists."""
        clock = "service" if self.closed_loop else "response"
        return [each for each in self.series if each.clock == clock]

    @property
    def operation_count(self) -> int:
        """Operations of the run, failed ones included; a read-modify-write is one, though it makes two calls."""
        calls = sum(each.samples for each in self.shown if each.counted)
        return calls - sum(each.samples for each in self.shown if each.operation == READ_MODIFY_WRITE)

    @property
    def failed_count(self) -> int:
        """Operations that failed."""
        return sum(each.failed for each in self.shown if each.counted)
