"""Owns `brimline workloads`."""

import json
import sys
from collections.abc import Sequence
from typing import Annotated

from rich.table import Table

from brimline.cli import options as opt
from brimline.cli.grouped import grouped, only
from brimline.cli.output import console, printing
from brimline.report.document import FORMAT_VERSION
from brimline.spec import Spec, load_spec, shipped_workloads


@grouped
def workloads(output: Annotated[opt.OutputOptions, only("as_json")]) -> int:
    """List the shipped workloads."""
    specs = [load_spec(name).spec for name in shipped_workloads()]
    if output.as_json:
        with printing():
            sys.stdout.write(json.dumps(_document(specs), indent=2, ensure_ascii=False) + "\n")
        return 0
    table = Table(box=None, pad_edge=False, show_header=False)
    for spec in specs:
        table.add_row(spec.name, spec.description)
    with printing():
        console().print(table)
    return 0


def _document(specs: Sequence[Spec]) -> dict[str, object]:
    rows = [{"name": spec.name, "description": spec.description} for spec in specs]
    return {"format_version": FORMAT_VERSION, "kind": "workloads", "workloads": rows}
