"""Owns how quantities are read and written: "10ms", "20k/s", "1_000_000", "0.1%", "16MiB".

Three families:

* `parse_*` reads what a user typed and raises `ValueError` whose text is ready for an error message; what
  could mean two things is refused rather than guessed.
* `*_text` writes the shortest usual spelling of an exact value: `parse_x(x_text(value)) == value`.
* `format_*` writes for people, rounded to significant digits (half to even on the exact value) and in SI
  units; a value that rounds up to the next unit is written in that unit. What isn't finite is written as a
  dash. Each gives a `Quantity`, so that another language can write the same value its own way.

Durations are whole nanoseconds, rates operations per second, shares fractions of 1, sizes bytes.
"""

import math
import re
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any, Final, Literal, Self, TypeAlias

NS_PER_US = 1_000
NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000

UNKNOWN_TEXT = "—"

_DURATION_UNITS_NS = {
    "d": 86_400 * NS_PER_S,
    "h": 3_600 * NS_PER_S,
    "m": 60 * NS_PER_S,
    "s": NS_PER_S,
    "ms": NS_PER_MS,
    "us": NS_PER_US,
    "ns": 1,
}
_DURATION_SYNONYMS = {"min": "m", "sec": "s", "µs": "us", "μs": "us"}
_COUNT_PREFIXES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "万": 10**4, "亿": 10**8}
_RATE_PERIODS_S = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "秒": 1}
_BYTE_UNITS = {
    "B": 1,
    "kB": 10**3,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}

_NUMBER = r"[0-9]+(?:_[0-9]+)*(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?"
# Longer texts are no quantities, and Python's own limit on digits need not be met.
_TEXT_LENGTH_MAX = 64
_PLAIN_NUMBER = re.compile(_NUMBER)
_DURATION_PART = re.compile(rf"(?P<number>{_NUMBER})\s*(?P<unit>[A-Za-zµμ]+)\s*")
_COUNT = re.compile(rf"(?P<number>{_NUMBER})\s*(?P<prefix>[A-Za-z万亿]*)")
_RATE = re.compile(rf"(?P<number>{_NUMBER})\s*(?P<prefix>[kKMG万亿]?)\s*(?:ops|次)?(?:\s*/\s*(?P<period>[a-z秒]+))?")
_PERCENTAGE = re.compile(rf"(?P<number>{_NUMBER})\s*%")
_BYTES = re.compile(rf"(?P<number>{_NUMBER})\s*(?P<unit>[A-Za-z]*)")


def _pattern(form: str) -> str:
    return rf"^\s*(?:{form})\s*$"


def _one_of(names: Iterable[str]) -> str:
    return "|".join(sorted(filter(None, names), key=len, reverse=True))


PATTERNS: Final = {
    "duration": _pattern(rf"0|(?:{_NUMBER}\s*(?:{_one_of([*_DURATION_UNITS_NS, *_DURATION_SYNONYMS])})\s*)+"),
    "count": _pattern(rf"{_NUMBER}\s*(?:{_one_of(_COUNT_PREFIXES)})?"),
    "rate": _pattern(
        rf"{_NUMBER}\s*(?:{_one_of(_COUNT_PREFIXES)})?\s*(?:ops|次)?(?:\s*/\s*(?:{_one_of(_RATE_PERIODS_S)}))?"
    ),
    "percentage": _pattern(rf"{_NUMBER}\s*%"),
    "bytes": _pattern(rf"{_NUMBER}\s*(?:{_one_of(_BYTE_UNITS)})?"),
    "fraction": _pattern(r"[0-9._]+(?:[eE][+-]?[0-9]+)?\s*%?"),
}
"""What a text matches that the reader of that quantity takes, in the words that Python and JavaScript share.

Not all of it is one: bounds, the order of units and whole numbers are the reader's.
"""


# --- reading
# -------------------------------------------------------------------------------------------------------


def parse_duration(text: str) -> int:
    """Nanoseconds of "10ms", "2.5s", "1h30m" or "0"; units d h m s ms us ns, the largest first."""
    text = _trimmed(text)
    if text == "0":
        return 0
    if _PLAIN_NUMBER.fullmatch(text):
        raise ValueError(f'"{text}" has no unit; write "{text}s" or "{text}ms"')
    total = Fraction(0)
    smallest_ns: int | None = None
    position = 0
    while position < len(text):
        part = _DURATION_PART.match(text, position)
        if part is None:
            raise ValueError(f'"{text}" is no duration; write it like "10ms", "2s" or "1h30m"')
        unit_ns = _duration_unit_ns(part["unit"], text)
        if smallest_ns is not None and unit_ns >= smallest_ns:
            raise ValueError(f'"{text}" is no duration; units go from the largest to the smallest, each once')
        smallest_ns = unit_ns
        total += _exact(part["number"]) * unit_ns
        position = part.end()
    if smallest_ns is None:
        raise ValueError('"" is no duration; write it like "10ms", "2s" or "1h30m"')
    if total.denominator != 1:
        raise ValueError(f'"{text}" is not a whole number of nanoseconds; write it like "10s"')
    return int(total)


def parse_rate(text: str) -> float:
    """Operations per second of "5000/s", "20k/s", "300/min" or a plain number."""
    match = _RATE.fullmatch(_trimmed(text))
    if match is None:
        raise ValueError(
            f'"{text}" is no rate; write it like "5000/s", "20k/s" or "300/min"{_digit_grouping_note(text)}'
        )
    period = match["period"] or "s"
    if period not in _RATE_PERIODS_S:
        raise ValueError(f'"{text}" is no rate; it can be per s, min or h')
    return _float(_exact(match["number"]) * _COUNT_PREFIXES[match["prefix"]] / _RATE_PERIODS_S[period])


def _float(number: Fraction) -> float:
    """The nearest float; infinity beyond all of them."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def parse_count(text: str) -> int:
    """The whole number in "100k", "1_000_000", "2.5M" or "1e6"."""
    text = _trimmed(text)
    match = _COUNT.fullmatch(text)
    if match is None:
        raise ValueError(
            f'"{text}" is no count; write it like "1000", "1_000_000" or "100k"{_digit_grouping_note(text)}'
        )
    if match["prefix"] not in _COUNT_PREFIXES:
        raise ValueError(f'"{text}" is no count; prefixes are k (thousand), M (million) and G (thousand million)')
    if len(match["number"]) > 1 and match["number"].startswith("0") and "." not in match["number"]:
        raise ValueError(f'"{text}" is no count; it starts with 0')
    value = _exact(match["number"]) * _COUNT_PREFIXES[match["prefix"]]
    if value.denominator != 1:
        raise ValueError(f'"{text}" is not a whole number; write it like 1000 or 1.5k')
    return int(value)


def parse_bytes(text: str) -> int:
    """Bytes of "100B", "1kB" (1000), "1KiB" (1024) or a plain number."""
    text = _trimmed(text)
    match = _BYTES.fullmatch(text)
    if match is None:
        raise ValueError(f'"{text}" is no size; write it like "100", "1kB" or "1MiB"{_digit_grouping_note(text)}')
    unit = match["unit"] or "B"
    if unit not in _BYTE_UNITS:
        raise ValueError(
            f'"{text}" is no size; units are B, kB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB, TiB (of 1024)'
        )
    value = _exact(match["number"]) * _BYTE_UNITS[unit]
    if value.denominator != 1:
        raise ValueError(f'"{text}" is not a whole number of bytes; write it like 100 or 1.5kB')
    return int(value)


def parse_percentage(text: str) -> float:
    """The share (0.001) that "0.1%" says. The sign is required: 0.1 could mean 0.1 % or 10 %."""
    match = _PERCENTAGE.fullmatch(_trimmed(text))
    if match is None:
        raise ValueError(f'"{text}" is no percentage; write it like "0.1%"')
    return _float(_exact(match["number"]) / 100)


# --- writing exactly
# -----------------------------------------------------------------------------------------------


def duration_text(duration_ns: int) -> str:
    """The usual spelling of `duration_ns` (not negative): "10ms", "1.5s", "1h30m"."""
    _require_not_negative(duration_ns)
    if duration_ns == 0:
        return "0s"
    if duration_ns < 60 * NS_PER_S:
        return _small_duration_text(duration_ns)
    parts = []
    for unit in ("d", "h", "m"):
        count, duration_ns = divmod(duration_ns, _DURATION_UNITS_NS[unit])
        if count:
            parts.append(f"{count}{unit}")
    if duration_ns:
        parts.append(_small_duration_text(duration_ns))
    return "".join(parts)


def rate_text(rate_ops_per_s: float) -> str:
    """The usual spelling of a rate (not negative): "5000/s"."""
    _require_not_negative(rate_ops_per_s)
    return f"{_number_text(rate_ops_per_s)}/s"


def count_text(count: int) -> str:
    """The usual spelling of a count (not negative): "100k", "1234"."""
    _require_not_negative(count)
    for prefix in ("G", "M", "k"):
        quotient, remainder = divmod(count, _COUNT_PREFIXES[prefix])
        if quotient and not remainder:
            return f"{quotient}{prefix}"
    return str(count)


def bytes_text(size_bytes: int) -> str:
    """The usual spelling of a size (not negative): "1MiB", "100kB", "1234B"."""
    _require_not_negative(size_bytes)
    for unit in ("TiB", "TB", "GiB", "GB", "MiB", "MB", "KiB", "kB"):
        quotient, remainder = divmod(size_bytes, _BYTE_UNITS[unit])
        if quotient and not remainder:
            return f"{quotient}{unit}"
    return f"{size_bytes}B"


def percentage_text(share: float) -> str:
    """The spelling of a share (not negative): 0.001 is "0.1%"."""
    _require_not_negative(share)
    percent = Decimal(repr(float(share))) * 100
    return f"{_plain(percent)}%"


# --- writing for people
# --------------------------------------------------------------------------------------------

QuantityKind: TypeAlias = Literal["count", "number", "rate", "duration", "bytes", "percentage"]


class Quantity(str):
    """A value written for people in English that still knows itself: an ordinary string for whoever needs no more.

    `value` is in the base unit of its kind (ns, ops/s, bytes, shares of 1), `digits` how many significant ones are
    shown (0: all), `unit` the word behind a rate.
    """

    __slots__ = ("digits", "kind", "unit", "value")

    kind: QuantityKind
    value: float
    digits: int
    unit: str

    def __new__(cls, text: str, *, kind: QuantityKind, value: float, digits: int = 0, unit: str = "") -> Self:
        """`text` is how English writes it."""
        quantity = super().__new__(cls, text)
        quantity.kind, quantity.value, quantity.digits, quantity.unit = kind, value, digits, unit
        return quantity

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (str(self), self.kind, self.value, self.digits, self.unit)


def _restored(text: str, kind: QuantityKind, value: float, digits: int, unit: str) -> Quantity:
    return Quantity(text, kind=kind, value=value, digits=digits, unit=unit)


def round_significant(value: float, digits: int = 3) -> Decimal:
    """`value` rounded to `digits` significant digits, half to even on its exact binary value."""
    exact = Decimal(value)
    if not exact:
        return Decimal(0)
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    rounded = exact.quantize(step, rounding=ROUND_HALF_EVEN)
    # 9.996 rounds to 10.00, which has a digit too many.
    return rounded.quantize(step.scaleb(1)) if rounded.adjusted() > exact.adjusted() else rounded


def format_duration(duration_ns: float, *, digits: int = 3) -> Quantity:
    """For people: "9.40 ms", "123 µs", "1.50 s"; from two minutes on "2 min 5 s" or "1 h 30 min"."""
    return Quantity(_duration_words(duration_ns, digits), kind="duration", value=duration_ns, digits=digits)


def duration_label(duration_ns: float) -> str:
    """For limits and ticks, with as few digits as it needs: "1 ms", "250 µs", "1.5 s"."""
    for factor, unit in ((NS_PER_S, "s"), (NS_PER_MS, "ms"), (NS_PER_US, "µs")):
        if duration_ns >= factor * 0.9999:
            return f"{duration_ns / factor:.3g} {unit}"
    return f"{duration_ns:.3g} ns"


def format_rate(rate_ops_per_s: float, *, unit: str = "ops/s", digits: int = 3) -> Quantity:
    """For people: "9 430 ops/s", "0.250 ops/s"."""
    number = format_number(rate_ops_per_s, digits=digits)
    text = f"{number} {unit}" if math.isfinite(rate_ops_per_s) else number
    return Quantity(text, kind="rate", value=rate_ops_per_s, digits=digits, unit=unit)


def format_number(value: float, *, digits: int = 3) -> Quantity:
    """For people: `digits` significant digits, thousands set apart by spaces: "9 430", "1.50"."""
    text = f"{round_significant(value, digits):,f}".replace(",", " ") if math.isfinite(value) else UNKNOWN_TEXT
    return Quantity(text, kind="number", value=value, digits=digits)


def format_count(count: int) -> Quantity:
    """For people, exact: "1 000 000"."""
    return Quantity(f"{count:,d}".replace(",", " "), kind="count", value=count)


def format_bytes(size_bytes: float, *, digits: int = 3) -> Quantity:
    """For people, powers of 1000: "1.05 MB"."""
    return Quantity(_bytes_words(size_bytes, digits), kind="bytes", value=size_bytes, digits=digits)


def counted(count: int, one: str, several: str = "") -> str:
    """A count and its noun, for a text that has no translation: "1 document", "2 500 documents".

    `several` is the noun's plural where that has no mere `s` at its end.
    """
    return f"{format_count(count)} {one if count == 1 else several or f'{one}s'}"


def format_percentage(share: float, *, digits: int = 3) -> Quantity:
    """For people: 0.001 is "0.1 %", 0.97314 is "97.3 %", 34.5 is "3 450 %"."""
    text = f"{_grouped(_plain(round_significant(share * 100, digits)))} %" if math.isfinite(share) else UNKNOWN_TEXT
    return Quantity(text, kind="percentage", value=share, digits=digits)


# --- parts
# ---------------------------------------------------------------------------------------------------------


def _trimmed(text: str) -> str:
    if len(text) > _TEXT_LENGTH_MAX:
        raise ValueError(f'"{text[:16]}…" is too long for a quantity; write it shorter, such as 10M')
    return text.strip()


def _exact(number: str) -> Fraction:
    return Fraction(number.replace("_", ""))


def _duration_unit_ns(unit: str, text: str) -> int:
    unit_ns = _DURATION_UNITS_NS.get(_DURATION_SYNONYMS.get(unit, unit))
    if unit_ns is not None:
        return unit_ns
    if unit.lower() in _DURATION_UNITS_NS:
        raise ValueError(f'"{text}" has the unknown unit "{unit}"; did you mean "{unit.lower()}"')
    raise ValueError(f'"{text}" has the unknown unit "{unit}"; units are d, h, m, s, ms, us and ns')


def _digit_grouping_note(text: str) -> str:
    return " (digits are grouped by _, not by commas or spaces)" if re.search(r"[0-9][, ][0-9]", text) else ""


def _require_not_negative(value: float) -> None:
    if not value >= 0 or math.isinf(value):
        raise ValueError(f"{value} can't be written: it must be finite and not negative")


def _small_duration_text(duration_ns: int) -> str:
    for unit in ("s", "ms", "us"):
        unit_ns = _DURATION_UNITS_NS[unit]
        if duration_ns >= unit_ns:
            return f"{_plain(Decimal(duration_ns) / unit_ns)}{unit}"
    return f"{duration_ns}ns"


def _number_text(value: float) -> str:
    return str(int(value)) if value == int(value) and value < 2**63 else _plain(Decimal(repr(float(value))))


def _plain(value: Decimal) -> str:
    """Without zeros behind the last digit; with an exponent only where the number would be very long."""
    text = f"{value:f}" if -15 <= value.adjusted() < 24 or not value else f"{value.normalize():e}"
    if "e" in text:
        return text
    return text.rstrip("0").rstrip(".") if "." in text else text


def _grouped(number: str) -> str:
    """With thousands set apart by spaces; what has an exponent stays as it is."""
    if "e" in number:
        return number
    whole, point, rest = number.partition(".")
    return f"{int(whole):,d}".replace(",", " ") + point + rest if len(whole) > 3 else number


def _duration_words(duration_ns: float, digits: int) -> str:
    if not math.isfinite(duration_ns):
        return UNKNOWN_TEXT
    if abs(duration_ns) >= 120 * NS_PER_S:
        return _long_duration(duration_ns)
    return _with_unit(duration_ns, (("ns", 1), ("µs", NS_PER_US), ("ms", NS_PER_MS), ("s", NS_PER_S)), digits)


def _bytes_words(size_bytes: float, digits: int) -> str:
    if not math.isfinite(size_bytes):
        return UNKNOWN_TEXT
    if abs(size_bytes) < 1000 and size_bytes == int(size_bytes):
        return f"{int(size_bytes)} B"
    units = (("B", 1), ("kB", 10**3), ("MB", 10**6), ("GB", 10**9), ("TB", 10**12))
    return _with_unit(size_bytes, units, digits)


def _with_unit(value: float, units: tuple[tuple[str, int], ...], digits: int) -> str:
    rounded = round_significant(value, digits)
    name, factor = next(((name, factor) for name, factor in reversed(units) if abs(rounded) >= factor), units[0])
    return f"{round_significant(float(rounded / factor), digits):f} {name}"


def _long_duration(duration_ns: float) -> str:
    sign = "-" if duration_ns < 0 else ""
    seconds = round(abs(duration_ns) / NS_PER_S)
    if seconds < 3600:
        minutes, seconds = divmod(seconds, 60)
        return f"{sign}{minutes} min {seconds} s" if seconds else f"{sign}{minutes} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{sign}{hours} h {minutes} min" if minutes else f"{sign}{hours} h"


def sum_of_known(values: Sequence[int | None]) -> int | None:
    """The sum; None where one isn't known."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
