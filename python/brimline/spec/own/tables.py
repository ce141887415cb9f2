"""Owns tables of rows: a CSV or JSON-lines file read whole, or what is to be sampled of a collection."""

import csv
import hashlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Final

import bson
from bson import Decimal128, Int64, ObjectId, json_util
from bson.datetime_ms import DatetimeMS

from brimline.spec.document import Path
from brimline.spec.own.problems import Problem, nearest
from brimline.spec.readers import shown
from brimline.spec.scalars import read_date
from brimline.units import counted

TABLE_BYTES_MAX: Final = 256 * 2**20
"""Most bytes of a table in memory."""
_WHERE: Final = "a path is relative to the workload's file, in a record to where that file was"


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows to be drawn of a collection when a run begins: at most `count`, with these fields, all where there are none.

    Database and collection are the server's names.
    """

    database: str
    collection: str
    fields: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Rows:
    """What a file holds: the rows' BSON documents one behind another, and what they have in common.

    `name` is the file's, as the workload says it.
    """

    columns: tuple[str, ...]
    row_count: int
    content: bytes
    sha256: str
    name: str = ""


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("is neither true nor false; write true or false")
    return text.lower() == "true"


CELL_TYPES: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "text": ("text", str),
    "int": ("int", int),
    "long": ("long", lambda text: Int64(int(text))),
    "double": ("double", float),
    "decimal": ("decimal", Decimal128),
    "boolean": ("boolean", _boolean),
    "date": ("date", lambda text: DatetimeMS(read_date(text))),
    "object_id": ("object_id", ObjectId),
}
"""Types of a column of a CSV file: the type that its values have, and how a cell is read."""


def read_csv(file: FilePath, path: Path, types: dict[str, str]) -> Rows:
    """The rows of a CSV file with a header; cells are text unless `types` says what their column is."""
    text = _text_of(file, path)
    lines = csv.reader(text.splitlines(keepends=True), strict=True)
    try:
        header = next(lines, None)
        if header is None:
            raise Problem(path, f"{file} is empty", "its first line names the columns")
        _check_header(header, file, path)
        for column in types:
            if column not in header:
                at = (*path[:-1], "types", column)
                raise Problem(at, f"{file.name} has no column {shown(column)}", nearest(column, header))
        readers = [CELL_TYPES[types.get(name, "text")][1] for name in header]
        return _rows(_csv_rows(lines, header, readers, file, path), tuple(header), file, path)
    except csv.Error as error:
        raise Problem(path, f"{file}:{lines.line_num}: {error}", "quote cells as RFC 4180 says") from None


def _csv_rows(
    lines: Any, header: list[str], readers: list[Callable[[str], Any]], file: FilePath, path: Path
) -> Iterator[dict[str, Any]]:
    for row in lines:
        if not row:
            continue
        if len(row) != len(header):
            message = f"{file}:{lines.line_num}: has {counted(len(row), 'cell')}, and the header {len(header)}"
            raise Problem(path, message, "give each row as many cells as there are columns")
        yield {
            name: _cell(text, read, f"{file}:{lines.line_num}: {name}", path)
            for name, text, read in zip(header, row, readers, strict=True)
        }


def _cell(text: str, read: Callable[[str], Any], where: str, path: Path) -> Any:
    if read is str:
        return text
    if not text:
        return None
    try:
        return read(text)
    except (ValueError, ArithmeticError, TypeError, bson.errors.BSONError):
        raise Problem(path, f"{where} is {shown(text)}, which its type can't read", "mend the cell or types") from None


def _check_header(header: list[str], file: FilePath, path: Path) -> None:
    for name in header:
        if not name.strip() or name.startswith("$") or "\0" in name:
            raise Problem(path, f"{file}:1: {shown(name)} can't name a column", "name each column in the first line")
        if header.count(name) > 1:
            raise Problem(path, f"{file}:1: the column {shown(name)} is there twice", "give each its own name")


def read_jsonl(file: FilePath, path: Path) -> Rows:
    """The documents of a file with one, as Extended JSON, on each line."""
    columns: dict[str, None] = {}

    def documents() -> Iterator[dict[str, Any]]:
        for number, line in enumerate(_text_of(file, path).splitlines(), start=1):
            if not line.strip():
                continue
            try:
                row = json_util.loads(line)
            except (ValueError, TypeError, bson.errors.BSONError) as error:
                raise Problem(path, f"{file}:{number}: is no JSON: {error}", "write one document a line") from None
            if not isinstance(row, dict):
                raise Problem(path, f"{file}:{number}: is no document", "write one document a line, such as {…}")
            columns.update(dict.fromkeys(row))
            yield row

    rows = _rows(documents(), (), file, path)
    return Rows(tuple(columns), rows.row_count, rows.content, rows.sha256)


def _rows(documents: Iterator[dict[str, Any]], columns: tuple[str, ...], file: FilePath, path: Path) -> Rows:
    content, count = bytearray(), 0
    for row in documents:
        try:
            content += bson.encode(row)
        except (bson.errors.BSONError, OverflowError, UnicodeEncodeError) as error:
            raise Problem(path, f"{file}: row {count + 1} can't be BSON: {error}", "mend the row") from None
        count += 1
        if len(content) > TABLE_BYTES_MAX:
            raise _too_big(file, path)
    if not count:
        raise Problem(path, f"{file} has no rows", "a row is drawn from it, so it needs one")
    return Rows(columns, count, bytes(content), hashlib.sha256(content).hexdigest())


def _too_big(file: FilePath, path: Path) -> Problem:
    size = TABLE_BYTES_MAX // 2**20
    return Problem(path, f"{file} is more than {size} MiB, which is kept in memory", "take fewer rows or columns")


def _text_of(file: FilePath, path: Path) -> str:
    try:
        # What is no file may never end, or wait for its writer for ever, also when it is opened.
        if file.exists() and not file.is_file():
            raise Problem(path, f"{file} is no file", "copy what is in it into a file")
        with file.open("rb") as opened:
            data = opened.read(TABLE_BYTES_MAX + 1)
        if len(data) > TABLE_BYTES_MAX:
            raise _too_big(file, path)
        return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", errors="strict").read()
    except UnicodeDecodeError:
        raise Problem(path, f"{file} is not UTF-8 text", "save it as UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Problem(path, f"can't read {file}: {reason}", _WHERE) from None
