"""Owns what `--profiler` asks for, and that it is refused where it would do nothing."""

import math

from brimline.api.options import Options
from brimline.api.own_server import sql_system
from brimline.errors import UsageError
from brimline.execution.step_profile import no_mongodb
from brimline.spec import Spec
from brimline.spec.target import protocol_of_uri
from brimline.units import parse_percentage


def profiler_share(spec: Spec, options: Options, uri: str | None) -> float | None:
    """The share of commands to record; None: none is wanted. `uri`: the server, unless it is brimline's own.

    Raises UsageError for what is no share, and where the workload or the server is none to be profiled.
    """
    if options.profiler is None:
        return None
    try:
        share = parse_percentage(options.profiler)
    except ValueError:
        share = math.nan
    if not 0 < share <= 1:
        raise UsageError(f"--profiler {options.profiler} is no share above 0 and at most 100%", hint="write it like 1%")
    require_profiled(spec, options)
    if sql_system(options) is not None or (uri is not None and protocol_of_uri(uri) != "mongodb"):
        raise no_mongodb()
    return share


def require_profiled(spec: Spec, options: Options) -> None:
    """Raises UsageError where the profiler is wanted for a workload whose commands it isn't asked about."""
    if options.profiler is not None and not spec.is_own:
        raise UsageError(
            f"--profiler is about operations of your own, and {spec.name} has none",
            hint="leave --profiler out, or write a workload: docs/guides/own-operations.md",
        )
