"""A histogram in plain Python with the interface of the compiled one, so that these tests run without it."""

import base64
import json
import math
from collections import Counter

from brimline.record.time_histogram import HistogramCodec


class FakeHistogram:
    """Exact counts by value; `encode` is base64 of JSON, which no HdrHistogram reader understands."""

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()

    @staticmethod
    def decode(text: str) -> "FakeHistogram":
        histogram = FakeHistogram()
        for value, count in json.loads(base64.b64decode(text)):
            histogram.counts[value] = count
        return histogram

    def encode(self) -> str:
        return base64.b64encode(json.dumps(sorted(self.counts.items())).encode()).decode()

    def merge(self, other: "FakeHistogram") -> None:
        self.counts.update(other.counts)

    def record(self, value_ns: int, count: int = 1) -> None:
        self.counts[value_ns] += count

    def quantile(self, quantile: float) -> int:
        rank = max(1, math.ceil(quantile * self.count()))
        for value, count in sorted(self.counts.items()):
            rank -= count
            if rank <= 0:
                return value
        return 0

    def count(self) -> int:
        return self.counts.total()

    def count_above(self, value_ns: int) -> int:
        return sum(count for value, count in self.counts.items() if value > value_ns)

    def mean(self) -> float:
        return sum(value * count for value, count in self.counts.items()) / max(1, self.count())

    def stddev(self) -> float:
        mean = self.mean()
        return math.sqrt(
            sum(count * (value - mean) ** 2 for value, count in self.counts.items()) / max(1, self.count())
        )

    def min(self) -> int:
        return min(self.counts, default=0)

    def max(self) -> int:
        return max(self.counts, default=0)

    def buckets(self) -> list[tuple[int, int]]:
        return sorted(self.counts.items())


FAKE_CODEC = HistogramCodec(empty=FakeHistogram, decode=FakeHistogram.decode)


def encoded(*values_ns: int) -> str:
    """A histogram of these values as text."""
    histogram = FakeHistogram()
    for value in values_ns:
        histogram.record(value)
    return histogram.encode()
