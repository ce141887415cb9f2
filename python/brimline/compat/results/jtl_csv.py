"""Owns JMeter's results as CSV: a header that names the columns, then one sample per row.

Source: JMeter's `CSVSaveService` and the properties `jmeter.save.saveservice.*`. Fields are found by name, for every
one of them can be left out; the delimiter is the character behind the first name. `elapsed` is in ms. Where
`SampleCount` is above 1 a row stands for several samples, and `elapsed` is the sum of their times.
"""

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from brimline.compat.results.jtl_errors import ErrorTally
from brimline.compat.results.jtl_times import Times
from brimline.compat.results.source import (
    ELAPSED_MS_MAX,
    SAMPLE_BYTES_MAX,
    SAMPLES_MAX,
    bad_file,
    lines_of,
    open_text,
    whole_number,
)
from brimline.compat.results.tally import Batch, Tally
from brimline.errors import UsageError
from brimline.units import counted

REQUIRED = ("timeStamp", "elapsed", "label", "success")
_BATCH_ROWS = 50_000
_FIRST_NAME = re.compile(r"\"?[A-Za-z]+\"? *")
_DELIMITERS = ",\t;|"
_DEFAULT_NAMES = (
    "timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType", "success",
    "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL", "Latency", "IdleTime", "Connect",
)  # fmt: skip
_TIME = re.compile(r"\"?(?:[0-9]{9,19}|[0-9]{1,4}[/-][0-9]{1,2}[/-][0-9]{1,4}[ T].*)\"?")
_LONG_ROW = "a cell holds the delimiter and has no quotes: put it into quotes, as JMeter does"
_SHORT_ROW = "the row is damaged: have two programs written into the file?"
_LAST_ROW = "if JMeter was ended while it wrote, delete the last line"
_SUCCESS = {"true": True, "false": False}


def is_blank(line: str) -> bool:
    """Whether a line holds nothing, as a row does that a spreadsheet left empty."""
    return not line.strip(f"{_DELIMITERS} \r\n")


def is_jtl_header(line: str) -> bool:
    """Whether a first line names columns of a JTL file."""
    names = set(re.split(r"\W+", line))
    return "elapsed" in names and bool(names & {"timeStamp", "label", "success"})


def headless(line: str) -> str | None:
    """A header that would fit a first line which is a sample, as far as columns tell what they are; None for others."""
    for delimiter in _DELIMITERS:
        cells = next(csv.reader([line], delimiter=delimiter), [])
        has_words = any(cell.lower() in _SUCCESS for cell in cells)
        if len(cells) > len(REQUIRED) - 1 and has_words and _TIME.fullmatch(cells[0]) and cells[1].isdecimal():
            is_default = len(cells) == len(_DEFAULT_NAMES) and cells[7].lower() in _SUCCESS
            names = _DEFAULT_NAMES if is_default else ("timeStamp", "elapsed", "…")
            return delimiter.join(names)
    return None


def read_jtl_csv(path: Path, tally: Tally, errors: ErrorTally) -> bool:
    """Counts every sample of a file; whether its times are of a known zone. Raises UsageError."""
    with open_text(path) as stream:
        lines = enumerate(lines_of(stream, path), start=1)
        header_line, header = next(((number, line) for number, line in lines if not is_blank(line)), (1, ""))
        delimiter = _delimiter(header)
        names = _names(header, delimiter, path, header_line)
        rows = _Rows(path, names, tally, errors, header_line=header_line, delimiter=delimiter)
        return rows.read(csv.reader((line for _, line in lines), delimiter=delimiter))


def _delimiter(header: str) -> str:
    match = _FIRST_NAME.match(header)
    return header[match.end()] if match and match.end() < len(header.rstrip("\r\n")) else ","


def _names(header: str, delimiter: str, path: Path, line: int) -> list[str]:
    """Names of columns in their order; "" of one that has none, as where a spreadsheet filled lines up."""
    names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    missing = [name for name in REQUIRED if name not in names]
    if missing:
        raise bad_file(
            path,
            f"the header lacks {', '.join(missing)}",
            line=line,
            hint="let JMeter write them (jmeter.save.saveservice.print_field_names, time, label, successful)",
        )
    repeated = next((name for name in names if name and names.count(name) > 1), None)
    if repeated is not None:
        raise bad_file(path, f"the header names {repeated} twice", line=line)
    return names


class _Rows:
    """Turns rows into batches."""

    def __init__(
        self,
        path: Path,
        names: Sequence[str],
        tally: Tally,
        errors: ErrorTally,
        *,
        header_line: int,
        delimiter: str,
    ) -> None:
        self._path, self._names, self._tally, self._errors = path, names, tally, errors
        self._columns = {name: place for place, name in enumerate(names)}
        self._header_line, self._delimiter = header_line, delimiter
        self._width = len(names)
        self._times = Times(path)

    def read(self, reader: Iterator[list[str]]) -> bool:
        rows: list[list[str]] = []
        lines: list[int] = []
        is_empty = True
        for row in self._checked(reader):
            is_empty = False
            rows.append(row)
            lines.append(reader.line_num + self._header_line)  # type: ignore[attr-defined]
            if len(rows) >= _BATCH_ROWS:
                self._add(rows, lines)
                rows, lines = [], []
        if rows:
            self._add(rows, lines)
        if is_empty:
            raise bad_file(self._path, "the file has a header and no sample")
        return self._times.knows_zone

    def _checked(self, reader: Iterator[list[str]]) -> Iterator[list[str]]:
        width = self._width
        try:
            for row in reader:
                if not row or self._is_header(row):
                    continue
                line = reader.line_num + self._header_line  # type: ignore[attr-defined]
                if is_jtl_header(",".join(row)):
                    raise bad_file(self._path, "another header begins here, with other columns", line=line,
                                   hint="split the file here, and import both parts together")  # fmt: skip
                if len(row) != width:
                    is_last = next(reader, None) is None
                    problem = f"the row has {len(row)} of {counted(width, 'column')}"
                    hint = _LONG_ROW if len(row) > width else _LAST_ROW if is_last else _SHORT_ROW
                    hint = self._other_delimiter(row) or hint
                    raise bad_file(self._path, problem, line=line, hint=hint)
                yield row
        except csv.Error as error:
            line = reader.line_num + self._header_line  # type: ignore[attr-defined]
            raise bad_file(self._path, str(error), line=line, hint="is a quote not closed?") from error

    def _other_delimiter(self, row: list[str]) -> str | None:
        """What to do about a row whose cells another character separates; None where none does."""
        text = self._delimiter.join(row)
        for other in _DELIMITERS.replace(self._delimiter, ""):
            if len(next(csv.reader([text], delimiter=other), [])) == self._width:
                named = (repr(each) if each != "\t" else "a tab" for each in (other, self._delimiter))
                return "its cells are separated by {}, those of the header by {}: let them be the same".format(*named)
        return None

    def _is_header(self, row: list[str]) -> bool:
        """Whether the file's own header stands there again, as where JMeter appended to it."""
        return "elapsed" in row and [name.strip("\ufeff ") for name in row] == self._names

    def _add(self, rows: Sequence[list[str]], lines: Sequence[int]) -> None:
        columns = list(zip(*rows, strict=True))
        starts = self._times.read(columns[self._columns["timeStamp"]], lines)
        elapsed = self._numbers("elapsed", columns, lines, most=ELAPSED_MS_MAX)
        labels = list(columns[self._columns["label"]])
        success = self._success(columns[self._columns["success"]], lines)
        count = self._numbers("SampleCount", columns, lines, absent=1, most=SAMPLES_MAX)
        failed = (
            self._numbers("ErrorCount", columns, lines, most=SAMPLES_MAX)
            if "ErrorCount" in self._columns
            else (~success) * count
        )
        if (failed > count).any():
            place = int(np.argmax(failed > count))
            raise bad_file(self._path, "ErrorCount is above SampleCount", line=lines[place])
        self._add_errors(rows, np.flatnonzero(failed > 0), failed)
        self._tally.add(
            Batch(
                operation=labels,
                end_ms=np.where(count == 1, starts + elapsed, starts),
                time=np.where(count > 0, elapsed, 0),
                count=count,
                failed=failed,
                bytes_in=self._optional("bytes", columns, lines, most=SAMPLE_BYTES_MAX),
                bytes_out=self._optional("sentBytes", columns, lines, most=SAMPLE_BYTES_MAX),
                active=self._optional("allThreads", columns, lines, most=SAMPLES_MAX),
            )
        )

    def _optional(
        self, name: str, columns: Sequence[Sequence[str]], lines: Sequence[int], *, most: int
    ) -> NDArray[np.int64] | None:
        return self._numbers(name, columns, lines, most=most) if name in self._columns else None

    def _numbers(
        self, name: str, columns: Sequence[Sequence[str]], lines: Sequence[int], *, absent: int = 0, most: int
    ) -> NDArray[np.int64]:
        """A column of whole numbers from 0 to `most`."""
        if name not in self._columns:
            return np.full(len(lines), absent, dtype=np.int64)
        texts = columns[self._columns[name]]
        digits = "".join(texts)
        if digits.isdecimal() and digits.isascii():  # int alone reads "1_0" and other alphabets' digits
            try:
                numbers = np.fromiter(map(int, texts), dtype=np.int64, count=len(texts))
                if numbers.max() <= most:
                    return numbers
            except (ValueError, OverflowError):
                pass
        raise self._first_bad(name, texts, lines, lambda text: whole_number(text, most=most) is not None)

    def _first_bad(
        self, name: str, texts: Sequence[str], lines: Sequence[int], is_good: Callable[[str], bool]
    ) -> UsageError:
        for text, line in zip(texts, lines, strict=True):
            try:
                good = is_good(text)
            except (ValueError, KeyError, OverflowError):
                good = False
            if not good:
                hint = "JMeter writes it in whole milliseconds" if name in ("elapsed", "Latency", "Connect") else None
                if name == "success":
                    is_cut = line == lines[-1] and any(word.startswith(text.lower()) for word in _SUCCESS)
                    hint = _LAST_ROW if is_cut else "it is true or false"
                return bad_file(self._path, f"{name} can't be {text[:40]!r}", line=line, hint=hint)
        raise AssertionError(name)

    def _success(self, texts: Sequence[str], lines: Sequence[int]) -> NDArray[np.bool_]:
        try:
            return np.fromiter((_SUCCESS[text.lower()] for text in texts), dtype=np.bool_, count=len(texts))
        except KeyError:
            raise self._first_bad("success", texts, lines, lambda text: _SUCCESS[text.lower()] or True) from None

    def _add_errors(self, rows: Sequence[list[str]], places: NDArray[np.int64], failed: NDArray[np.int64]) -> None:
        def cell(row: list[str], name: str) -> str:
            return row[self._columns[name]] if name in self._columns else ""

        for place in places.tolist():
            row = rows[place]
            message = cell(row, "failureMessage") or cell(row, "responseMessage")
            code = cell(row, "responseCode")
            self._errors.add(cell(row, "label"), code=code, message=message, count=int(failed[place]))
