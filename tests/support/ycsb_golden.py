"""Owns the recorded runs of YCSB, and the form of its output: what is left when every number is masked."""

import json
import re
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden" / "ycsb"
_DOUBLE = re.compile(r"-?\d+\.\d+(?:E-?\d+)?|NaN")
_INTEGER = re.compile(r"-?\d+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_RAW_LINE = re.compile(r"[A-Za-z-]+,\d+,\d+")
_SERIES_POINT = re.compile(r"\[[^]]+\], \d+, double")


def recorded(name: str) -> str:
    """A recorded stream, without what a JVM says of itself."""
    lines = (GOLDEN / name).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(("[TOTAL_GC", "mongo client connection")))


def form(text: str) -> list[str]:
    """Each line of a text export with its value's kind in place of the value, and the points of a series as one."""
    masked = [_mask_value(line) for line in text.splitlines() if not line.startswith("mongo client connection")]
    points = [re.sub(r", \d+, ", ", offset, ", line) if _SERIES_POINT.fullmatch(line) else line for line in masked]
    return [line for index, line in enumerate(points) if index == 0 or line != points[index - 1]]


def raw_form(text: str) -> list[str]:
    """The headers and latencies of raw measurements, numbers masked, latencies in a row as one."""
    lines = [line for line in text.splitlines() if "latency raw data" in line or _RAW_LINE.fullmatch(line)]
    masked = [re.sub(r",\d+", ",N", line) for line in lines]
    return [line for index, line in enumerate(masked) if index == 0 or line != masked[index - 1]]


def json_form(text: str) -> list[tuple[str, str, str]]:
    """Metric, measurement and kind of value of each object; points of a series as one, garbage collection left out."""
    body = text[text.index("\n") + 1 :] if text.startswith("mongo client") else text
    if not body.startswith("["):
        body = "[" + body.replace("} {", "}, {") + "]"
    rows = [
        (row["metric"], "offset" if row["measurement"].isdigit() else row["measurement"], type(row["value"]).__name__)
        for row in json.loads(body)
        if not row["metric"].startswith("TOTAL_GC")
    ]
    return [row for index, row in enumerate(rows) if index == 0 or row != rows[index - 1]]


def json_layout(text: str) -> str:
    """The first two objects with numbers masked: all that a layout consists of but its end."""
    body = text[text.index("\n") + 1 :] if text.startswith("mongo client") else text
    return _NUMBER.sub("N", body[: body.index("ops/sec")])


def status_form(line: str) -> str:
    """A status line with every number masked."""
    return _NUMBER.sub("N", line)


def doubles() -> list[str]:
    """Every double in the recorded texts, as Java wrote it."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(GOLDEN.glob("*.stdout"))]
    return [value for text in texts for value in re.findall(r"(?:, |: )(-?\d+\.\d+(?:E-?\d+)?)$", text, re.MULTILINE)]


def _mask_value(line: str) -> str:
    prefix, _, value = line.rpartition(", ")
    if _DOUBLE.fullmatch(value):
        return f"{prefix}, double"
    return f"{prefix}, integer" if _INTEGER.fullmatch(value) else line
