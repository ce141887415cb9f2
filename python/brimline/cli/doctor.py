"""Owns `brimline doctor`."""

import json
import sys
from typing import Annotated

from rich.table import Table
from rich.text import Text

from brimline.api.checkup import checkup
from brimline.api.options import LoadOptions, ServerOptions, WorkloadOptions
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, only
from brimline.cli.output import console, printing
from brimline.doctor import Check, Status, worst
from brimline.errors import ExitCode
from brimline.report.document import FORMAT_VERSION

_STYLES = {Status.PASS: "green", Status.UNKNOWN: "dim", Status.WARN: "yellow", Status.FAIL: "bold red"}


@grouped
def doctor(
    workload: WorkloadOptions,
    server: Annotated[ServerOptions, only("uri", "password_file", "mongod", "server_version")],
    load: Annotated[LoadOptions, only("records", "connections", "threads")],
    output: Annotated[opt.OutputOptions, only("runs_dir", "as_json")],
) -> int:
    """Check what this machine can do, for a workload if one is named. Exits with 4 when a check fails."""
    checks = list(
        checkup(
            workload.workload,
            property_files=workload.property_files,
            properties=workload.properties,
            load=load,
            options=opt.surroundings(server, output),
        )
    )
    with printing():
        if output.as_json:
            sys.stdout.write(json.dumps(_document(checks), indent=2) + "\n")
        else:
            console().print(_table(checks))
    return ExitCode.INCONCLUSIVE if worst(checks) is Status.FAIL else 0


def _document(checks: list[Check]) -> dict[str, object]:
    return {"format_version": FORMAT_VERSION, "kind": "doctor", "checks": [check.to_dict() for check in checks]}


def _table(checks: list[Check]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("Check", "Result", "Found"):
        table.add_column(column, overflow="fold")
    for check in checks:
        hint = f"\n{check.hint}" if check.hint else ""
        table.add_row(
            check.name.replace("_", " "),
            Text(check.status.value, style=_STYLES[check.status]),
            Text(check.evidence + hint),
        )
    return table
