"""Owns `brimline import-results`."""

from pathlib import Path
from typing import Annotated

import typer

from brimline.api.import_results import import_results as import_results_api
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, without
from brimline.cli.output import finish


@grouped
def import_results(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="JTL files of JMeter, what one run of YCSB left (output, .hdr files …), or a histogram log.",
        ),
    ],
    output: Annotated[opt.OutputOptions, without("junit", "quiet", "show", "prometheus", "otlp")],
) -> int:
    """Turn results of JMeter, YCSB and others into a record and a report."""
    result = import_results_api(files, runs_dir=output.runs_dir, language=output.language)
    for warning in result.run.warnings:
        typer.echo(f"warning: {warning}", err=True)
    return finish(result, output, suite="import-results")
