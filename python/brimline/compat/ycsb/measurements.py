"""Owns the way from brimline's operations to YCSB's measurements.

YCSB measures each call of its database binding: a read-modify-write counts as READ-MODIFY-WRITE, and its two calls as
READ and UPDATE; what was not OK has a measurement of its own, while its status is counted beside the operation's
successes. All histograms here are in whole microseconds, three digits, as YCSB's are.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from brimline.compat.ycsb.java import hash_map_order
from brimline.operations import KINDS, ycsb_call
from brimline.plan import Plan
from brimline.record.histograms import native_codec
from brimline.record.model import Clock, OperationRow, RunRecord, SampleRow, finished_count
from brimline.record.time_histogram import Histogram
from brimline.spec import YcsbOutput

CLEANUP = "CLEANUP"
VERIFY = "VERIFY"
STATUSES = ("OK", "NOT_FOUND", "ERROR", "BATCHED_OK", "UNEXPECTED_STATE")

_NS_PER_US = 1000
# Buckets of a histogram with three digits are exact up to this many bits.
_EXACT_BITS = 11
_ENDINGS = {"ok": "OK", "miss": "NOT_FOUND", "failed": "ERROR"}


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks that YCSB's own times and its intended ones are read from.

    YCSB begins its own when the driver is called, so that the wait for one of few connections is part of them.
    """

    own: Clock
    intended: Clock

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Those of a run or load."""
        if plan.is_pooled:
            return cls("response", "response")
        return cls("service", "service" if plan.pacer.kind == "closed" else "response")


@dataclass(slots=True)
class OperationTimes:
    """One kind of operation: its outcomes, and its histograms by clock (ns)."""

    ok: int = 0
    miss: int = 0
    failed: int = 0
    documents: int = 0
    histograms: dict[str, Histogram] = field(default_factory=dict)

    def count(self, row: OperationRow) -> None:
        """Adds a row's outcomes."""
        self.ok += row["ok"]
        self.miss += row["miss"]
        self.failed += row["failed"]
        self.documents += row["documents"]

    def add(self, clock: str, histogram: Histogram) -> None:
        """Adds a histogram."""
        self.histograms.setdefault(clock, native_codec().empty()).merge(histogram)


class Times:
    """What was measured in some span of a run, by operation."""

    def __init__(self) -> None:
        self.operations: dict[str, OperationTimes] = {}

    def of(self, operation: str) -> OperationTimes:
        """One kind's times."""
        return self.operations.setdefault(operation, OperationTimes())

    def add_samples(self, rows: Iterable[SampleRow]) -> None:
        """Adds rows as the engine hands them out."""
        decode = native_codec().decode
        for row in rows:
            times = self.of(row["operation"])
            times.count(row)
            clocks = {"service": row["service"], "response": row["response"], **row["breakdown"]}
            for clock, text in clocks.items():
                if text is not None:
                    times.add(clock, decode(text))

    @classmethod
    def of_record(cls, record: RunRecord) -> "Times":
        """All of a run."""
        times = cls()
        for row in record.operations:
            times.of(row["operation"]).count(row)
        for (operation, clock), histogram in (*record.histograms.items(), *record.breakdown.items()):
            times.of(operation).add(clock, histogram)
        return times


def operations_done(row: OperationRow, documents_per_insert: int) -> int:
    """Operations as YCSB counts them: whatever was answered, in a load the documents that were inserted.

    YCSB's inserts are of one document, also where `documents_per_insert` of them go out together.
    """
    if row["operation"] == "load":
        return row["documents"]
    answered = finished_count([row])
    return answered * documents_per_insert if row["operation"] == "insert" else answered


def times_by_interval(record: RunRecord, place: Callable[[int, int], int]) -> dict[int, Times]:
    """The histograms of a record, gathered by what `place` says of the start and end of an interval (ns)."""
    gathered: dict[int, Times] = {}
    for interval in record.interval_histograms():
        times = gathered.setdefault(place(interval.start_ns, interval.end_ns), Times())
        times.of(interval.operation).add(interval.clock, interval.histogram)
    return dict(sorted(gathered.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One of YCSB's measurements: times in µs by their number, and how often each status was returned."""

    values_us: Mapping[int, int]
    returned: Mapping[str, int]

    @property
    def count(self) -> int:
        """How many times there are."""
        return sum(self.values_us.values())

    @property
    def sum_us(self) -> int:
        """All times added up."""
        return sum(value * count for value, count in self.values_us.items())

    def histogram(self) -> Histogram:
        """The times as an HdrHistogram of µs."""
        histogram = native_codec().empty()
        for value, count in self.values_us.items():
            histogram.record(value, count)
        return histogram


def named_measurements(
    times: Times, output: YcsbOutput, *, clocks: Clocks, close_ns: int | None = None, known: Sequence[str] = ()
) -> Iterator[tuple[str, Measurement]]:
    """YCSB's measurements of `times` with their names, in YCSB's order.

    `close_ns` is how long closing the connections took, which YCSB calls CLEANUP; None while they are open. `known`
    are operations that have had a measurement before, which are there even with no value.
    """
    for intended in _clocks(output):
        clock = clocks.intended if intended else clocks.own
        measured = _measurements(times, output, clock=clock, close_ns=close_ns)
        for name in known:
            measured.setdefault(name, Measurement(values_us={}, returned={}))
        prefix = "Intended-" if intended and output.measurement_interval == "both" else ""
        counts_statuses = not prefix
        for name in hash_map_order(_by_first_use(measured, is_all=not known)):
            measurement = measured[name]
            if intended and (name == "SCAN-LATENCY-PER-RECORD" or (name == VERIFY and prefix)):
                continue
            if intended and name == VERIFY:  # has no intended time, but is counted
                measurement = Measurement(values_us={}, returned=measurement.returned)
            if not counts_statuses:
                if not measurement.count and name not in known:
                    continue
                measurement = Measurement(values_us=measurement.values_us, returned={})
            yield f"{prefix}{name}", measurement


def _by_first_use(measured: Mapping[str, Measurement], *, is_all: bool) -> list[str]:
    """The names about as a run uses them first, by which YCSB orders those that fall into one place of its map.

    Failures come behind successes, reads before updates. What never succeeded was a failure first; only a run as a
    whole (`is_all`) shows that. Which kind of operation YCSB begins with is chance.
    """

    def key(name: str) -> tuple[bool, str, bool]:
        operation = name.partition("-")[0]
        always_failed = is_all and operation in measured and not measured[operation].count
        return "-" in name and not always_failed, operation if always_failed else name, "-" not in name

    return sorted(measured, key=key)


def operation_names(times: Times, output: YcsbOutput) -> list[str]:
    """The names, without prefix, of all measurements of `times`."""
    return sorted(_measurements(times, output, clock="service", close_ns=None))


def _clocks(output: YcsbOutput) -> tuple[bool, ...]:
    return {"op": (False,), "intended": (True,), "both": (False, True)}[output.measurement_interval]


def _measurements(times: Times, output: YcsbOutput, *, clock: Clock, close_ns: int | None) -> dict[str, Measurement]:
    values: dict[str, Counter[int]] = {}
    returned: dict[str, Counter[str]] = {}
    for operation, of_kind in times.operations.items():
        for name, status, histogram_ns, count in _calls(operation, of_kind, clock):
            values.setdefault(measurement_name(name, status, output), Counter()).update(_to_us(histogram_ns))
            if status is not None and count:
                values.setdefault(name, Counter())
                returned.setdefault(name, Counter())[status] += count
    if close_ns is not None:
        values[CLEANUP] = Counter({close_ns // _NS_PER_US: 1})
    return {
        name: Measurement(values_us=values_us, returned=returned.get(name, {}))
        for name, values_us in values.items()
        if values_us or name in returned
    }


_Call = tuple[str, str | None, Counter[int], int]


def _calls(operation: str, times: OperationTimes, clock: str) -> Iterator[_Call]:
    """The calls of a binding that an operation stands for: name, status, times in ns, number."""
    if calls := _calls_within(operation):
        yield ycsb_call(operation), None, _values(times, clock), 0
        for part, name in calls.items():
            for ending, status in _ENDINGS.items():
                values = _values(times, f"{part}_{ending}_{clock}")
                yield name, status, values, values.total()
        yield from _verifications(times)
        return
    name = ycsb_call(operation)
    missed, failed = _values(times, f"miss_{clock}"), _values(times, f"failed_{clock}")
    yield name, "OK", _values(times, clock) - missed - failed, times.ok
    yield name, _miss_status(operation), missed, times.miss
    yield name, "ERROR", failed, times.failed
    yield from _verifications(times)
    if name == "INSERT":
        # All documents of a batch but the one that sends it.
        yield name, "BATCHED_OK", Counter(), times.documents - times.ok
    if operation == "scan":
        yield "SCAN-LATENCY-PER-RECORD", None, _values(times, "service_per_document"), 0


def _calls_within(operation: str) -> dict[str, str]:
    """The parts of an operation that are operations themselves, with their calls: those of a read-modify-write."""
    parts = KINDS[operation].parts if operation in KINDS else ()
    return {part: ycsb_call(part) for part in parts if part in KINDS}


def _miss_status(operation: str) -> str:
    """The MongoDB binding says ERROR for a scan that finds nothing and for a document that is there already."""
    return "NOT_FOUND" if operation in KINDS and KINDS[operation].can_be_absent else "ERROR"


def _verifications(times: OperationTimes) -> Iterator[_Call]:
    """How long comparing took, all in one measurement, and what it showed."""
    for result, status in (("matching", "OK"), ("different", "UNEXPECTED_STATE"), ("absent", "ERROR")):
        values = _values(times, f"verify_{result}")
        yield VERIFY, None, values, 0
        yield VERIFY, status, Counter(), values.total()


def logged_calls(operation: str) -> Iterator[tuple[str, str | None, str, str]]:
    """The same calls as a log of operations has them: name, status, part and ending of the operation's rows."""
    if calls := _calls_within(operation):
        for ending in _ENDINGS:
            yield ycsb_call(operation), None, "whole", ending
        for part, name in calls.items():
            for ending, status in _ENDINGS.items():
                yield name, status, part, ending
        return
    name = ycsb_call(operation)
    for ending, status in {**_ENDINGS, "miss": _miss_status(operation)}.items():
        yield name, status, "whole", ending
        if operation == "scan":
            yield "SCAN-LATENCY-PER-RECORD", None, "per_document", ending


def measurement_name(name: str, status: str | None, output: YcsbOutput) -> str:
    """The measurement that a call of this name and status belongs to."""
    if status in (None, "OK", "BATCHED_OK"):
        return name
    tracked = output.tracked_errors is None or status in output.tracked_errors
    return f"{name}-{status}" if tracked else f"{name}-FAILED"


def _values(times: OperationTimes, clock: str) -> Counter[int]:
    histogram = times.histograms.get(clock)
    return Counter() if histogram is None else Counter(dict(histogram.buckets()))


def _to_us(values_ns: Mapping[int, int]) -> Counter[int]:
    """Highest values of ns buckets as the µs in the middle of each bucket."""
    values_us: Counter[int] = Counter()
    for highest_ns, count in values_ns.items():
        values_us[_middle(highest_ns) // _NS_PER_US] += count
    return values_us


def mean_us(histogram: Histogram) -> float:
    """The mean as Java's HdrHistogram computes it: middles of buckets, added up exactly. 0 without any value."""
    count = histogram.count()
    return sum(_middle(highest) * number for highest, number in histogram.buckets()) / count if count else 0.0


def _middle(highest: int) -> int:
    """The value in the middle of the bucket whose highest value this is."""
    width = 1 << max(0, highest.bit_length() - _EXACT_BITS)
    return highest + 1 - width + width // 2
