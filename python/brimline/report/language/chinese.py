"""Owns how Chinese writes quantities: exact counts in digits, rounded figures in 万 (10^4) and 亿 (10^8), 95%.

Where figures stand beside each other, in a table, a chart or a sentence with smaller ones, all are in digits. Durations
and sizes keep their SI units.
"""

import math
import re
from collections.abc import Callable, Mapping
from string import Formatter
from typing import Any

from brimline.units import NS_PER_S, UNKNOWN_TEXT, Quantity, round_significant

_WAN, _YI = 10**4, 10**8
_BETWEEN_HAN = re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")
_HALF_WIDTH = re.compile(r"(?<=[\u4e00-\u9fff])([,:;]) ?(?=[\u4e00-\u9fff])")
_FULL_WIDTH = {",": "，", ":": "：", ";": "；"}
_FOUR_DIGITS = re.compile(r"(?<![\d ])(\d) (?=\d{3}(?![ \d]))")
_MEET = re.compile(r"[A-Za-z0-9%][\u4e00-\u9fff]|[\u4e00-\u9fff][A-Za-z0-9]")
_FORMATTER = Formatter()
_LONG_NS = 120 * NS_PER_S


def quantity(value: Quantity, say: Callable[[str], str], *, in_digits: bool = False) -> str:
    """`value` as Chinese writes it, with as many significant digits as English; `say` translates the unit of a rate."""
    if not math.isfinite(value.value):
        return UNKNOWN_TEXT
    match value.kind:
        case "count":
            return whole_number(int(value.value))
        case "number" | "rate" if in_digits:
            return f"{_digits(value, value.digits)} {say(value.unit) if value.kind == 'rate' else ''}".rstrip()
        case "number":
            return number(value.value, digits=value.digits)
        case "rate":
            return f"{number(value.value, digits=value.digits)} {say(value.unit)}"
        case "percentage":
            return value.replace(" ", "")
        case "duration" if abs(value.value) >= _LONG_NS:
            return _long_duration(value)
        case _:
            return str(value)


def rounded_large(value: Quantity) -> bool | None:
    """Whether it would be written in 万 or 亿; None for what never is."""
    if value.kind not in ("number", "rate") or not math.isfinite(value.value):
        return None
    return abs(round_significant(value.value, value.digits)) >= _WAN


def whole_number(count: int) -> str:
    """Exact: "9876", "10 001"."""
    return _FOUR_DIGITS.sub(r"\1", f"{count:,d}".replace(",", " "))


def _digits(value: Quantity, digits: int) -> str:
    return _FOUR_DIGITS.sub(r"\1", f"{round_significant(value.value, digits):,f}".replace(",", " "))


def number(value: float, *, digits: int) -> str:
    """Rounded to `digits` significant digits: "9430", "1.43 万", "2.50 亿"."""
    rounded = round_significant(value, digits)
    for factor, word in ((_YI, "亿"), (_WAN, "万")):
        if abs(rounded) >= factor:
            return f"{round_significant(float(rounded / factor), digits):f} {word}"
    return f"{rounded:f}"


def filled(template: str, values: Mapping[str, Any]) -> str:
    """`template` with `values`; where one in Latin letters or digits meets a Chinese word, a space: "p95 更长"."""
    text = ""
    for literal, name, form, conversion in _FORMATTER.parse(template):
        parts = [literal]
        if name is not None:
            value = _FORMATTER.convert_field(values[name], conversion)
            parts.append(_FORMATTER.format_field(value, form or ""))
        for part in parts:
            apart = _MEET.fullmatch(text[-1:] + part[:1]) is not None
            text += f" {part}" if apart else part
    return text


def closed_up(sentence: str) -> str:
    """`sentence` without spaces between Chinese characters (1.5 万次/秒), and with full-width marks between them."""
    return _HALF_WIDTH.sub(lambda mark: _FULL_WIDTH[mark[1]], _BETWEEN_HAN.sub("", sentence))


def _long_duration(text: str) -> str:
    for english, chinese in ((" min", " 分"), (" s", " 秒"), (" h", " 小时")):
        text = text.replace(english, chinese)
    return text
