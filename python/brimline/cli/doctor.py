"""Owns `brimline doctor`."""

import json
import sys

from rich.table import Table
from rich.text import Text

from brimline.api.checkup import checkup
from brimline.cli import options as opt
from brimline.cli.output import console, printing
from brimline.doctor import Check, Status, worst
from brimline.errors import ExitCode
from brimline.report.document import FORMAT_VERSION

_STYLES = {Status.PASS: "green", Status.UNKNOWN: "dim", Status.WARN: "yellow", Status.FAIL: "bold red"}


def doctor(
    workload: opt.Workload = None,
    property_files: opt.PropertyFiles = None,
    properties: opt.Properties = None,
    uri: opt.Uri = None,
    password_file: opt.PasswordFile = None,
    mongod: opt.Mongod = None,
    server_version: opt.ServerVersion = None,
    records: opt.Records = None,
    connections: opt.Connections = None,
    threads: opt.Threads = None,
    runs_dir: opt.RunsDir = None,
    as_json: opt.Json = False,
) -> int:
    """Check what this machine can do, for a workload if one is named. Exits with 4 when a check fails."""
    checks = list(
        checkup(
            workload,
            property_files=property_files or (),
            properties=properties or (),
            overrides=opt.spec_overrides(records=records, connections=connections, threads=threads),
            uri=uri,
            password=opt.password_source(password_file),
            mongod=mongod,
            server_version=server_version,
            runs_directory=runs_dir,
        )
    )
    with printing():
        if as_json:
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
