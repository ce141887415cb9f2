"""Owns JMeter's functions that have a counterpart, each with the value that a workload draws for it."""

import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote_plus, unquote_plus

from brimline.compat.jmeter.texts import Text, operand
from brimline.compat.jmeter.variables import Asked, Function
from brimline.init.translated import uuid_form

_INT32: Final = (-(2**31), 2**31 - 1)
_LENGTH_MAX: Final = 100_000
_NOW_MS: Final[dict[str, Any]] = {"long": "$now"}
_SECOND: Final = {"date_trunc": {"date": "$now", "unit": "second"}}
_ISO_PLACES: Final = {
    "yyyy": (0, 4),
    "MM": (5, 2),
    "dd": (8, 2),
    "HH": (11, 2),
    "mm": (14, 2),
    "ss": (17, 2),
    "SSS": (20, 3),
}
"""Where a date as text, `2024-01-31T12:00:00.123Z`, has the fields of a Java date format: start and length."""
_FORMAT: Final = re.compile(r"(yyyy|MM|dd|HH|mm|ss|SSS)|'([^']*)'|([^A-Za-z']+)")
_PERIOD: Final = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?", re.IGNORECASE)


def _random(asked: Asked) -> Text | None:
    low, high = (asked.number(asked.argument(place)) for place in (0, 1))
    if low is None or high is None or low > high or not all(abs(each) < 2**63 for each in (low, high)):
        return None
    kind = "int" if _INT32[0] <= low and high <= _INT32[1] else "long"
    return asked.made({"kind": kind, "min": int(low), "max": int(high)}, asked.argument(2))


def _random_string(asked: Asked) -> Text | None:
    length, letters = asked.number(asked.argument(0)), asked.constant(asked.argument(1))
    if length is None or not 0 <= length <= _LENGTH_MAX or letters is None:
        return None
    if not letters:
        asked.change("has letters and digits, and not any character")
    # Each character once: how often it stands there is its weight in JMeter.
    alphabet = "".join(dict.fromkeys(letters))[:64] or "alphanumeric"
    return asked.made({"kind": "string", "length": int(length), "alphabet": alphabet}, asked.argument(2))


def _uuid(asked: Asked) -> Text | None:
    return asked.made(uuid_form())


def _time(asked: Asked) -> Text | None:
    pattern = asked.constant(asked.argument(0))
    if pattern is None:
        return None
    if not pattern:
        form: Any = _NOW_MS
    elif pattern == "/1000":
        form = {"long": {"divide": [{"long": _SECOND}, 1000]}}
    else:
        form = _formatted("$now", pattern)
    return None if form is None else asked.made(form, asked.argument(1))


def _formatted(date: Any, pattern: str) -> Any:
    """A date in a format of Java's; None where it has more than numbers of fixed width. Of UTC."""
    parts: list[Any] = []
    at = 0
    while at < len(pattern):
        found = _FORMAT.match(pattern, at)
        if found is None:
            return None
        field, quoted, plain = found.groups()
        if field is not None:
            start, length = _ISO_PLACES[field]
            parts.append({"substring": {"of": {"text": date}, "start": start, "length": length}})
        else:
            parts.append(quoted or "'" if quoted is not None else plain)
        at = found.end()
    return {"concat": parts}


def _time_shift(asked: Asked) -> Text | None:
    """`${__timeShift(format,,shift)}`: of now, by a period such as P1D or -PT2H."""
    pattern, shift = (asked.constant(asked.argument(place)) for place in (0, 2))
    period = _PERIOD.fullmatch(shift or "P0D")
    if pattern is None or shift is None or period is None or asked.argument(1):
        return None
    days, hours, minutes, seconds = (int(each or 0) for each in period.groups()[1:])
    total_s = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if total_s > 10**9:
        return None
    date: Any = {"date_add": {"date": "$now", "by": f"{period[1]}{total_s}s"}} if total_s else "$now"
    form = {"long": date} if not pattern else _formatted(date, pattern)
    return None if form is None else asked.made(form, asked.argument(4))


def _thread_number(asked: Asked) -> Text | None:
    return asked.made({"add": ["$worker", 1]})


def _counter(asked: Asked) -> Text | None:
    if asked.argument(0).strip().lower() == "true":
        asked.change("counts the operations of all threads, and not of each")
    return asked.made({"add": ["$index", 1]}, asked.argument(1))


def _change_case(asked: Asked) -> Text | None:
    mode = (asked.argument(1) or "UPPER").strip().upper()
    return _cased({"UPPER": "upper", "LOWER": "lower"}.get(mode))(asked)


def _cased(operator: str | None) -> Function:
    def function(asked: Asked) -> Text | None:
        if operator is None:
            return None
        text = asked.text(asked.argument(0))
        if text.constant is not None:
            return Text((text.constant.upper() if operator == "upper" else text.constant.lower(),))
        return None if text.is_saved else asked.made({operator: {"text": operand(text)}})

    return function


def _sum(asked: Asked) -> Text | None:
    members, variable = list(asked.call.arguments), ""
    if len(members) > 2 and "${" not in members[-1] and asked.number(members[-1]) is None:
        variable = members.pop()
    operands: list[Any] = []
    for each in members:
        number, text = asked.number(each), asked.text(each)
        if number is None and (text.constant is not None or text.is_saved):
            return None
        operands.append(int(number) if number is not None else {"long": operand(text)})
    return asked.made({"add": operands}, variable) if operands else None


def _one_of_variables(asked: Asked) -> Text | None:
    names = [each for each in asked.argument(0).split("|") if each]
    texts = [asked.text(f"${{{name}}}") for name in names]
    if not texts or any(text.is_saved for text in texts):
        return None
    return asked.made({"one_of": [operand(text) for text in texts]}, asked.argument(1))


def _evaluated(asked: Asked) -> Text | None:
    return asked.text(",".join(asked.call.arguments))


def _of_constant(change: Callable[[str], str]) -> Function:
    def function(asked: Asked) -> Text | None:
        known = asked.constant(",".join(asked.call.arguments))
        return None if known is None else Text((change(known),))

    return function


FUNCTIONS: Final[dict[str, Function]] = {
    "__Random": _random,
    "__RandomString": _random_string,
    "__UUID": _uuid,
    "__time": _time,
    "__timeShift": _time_shift,
    "__threadNum": _thread_number,
    "__counter": _counter,
    "__changeCase": _change_case,
    "__uppercase": _cased("upper"),
    "__lowercase": _cased("lower"),
    "__intSum": _sum,
    "__longSum": _sum,
    "__RandomFromMultipleVars": _one_of_variables,
    "__eval": _evaluated,
    "__urlencode": _of_constant(quote_plus),
    "__urldecode": _of_constant(unquote_plus),
}
"""JMeter's functions by name. `__P` and `__property` are known beforehand, and read with the asked.variables."""
