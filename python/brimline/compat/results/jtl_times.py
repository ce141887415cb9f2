"""Owns when a sample of JMeter's began: milliseconds since the epoch, or a date in a form that JMeter itself reads.

Source: JMeter's `CSVSaveService`, which tries `yyyy/MM/dd HH:mm:ss`, `yyyy-MM-dd HH:mm:ss`, each with and without
`.SSS`, and `MM/dd/yy HH:mm:ss`; and `java.text.SimpleDateFormat`: digits as many as there are, a year of two of them
within the century. What it passes over behind a date is read where it can't be misread: a comma's fraction, a zone.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from brimline.compat.results.source import EPOCH_MS_MAX, EPOCH_MS_MIN, bad_file, whole_number
from brimline.errors import UsageError

_SECONDS = re.compile(r"[0-9]{8,10}\.[0-9]+")
_DATE = re.compile(
    r"\s*(?P<one>[0-9]{1,4})(?P<separator>[/-])(?P<two>[0-9]{1,2})(?P=separator)(?P<three>[0-9]{1,4})(?:\s+|T)"
    r"(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2}):(?P<second>[0-9]{1,2})"
    r"(?:[.,](?P<fraction>[0-9]{1,9}))?\s*(?P<zone>Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})?\s*"
)
_MS_DIGITS = 3
_CENTURY_BEGINS = 70
_YEAR_MIN = 1970
_UNITS = ((EPOCH_MS_MIN, "seconds", "multiply by 1000"), (EPOCH_MS_MAX, "milliseconds", ""),
          (1000 * EPOCH_MS_MAX, "microseconds", "divide by 1000"),
          (1 << 63, "nanoseconds", "divide by 1 000 000"))  # fmt: skip


class Times:
    """Reads the column `timeStamp` of a file, in one form throughout."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._are_dates: bool | None = None
        self._zone_is_known: bool | None = None
        self._minute: tuple[str, ...] = ()
        self._minute_ms = 0

    @property
    def knows_zone(self) -> bool:
        """Whether the times are of a known zone, as milliseconds are."""
        return self._zone_is_known is not False

    def read(self, texts: Sequence[str], lines: Sequence[int]) -> NDArray[np.int64]:
        """Starts in ms since the epoch; dates without a zone as if they were of UTC. Raises UsageError."""
        digits = "".join(texts)
        if self._are_dates is not True and digits.isascii() and digits.isdecimal():  # without a look at each
            with suppress(ValueError, OverflowError):
                numbers = np.fromiter(map(int, texts), dtype=np.int64, count=len(texts))
                if numbers.min() >= EPOCH_MS_MIN and numbers.max() < EPOCH_MS_MAX:
                    self._are_dates = False
                    return numbers
        each = (self._read(text, line) for text, line in zip(texts, lines, strict=True))
        return np.fromiter(each, dtype=np.int64, count=len(texts))

    def _read(self, text: str, line: int) -> int:
        number = whole_number(text, most=EPOCH_MS_MAX)
        if number is None or number < EPOCH_MS_MIN:
            number = self._date(text, line)
        if number is None or not EPOCH_MS_MIN <= number < EPOCH_MS_MAX:
            raise bad_time(self._path, "timeStamp", text, line)
        is_date = not text.isdecimal()
        if self._are_dates is None:
            self._are_dates = is_date
        elif self._are_dates is not is_date:
            raise bad_file(self._path, "timeStamp is a date in some rows and a number in others", line=line)
        return number

    def _date(self, text: str, line: int) -> int | None:
        match = _DATE.fullmatch(text)
        if match is None:
            return None
        has_zone = match["zone"] is not None
        if self._zone_is_known is None:
            self._zone_is_known = has_zone
        elif self._zone_is_known is not has_zone:
            raise bad_file(self._path, "timeStamp has a zone in some rows and none in others", line=line,
                           hint="which of them came first can't be told: write all of them in one form")  # fmt: skip
        minute = (*match.group("one", "two", "three", "hour", "minute"), match["separator"], match["zone"] or "")
        if minute != self._minute:  # dates of one minute are read once
            moment = _moment(match)
            if moment is None:
                return None
            self._minute, self._minute_ms = minute, round(moment.timestamp()) * 1000
        second = int(match["second"])
        return None if second >= 60 else self._minute_ms + 1000 * second + _milliseconds(match["fraction"] or "")


def bad_time(path: Path, name: str, text: str, line: int) -> UsageError:
    """The error for what is no time in ms; it says so where it looks like one in another unit."""
    unit, change = _unit_of(text)
    problem = f"{name} can't be {text[:40]!r}"
    if not unit:
        hint = "milliseconds since 1970 can be read, and dates as JMeter reads them, such as 2026/01/31 23:59:59.000"
        return bad_file(path, problem, line=line, hint=hint if name == "timeStamp" else None)
    return bad_file(path, f"{problem}: it looks like {unit} since 1970", line=line,
                    hint=f"JMeter writes milliseconds: {change}")  # fmt: skip


def _unit_of(text: str) -> tuple[str, str]:
    if _SECONDS.fullmatch(text):
        return "seconds", _UNITS[0][2]
    number = whole_number(text, most=1 << 63)
    if number is None or number < EPOCH_MS_MIN // 1000:
        return "", ""
    return next(((unit, change) for limit, unit, change in _UNITS if number < limit), ("", ""))


def _moment(match: re.Match[str]) -> datetime | None:
    """The minute that a date is in: the first of JMeter's forms that gives one since 1970."""
    one, two, three = (int(match[name]) for name in ("one", "two", "three"))
    orders = [(one, two, three)]
    if match["separator"] == "/":
        is_short = len(match["three"]) == 2
        year = three + (0 if not is_short else 2000 if three < _CENTURY_BEGINS else 1900)
        orders.append((year, one, two))
    for year, month, day in orders:
        if year < _YEAR_MIN:
            continue
        try:
            return datetime(year, month, day, int(match["hour"]), int(match["minute"]), tzinfo=_zone(match["zone"]))
        except ValueError:
            continue
    return None


def _zone(text: str | None) -> timezone:
    """UTC as well where none is told: what lies between two times is right then, but for a change of clocks."""
    if text is None or text in ("Z", "UTC", "GMT"):
        return UTC
    offset = timedelta(hours=int(text[1:3]), minutes=int(text[-2:]))
    return timezone(-offset if text[0] == "-" else offset)


def _milliseconds(digits: str) -> int:
    """As in Java up to three digits are a number of ms; more are a finer fraction of a second."""
    return int(digits[:_MS_DIGITS] or "0")
