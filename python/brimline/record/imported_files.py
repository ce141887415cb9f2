"""Owns the directory of an imported run: `record.json`, `operations.csv`, `active.csv` and `latency.hlog`.

There is no plan, no spec and no environment. Histograms keep the tool's unit, which `record.json` names.
"""

import csv
import io
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import quote, unquote

from brimline.errors import BrimlineError, RecordError
from brimline.record import hlog
from brimline.record.csv_file import csv_text
from brimline.record.files import digest, is_of_kind, read_json, replace_json, replace_pieces, replace_text
from brimline.record.imported import KIND, ActiveRow, ImportedRun, IntervalTimes, Printed, Series, SourceFile, TimeRow
from brimline.record.layout import (
    FORMAT_VERSION,
    INTERVALS_FILE,
    LATENCY_FILE,
    OPERATIONS_FILE,
    RECORD_FILE,
    create_run_directory,
)
from brimline.record.model import ErrorRow
from brimline.record.pieces import lines_of
from brimline.record.scaled import ScaledHistogram

_Row = TypeVar("_Row", TimeRow, ActiveRow)


def write_imported(run: ImportedRun, runs_dir: Path) -> ImportedRun:
    """Writes a new record directory in `runs_dir`; the run with its directory.

    Raises RecordError; then nothing is left behind.
    """
    identity = run.sources[0].sha256[:8]
    directory = create_run_directory(runs_dir, name=run.name, plan_hash=identity, kind=KIND)
    try:
        replace_text(directory / OPERATIONS_FILE, _csv(TimeRow, run.rows))
        replace_text(directory / INTERVALS_FILE, _csv(ActiveRow, run.active))
        replace_pieces(directory / LATENCY_FILE, _log(run))
        names = (OPERATIONS_FILE, INTERVALS_FILE, LATENCY_FILE)
        state = imported_state(run) | {"files": {name: digest(directory / name) for name in names}}
        # Last: a directory without it is no record.
        replace_json(directory / RECORD_FILE, state)
    except (BrimlineError, KeyboardInterrupt):
        with suppress(OSError):
            shutil.rmtree(directory)
        raise
    return replace(run, directory=directory)


def is_imported(directory: Path) -> bool:
    """Whether a record directory holds an imported run. Raises RecordError when it can't be read."""
    return is_of_kind(directory, KIND)


def read_imported(directory: Path) -> ImportedRun:
    """The imported run in `directory`. Raises RecordError."""
    state = read_json(directory / RECORD_FILE)
    version = state.get("format_version")
    if not isinstance(version, int) or version > FORMAT_VERSION:
        raise RecordError(
            f"{directory} has format version {version}, this brimline reads up to {FORMAT_VERSION}",
            hint="it was written by a newer brimline: update this one",
        )
    changed = [name for name, sealed in state.get("files", {}).items() if _digest_of(directory / name) != sealed]
    if changed:
        raise RecordError(f"{directory} was changed since it was written: {', '.join(changed)}",
                          hint="import the files again")  # fmt: skip
    try:
        unit_ns = int(state["value_unit_ns"])
        return ImportedRun(
            directory=directory,
            name=state["name"],
            tool=state["tool"],
            sources=[SourceFile(**each) for each in state["sources"]],
            started_unix_ns=state["started_unix_ns"],
            duration_ns=state["duration_ns"],
            value_unit_ns=unit_ns,
            series=[_series(each) for each in state["series"]],
            rows=_rows(directory / OPERATIONS_FILE, TimeRow),
            active=_rows(directory / INTERVALS_FILE, ActiveRow),
            times=_times(directory / LATENCY_FILE, unit_ns),
            errors=cast(list[ErrorRow], state["errors"]),
            printed=Printed(**state["printed"]),
            notes=state["notes"],
            brimline_version=state["brimline_version"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"{directory} is damaged: {error}", hint="import the files again") from error


def imported_state(run: ImportedRun) -> dict[str, Any]:
    """What `record.json` of imported results holds."""
    series = [
        asdict(each) | {"printed_percentiles_ns": {str(q): value for q, value in each.printed_percentiles_ns.items()}}
        for each in run.series
    ]
    return {
        "format_version": FORMAT_VERSION,
        "brimline_version": run.brimline_version,
        "kind": KIND,
        "origin": "imported",
        "name": run.name,
        "ended_by": "imported",
        "message": "",
        "tool": run.tool,
        "sources": [asdict(each) for each in run.sources],
        "summary": {"started_unix_ns": run.started_unix_ns},
        "started_unix_ns": run.started_unix_ns,
        "duration_ns": run.duration_ns,
        "value_unit_ns": run.value_unit_ns,
        "series": series,
        "errors": list(run.errors),
        "printed": asdict(run.printed),
        "notes": list(run.notes),
    }


def _series(state: Mapping[str, Any]) -> Series:
    percentiles = {float(q): value for q, value in state["printed_percentiles_ns"].items()}
    return Series(**{**state, "printed_percentiles_ns": percentiles})


def _csv(of: type[TimeRow] | type[ActiveRow], rows: Iterable[TimeRow | ActiveRow]) -> str:
    names = [each.name for each in fields(of)]
    return csv_text(chain([names], ([getattr(row, name) for name in names] for row in rows)))


def _rows(path: Path, of: type[_Row]) -> Sequence[_Row]:
    """Rows of a file; a label may hold line breaks, so that it is read whole."""
    reader = csv.DictReader(io.StringIO("".join(lines_of(path)), newline=""))
    typed: list[dict[str, Any]] = [
        {name: text if name == "operation" else int(text) for name, text in row.items()} for row in reader
    ]
    return [of(**row) for row in typed]


def _log(run: ImportedRun) -> Iterable[str]:
    yield hlog.header(run.started_unix_ns or 0).replace("Values are nanoseconds", _unit_text(run.value_unit_ns))
    for each in run.times:
        entry = hlog.LogLine(
            phase=hlog.MEASURED_PHASE,
            operation=_tag(each.operation),
            clock=each.clock,
            start_ns=each.start_ns,
            end_ns=each.end_ns,
            text=each.text,
        )
        yield hlog.line(entry, max_ns=ScaledHistogram.decode(each.text, each.unit_ns).max())


def _unit_text(unit_ns: int) -> str:
    names = {1: "nanoseconds", 1_000: "microseconds", 1_000_000: "milliseconds"}
    return f"Values are {names[unit_ns]}"


def _times(path: Path, unit_ns: int) -> list[IntervalTimes]:
    return [
        IntervalTimes(operation=unquote(each.operation), clock=each.clock, start_ns=each.start_ns, end_ns=each.end_ns,
                      unit_ns=unit_ns, text=each.text)
        for each in hlog.read(path)
    ]  # fmt: skip


def _tag(operation: str) -> str:
    """A label as a tag may be: without dots, commas, blanks and line breaks."""
    return quote(operation, safe="").replace(".", "%2E")


def _digest_of(path: Path) -> str | None:
    return digest(path) if path.exists() else None
