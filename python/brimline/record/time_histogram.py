"""What histograms of times are, whoever makes them: of a whole run, of its intervals, of stretches of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, Self


class Histogram(Protocol):
    """HdrHistogram of nanoseconds, 3 significant digits, 1 ns to 1 h; `brimline._native.Histogram` is one."""

    def encode(self) -> str:
        """Base64 of HdrHistogram V2 + deflate."""
        ...

    def merge(self, other: Self) -> None:
        """Adds all values of `other`."""
        ...

    def record(self, value_ns: int, count: int = 1) -> None:
        """Adds a value."""
        ...

    def quantile(self, quantile: float) -> int:
        """Smallest value that this share of all values does not exceed."""
        ...

    def count(self) -> int:
        """Number of values."""
        ...

    def count_above(self, value_ns: int) -> int:
        """Number of values above `value_ns`."""
        ...

    def mean(self) -> float:
        """Mean of all values, 0 without any."""
        ...

    def stddev(self) -> float:
        """Standard deviation of all values."""
        ...

    def min(self) -> int:
        """Smallest value, 0 without any."""
        ...

    def max(self) -> int:
        """Largest value, 0 without any."""
        ...

    def buckets(self) -> list[tuple[int, int]]:
        """Non-empty buckets as (value in ns, count), ascending."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramCodec:
    """How histograms are made and read from text; by default the compiled one's way."""

    empty: Callable[[], Histogram]
    decode: Callable[[str], Histogram]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalHistogram:
    """One line of `latency.hlog`; `phase` is that of the operations, as in `OperationRow`."""

    phase: str
    start_ns: int
    end_ns: int
    operation: str
    clock: str
    histogram: Histogram


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """Encoded histograms by (operation, clock), and within by the number of the stretch."""

    texts: Mapping[tuple[str, str], Mapping[int, str]]
    codec: HistogramCodec

    def of(self, clock: str, operation: str | None = None) -> list[Histogram]:
        """One histogram per stretch that has values, in the order of time: of one operation kind, or of all."""
        merged: dict[int, Histogram] = {}
        for (kind, its_clock), texts in self.texts.items():
            if its_clock == clock and operation in (None, kind):
                for number, text in texts.items():
                    merged.setdefault(number, self.codec.empty()).merge(self.codec.decode(text))
        return [merged[number] for number in sorted(merged)]
