"""Owns the status line, which YCSB's client prints every so many seconds of a run."""

import math
from collections.abc import Callable
from datetime import datetime

from brimline.compat.ycsb.java import ratio, to_long, two_decimals
from brimline.compat.ycsb.measurements import (
    Clocks,
    Measurement,
    Times,
    mean_us,
    named_measurements,
    operation_names,
    operations_done,
)
from brimline.compat.ycsb.text import at_percentile
from brimline.record.model import Samples
from brimline.spec import YcsbOutput
from brimline.units import NS_PER_MS, NS_PER_S

_PERCENTILES = (50, 90, 99, 99.9, 99.99)
_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86_400


class StatusLines:
    """Makes status lines of samples as they come.

    `operation_count` is what is to be done, 0 where only time ends the run. `now` is the wall clock, local time.
    """

    def __init__(
        self,
        output: YcsbOutput,
        *,
        operation_count: int,
        clocks: Clocks,
        documents_per_insert: int = 1,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._output = output
        self._clocks = clocks
        self._operation_count = operation_count
        self._documents_per_insert = documents_per_insert
        self._now = now
        self._times = Times()
        self._known: list[str] = []
        self._done = 0
        self._said_done = 0
        self._said_ms = 0
        self._elapsed_ns = 0

    def first(self) -> str:
        """The line before anything has happened."""
        return self._line(close_ns=None)

    def add(self, samples: Samples) -> list[str]:
        """The lines that have become due, at most one for each interval of status."""
        due = []
        width_ns = self._output.status_interval_s * NS_PER_S
        for interval in samples["intervals"]:
            span = interval["start_ns"], interval["end_ns"]
            rows = [row for row in samples["operations"] if (row["start_ns"], row["end_ns"]) == span]
            self._times.add_samples(rows)
            for row in rows:
                self._done += operations_done(row, self._documents_per_insert)
            before, self._elapsed_ns = self._elapsed_ns, interval["end_ns"]
            if self._elapsed_ns // width_ns > before // width_ns:
                due.append(self._line(close_ns=None))
        return due

    def last(self, *, close_ns: int | None) -> str:
        """The line after the end, with what came since the line before."""
        return self._line(close_ns=close_ns)

    def _line(self, *, close_ns: int | None) -> str:
        now = self._now()
        elapsed_ms = self._elapsed_ns // NS_PER_MS
        done, left = self._done, max(0, self._operation_count - self._done)
        # The line after the end may come in the same millisecond as the one before, which no wall clock would show.
        news = done - self._said_done
        current = 1000.0 * ratio(news, elapsed_ms - self._said_ms) if news else 0.0
        throughput = 1000.0 * ratio(done, elapsed_ms)
        text = f"{self._output.label}{now:%Y-%m-%d %H:%M:%S}:{now.microsecond // 1000:03d} {elapsed_ms // 1000} sec: "
        text += f"{done} operations; "
        if done:
            text += f"{two_decimals(current)} current ops/sec; "
        if left:
            text += f"est completion in {remaining_text(_ceiling(ratio(left, throughput)))}"
        self._said_done, self._said_ms = done, elapsed_ms
        return text + self._measured(close_ns)

    def _measured(self, close_ns: int | None) -> str:
        self._known = sorted({*self._known, *operation_names(self._times, self._output)})
        measured = named_measurements(
            self._times, self._output, clocks=self._clocks, close_ns=close_ns, known=self._known
        )
        self._times = Times()
        return "".join(f"{self._summary(name, measurement)} " for name, measurement in measured)

    def _summary(self, name: str, measurement: Measurement) -> str:
        match self._output.measurement_type:
            case "hdrhistogram":
                return _hdr_summary(name, measurement)
            case "hdrhistogram+histogram":
                return f"{_hdr_summary(f'Hdr{name}', measurement)}\n{_mean_summary(f'Bucket{name}', measurement)}"
            case "raw":
                return _count_summary(name, measurement)
            case "hdrhistogram+raw":
                return f"{_hdr_summary(f'Hdr{name}', measurement)}\n{_count_summary(f'Raw{name}', measurement)}"
            case _:
                return _mean_summary(name, measurement)


def remaining_text(seconds: int) -> str:
    """A time as YCSB's client says it: days and hours, hours and minutes, or seconds; one digit reads "second"."""
    days, rest = divmod(seconds, _DAY_S)
    hours, rest = divmod(rest, _HOUR_S)
    parts = [(days, "day"), (hours, "hour")]
    if days == 0:
        parts.append((rest // _MINUTE_S, "minute"))
    text = "".join(f"{count} {word if count == 1 else word + 's'} " for count, word in parts if count)
    return text or f"{seconds} {'second' if len(str(seconds)) == 1 else 'seconds'} "


def _ceiling(seconds: float) -> int:
    return to_long(math.ceil(seconds) if math.isfinite(seconds) else seconds)


def _hdr_summary(name: str, measurement: Measurement) -> str:
    histogram = measurement.histogram()
    quantiles = "".join(f", {percentile}={at_percentile(histogram, percentile)}" for percentile in _PERCENTILES)
    return (
        f"[{name}: Count={histogram.count()}, Max={histogram.max()}, Min={histogram.min()}, "
        f"Avg={two_decimals(mean_us(histogram))}{quantiles}]"
    )


def _count_summary(name: str, measurement: Measurement) -> str:
    if not measurement.count:
        return ""
    mean = ratio(measurement.sum_us, measurement.count)
    return f"{name} count: {measurement.count}, average latency(us): {mean:.2f}"


def _mean_summary(name: str, measurement: Measurement) -> str:
    if not measurement.count:
        return ""
    return f"[{name} AverageLatency(us)={two_decimals(ratio(measurement.sum_us, measurement.count))}]"
