"""Owns `brimline load`."""

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from brimline.api.load import load_loaded
from brimline.api.options import DataOptions, LoadOptions, ServerOptions, WorkloadOptions
from brimline.api.options.server import OF_A_HOST
from brimline.cli import options as opt
from brimline.cli.design import DesignOptions, designed, resumed
from brimline.cli.grouped import grouped, only
from brimline.cli.junit import outcome_case, passed_case, write_cases
from brimline.cli.output import finish, json_text, print_said, printing, show_result
from brimline.plan import SqlTarget
from brimline.units import format_count
from brimline.wording import joined, message

if TYPE_CHECKING:
    from brimline.analysis.gate import GateCase
    from brimline.api.results import AlreadyLoaded, LoadResult


@grouped
def load(
    workload: WorkloadOptions,
    server: Annotated[
        ServerOptions,
        only(
            "password_file",
            "workers",
            "workers_per_node",
            *OF_A_HOST,
            uri="Server to load, as mongodb://HOST:PORT; or set BRIMLINE_URI.",
        ),
    ],
    data: Annotated[DataOptions, only("drop", "resume")],
    load: Annotated[
        LoadOptions, only("records", "seed", "client", "connections", "max_pool_size", "threads", "in_flight")
    ],
    design: DesignOptions,
    output: opt.OutputOptions,
    *,
    resume_design: Annotated[
        str | None,
        typer.Option(
            "--resume-design", metavar="DIR", help="Go on with a design that was cut short.", show_default=False
        ),
    ] = None,
) -> int:
    """Load a workload's records into a server and have it count them, or at each level of what is varied."""
    options = opt.surroundings(server, output, data)
    if resume_design is not None:
        return finish(resumed(resume_design, "load", options), output, suite="load")
    design.require_asked()
    if design.is_asked:
        return finish(designed(design, "load", {}, workload, options, load=load), output, suite="load")
    result = load_loaded(opt.loaded(workload, load, loads_only=True), options)
    from brimline.api.results import Loads  # not before: the load has the memory to itself

    results = result.results if isinstance(result, Loads) else [result]
    if output.junit is not None:
        write_cases([_case(each) for each in results], output.junit, suite="load")
    if isinstance(result, Loads) and output.as_json:
        with printing():
            sys.stdout.write(json_text(result.to_dict(), result.error))
    else:
        for each in results:
            _show(each, output, is_one_of_several=isinstance(result, Loads))
    if isinstance(result, Loads) and result.error is not None:
        raise result.error
    return 0


def _case(result: "LoadResult | AlreadyLoaded") -> "GateCase":
    from brimline.api.results import AlreadyLoaded  # as above

    if isinstance(result, AlreadyLoaded):
        return passed_case(name=result.namespace, text=_nothing_to_do(result))
    return outcome_case(result)


def _show(result: "LoadResult | AlreadyLoaded", output: opt.OutputOptions, *, is_one_of_several: bool) -> None:
    from brimline.api.results import AlreadyLoaded  # as above

    if isinstance(result, AlreadyLoaded):
        _say(result, output)
    elif is_one_of_several and result.error is None and not output.details:
        print_said(_in_one_line(result), output.language)
    else:
        show_result(
            result,
            details=output.details,
            as_json=output.as_json,
            lang=output.language,
            closing=list(_counted(result)),
        )


def _counted(result: "LoadResult") -> Iterator[str]:
    """What the server counted after a load, and what stayed of the collection; nothing where it fell short."""
    if result.error is not None:
        return
    yield _as_intended(result)
    if names := [name for kind in result.kept.values() for name in kind]:
        yield message(
            "kept: indexes and options of {namespace} are as they were: {names}",
            namespace=result.namespace,
            names=", ".join(names),
        )


def _as_intended(result: "LoadResult") -> str:
    is_table = isinstance(result.record.plan.target, SqlTarget)
    return message(
        "counted: {count} rows in {namespace}, as intended"
        if is_table
        else "counted: {count} documents in {namespace}, as intended",
        count=format_count(result.document_count),
        namespace=result.namespace,
    )


def _in_one_line(result: "LoadResult") -> str:
    """One of several loads: that it is whole, how fast it went, and where the rest stands."""
    verdict = result.report.verdict
    return message(
        "{counted}; {figure}; report: {path}",
        counted=_as_intended(result),
        figure=joined(" ", [verdict.figure, verdict.unit]) if verdict.figure else verdict.caption,
        path=str(result.html),
    )


def _nothing_to_do(result: "AlreadyLoaded") -> str:
    return message(
        "{namespace} holds all {count} documents already: nothing was sent",
        namespace=result.namespace,
        count=format_count(result.document_count),
    )


def _say(result: "AlreadyLoaded", output: opt.OutputOptions) -> None:
    with printing():
        if output.as_json:
            sys.stdout.write(json.dumps(result.to_dict(), indent=2) + "\n")
        else:
            print_said(_nothing_to_do(result), output.language)
