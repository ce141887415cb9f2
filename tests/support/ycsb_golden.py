"""Owns the recorded runs of YCSB, and the form of its output: what is left when every number is masked."""

import json
import re
import shlex
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "golden" / "ycsb"
_DOUBLE = re.compile(r"-?\d+\.\d+(?:E-?\d+)?|NaN")
_INTEGER = re.compile(r"-?\d+")
_NUMBER = re.compile(r"\d+(?:\.\d+)?|∞")  # the rate of an interval of no length
_RAW_LINE = re.compile(r"[A-Za-z-]+,\d+,\d+")
_SERIES_POINT = re.compile(r"\[[^]]+\], \d+, double")
_ADDRESS = re.compile(r"mongodb://127\.0\.0\.1:\d+/\w+")
_STATUS = re.compile(r".*\d+ sec: \d+ operations; ")
_REMAINING = re.compile(r"est completion in (?:\d+ [a-z]+ )+")
# One line or more of each failure, where brimline sums up at the end: see docs/ycsb.md.
_YCSB_OF_EACH_FAILURE = ("com.mongodb.", "Exception while trying bulk insert", "Error inserting, not retrying")
_BRIMLINE_AT_THE_END = re.compile(r"\d+ x |warning: |record: |error: |hint: ")


def recorded(name: str) -> str:
    """A recorded stream, without what a JVM says of itself."""
    lines = (GOLDEN / name).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith("[TOTAL_GC"))


def recorded_words(case: str) -> tuple[str, list[str]]:
    """Phase and flags of a recorded run, as YCSB repeated them; the class is what `mongodb` stands for."""
    first, _, _ = recorded(f"{case}.stderr").partition("\n")
    phase, _, _, *flags = shlex.split(first.removeprefix("Command line: "))
    return {"-load": "load", "-t": "run"}[phase], flags


def runs_with_measurements() -> list[str]:
    """The recorded runs whose standard output holds measurements."""
    return sorted(path.stem for path in GOLDEN.glob("*.stdout") if "Operations" in path.read_text(encoding="utf-8"))


def output_form(text: str) -> list[str]:
    """Standard output line by line: what is said before the measurements as it is, then their form."""
    said = [_ADDRESS.sub("ADDRESS", line) for line in text.splitlines() if not line.startswith("[")]
    return [*said, *form(text)]


def error_form(text: str) -> list[str]:
    """Standard error line by line, without version, address and numbers, of status lines in a row the last.

    Left out is what docs/ycsb.md names: YCSB's words on each failure, and what brimline says at the end.
    """
    own = _BRIMLINE_AT_THE_END.search(text, re.search(r"^DBWrapper.*$", text, re.M).end())  # type: ignore[union-attr]
    lines = text[: own.start() if own else None].splitlines()
    masked = [_mask_said(line) for line in lines if not line.startswith(_YCSB_OF_EACH_FAILURE)]
    following = [*masked[1:], ""]
    return [line for line, after in zip(masked, following, strict=True) if not (_is_status(line) and _is_status(after))]


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


def _is_status(line: str) -> bool:
    return "N sec: N operations; " in line


def _mask_said(line: str) -> str:
    if _STATUS.match(line):
        return status_form(_REMAINING.sub("est completion in TIME ", line))
    return re.sub(r"^YCSB Client .*", "YCSB Client VERSION", _ADDRESS.sub("ADDRESS", line))


def _mask_value(line: str) -> str:
    prefix, _, value = line.rpartition(", ")
    if _DOUBLE.fullmatch(value):
        return f"{prefix}, double"
    return f"{prefix}, integer" if _INTEGER.fullmatch(value) else line
