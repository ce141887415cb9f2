"""Owns `brimline generate`."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from brimline.api.generate import GenerateProgress, GenerateResult
from brimline.api.generate import generate as generate_api
from brimline.api.options import LoadOptions
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, only
from brimline.cli.output import printing
from brimline.cli.progress import left_words
from brimline.errors import UsageError
from brimline.spec import readers
from brimline.units import counted, format_bytes, format_duration, format_percentage, parse_bytes

_SAID_EVERY_S = 2.0

Workload = Annotated[str, typer.Argument(help="A shipped workload (see: brimline workloads) or a YAML file.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="File to write; default: standard output.", show_default=False),
]
RowFormat = Annotated[
    Literal["csv", "json", "bson"] | None,
    typer.Option("--format", help="Default: what the file's name ends with, else csv.", show_default=False),
]
Rows = Annotated[
    str | None,
    typer.Option("--rows", help="How many, such as 1M; default: the workload's records.", show_default=False),
]
Size = Annotated[
    str | None, typer.Option("--size", help="Or as many whole rows as fit, such as 5GB.", show_default=False)
]
Header = Annotated[
    Literal["names", "types", "none"],
    typer.Option(
        "--header", help="CSV: names, names with types as mongoimport --columnsHaveTypes reads them, or none."
    ),
]
JsonFormat = Annotated[
    Literal["relaxed", "canonical"], typer.Option("--json-format", help="Extended JSON: canonical keeps every type.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]
Threads = Annotated[
    str | None,
    typer.Option("--threads", help="Threads that make rows; default: one per processor.", show_default=False),
]


@grouped
def generate(
    workload: Workload,
    load: Annotated[LoadOptions, only("seed")],
    printed: Annotated[opt.OutputOptions, only("as_json", "quiet")],
    *,
    output: Output = None,
    row_format: RowFormat = None,
    rows: Rows = None,
    size: Size = None,
    header: Header = "names",
    json_format: JsonFormat = "relaxed",
    threads: Threads = None,
    force: Force = False,
) -> int:
    """Write a workload's documents as rows of CSV, JSON or BSON."""
    if printed.as_json and output is None:
        raise UsageError("--json and the rows would both go to standard output", hint="give --output as well")
    result = generate_api(
        workload,
        output=output,
        format=row_format,
        rows=opt.whole_number("--rows", rows, maximum=10**12, example="1M"),
        size_bytes=opt.whole_number("--size", size, maximum=10**15, example="5GB", parse=parse_bytes),
        header=header,
        canonical=json_format == "canonical",
        overwrite=force,
        threads=opt.whole_number("--threads", threads, maximum=readers.THREAD_COUNT_MAX, example="2"),
        overrides=load.overrides,
        on_progress=(lambda _: None) if printed.quiet else _say_now_and_then(),
    )
    if printed.as_json:
        with printing():
            sys.stdout.write(json.dumps(result.to_dict(), indent=2) + "\n")
    elif not printed.quiet:
        Console(stderr=True, highlight=False).print(_summary(result), markup=False, soft_wrap=True)
    return 0


def _summary(result: GenerateResult) -> str:
    where = "" if result.path is None else f" in {result.path}"
    per_row = f", {format_duration(result.cpu_ns_per_row)} of CPU per row" if result.cpu_ns_per_row is not None else ""
    return (
        f"{counted(result.rows, 'row')}, {format_bytes(result.bytes)}{where}: "
        f"{format_bytes(result.bytes_per_s)}/s{per_row}"
    )


def _say_now_and_then() -> Callable[[GenerateProgress], None]:
    """A line every other second, so that what is quick says nothing on the way."""
    console = Console(stderr=True, highlight=False)
    said_at = time.monotonic()

    def say(progress: GenerateProgress) -> None:
        nonlocal said_at
        if time.monotonic() - said_at < _SAID_EVERY_S:
            return
        said_at = time.monotonic()
        rate = format_bytes(progress.bytes / max(progress.elapsed_s, 1e-9))
        left = progress.elapsed_s * (1 / progress.share - 1) if progress.share else None
        share = format_percentage(progress.share)
        words = [counted(progress.rows, "row"), share, f"{rate}/s", *left_words(left)]
        console.print(", ".join(words), markup=False, soft_wrap=True)

    return say
