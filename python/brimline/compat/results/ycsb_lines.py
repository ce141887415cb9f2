"""Owns the lines that YCSB, of any release, and go-ycsb print: what each is, whatever stream or file it stands in.

Source: YCSB's `TextMeasurementsExporter`, `JSONMeasurementsExporter`, `OneMeasurementRaw`, `StatusThread` and `Client`.
Everything else (the driver's own words, stack traces) is passed over.
"""

import json
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brimline.compat.results import go_ycsb
from brimline.compat.results.foreign import foreign
from brimline.compat.results.source import (
    COUNT_MAX,
    ELAPSED_US_MAX,
    EPOCH_MS_MAX,
    EPOCH_MS_MIN,
    FORMATS_HINT,
    LINE_LENGTH_MAX,
    SPAN_S_MAX,
    bad_file,
    decimal_number,
    head_of,
    lines_of,
    open_text,
    whole_number,
)
from brimline.errors import UsageError

_MEASURED = re.compile(r"\[(?P<metric>[^\]]+)\], ?(?P<rest>.*)")
_DECIMAL_COMMA = re.compile(r"(?P<measurement>[^,]+), ?(?P<whole>-?[0-9]+),(?P<fraction>[0-9]+(?:[eE][+-]?[0-9]+)?)")
_ENDS_WITH_FIGURE = re.compile(r"(?P<name>[^,]+), ?(?P<begun>-?[0-9][0-9.,]*)")
"""Of the name of a measurement: its figure has separators of thousands, so that it was cut at one of them."""
_THOUSANDS = 3
"""Digits behind a comma that may separate thousands as well."""
_RAW = re.compile(r"(?P<operation>[A-Z][A-Za-z-]*),(?P<at_ms>[^,]*),(?P<time_us>[^,]*)")
_RAW_HEADER = re.compile(r"\S+ latency raw data: op, timestamp\(ms\), latency\(us\)")
_STATUS = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}) (?P<second>\d+) sec: (?P<operations>\d+) operations; "
)
_STATUS_LABELLED = re.compile(r".*?(?=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3} \d+ sec: )")
_STATUS_PART = re.compile(r"\[(?P<operation>[A-Z][A-Z-]*)[^\[\]]*?: Count=(?P<count>\d+), ")
_COMMAND = "Command line: "
_JSON_BEGIN = re.compile(r"\s*\[?\s*\{\s*(?:$|\"(?:metric|measurement|value)\"\s*:)")
"""As YCSB writes it, or an object on a line, or all on one line."""
_JSON_ARRAY_BEGIN = re.compile(r"\s*\[\s*$")
"""Indented otherwise: an array's bracket has a line of its own. Another program's messages may hold such a line."""
_JSON_NAME = '"metric"'
_OF_YCSB = re.compile(
    r"\b(?:site|com\.yahoo)\.ycsb\b|\bYCSB Client\b|\bmeasurementtype=|^mongo client connection created", re.MULTILINE
)
JSON_LENGTH_MAX = 64 << 20


@dataclass(frozen=True, slots=True)
class Status:
    """One status line: operations so far, and those of the last interval by kind."""

    second: int
    operations: int
    counts: dict[str, int]


@dataclass(slots=True)
class YcsbOutput:
    """Everything that was found in the files of one run. `raw` are (operation, end ms, time µs)."""

    metrics: dict[str, list[tuple[str, str, Path, int]]] = field(default_factory=lambda: defaultdict(list))
    raw: dict[str, tuple[list[int], list[int]]] = field(default_factory=dict)
    status: list[Status] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    summary_file: Path | None = None
    tool: str = "YCSB"
    has_decimal_commas: bool = False

    def add_raw(self, operation: str, at_ms: int, time_us: int) -> None:
        """Keeps one measured call."""
        at, times = self.raw.setdefault(operation, ([], []))
        at.append(at_ms)
        times.append(time_us)


def read_ycsb(path: Path, output: YcsbOutput) -> None:
    """Adds what a file holds. Raises UsageError for a damaged line, a second run, or a file without any result."""
    has_json = _JSON_NAME in head_text(path)
    reader = _Reader(path, output, has_json=has_json)
    with open_text(path) as stream:
        lines = lines_of(stream, path, length_max=JSON_LENGTH_MAX if has_json else LINE_LENGTH_MAX)
        for number, line in enumerate(lines, start=1):
            reader.line(number, line.rstrip("\r\n"), ended=line.endswith("\n"))
    reader.end()


def head_text(path: Path) -> str:
    """What a file begins with. Raises UsageError when it can't be read or is empty."""
    return head_of(path).decode("utf-8-sig", errors="replace")


class _Reader:
    def __init__(self, path: Path, output: YcsbOutput, *, has_json: bool) -> None:
        self._path, self._output, self._has_json = path, output, has_json
        self._is_known = self._has_raw = False
        self._go_seconds: tuple[int, str] | None = None
        self._json: list[str] = []
        self._json_line = self._json_length = 0

    def line(self, number: int, text: str, *, ended: bool) -> None:
        """Adds what a line holds. `ended`: it has a line break, as all that YCSB writes."""
        if self._json or _JSON_BEGIN.match(text) or (self._has_json and _JSON_ARRAY_BEGIN.match(text)):
            self._json_piece(number, text)
        elif text.startswith("["):
            if match := _MEASURED.fullmatch(text):
                if not ended:
                    # "12" may be the beginning of 1234.
                    raise bad_file(
                        self._path,
                        f"the last line has no line break, so that its figure may be cut short: {text[:60]}",
                        line=number,
                        hint="give what YCSB printed, whole; where it is whole, add the line break",
                    )
                self._measured(number, match["metric"], match["rest"])
        elif _RAW_HEADER.fullmatch(text):
            self._is_known = self._has_raw = True
        elif self._has_raw and (match := _RAW.fullmatch(text)):
            self._raw(number, match)
        elif text.startswith(_COMMAND):
            self._is_known = True
            self._command(text.removeprefix(_COMMAND))
        elif " sec: " in text:
            self._status(number, text)
        elif " - Takes(s): " in text or text.startswith(('"', "Run finished, ")):
            self._go(number, text)

    def end(self) -> None:
        if self._json:
            self._read_json()
        if self._go_seconds is not None and self._output.summary_file is None:
            number, seconds = self._go_seconds
            self._add("OVERALL", "RunTime(ms)", f"{float(seconds) * 1000:f}", number)
        if not self._is_known:
            raise self._foreign("it holds no results that can be read", hint=FORMATS_HINT)

    def _foreign(self, problem: str, *, line: int | None = None, hint: str | None = None) -> UsageError:
        """The error for what is no result of YCSB; it names another tool whose it is, or YCSB where that left none."""
        head = head_text(self._path)
        if _OF_YCSB.search(head):
            return bad_file(self._path, "nothing in it is a result of YCSB", hint="give what YCSB printed, whole")
        return foreign(self._path, head) or bad_file(self._path, problem, line=line, hint=hint)

    def _go(self, number: int, text: str) -> None:
        """A line of go-ycsb: an operation so far, what it was asked for, or the end of its run."""
        metrics = self._output.metrics
        if match := go_ycsb.SUMMARY.fullmatch(text):
            figures = [(name, value, self._path, number) for name, value in go_ycsb.measurements(match["figures"])]
            operation = go_ycsb.operation_of(match)
            if match["failed"]:
                counted = next((each for each in figures if each[0] == "Operations"), None)
                kept = [each for each in metrics[operation] if each[0] != "Return=ERROR"]
                kept = kept or [("Operations", "0", self._path, number)]
                metrics[operation] = [*kept, ("Return=ERROR", *counted[1:])] if counted else kept
            else:
                kept = [each for each in metrics[operation] if each[0].startswith("Return=")]
                metrics[operation] = [*figures, *kept]
            seconds = next((value for name, value, _, _ in figures if name == "Takes(s)"), "")
            if decimal_number(seconds, most=SPAN_S_MAX) is None:
                raise bad_file(self._path, f"Takes(s) can't be {seconds[:40]!r}", line=number)
            self._is_known, self._go_seconds, self._output.tool = True, (number, seconds), go_ycsb.NAME
        elif match := go_ycsb.PROPERTY.fullmatch(text):
            words = ["-load"] if match[0] == '"dotransactions"="false"' else []
            self._output.command += [*words, f"{match['name']}={match['value']}"]
        elif match := go_ycsb.END.fullmatch(text):
            run_time_ms = go_ycsb.milliseconds(match["time"])
            if run_time_ms is None:
                raise bad_file(self._path, f"its time can't be {match['time'][:40]!r}", line=number)
            self._output.tool = go_ycsb.NAME
            self._add("OVERALL", "RunTime(ms)", f"{run_time_ms:f}", number)

    def _measured(self, number: int, metric: str, rest: str) -> None:
        measurement, separator, value = (part.strip() for part in rest.rpartition(","))
        if (comma := _DECIMAL_COMMA.fullmatch(rest)) is not None:
            measurement, value = comma["measurement"].strip(), f"{comma['whole']}.{comma['fraction']}"
            if len(comma["fraction"]) == _THOUSANDS:
                problem = f"{measurement[:40]} {comma['whole']},{comma['fraction']} may be a thousand times as much"
                hint = "write it with a decimal point, as YCSB does, or without separators of thousands"
                raise bad_file(self._path, problem, line=number, hint=hint)
            self._output.has_decimal_commas = True
        elif (cut := _ENDS_WITH_FIGURE.fullmatch(measurement)) is not None:
            figure = f"{cut['begun']},{value}"
            problem = f"{cut['name'][:40]} can't be {figure[:40]!r}: its commas may mean two things"
            hint = "write it with a decimal point, as YCSB does, and without separators of thousands"
            raise bad_file(self._path, problem, line=number, hint=hint)
        if not separator:
            raise bad_file(self._path, f"the line is cut short: [{metric[:40]}], {rest[:40]}", line=number)
        try:
            float(value)
        except ValueError:
            raise bad_file(self._path, f"{measurement[:40]} can't be {value[:40]!r}", line=number) from None
        self._add(metric, measurement, value, number)

    def _add(self, metric: str, measurement: str, value: str, number: int) -> None:
        if metric == "OVERALL" and measurement == "RunTime(ms)":
            if self._output.summary_file is not None:
                raise bad_file(
                    self._path,
                    f"a second run begins here; the first is in {self._output.summary_file.name}",
                    line=number,
                    hint="import the runs one by one: percentiles of several runs can't be merged",
                )
            self._output.summary_file = self._path
        self._is_known = True
        self._output.metrics[metric].append((measurement, value, self._path, number))

    def _raw(self, number: int, match: re.Match[str]) -> None:
        at_ms = whole_number(match["at_ms"], most=EPOCH_MS_MAX)
        time_us = whole_number(match["time_us"], most=ELAPSED_US_MAX)
        if at_ms is None or at_ms < EPOCH_MS_MIN or time_us is None:
            raise bad_file(self._path, f"{match[0][:60]!r} is no operation, time and latency", line=number)
        self._output.add_raw(match["operation"], at_ms, time_us)

    def _command(self, text: str) -> None:
        try:
            self._output.command = shlex.split(text)
        except ValueError:
            self._output.command = text.split()

    def _status(self, number: int, text: str) -> None:
        label = _STATUS_LABELLED.match(text)
        match = _STATUS.match(text, label.end() if label else 0)
        if match is None:
            return
        self._is_known = True
        second = whole_number(match["second"], most=SPAN_S_MAX)
        operations = whole_number(match["operations"], most=COUNT_MAX)
        counts = {
            part["operation"]: whole_number(part["count"], most=COUNT_MAX) for part in _STATUS_PART.finditer(text)
        }
        known = {operation: count for operation, count in counts.items() if count is not None}
        if second is None or operations is None or len(known) < len(counts):
            raise bad_file(self._path, f"a count can't be so large: {text[:60]!r}", line=number)
        self._output.status.append(Status(second, operations, known))

    def _json_piece(self, number: int, text: str) -> None:
        if not self._json:
            self._json_line = number
        self._json_length += len(text)
        if self._json_length > JSON_LENGTH_MAX:
            raise bad_file(self._path, f"the JSON is longer than {JSON_LENGTH_MAX >> 20} MB", line=self._json_line)
        self._json.append(text)

    def _read_json(self) -> None:
        """An array of objects, or objects one after another, each a measurement."""
        text = "\n".join(self._json)
        try:
            rows = list(_objects(text))
            for row in rows:
                float(row["value"])
                self._add(str(row["metric"]), str(row["measurement"]), str(row["value"]), self._json_line)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            problem = "the JSON that begins here is damaged, or not YCSB's"
            raise self._foreign(problem, line=self._json_line, hint=FORMATS_HINT) from None


def _objects(text: str) -> Iterator[Any]:
    decoder, position = json.JSONDecoder(), 0
    while True:
        while position < len(text) and text[position] in " \t\r\n":
            position += 1
        if position == len(text):
            return
        value, position = decoder.raw_decode(text, position)
        if isinstance(value, list):
            yield from value
        else:
            yield value
