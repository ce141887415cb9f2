"""Owns `brimline schema`."""

import json
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Annotated, Any, Final, Literal

import typer

from brimline.cli.output import printing

_SCHEMAS: Final[Mapping[str, str]] = {
    "workload": "spec.schema:spec_schema",
    "study": "study.schema:study_schema",
    "result": "report.result_schema:result_schema",
}
"""By what a schema is of: the function that makes it, imported when it is asked for."""


def schema(
    of: Annotated[
        Literal["workload", "study", "result"],
        typer.Argument(metavar="[workload|study|result]", help="workload, study: YAML; result: what --json writes."),
    ] = "workload",
) -> int:
    """Print the JSON Schema of workloads, studies or results, for editors that complete and check."""
    with printing():
        sys.stdout.write(json.dumps(schema_of(of), indent=2, ensure_ascii=False) + "\n")
    return 0


def schema_of(what: str) -> dict[str, Any]:
    """The schema of one of `_SCHEMAS`."""
    module, _, name = _SCHEMAS[what].partition(":")
    make: Callable[[], dict[str, Any]] = getattr(import_module(f"brimline.{module}"), name)
    return make()
