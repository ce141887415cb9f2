"""Owns `brimline doctor`."""

import json
import sys

from rich.table import Table
from rich.text import Text

from brimline import api
from brimline.cli import options as opt
from brimline.cli.output import console, printing
from brimline.doctor import Status, worst

EXIT_UNFIT = 4
_STYLES = {Status.PASS: "green", Status.WARN: "yellow", Status.FAIL: "bold red"}


def doctor(mongod: opt.Mongod = None, as_json: opt.Json = False) -> int:
    """Check what this machine can do. Exits with 4 when a check fails."""
    checks = list(api.checkup(mongod=mongod))
    if as_json:
        with printing():
            sys.stdout.write(json.dumps([check.to_dict() for check in checks], indent=2) + "\n")
    else:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for column in ("Check", "Result", "Found"):
            table.add_column(column, overflow="fold")
        for check in checks:
            hint = f"\n{check.hint}" if check.hint else ""
            table.add_row(
                check.name, Text(check.status.value, style=_STYLES[check.status]), Text(check.evidence + hint)
            )
        with printing():
            console().print(table)
    return EXIT_UNFIT if worst(checks) is Status.FAIL else 0
