"""Owns how what was seen of a field becomes a generator of `data.fields`, with what it can't say beside it.

Without `with_values` nothing of what a value is comes through: texts of a small choice are made up, as long and as
frequent as the real ones; ends of ranges are rounded.
"""

import json
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brimline.init.rounding import date_range, length_value, rounded_range, rounded_size
from brimline.init.value_shape import ValueShape
from brimline.init.words import can_name_field
from brimline.init.yaml_text import Noted, noted, plain
from brimline.spec.scalars import ALPHABETS

_CHOICES_MAX = 20
_SEEN_PER_CHOICE = 5
"""A value that comes this often on average is one of a choice, not one of many."""
_NUMBER_DIGITS = 6
"""Of a usual record's number, in a unique text."""
_NUMBER_DIGITS_MAX = 9
"""More records than these count are in no collection that is loaded."""
_UNEVEN_MIN = 0.1
"""Numbers are not spread evenly where their distribution departs by this from an even one."""
_UNEVEN_SEEN_MIN = 50
_NESTING_MAX = 4
_MAP_KEYS_MIN = 50
_MAP_PRESENCE_MAX = 0.2
_MAP_NAMES_MAX = 20
_FIELDS_SHOWN_MAX = 300
_UNNAMED_SHOWN_MAX = 5
_TEXT_MAX = 200
_WIDE_ALPHABET = "的一是不了人我在有他这中大来上国个到说们"
"""Characters of three bytes, for texts that are not ASCII."""
_NO_GENERATOR = "no generator for this type"
_DOUBLE_MAX = 1e300
_DECIMAL = re.compile(r"-?\d+(\.\d+)?(E[+-]?\d+)?")
_DECIMALS_MAX = 6
_DECIMAL_END = 9e12
"""What 64 bits hold with so many decimals."""
_INT = (-(2**31), 2**31 - 1)
_LONG = (-(2**63), 2**63 - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldContext:
    """What decides about a generator beside the values: see `document_fields`."""

    with_values: bool = False
    unique_paths: frozenset[str] = frozenset()
    point_paths: frozenset[str] = frozenset()
    references: Mapping[str, Any] = field(default_factory=dict)
    in_records: bool = True


def document_fields(shape: ValueShape, context: FieldContext, path: str = "", depth: int = 0) -> dict[str, Any]:
    """A generator for each field of documents of this shape, but `_id`, which is the record's key.

    `context.unique_paths`: fields whose values may not repeat. `point_paths`: fields with a geo index. `references`: a
    generator for fields that refer to another collection, by their dotted path. Without `in_records` values are drawn
    outside a collection's records, where none follows a record's number.
    """
    names = [name for name in shape.fields if depth or name != "_id"]
    if _is_map(shape, depth):
        return _map_fields(shape, context, depth)
    found: dict[str, Any] = {}
    for name in names[:_FIELDS_SHOWN_MAX]:
        if not can_name_field(name):
            continue
        each = shape.fields[name]
        value = generator(each, context, f"{path}.{name}" if path else name, depth)
        found[name] = noted(value, beside=_presence(each.seen, shape.types["document"] or shape.seen))
    if len(names) > _FIELDS_SHOWN_MAX:
        last = list(found)[-1]
        found[last] = noted(found[last], beside=f"{len(names) - _FIELDS_SHOWN_MAX} more fields are left out")
    if found and (left_out := unnamed_fields(shape)):
        first = next(iter(found))
        found[first] = noted(found[first], above=[left_out])
    return found


def unnamed_fields(shape: ValueShape) -> str:
    """Which fields of a document are left out, as a spec can't name them; "": none."""
    names = [json.dumps(name, ensure_ascii=False) for name in shape.fields if not can_name_field(name)]
    if not names:
        return ""
    more = "" if len(names) <= _UNNAMED_SHOWN_MAX else f" and {len(names) - _UNNAMED_SHOWN_MAX} more"
    listed = f"{', '.join(names[:_UNNAMED_SHOWN_MAX])}{more}"
    return f"left out, as a workload can't name fields that are empty or have a point, a leading $ or NUL: {listed}"


def generator(shape: ValueShape, context: FieldContext, path: str = "", depth: int = 0) -> Any:
    """The generator of values of this shape, as a spec has it, with comments."""
    if path in context.references:
        return context.references[path]
    kind = shape.main_type
    if path in context.point_paths and kind in ("array", "geometry", "document"):
        return noted(_point(shape), beside=f"{kind} with a geo index; here points")
    if path in context.unique_paths and context.in_records and (made := _unique(kind, shape)) is not None:
        return noted(made, beside="unique")
    value = _of_kind(kind, shape, context, path, depth)
    return noted(value, beside=_other_types(shape))


def _of_kind(kind: str, shape: ValueShape, context: FieldContext, path: str, depth: int) -> Any:
    match kind:
        case "int" | "long" | "double" | "decimal":
            made = _choice(shape, context)
            return made or noted(_number(kind, shape, exact=context.with_values), beside=_uneven(shape))
        case "text":
            return _choice(shape, context) or _text(shape, path)
        case "boolean":
            return {"kind": "boolean", "true_share": round(shape.true_count / max(shape.types["boolean"], 1), 2)}
        case "date":
            low, high = _dates(shape)
            return {"kind": "date", "from": low, "to": high}
        case "object_id":
            return {"kind": "object_id"}
        case "uuid":
            return {"kind": "uuid"}
        case "binary":
            return {"kind": "binary", "length": length_value(shape.sizes)}
        case "point":
            return _point(shape)
        case "geometry":
            return noted({"kind": "point"}, beside="a GeoJSON shape in the live collection; here a point")
        case "array":
            return _array(shape, context, path, depth)
        case "document":
            return _document(shape, context, path, depth)
        case "null":
            return {"kind": "constant", "value": None}
        case _:
            return noted({"kind": "constant", "value": None}, beside=f"{kind}: {_NO_GENERATOR}")


def _dates(shape: ValueShape) -> tuple[str, str]:
    return date_range(shape.date_ms_min or 0, shape.date_ms_max or 0, days_only=not shape.has_times)


def _number(kind: str, shape: ValueShape, *, exact: bool) -> Any:
    low, high = shape.number_min or 0.0, shape.number_max or 0.0
    if not exact:
        low, high = rounded_range(low, high)
    if kind in ("int", "long"):
        least, most = _INT if kind == "int" else _LONG
        return {"kind": kind, "min": _within(int(low), least, most), "max": _within(int(high), least, most)}
    low, high = (min(max(each, -_DOUBLE_MAX), _DOUBLE_MAX) for each in (low, high))
    bounds: dict[str, Any] = {"kind": "double", "min": low, "max": high}
    if shape.decimals <= 4:
        bounds["decimals"] = shape.decimals
    if kind == "decimal" and max(abs(low), abs(high)) < _DECIMAL_END:
        places = min(shape.decimals, _DECIMALS_MAX)
        return {"kind": "decimal", "min": round(low, places), "max": round(high, places), "decimals": places}
    return noted(bounds, beside="decimal in the live collection; here a double") if kind == "decimal" else bounds


def _uneven(shape: ValueShape) -> str:
    """That the numbers seen are not spread evenly over their range, as those that are made are; "" where they are."""
    low, high = shape.number_min, shape.number_max
    values = sorted((float(str(value)), seen) for value, seen in shape.distinct.items() if _is_number(value))
    total = sum(seen for _, seen in values)
    if low is None or high is None or high <= low or total < _UNEVEN_SEEN_MIN:
        return ""
    below, farthest, middle, step = 0, 0.0, low, 0 if shape.has_fractions else 1
    for value, seen in values:
        before, up_to = (value - low) / (high - low + step), (value - low + step) / (high - low + step)
        farthest = max(farthest, abs(below / total - before), abs((below + seen) / total - up_to))
        middle = value if below < total / 2 else middle
        below += seen
    if farthest < _UNEVEN_MIN:
        return ""
    share = 100 * (middle - low) / (high - low)
    return f"guess: spread evenly; half of those seen lie in the lowest {share:.2g} % of their range"


def _is_number(value: object) -> bool:
    if isinstance(value, str):  # a decimal is counted by its text
        return bool(_DECIMAL.fullmatch(value))
    return isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0


def _within(number: int, least: int, most: int) -> int:
    return min(max(number, least), most)


def _text(shape: ValueShape, path: str) -> Any:
    if path and shape.text_bytes > 1.5 * sum(size * count for size, count in shape.sizes.items()):
        return {"kind": "string", "length": length_value(shape.sizes), "alphabet": _WIDE_ALPHABET}
    made: dict[str, Any] = {"kind": "string", "length": length_value(shape.sizes)}
    alphabet = _alphabet(shape.characters)
    return made if alphabet == "alphanumeric" else made | {"alphabet": alphabet}


def _alphabet(characters: set[str]) -> str:
    """The smallest alphabet with a name that has them all, else letters and digits."""
    for name in ("digits", "hex", "lowercase", "uppercase", "letters"):
        if characters and characters <= set(ALPHABETS[name]):
            return name
    return "alphanumeric"


def _choice(shape: ValueShape, context: FieldContext) -> Any:
    """A choice where few values come again and again; None otherwise, and for numbers whose values are not told."""
    kind, count = shape.main_type, shape.distinct_count
    if count is None or count > _CHOICES_MAX or shape.seen < _SEEN_PER_CHOICE * count:
        return None
    pairs: list[tuple[Any, int]] = [
        (value, seen) for value, seen in shape.distinct.most_common() if _is_plain(value, kind)
    ]
    if not pairs or (kind != "text" and not context.with_values):
        return None
    if kind != "text":
        return {"kind": "choice", "of": _repeated(pairs)}
    if context.with_values:
        return {"kind": "choice", "of": {value: _weight(seen, shape.seen) for value, seen in pairs}}
    taken: set[str] = set()
    made = {
        _made_up(number, len(value), taken): _weight(seen, shape.seen) for number, (value, seen) in enumerate(pairs)
    }
    return noted({"kind": "choice", "of": made}, beside="made-up words, as long and as frequent as the real ones")


def _is_plain(value: Any, kind: str) -> bool:
    if kind == "text":
        return isinstance(value, str) and len(value) <= _TEXT_MAX and value.isprintable()
    return isinstance(value, int | float) and not isinstance(value, bool)


def _weight(seen: int, total: int) -> float:
    return max(round(100 * seen / total), 1)


def _repeated(pairs: list[tuple[Any, int]]) -> list[Any]:
    """Numbers have no weights, so the frequent ones stand there several times, about 20 in all."""
    total = sum(seen for _, seen in pairs)
    return [value for value, seen in sorted(pairs) for _ in range(max(1, round(20 * seen / total)))]


def _made_up(number: int, length: int, taken: set[str]) -> str:
    """A word that says nothing: "a", "b" …, filled up to the length of the real one where it is shorter."""
    word = string.ascii_lowercase[number % 26] + (str(number // 26) if number >= 26 else "")
    word = word + "x" * (rounded_size(length) - len(word))
    while word in taken:
        word += "x"
    taken.add(word)
    return word


def _unique(kind: str, shape: ValueShape) -> Any:
    """A generator that never repeats within a collection; None for types that don't repeat by themselves."""
    match kind:
        case "int" | "long" | "double" | "decimal":
            return {"kind": "sequence", "start": 1}
        case "text":
            return _unique_text(shape)
        case "date":
            low, _ = _dates(shape)
            return {"kind": "clock", "start": low, "every": "1s"}
        case _:
            return None


def _unique_text(shape: ValueShape) -> Any:
    """Characters, and a number that begins where it has all its digits: it keeps the length without leading zeros."""
    size = rounded_size(min(shape.sizes))
    digits = min(size - 1, _NUMBER_DIGITS if len(shape.sizes) > 1 else _NUMBER_DIGITS_MAX)
    if digits < 1:
        return {"kind": "text", "parts": [{"kind": "string", "length": 1}, {"kind": "sequence"}]}
    filling: dict[str, Any] = {"kind": "string", "length": size - digits}
    number = {"kind": "sequence", "start": 10 ** (digits - 1)}
    why = "" if len(shape.sizes) == 1 else "guess: as long as the shortest"
    return noted({"kind": "text", "parts": [filling, number]}, beside=why)


def _point(shape: ValueShape) -> Any:
    if shape.point_min is None or shape.point_max is None:
        return {"kind": "point"}
    low = [max(_whole_below(shape.point_min[0]), -180), max(_whole_below(shape.point_min[1]), -90)]
    high = [min(_whole_below(shape.point_max[0]) + 1, 180), min(_whole_below(shape.point_max[1]) + 1, 90)]
    return {"kind": "point", "min": low, "max": high}


def _whole_below(number: float) -> int:
    return int(number // 1)


def _array(shape: ValueShape, context: FieldContext, path: str, depth: int) -> Any:
    if shape.items is None or not shape.items.seen or depth >= _NESTING_MAX:
        why = "" if shape.items is None or not shape.items.seen else "what is nested deeper is left out"
        return noted({"kind": "array", "length": 0, "of": {"kind": "constant", "value": None}}, beside=why)
    of = generator(shape.items, context, path, depth + 1)
    return {"kind": "array", "length": length_value(shape.lengths), "of": of}


def _document(shape: ValueShape, context: FieldContext, path: str, depth: int) -> Any:
    if depth >= _NESTING_MAX:
        return noted({"kind": "constant", "value": None}, beside="a document; what is nested deeper is left out")
    fields = document_fields(shape, context, path, depth + 1)
    if not fields:
        why = unnamed_fields(shape) or "an empty document in the live collection"
        return noted({"kind": "constant", "value": None}, beside=why)
    return {"kind": "document", "fields": fields}


def _is_map(shape: ValueShape, depth: int) -> bool:
    """Whether the names below are data: many, each in few documents."""
    if not depth or len(shape.fields) < _MAP_KEYS_MIN:
        return False
    return sum(each.seen for each in shape.fields.values()) / len(shape.fields) < _MAP_PRESENCE_MAX * shape.seen


def _map_fields(shape: ValueShape, context: FieldContext, depth: int) -> dict[str, Any]:
    """Made-up names, as many as a document has on average; their values are as those of the most frequent one."""
    common = max(shape.fields.values(), key=lambda each: each.seen)
    average = sum(each.seen for each in shape.fields.values()) / max(shape.seen, 1)
    value = plain(generator(common, context, "", depth))
    names = [f"key{number}" for number in range(max(1, min(round(average), _MAP_NAMES_MAX)))]
    fields: dict[str, Any] = dict.fromkeys(names, value)
    fields[names[0]] = Noted(
        value, beside=f"{len(shape.fields)} names, each rare: they look like data and are left out"
    )
    return fields


def _presence(seen: int, documents: int) -> str:
    if not seen or seen >= documents:
        return ""
    return f"in {max(100 * seen / documents, 0.1):.2g} % of the documents; here in all"


def _other_types(shape: ValueShape) -> str:
    others = {name: count for name, count in shape.other_types.items() if shape.main_type != "null" or name != "null"}
    if not others:
        return ""
    named = ", ".join(f"{name} in {max(100 * count / shape.seen, 0.1):.2g} %" for name, count in others.items())
    return f"also {named}; here always {shape.main_type}"
