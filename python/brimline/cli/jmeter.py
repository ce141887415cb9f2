"""Owns `brimline jmeter`."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from brimline.api.jmeter import jmeter as jmeter_api
from brimline.api.options import Group, option
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, only
from brimline.cli.output import printing
from brimline.compat.jmeter.written import listing


@dataclass(frozen=True, kw_only=True)
class JmeterOptions(Group):
    """Where a workload is written, and what the plan's properties are."""

    written_to: Path | None = option(
        "-o --output", "FILE", "File to write (FILE.yaml), or a directory; default: standard output."
    )
    properties: Sequence[str] = option(
        "-J", "NAME=VALUE", "A property that ${__P(NAME)} reads, as JMeter takes it; repeatable.", factory=tuple
    )
    force: bool = option("--force", "", "Replace a file that is there.", default=False)


@grouped
def jmeter(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="The test plan: a .jmx file of JMeter 3 to 5.")],
    said: JmeterOptions,
    output: Annotated[opt.OutputOptions, only(quiet="Say nothing but errors.")],
) -> int:
    """Write a workload from a test plan of JMeter, and list by line what it could not take over."""
    result = jmeter_api(plan, said.written_to, properties=said.properties, overwrite=said.force)
    for each in result.workloads:
        if each.path is None:
            with printing():
                sys.stdout.write(each.text)
    for line in () if output.quiet else listing(result):
        typer.echo(line, err=True)
    return 0
