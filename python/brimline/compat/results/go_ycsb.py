"""Owns the summary of go-ycsb: one line an operation, printed again and again, each over the whole run until then.

Source: go-ycsb's `measurement` package and its `main`. What such a line says becomes YCSB's own measurements.
"""

import re
from collections.abc import Iterator, Mapping

SUMMARY = re.compile(r"(?P<operation>[A-Z_]+?)(?P<failed>_ERROR)? *- (?P<figures>Takes\(s\): [^,]+, Count: .*)")
END = re.compile(r"Run finished, takes (?P<time>\S+)")
PROPERTY = re.compile(r'"(?P<name>[a-z.]+)"="(?P<value>.*)"')
NAME = "go-ycsb"
_FIGURE = re.compile(r"(?P<name>[^:]+): (?P<value>[^,]*)")
_PERCENTILE = re.compile(r"(?P<percent>[0-9.]+)th\(us\)")
_DURATION_PART = re.compile(r"(?P<number>[0-9]{1,18}(?:\.[0-9]{1,18})?)(?P<unit>h|ms|m|s|us|µs|ns)")
_MS_OF_UNIT: Mapping[str, float] = {
    "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1, "us": 1e-3, "µs": 1e-3, "ns": 1e-6,
}  # fmt: skip
_NAMES = {"Count": "Operations", "Avg(us)": "AverageLatency(us)", "Min(us)": "MinLatency(us)",
          "Max(us)": "MaxLatency(us)", "Takes(s)": "Takes(s)"}  # fmt: skip


def measurements(figures: str) -> Iterator[tuple[str, str]]:
    """The figures of a line by YCSB's names; `Takes(s)` is how long the run lasted until then."""
    for match in _FIGURE.finditer(figures):
        name = match["name"].strip(" ,")
        if percentile := _PERCENTILE.fullmatch(name):
            yield f"{percentile['percent']}thPercentileLatency(us)", match["value"].strip()
        elif name in _NAMES:
            yield _NAMES[name], match["value"].strip()


def operation_of(match: re.Match[str]) -> str:
    """YCSB's name of the operation that a line is of."""
    return match["operation"].replace("_", "-")


def milliseconds(duration: str) -> float | None:
    """A duration as Go writes it, such as 1m30.5s; None for another text."""
    parts = list(_DURATION_PART.finditer(duration))
    if not parts or "".join(part[0] for part in parts) != duration:
        return None
    return sum(float(part["number"]) * _MS_OF_UNIT[part["unit"]] for part in parts)
