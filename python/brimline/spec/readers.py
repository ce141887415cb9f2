"""Owns how one value of a spec is read: "10ms", 5000, "0.1%" into a number of the right unit, within bounds.

A reader takes the plain value that YAML gave and returns the value that is kept. What it refuses it refuses
with a `ValueError` whose text fits behind the key's name.
"""

import math
import re
import sys
from collections.abc import Callable
from typing import Final

from brimline import units
from brimline.wording import shortened

# Bounds of the engine's plan.
CONNECTION_COUNT_MAX: Final = 50_000
THREAD_COUNT_MAX: Final = 256
STATEMENT_COUNT_MAX: Final = 100
ATTEMPT_COUNT_MAX = 1_000_000
RATE_OPS_PER_S_MAX: Final = 1e9
SEED_MAX: Final = 2**64 - 1
# Record numbers stay far below 2^63, so that inserts of a run never reach it.
RECORD_COUNT_MAX: Final = 10**12
FIELD_COUNT_MAX: Final = 10_000
BATCH_SIZE_MAX: Final = 100_000
SCAN_LENGTH_MAX: Final = 16 * 2**20
HISTOGRAM_ENTRIES_MAX: Final = 65_536
# MongoDB's largest document and brimline's largest message.
DOCUMENT_BYTES_MAX: Final = 16 * 2**20
MESSAGE_BYTES_MAX: Final = 48_000_000
DAY_NS: Final = 86_400 * units.NS_PER_S
HOUR_NS: Final = 3_600 * units.NS_PER_S

_LIKE_A_FRACTION: Final = "write it like 0.2 or 20%"
_LIKE_WEIGHTS: Final = "write it like {100: 3, 1kB: 1}"
_LIKE_A_SKEW: Final = "0 is uniform, 0.99 is YCSB's"
_WITHOUT_RATE: Final = "write it like 5000/s, or leave it out for a closed loop"
_SHOWN_MAX: Final = 40
"""Characters of a typed value in a message."""
_NAME = re.compile(r"\w[\w.-]{0,47}")
_DATABASE_FORBIDDEN = re.compile(r'[/\\. "$*<>:|?\x00-\x1f]')


def shown(value: object) -> str:
    """A typed value as a message quotes it: short, and as it was typed."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    text = f"{value:.12g}" if isinstance(value, float) else str(value)
    # A lone surrogate, which an escape in YAML can make, can't be printed.
    text = text.encode(errors="backslashreplace").decode()
    text = shortened(text, _SHOWN_MAX)
    return f'"{text}"' if isinstance(value, str) else text


def split_advice(text: str) -> tuple[str, str | None]:
    """A reader's sentence and the advice behind its last semicolon, unless that is in the user's text."""
    message, separator, advice = text.rpartition("; ")
    return (message, advice) if separator and message.count('"') % 2 == 0 else (text, None)


def duration(minimum_ns: int, maximum_ns: int, *, advice: str = "") -> Callable[[object], int]:
    """Reads "10s" as nanoseconds. A number without a unit is refused, but for 0. `advice`: see `whole`."""
    bounds = f"{units.duration_text(minimum_ns)} to {units.duration_text(maximum_ns)}"
    within = f"write a duration from {bounds}"
    hint = f"; {advice or within}"

    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError(f'must be a duration such as "10s", not {shown(value)}; {within}')
        if not isinstance(value, str) and not _is_number(value):
            raise ValueError(f"must be in {bounds}, but is {shown(value)}{hint}")
        if not isinstance(value, str) and value != 0:
            raise ValueError(f'{shown(value)} has no unit; write "{value}s" or "{value}ms"')
        if isinstance(value, str) and value.lstrip().startswith("-"):
            raise ValueError(f"must not be negative, but is {shown(value)}{hint}")
        duration_ns = units.parse_duration(value) if isinstance(value, str) else 0
        if not minimum_ns <= duration_ns <= maximum_ns:
            raise ValueError(f"must be in {bounds}, but is {shown(value)}{hint}")
        return duration_ns

    return read


def whole(
    minimum: int, maximum: int, parse: Callable[[str], int] = units.parse_count, *, advice: str = ""
) -> Callable[[object], int]:
    """Reads a whole number within bounds, 1000000 or "1M". `advice` is for what is out of bounds; else they are it."""
    advice = advice or f"write a whole number from {minimum} to {maximum}"
    hint = f"; {advice}"

    def read(value: object) -> int:
        number = _number(value, parse, "a whole number", advice=advice)
        if not _is_number(number) or number != int(number):
            raise ValueError(f"must be a whole number, but is {shown(value)}{hint}")
        if not minimum <= number <= maximum:
            raise ValueError(f"must be in {minimum} to {maximum}, but is {shown(value)}{hint}")
        return int(number)

    return read


def _number(value: object, parse: Callable[[str], float], what: str, *, advice: str = "") -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"must be {what}, not {shown(value)}{f'; {advice}' if advice else ''}")
    if not isinstance(value, str):
        return value if _is_number(value) else math.nan
    if re.match(r"\s*-\s*[0-9]", value):
        raise ValueError(f"must not be negative, but is {shown(value)}{f'; {advice}' if advice else ''}")
    number = parse(value)
    return number if _is_number(number) else math.nan


def _is_number(value: float) -> bool:
    """Whether a float holds it: Python's whole numbers go on where floats end."""
    return abs(value) <= sys.float_info.max


def rate(value: object) -> float:
    """Reads "5000/s" or 5000 as operations per second."""
    rate = _number(value, units.parse_rate, 'a rate such as "5000/s"', advice="write it like 5000/s")
    if rate == 0:
        raise ValueError(f"must be above 0 and at most 1e9/s, but is {shown(value)}; {_WITHOUT_RATE}")
    if not math.isfinite(rate) or not 0 < rate <= RATE_OPS_PER_S_MAX:
        raise ValueError(f"must be above 0 and at most 1e9/s, but is {shown(value)}; write it like 5000/s")
    if rate < 1e-6:
        raise ValueError(f"must be at least one operation in 11 days, but is {shown(value)}; write it like 5000/s")
    return float(rate)


def rate_or_zero(value: object) -> float:
    """Reads a rate as `rate` does, and 0 as a pause."""
    is_zero = not isinstance(value, bool) and (value in (0, "0", "0/s"))
    return 0.0 if is_zero else rate(value)


def percentage(value: object) -> float:
    """Reads "0.1%" as 0.001. A number without the sign is refused, but for 0."""
    if not isinstance(value, bool) and isinstance(value, int | float) and value != 0 and _is_number(value):
        raise ValueError(f'{shown(value)} can be read as {value} % and as {value * 100:g} %; write "{value}%"')
    advice = "write it like 0.1%"
    share = float(_number(value, units.parse_percentage, 'a percentage such as "0.1%"', advice=advice))
    if not 0 <= share <= 1:
        raise ValueError(f"must be in 0% to 100%, but is {shown(value)}; {advice}")
    return share


def fraction(*, zero: bool) -> Callable[[object], float]:
    """Reads a part of a whole, 0.2 or "20%"; `zero` says whether nothing at all is a part."""

    def read(value: object) -> float:
        share = float(_number(value, _parse_fraction, "a fraction such as 0.2", advice=_LIKE_A_FRACTION))
        if not (0 < share <= 1 or (zero and share == 0)):
            bounds = "from 0 to" if zero else "above 0 and at most"
            raise ValueError(f"must be {bounds} 1, but is {shown(value)}; {_LIKE_A_FRACTION}")
        return share

    return read


def weights(value: object) -> tuple[tuple[int, float], ...]:
    """Reads a histogram of lengths, {100: 3, 1kB: 1}: length to weight."""
    if not isinstance(value, dict) or not value:
        raise ValueError(f"must be a mapping of length to weight, not {shown(value)}; {_LIKE_WEIGHTS}")
    if len(value) > HISTOGRAM_ENTRIES_MAX:
        raise ValueError(f"must have at most {HISTOGRAM_ENTRIES_MAX} lengths; leave the rarest out")
    read_length = whole(0, DOCUMENT_BYTES_MAX, units.parse_bytes)
    pairs = tuple((read_length(length), _read_weight(length, weight)) for length, weight in value.items())
    if len({length for length, _ in pairs}) < len(pairs):
        raise ValueError("names a length twice; add their weights up")
    if not any(weight for _, weight in pairs):
        raise ValueError(f"needs a weight above 0; {_LIKE_WEIGHTS}")
    return pairs


def _read_weight(length: object, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"the weight of {length} must be a number, not {shown(value)}; {_LIKE_WEIGHTS}")
    if not math.isfinite(value) or not 0 <= value <= 1e15:
        raise ValueError(f"the weight of {length} must be from 0 to 1e15, but is {shown(value)}; {_LIKE_WEIGHTS}")
    return float(value)


def share(value: object) -> float:
    """Reads an operation's share, 0.5; a percentage is kept as the fraction."""
    advice = "write a fraction, 0.5 or 50%, or a whole weight"
    number = float(_number(value, _parse_fraction, "a number such as 0.5", advice=advice))
    if not math.isfinite(number) or not 0 <= number <= 1e9:
        raise ValueError(f"must be a number from 0 on, but is {shown(value)}; {advice}")
    return number


def _parse_fraction(text: str) -> float:
    if text.rstrip().endswith("%"):
        return units.parse_percentage(text)
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'must be a fraction such as 0.2, but is "{text}"; {_LIKE_A_FRACTION}') from None


def percentile(value: object) -> float:
    """Reads a percentile such as 95."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"must be a number such as 95, not {shown(value)}; write it without p and %")
    if not 0 < value < 100:
        raise ValueError(f"must be above 0 and below 100, but is {shown(value)}; write it like 95 or 99.9")
    return float(value)


def theta(value: object) -> float:
    """Reads the skew of a zipfian law."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"must be a number such as 0.99, not {shown(value)}; {_LIKE_A_SKEW}")
    if not 0 <= value <= 10:
        raise ValueError(f"must be in 0 to 10, but is {shown(value)}; {_LIKE_A_SKEW}")
    return float(value)


def text(check: Callable[[str], None]) -> Callable[[object], str]:
    """Reads text that passes `check`. Numbers and truth values aren't turned into text."""

    def read(value: object) -> str:
        if not isinstance(value, str):
            is_one_word = isinstance(value, bool | int | float)
            advice = f'write "{shown(value)}"' if is_one_word else "write it in quotes, or leave the line out"
            raise ValueError(f"must be text, not {shown(value)}; {advice}")
        if "\0" in value or any(0xD800 <= ord(character) <= 0xDFFF for character in value):
            raise ValueError("holds a character that can't be stored; write text without NUL and lone surrogates")
        check(value)
        return value

    return read


def check_name(text: str) -> None:
    """What the run's directory is called."""
    if not _NAME.fullmatch(text):
        raise ValueError(
            f"{shown(text)} can't name a directory; "
            "take at most 48 letters, digits, '.', '_' and '-', a letter or digit first"
        )


def check_database(text: str) -> None:
    """MongoDB's rules, for the databases of every kind of server."""
    if not text or len(text.encode()) > 63 or _DATABASE_FORBIDDEN.search(text):
        raise ValueError(
            f"brimline takes no database called {shown(text)}, whatever the server takes; "
            'give one of 1 to 63 bytes with none of / \\ . space " $ * < > : | ?'
        )
    if text.lower() in ("admin", "local", "config"):
        raise ValueError(f"{shown(text)} is one of MongoDB's own databases; choose another")


def check_collection(text: str) -> None:
    """MongoDB's rules for collections; the length leaves room for the database's name."""
    if not text or len(text.encode()) > 128 or "$" in text or text.startswith(("system.", ".")) or text.endswith("."):
        raise ValueError(
            f"{shown(text)} is no collection name; it has 1 to 128 bytes, no $, no dot at either end, "
            'and does not begin with "system."'
        )
    if ".." in text:
        raise ValueError(f"{shown(text)} has two dots in a row; leave one out")
    if text != text.strip():
        raise ValueError(f"{shown(text)} has a space at its end; leave it out")


def check_field_name_prefix(text: str) -> None:
    """An update names fields in a path, where dots and dollar signs mean something else."""
    if not text or len(text.encode()) > 128 or "." in text or "$" in text:
        raise ValueError(f"{shown(text)} can't begin a field's name; it has 1 to 128 bytes, no '.' and no '$'")


def check_key_prefix(text: str) -> None:
    """Any text that keeps keys short."""
    if len(text.encode()) > 128:
        raise ValueError("must have at most 128 bytes; take a shorter one")


def check_description(text: str) -> None:
    """Any text of a few paragraphs."""
    if len(text) > 2000:
        raise ValueError("must have at most 2000 characters; shorten it")
