"""Owns how Java writes numbers and orders hash maps, as far as YCSB's output shows it."""

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Decimal

_PLAIN_MIN, _PLAIN_MAX = 1e-3, 1e7
LONG_MAX = 2**63 - 1


def double_text(value: float) -> str:
    """`Double.toString`: the shortest digits that read back as `value`, scientific below 10^-3 and from 10^7 on.

    Source: the specification of `java.lang.Double.toString` since Java 19; older versions print a digit more for
    some values.
    """
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if math.isinf(value):
        return f"{sign}Infinity"
    if value == 0:
        return f"{sign}0.0"
    shortest = Decimal(repr(abs(value))).normalize()
    if len(shortest.as_tuple().digits) == 1:
        shortest = Decimal(f"{abs(value):.1e}").normalize()  # two digits are written anyway: the two nearest
    _, digit_tuple, exponent = shortest.as_tuple()
    digits = "".join(map(str, digit_tuple))
    point = len(digits) + int(exponent)  # the value is 0.digits times ten to this
    if not _PLAIN_MIN <= abs(value) < _PLAIN_MAX:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    whole = digits[:point].ljust(point, "0")
    return f"{sign}{whole}.{digits[point:] or '0'}"


def two_decimals(value: float) -> str:
    """`new DecimalFormat("#.##")`: at most two decimals, half to even, no zeros at the end."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "-∞" if value < 0 else "∞"
    text = f"{Decimal(value).quantize(Decimal('0.01'), ROUND_HALF_EVEN):f}".rstrip("0").rstrip(".")
    return text or "0"


def ratio(dividend: float, divisor: float) -> float:
    """Division of doubles, which never fails: by 0 it gives an infinity, or NaN."""
    if divisor == 0:
        return math.nan if dividend == 0 or math.isnan(dividend) else math.copysign(math.inf, dividend)
    return dividend / divisor


def to_long(value: float) -> int:
    """The cast from double to long: NaN becomes 0, what is too large the largest long."""
    if math.isnan(value):
        return 0
    return max(-LONG_MAX - 1, LONG_MAX if value >= LONG_MAX else math.trunc(max(value, -LONG_MAX - 1.0)))


def hash_map_order(keys: Iterable[str]) -> list[str]:
    """`keys` in the order in which a `ConcurrentHashMap` walks through them.

    By the hash code's lowest bits, its upper half folded in; keys that fall together stay in the order given. The
    table has 16 places, doubled when it is three quarters full.
    """
    given = list(keys)
    places = 16
    while len(given) >= places * 3 // 4:
        places *= 2
    return sorted(given, key=lambda key: _spread(_hash_code(key)) & (places - 1))


def _hash_code(text: str) -> int:
    code = 0
    for character in text:
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    return code


def _spread(code: int) -> int:
    return (code ^ (code >> 16)) & 0x7FFFFFFF
