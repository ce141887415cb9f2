"""Owns how ranges are made coarser, so that the ends of what is written are no values of the data."""

import math
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

_EXACT_BELOW = 10
"""Small whole numbers stay: a quantity from 1 to 5 is a shape, not a value."""
_YEAR, _MONTH, _DAY = timedelta(days=3 * 365), timedelta(days=60), timedelta(days=2)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS_MIN, _MS_MAX = -62_135_596_800_000, 253_370_764_800_000
"""The years 1 and 9999."""
_EVEN_RATIO = 2.0
_BUCKETS = 5
_STEP_MIN = 1e-300


def rounded_range(low: float, high: float) -> tuple[float, float]:
    """A range around `low` to `high` that ends at round numbers: one or two digits of the span."""
    if low.is_integer() and high.is_integer() and low > -_EXACT_BELOW and high < _EXACT_BELOW:
        return low, high
    span = max(high - low, abs(high) / 10, abs(low) / 10) if high > low else abs(low)
    step = max(10.0 ** math.floor(math.log10(span)), _STEP_MIN) if span > 0 else 1.0
    below, above = math.floor(low / step), math.ceil(high / step)
    if high == low:
        # A range around one value, so that neither end tells it.
        above = below + 1
    return _clean(below * step), _clean(above * step)


def rounded_size(size: int) -> int:
    """A length of two digits; those below 20 stay."""
    if size < 2 * _EXACT_BELOW:
        return size
    step = int(10 ** (len(str(size)) - 2))
    return max(1, (size + step // 2) // step * step)


def length_value(sizes: Mapping[int, int]) -> Any:
    """A length as a spec has it: one number, a range, or the middles of fifths where lengths are uneven."""
    low, high = min(sizes), max(sizes)
    if low == high:
        return low
    small, large = rounded_size(low), rounded_size(high)
    if small == large:
        return small
    if high <= _EVEN_RATIO * max(low, 1) or high < _EXACT_BELOW:
        return {"kind": "uniform", "min": small, "max": large}
    weights: Counter[int] = Counter()
    for bucket in range(_BUCKETS):
        weights[rounded_size(_quantile(sizes, (bucket + 0.5) / _BUCKETS))] += 100 // _BUCKETS
    return {"kind": "histogram", "weights": {str(size): weight for size, weight in sorted(weights.items())}}


def date_range(low_ms: int, high_ms: int, *, days_only: bool = False) -> tuple[str, str]:
    """Whole years around a range of years, months around months, days around days, else hours.

    Dates that are all the same, or `days_only`, as birthdays are, have whole months at least.
    """
    low, high = _moment(low_ms), _moment(high_ms)
    span = high - low
    if days_only or low == high:
        span = max(span, _MONTH + _DAY)
    if span > _YEAR:
        return f"{low.year:04}-01-01", f"{min(high.year + 1, 9999):04}-01-01"
    if span > _MONTH:
        following = (high.replace(day=1, hour=0, minute=0, second=0, microsecond=0) + timedelta(days=32)).replace(day=1)
        return _day(low.replace(day=1)), _day(following)
    if span > _DAY:
        return _day(low), _day(high + timedelta(days=1))
    following = high + timedelta(hours=1)
    return f"{_day(low)}T{low:%H}:00:00Z", f"{_day(following)}T{following:%H}:00:00Z"


def duration_words(span_ms: float) -> str:
    """A span as `date_add` has it, of one or two digits: 7d, 12h, 90s."""
    for unit, ms in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)):
        if abs(span_ms) >= ms:
            return f"{rounded_size(max(1, round(abs(span_ms) / ms)))}{unit}"
    return f"{max(1, round(abs(span_ms)))}ms"


def _day(moment: datetime) -> str:
    # strftime writes the year 999 with three digits.
    return f"{moment.year:04}-{moment.month:02}-{moment.day:02}"


def _moment(ms: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=min(max(ms, _MS_MIN), _MS_MAX))


def _quantile(sizes: Mapping[int, int], fraction: float) -> int:
    left = fraction * sum(sizes.values())
    for size in sorted(sizes):
        left -= sizes[size]
        if left <= 0:
            return size
    return max(sizes)


def _clean(number: float) -> float:
    """Without the digits that binary fractions add: 0.30000000000000004 is 0.3."""
    return float(f"{number:.12g}")


def date_text(moment: datetime) -> str:
    """A date as a spec has it, in UTC."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
