"""Owns histograms whose values are multiples of a unit: ms as JMeter writes them, µs as YCSB does.

In the tool's own unit values below 2048 are kept exactly, so that what is recomputed is what the tool would have
printed; as ns they would be rounded to three digits.
"""

from brimline.record.histograms import native_codec
from brimline.record.time_histogram import Histogram


class ScaledHistogram:
    """A `Histogram` in ns around one that holds values in `unit_ns`."""

    def __init__(self, unit_ns: int, inner: Histogram | None = None) -> None:
        self.unit_ns = unit_ns
        self._inner = native_codec().empty() if inner is None else inner

    @classmethod
    def decode(cls, text: str, unit_ns: int) -> "ScaledHistogram":
        """The histogram that `encode` wrote, whose values are in `unit_ns`. Raises ValueError."""
        return cls(unit_ns, native_codec().decode(text))

    def encode(self) -> str:
        """Base64 of HdrHistogram V2 + deflate; its values are in the unit."""
        return self._inner.encode()

    def merge(self, other: "ScaledHistogram") -> None:
        """Adds all values of `other`, which has the same unit."""
        if other.unit_ns != self.unit_ns:
            raise ValueError("histograms of different units can't be merged")
        self._inner.merge(other._inner)

    def record(self, value_ns: int, count: int = 1) -> None:
        """Adds a value, a multiple of the unit."""
        self._inner.record(value_ns // self.unit_ns, count)

    def quantile(self, quantile: float) -> int:
        """Smallest value in ns that this share of all values does not exceed."""
        return self._inner.quantile(quantile) * self.unit_ns

    def count(self) -> int:
        """Number of values."""
        return self._inner.count()

    def count_above(self, value_ns: int) -> int:
        """Number of values above `value_ns`."""
        return self._inner.count_above(value_ns // self.unit_ns)

    def mean(self) -> float:
        """Mean of all values in ns, 0 without any."""
        return self._inner.mean() * self.unit_ns

    def stddev(self) -> float:
        """Standard deviation of all values in ns."""
        return self._inner.stddev() * self.unit_ns

    def min(self) -> int:
        """Smallest value in ns, 0 without any."""
        return self._inner.min() * self.unit_ns

    def max(self) -> int:
        """Largest value in ns, 0 without any."""
        return self._inner.max() * self.unit_ns

    def buckets(self) -> list[tuple[int, int]]:
        """Non-empty buckets as (value in ns, count), ascending."""
        return [(value * self.unit_ns, count) for value, count in self._inner.buckets()]
