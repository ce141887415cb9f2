"""Owns `brimline list`. The trailing underscore keeps Python's own `list` usable."""

import json
import sys
from collections.abc import Sequence
from typing import Annotated

from rich.table import Table

from brimline.cli import options as opt
from brimline.cli.grouped import grouped, only
from brimline.cli.output import console, printing
from brimline.errors import on_one_line
from brimline.record import RecordEntry, list_records
from brimline.report.document import FORMAT_VERSION

_WIDTH_OF_A_PIPE = 100_000


@grouped
def list_runs(output: Annotated[opt.OutputOptions, only("runs_dir", "as_json")]) -> int:
    """List stored runs and experiments, oldest first."""
    entries = list_records(output.runs_dir)
    if output.as_json:
        with printing():
            sys.stdout.write(json.dumps(_document(entries), indent=2, ensure_ascii=False) + "\n")
        return 0
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("Started (UTC)", "Kind", "Name", "Ended", "Outcome", "Directory"):
        table.add_column(column, overflow="fold")
    for entry in entries:
        started = entry.started_at.strftime("%Y-%m-%d %H:%M:%S") if entry.started_at else ""
        ended, outcome = entry.problem or entry.ended_by, entry.outcome.replace("_", " ")
        row = (started, entry.kind, entry.name, ended, outcome, str(entry.directory))
        table.add_row(*map(on_one_line, row))
    with printing():
        out = console()
        if not out.is_terminal:
            # One record a line, whatever its length: a pipe has no width.
            out.width = _WIDTH_OF_A_PIPE
        out.print(table if entries else "no runs yet")
    return 0


def _document(entries: Sequence[RecordEntry]) -> dict[str, object]:
    return {"format_version": FORMAT_VERSION, "kind": "list", "records": [_record(entry) for entry in entries]}


def _record(entry: RecordEntry) -> dict[str, str | None]:
    return {
        "directory": str(entry.directory),
        "kind": entry.kind,
        "name": entry.name,
        "started_at": entry.started_at.isoformat() if entry.started_at else None,
        "ended_by": entry.ended_by,
        "outcome": entry.outcome or None,
        "message": entry.message,
        "problem": entry.problem,
    }
