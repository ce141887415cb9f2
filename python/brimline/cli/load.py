"""Owns `brimline load`."""

import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from brimline.api.load import load_loaded
from brimline.api.options import DataOptions, LoadOptions, ServerOptions, WorkloadOptions
from brimline.cli import options as opt
from brimline.cli.grouped import grouped, only
from brimline.cli.junit import write_case
from brimline.cli.output import finish, print_said, printing
from brimline.units import format_count
from brimline.wording import message

if TYPE_CHECKING:
    from brimline.api.results import AlreadyLoaded, LoadResult


@grouped
def load(
    workload: WorkloadOptions,
    server: Annotated[
        ServerOptions,
        only("password_file", uri="Server to load, as mongodb://HOST:PORT; or set BRIMLINE_URI."),
    ],
    data: Annotated[DataOptions, only("drop", "resume")],
    load: Annotated[LoadOptions, only("records", "seed", "target", "connections", "threads", "in_flight")],
    output: opt.OutputOptions,
) -> int:
    """Load a workload's records into a server and have it count them."""
    result = load_loaded(opt.loaded(workload, load, loads_only=True), opt.surroundings(server, output, data))
    from brimline.api.results import AlreadyLoaded  # not before: the load has the memory to itself

    if isinstance(result, AlreadyLoaded):
        return _say(result, output)
    return finish(result, output, suite="load", closing=list(_counted(result)))


def _counted(result: "LoadResult") -> Iterator[str]:
    """What the server counted after a load, and what stayed of the collection; nothing where it fell short."""
    if result.error is not None:
        return
    yield message(
        "counted: {count} documents in {namespace}, as intended",
        count=format_count(result.document_count),
        namespace=result.namespace,
    )
    if names := [name for kind in result.kept.values() for name in kind]:
        yield message(
            "kept: indexes and options of {namespace} are as they were: {names}",
            namespace=result.namespace,
            names=", ".join(names),
        )


def _say(result: "AlreadyLoaded", output: opt.OutputOptions) -> int:
    nothing_to_do = message(
        "{namespace} holds all {count} documents already: nothing was sent",
        namespace=result.namespace,
        count=format_count(result.document_count),
    )
    if output.junit is not None:
        write_case(output.junit, "pass", suite="load", name=result.namespace, text=nothing_to_do)
    with printing():
        if output.as_json:
            sys.stdout.write(json.dumps(result.to_dict(), indent=2) + "\n")
        else:
            print_said(nothing_to_do, output.language)
    return 0
