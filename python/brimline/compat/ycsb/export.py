"""Owns the layouts of YCSB's result: lines of text, JSON objects one after another, and a JSON array."""

import json
from collections.abc import Sequence

from brimline.compat.ycsb.java import double_text
from brimline.compat.ycsb.text import Row
from brimline.spec.ycsb_front import Exporter


def render(rows: Sequence[Row], exporter: Exporter) -> str:
    """The rows as YCSB's exporters write them. Only text ends with a line feed."""
    match exporter:
        case "text":
            return "".join(f"[{metric}], {measurement}, {_number(value)}\n" for metric, measurement, value in rows)
        case "json":
            return " ".join(map(_json_object, rows))
        case "json array":
            return f"[ {', '.join(map(_json_object, rows))} ]" if rows else "[ ]"


def _json_object(row: Row) -> str:
    metric, measurement, value = row
    number = _number(value)
    if not number.lstrip("-")[0].isdigit():
        number = f'"{number}"'  # JSON has no NaN and no infinity
    fields = (("metric", json.dumps(metric)), ("measurement", json.dumps(measurement)), ("value", number))
    return "{\n" + ",\n".join(f'  "{key}" : {text}' for key, text in fields) + "\n}"


def _number(value: int | float) -> str:
    return double_text(value) if isinstance(value, float) else str(value)
