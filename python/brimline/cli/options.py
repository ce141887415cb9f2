"""Owns the options that verbs share, so that they read the same everywhere."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from brimline.api import Options
from brimline.cli.progress import TerminalProgress
from brimline.errors import redact_text
from brimline.execution import DataPolicy

Workload = Annotated[
    str | None, typer.Argument(help="A shipped workload (see: brimline workloads) or a YAML file.", show_default=False)
]
PropertyFiles = Annotated[
    list[str] | None,
    typer.Option("-P", help="YCSB property file instead of a workload; repeatable.", show_default=False),
]
Properties = Annotated[
    list[str] | None, typer.Option("-p", help="YCSB property as name=value; repeatable.", show_default=False)
]
Uri = Annotated[
    str | None,
    typer.Option(
        "--uri", help="Server to use, as mongodb://HOST:PORT; otherwise a mongod of brimline's own.", show_default=False
    ),
]
LoadUri = Annotated[
    str | None,
    typer.Option("--uri", help="Server to load, as mongodb://HOST:PORT; or set BRIMLINE_URI.", show_default=False),
]
Mongod = Annotated[
    Path | None, typer.Option("--mongod", help="Start this mongod instead of the bundled one.", show_default=False)
]
CacheGb = Annotated[float, typer.Option("--cache-gb", help="Cache of the mongod that brimline starts.")]
Data = Annotated[
    DataPolicy | None,
    typer.Option(
        "--data",
        help="Data: check it is there, load it when not, or take what is there as-is. "
        "Default: load on brimline's own server, else check.",
        show_default=False,
    ),
]
Drop = Annotated[bool, typer.Option("--drop", help="Replace documents that brimline did not load.")]
Null = Annotated[bool, typer.Option("--null", help="No server: the generator's own ceiling.")]
RunsDir = Annotated[
    Path | None,
    typer.Option("--runs-dir", help="Where records go; default: runs, or BRIMLINE_RUNS_DIR.", show_default=False),
]
Records = Annotated[str | None, typer.Option("--records", help="Number of records, such as 100k.", show_default=False)]
Connections = Annotated[str | None, typer.Option("--connections", help="Connections.", show_default=False)]
Threads = Annotated[str | None, typer.Option("--threads", help="Engine threads.", show_default=False)]
Rate = Annotated[
    str | None,
    typer.Option("--rate", help="Offer a constant rate, such as 5000/s, instead of a closed loop.", show_default=False),
]
Duration = Annotated[str | None, typer.Option("--duration", help="Measured window, such as 30s.", show_default=False)]
Warmup = Annotated[str | None, typer.Option("--warmup", help="Warm-up before it.", show_default=False)]
OperationCount = Annotated[
    str | None, typer.Option("--operations", help="End after so many operations.", show_default=False)
]
Seed = Annotated[str | None, typer.Option("--seed", help="Seed of data and operations.", show_default=False)]
ResponseP99 = Annotated[
    str | None, typer.Option("--p99", help="Objective: response time p99, such as 10ms.", show_default=False)
]
ErrorRate = Annotated[
    str | None,
    typer.Option("--error-rate", help="Objective: share of failed operations, such as 0.1%.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress on stderr.")]


def surroundings(
    *,
    uri: str | None,
    mongod: Path | None,
    cache_gb: float,
    data: DataPolicy | None = None,
    drop: bool = False,
    null: bool = False,
    runs_dir: Path | None,
    quiet: bool,
) -> Options:
    """The options of a verb as the API takes them."""
    given: dict[str, object] = {} if runs_dir is None else {"runs_directory": runs_dir}
    if not quiet:
        given["progress"] = TerminalProgress()
    return Options(
        uri=uri,
        mongod=mongod,
        cache_gb=cache_gb,
        data=data,
        drop=drop,
        null=null,
        command=tuple(redact_text(word) for word in ("brimline", *sys.argv[1:])),
        **given,  # type: ignore[arg-type]
    )


def spec_overrides(
    *,
    records: str | None = None,
    connections: str | None = None,
    threads: str | None = None,
    rate: str | None = None,
    duration: str | None = None,
    warmup: str | None = None,
    operation_count: str | None = None,
    seed: str | None = None,
    response_p99: str | None = None,
    error_rate: str | None = None,
) -> Mapping[str, object]:
    """What the command line says about the workload, by spec path."""
    return {
        "data.records": records,
        "connections": connections,
        "threads": threads,
        "load": None if rate is None else {"kind": "constant", "rate": rate},
        "duration": duration,
        "warmup": warmup,
        "operation_count": operation_count,
        "seed": seed,
        "slo.response_p99": response_p99,
        "slo.error_rate": error_rate,
    }
