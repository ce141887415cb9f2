"""Owns CSV Data Set Config: the file's rows as values of a workload, and the file as a workload can read it."""

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from brimline.compat.jmeter.document import Element
from brimline.compat.jmeter.place import Remarks
from brimline.compat.jmeter.variables import Variables
from brimline.spec.own.tables import TABLE_BYTES_MAX

_TAB: Final = "\\t"
_OUTPUT: Final = "comes with its header and commas beside the workload"


@dataclass
class CsvFiles:
    """Reads data sets. `directory` is the plan's; `stem` begins names of files beside the workload, None: none."""

    variables: Variables
    remarks: Remarks
    directory: Path
    stem: str | None
    beside: dict[str, str] = field(default_factory=dict)

    def add(self, element: Element) -> None:
        """The columns of a data set become variables."""
        name = self.variables.constant(element.text("filename"))
        if not name:
            self.remarks.lose(element, "its file's name is not known beforehand", "write the name into the plan")
            return
        columns = [each.strip() for each in (self.variables.constant(element.text("variableNames")) or "").split(",")]
        columns = [each for each in columns if each]
        skips_first = bool(columns) and element.flag("ignoreFirstLine")
        rows = self._rows(element, name)
        names_itself = not columns and element.text("delimiter", ",") in ("", ",")
        if not columns:
            if not rows:
                self.remarks.lose(
                    element, f"{name} isn't there, and nothing says its columns", "put it beside the plan"
                )
                return
            columns = [each.strip() for each in rows[0]]
            rows = rows[1:]
        elif skips_first and rows:
            rows = rows[1:]
        if len(set(columns)) < len(columns) or any("$" in each or "\0" in each or not each for each in columns):
            self.remarks.lose(element, "its columns have no names of their own", "name each variable once")
            return
        table = self._table(element, self._file(element, name, columns, rows, is_ready=names_itself))
        row = self.variables.define(Path(name.replace("\\", "/")).stem, table, name)
        for column in columns:
            source = f"${{{column}}}"
            self.variables.given[column] = self.variables.define(column, f"${row.name}.{column}", source)

    def _rows(self, element: Element, name: str) -> list[list[str]] | None:
        """All rows of the file; None where it can't be read, which is said where it is read."""
        path = self.directory / name.replace("\\", "/")
        encoding = self.variables.constant(element.text("fileEncoding")) or "utf-8"
        encoding = "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding
        delimiter = self._delimiter(element)
        try:
            if not path.is_file() or path.stat().st_size > TABLE_BYTES_MAX:
                return None
            text = path.read_bytes().decode(encoding)
            # JMeter takes quotes as such only where the data set says so.
            quoting: Any = csv.QUOTE_MINIMAL if element.flag("quotedData") else csv.QUOTE_NONE
            rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting))
        except (OSError, UnicodeDecodeError, LookupError, ValueError, csv.Error, TypeError):
            return None
        return [row for row in rows if row]

    def _delimiter(self, element: Element) -> str:
        given = element.text("delimiter", ",")
        given = "\t" if given == _TAB else given or ","
        if len(given) != 1:
            self.remarks.lose(element, "its delimiter has several characters", "separate cells by one")
            return ","
        return given

    def _file(
        self, element: Element, name: str, columns: list[str], rows: list[list[str]] | None, *, is_ready: bool
    ) -> str:
        """The name of the file that the workload reads; `is_ready`: the plan's own has commas and names its columns."""
        plain = Path(name.replace("\\", "/")).name
        if not rows:
            wanted = ",".join(columns)
            why = f"{plain} isn't there, or can't be read" if rows is None else f"{plain} has no rows"
            self.remarks.lose(
                element, why, f"put it beside the workload, UTF-8, with commas and the first line {wanted}"
            )
            return plain
        if self.stem is None:
            if not is_ready:
                self.remarks.change(
                    element, f"{plain} needs the first line {','.join(columns)} and commas; -o writes it so"
                )
            return plain
        made = f"{self.stem}-{Path(plain).stem}.csv"
        written = io.StringIO(newline="")
        writer = csv.writer(written, lineterminator="\n")
        writer.writerow(columns)
        # A row that has too few cells leaves variables empty in JMeter, and what is too much is left out there too.
        writer.writerows([*row[: len(columns)], *[""] * (len(columns) - len(row))] for row in rows)
        self.beside[made] = written.getvalue()
        self.remarks.change(element, f"{plain} {_OUTPUT}: {made}")
        return made

    def _table(self, element: Element, file: str) -> dict[str, Any]:
        recycles, stops = element.flag("recycle", True), element.flag("stopThread")
        at_end = "again" if recycles else "stop" if stops else "again"
        if not recycles and not stops:
            self.remarks.change(element, "its rows begin again at the end, where JMeter gives the text <EOF>")
        self.variables.ends |= at_end == "stop"
        table: dict[str, Any] = {"csv": file, "order": "in_turn", "at_end": at_end}
        mode = element.text("shareMode", "shareMode.all")
        if mode == "shareMode.thread":
            if at_end == "stop":
                self.remarks.change(element, "rows of each thread begin again at their end, and no thread stops there")
            return {"csv": file, "order": "in_turn", "scope": "worker"}
        if mode not in ("shareMode.all", "shareMode.group"):
            self.remarks.change(element, "its rows are shared by all threads")
        return table
