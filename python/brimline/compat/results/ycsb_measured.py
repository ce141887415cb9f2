"""Owns what one measurement of YCSB's summary says: names, units and buckets of every release.

Since 0.5.0 a call returns a word and what failed is measured apart; before, it returned a number, 0 for success, and
failures are among the operations and their times. Percentiles were in ms once, the other times as well before 0.1.4.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from brimline.compat.results.source import COUNT_MAX, ELAPSED_US_MAX, bad_file, decimal_number, whole_number
from brimline.record.imported import Clock, IntervalTimes
from brimline.record.scaled import ScaledHistogram
from brimline.units import NS_PER_US

OPERATION = re.compile(r"(?:(?P<form>Hdr|Bucket|Raw))?(?P<intended>Intended-)?(?P<operation>[A-Z][A-Z_-]*)")
_GOOD_RETURNS = ("OK", "BATCHED_OK", "0")
_NUMBERED = re.compile(r"-?[0-9]+")
_COUNTS = ("Operations", "Total Operations")
_TIME = re.compile(r"(?P<which>Average|Min|Max)(?:Latency\((?P<unit>us|ms)\))?")
_PERCENTILE = re.compile(
    r"(?P<percent>[0-9]{1,3}(?:\.[0-9]{1,20})?)(?:th|st|nd|rd)?PercentileLatency\((?P<unit>us|ms)\)"
    r"|p(?P<p>[0-9]{1,3}(?:\.[0-9]{1,20})?)"
)
_US_PER_MS = 1_000
_COUNTED = (0.5, 0.9, 0.95, 0.99)
"""Percentiles that reports have."""
Line = tuple[str, str, Path, int]
"""Measurement, value, file and line."""
Key = tuple[str, Clock]


@dataclass(slots=True)
class Measured:
    """One measurement as it was printed; times in µs, buckets as (value, count), of 1 µs or of 1 ms.

    `beyond`: times above the last bucket. `counted_percentiles`: some were not printed, but counted from the buckets.
    """

    operations: int = 0
    mean: float | None = None
    least: float | None = None
    most: float | None = None
    percentiles: dict[float, float] = field(default_factory=dict)
    returned: dict[str, int] = field(default_factory=dict)
    buckets: list[tuple[int, int]] = field(default_factory=list)
    beyond: int = 0
    in_steps_of_ms: bool = False
    counted_percentiles: bool = False

    @property
    def lacks_times(self) -> bool:
        """Whether the buckets, and what lies beyond the last one, don't add up to the operations."""
        return bool(self.buckets) and sum(n for _, n in self.buckets) + self.beyond != self.operations

    @property
    def misses(self) -> int:
        """Calls that found nothing."""
        return self.returned.get("NOT_FOUND", 0)

    @property
    def failures(self) -> Mapping[str, int]:
        """Calls that failed, by what they returned."""
        good = (*_GOOD_RETURNS, "NOT_FOUND")
        return {state: count for state, count in self.returned.items() if state not in good and count}

    @property
    def times_failures(self) -> bool:
        """Whether failures are among the operations, as wherever calls return numbers."""
        return bool(self.returned) and all(_NUMBERED.fullmatch(state) for state in self.returned)


def all_measured(metrics: Mapping[str, Sequence[Line]], clock: Clock) -> dict[Key, Measured]:
    """By operation and clock; of two forms of one measurement the histogram's wins, of buckets nothing is taken.

    `clock` is that of times without a word on it. Raises UsageError for a figure that can't be.
    """
    forms: dict[Key, dict[str, Measured]] = {}
    for metric, lines in metrics.items():
        match = OPERATION.fullmatch(metric)
        if match is None or not any(measurement in _COUNTS for measurement, _, _, _ in lines):
            continue
        key: Key = (match["operation"], "response" if match["intended"] else clock)
        forms.setdefault(key, {})[match["form"] or ""] = _one_measured(lines)
    return {key: next(found[form] for form in ("", "Hdr", "Raw", "Bucket") if form in found)
            for key, found in forms.items()}  # fmt: skip


def _one_measured(lines: Sequence[Line]) -> Measured:
    found = Measured()
    for line in lines:
        if line[0] in _COUNTS:
            found.operations = _count(line)
    buckets: list[Line] = []
    times: dict[str, float] = {}
    overflows: list[Line] = []
    for line in lines:
        measurement = line[0]
        if measurement.startswith("Return="):
            found.returned[measurement.removeprefix("Return=")] = _count(line)
        elif not found.operations:
            continue  # times of nothing: YCSB prints NaN, -1 or 0
        elif match := _TIME.fullmatch(measurement):
            times[match["which"]] = _time_us(line, match["unit"])
        elif match := _PERCENTILE.fullmatch(measurement):
            share = round(float(match["percent"] or match["p"]) / 100, 9)
            if share <= 1:
                found.percentiles[share] = _time_us(line, match["unit"])
            found.in_steps_of_ms |= match["unit"] == "ms"
        elif measurement == "LatencyVariance(us)":
            found.in_steps_of_ms = True
        elif measurement.isascii() and measurement.isdecimal():
            buckets.append(line)
        elif measurement.startswith(">"):
            overflows.append(line)
    found.mean, found.least, found.most = (times.get(name) for name in ("Average", "Min", "Max"))
    # Means over time have the same form as buckets, and no percentiles beside them.
    if found.percentiles:
        found.buckets = [(_bucket(line), _count(line)) for line in buckets]
        found.beyond = sum(_count(line) for line in overflows)
        found.in_steps_of_ms |= bool(overflows) or _are_ms(found)
        _count_percentiles(found)
    return found


def _count_percentiles(found: Measured) -> None:
    """Percentiles that YCSB didn't print, as it counts them: the first bucket up to which a share of the times lies."""
    if not found.in_steps_of_ms or not found.buckets or found.lacks_times:
        return
    missing = [share for share in _COUNTED if share not in found.percentiles]
    counted = 0
    for value, count in sorted(found.buckets):
        counted += count
        while missing and counted / found.operations >= missing[0]:
            found.percentiles[missing.pop(0)] = value * _US_PER_MS
            found.counted_percentiles = True


def _are_ms(found: Measured) -> bool:
    """Whether times were counted in whole ms where no name says so (0.4 and 0.5).

    Buckets of 1 ms are all printed, empty ones as well. Their percentiles are multiples of 1 ms, as those of an
    HdrHistogram hardly ever are.
    """
    all_printed = any(not count for _, count in found.buckets)
    whole = len(found.percentiles) > 1 and all(value % _US_PER_MS == 0 for value in found.percentiles.values())
    return all_printed or whole


def _count(line: Line) -> int:
    measurement, text, path, number = line
    count = whole_number(text.removesuffix(".0"), most=COUNT_MAX)
    if count is None:
        raise _cannot_be(measurement, text, path, number)
    return count


def _bucket(line: Line) -> int:
    measurement, _, path, number = line
    value = whole_number(measurement, most=ELAPSED_US_MAX)
    if value is None:
        raise _cannot_be("a bucket", measurement, path, number)
    return value


def _time_us(line: Line, unit: str | None) -> float:
    measurement, text, path, number = line
    factor = _US_PER_MS if unit == "ms" else 1
    time = decimal_number(text, most=ELAPSED_US_MAX / factor)
    if time is None:
        raise _cannot_be(measurement, text, path, number)
    return time * factor


def _cannot_be(what: str, text: str, path: Path, number: int) -> Exception:
    return bad_file(path, f"{what[:40]} can't be {text[:40]!r}", line=number)


def bucket_times(
    measured: Mapping[Key, Measured], known: set[tuple[str, str]], duration_ns: int
) -> Iterator[IntervalTimes]:
    """Histograms out of a verbose summary: one of the whole run, in µs. Buckets of 1 ms are no times."""
    for (operation, clock), each in measured.items():
        is_histogram = each.buckets and not each.in_steps_of_ms
        if not is_histogram or (operation, clock) in known or each.lacks_times or each.beyond:
            continue
        histogram = ScaledHistogram(NS_PER_US)
        for time_us, count in each.buckets:
            histogram.record(time_us * NS_PER_US, count)
        yield IntervalTimes(operation=operation, clock=clock, start_ns=0, end_ns=duration_ns, unit_ns=NS_PER_US,
                            text=histogram.encode())  # fmt: skip
