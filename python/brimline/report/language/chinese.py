"""Owns how Chinese writes quantities: 万 (10^4) and 亿 (10^8) for large numbers, no space before the per cent sign.

Durations and sizes keep their SI units.
"""

import math
import re
from collections.abc import Callable
from decimal import Decimal

from brimline.units import NS_PER_S, UNKNOWN_TEXT, Quantity, round_significant

_WAN, _YI = 10**4, 10**8
_BETWEEN_HAN = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
_LONG_NS = 120 * NS_PER_S


def quantity(value: Quantity, say: Callable[[str], str]) -> str:
    """`value` as Chinese writes it, with as many significant digits as English; `say` translates the unit of a rate."""
    if not math.isfinite(value.value):
        return UNKNOWN_TEXT
    match value.kind:
        case "count":
            return whole_number(int(value.value))
        case "number":
            return number(value.value, digits=value.digits)
        case "rate":
            return f"{number(value.value, digits=value.digits)} {say(value.unit)}"
        case "percentage":
            return value.replace(" %", "%")
        case "duration" if abs(value.value) >= _LONG_NS:
            return _long_duration(value)
        case _:
            return str(value)


def whole_number(count: int) -> str:
    """Exact: 9876, "1.5 万", "123.4567 万", "2 亿". 亿 only where it needs no more than 4 decimals."""
    size = abs(count)
    if size < _WAN:
        return str(count)
    if size >= _YI and not size % _WAN:
        return f"{_plain(Decimal(count) / _YI)} 亿"
    return f"{_plain(Decimal(count) / _WAN)} 万"


def number(value: float, *, digits: int) -> str:
    """Rounded to `digits` significant digits: "9430", "1.43 万", "2.50 亿"."""
    rounded = round_significant(value, digits)
    for factor, word in ((_YI, "亿"), (_WAN, "万")):
        if abs(rounded) >= factor:
            return f"{round_significant(float(rounded / factor), digits):f} {word}"
    return f"{rounded:f}"


def closed_up(sentence: str) -> str:
    """`sentence` without spaces between Chinese characters, as between 万 and the word that is counted: 1.5 万次/秒."""
    return _BETWEEN_HAN.sub("", sentence)


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _long_duration(text: str) -> str:
    for english, chinese in ((" min", " 分"), (" s", " 秒"), (" h", " 小时")):
        text = text.replace(english, chinese)
    return text
