"""Owns how plain values of a template are read: dates, values to choose among and their weights, alphabets."""

import math
import string
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from brimline.spec import readers
from brimline.spec.document import ValueKey

Scalar = str | bool | int | float | None
Weighted = tuple[tuple[Scalar, float], ...]

CHOICES_MAX = 65_536
ALPHABET_CHARACTERS_MAX = 1024
_DECIMAL_END = Decimal(10) ** 19
_LIKE_CHOICES = "write it like [a, b] or {a: 3, b: 1}"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)
DATE_MS_MIN, DATE_MS_MAX = ((each.replace(tzinfo=UTC) - _EPOCH) // _MS for each in (datetime.min, datetime.max))
"""The first and the last date, in milliseconds since 1970."""

ALPHABETS: Mapping[str, str] = {
    "letters": string.ascii_letters,
    "lowercase": string.ascii_lowercase,
    "uppercase": string.ascii_uppercase,
    "digits": string.digits,
    "hex": "0123456789abcdef",
    "alphanumeric": string.ascii_letters + string.digits,
}
"""Characters that have a name."""


def read_scalar(value: object) -> Scalar:
    """Reads text, a number, true, false or null as it is."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"must be a 64-bit integer, but is {readers.shown(value)}; write a larger one as text")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"must be finite, but is {readers.shown(value)}; write a number such as 0.5")
        return value
    if isinstance(value, str):
        return readers.text(readers.check_description)(value)
    raise ValueError(f"must be text, a number, true, false or null, not {readers.shown(value)}; give one of these")


def read_decimal(value: object) -> Decimal:
    """Reads a number as it is written: of a double its shortest text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise ValueError(f'must be a number, not {readers.shown(value)}; write it like 5 or "9.99"')
    try:
        read = Decimal(str(value))
    except InvalidOperation:
        raise ValueError(f'is no decimal number: {readers.shown(value)}; write it like 5 or "9.99"') from None
    if not read.is_finite() or abs(read) >= _DECIMAL_END:
        raise ValueError(f"must be a number below 10^19, but is {readers.shown(value)}; give a smaller one")
    return read


def read_weighted(value: object) -> Weighted:
    """Reads what to choose among: a list, equally likely, or a mapping of value to weight.

    A key without quotes is the number, true, false or null that it looks like, as it would be in a list.
    """
    if isinstance(value, list):
        pairs = tuple((read_scalar(item), 1.0) for item in value)
    elif isinstance(value, dict):
        pairs = tuple((read_scalar(_as_value(key)), _read_weight(key, weight)) for key, weight in value.items())
        if len(dict(pairs)) < len(pairs):
            raise ValueError("weighs 1 and 1.0, or true and 1; one of both can have a weight: leave the other out")
    else:
        raise ValueError(
            f"must be a list of values or a mapping of value to weight, not {readers.shown(value)}; {_LIKE_CHOICES}"
        )
    if not 1 <= len(pairs) <= CHOICES_MAX:
        raise ValueError(f"must have 1 to {CHOICES_MAX} values, but has {len(pairs)}; {_LIKE_CHOICES}")
    if not any(weight for _, weight in pairs):
        raise ValueError(f"needs a weight above 0; {_LIKE_CHOICES}")
    return pairs


def weighted_value(pairs: Weighted) -> Any:
    """What `read_weighted` reads as the same pairs."""
    return [value for value, _ in pairs] if all(weight == 1 for _, weight in pairs) else dict(pairs)


def _as_value(key: object) -> object:
    return key.value if isinstance(key, ValueKey) else key


def _read_weight(key: object, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1e15:
        raise ValueError(f"the weight of {readers.shown(key)} must be a number from 0 to 1e15; {_LIKE_CHOICES}")
    return float(value)


def read_date(value: object) -> int:
    """Reads "2024-01-31" or "2024-01-31T12:00:00Z" as milliseconds since 1970; without a zone it is UTC."""
    if not isinstance(value, str):
        raise ValueError(f'must be a date, not {readers.shown(value)}; write it like "2024-01-31"')
    try:
        moment = datetime.fromisoformat(value)
        return check_date(((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _MS)
    except (ValueError, OverflowError):
        raise ValueError(f"must be a date, but is {readers.shown(value)}; write it like 2024-01-31T12:00:00Z") from None


def check_date(unix_ms: int) -> int:
    """The same date, if it is within the years that can be read everywhere. Raises ValueError."""
    if not DATE_MS_MIN <= unix_ms <= DATE_MS_MAX:
        raise ValueError("is not within the years 1 to 9999; take one that is")
    return unix_ms


def date_text(unix_ms: int) -> str:
    """What `read_date` reads as the same date."""
    return (_EPOCH + unix_ms * _MS).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_corner(value: object) -> object:
    """Reads longitude and latitude."""
    if not isinstance(value, list | tuple) or len(value) != 2 or not all(map(_is_number, value)):
        raise ValueError(f"must be longitude and latitude, not {readers.shown(value)}; write it like [114.3, 30.6]")
    longitude, latitude = value
    if not (-180 <= longitude <= 180 and -90 <= latitude <= 90):
        raise ValueError(
            f"must be a longitude of -180 to 180 and a latitude of -90 to 90, but is [{longitude:g}, {latitude:g}]; "
            "the longitude stands first"
        )
    return (float(longitude), float(latitude))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def read_alphabet(value: object) -> str:
    """Reads a name of `ALPHABETS`, or the characters themselves."""
    text = readers.text(lambda _: None)(value)
    if not 1 <= len(text) <= ALPHABET_CHARACTERS_MAX:
        raise ValueError(
            f"must have 1 to {ALPHABET_CHARACTERS_MAX} characters, but has {len(text)}; "
            f"alphabets with a name: {', '.join(ALPHABETS)}"
        )
    return text


def characters(alphabet: str) -> str:
    """The characters of an alphabet."""
    return ALPHABETS.get(alphabet, alphabet)
